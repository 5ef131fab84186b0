"""QuEst's pictures: results in, Plotly figures and their alt texts out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

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
from ui.charts import Look, Role, frame, padded

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


def intervals(
    answers: Mapping[str, Interval],
    look: Look,
    *,
    unit: str,
    span: tuple[float, float] | None,
    truth: float | None,
) -> tuple[go.Figure, str]:
    """Draw every method's interval on one axis, the truth as a line where it is shown."""
    names = list(answers)
    fig = frame(look, 56 * len(names) + 96)
    for name in reversed(names):
        answer, role = answers[name], METHOD_ROLES[name]
        colour = look.colour(role)
        if math.isfinite(answer.low):
            fig.add_scatter(
                x=[answer.low, answer.high],
                y=[name, name],
                mode="lines",
                line={"color": colour, "width": 9 if role == "ours" else 6},
                hoverinfo="skip",
            )
            label = f"{answer.estimate:.4g}  [{answer.low:.4g}, {answer.high:.4g}]"
        else:
            label = f"{answer.estimate:.4g}  no interval"
        fig.add_scatter(
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
        fig.add_annotation(
            x=1,
            xref="paper",
            y=name,
            yshift=19,
            text=label,
            showarrow=False,
            xanchor="right",
            font={"size": look.font_size - 2, "color": look.faint},
        )
    if truth is not None:
        fig.add_vline(x=truth, line={"color": look.ink, "width": 2, "dash": "dot"})
        fig.add_annotation(
            x=truth, yref="paper", y=1.0, yanchor="bottom", text="truth", showarrow=False
        )
    ends = [v for a in answers.values() for v in (a.estimate, a.low, a.high) if math.isfinite(v)]
    fig.update_xaxes(range=list(span or padded(ends)), title_text=unit)
    fig.update_yaxes(range=[-0.6, len(names) - 0.2], tickfont={"color": look.ink})
    ours = answers["QuEst"]
    alt = f"Intervals of {len(names)} methods. " + (
        f"QuEst: {ours.estimate:.4g}, from {ours.low:.4g} to {ours.high:.4g}"
        if math.isfinite(ours.low)
        else f"QuEst: {ours.estimate:.4g} without an interval"
    )
    labels = answers["Labels only"]
    alt += f"; labels only {labels.low:.4g} to {labels.high:.4g}"
    return fig, alt + (f"; the truth is {truth:.4g}." if truth is not None else ".")


def quantile_curves(
    samples: Samples, measure: Measure, look: Look, unit: str
) -> tuple[go.Figure, str]:
    """Draw the three quantile functions, with the part that the measure weighs shaded."""
    fig = frame(look, 360)
    p = np.linspace(0.0, 1.0, CURVE_POINTS)
    curves: tuple[tuple[str, Float, Role], ...] = (
        ("labels", samples.labels, "classical"),
        ("predictions, labelled rows", samples.predictions, "peer"),
        ("predictions, unlabelled rows", samples.pool, "naive"),
    )
    lows, highs = [], []
    for name, sample, role in curves:
        values = np.quantile(sample, p, method="inverted_cdf")
        lows.append(np.quantile(sample, 0.01))
        highs.append(np.quantile(sample, 0.99))
        fig.add_scatter(
            x=p,
            y=values,
            mode="lines",
            name=name,
            line={"color": look.colour(role), "dash": look.dash(role), "width": 2, "shape": "hv"},
        )
    if isinstance(measure, Quantile):
        fig.add_vline(x=measure.level, line={"color": look.colour("ours"), "width": 3})
    else:
        density = np.diff(measure.antiderivative(p)) * (p.size - 1)
        peak = np.abs(density).max()
        for start, stop, height in _runs(p, np.round(density / peak, 2)):
            fig.add_vrect(
                x0=start,
                x1=stop,
                fillcolor=look.colour("ours"),
                opacity=0.04 + 0.16 * abs(height),
                line_width=0,
            )
    fig.update_layout(showlegend=True)
    fig.update_xaxes(range=[0, 1], title_text="share of the population, from lowest to highest")
    fig.update_yaxes(range=list(padded([min(lows), max(highs)])), title_text=unit)
    return fig, f"Quantile functions of labels and predictions; shaded: {measure.sentence}."


def _runs(p: Float, heights: Float) -> list[tuple[float, float, float]]:
    """Merge equal neighbouring cells: (start, stop, height) of each non-zero run."""
    edges = np.flatnonzero(np.diff(heights)) + 1
    starts = np.concatenate([[0], edges])
    stops = np.concatenate([edges, [heights.size]])
    return [
        (float(p[a]), float(p[b]), float(heights[a]))
        for a, b in zip(starts, stops, strict=True)
        if heights[a] != 0
    ]


def variance_curve(
    parts: Parts, lam: float, variance: Variance, look: Look
) -> tuple[go.Figure, str]:
    """Draw the interval's width against the weight on the predictions, relative to labels only."""
    weights = np.linspace(min(-0.25, lam - 0.1), max(1.25, lam + 0.1), CURVE_POINTS)
    base = parts.labels.variance or 1.0
    fig = frame(look, 360)
    curve = parts.rho2(weights, variance) / base
    fig.add_scatter(
        x=weights, y=curve, mode="lines", line={"color": look.colour("ours"), "width": 3}
    )
    marks: tuple[tuple[str, float, Role], ...] = (
        ("labels only", 0.0, "classical"),
        ("PPI", 1.0, "peer"),
        ("chosen", lam, "ours"),
    )
    for name, weight, role in marks:
        y = float(parts.rho2(weight, variance)) / base
        fig.add_scatter(
            x=[weight],
            y=[y],
            mode="markers+text",
            text=[name],
            textposition="top center",
            textfont={"color": look.ink},
            marker={"size": 12, "color": look.colour(role), "symbol": look.marker(role)},
            cliponaxis=False,
        )
    fig.add_hline(y=1.0, line={"color": look.faint, "dash": "dash", "width": 1})
    chosen = float(parts.rho2(lam, variance)) / base
    fig.update_xaxes(title_text="weight on the predictions, lam")
    fig.update_yaxes(
        range=[min(0.0, float(curve.min())), min(3.0, max(1.6, float(curve.max())))],
        title_text="variance relative to labels only",
    )
    return fig, (
        f"Variance against the weight on the predictions: a parabola; at the chosen weight "
        f"{lam:.2f} it is {chosen:.2f} of the labels-only variance."
    )


def repeated(rows: Sequence[MethodSummary], alpha: float, look: Look) -> tuple[go.Figure, str]:
    """Draw coverage, error and width of each method over the repetitions so far."""
    from plotly.subplots import make_subplots

    names = [row.method for row in rows]
    fig = make_subplots(
        1, 3, shared_yaxes=True, subplot_titles=("coverage", "mean error", "mean width")
    )
    fig.update_layout(frame(look, 56 * len(rows) + 110).layout)
    fig.update_annotations(font={"size": look.font_size, "color": look.ink})
    for row in rows:
        role = METHOD_ROLES[row.method]
        style = {"color": look.colour(role), "symbol": look.marker(role), "size": 12}
        fig.add_scatter(
            x=[row.coverage],
            y=[row.method],
            error_x={
                "array": [row.coverage_high - row.coverage],
                "arrayminus": [row.coverage - row.coverage_low],
                "color": look.colour(role),
            },
            marker=style,
            mode="markers",
            row=1,
            col=1,
        )
        for col, value in ((2, row.error), (3, row.width)):
            fig.add_bar(
                x=[value],
                y=[row.method],
                orientation="h",
                marker={"color": look.colour(role), "opacity": 0.75},
                row=1,
                col=col,
            )
    fig.add_vline(x=1 - alpha, line={"color": look.ink, "dash": "dot"}, row=1, col=1)
    fig.update_xaxes(range=[0, 1.02], row=1, col=1)
    fig.update_xaxes(rangemode="tozero", gridcolor=look.line)
    fig.update_yaxes(categoryorder="array", categoryarray=names[::-1], gridcolor=look.line)
    ours = next(row for row in rows if row.method == "QuEst")
    return fig, (
        f"Coverage, error and width over {ours.trials} repetitions. QuEst covers "
        f"{ours.coverage:.1%} against a nominal {1 - alpha:.0%}, mean error {ours.error:.3g}."
    )


def against_n(
    sizes: Sequence[int], table: Sequence[Sequence[MethodSummary]], look: Look, unit: str
) -> tuple[go.Figure, str]:
    """Draw error and width against the number of labels."""
    from plotly.subplots import make_subplots

    fig = make_subplots(1, 2, subplot_titles=("mean absolute error", "mean interval width"))
    fig.update_layout(frame(look, 380).layout)
    fig.update_annotations(font={"size": look.font_size, "color": look.ink})
    fig.update_layout(showlegend=True)
    methods = [row.method for row in table[0]]
    top = [0.0, 0.0]
    for method in methods:
        rows = [next(r for r in at_n if r.method == method) for at_n in table]
        role = METHOD_ROLES[method]
        for col, values in ((1, [r.error for r in rows]), (2, [r.width for r in rows])):
            if method != "Predictions only":
                top[col - 1] = max(top[col - 1], *[v for v in values if math.isfinite(v)] or [0.0])
            bars = [2 * r.error_se for r in rows] if col == 1 else None
            fig.add_scatter(
                x=list(sizes),
                y=values,
                name=method,
                legendgroup=method,
                showlegend=col == 1,
                mode="lines+markers",
                error_y={"array": bars, "width": 3} if bars else None,
                line={"color": look.colour(role), "dash": look.dash(role)},
                marker={"symbol": look.marker(role), "size": 9},
                row=1,
                col=col,
            )
    fig.update_xaxes(type="log", tickvals=list(sizes), title_text="labels n", gridcolor=look.line)
    for col in (1, 2):
        fig.update_yaxes(range=[0, 1.1 * top[col - 1] or 1], row=1, col=col, gridcolor=look.line)
    fig.update_yaxes(title_text=unit, row=1, col=1)
    ours = [next(r for r in at_n if r.method == "QuEst").error for at_n in table]
    base = [next(r for r in at_n if r.method == "Labels only").error for at_n in table]
    return fig, (
        f"Error and width against n. At n = {sizes[0]} QuEst's mean error is {ours[0]:.3g} and "
        f"labels only {base[0]:.3g}; at n = {sizes[-1]} they are {ours[-1]:.3g} and {base[-1]:.3g}."
    )


def ellipses(
    regions: Sequence[tuple[Region, Role]], names: Sequence[str], truth: Float | None, look: Look
) -> tuple[go.Figure, str]:
    """Draw the joint regions' shadows on each pair of measures, with the Bonferroni boxes."""
    from plotly.subplots import make_subplots

    k = len(names)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    fig = make_subplots(1, len(pairs), horizontal_spacing=0.09)
    fig.update_layout(frame(look, 380).layout)
    fig.update_layout(showlegend=True)
    for col, (i, j) in enumerate(pairs, start=1):
        for region, role in regions:
            outline = region.ellipse(i, j)
            fig.add_scatter(
                x=outline[:, 0],
                y=outline[:, 1],
                name=f"{region.method}, joint region",
                legendgroup=region.method,
                showlegend=col == 1,
                mode="lines",
                line={"color": look.colour(role), "dash": look.dash(role), "width": 2},
                fill="toself",
                fillcolor=look.band(role, 0.1),
                row=1,
                col=col,
            )
        box = regions[0][0].box
        (x0, x1), (y0, y1) = box[i], box[j]
        fig.add_scatter(
            x=[x0, x1, x1, x0, x0],
            y=[y0, y0, y1, y1, y0],
            name="QuEst, Bonferroni box",
            legendgroup="box",
            showlegend=col == 1,
            mode="lines",
            line={"color": look.colour("other"), "dash": look.dash("other"), "width": 2},
            row=1,
            col=col,
        )
        if truth is not None:
            fig.add_scatter(
                x=[truth[i]],
                y=[truth[j]],
                name="truth",
                legendgroup="truth",
                showlegend=col == 1,
                mode="markers",
                marker={"symbol": "star", "size": 13, "color": look.ink},
                row=1,
                col=col,
            )
        fig.update_xaxes(title_text=names[i], gridcolor=look.line, row=1, col=col)
        fig.update_yaxes(title_text=names[j], gridcolor=look.line, row=1, col=col)
    ours = regions[0][0]
    return fig, (
        f"Joint confidence regions of {k} measures, pair by pair. QuEst's region has "
        f"{ours.volume / ours.box_volume:.0%} of the volume of its Bonferroni box."
    )


def leaderboard(
    answers: Sequence[Mapping[str, Interval]],
    names: Sequence[str],
    methods: Sequence[str],
    truth: Float,
    look: Look,
) -> tuple[go.Figure, str]:
    """Draw each candidate's tail risk by every method, best first, with the true values."""
    order = np.argsort([answer["QuEst"].estimate for answer in answers])
    fig = frame(look, 400)
    fig.update_layout(showlegend=True)
    for shift, method in zip((-0.22, 0.0, 0.22), methods, strict=True):
        role = METHOD_ROLES[method]
        picked = [answers[k][method] for k in order]
        fig.add_scatter(
            x=np.arange(len(names)) + shift,
            y=[answer.estimate for answer in picked],
            error_y={
                "array": [answer.high - answer.estimate for answer in picked],
                "color": look.colour(role),
            },
            mode="markers",
            name=method,
            marker={"color": look.colour(role), "symbol": look.marker(role), "size": 10},
        )
    fig.add_scatter(
        x=np.arange(len(names)),
        y=truth[order],
        mode="markers",
        name="truth",
        marker={"symbol": "line-ew-open", "size": 34, "color": look.ink},
    )
    fig.update_xaxes(
        tickvals=list(range(len(names))), ticktext=[names[k] for k in order], title_text="model"
    )
    fig.update_yaxes(title_text="mean of the worst quarter (score)")
    ranks = {
        m: float(stats.spearmanr([a[m].estimate for a in answers], truth).statistic)
        for m in methods
    }
    said = ", ".join(f"{method} {value:.2f}" for method, value in ranks.items())
    return fig, f"Rank correlation with the true order of the {len(names)} models: {said}."
