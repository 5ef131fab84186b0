"""QuEst's pictures: results in, Plotly figures and their alt texts out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from scipy import stats

from models.checks import Float
from models.quest.calibrated import METHOD as CALIBRATED
from models.quest.estimate import Interval, Parts, Variance
from models.quest.intake import Samples
from models.quest.joint import Region
from models.quest.measures import Measure, Quantile
from models.quest.study import MethodSummary
from ui.charts import Look, Role, Sketch, number, padded

METHOD_ROLES: dict[str, Role] = {
    "QuEst": "ours",
    CALIBRATED: "variant",
    "QuEst-Opt (bins)": "other",
    "QuEst-Opt (sinusoids)": "other",
    "PPI++": "other",
    "PPI": "peer",
    "Labels only": "classical",
    "Bootstrap (labels)": "other",
    "Predictions only": "naive",
}
CURVE_POINTS = 201
Picture = tuple[go.Figure, str]


def intervals(
    answers: Mapping[str, Interval],
    look: Look,
    *,
    unit: str,
    span: tuple[float, float] | None,
    truth: float | None,
) -> Picture:
    """Draw every method's interval on one axis, the truth as a line where it is shown."""
    names = list(answers)
    sketch = Sketch(look, 52 * len(names) + 92)
    for name in reversed(names):
        answer, role = answers[name], METHOD_ROLES[name]
        colour = look.colour(role)
        label = f"{number(answer.estimate)}  no interval"
        if math.isfinite(answer.low):
            label = f"{number(answer.estimate)}  [{number(answer.low)}, {number(answer.high)}]"
            sketch.add(
                "scatter",
                x=[answer.low, answer.high],
                y=[name, name],
                mode="lines",
                line={"color": colour, "width": 9 if role == "ours" else 6},
                hoverinfo="skip",
            )
        sketch.add(
            "scatter",
            x=[answer.estimate],
            y=[name],
            mode="markers",
            marker={
                "color": colour,
                "size": 13,
                "symbol": look.marker(role),
                "line": {"color": look.ink, "width": 1},
            },
            hovertemplate=f"{name}: {label}<extra></extra>",
        )
        sketch.note(
            label,
            x=1,
            xref="paper",
            y=name,
            yshift=18,
            xanchor="right",
            font={"size": look.font_size - 1, "color": look.faint},
        )
    if truth is not None:
        sketch.rule(x=truth, color=look.ink, width=2, dash="dot")
        sketch.note(f"truth {number(truth)}", x=truth, y=1.0, yref="paper", yanchor="bottom")
    ends = [v for a in answers.values() for v in (a.estimate, a.low, a.high) if math.isfinite(v)]
    sketch.axis("x", title=unit, range=list(span or padded(ends)))
    sketch.axis(
        "y", range=[-0.6, len(names) - 0.2], tickfont={"color": look.ink, "size": look.font_size}
    )
    ours, labels = answers["QuEst"], answers["Labels only"]
    alt = f"Intervals of {len(names)} methods. QuEst: {number(ours.estimate)}"
    if math.isfinite(ours.low):
        alt += f", from {number(ours.low)} to {number(ours.high)}"
    if math.isfinite(labels.low):
        alt += f"; labels only {number(labels.low)} to {number(labels.high)}"
    if truth is not None:
        alt += f"; the truth is {number(truth)}"
    return sketch.figure(), alt + "."


def quantile_curves(samples: Samples, measure: Measure, look: Look, unit: str) -> Picture:
    """Draw the three quantile functions, with the part that the measure weighs shaded."""
    sketch = Sketch(look, 360)
    p = np.linspace(0.0, 1.0, CURVE_POINTS)
    runs = _weighed(measure, p)
    # The axis shows what is weighed and its surroundings, not the far ends of a heavy tail.
    first = max(0.02, min(start for start, _, _ in runs) - 0.15)
    last = min(0.98, max(stop for _, stop, _ in runs) + 0.15)
    seen: list[float] = []
    curves: tuple[tuple[str, Float, Role], ...] = (
        ("labels", samples.labels, "classical"),
        ("predictions, labelled", samples.predictions, "peer"),
        ("predictions, unlabelled", samples.pool, "naive"),
    )
    for name, sample, role in curves:
        values = np.quantile(sample, p, method="inverted_cdf")
        seen += np.quantile(sample, [first, last]).tolist()
        sketch.add(
            "scatter",
            x=p,
            y=values,
            mode="lines",
            name=name,
            line={"color": look.colour(role), "dash": look.dash(role), "width": 2, "shape": "hv"},
        )
    for start, stop, height in runs:
        sketch.shade(start, stop, look.colour("ours"), 0.06 + 0.14 * abs(height))
    sketch.layout["showlegend"] = True
    sketch.axis("x", title="share of the population, from lowest to highest", range=[0, 1])
    sketch.axis("y", title=unit, range=list(padded(seen)))
    return sketch.figure(), (
        f"Quantile functions of labels and predictions; shaded: {measure.sentence}."
    )


