r"""Bradley-Terry strengths by Newton's method on the score matrix, many tables at once.

Symbols: S, N as in ``battles``; P[i, j] = sigma(beta_i - beta_j) the chance that i beats j.

    minimise  -sum_ij S_ij log P_ij + lambda/2 ||beta||^2
    gradient  N P - S, summed over j, + lambda beta
    Hessian   diag(h 1) - h + lambda I,   h = N P (1 - P)

A shift of all betas changes nothing, so a constant is added to every entry of the Hessian: that
removes the null direction and moves no step. The betas have mean zero.

The maximum of the likelihood exists if and only if the graph "scored against" is strongly connected
(Ford, American Mathematical Monthly 64, 1957); see ``connectivity``.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit

from models.checks import Float
from models.ranking.battles import Battles
from models.ranking.connectivity import components, strongly_connected

ELO = 400 / math.log(10)
BASE = 1000.0
RIDGE = 0.1  # lambda of the fallback where no maximum exists

_MAX_STEPS = 200
_LONGEST_STEP = 2.0  # keeps the first steps of a one-sided table from overshooting
_TOLERANCE = 1e-9


def elo(beta: npt.ArrayLike) -> Float:
    """Return 1000 + beta 400 / ln 10, the scale that leaderboards print."""
    return np.asarray(BASE + ELO * np.asarray(beta, dtype=np.float64))


def fit_scores(scores: Float, *, ridge: float = 0.0, start: Float | None = None) -> Float:
    """Strengths of one table, or of a stack of tables, from their score matrices.

    Parameters
    ----------
    scores : float64 (..., m, m), non-negative, zero diagonal
        Each must be strongly connected unless ``ridge`` is positive.
    ridge : lambda >= 0
    start : float64 (..., m) or (m,), optional

    Returns
    -------
    float64 (..., m), natural-log scale, each with mean zero

    Raises
    ------
    ValueError
        If lambda is negative, or Newton's method does not converge because the maximum does not
        exist or lies out of reach of double precision.
    """
    if not ridge >= 0:
        raise ValueError(f"ridge is {ridge:g}, but must be at least 0.")
    shape = scores.shape[:-1]
    m = shape[-1]
    s = scores.reshape(-1, m, m)
    beta = np.zeros((len(s), m))
    if start is not None:
        beta += np.broadcast_to(start, shape).reshape(-1, m)
    if m < 2:
        return np.zeros(shape)
    n = s + s.transpose(0, 2, 1)
    won = s.sum(axis=2)
    active = np.arange(len(s))
    for _ in range(_MAX_STEPS):
        step = _newton_step(n, won, beta[active], ridge)
        beta[active] += step
        going = np.ptp(step, axis=1) > _TOLERANCE
        if not going.any():
            return np.asarray((beta - beta.mean(axis=1, keepdims=True)).reshape(shape))
        if not going.all():
            active, n, won = active[going], n[going], won[going]
    raise ValueError(
        "The Bradley-Terry fit does not converge: some model has won or lost (almost) everything."
    )


def _newton_step(n: Float, won: Float, beta: Float, ridge: float) -> Float:
    m = beta.shape[1]
    p = expit(beta[:, :, None] - beta[:, None, :])
    h = n * p
    gradient = won - h.sum(axis=2) - ridge * beta
    h *= 1 - p
    diagonal = h.sum(axis=2)
    hessian = diagonal.mean(axis=1)[:, None, None] / m + ridge / m - h
    hessian[:, range(m), range(m)] += diagonal + ridge
    try:
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
    except np.linalg.LinAlgError:
        raise ValueError(
            "The Bradley-Terry fit has no unique solution: some models never met, directly or "
            "through others."
        ) from None
    longest = np.abs(step).max(axis=1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, 1e-300)))


def fit(battles: Battles, *, ridge: float = 0.0) -> Float:
    """Strengths (m,) of one table, with mean zero in every connected component.

    Raises
    ------
    ValueError
        If no maximum exists and ``ridge`` is 0; the sentence says what is wrong with the table.
    """
    s = battles.scores
    beta = np.zeros(len(battles.models))
    for part in components(s):
        inside = s[np.ix_(part, part)]
        if ridge == 0 and not strongly_connected(inside):
            names = ", ".join(battles.models[i] for i in part[:5])
            raise ValueError(
                f"The models {names}{' and others' if part.size > 5 else ''} have no finite "
                "Bradley-Terry scores: one group of them never conceded anything to the rest."
            )
        beta[part] = fit_scores(inside, ridge=ridge)
    return beta


def log_likelihood(scores: Float, beta: Float) -> float:
    """Sum of S_ij log sigma(beta_i - beta_j)."""
    return float(np.sum(scores * log_expit(beta[:, None] - beta[None, :])))
