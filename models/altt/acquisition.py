"""Which candidate is tested next (aLTT, Section 3, Algorithm 1).

Every rule works on many runs at once: arrays have shape (K, N) for K runs, and one column per run
is returned. A rule sees only what has been observed, so the promise holds under each of them.

* ``uniform``: the fewest tests first, lowest index first; undisturbed, round ``t`` tests
  ``t mod N`` (the release's reading of the paper's "non-adaptive acquisition").
* ``random``: uniform over all candidates (the paper's text).
* ``eps-greedy``: untested candidates in order; then, among the uncertified, with probability
  epsilon a uniformly random one, else the wealthiest (equals: lowest index).
* ``ucb``: untested candidates in order; then the largest ``alpha - m + sqrt(-ln 0.05 / (2n))``
  among the uncertified (in the release, not in the paper's figures).
* ``all``: every uncertified candidate, on one sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.altt.config import Config

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Seen:
    """What a rule may look at; all arrays have shape (K, N).

    Attributes
    ----------
    usable : bool, candidates that still have a loss to draw
    certified : bool
    tests : float64 or int64, number of past losses
    value, shift : float64 and int64, the wealth ``value * 2**shift``
    slack : float64, target minus mean loss, the smallest over the risks; for "ucb" only
    """

    usable: Bool
    certified: Bool
    tests: Float | npt.NDArray[np.int64]
    value: Float
    shift: npt.NDArray[np.int64]
    slack: Float


def choose(config: Config, seen: Seen, explore: Float, which: Float) -> Index:
    """Return the next candidate of each run, intp, shape (K,).

    Parameters
    ----------
    explore, which : float64 in [0, 1), shape (K,), this round's two draws of each run: explore if
        the first is below epsilon, and then the second picks the candidate
    """
    if config.acquisition == "uniform":
        return _first(-np.where(seen.usable, seen.tests, np.inf))
    if config.acquisition == "random":
        return _nth(seen.usable, which)
    eligible = seen.usable & ~seen.certified
    if config.acquisition == "ucb":
        width = np.sqrt(-math.log(0.05) / (2.0 * np.maximum(seen.tests, 1.0)))
        picks = _first(np.where(eligible, seen.slack + width, -np.inf))
    else:
        picks = _wealthiest(seen, eligible, tie_with_zero=config.released)
        random = explore < config.epsilon
        if random.any():
            random &= eligible.any(axis=1)
            picks[random] = _nth(eligible[random], which[random])
    if not seen.tests.all():
        untested = seen.usable & (seen.tests == 0)
        warming = untested.any(axis=1)
        picks[warming] = _first(untested[warming])
    return picks


def _wealthiest(seen: Seen, eligible: Bool, *, tie_with_zero: bool) -> Index:
    """Index of the largest eligible wealth, compared as floating-point products.

    Logarithms would round differently on another machine, and the choice with them. The released
    script multiplies the wealth by the mask (``tie_with_zero``), so that a certified candidate and
    a bankrupt one are both worth 0; here the latter ranks higher.
    """
    value = seen.value
    if seen.shift.any():
        top = np.where(eligible, seen.shift, -(2**60)).max(axis=1, keepdims=True)
        value = np.ldexp(value, np.clip(seen.shift - top, -2000, 0))
    return _first(np.where(eligible, value, 0.0 if tie_with_zero else -1.0))


def _nth(eligible: Bool, which: Float) -> Index:
    """Index of a uniformly random True of each row."""
    counted = np.cumsum(eligible, axis=1)
    return _first(counted > np.floor(which * counted[:, -1])[:, None])


def _first(values: Float | Bool) -> Index:
    """Index of the first maximum of each row."""
    return np.asarray(np.argmax(values, axis=1), dtype=np.intp)
