"""The wealth race of aLTT, which the browser can play: a run in, a Plotly figure out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from models.checks import Float
from pages.altt.compute import Run
from pages.altt.trace import threshold
from ui.charts import Look, Role, Sketch, number

Picture = tuple[go.Figure, str]
FRAMES = 40
MOST_LINES = 40
LOWEST = -3.0  # of the log10-wealth drawn
HOPELESS = -2.0
STATUS: dict[str, tuple[Role, str, float]] = {
    "certified": ("ours", "circle", 2.5),
    "open": ("naive", "circle-open", 1.2),
    "hopeless": ("classical", "x", 1.0),
}
DASHES = {"certified": "solid", "open": "solid", "hopeless": "dot"}


def race(run: Run, look: Look, *, play: bool = True, until: int | None = None) -> Picture:
    """Draw every candidate's wealth against the tests made, and let the browser play it.

    ``until`` is the number of tests at which the picture ends, the budget by default.
    """
    config, trace = run.config, run.trace
    end = until or config.budget
    goal = math.log10(config.n_candidates / config.delta)
    top = goal + 1.0
    sketch = Sketch(look, 430 if play else 380)
    lines = drawn(run)
    status = [_status(done, low) for done, low in zip(run.certified, run.log_wealth, strict=True)]
    for name, (role, _, width) in STATUS.items():  # the legend
        line = {"color": look.colour(role), "width": width, "dash": DASHES[name]}
        sketch.add("scatter", x=[None], y=[None], mode="lines", name=name, line=line)
    for i in sorted(lines, key=lambda i: list(STATUS).index(status[i]), reverse=True):
        role, _, width = STATUS[status[i]]
        at = np.flatnonzero(trace.candidate == i)
        path = _shown(trace.log_wealth[at], top)
        last = path[-1] if path.size else 0.0
        sketch.add(
            "scatter",
            x=np.concatenate([[0], at + 1, [trace.spent]]),
            y=np.concatenate([[0.0], path, [last]]).round(3),
            mode="lines",
            line={
                "color": look.colour(role), "width": width, "dash": DASHES[status[i]], "shape": "hv"
            },
            opacity=0.85,
            showlegend=False,
            name=run.names[i],
            hovertemplate=f"{run.names[i]}: wealth 10^%{{y}} after %{{x}} tests<extra></extra>",
        )  # fmt: skip
    steps = np.flatnonzero(np.diff(trace.count, prepend=-1))
    bar = threshold(config, trace.count[steps]) / math.log(10.0)
    sketch.add(
        "scatter",
        x=np.concatenate([steps, [end]]),
        y=np.concatenate([bar, bar[-1:]]),
        mode="lines",
        name="certified from here",
        line={"color": look.ink, "width": 2, "dash": "dot", "shape": "hv"},
        hovertemplate="wealth 10^%{y:.2f} certifies<extra></extra>",
    )
    heads = [_heads(run, look, lines, at, top) for at in _moments(trace.spent)]
    sketch.add("scatter", mode="markers", showlegend=False, **heads[-1])
    if play and trace.spent:
        _play(sketch, run, heads, end)
    sketch.layout["showlegend"] = True
    sketch.layout["legend"]["y"] = 1.0
    sketch.layout["margin"]["b"] = 4
    marks = [k for k in range(int(LOWEST), math.ceil(top) + 1)]
    sketch.axis("x", title="tests made", range=[0, 1.02 * end])
    sketch.axis(
        "y", title="wealth", range=[LOWEST - 0.15, top], tickvals=marks,
        ticktext=[f"10<sup>{k}</sup>" if k else "1" for k in marks],
    )  # fmt: skip
    best = int(np.argmax(run.log_wealth))
    alt = (
        f"Wealth of {len(lines)} of {config.n_candidates} candidates over {trace.spent:,} tests: "
        f"{int(run.certified.sum())} are certified, {status.count('open')} open, "
        f"{status.count('hopeless')} hopeless. The wealthiest is {run.names[best]} with "
        f"{wealth_text(run.log_wealth[best])}; the bar is {number(math.exp(bar_at(run)))}."
    )
    return sketch.figure(), alt


def bar_at(run: Run) -> float:
    """Return the log-wealth that certifies at the end of a run."""
    return float(threshold(run.config, run.trace.count[-1:])[0])


def wealth_text(log_wealth: float) -> str:
    """Write a wealth, as a power of ten where it is very large or small."""
    if log_wealth == -math.inf:
        return "0"
    power = log_wealth / math.log(10.0)
    return number(10.0**power) if abs(power) < 6 else f"10^{power:.1f}"


def _play(sketch: Sketch, run: Run, heads: Sequence[dict[str, Any]], end: int) -> None:
    """Run the heads along their tracks behind a curtain over what is to come."""
    place, edge = len(sketch.traces) - 1, 0.01 * end  # room for the heads
    curtain = {"type": "rect", "xref": "x", "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 0}}
    curtain |= {"x1": 1.02 * end, "fillcolor": sketch.look.paper, "layer": "above"}
    sketch.play(
        [
            {
                "name": f"{at:,}",
                "data": [head],
                "traces": [place],
                "layout": {"shapes": [curtain | {"x0": at + edge}] if at < run.trace.spent else []},
            }
            for at, head in zip(_moments(run.trace.spent), heads, strict=True)
        ],
        unit="tests made:",
        milliseconds=180,
    )


def _moments(spent: int) -> list[int]:
    return sorted({round(spent * k / FRAMES) for k in range(FRAMES + 1)})


def drawn(run: Run) -> list[int]:
    """The candidates to draw: all, or those that have come closest to the bar."""
    order = np.argsort(-run.log_peak, kind="stable")
    return sorted(int(i) for i in order[:MOST_LINES])


def _status(done: bool, log_wealth: float) -> str:
    return "certified" if done else "hopeless" if log_wealth < HOPELESS * math.log(10) else "open"


def _shown(log_wealth: Float, top: float) -> Float:
    return np.clip(log_wealth / math.log(10.0), LOWEST, top)


def _heads(run: Run, look: Look, drawn: Sequence[int], at: int, top: float) -> dict[str, Any]:
    """Where everybody stands after so many tests."""
    trace = run.trace
    now, done = np.zeros(len(run.names)), np.zeros(len(run.names), dtype=np.bool_)
    if at:
        # The last test of each before this moment.
        who = trace.candidate[:at][::-1]
        seen, back = np.unique(who, return_index=True)
        now[seen] = trace.log_wealth[at - 1 - back]
        done = (trace.first > 0) & (trace.first <= at)
        if at == trace.spent:
            done = run.certified
    status = [STATUS[_status(bool(done[i]), now[i])] for i in drawn]
    return {
        "x": [at] * len(drawn),
        "y": _shown(now[list(drawn)], top).round(3).tolist(),
        "text": [run.names[i] for i in drawn],
        "marker": {
            "color": [look.colour(role) for role, _, _ in status],
            "symbol": [symbol for _, symbol, _ in status],
            "size": 9,
        },
        "hovertemplate": "%{text}: wealth 10^%{y}<extra></extra>",
    }
