"""A certificate to take away: what was certified, how, and enough to recompute it from the log.

``verify`` recomputes everything from the log. The checksum shows that a certificate was changed by
accident or in passing; it is no signature and does not say who issued it.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from models.altt.log import config_of, read_csv, rounds, settings, write_csv
from models.altt.race import Race, State

KIND = "aLTT certificate 1"
_LN_10 = math.log(10.0)


def guarantee(data: dict[str, Any]) -> str:
    """Return the promise that settings make, as a sentence."""
    if data["released"]:
        return (
            "None: the run reproduces the released script, whose bets see the loss that they are "
            "placed on."
        )
    alpha, delta = data["alpha"], data["delta"]
    target = f"{alpha:g}" if isinstance(alpha, float) else ", ".join(f"{a:g}" for a in alpha)
    if data["control"] == "fdr":
        return (
            f"On average over runs, at most {delta:g} of the certified candidates have a risk "
            f"above {target} when the run is stopped; this is no promise about a single one."
        )
    return (
        f"With probability at least {1.0 - delta:g}, every certified candidate has a risk of at "
        f"most {target}."
    )


def issue(
    race: Race,
    names: Sequence[str],
    seed: int,
    *,
    by_rule: bool,
    available: Sequence[int] | None = None,
) -> tuple[str, str]:
    """Return the certificate of a run as JSON, and the log that it refers to as CSV.

    Parameters
    ----------
    race : the run, as it stands
    names : one a candidate
    seed : the seed of the generator that the race was made with
    by_rule : every round tested what the acquisition rule suggested, so that the choice can be
        recomputed too; False for a run that was fed by hand
    available : the number of losses at hand for each candidate; None if unlimited
    """
    log = write_csv(race, names)
    chosen = settings(race.config, seed)
    body = {
        "kind": KIND,
        "guarantee": guarantee(chosen),
        "settings": chosen,
        "by_rule": by_rule,
        "available": None if available is None else [int(count) for count in available],
        "names": list(names),
        **_outcome(race, names, available),
        "log_sha256": hashlib.sha256(log.encode()).hexdigest(),
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
    }
    return json.dumps({**body, "checksum": _checksum(body)}, indent=1, ensure_ascii=False), log


def verify(certificate: bytes, log: bytes) -> list[str]:
    """Recompute a certificate from its log and return what does not fit; empty if all does."""
    try:
        data = json.loads(certificate)
        body = {key: value for key, value in data.items() if key != "checksum"}
        if body["kind"] != KIND:
            return [f"This is no certificate that can be read here: it is {body['kind']!r}."]
        faults = []
        if data["checksum"] != _checksum(body):
            faults.append("The certificate was changed after it was issued: its checksum differs.")
        if hashlib.sha256(log).hexdigest() != body["log_sha256"]:
            faults.append("The log is not the one that the certificate was issued for.")
        if body["guarantee"] != guarantee(body["settings"]):
            faults.append("The guarantee does not follow from the settings.")
        return faults + _recompute(body, log.decode())
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError, UnicodeDecodeError):
        return ["The certificate or the log is damaged: it cannot be read."]
    except ValueError as fault:
        return [f"The log cannot be replayed: {fault}"]


def _recompute(body: dict[str, Any], log: str) -> list[str]:
    names, available = body["names"], body["available"]
    config = config_of(body["settings"], len(names))
    race = Race(config, np.random.default_rng(int(body["settings"]["seed"])))
    left = None if available is None else np.asarray(available, dtype=np.int64)
    faults = []
    for candidates, losses in rounds(read_csv(log, names, config.targets.size)):
        usable = None if left is None else left > 0
        if body["by_rule"] and race.suggest(usable).tolist() != candidates:
            return [f"Round {race.rounds + 1} did not test what the rule and seed choose."]
        race.feed(candidates, losses)
        if left is not None:
            left[candidates] -= 1
    for key, value in _outcome(race, names, available).items():
        stated = body[key]
        if key == "log10_wealth":
            same = len(stated) == len(value) and np.allclose(
                np.asarray(stated, dtype=np.float64),
                np.asarray(value, dtype=np.float64),
                atol=1e-8,
                equal_nan=True,
            )
        else:
            same = stated == value
        if not same:
            faults.append(f"{key} is stated as {_short(stated)}, but is {_short(value)}.")
    return faults


def _outcome(race: Race, names: Sequence[str], available: Sequence[int] | None) -> dict[str, Any]:
    state = race.state(None if available is None else _left(race, available))
    return {
        "rounds": state.round,
        "losses": state.spent,
        "stopped": state.stopped or "by choice",
        "certified": [names[i] for i in state.certified_ids],
        "tests": state.tests.tolist(),
        "log10_wealth": _log10(state),
    }


def _left(race: Race, available: Sequence[int]) -> Any:
    used = np.bincount([entry.candidate for entry in race.log], minlength=len(available))
    return used < np.asarray(available)


def _log10(state: State) -> list[float | None]:
    """Return the wealth's decimal logarithms; None for a bankrupt candidate, as JSON has no inf."""
    return [float(x) / _LN_10 if math.isfinite(x) else None for x in state.log_wealth]


def _checksum(body: dict[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."