def _weighed(measure: Measure, p: Float) -> list[tuple[float, float, float]]:
    """Shares of the population that count: (start, stop, relative weight) of each run."""
    if isinstance(measure, Quantile):
        return [(measure.level - 0.004, measure.level + 0.004, 1.0)]
    density = np.diff(measure.antiderivative(p)) * (p.size - 1)
    heights = np.round(density / np.abs(density).max(), 2)
    edges = np.flatnonzero(np.diff(heights)) + 1
    starts = np.concatenate([[0], edges])
    stops = np.concatenate([edges, [heights.size]])
    return [
        (float(p[a]), float(p[b]), float(heights[a]))
        for a, b in zip(starts, stops, strict=True)
        if heights[a] != 0
    ]


def variance_curve(parts: Parts, lam: float, variance: Variance, look: Look) -> Picture:
    """Draw the variance against the weight on the predictions, relative to labels only."""
    weights = np.linspace(min(-0.25, lam - 0.1), max(1.25, lam + 0.1), CURVE_POINTS)
    base = parts.labels.variance or 1.0
    curve = parts.rho2(weights, variance) / base
    sketch = Sketch(look, 360)
    sketch.add(
        "scatter", x=weights, y=curve, mode="lines", line={"color": look.colour("ours"), "width": 3}
    )
    marks: tuple[tuple[str, float, Role, str], ...] = (
        ("labels only", 0.0, "classical", "top right"),
        ("PPI", 1.0, "peer", "top left"),
        ("chosen", lam, "ours", "bottom center"),
    )
    for name, weight, role, side in marks:
        sketch.add(
            "scatter",
            x=[weight],
            y=[float(parts.rho2(weight, variance)) / base],
            mode="markers+text",
            text=[name],
            textposition=side,
            textfont={"color": look.ink},
            marker={"size": 12, "color": look.colour(role), "symbol": look.marker(role)},
        )
    sketch.rule(y=1.0, color=look.faint, width=1, dash="dash")
    chosen = float(parts.rho2(lam, variance)) / base
    low, high = min(0.0, float(curve.min())), min(3.0, max(1.6, float(curve.max())))
    sketch.axis("x", title="weight on the predictions, lam")
    sketch.axis("y", title="variance relative to labels only", range=[low, high])
    return sketch.figure(), (
        f"Variance against the weight on the predictions: a parabola; at the chosen weight "
        f"{lam:.2f} it is {chosen:.2f} of the labels-only variance."
    )


def repeated(rows: Sequence[MethodSummary], alpha: float, look: Look) -> Picture:
    """Draw coverage, error and width of each method over the repetitions so far."""
    sketch = Sketch(look, 52 * len(rows) + 110, panels=("coverage", "mean error", "mean width"))
    for row in rows:
        role = METHOD_ROLES[row.method]
        colour = look.colour(role)
        sketch.add(
            "scatter",
            x=[row.coverage],
            y=[row.method],
            error_x={
                "array": [row.coverage_high - row.coverage],
                "arrayminus": [row.coverage - row.coverage_low],
                "color": colour,
            },
            marker={"color": colour, "symbol": look.marker(role), "size": 12},
            mode="markers",
        )
        for panel, value in ((1, row.error), (2, row.width)):
            sketch.add(
                "bar",
                panel,
                x=[value],
                y=[row.method],
                orientation="h",
                marker={"color": colour, "opacity": 0.8},
            )
    sketch.rule(x=1 - alpha, color=look.ink, width=2, dash="dot")
    sketch.axis("x", range=[0, 1.02], tickformat=".0%")
    order: dict[str, Any] = {
        "categoryorder": "array",
        "categoryarray": [row.method for row in rows][::-1],
    }
    for panel in range(3):
        sketch.axis("y", panel, showticklabels=panel == 0, **order)
        if panel:
            sketch.axis("x", panel, rangemode="tozero")
    ours = next(row for row in rows if row.method == "QuEst")
    return sketch.figure(), (
        f"Coverage, error and width over {ours.trials} repetitions. QuEst covers "
        f"{ours.coverage:.1%} against a nominal {1 - alpha:.0%}, mean error {number(ours.error)}."
    )


