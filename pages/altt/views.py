"""aLTT's further pictures of one run and of many: results in, Plotly figures and alt texts out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pages.altt.compute import Run
from pages.altt.figures import Picture, drawn
from pages.altt.repeat import Method
from ui.charts import Look, Role, Sketch


def against(run: Run, look: Look) -> Picture:
    """Draw how many are certified after each test: aLTT, the same in turn, and LTT at its end."""
    trace, budget = run.trace, run.config.budget
    sketch = Sketch(look, 340)
    sketch.layout["showlegend"] = True
    most = int(trace.count.max())
    lines: list[tuple[str, Any, Role]] = [("aLTT", trace.count, "ours")]
    if run.flat is not None:
        lines.append(("in turn, certified on the way", run.flat.count, "peer"))
    for name, count, role in lines:
        steps = np.flatnonzero(np.diff(count, prepend=-1))
        most = max(most, int(count.max()))
        sketch.add(
            "scatter",
            x=np.concatenate([steps, [len(count) - 1]]),
            y=np.concatenate([count[steps], count[-1:]]),
            mode="lines",
            name=name,
            line={"color": look.colour(role), "dash": look.dash(role), "width": 3, "shape": "hv"},
        )
    points: list[tuple[str, int, Role]] = []
    if run.flat is not None:
        points.append(("LTT, as in the paper's experiments", int(run.flat.count[-1]), "classical"))
    others: tuple[Role, Role] = ("other", "naive")
    for (name, mask), role in zip(run.ltt.items(), others, strict=False):
        points.append((f"LTT, {name} p-values", int(mask.sum()), role))
    for name, found, role in points:
        most = max(most, found)
        sketch.add(
            "scatter",
            x=[run.flat.spent if run.flat is not None else budget],
            y=[found],
            mode="markers",
            name=name,
            cliponaxis=False,
            marker={"color": look.colour(role), "symbol": look.marker(role), "size": 13},
        )
    sketch.axis("x", title="tests made", range=[0, 1.02 * budget])
    sketch.axis("y", title="certified", range=[0, max(most, 1) * 1.08], rangemode="tozero")
    ends = "; ".join(f"{name}: {found}" for name, found, _ in points)
    return sketch.figure(), (
        f"Certified candidates against tests made. aLTT ends with {int(trace.count[-1])} of "
        f"{run.config.n_candidates} after {trace.spent:,} tests. {ends}."
    )


def allocation(run: Run, look: Look) -> Picture:
    """Draw which candidate was tested when, and how often in all."""
    trace = run.trace
    shown = drawn(run)
    names = [run.names[i] for i in shown]
    bins = min(80, max(trace.spent, 1))
    edges = np.linspace(0, trace.spent, bins + 1)
    share = np.zeros((len(shown), bins))
    for row, i in enumerate(shown):
        share[row] = np.histogram(np.flatnonzero(trace.candidate == i), edges)[0]
    share /= np.maximum(np.diff(edges), 1e-9)
    sketch = Sketch(
        look, 24 * len(shown) + 90, panels=("share of the tests, over time", "tests in all")
    )
    sketch.add(
        "heatmap",
        x=(edges[:-1] + edges[1:]) / 2,
        y=names,
        z=share.round(3),
        zmin=0,
        zmax=1,
        showscale=False,
        colorscale=[[0, look.band("ours", 0.03)], [1, look.colour("ours")]],
        hovertemplate="%{y}, around test %{x:.0f}: %{z:.0%} of the tests<extra></extra>",
    )
    risk = [""] * len(shown) if run.risks is None else [f"risk {run.risks[i]:.3g}" for i in shown]
    roles: list[Role] = ["ours" if run.certified[i] else "classical" for i in shown]
    sketch.add(
        "bar",
        1,
        x=run.tests[shown],
        y=names,
        orientation="h",
        text=risk,
        textposition="auto",
        marker={"color": [look.colour(role) for role in roles], "opacity": 0.85},
        hovertemplate="%{y}: %{x} tests<extra></extra>",
    )
    order: dict[str, Any] = {
        "categoryorder": "array",
        "categoryarray": names[::-1],
        "type": "category",
    }
    sketch.axis("x", title="tests made", range=[0, max(trace.spent, 1)])
    sketch.axis("x", 1, title="tests (blue: certified)", rangemode="tozero")
    sketch.axis("y", **order)
    sketch.axis("y", 1, showticklabels=False, **order)
    most = int(np.argmax(run.tests))
    return sketch.figure(), (
        f"Which of {len(shown)} candidates was tested when. The most tests, "
        f"{int(run.tests[most]):,} of {trace.spent:,}, went to {run.names[most]}."
    )


def power(methods: Sequence[Method], look: Look, budget: int) -> Picture:
    """Draw the share of the reliable found against the budget, mean and 95 % band."""
    sketch = Sketch(look, 400)
    sketch.layout["showlegend"] = True
    for method in methods:
        mean, reach = method.power
        colour, dash = look.colour(method.role), look.dash(method.role)
        style: dict[str, Any] = {"mode": "lines", "line": {"color": colour, "dash": dash}}
        if method.horizon_only:
            style = {
                "mode": "lines+markers",
                "line": {"color": colour, "dash": "dot", "width": 1},
                "marker": {"symbol": look.marker(method.role), "size": 9, "color": colour},
                "error_y": {"array": reach, "color": colour},
            }
        else:
            sketch.add(
                "scatter",
                x=np.concatenate([method.at, method.at[::-1]]),
                y=np.concatenate([mean + reach, (mean - reach)[::-1]]).clip(0, 1),
                fill="toself",
                fillcolor=look.band(method.role),
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
            )
        sketch.add("scatter", x=method.at, y=mean, name=method.name, **style)
    sketch.axis("x", title="budget (tests)", range=[0, budget * 1.01])
    sketch.axis("y", title="share of the reliable found", range=[0, 1.02], tickformat=".0%")
    said = ", ".join(f"{method.name} {method.power[0][-1]:.0%}" for method in methods)
    return sketch.figure(), (
        f"Share of the reliable candidates found, mean of {methods[0].runs} runs. At the full "
        f"budget of {budget:,}: {said}."
    )


def validity(methods: Sequence[Method], delta: float, look: Look, *, fdr: bool) -> Picture:
    """Draw how often each method errs against what was promised."""
    sketch = Sketch(look, 46 * len(methods) + 96)
    rates = {method.name: method.error(fdr=fdr) for method in methods}
    for method in methods:
        rate = rates[method.name]
        colour = look.colour(method.role)
        sketch.add(
            "scatter",
            x=[rate.value],
            y=[method.name],
            mode="markers",
            error_x={
                "array": [rate.high - rate.value],
                "arrayminus": [rate.value - rate.low],
                "color": colour,
            },
            marker={"color": colour, "symbol": look.marker(method.role), "size": 12},
            hovertemplate=f"{method.name}: %{{x:.1%}}<extra></extra>",
        )
    sketch.rule(x=delta, color=look.ink, width=2, dash="dot")
    sketch.note(f"promised {delta:.0%}", x=delta, y=1.0, yref="paper", yanchor="bottom")
    what = "mean share of false certificates" if fdr else "share of runs with a false certificate"
    top = max(2.2 * delta, *(min(rate.high, 1.0) for rate in rates.values()))
    sketch.axis("x", title=what, range=[0, 1.05 * top], tickformat=".0%")
    names = [method.name for method in methods]
    sketch.axis("y", categoryorder="array", categoryarray=names[::-1])
    said = ", ".join(f"{name} {rate.value:.1%}" for name, rate in rates.items())
    return sketch.figure(), (
        f"The {what} over {methods[0].runs} runs, against a promise of at most {delta:.0%}: {said}."
    )
