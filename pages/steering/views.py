"""Further pictures of the steering page: weights, lineages, rewards, sizes, and the noise climb."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from models.checks import Float
from models.steering.race import Ladder, Race
from models.torchrun import torch
from pages.steering.compute import Climb, correlations, origin
from pages.steering.figures import LEVELS, Picture, box, density
from ui.charts import Look, Role, Sketch, fade, number, padded

MOST_LINES = 64


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
        *((s + 1, origin(run, s)) for s in stops),
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
    found = correlations(run)
    roles: tuple[Role, ...] = ("naive", "classical", "peer", "variant", "ours", "other")
    sketch = Sketch(look, 340)
    sketch.layout["showlegend"] = True
    last = run.states[-1].rewards
    assert last is not None
    by_step = {s.step: s.rewards for s in run.states}
    shown = (
        found
        if len(found) <= 6
        else [found[i] for i in np.linspace(0, len(found) - 1, 6).astype(int)]
    )
    for (step, rho), role in zip(shown, roles, strict=False):
        values = by_step[step]
        assert values is not None
        sketch.add(
            "scatter", x=values[origin(run, step)].round(4), y=last.round(4), mode="markers",
            name=f"step {step + 1} (ρ = {rho:.2f})",
            marker={"color": look.colour(role), "symbol": look.marker(role), "size": 7},
            hovertemplate="%{x} on the way, %{y} at the end<extra></extra>",
        )  # fmt: skip
    sketch.axis("x", title="reward of the denoised estimate on the way")
    sketch.axis("y", title="reward at the end")
    told = ", ".join(f"{rho:.2f} after step {step + 1}" for step, rho in found)
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


def by_size(found: Ladder, look: Look) -> Picture:
    """Draw highest reward, distance and share gap against the number of particles."""
    sketch = Sketch(
        look, 360, panels=("Highest reward", "Squared distance (MMD²)", "Gap of group shares")
    )
    sketch.layout["showlegend"] = True
    sketch.layout["legend"] |= {"y": 1.12}
    names: dict[str, tuple[str, Role]] = {
        "steering": ("FK steering", "ours"),
        "best of n": ("best of n", "classical"),
        "importance": ("weighted plain samples", "peer"),
    }
    seen: set[str] = set()
    at = np.arange(len(found.sizes))
    for panel, values in enumerate((found.best, found.mmd2, found.share_gap)):
        for method, table in values.items():
            label, role = names[method]
            mean = table.mean(axis=0)
            reach = (
                1.96 * table.std(axis=0, ddof=1) / np.sqrt(len(table))
                if len(table) > 1
                else 0 * mean
            )
            sketch.add(
                "scatter", panel, x=at, y=mean.round(5), mode="lines+markers", name=label,
                showlegend=label not in seen,
                line={"color": look.colour(role), "dash": look.dash(role), "width": 2},
                marker={"symbol": look.marker(role), "size": 8},
                error_y={"array": reach.round(5), "thickness": 1.5, "width": 4},
                hovertemplate=f"{label}, k = %{{text}}: %{{y}}<extra></extra>",
                text=[str(k) for k in found.sizes],
            )  # fmt: skip
            seen.add(label)
        ticks = [str(k) for k in found.sizes]
        sketch.axis("x", panel, title="particles k", tickvals=at, ticktext=ticks)
    best = {name: table.mean(axis=0) for name, table in found.best.items()}
    return sketch.figure(), (
        f"Means of {found.repeats} repeats with 95 % intervals against k from {found.sizes[0]} to "
        f"{found.sizes[-1]}. Highest reward at the largest k: steering "
        f"{number(float(best['steering'][-1]))}, best of n {number(float(best['best of n'][-1]))}."
    )


def climbs(found: dict[float, Climb], look: Look) -> Picture:
    """Draw reward, P(z) and log p per optimiser step, with and without the regularisation."""
    sketch = Sketch(look, 340, panels=("Mean reward", "P(z)", "Mean log p(x)"))
    sketch.layout["showlegend"] = True
    sketch.layout["legend"] |= {"y": 1.12}
    roles: dict[float, Role] = {0.0: "naive", 1.0: "variant"}
    for gamma, climb in found.items():
        for panel, values in enumerate((climb.rewards, climb.indicator, climb.log_p)):
            sketch.add(
                "scatter", panel, x=climb.steps, y=values.round(4), mode="lines",
                name=f"γ = {gamma:g}", showlegend=panel == 0,
                line={
                    "color": look.colour(roles[gamma]),
                    "dash": look.dash(roles[gamma]),
                    "width": 2.5,
                },
                hovertemplate=f"γ = {gamma:g}, step %{{x}}: %{{y}}<extra></extra>",
            )  # fmt: skip
    for panel in range(3):
        sketch.axis("x", panel, title="optimiser step")
    sketch.axis("y", 1, range=[-0.04, 1.04])
    told = "; ".join(
        f"γ = {gamma:g}: reward {number(float(c.rewards[0]))} to {number(float(c.rewards[-1]))}, "
        f"P(z) {c.indicator[-1]:.2g}, log p {number(float(c.log_p[-1]))}"
        for gamma, c in found.items()
    )
    return sketch.figure(), f"Direct noise optimisation, {told}."


def landed(run: Race, found: dict[float, Climb], look: Look) -> Picture:
    """Draw where the optimised samples are, over the contours of the model itself."""
    names = [f"γ = {gamma:g}" for gamma in found]
    sketch = Sketch(look, 340, panels=names)
    x, y, p = density(replace(run.place, lam=0.0))
    points = np.concatenate([climb.samples for climb in found.values()])
    (left, right), (bottom, top) = box(run.place.mixture)
    across = padded([left, right, *points[:, 0].tolist()], 0.02)
    up = padded([bottom, top, *points[:, 1].tolist()], 0.02)
    for panel, climb in enumerate(found.values()):
        for level in LEVELS:
            sketch.add(
                "contour", panel, x=x.round(3), y=y.round(3), z=p.round(4), showscale=False,
                autocontour=False, hoverinfo="skip",
                contours={"start": level, "end": level, "size": 1, "coloring": "none"},
                line={"color": fade(look.ink, 0.75), "width": 1},
            )  # fmt: skip
        role: Role = "variant" if climb.gamma else "naive"
        sketch.add(
            "scatter", panel, x=climb.samples[:, 0].round(3), y=climb.samples[:, 1].round(3),
            mode="markers", showlegend=False, hovertemplate="(%{x}, %{y})<extra></extra>",
            marker={"color": look.colour(role), "symbol": look.marker(role), "size": 9},
        )  # fmt: skip
        sketch.axis("x", panel, range=list(across))
        sketch.axis("y", panel, range=list(up))
    told = "; ".join(
        f"γ = {g:g}: lowest log p {number(float(c.worst[-1]))}" for g, c in found.items()
    )
    return sketch.figure(), f"Optimised samples over the model's own contours. {told}."
