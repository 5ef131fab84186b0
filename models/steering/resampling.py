"""Resampling schemes of particle methods, and the effective sample size.

Weights are normalised, C_j = w_0 + ... + w_j, and a point p in [0, 1) selects the smallest j with
C_j >= p. The schemes differ in their points: M independent ones (multinomial, the paper's), one in
each of M equal strata (stratified), the same place in each stratum (systematic); residual copies
each particle floor(M w_j) times and draws what is left over.

References
----------
R. Douc, O. Cappe, E. Moulines, "Comparison of Resampling Schemes for Particle Filtering", 2005.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from models.checks import Float, check_choice

Scheme = Literal["systematic", "stratified", "residual", "multinomial"]
Index = npt.NDArray[np.int64]

_TINY = np.finfo(np.float64).tiny


def select(weights: Float, points: Float) -> Index:
    """Return the particle that each point in [0, 1] selects."""
    cumulative = np.cumsum(weights)
    # Rounding may leave the sum short of 1: the last particle with weight takes what lies beyond.
    last = int(np.flatnonzero(weights)[-1])
    found = np.searchsorted(cumulative, np.maximum(points, _TINY), side="left")
    return np.minimum(found, last).astype(np.int64)


def systematic(weights: Float, m: int, u: float) -> Index:
    """Return m indices from one uniform number in [0, 1)."""
    # Points (i + u) / m up to C_j are counted instead of searched: i <= m C_j - u.
    cumulative = np.cumsum(weights)
    cumulative *= m / cumulative[-1]
    # A point at exactly 0 would select a first particle without weight.
    below = np.minimum(np.floor(cumulative - max(u, _TINY)).astype(np.int64) + 1, m)
    return np.repeat(np.arange(len(weights)), np.diff(below, prepend=0))


def stratified(weights: Float, uniforms: Float) -> Index:
    """Return as many indices as there are uniform numbers, one from each stratum."""
    return select(weights, (np.arange(len(uniforms)) + uniforms) / len(uniforms))


def residual(weights: Float, m: int, rng: np.random.Generator) -> Index:
    """Return m indices: floor(m w_j) copies of j, and the rest drawn from what is left over."""
    # 4 * 0.25 must count as 4 copies even where the product rounds to a hair less.
    copies = np.floor(m * weights + 1e-12).astype(np.int64)
    kept = np.repeat(np.arange(len(weights)), copies)
    left = m - len(kept)
    if not left:
        return kept
    rest = np.maximum(m * weights - copies, 0.0)
    return np.sort(np.concatenate([kept, select(rest / rest.sum(), rng.random(left))]))


def resample(weights: Float, scheme: Scheme, rng: np.random.Generator) -> Index:
    """Return the parents of the next k particles, given k normalised weights.

    Raises
    ------
    ValueError
        If the scheme is unknown.
    """
    check_choice(scheme, Scheme, "resampling scheme")
    m = len(weights)
    match scheme:
        case "systematic":
            return systematic(weights, m, rng.random())
        case "stratified":
            return stratified(weights, rng.random(m))
        case "residual":
            return residual(weights, m, rng)
    return select(weights, rng.random(m))


def normalise(log_weights: Float) -> Float:
    """Return weights that sum to 1 from log weights, at least one of which is finite."""
    w = np.exp(log_weights - log_weights.max())
    return np.asarray(w / w.sum(), dtype=np.float64)


def log_mean(log_weights: Float) -> float:
    """Return the logarithm of the mean weight."""
    top = float(log_weights.max())
    return top + math.log(float(np.exp(log_weights - top).mean()))


def effective_size(weights: Float) -> float:
    """Return 1 / sum w^2 of normalised weights, between 1 and k."""
    return 1.0 / float(weights @ weights)
