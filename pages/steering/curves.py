"""Curves of the steering page, of plane and pictures alike: against k, and up the noise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from models.checks import Float
from models.steering.climb import Climb
from models.steering.methods import Method
from models.steering.race import Ladder
from pages.steering.figures import Picture
from ui.charts import Look, Role, Sketch, number

LINES: dict[Method, tuple[str, Role]] = {
    "steering": ("FK steering", "ours"),
    "best of n": ("best of n", "classical"),
    "importance": ("weighted plain samples", "peer"),
}
GAMMA: dict[float, Role] = {0.0: "naive", 1.0: "variant"}


def ladder(found: Ladder, look: Look) -> Picture:
    """Draw highest reward, distance and share gap against the number of particles."""
    sketch = Sketch(
        look, 360, panels=("Highest reward", "Squared distance (MMD²)", "Gap of group shares")
    )
    sketch.layout["legend"] |= {"y": 1.12}
    named: set[Method] = set()
    for panel, tables in enumerate((found.best, found.mmd2, found.share_gap)):
        _against_k(sketch, panel, tables, found.sizes, 1.96, named)
    best = {name: number(float(table.mean(axis=0)[-1])) for name, table in found.best.items()}
    return sketch.figure(), (
        f"Means of {found.repeats} repeats with 95 % intervals against k from {found.sizes[0]} to "
        f"{found.sizes[-1]}. Highest reward at the largest k: steering {best['steering']}, best of "
        f"n {best['best of n']}."
    )


def pictures(found: Mapping[Method, Float], sizes: tuple[int, ...], look: Look) -> Picture:
    """Draw the highest reward of pictures against the number of particles."""
    sketch = Sketch(look, 320)
    _against_k(sketch, 0, found, sizes, 1.0, set())
    sketch.axis("y", title="highest reward")
    best = {name: number(float(table.mean(axis=0)[-1])) for name, table in found.items()}
    return sketch.figure(), (
        f"Highest reward, means of {len(found['steering'])} repeats with standard errors, against "
        f"k from {sizes[0]} to {sizes[-1]}; at the largest k steering {best['steering']}, best of "
        f"n {best['best of n']}."
    )


def _against_k(
    sketch: Sketch,
    panel: int,
    tables: Mapping[Method, Float],
    sizes: tuple[int, ...],
    errors: float,
    named: set[Method],
) -> None:
    """Draw each method's mean over the repeats (R, B), with so many standard errors as bars."""
    look, at = sketch.look, np.arange(len(sizes))
    ticks = [str(k) for k in sizes]
    sketch.layout["showlegend"] = True
    for method, table in tables.items():
        label, role = LINES[method]
        mean, repeats = table.mean(axis=0), len(table)
        spread = table.std(axis=0, ddof=1) if repeats > 1 else np.zeros_like(mean)
        sketch.add(
            "scatter", panel, x=at, y=mean.round(5), mode="lines+markers", name=label,
            showlegend=method not in named,
            line={"color": look.colour(role), "dash": look.dash(role), "width": 2},
            marker={"symbol": look.marker(role), "size": 8},
            error_y={
                "array": (errors * spread / np.sqrt(repeats)).round(5), "thickness": 1.5, "width": 4
            },
            text=ticks, hovertemplate=f"{label}, k = %{{text}}: %{{y}}<extra></extra>",
        )  # fmt: skip
        named.add(method)
    sketch.axis("x", panel, title="particles k", tickvals=at, ticktext=ticks)


def climbs(
    found: Mapping[float, Climb],
    look: Look,
    *,
    fit: tuple[str, str],
    usual: float | None = None,
) -> Picture:
    """Draw reward, P(z) and fit per optimiser step, with and without the regularisation.

    Parameters
    ----------
    fit : title of the fit's panel, and its short name in words
    usual : the fit of what is the model's own, drawn as a line
    """
    sketch = Sketch(look, 340, panels=("Mean reward", "P(z)", fit[0]))
    sketch.layout["showlegend"] = True
    sketch.layout["legend"] |= {"y": 1.12}
    for gamma, climb in found.items():
        role = GAMMA[gamma]
        for panel, values in enumerate((climb.rewards, climb.indicator, climb.fit)):
            sketch.add(
                "scatter", panel, x=climb.steps, y=values.round(4), mode="lines",
                name=f"γ = {gamma:g}", showlegend=panel == 0,
                line={"color": look.colour(role), "dash": look.dash(role), "width": 2.5},
                hovertemplate=f"γ = {gamma:g}, step %{{x}}: %{{y}}<extra></extra>",
            )  # fmt: skip
    for panel in range(3):
        sketch.axis("x", panel, title="optimiser step")
    sketch.axis("y", 1, range=[-0.04, 1.04])
    if usual is not None:
        sketch.rule(2, y=usual, color=look.ink, width=1, dash="dash")
    told = "; ".join(
        f"γ = {gamma:g}: reward {number(float(c.rewards[0]))} to {number(float(c.rewards[-1]))}, "
        f"P(z) {c.indicator[-1]:.2g}, {fit[1]} {number(float(c.fit[-1]))}"
        for gamma, c in found.items()
    )
    return sketch.figure(), f"Direct noise optimisation, {told}."
