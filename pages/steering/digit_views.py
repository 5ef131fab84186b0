"""Figures of the digits: the climb in the noise, and the best reward against k."""

from __future__ import annotations

import numpy as np

from models.checks import Float
from models.steering.gallery import NoiseClimb
from models.steering.methods import Method
from pages.steering.figures import Picture
from ui.charts import Look, Role, Sketch, number

_GAMMA: dict[float, Role] = {0.0: "naive", 1.0: "variant"}


def climbs(found: dict[float, NoiseClimb], look: Look, usual: float) -> Picture:
    """Draw reward, P(z) and distance to the nearest real digit, with and without gamma."""
    sketch = Sketch(look, 320, panels=("Mean reward", "P(z)", "Distance to a real digit"))
    sketch.layout["showlegend"] = True
    sketch.layout["legend"] |= {"y": 1.12}
    for gamma, climb in found.items():
        role = _GAMMA[gamma]
        for panel, values in enumerate((climb.rewards, climb.indicator, climb.nearest)):
            sketch.add(
                "scatter", panel, x=climb.steps, y=values.round(4), mode="lines",
                name=f"γ = {gamma:g}", showlegend=panel == 0,
                line={"color": look.colour(role), "dash": look.dash(role), "width": 2.5},
                hovertemplate=f"γ = {gamma:g}, step %{{x}}: %{{y}}<extra></extra>",
            )  # fmt: skip
    for panel in range(3):
        sketch.axis("x", panel, title="optimiser step")
    sketch.axis("y", 1, range=[-0.04, 1.04])
    sketch.rule(2, y=usual, color=look.ink, width=1, dash="dash")
    told = "; ".join(
        f"γ = {gamma:g}: reward {number(float(c.rewards[0]))} to {number(float(c.rewards[-1]))}, "
        f"P(z) {c.indicator[-1]:.2g}, distance {number(float(c.nearest[-1]))}"
        for gamma, c in found.items()
    )
    return sketch.figure(), f"Direct noise optimisation of pictures, {told}."


def by_size(found: dict[Method, Float], sizes: tuple[int, ...], look: Look) -> Picture:
    """Draw the highest reward of steering and of best of n against the number of particles."""
    sketch = Sketch(look, 320)
    sketch.layout["showlegend"] = True
    roles: dict[Method, tuple[str, Role]] = {
        "steering": ("FK steering", "ours"),
        "best of n": ("best of n", "classical"),
    }
    at = np.arange(len(sizes))
    for method, table in found.items():
        label, role = roles[method]
        mean = table.mean(axis=0)
        error = table.std(axis=0, ddof=1) if len(table) > 1 else np.zeros_like(mean)
        sketch.add(
            "scatter", x=at, y=mean.round(4), mode="lines+markers", name=label,
            line={"color": look.colour(role), "dash": look.dash(role), "width": 2},
            marker={"symbol": look.marker(role), "size": 8},
            error_y={"array": (error / len(table) ** 0.5).round(4), "thickness": 1.5, "width": 4},
            text=[str(k) for k in sizes],
            hovertemplate=f"{label}, k = %{{text}}: %{{y}}<extra></extra>",
        )  # fmt: skip
    sketch.axis("x", title="particles k", tickvals=at, ticktext=[str(k) for k in sizes])
    sketch.axis("y", title="highest reward")
    last = {method: number(float(table.mean(axis=0)[-1])) for method, table in found.items()}
    return sketch.figure(), (
        f"Highest reward, means of {len(found['steering'])} repeats with standard errors, against "
        f"k from {sizes[0]} to {sizes[-1]}; at the largest k steering {last['steering']}, best of "
        f"n {last['best of n']}."
    )
