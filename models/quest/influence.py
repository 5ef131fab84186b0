r"""Plug-in values and influence values of a measure on a sample (QuEst, Sections 2 and 3).

The paper's variance :math:`\sigma^2(F)` and covariance :math:`\eta` are double integrals over the
distribution functions.  Both equal second moments of *influence values*, one per observation,
which cost a sort instead of a double integral: :math:`\sigma^2 = \overline{a^2}` and
:math:`\eta = \overline{ab}`.

Symbols: m sample size, g_j gaps of the sorted sample, psi_j mid-cell weights
:math:`m[\Psi((j+\frac12)/m) - \Psi((j-\frac12)/m)]` (mid-cell, so that a segment border that falls
on j/m does not depend on floating-point rounding).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from models.checks import Float
from models.quest.measures import Integrable, Measure, Quantile

# Absorbs floating-point error in ranks such as 10 * 0.9, which must be 9 and not 10.
RANK_SLACK = 1e-9


@dataclass(frozen=True)
class SampleSummary:
    """A sample seen through a measure.

    Attributes
    ----------
    value : float
        Plug-in value Q_psi of the empirical distribution.
    influence : float64 array, shape (m,)
        Influence value of each observation; mean zero.  In row order, or in sorted order where the
        caller said that the order does not matter.
    """

    value: float
    influence: Float

    @property
    def variance(self) -> float:
        """sigma^2, the second moment of the influence values (divided by m)."""
        return float(np.mean(np.square(self.influence)))


def summarise(
    sample: Float, measure: Measure, alpha: float, *, ordered: bool = True
) -> SampleSummary:
    """Plug-in value and influence values of ``measure`` on ``sample``.

    Parameters
    ----------
    sample : float64 array, shape (m,), m >= 2
        Finite observations in any order.
    measure : Measure
        The weight on the quantile function.
    alpha : float in (0, 1)
        Error level; enters the density estimate of a single quantile only.
    ordered : bool
        Whether the influence values must come back in row order (one sort more).
    """
    if ordered:
        order = np.argsort(sample, kind="stable")
        x = sample[order]
    else:
        x = np.sort(sample)
    if isinstance(measure, Quantile):
        value = float(x[rank(x.size, measure.level) - 1])
        values = quantile_influence(x, measure.level, alpha)
    else:
        value = float(plug_in(x, measure))
        values = weight_influence(x, measure)
    if ordered:
        rows = np.empty_like(values)
        rows[order] = values
        values = rows
    return SampleSummary(value, values)


def plug_in(x: Float, weight: Integrable) -> Float:
    """Q_psi of the empirical distribution of a *sorted* sample, shape (..., m) -> (...).

    Border observations get fractional weights, so the tail size is never rounded.
    """
    m = x.shape[-1]
    cells = np.diff(weight.antiderivative(np.arange(m + 1) / m))
    return np.asarray(x @ cells, dtype=np.float64)


def weight_influence(x: Float, weight: Integrable) -> Float:
    r"""Influence values of a *sorted* sample, shape (..., m), under a weight.

    IF(x_(i)) = sum_j g_j psi_j j/m - sum_{j >= i} g_j psi_j.
    """
    m = x.shape[-1]
    j = np.arange(1, m)
    borders = weight.antiderivative((np.arange(m) + 0.5) / m)
    weighted = np.diff(x, axis=-1) * (m * np.diff(borders))
    beyond = np.zeros_like(x)
    beyond[..., :-1] = np.cumsum(weighted[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray((weighted @ (j / m))[..., None] - beyond, dtype=np.float64)


def rank(m: int, level: float) -> int:
    """Rank in 1..m of the order statistic at ``level``: ceil(m level), at least 1."""
    return min(m, max(1, math.ceil(m * level - RANK_SLACK)))


def quantile_influence(x: Float, level: float, alpha: float) -> Float:
    """Influence values (level - 1{x <= q}) * sparsity of a *sorted* sample, centred to mean 0."""
    below = x <= x[rank(x.size, level) - 1]
    return np.asarray((np.mean(below) - below) * sparsity(x, level, alpha), dtype=np.float64)


def sparsity(x: Float, level: float, alpha: float) -> float:
    """Reciprocal density at the ``level``-quantile of a *sorted* sample.

    The paper asks for a consistent density estimate and names none (Theorem C.2); ours is the
    difference quotient of the empirical quantile function with the Hall-Sheather bandwidth.
    """
    m = x.size
    z_level = stats.norm.ppf(level)
    h = (
        m ** (-1 / 3)
        * stats.norm.isf(alpha / 2) ** (2 / 3)
        * (1.5 * stats.norm.pdf(z_level) ** 2 / (2 * z_level**2 + 1)) ** (1 / 3)
    )
    h = max(min(h, min(level, 1 - level) - 1 / m), 1 / m)
    low, high = max(level - h, RANK_SLACK), min(level + h, 1.0)
    return float((x[rank(m, high) - 1] - x[rank(m, low) - 1]) / (high - low))
