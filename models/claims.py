"""Claims: what a paper says, how it is measured again here, and the ledger of measurements.

Each paper's package has a module ``claims`` with a tuple ``CLAIMS``. A claim is measured by a
function of (scale, seed, progress), which calls ``progress(done, total, seconds_left, partial)``
as it goes and stops at once if that call raises. ``python -m models.claims`` measures every claim
and writes the ledger that the pages show.
"""

from __future__ import annotations

import importlib
import json
import logging
import math
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy

from models import catalog
from models.checks import Float, check_choice
from models.intervals import Interval, Verdict
from models.trials import Trial, run_trials

Scale = Literal["quick", "full"]  # at most 30 s on two cores; the paper's own number of trials
Kind = Literal["paper says", "reported about", "our reading"]

LEDGER = Path(__file__).resolve().parents[1] / "assets" / "claims.json"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Measurement:
    """A figure measured here: its value, its interval, the trials behind it and the verdict."""

    value: float
    low: float
    high: float
    trials: int
    verdict: Verdict
    note: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError if the verdict is none of the three."""
        check_choice(self.verdict, Verdict, "verdict")


Progress = Callable[[int, int, "float | None", Measurement], None]
Measure = Callable[[Scale, int, Progress], Measurement]


@dataclass(frozen=True)
class Claim:
    """One claim of a paper.

    Attributes
    ----------
    id : unique within the paper; part of links and of the ledger's keys
    statement, source : one plain sentence, and where the paper says so
    reported : the figure as the paper gives it
    measure : callable, or None with the reason in ``why_not``
    kind : whose figure ``reported`` is
    headline : the one claim that stands on the home page and on top of the paper's own page
    """

    id: str
    statement: str
    source: str
    reported: str
    measure: Measure | None
    unit: str = ""
    why_not: str = ""
    kind: Kind = field(kw_only=True)
    headline: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Raise ValueError unless there is either a measure or a reason, and a known kind."""
        check_choice(self.kind, Kind, f"kind of claim {self.id!r}")
        if (self.measure is None) != bool(self.why_not):
            raise ValueError(f"Claim {self.id!r} needs either a measure or why_not, and not both.")


@dataclass(frozen=True)
class Entry:
    """A measurement with all that is needed to repeat it; ``date`` is ISO, in UTC.

    ``statement``, ``unit`` and ``headline`` are the claim's, so that a card on the home page needs
    none of the paper's code.
    """

    slug: str
    claim_id: str
    measurement: Measurement
    scale: Scale
    seed: int
    versions: Mapping[str, str]
    date: str
    statement: str = ""
    unit: str = ""
    headline: bool = False

    @property
    def key(self) -> str:
        """The entry's place in the ledger, ``slug/claim``."""
        return f"{self.slug}/{self.claim_id}"


def claims_of(slug: str) -> tuple[Claim, ...]:
    """Return the claims of one paper, from ``models/<slug>/claims.py``.

    Raises
    ------
    ValueError
        If there is no such module, it has no tuple CLAIMS, or two claims share an id.
    """
    name = f"models.{slug}.claims"
    try:
        claims = getattr(importlib.import_module(name), "CLAIMS", None)
    except ModuleNotFoundError as error:
        if not error.name or not name.startswith(error.name):
            raise  # the module is there, but lacks something itself
        raise ValueError(f"No paper {slug!r} has claims: there is no module {name}.") from None
    if not isinstance(claims, tuple) or not all(isinstance(claim, Claim) for claim in claims):
        raise ValueError(f"{name} must define CLAIMS, a tuple of Claim.")
    for claim_id, times in Counter(claim.id for claim in claims).items():
        if times > 1:
            raise ValueError(f"{name} has {times} claims with the id {claim_id!r}, but may have 1.")
    return claims


