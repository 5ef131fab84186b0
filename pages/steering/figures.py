"""The steering page's first picture: particles on their way to the target, played on a click."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from models.checks import Float
from models.diffusion.mixtures import Mixture
from models.steering.fk import FKState
from models.steering.playground import Playground
from models.steering.race import Race
from models.steering.resampling import normalise
from models.torchrun import torch
from ui.charts import Look, Role, Sketch, fade, number

Picture = tuple[go.Figure, str]
CELLS = 61
FRAMES = 26
LEVELS = (0.02, 0.1, 0.35)  # of the target's highest density


def box(mixture: Mixture) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the part of the plane that is drawn; it depends on the model, not on the target."""
    spread = torch.diagonal(mixture.covariances, dim1=1, dim2=2).sqrt()
    low = (mixture.means - 4.5 * spread).min(dim=0).values
    high = (mixture.means + 4.5 * spread).max(dim=0).values
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def density(place: Playground) -> tuple[Float, Float, Float]:
    """Return x (n,), y (n,) and the target's density over its highest one (n, n), rows by y."""
    (left, right), (bottom, top) = box(place.mixture)
    x, y = np.linspace(left, right, CELLS), np.linspace(bottom, top, CELLS)
    across, up = np.meshgrid(x, y)
    points = torch.from_numpy(np.column_stack([across.ravel(), up.ravel()]))
    log_p = place.mixture.log_density(points) + place.lam * place.reward(points)
    shape = (CELLS, CELLS)
    return x, y, np.asarray((log_p - log_p.max()).exp().numpy().reshape(shape), dtype=np.float64)


def contours(sketch: Sketch, panel: int, place: Playground) -> None:
    """Draw the lines of equal density of a target, ``len(LEVELS)`` traces."""
    x, y, p = density(place)
    for level in LEVELS:
        sketch.add(
            "contour", panel, x=x.round(3), y=y.round(3), z=p.round(4), showscale=False,
            autocontour=False, hoverinfo="skip",
            contours={"start": level, "end": level, "size": 1, "coloring": "none"},
            line={"color": fade(sketch.look.ink, 0.75), "width": 1},
        )  # fmt: skip


def particles(run: Race, look: Look, *, play: bool = True) -> Picture:
    """Draw steered particles beside plain ones with weights, over the target's contours."""
    sketch = Sketch(
        look,
        430 if play else 380,
        panels=("FK steering", "Plain, weighted"),
    )
    sides: tuple[tuple[Role, tuple[FKState, ...], Float], ...] = (
        ("ours", run.states, run.outcomes["steering"].weights),
        ("peer", run.plain, run.outcomes["importance"].weights),
    )
    (left, right), (bottom, top) = box(run.place.mixture)
    heads: list[list[dict[str, Any]]] = []
    for panel, (role, states, weights) in enumerate(sides):
        contours(sketch, panel, run.place)
        heads.append(_heads(states, weights, look, role))
        sketch.add("scatter", panel, mode="markers", showlegend=False, **heads[-1][-1])
        sketch.axis("x", panel, range=[left, right])
        sketch.axis("y", panel, range=[bottom, top], title="" if panel else "second coordinate")
    if play:
        places = [len(LEVELS), 2 * len(LEVELS) + 1]
        sketch.play(
            [
                {"name": str(step), "data": [heads[0][i], heads[1][i]], "traces": places}
                for i, step in enumerate(_moments(len(run.states)))
            ],
            unit="after step",
            milliseconds=120,
        )
    steered, plain = run.row("steering"), run.row("importance")
    alt = (
        f"Contours of the target at strength {run.place.lam:g}, with {run.k} particles. Left, "
        f"steered: mean reward {number(steered.mean)}, {steered.unique} starting points survive, "
        f"squared distance from the target {number(steered.mmd2)}. Right, plain samples with "
        f"weights: mean reward {number(plain.mean)}, the largest weight is "
        f"{run.outcomes['importance'].weights.max():.0%}, squared distance {number(plain.mmd2)}."
    )
    return sketch.figure(), alt


def _moments(steps: int) -> list[int]:
    """Steps at which a frame is drawn, counted from 1, the last one always."""
    return sorted(set(np.linspace(1, steps, min(FRAMES, steps)).round().astype(int).tolist()))


def _heads(
    states: tuple[FKState, ...], final: Float, look: Look, role: Role
) -> list[dict[str, Any]]:
    """The particles at each drawn step: larger where they weigh more."""
    found = []
    for step in _moments(len(states)):
        state = states[step - 1]
        weights = final if state.last else normalise(state.log_weights)
        at = state.particles.numpy()
        share = weights * len(weights)
        found.append(
            {
                "x": at[:, 0].round(3),
                "y": at[:, 1].round(3),
                "marker": {
                    "color": fade(look.colour(role), 0.75),
                    "size": np.clip(4 + 7 * np.sqrt(share), 4, 34).round(1),
                    "symbol": look.marker(role),
                    "line": {"width": 1, "color": look.paper},
                },
                "text": [f"weight {w:.3f}" for w in weights],
                "hovertemplate": "(%{x}, %{y}), %{text}<extra></extra>",
            }
        )
    return found
