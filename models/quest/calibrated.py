r"""A calibrated interval for small samples and far tails (beyond the paper).

The paper's interval takes the studentised error T = (Q - q)/se for standard normal.  With few
labels in a heavy tail it is not: a sample that misses the tail has a low estimate *and* a small
standard error.  The symmetric studentised bootstrap replaces the normal quantile by that of |T|
over resampled labelled rows, the weight lam and the standard error being recomputed in each.

A single quantile has no smooth influence function to studentise by; PPI++ inverts a test for it,
which needs no density either.

References
----------
Hall: On symmetric bootstrap confidence intervals, JRSS B 50, 1988 (coverage error O(n^-2)).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from models.checks import Float
from models.quest.baselines import LARGEST_N, affordable_resamples
from models.quest.estimate import Interval, Parts, quest, refused
from models.quest.influence import RANK_SLACK
from models.quest.measures import Quantile, Weight

METHOD = "QuEst, calibrated"

Counts = npt.NDArray[np.int64]


def calibrated(
    parts: Parts, labels: Float, predictions: Float, rng: np.random.Generator
) -> Interval:
    """QuEst's clipped estimate with a studentised bootstrap interval (split variance).

    Parameters
    ----------
    parts : Parts
        The prepared samples.
    labels, predictions : float64 arrays, shape (n,)
        The labelled rows themselves.
    rng : numpy.random.Generator
        Drives the resampling; between 99 and 499 resamples, fewer for many labels.

    Returns
    -------
    Interval
        Refused where QuEst's own is, for more than LARGEST_N labels, for an alpha that so few
        resamples cannot resolve, and where too many resamples are tied.

    Raises
    ------
    ValueError
        If the measure is a single quantile.
    """
    measure, n = parts.measure, parts.n
    if isinstance(measure, Quantile):
        raise ValueError(
            "A single quantile has no smooth influence to calibrate by; "
            "PPI++ inverts a test for it."
        )
    plain = quest(parts)
    resamples = affordable_resamples(n, 499)
    # Of B resampled |T|, the ceil((B + 1)(1 - alpha))-th smallest makes the level exact.
    order_statistic = math.ceil((resamples + 1) * (1 - parts.alpha) - RANK_SLACK)
    reason = plain.refusal
    if not reason and n > LARGEST_N:
        reason = f"The calibrated interval is for small samples; with {n:,} labels use QuEst's own."
    if not reason and order_statistic > resamples:
        reason = (
            f"alpha is {parts.alpha:.3g}, but {resamples} resamples calibrate no alpha below "
            f"{1 / (resamples + 1):.3g}."
        )
    if reason:
        return refused(METHOD, plain.estimate, reason, plain.lam)
    t = _studentised_errors(parts, measure, labels, predictions, resamples, rng)
    factor = float(np.sort(t)[order_statistic - 1])
    if not math.isfinite(factor):
        return refused(
            METHOD,
            plain.estimate,
            "Too many resamples show no spread at all where this measure looks (ties or a cap), so "
            "no interval can be calibrated.",
            plain.lam,
        )
    half = factor * plain.se
    low, high = plain.estimate - half, plain.estimate + half
    return Interval(METHOD, plain.estimate, low, high, plain.se, plain.lam)


def _studentised_errors(
    parts: Parts,
    weight: Weight,
    labels: Float,
    predictions: Float,
    resamples: int,
    rng: np.random.Generator,
) -> Float:
    """|T| of each resample, shape (B,); infinite where the resampled labels show no spread."""
    n = parts.n
    cells = rng.integers(0, n, size=(resamples, n)) * resamples + np.arange(resamples)[:, None]
    counts = np.bincount(cells.ravel(), minlength=cells.size).reshape(n, resamples)
    y = _resample(labels, counts, weight)
    yhat = _resample(predictions, counts, weight)
    share = counts / n
    eta = np.einsum("ij,ij->j", share * y.influence, yhat.influence)
    sigma2 = parts.unlabelled.variance
    scale = (1 + parts.ratio) * sigma2
    lam = np.clip(eta / scale, 0.0, 1.0) if scale > 0 else np.zeros(resamples)
    # The pool is large, so its own resampling is replaced by its normal limit.
    pool_noise = rng.normal(size=resamples) * math.sqrt(sigma2 / parts.n_unlabelled)
    error = np.abs(y.shift + lam * (pool_noise - yhat.shift))
    rest = y.influence - lam * yhat.influence
    residual = np.einsum("ij,ij->j", share * rest, rest)
    se = np.sqrt((residual + lam**2 * parts.ratio * sigma2) / n)
    spread = y.influence.any(axis=0)
    t = np.full(resamples, np.inf)
    t[spread] = error[spread] / se[spread]
    return t


class _Resamples(NamedTuple):
    """Plug-in values less the sample's own, shape (B,), and influence values, shape (n, B)."""

    shift: Float
    influence: Float


def _resample(sample: Float, counts: Counts, weight: Weight) -> _Resamples:
    """See resamples through the weight, given how often each holds each row, shape (n, B).

    Works on the sample's own sorted gaps G_i, which spares a sort for each resample: with C_i
    copies at or below x_(i), the plug-in value is max - sum_i G_i Psi(C_i/n), and the influence
    function rises by G_i psi_{C_i} from x_(i) to x_(i+1).
    """
    n = sample.size
    order = np.argsort(sample)
    gaps = np.diff(sample[order])
    copies = np.cumsum(counts[order[:-1]], axis=0)
    level = weight.antiderivative(np.arange(n + 1) / n)
    shift = gaps @ (level[1:-1, None] - level[copies])
    slope = np.zeros(n + 1)  # no rise below a resample's lowest value or above its highest
    slope[1:-1] = n * np.diff(weight.antiderivative((np.arange(n) + 0.5) / n))
    rise = np.zeros(counts.shape)
    np.cumsum(slope[copies] * gaps[:, None], axis=0, out=rise[1:])
    influence = np.empty_like(rise)
    influence[order] = rise
    influence -= np.einsum("ij,ij->j", counts, influence) / n
    return _Resamples(shift, influence)