def by_trials(
    trial: Trial, judge: Callable[[Float], Measurement], *, quick: int, full: int
) -> Measure:
    """Make a claim's measure from one trial and a judge of the stacked results.

    Parameters
    ----------
    trial : picklable, as for :func:`models.trials.run_trials`
    judge : from float64 (done, k) results, whole or partial, to a measurement
    quick, full : numbers of trials at the two scales
    """

    def measure(scale: Scale, seed: int, progress: Progress) -> Measurement:
        count = quick if scale == "quick" else full
        with closing(run_trials(trial, count, seed)) as states:
            for state in states:
                measured = judge(state.results)
                progress(state.done, state.total, state.seconds_left, measured)
        return measured

    return measure


def all_claims() -> dict[str, tuple[Claim, ...]]:
    """Return the claims of every working demo, by slug, in the catalogue's order."""
    return {demo.slug: claims_of(demo.slug) for demo in catalog.working()}


def record(slug: str, claim: Claim, measurement: Measurement, scale: Scale, seed: int) -> Entry:
    """Stamp a measurement, whole or partial, with versions and today's date."""
    versions = {"numpy": np.__version__, "scipy": scipy.__version__}
    versions["python"] = platform.python_version()
    today = datetime.now(UTC).date().isoformat()
    return Entry(
        slug,
        claim.id,
        measurement,
        scale,
        seed,
        versions,
        today,
        claim.statement,
        claim.unit,
        claim.headline,
    )


def measure_all(
    scale: Scale,
    seed: int,
    slugs: Iterable[str] | None = None,
    progress: Callable[[str], Progress] = lambda key: lambda *news: None,
) -> Iterator[Entry]:
    """Measure each claim that can be measured, yielding its entry as soon as it is there.

    Parameters
    ----------
    scale, seed : passed to each claim's measure
    slugs : the papers to measure; by default all working demos
    progress : makes the progress callback of the claim with a key ``slug/claim``

    Raises
    ------
    ExceptionGroup
        At the end, of what the failed claims raised, each with a note that gives the claim's key.
    """
    chosen = all_claims() if slugs is None else {slug: claims_of(slug) for slug in slugs}
    errors = []
    for slug, claim in [(slug, claim) for slug, claims in chosen.items() for claim in claims]:
        if claim.measure is None:
            continue
        key = f"{slug}/{claim.id}"
        try:
            measurement = claim.measure(scale, seed, progress(key))
        except Exception as error:  # one paper's fault must not cost the others their figures
            error.add_note(f"in {key}")
            errors.append(error)
        else:
            yield record(slug, claim, measurement, scale, seed)
    if errors:
        raise ExceptionGroup("Some claims could not be measured", errors)


def read_ledger(path: Path = LEDGER) -> dict[str, Entry]:
    """Return the ledger's entries by key; null reads as NaN.

    A missing or damaged file is logged and counts as empty, as a page can do without it.
    """
    try:
        entries = [_from_json(row) for row in json.loads(path.read_text(encoding="utf-8"))]
    except Exception as error:
        _log.warning("The ledger %s is not used: %s: %s", path.name, type(error).__name__, error)
        return {}
    return {entry.key: entry for entry in entries}


def write_ledger(ledger: Mapping[str, Entry], path: Path = LEDGER) -> None:
    """Replace the ledger in one step, sorted by key; NaN and infinities become null."""
    rows = [asdict(ledger[key]) for key in sorted(ledger)]
    for figures in (row["measurement"] for row in rows):
        for name in Interval._fields:
            figures[name] = float(figures[name]) if math.isfinite(figures[name]) else None
    text = json.dumps(rows, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text + "\n", encoding="utf-8")
    draft.replace(path)


def _from_json(row: dict[str, Any]) -> Entry:
    figures = row["measurement"] | {"trials": int(row["measurement"]["trials"])}
    for name in Interval._fields:
        figures[name] = math.nan if figures[name] is None else float(figures[name])
    return Entry(**(row | {"measurement": Measurement(**figures)}))


if __name__ == "__main__":
    from models.claims_cli import main  # so that papers and command share one set of classes

    raise SystemExit(main())
