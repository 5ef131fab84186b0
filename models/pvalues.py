"""p-values for "the risk exceeds alpha", from a number of losses in [0, 1] fixed in advance.

Symbols: ``n`` losses with mean ``r``; ``h(a, b)`` the relative entropy of two coins. Small values
speak for a risk of at most alpha. All functions broadcast over their array arguments and return
values in [0, 1].

References
----------
Angelopoulos, Bates, Candes, Jordan and Lei (2021), "Learn then test", arXiv 2110.01052.
Bates, Angelopoulos, Lei, Malik and Jordan (2021), "Distribution-free, risk-controlling prediction
sets" (Hoeffding-Bentkus). Waudby-Smith and Ramdas (2024), "Estimating means of bounded random
variables by betting" (WSR).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, rel_entr

from models.checks import check_unit_open

Float = npt.NDArray[np.float64]

_ROUNDING = 1e-9  # 100 * 0.07 is 7.000000000000001 in floating point and must not round up to 8


def hoeffding_p(mean: npt.ArrayLike, n: npt.ArrayLike, alpha: float) -> Float:
    """Hoeffding's p-value ``exp(-n h(min(r, alpha), alpha))`` (LTT, Section 2; 0 ln 0 = 0).

    Parameters
    ----------
    mean : float in [0, 1], the mean loss ``r``
    n : int >= 1, the number of losses
    alpha : float in (0, 1)
    """
    r = np.minimum(np.asarray(mean, dtype=np.float64), check_unit_open(alpha, "alpha"))
    entropy = rel_entr(r, alpha) + rel_entr(1.0 - r, 1.0 - alpha)
    return np.asarray(np.exp(-np.asarray(n) * entropy), dtype=np.float64)


def bentkus_p(mean: npt.ArrayLike, n: npt.ArrayLike, alpha: float) -> Float:
    """Bentkus's p-value ``e P(Bin(n, alpha) <= ceil(n r))``, at most 1; arguments as above."""
    return np.minimum(math.e * _binomial_tail(mean, n, alpha), 1.0)


def hoeffding_bentkus_p(mean: npt.ArrayLike, n: npt.ArrayLike, alpha: float) -> Float:
    """Hoeffding-Bentkus p-value: the smaller of the two, valid since both bound the same tail."""
    return np.minimum(hoeffding_p(mean, n, alpha), bentkus_p(mean, n, alpha))


def binomial_p(mean: npt.ArrayLike, n: npt.ArrayLike, alpha: float) -> Float:
    """Exact binomial p-value ``P(Bin(n, alpha) <= n r)``; **valid for 0/1 losses only**."""
    return _binomial_tail(mean, n, alpha)


def wsr_p(losses: npt.ArrayLike, alpha: float, delta: float) -> Float:
    """Betting p-value of Waudby-Smith and Ramdas, one-sided, for a fixed number of losses.

    Predictable plug-in bets (their Section 4, empirical-Bernstein form, truncated at one half).

    Parameters
    ----------
    losses : float in [0, 1], shape (..., n); the last axis is the order of observation
    alpha : float in (0, 1)
    delta : float in (0, 1), the level that the bets are tuned for; any value is valid

    Returns
    -------
    float64, shape (...)
    """
    check_unit_open(alpha, "alpha")
    check_unit_open(delta, "delta")
    x = np.asarray(losses, dtype=np.float64)
    n = x.shape[-1]
    t = np.arange(1, n + 1)
    mu = (0.5 + np.cumsum(x, axis=-1)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mu) ** 2, axis=-1)) / (t + 1)
    before = np.concatenate([np.full((*x.shape[:-1], 1), 0.25), variance[..., :-1]], axis=-1)
    bets = np.minimum(np.sqrt(2.0 * math.log(1.0 / delta) / (n * before)), 0.5 / (1.0 - alpha))
    log_wealth = np.cumsum(np.log1p(-bets * (x - alpha)), axis=-1)
    return np.asarray(np.exp(-np.maximum(log_wealth.max(axis=-1, initial=0.0), 0.0)))


def _binomial_tail(mean: npt.ArrayLike, n: npt.ArrayLike, alpha: float) -> Float:
    check_unit_open(alpha, "alpha")
    trials = np.asarray(n, dtype=np.int64)
    hits = np.ceil(trials * np.asarray(mean, dtype=np.float64) - _ROUNDING)
    return np.asarray(bdtr(hits, trials, alpha), dtype=np.float64)
