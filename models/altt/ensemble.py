"""Many independent runs at once: how often aLTT finds the reliable, and how often it errs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.altt.config import Config
from models.altt.engine import Engine
from models.altt.environments import Environment, reliable

Float = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Ensemble:
    """The certificates of R runs, judged by the truth, at the budgets ``at``.

    Attributes
    ----------
    at : int64, shape (B,), numbers of losses drawn, ascending; an adaptive run knows every budget
        from 0 to T, a fixed-budget method only the budgets that it was run with
    hits, errors : int16, shape (R, B), reliable and unreliable candidates certified
    n_reliable : int, how many there are to find
    spent : int64, shape (R,), losses drawn until the run stopped
    tests : float64, shape (R, N), losses drawn of each candidate
    ever_wrong : bool, shape (R,), an unreliable candidate was certified at some moment
    """

    at: npt.NDArray[np.int64]
    hits: Counts
    errors: Counts
    n_reliable: int
    spent: npt.NDArray[np.int64]
    tests: Float
    ever_wrong: npt.NDArray[np.bool_]

    @property
    def true_positive_rate(self) -> Float:
        """Share of the reliable that is certified, shape (R, B); nan if nothing is reliable."""
        if self.n_reliable == 0:
            return np.full(self.hits.shape, np.nan)
        return np.asarray(self.hits / float(self.n_reliable), dtype=np.float64)

    @property
    def false_discovery_proportion(self) -> Float:
        """Share of the certified that is unreliable, shape (R, B); 0 if nothing is certified."""
        found = np.maximum(self.hits + self.errors, 1)
        return np.asarray(self.errors / found, dtype=np.float64)

    @property
    def empty(self) -> npt.NDArray[np.bool_]:
        """Where nothing is certified, shape (R, B)."""
        return np.asarray(self.hits + self.errors == 0, dtype=np.bool_)

    def rounds_to(self, rate: float) -> float:
        """Return the first budget at which the mean true positive rate is ``rate``; nan if none."""
        enough = np.flatnonzero(self.true_positive_rate.mean(axis=0) >= rate)
        return float(self.at[enough[0]]) if enough.size else float("nan")


def many_runs(
    config: Config, environment: Environment, repeats: int, rng: np.random.Generator
) -> Ensemble:
    """Run aLTT ``repeats`` times in lockstep.

    Parameters
    ----------
    config : the settings; its targets decide who is reliable
    environment : a world with as many candidates and risks
    repeats : int >= 1
    rng : losses and acquisition draws

    Raises
    ------
    ValueError
        If the world and the settings do not fit each other.
    """
    n, budget = config.n_candidates, config.budget
    if environment.risks.shape != (n, config.targets.size):
        raise ValueError(
            f"The world has {environment.risks.shape[0]} candidates with "
            f"{environment.risks.shape[1]} risks, but the settings say {n} and "
            f"{config.targets.size}."
        )
    good = reliable(environment, tuple(config.targets))
    engine = Engine(config, repeats)
    hits = np.full((repeats, budget + 1), -1, dtype=np.int16)
    total = np.full((repeats, budget + 1), -1, dtype=np.int16)
    hits[:, 0] = total[:, 0] = 0
    spent = np.zeros(repeats, dtype=np.int64)
    rows = np.arange(repeats)
    together = config.acquisition == "all"
    while rows.size:
        explore, which = rng.random((2, repeats))
        flat = engine.choose(rows, explore[rows], which[rows])
        run = flat // n
        if together:
            cost = np.bincount(run, minlength=repeats)
            paid = spent + cost <= budget
            flat, run, rows = flat[paid[run]], run[paid[run]], rows[paid[rows]]
            spent[rows] += cost[rows]
        else:
            spent[rows] += 1
        if not rows.size:
            break
        losses = environment.draw(rng, repeats, run, flat - run * n)
        engine.update(rows, flat, losses)
        certified = engine.certified[rows]
        found = certified.sum(axis=1)
        hits[rows, spent[rows]] = certified[:, good].sum(axis=1)
        total[rows, spent[rows]] = found
        over = spent[rows] >= budget
        if not config.released:
            over |= found == n
        if config.stop_at is not None:
            over |= found >= config.stop_at
        if over.any():
            rows = rows[~over]
    hits, total = _hold(hits), _hold(total)
    errors = total - hits
    return Ensemble(
        np.arange(budget + 1),
        hits,
        errors,
        int(good.sum()),
        spent,
        engine.tests.copy(),
        np.asarray((errors > 0).any(axis=1), dtype=np.bool_),
    )


def _hold(counts: Counts) -> Counts:
    """Carry the last known count over the budgets at which a run made no decision."""
    columns = np.arange(counts.shape[1], dtype=np.int32)
    last = np.maximum.accumulate(np.where(counts >= 0, columns, 0), axis=1)
    return np.take_along_axis(counts, last, axis=1)
