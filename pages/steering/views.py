"""Further pictures of the plane: weights, lineages, rewards on the way, groups, landings."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from models.checks import Float
from models.steering.climb import Climb
from models.steering.race import Race
from models.torchrun import torch
from pages.steering.curves import GAMMA
from pages.steering.figures import Picture, box, contours
from ui.charts import Look, Role, Sketch, fade, number, padded


def effective(run: Race, look: Look) -> Picture:
    """Draw the effective sample size and the surviving starting points after each step."""
    sketch = Sketch(look, 320, panels=("Effective sample size", "Starting points with descendants"))
    steps = [state.step + 1 for state in run.states]
    sizes = [state.effective for state in run.states]
    roots = [state.unique_roots for state in run.states]
    for panel, values in enumerate((sizes, [float(n) for n in roots])):
        sketch.add(
            "scatter", panel, x=steps, y=np.round(values, 3), mode="lines", showlegend=False,
            line={"color": look.colour("ours"), "width": 2.5, "shape": "hv"},
            hovertemplate="%{y} after step %{x}<extra></extra>",
        )  # fmt: skip
        sketch.axis("x", panel, title="step")
        sketch.axis("y", panel, range=[0, run.k * 1.06])
    copied = [state.step + 1 for state in run.states if state.resampled]
    for step in copied:
        sketch.rule(0, x=step, color=look.faint, width=1, dash="dot")
    if run.config.when == "adaptive":
        sketch.rule(0, y=run.config.threshold * run.k, color=look.ink, width=1, dash="dash")
    told = f"Copied after steps {', '.join(map(str, copied))}." if copied else "Never copied."
    return sketch.figure(), (
        f"Effective sample size of {run.k} particles over {len(steps)} steps, lowest "
        f"{number(min(sizes))}, {number(sizes[-1])} at the end. {told} "
        f"{roots[-1]} of {run.k} starting points have descendants at the end."
    )


def tree(run: Race, look: Look) -> Picture:
    """Draw the ancestor of every particle of the end at every weighed step."""
    sketch = Sketch(look, 340)
    stops = [s.step for s in run.states if s.rewards is not None]
    levels: list[tuple[int, Any]] = [
        (0, run.states[-1].roots),
        *((s + 1, run.origin(s)) for s in stops),
    ]
    for old, new in pairwise(levels):
        pairs = sorted({(int(a), int(b)) for a, b in zip(old[1], new[1], strict=True)})
        x: list[float | None] = []
        y: list[float | None] = []
        for a, b in pairs:
            x += [old[0], new[0], None]
            y += [a + 1, b + 1, None]
        sketch.add(
            "scatter", x=x, y=y, mode="lines+markers", showlegend=False, hoverinfo="skip",
            line={"color": fade(look.colour("ours"), 0.7), "width": 1.2},
            marker={"color": look.colour("ours"), "size": 5},
        )  # fmt: skip
    sketch.axis("x", title="step")
    sketch.axis("y", title="slot", range=[0, run.k + 1])
    alive = len(set(run.states[-1].roots.tolist()))
    return sketch.figure(), (
        f"Lineages of {run.k} particles from the end back to the start: they descend from {alive} "
        f"of {run.k} starting points."
    )


def rewards(run: Race, look: Look) -> Picture:
    """Draw each weighed step's reward against the one that its descendants end with."""
    ways = run.ways
    roles: tuple[Role, ...] = ("naive", "classical", "peer", "variant", "ours", "other")
    sketch = Sketch(look, 340)
    sketch.layout["showlegend"] = True
    last = run.states[-1].rewards
    assert last is not None
    shown = np.linspace(0, len(ways) - 1, min(len(ways), len(roles))).astype(int)
    for i, role in zip(shown, roles, strict=False):
        step, values, rho = ways[i]
        sketch.add(
            "scatter", x=values.round(4), y=last.round(4), mode="markers",
            name=f"step {step + 1} (ρ = {rho:.2f})",
            marker={"color": look.colour(role), "symbol": look.marker(role), "size": 7},
            hovertemplate="%{x} on the way, %{y} at the end<extra></extra>",
        )  # fmt: skip
    sketch.axis("x", title="reward of the denoised estimate on the way")
    sketch.axis("y", title="reward at the end")
    told = ", ".join(f"{way.rho:.2f} after step {way.step + 1}" for way in ways)
    return sketch.figure(), (
        "Intermediate against final reward of the surviving lineages; Spearman rank correlation "
        f"{told or 'none, as no step was weighed'}."
    )


def shares(run: Race, look: Look) -> Picture:
    """Draw each group's share: of the model, of the target, and of the methods' particles."""
    place = run.place
    mixture = place.mixture
    bars: list[tuple[str, Role, Float]] = [
        ("the model", "naive", mixture.weights.numpy()),
        ("the target", "variant", place.shares.numpy()),
    ]
    names: tuple[tuple[str, Role, Any], ...] = (
        ("FK steering", "ours", "steering"),
        ("weighted plain samples", "peer", "importance"),
    )
    for name, role, method in names:
        end = run.outcomes[method]
        found = mixture.component_shares(end.samples, torch.from_numpy(end.weights))
        bars.append((name, role, found.numpy()))
    sketch = Sketch(look, 320)
    sketch.layout["showlegend"] = True
    groups = [f"group {i + 1}" for i in range(len(mixture.weights))]
    for name, role, values in bars:
        sketch.add(
            "bar", x=groups, y=values.round(4), name=name,
            marker={"color": look.colour(role)},
            hovertemplate=f"{name}: %{{y:.1%}}<extra></extra>",
        )  # fmt: skip
    sketch.axis("y", range=[0, 1], tickformat=".0%", title="share")
    told = "; ".join(f"{name} {', '.join(f'{v:.0%}' for v in values)}" for name, _, values in bars)
    return sketch.figure(), f"Share of each group: {told}."


def landed(run: Race, found: dict[float, Climb], look: Look) -> Picture:
    """Draw where the optimised samples are, over the contours of the model itself."""
    names = [f"γ = {gamma:g}" for gamma in found]
    sketch = Sketch(look, 340, panels=names)
    model = replace(run.place, lam=0.0)
    ends = {climb.gamma: climb.samples.numpy() for climb in found.values()}
    points = np.concatenate(list(ends.values()))
    (left, right), (bottom, top) = box(run.place.mixture)
    across = padded([left, right, *points[:, 0].tolist()], 0.02)
    up = padded([bottom, top, *points[:, 1].tolist()], 0.02)
    for panel, (gamma, at) in enumerate(ends.items()):
        contours(sketch, panel, model)
        role = GAMMA[gamma]
        sketch.add(
            "scatter", panel, x=at[:, 0].round(3), y=at[:, 1].round(3),
            mode="markers", showlegend=False, hovertemplate="(%{x}, %{y})<extra></extra>",
            marker={"color": look.colour(role), "symbol": look.marker(role), "size": 9},
        )  # fmt: skip
        sketch.axis("x", panel, range=list(across))
        sketch.axis("y", panel, range=list(up))
    told = "; ".join(
        f"γ = {g:g}: lowest log p {number(float(c.least_fit[-1]))}" for g, c in found.items()
    )
    return sketch.figure(), f"Optimised samples over the model's own contours. {told}."
