"""Sentences computed from QuEst's results."""

from __future__ import annotations

import math

from models.quest.calibrated import METHOD as CALIBRATED
from models.quest.draws import Draw
from models.quest.study import Analysis, MethodSummary
from ui.charts import number


def what_you_see(analysis: Analysis, *, truth: float | None) -> list[str]:
    """Two or three sentences on the picture; every number comes from the result."""
    ours, labels = analysis.quest, analysis.labels
    naive = analysis.intervals["Predictions only"]
    said = []
    if ours.refusal:
        said.append(
            f"QuEst estimates {number(ours.estimate)} but gives no interval. {ours.refusal}"
        )
        return said
    change = 1 - ours.width / labels.width
    if not math.isfinite(change):
        said.append(
            f"QuEst says {number(ours.estimate)}, from {number(ours.low)} to {number(ours.high)}."
        )
    elif change >= 0.005:
        said.append(
            f"QuEst's interval is {change:.0%} narrower than the labels-only one: it is as precise "
            f"as {analysis.labels_worth:,.0f} labels, and you have {analysis.parts.n:,}."
        )
    elif change <= -0.005:
        said.append(
            f"QuEst's interval is {-change:.0%} wider than the labels-only one: at weight "
            f"{ours.lam:.2f} the predictions cost precision."
        )
    else:
        said.append(
            "QuEst's interval is as wide as the labels-only one: the predictions do not help here, "
            f"and their weight is {ours.lam:.2f}."
        )
    gap = analysis.parts.labelled.value - analysis.parts.labels.value
    said.append(
        f"On the labelled rows the predictions are {number(abs(gap))} too "
        f"{'high' if gap > 0 else 'low'}, which is corrected with weight {ours.lam:.2f}."
    )
    if truth is not None:
        hit = "covers" if ours.low <= truth <= ours.high else "misses"
        naive_hit = "covers" if naive.low <= truth <= naive.high else "misses"
        said.append(
            f"The truth is {number(truth)}: QuEst's interval {hit} it, that of predictions alone "
            f"{naive_hit} it."
        )
    return said


def shortfall(draw: Draw, wanted: int) -> str:
    """Say when a population is too small for the wanted number of predictions; else empty."""
    if draw.n_unlabelled >= wanted:
        return ""
    return (
        f"This population has {draw.n + draw.n_unlabelled:,} rows in all, so "
        f"{draw.n_unlabelled:,} predictions without a label are used instead of {wanted:,}."
    )


def repeated(rows: tuple[MethodSummary, ...], alpha: float) -> str:
    """One sentence on the repeated draws."""
    ours = next(row for row in rows if row.method == "QuEst")
    labels = next(row for row in rows if row.method == "Labels only")
    inside = ours.coverage_low <= 1 - alpha <= ours.coverage_high
    verdict = (
        "which agrees with its promise of"
        if inside
        else ("more often than" if ours.coverage > 1 - alpha else "less often than its promise of")
    )
    text = (
        f"Over {ours.trials:,} draws QuEst covered the truth in {ours.coverage:.1%} "
        f"({ours.coverage_low:.1%} to {ours.coverage_high:.1%}), {verdict} {1 - alpha:.0%}; its "
        f"mean error was {_change(ours.error / labels.error)} that of labels alone."
    )
    if ours.refused:
        text += f" {ours.refused} draws gave no interval."
    calibrated = next((row for row in rows if row.method == CALIBRATED), None)
    if calibrated is not None and math.isfinite(calibrated.coverage):
        text += f" The calibrated interval covered {calibrated.coverage:.1%}."
    return text


def _change(ratio: float) -> str:
    if abs(1 - ratio) < 0.005:
        return "equal to"
    return f"{abs(1 - ratio):.0%} {'below' if ratio < 1 else 'above'}"


def worth(analysis: Analysis) -> tuple[str, str, str]:
    """Title, number and explanation of the third card: what the predictions are worth."""
    n = analysis.parts.n
    if math.isnan(analysis.labels_worth):
        return "As precise as", "no interval", "There is no honest interval for this question."
    return (
        "As precise as",
        f"{analysis.labels_worth:,.0f} labels",
        f"you have {n:,}; weight on the predictions {analysis.quest.lam:.2f}",
    )