def against_n(
    sizes: Sequence[int], table: Sequence[Sequence[MethodSummary]], look: Look, unit: str
) -> Picture:
    """Draw error and width against the number of labels."""
    sketch = Sketch(look, 400, panels=("mean absolute error", "mean interval width"))
    top = [0.0, 0.0]
    for method in (row.method for row in table[0]):
        rows = [next(r for r in at_n if r.method == method) for at_n in table]
        role = METHOD_ROLES[method]
        for panel, values in enumerate(([r.error for r in rows], [r.width for r in rows])):
            if method != "Predictions only":
                top[panel] = max([top[panel], *(v for v in values if math.isfinite(v))])
            sketch.add(
                "scatter",
                panel,
                x=list(sizes),
                y=values,
                name=method,
                legendgroup=method,
                showlegend=panel == 0,
                mode="lines+markers",
                error_y={"array": [2 * r.error_se for r in rows], "width": 3} if not panel else {},
                line={"color": look.colour(role), "dash": look.dash(role)},
                marker={"symbol": look.marker(role), "size": 9},
            )
    for panel in range(2):
        sketch.axis("x", panel, title="labels n", type="log", tickvals=list(sizes))
        sketch.axis("y", panel, range=[0, 1.1 * top[panel] or 1.0])
    sketch.axis("y", title=unit)
    sketch.layout["showlegend"] = True
    sketch.layout["legend"]["y"] = 1.12
    ours = [next(r for r in at_n if r.method == "QuEst").error for at_n in table]
    base = [next(r for r in at_n if r.method == "Labels only").error for at_n in table]
    return sketch.figure(), (
        f"Error and width against n. At n = {sizes[0]} QuEst's mean error is {number(ours[0])} and "
        f"labels only {number(base[0])}; at n = {sizes[-1]} they are {number(ours[-1])} and "
        f"{number(base[-1])}."
    )


def ellipses(
    regions: Sequence[tuple[Region, Role]], names: Sequence[str], truth: Float | None, look: Look
) -> Picture:
    """Draw the joint regions' shadows on each pair of measures, with the Bonferroni box."""
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    sketch = Sketch(look, 400, panels=[""] * len(pairs), gap=0.09)
    sketch.layout["showlegend"] = True
    for panel, (i, j) in enumerate(pairs):
        shared = {"showlegend": panel == 0}
        for region, role in regions:
            outline = region.ellipse(i, j)
            sketch.add(
                "scatter",
                panel,
                x=outline[:, 0],
                y=outline[:, 1],
                name=f"{region.method}, joint region",
                legendgroup=region.method,
                mode="lines",
                line={"color": look.colour(role), "dash": look.dash(role), "width": 2},
                fill="toself",
                fillcolor=look.band(role, 0.1),
                **shared,
            )
        (x0, x1), (y0, y1) = regions[0][0].box[[i, j]].tolist()
        sketch.add(
            "scatter",
            panel,
            x=[x0, x1, x1, x0, x0],
            y=[y0, y0, y1, y1, y0],
            name="QuEst, Bonferroni box",
            legendgroup="box",
            mode="lines",
            line={"color": look.colour("other"), "dash": look.dash("other"), "width": 2},
            **shared,
        )
        if truth is not None:
            sketch.add(
                "scatter",
                panel,
                x=[truth[i]],
                y=[truth[j]],
                name="truth",
                legendgroup="truth",
                mode="markers",
                marker={"symbol": "star", "size": 13, "color": look.ink},
                **shared,
            )
        sketch.axis("x", panel, title=names[i])
        sketch.axis("y", panel, title=names[j])
    ours = regions[0][0]
    return sketch.figure(), (
        f"Joint confidence regions of {len(names)} measures, pair by pair. QuEst's region has "
        f"{ours.volume / ours.box_volume:.0%} of the volume of its Bonferroni box."
    )


def leaderboard(
    answers: Sequence[Mapping[str, Interval]],
    names: Sequence[str],
    methods: Sequence[str],
    truth: Float,
    look: Look,
) -> Picture:
    """Draw each candidate's tail risk by every method, best first, with the true values."""
    order = np.argsort([answer["QuEst"].estimate for answer in answers])
    places = np.arange(len(names))
    sketch = Sketch(look, 400)
    sketch.layout["showlegend"] = True
    for shift, method in zip((-0.22, 0.0, 0.22), methods, strict=True):
        role = METHOD_ROLES[method]
        picked = [answers[k][method] for k in order]
        sketch.add(
            "scatter",
            x=places + shift,
            y=[answer.estimate for answer in picked],
            error_y={
                "array": [answer.high - answer.estimate for answer in picked],
                "color": look.colour(role),
            },
            mode="markers",
            name=method,
            marker={"color": look.colour(role), "symbol": look.marker(role), "size": 10},
        )
    sketch.add(
        "scatter",
        x=places,
        y=truth[order],
        mode="markers",
        name="truth",
        marker={"symbol": "line-ew-open", "size": 34, "color": look.ink},
    )
    sketch.axis("x", title="model", tickvals=places.tolist(), ticktext=[names[k] for k in order])
    sketch.axis("y", title="mean of the worst quarter (score)")
    ranks = {
        method: float(stats.spearmanr([a[method].estimate for a in answers], truth).statistic)
        for method in methods
    }
    said = ", ".join(f"{method} {value:.2f}" for method, value in ranks.items())
    return sketch.figure(), (
        f"Rank correlation with the true order of the {len(names)} models: {said}."
    )
