"""Who is certified at this moment (aLTT, Section 3, eq. 13 and Algorithm 1).

Family-wise error rests on the running maximum of a wealth, whose inverse is a p-value valid at all
times at once. False discoveries rest on the *current* wealth, an e-value: a maximum is none.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from models.altt.config import Config
from models.eprocess import EQUAL
from models.multiple_testing import bh, holm

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


def certified(config: Config, log_wealth: Float, log_peak: Float) -> Bool:
    """Return the certified candidates of each run.

    Parameters
    ----------
    log_wealth, log_peak : float64, shape (K, N), the current wealth and its running maximum
    """
    if config.released:
        return _released(config, log_peak)
    if config.control == "fwer":
        mask: Bool = log_peak >= math.log(log_peak.shape[-1] / config.delta) - EQUAL
        return mask
    if config.control == "holm":
        return holm(anytime_p(log_peak), config.delta)
    return bh(anytime_p(log_wealth), config.delta)  # e-BH


def anytime_p(log_evidence: Float) -> Float:
    """Return ``min(1, 1/E)``."""
    return np.exp(-np.maximum(log_evidence, 0.0))


def line(config: Config, n_certified: int) -> float:
    """Return the log-wealth that the next candidate, or the last certified one, is measured by.

    ``N/delta`` under fwer; under holm the wealth that the next candidate must reach; under fdr
    ``N/(delta k)`` of the ``k`` certified.
    """
    n = config.n_candidates
    if config.control == "holm":
        return math.log(max(n - n_certified, 1) / config.delta)
    if config.control == "fdr" and not config.released:
        return math.log(n / (config.delta * max(n_certified, 1)))
    return math.log(n / config.delta)


def pick_one(certified: npt.ArrayLike, score: npt.ArrayLike) -> int | None:
    """Return the certified candidate with the smallest score (lowest index first), None if none.

    Any score may be used after the run: mean loss, cost, length; negate what should be large. Under
    family-wise control the promise covers the pick. Under false discovery control it is about the
    average of the set, not about one pick. The mean loss of the pick is biased low either way.

    Parameters
    ----------
    certified : bool, shape (N,)
    score : float, shape (N,)
    """
    mask = np.asarray(certified, dtype=np.bool_)
    values = np.asarray(score, dtype=np.float64)
    if values.shape != mask.shape or np.isnan(values[mask]).any():
        raise ValueError("The score needs one number for each candidate.")
    return int(np.argmin(np.where(mask, values, np.inf))) if mask.any() else None


def _released(config: Config, log_peak: Float) -> Bool:
    """Reproduce the released script: strict, and BH keeps only ranks that pass on their own."""
    n = log_peak.shape[-1]
    p = np.exp(-log_peak)
    if config.control == "fwer":
        mask: Bool = p < config.delta / n
        return mask
    ranks = np.argsort(np.argsort(p, axis=-1, kind="stable"), axis=-1) + 1
    mask = p < config.delta * ranks / n
    return mask
