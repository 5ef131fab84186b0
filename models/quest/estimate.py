r"""The hybrid estimate, its variance and interval, and the plain baselines (QuEst, Sections 3-4).

Symbols: n labelled pairs (Y, Yhat), N predictions on unlabelled rows, r = n/N;
a, b, c influence values of the labels, the labelled predictions and the unlabelled predictions;
eta = mean(a b), sigma2_labels = mean(a^2), sigma2_predictions = mean(c^2);
lam the weight on the predictions.

    Q(lam)    = Q(F_n) + lam [Q(Ft_N^u) - Q(Ft_n)]
    rho2(lam) = lam^2 (1 + r) sigma2_predictions + sigma2_labels - 2 lam eta      ("plug-in")
              = mean((a - lam b)^2) + lam^2 r sigma2_predictions                  ("split")
    lam*      = eta / ((1 + r) sigma2_predictions)

Both variances are consistent.  The plug-in one is the paper's and can turn negative in small
samples, because eta and sigma2_predictions come from different rows; the split one cannot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from models.checks import Float, check_alpha, check_same_length, check_sample
from models.quest.influence import SampleSummary, sparsity, summarise
from models.quest.measures import Measure, Quantile, check_enough

LamMode = Literal["clip", "raw"]
Variance = Literal["split", "plug-in"]


@dataclass(frozen=True)
class Interval:
    """A point estimate with its two-sided interval at level 1 - alpha.

    Attributes
    ----------
    method : str
        Name of the method, the same everywhere in the product.
    estimate, low, high, se : float
        ``low`` and ``high`` are NaN where no honest interval exists; ``refusal`` then says why.
    lam : float
        Weight on the predictions (0 for labels only).
    refusal : str
        Empty, or one sentence on why no interval is given.
    """

    method: str
    estimate: float
    low: float
    high: float
    se: float
    lam: float = 0.0
    refusal: str = ""

    @property
    def width(self) -> float:
        """Length of the interval; NaN where there is none."""
        return self.high - self.low


@dataclass(frozen=True)
class Parts:
    """Everything that the hybrid estimate is combined from; independent of lam.

    Attributes
    ----------
    labels, labelled, unlabelled : SampleSummary
        Gold labels (n,), predictions on the same rows (n,), predictions on unlabelled rows (N,).
    measure : Measure
        What is estimated.
    alpha : float
        Error level of the interval.
    """

    labels: SampleSummary
    labelled: SampleSummary
    unlabelled: SampleSummary
    measure: Measure
    alpha: float

    @property
    def n(self) -> int:
        """Number of labelled rows."""
        return self.labels.influence.size

    @property
    def n_unlabelled(self) -> int:
        """Number of unlabelled rows, N."""
        return self.unlabelled.influence.size

    @property
    def ratio(self) -> float:
        """The ratio r = n/N."""
        return self.n / self.n_unlabelled

    @property
    def eta(self) -> float:
        """Covariance of the label and prediction influence values on the labelled rows."""
        return float(np.mean(self.labels.influence * self.labelled.influence))

    @property
    def lam_raw(self) -> float:
        """The variance-minimising weight, unclipped; 0 where predictions carry no information."""
        scale = (1 + self.ratio) * self.unlabelled.variance
        return self.eta / scale if scale > 0 else 0.0

    def choose_lam(self, lam: LamMode | float) -> float:
        """Resolve ``"clip"`` (the default), ``"raw"`` or a fixed finite number to a weight."""
        if lam == "clip":
            return min(1.0, max(0.0, self.lam_raw))
        if lam == "raw":
            return self.lam_raw
        if isinstance(lam, str) or not math.isfinite(lam):
            raise ValueError(f'lam is {lam!r}, but must be "clip", "raw" or a finite number.')
        return float(lam)

    def point(self, lam: float) -> float:
        """Q(lam)."""
        return self.labels.value + lam * (self.unlabelled.value - self.labelled.value)

    def rho2(self, lam: float | Float, variance: Variance = "split") -> Float:
        """Asymptotic variance of sqrt(n) Q(lam), for one weight or an array of weights."""
        check_variance(variance)
        weight = np.asarray(lam, dtype=np.float64)
        sigma2 = self.unlabelled.variance
        common = self.labels.variance - 2 * weight * self.eta
        if variance == "split":
            residual = np.maximum(common + weight**2 * self.labelled.variance, 0.0)
            return np.asarray(residual + weight**2 * self.ratio * sigma2)
        return np.asarray(common + weight**2 * (1 + self.ratio) * sigma2)


def check_variance(variance: str) -> None:
    """Raise ValueError unless ``variance`` is one of the two estimates."""
    if variance not in ("split", "plug-in"):
        raise ValueError(f'variance is {variance!r}, but must be "split" or "plug-in".')


def prepare(
    labels: Float,
    predictions: Float,
    predictions_unlabelled: Float,
    measure: Measure,
    *,
    alpha: float = 0.10,
) -> Parts:
    """Validate the three samples and summarise each through the measure, in O((n+N) log(n+N)).

    Parameters
    ----------
    labels, predictions : float64 arrays, shape (n,), n >= 2
        Gold values and model predictions of the same rows.
    predictions_unlabelled : float64 array, shape (N,), N >= 2
        Predictions on rows of the same population without labels.
    measure : Measure
        What to estimate.
    alpha : float in (0, 1)
        Error level.

    Raises
    ------
    ValueError
        For non-finite or too few values, unequal lengths, or a level outside (0, 1).
    """
    level = check_alpha(alpha)
    y = check_sample(labels, "labels")
    yhat = check_sample(predictions, "predictions")
    check_same_length(y, yhat, ("labels", "predictions"))
    pool = check_sample(predictions_unlabelled, "predictions_unlabelled")
    unlabelled = summarise(pool, measure, level, ordered=False)
    labelled = summarise(yhat, measure, level)
    if isinstance(measure, Quantile):
        # The many unlabelled predictions give the better density, so it serves both samples.
        share = yhat <= labelled.value
        slope = sparsity(np.sort(pool), measure.level, level)
        labelled = SampleSummary(labelled.value, (np.mean(share) - share) * slope)
    return Parts(summarise(y, measure, level), labelled, unlabelled, measure, level)


def normal_interval(
    method: str,
    estimate: float,
    variance: float,
    alpha: float,
    *,
    lam: float = 0.0,
    what: str = "labels",
) -> Interval:
    """Estimate +- z sqrt(variance), or a refusal (about ``what``) where that would be empty."""
    if not math.isfinite(variance) or not math.isfinite(estimate):
        return refused(method, estimate, "The estimate or its variance is not finite.", lam)
    if variance < 0:
        return refused(
            method,
            estimate,
            "The plug-in variance is negative on this sample (it combines two different samples); "
            "choose the split variance.",
            lam,
        )
    se = math.sqrt(variance)
    # isf, because 1 - alpha/2 rounds to 1 for a tiny alpha and the interval would be infinite.
    half = float(stats.norm.isf(alpha / 2)) * se
    if not estimate - half < estimate < estimate + half:
        return refused(
            method,
            estimate,
            f"The {what} show no spread where this measure looks (ties, a cap, or a quantile at "
            "the very end of the sample), so an interval would have width zero.",
            lam,
        )
    return Interval(method, estimate, estimate - half, estimate + half, se, lam)


def refused(method: str, estimate: float, reason: str, lam: float = 0.0) -> Interval:
    """Return a point estimate with the reason why it carries no interval."""
    return Interval(method, estimate, math.nan, math.nan, math.nan, lam, reason)


def quest(parts: Parts, *, lam: LamMode | float = "clip", variance: Variance = "split") -> Interval:
    """QuEst's hybrid estimate and interval (Section 3; Section 4 for a single quantile)."""
    weight = parts.choose_lam(lam)
    rho2 = float(parts.rho2(weight, variance))
    if parts.labels.variance == 0:
        # Without spread among the labels only the predictions' noise would be left.
        rho2 = 0.0
    return normal_interval("QuEst", parts.point(weight), rho2 / parts.n, parts.alpha, lam=weight)


