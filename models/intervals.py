"""Confidence intervals over trials, and the verdict that one gives on a claim."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy.typing as npt
from scipy.special import betaincinv, ndtri

from models.checks import (
    Float,
    check_choice,
    check_same_length,
    check_sample,
    check_unit_open,
)

Verdict = Literal["holds", "not shown", "contradicted"]
Side = Literal["lower", "higher"]


class Interval(NamedTuple):
    """An estimate and its two-sided confidence interval."""

    value: float
    low: float
    high: float


def verdict(low: float, high: float, threshold: float, better: Side = "lower") -> Verdict:
    """Judge a claim by an interval: it holds only if all of that lies beyond the threshold.

    "contradicted" means that all of it lies on the wrong side. An interval that contains or
    touches the threshold, or has a NaN, shows nothing.
    """
    check_choice(better, Side, "better")
    if low > high:
        raise ValueError(f"The interval's low end {low:g} exceeds its high end {high:g}.")
    if math.isnan(low) or math.isnan(high) or not (high < threshold or low > threshold):
        return "not shown"
    return "holds" if (high < threshold) == (better == "lower") else "contradicted"


def mean_interval(x: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Return the mean over trials with its normal interval, which for one trial is unbounded."""
    values = check_sample(x, "x", minimum=1)
    mean = float(values.mean())
    return _normal(mean, values - mean, level)


def ratio_interval(a: npt.ArrayLike, b: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Return R = mean(a) / mean(b) over paired trials with its delta-method interval.

    R deviates like (a - R b) / mean(b). If mean(b) is 0, R is NaN and the interval unbounded.
    """
    top, bottom = check_sample(a, "a", minimum=1), check_sample(b, "b", minimum=1)
    check_same_length(top, bottom, ("a", "b"))
    if not (scale := float(bottom.mean())):
        return Interval(math.nan, -math.inf, math.inf)
    ratio = float(top.mean()) / scale
    return _normal(ratio, (top - ratio * bottom) / scale, level)


def share_interval(k: int, n: int, level: float = 0.95) -> Interval:
    """Return the share k / n of successes with its exact (Clopper-Pearson) interval."""
    if n < 1 or not 0 <= k <= n:
        raise ValueError(f"k = {k} of n = {n}, but n >= 1 and 0 <= k <= n must hold.")
    tail = (1 - check_unit_open(level, "level")) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return Interval(k / n, low, high)


def _normal(value: float, deviations: Float, level: float) -> Interval:
    z = float(ndtri((1 + check_unit_open(level, "level")) / 2))
    n = deviations.size
    reach = z * math.sqrt(float(deviations @ deviations) / (n - 1) / n) if n > 1 else math.inf
    return Interval(value, value - reach, value + reach)
