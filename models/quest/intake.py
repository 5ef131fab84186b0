"""From a visitor's columns to the three samples of QuEst, with every row accounted for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from models.checks import Float, check_same_length, check_sample
from models.quest.estimate import Parts
from models.quest.measures import Quantile, Weight, effective_count

FEW_LABELS = 30
FEW_IN_TAIL = 20
FEW_VALUES = 10
HEAVY_TIE = 0.1
DOUBT = 0.01


@dataclass(frozen=True)
class Samples:
    """The three samples that every method works on.

    Attributes
    ----------
    labels, predictions : float64 arrays, shape (n,)
    pool : float64 array, shape (N,)
        Predictions on unlabelled rows.
    notes : tuple of str
        What was done with the rows, one sentence each.
    """

    labels: Float
    predictions: Float
    pool: Float
    notes: tuple[str, ...] = ()


def from_columns(
    label: Float, prediction: Float, ids: Sequence[str] | npt.NDArray[np.str_] | None = None
) -> Samples:
    """Split one table into labelled and unlabelled rows.

    Parameters
    ----------
    label, prediction : float64 arrays, shape (rows,)
        NaN marks a blank cell: a row without a label is an unlabelled row.
    ids : sequence of str, optional
        Row identities; one that is both labelled and unlabelled is pointed out.

    Raises
    ------
    ValueError
        One sentence naming what is missing or wrong (QuEst specification of bad input).
    """
    check_same_length(label, prediction, ("The label column", "the prediction column"))
    if label.size == 0:
        raise ValueError("The table has no rows; add one row per case below the header.")
    if np.isinf(label).any():
        where = int(np.argmax(np.isinf(label)))
        raise ValueError(f"The label in data row {where + 1} is infinite; labels must be finite.")
    labelled = ~np.isnan(label)
    usable = np.isfinite(prediction)
    if not labelled.any():
        raise ValueError(
            "The label column is blank in every row; QuEst needs at least 2 rows with a label."
        )
    if not (usable & ~labelled).any():
        raise ValueError(
            "No row has a prediction without a label; add unlabelled rows, with the label blank."
        )
    notes = []
    broken = labelled & ~usable
    if broken.sum() > labelled.sum() / 2:
        raise ValueError(
            f"{broken.sum()} of {labelled.sum()} labelled rows have no finite prediction; more "
            "than half cannot be left out, so fill in the predictions first."
        )
    if broken.any():
        notes.append(
            f"{_rows(int(broken.sum()), 'labelled row')} without a finite prediction left out of "
            "the hybrid estimate."
        )
    empty = ~labelled & ~usable
    if empty.any():
        notes.append(
            f"{_rows(int(empty.sum()), 'row')} with neither a label nor a finite prediction "
            "left out."
        )
    gold, pool = labelled & usable, ~labelled & usable
    notes.append(
        f"{gold.sum():,} labelled rows and {pool.sum():,} unlabelled rows "
        "(a blank label marks an unlabelled row)."
    )
    if ids is not None:
        names = np.asarray(ids, dtype=np.str_)
        check_same_length(names, label, ("The id column", "the label column"))
        shared = np.setdiff1d(np.intersect1d(names[gold], names[pool]), [""])
        if shared.size:
            notes.append(
                f"{_rows(shared.size, 'id')} found among both the labelled and the unlabelled rows "
                f"(for example {shared[0]!s}); the variance formula assumes two sets without a "
                "common row."
            )
    return from_arrays(label[gold], prediction[gold], prediction[pool], tuple(notes))


def from_arrays(
    labels: Float, predictions: Float, pool: Float, notes: tuple[str, ...] = ()
) -> Samples:
    """Check three arrays, as they come from two separate files.

    Raises
    ------
    ValueError
        For fewer than 2 labels or unlabelled predictions, values that are not finite numbers, or
        labels and predictions of different length (both lengths are named).
    """
    check_same_length(labels, predictions, ("labels", "predictions"))
    for found, what in ((labels.size, "labels"), (pool.size, "unlabelled predictions")):
        if found < 2:
            raise ValueError(f"At least 2 {what} are needed, but there are only {found} usable.")
    return Samples(
        check_sample(labels, "labels"),
        check_sample(predictions, "predictions"),
        check_sample(pool, "unlabelled predictions"),
        notes,
    )


@dataclass(frozen=True)
class Advice:
    """One sentence about how far the result can be trusted; ``serious`` marks a warning."""

    text: str
    serious: bool


def advise(samples: Samples, parts: Parts, lam: float) -> tuple[Advice, ...]:
    """Say what a careful statistician would about these samples and this measure."""
    found: list[Advice] = []
    n, measure = parts.n, parts.measure

    def warn(text: str) -> None:
        found.append(Advice(text, serious=True))

    def note(text: str) -> None:
        found.append(Advice(text, serious=False))

    carried = effective_count(measure, n)
    if n < FEW_LABELS:
        warn(f"Only {n} labels: normal intervals are rough below {FEW_LABELS}.")
    if carried < FEW_IN_TAIL - 1e-9:
        warn(
            f"About {carried:.3g} labels carry this measure (fewer than {FEW_IN_TAIL}): a normal "
            "interval covers the truth less often than it promises; prefer the "
            f"{'PPI++' if isinstance(measure, Quantile) else 'calibrated'} one."
        )
    if isinstance(measure, Quantile):
        different = np.unique(samples.labels).size
        if different <= min(FEW_VALUES, n // 2):
            warn(
                f"The labels take only {different} different values, and quantiles of ratings "
                "jump; the mean or the mean of a segment is the steadier question."
            )
    else:
        for end, share in _shares_at_ends(samples.labels, measure):
            if share > HEAVY_TIE:
                warn(
                    f"{100 * share:.0f} % of the labels sit exactly at {end:g}, the end of their "
                    "range (a cap or a scale's end); values beyond it are invisible to every "
                    "method here."
                )
    test = stats.ks_2samp(samples.predictions, samples.pool, method="asymp")
    if test.pvalue < DOUBT:
        warn(
            "The predictions differ between labelled and unlabelled rows (two-sample "
            f"Kolmogorov-Smirnov p = {test.pvalue:.2g}): the labelled rows may not be a random "
            "sample of the same population."
        )
    if parts.unlabelled.variance == 0 or parts.labelled.variance == 0:
        note(f"The predictions carry no information here; their weight is {lam:.3g}.")
    elif parts.lam_raw < 0:
        note(
            f"Predictions and labels are negatively related here (best weight "
            f"{parts.lam_raw:.2f}); the weight in use is {lam:.3g}."
        )
    spread = float(np.std(samples.labels)), float(np.std(samples.predictions))
    if min(spread) > 0 and not 0.1 <= spread[0] / spread[1] <= 10:
        note(
            "Labels and predictions are on different scales (their standard deviations differ by "
            f"a factor of {max(spread) / min(spread):.0f}); "
            + (
                f"the best weight, {parts.lam_raw:.3g}, is clipped to 1: choose the raw weight or "
                "rescale the predictions."
                if lam == 1 < parts.lam_raw
                else "the weight rescales the predictions."
            )
        )
    if parts.n_unlabelled < n:
        note(
            f"There are fewer unlabelled rows ({parts.n_unlabelled:,}) than labels ({n:,}), so the "
            "predictions can help only a little."
        )
    return tuple(found)


def _shares_at_ends(sample: Float, weight: Weight) -> list[tuple[float, float]]:
    """Lowest and highest value, each with its share of the sample, where the weight sees it."""
    low, high = float(sample.min()), float(sample.max())
    at_low, at_high = float(np.mean(sample == low)), float(np.mean(sample == high))
    seen = np.array([weight.antiderivative(at_low), 1 - weight.antiderivative(1 - at_high)])
    return [
        pair
        for pair, mass in zip([(low, at_low), (high, at_high)], seen, strict=True)
        if abs(mass) > 1e-9
    ]


def _rows(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
