"""Prediction-powered baselines: PPI and PPI++ for the mean and for a single quantile.

References
----------
Angelopoulos, Bates, Fannjiang, Jordan, Zrnic: Prediction-powered inference, Science 2023.
Angelopoulos, Duchi, Zrnic: PPI++, 2023 (power tuning; Section 6 for the weight).
QuEst, Section 6, compares with both.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import stats

from models.checks import Float
from models.quest.estimate import Interval, Parts, normal_interval, quest, refused
from models.quest.influence import plug_in, rank
from models.quest.measures import Measure, Quantile, StepWeight

# Resampling more labels than this costs seconds and gains nothing over normal theory.
LARGEST_N = 25_000
_CELLS = 2_500_000


def ppi(parts: Parts, labels: Float, predictions: Float, pool: Float) -> Interval:
    """PPI: the predictions count in full (lam = 1).

    For a quantile the interval inverts the rectified distribution function; for every other
    measure it is the hybrid estimate with lam = 1.
    """
    if isinstance(parts.measure, Quantile):
        return rectified_quantile(
            "PPI", parts, parts.measure.level, (labels, predictions, pool), tuned=False
        )
    return replace(quest(parts, lam=1.0), method="PPI")


def ppi_plus_plus(parts: Parts, labels: Float, predictions: Float, pool: Float) -> Interval | None:
    """PPI++ for the mean or a quantile; None for measures that it does not define.

    For the mean the weight uses the variance of all n + N predictions (divided by n + N - 1), as
    the reference implementation does, so it differs from QuEst's by O(1/n).  For a quantile the
    weight is tuned at each candidate value as for a mean of indicators.
    """
    if isinstance(parts.measure, Quantile):
        return rectified_quantile(
            "PPI++", parts, parts.measure.level, (labels, predictions, pool), tuned=True
        )
    if not is_mean(parts.measure):
        return None
    pooled = float(np.var(np.concatenate([predictions, pool]), ddof=1))
    covariance = float(np.mean((labels - labels.mean()) * (predictions - predictions.mean())))
    lam = covariance / ((1 + parts.ratio) * pooled) if pooled > 0 else 0.0
    lam = min(1.0, max(0.0, lam))
    variance = float(np.var(labels - lam * predictions)) / labels.size
    variance += lam**2 * float(np.var(pool)) / pool.size
    return normal_interval("PPI++", parts.point(lam), variance, parts.alpha, lam=lam)


def is_mean(measure: Measure) -> bool:
    """Whether the measure is the plain average."""
    return isinstance(measure, StepWeight) and measure.edges == (0.0, 1.0)


def rectified_quantile(
    method: str,
    parts: Parts,
    level: float,
    samples: tuple[Float, Float, Float],
    *,
    tuned: bool,
) -> Interval:
    """All data points y at which the rectified distribution function may equal the level.

    G(y) = mean 1{Y <= y} + lam (mean 1{pool <= y} - mean 1{Yhat <= y}); y is kept if the two-sided
    normal p-value of G(y) = level exceeds alpha.  Cumulative counts on the sorted pooled points
    replace an n x grid matrix of indicators.
    """
    labels, predictions, pool = samples
    n, big_n = labels.size, pool.size
    grid = np.unique(np.concatenate([labels, predictions, pool]))
    share_y = _share_below(labels, grid)
    share_hat = _share_below(predictions, grid)
    share_pool = _share_below(pool, grid)
    both = _share_below(np.maximum(labels, predictions), grid)
    covariance = both - share_y * share_hat
    if tuned:
        share_all = (n * share_hat + big_n * share_pool) / (n + big_n)
        spread = share_all * (1 - share_all) * (n + big_n) / (n + big_n - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            raw = covariance / ((1 + parts.ratio) * spread)
        lam = np.clip(np.where(spread > 0, raw, 0.0), 0.0, 1.0)
    else:
        lam = np.ones_like(grid)
    rectified = share_y + lam * (share_pool - share_hat)
    own = share_y * (1 - share_y) - 2 * lam * covariance + lam**2 * share_hat * (1 - share_hat)
    se = np.sqrt(np.maximum(own, 0.0) / n + lam**2 * share_pool * (1 - share_pool) / big_n)
    z = float(stats.norm.isf(parts.alpha / 2))
    kept = np.flatnonzero(np.abs(rectified - level) <= z * se)
    index = int(np.argmin(np.abs(rectified - level)))
    point, weight = float(grid[index]), float(lam[index])
    if kept.size == 0:
        return refused(
            method, point, "No data point is compatible with this quantile level.", weight
        )
    low, high = float(grid[kept[0]]), float(grid[kept[-1]])
    if not low < high:
        return refused(
            method,
            point,
            "The interval is the single value "
            f"{low:g}: quantiles of tied values jump, so its width of zero would mislead.",
            weight,
        )
    return Interval(method, point, low, high, (high - low) / (2 * z), weight)


def _share_below(sample: Float, grid: Float) -> Float:
    return np.searchsorted(np.sort(sample), grid, side="right") / sample.size


def affordable_resamples(n: int, most: int) -> int:
    """How many resamples of ``n`` labels to draw: at most ``most``, at least 99."""
    return min(most, max(99, _CELLS // n))


def bootstrap(
    parts: Parts, labels: Float, rng: np.random.Generator, *, resamples: int = 1000
) -> Interval:
    """Percentile bootstrap of the labels alone, a baseline without normal theory."""
    method, value, n = "Bootstrap (labels)", parts.labels.value, labels.size
    if n > LARGEST_N:
        reason = f"The bootstrap is for small samples; with {n:,} labels use a normal interval."
        return refused(method, value, reason)
    resamples = affordable_resamples(n, resamples)
    draws = np.sort(labels)[np.sort(rng.integers(0, n, size=(resamples, n)), axis=1)]
    if isinstance(parts.measure, Quantile):
        values = draws[:, rank(n, parts.measure.level) - 1]
    else:
        values = plug_in(draws, parts.measure)
    low, high = np.quantile(values, [parts.alpha / 2, 1 - parts.alpha / 2])
    if not low < high:
        return refused(method, value, "All resamples give the same value (ties or a cap).")
    return Interval(method, value, float(low), float(high), float(np.std(values)))