def labels_only(parts: Parts) -> Interval:
    """Return the classical estimate from the n labels alone, with its normal interval."""
    return normal_interval(
        "Labels only", parts.labels.value, parts.labels.variance / parts.n, parts.alpha
    )


def predictions_only(parts: Parts) -> Interval:
    """Return the estimate that takes the predictions for truth: narrow, and biased if they are."""
    return normal_interval(
        "Predictions only",
        parts.unlabelled.value,
        parts.unlabelled.variance / parts.n_unlabelled,
        parts.alpha,
        lam=1.0,
        what="unlabelled predictions",
    )


def labels_saved(hybrid: Interval, labels: Interval, n: int) -> float:
    """How many labels alone would give the hybrid's width: n (width_labels / width_hybrid)^2."""
    return n * (labels.width / hybrid.width) ** 2


def estimate(
    labels: Float,
    predictions: Float,
    predictions_unlabelled: Float,
    measure: Measure,
    *,
    alpha: float = 0.10,
    lam: LamMode | float = "clip",
    variance: Variance = "split",
) -> Interval:
    """QuEst in one call, refusing a measure that rests on less than one label."""
    check_enough(measure, np.asarray(labels).size)
    parts = prepare(labels, predictions, predictions_unlabelled, measure, alpha=alpha)
    return quest(parts, lam=lam, variance=variance)
