"""One draw analysed by every method, and many draws summarised against a known truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from models.checks import Float
from models.quest.baselines import ppi, ppi_plus_plus
from models.quest.calibrated import METHOD as CALIBRATED
from models.quest.calibrated import calibrated
from models.quest.estimate import (
    Interval,
    LamMode,
    Parts,
    Variance,
    labels_only,
    labels_saved,
    predictions_only,
    prepare,
    quest,
)
from models.quest.intake import Samples
from models.quest.measures import Measure, Quantile, check_enough

METHODS = ("QuEst", CALIBRATED, "PPI++", "PPI", "Labels only", "Predictions only")


@dataclass(frozen=True)
class Question:
    """What is asked and how: the measure, the error level and the estimator's options."""

    measure: Measure
    alpha: float = 0.10
    lam: LamMode | float = "clip"
    variance: Variance = "split"


@dataclass(frozen=True)
class Analysis:
    """Every method's answer on one set of samples.

    Attributes
    ----------
    parts : Parts
        The intermediates that the estimates are combined from.
    intervals : dict of str to Interval
        By method name, in the order in which they are drawn.
    """

    parts: Parts
    intervals: dict[str, Interval]

    @property
    def quest(self) -> Interval:
        """QuEst's own interval."""
        return self.intervals["QuEst"]

    @property
    def labels(self) -> Interval:
        """The labels-only interval."""
        return self.intervals["Labels only"]

    @property
    def labels_worth(self) -> float:
        """How many labels alone would give QuEst's width; NaN without both intervals."""
        return labels_saved(self.quest, self.labels, self.parts.n)


def analyse(
    samples: Samples, question: Question, rng: np.random.Generator, *, calibrate: bool = True
) -> Analysis:
    """Run QuEst, its calibrated interval and the baselines on one set of samples.

    Raises
    ------
    ValueError
        If the samples or the question are unusable; the sentence says why.
    """
    check_enough(question.measure, samples.labels.size)
    y, yhat, pool = samples.labels, samples.predictions, samples.pool
    parts = prepare(y, yhat, pool, question.measure, alpha=question.alpha)
    answers = [quest(parts, lam=question.lam, variance=question.variance)]
    if calibrate and not isinstance(question.measure, Quantile):
        answers.append(calibrated(parts, y, yhat, rng))
    tuned = ppi_plus_plus(parts, y, yhat, pool)
    if tuned is not None:
        answers.append(tuned)
    answers += [ppi(parts, y, yhat, pool), labels_only(parts), predictions_only(parts)]
    return Analysis(parts, {answer.method: answer for answer in answers})


def trial(
    rng: np.random.Generator,
    draw: Callable[[np.random.Generator], Samples],
    question: Question,
    *,
    calibrate: bool = False,
) -> Float:
    """One repetition: estimate, low and high of each of METHODS, flattened to shape (18,).

    A method that was not run or gave no interval is NaN there.
    """
    analysis = analyse(draw(rng), question, rng, calibrate=calibrate)
    none = Interval("", math.nan, math.nan, math.nan, math.nan)
    picked = [analysis.intervals.get(name, none) for name in METHODS]
    return np.array([(v.estimate, v.low, v.high) for v in picked]).ravel()


@dataclass(frozen=True)
class MethodSummary:
    """One method over many repetitions.

    Attributes
    ----------
    trials : int
        Number of repetitions.
    error, error_se : float
        Mean absolute error and its standard error.
    width : float
        Mean width of the intervals that were given.
    coverage, coverage_low, coverage_high : float
        Share of intervals that cover the truth, with its exact 95 % interval.
    refused : int
        Repetitions without an interval; they count neither for nor against coverage.
    """

    method: str
    trials: int
    error: float
    error_se: float
    width: float
    coverage: float
    coverage_low: float
    coverage_high: float
    refused: int


def summarise_trials(results: Float, truth: float) -> tuple[MethodSummary, ...]:
    """Summarise stacked :func:`trial` rows of shape (trials, 18) against the known truth."""
    by_method = results.reshape(results.shape[0], len(METHODS), 3)
    rows = []
    for k, method in enumerate(METHODS):
        estimate, low, high = by_method[:, k].T
        if np.isnan(estimate).all():
            continue
        error = np.abs(estimate - truth)
        given = np.isfinite(low)
        hits = int(np.sum((low <= truth) & (truth <= high)))
        count = int(given.sum())
        band = stats.binomtest(hits, count).proportion_ci(0.95) if count else None
        rows.append(
            MethodSummary(
                method,
                error.size,
                float(error.mean()),
                float(error.std(ddof=1) / math.sqrt(error.size)) if error.size > 1 else math.nan,
                float(np.mean(high[given] - low[given])) if count else math.nan,
                hits / count if count else math.nan,
                float(band.low) if band else math.nan,
                float(band.high) if band else math.nan,
                int(error.size - count),
            )
        )
    return tuple(rows)
