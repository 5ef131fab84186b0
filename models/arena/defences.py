"""Defences against bad votes; each returns which votes are kept, as bool (n,).

The sequential test of voters is ``models.ranking.voters.voter_test``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from models.checks import Float
from models.ranking.battles import Bool, Index


def daily_cap(voter: npt.ArrayLike, seconds: npt.ArrayLike, most: int) -> Bool:
    """Keep a voter's first ``most`` votes of each day (UTC), by time.

    Parameters
    ----------
    voter : int (n,)
    seconds : float (n,), since the epoch; votes without a time (NaN) share one day
    """
    if most < 1:
        raise ValueError(f"The daily cap is {most}, but must be at least 1.")
    who, when = np.asarray(voter, dtype=np.int64), np.asarray(seconds, dtype=np.float64)
    day = np.where(np.isfinite(when), when // 86_400, -1)
    order = np.lexsort((when, day, who))
    fresh = np.ones(who.size, np.bool_)
    fresh[1:] = (np.diff(who[order]) != 0) | (np.diff(day[order]) != 0)
    position = np.arange(who.size)
    start = np.maximum.accumulate(np.where(fresh, position, 0))
    kept = np.empty(who.size, np.bool_)
    kept[order] = position - start < most
    return kept


def plausible(a: Index, b: Index, score: Float, beta: Float, least: float) -> Bool:
    """Keep votes whose outcome had at least the chance ``least`` under the fitted strengths.

    A tie is kept. Honest upsets are dropped as well, so that the filter itself inflates the gaps.
    """
    if not 0 <= least < 1:
        raise ValueError(f"The least chance is {least:g}, but must lie in [0, 1).")
    p = expit(beta[a] - beta[b])
    return np.asarray(np.where(score == 0.5, 1.0, np.where(score == 1, p, 1 - p)) >= least)


def anonymous(texts: Iterable[str], names: Sequence[str]) -> Bool:
    """Keep votes whose text names no model or maker, as whole words in any case."""
    if not names:
        return np.ones(sum(1 for _ in texts), np.bool_)
    words = "|".join(re.escape(name) for name in names)
    pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
    return np.array([pattern.search(text) is None for text in texts], dtype=np.bool_)


def not_too_frequent(
    prompts: Sequence[str], rng: np.random.Generator, quantile: float = 0.9999
) -> Bool:
    """Thin out prompts that repeat more often than ``quantile`` of all distinct prompts do.

    As many votes of each are kept, at random, as the quantile of the counts allows, at least one.
    """
    if not 0 < quantile <= 1:
        raise ValueError(f"The quantile is {quantile:g}, but must lie in (0, 1].")
    if not len(prompts):
        return np.zeros(0, np.bool_)
    place: dict[str, int] = {}
    code = np.array([place.setdefault(text, len(place)) for text in prompts], dtype=np.int64)
    counts = np.bincount(code)
    most = max(1, int(np.quantile(counts, quantile)))
    order = np.lexsort((rng.random(code.size), code))
    start = np.repeat(np.cumsum(counts) - counts, counts)
    kept = np.empty(code.size, np.bool_)
    kept[order] = np.arange(code.size) - start < most
    return kept
