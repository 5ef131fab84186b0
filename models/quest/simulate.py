r"""Simulated populations with sliders for how good the model is and how heavy the tail.

Gold and prediction are two transforms of correlated normal scores: :math:`Y = g(z)` and
:math:`\tilde Y = g(qz + \sqrt{1 - q^2}\,e)` plus bias and noise.  At quality q = 0 the two are
independent with the same distribution, at q = 1 they are equal, and in between q is the correlation
of the scores.  The scores, not the levels p, are what is transformed, since p runs out of digits in
the upper tail.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from models.checks import Float

KINDS = ("gaussian", "lognormal", "pareto", "ratings")

# Shares of the ratings 1 to 5, and the scores at which one rating passes into the next.
RATING_SHARES = (0.08, 0.17, 0.30, 0.30, 0.15)
_CUTS = special.ndtri(np.cumsum(RATING_SHARES)[:-1])


def pareto_index(tail: float) -> float:
    """Tail index 2 + 1/tail: 3 at tail = 1, above 2 always, so that the variance is finite."""
    return 2.0 + 1.0 / tail


def simulate_population(
    kind: str, rows: int, quality: float, bias: float, noise: float, tail: float, seed: int
) -> tuple[Float, Float]:
    """Simulate gold values and predictions, two float64 arrays of shape (rows,).

    Parameters
    ----------
    kind : "gaussian" (mean 0, sd 1), "lognormal" (of a normal with mean 0 and sd ``tail``),
        "pareto" (values from 1 up, index ``pareto_index(tail)``) or "ratings" (1 to 5)
    tail : heaviness in [0.05, 3]; the Gaussian and the ratings have none and ignore it
    quality : correlation in [0, 1] of the normal scores of gold and prediction
    bias : shift of all predictions in [-10, 10], in standard deviations of the gold values
    noise : standard deviation in [0, 10] of extra scatter of the predictions, in the same unit
        (for ratings both act on the score before it is cut, so that predictions stay ratings)
    seed : seed of the generator

    Raises
    ------
    ValueError
        If the kind is unknown or a number is outside its range.
    """
    _check(kind, quality, bias, noise, tail)
    rng = np.random.default_rng(seed)
    # Always three draws a row: the same seed gives the same people, whatever the model does.
    truth, other, extra = rng.normal(size=(3, rows))
    seen = quality * truth + math.sqrt(1.0 - quality**2) * other
    error = bias + noise * extra
    gold = _from_scores(kind, tail, truth)
    if kind == "ratings":
        return gold, _from_scores(kind, tail, seen + error)
    return gold, _from_scores(kind, tail, seen) + _spread(kind, tail) * error


def _from_scores(kind: str, tail: float, z: Float) -> Float:
    match kind:
        case "gaussian":
            return np.asarray(z, dtype=np.float64)
        case "lognormal":
            return np.asarray(np.exp(tail * z), dtype=np.float64)
        case "pareto":
            return np.asarray(special.ndtr(-z) ** (-1.0 / pareto_index(tail)), dtype=np.float64)
        case _:
            return np.asarray(np.searchsorted(_CUTS, z) + 1, dtype=np.float64)


def _spread(kind: str, tail: float) -> float:
    match kind:
        case "lognormal":
            return math.sqrt(math.expm1(tail**2)) * math.exp(tail**2 / 2)
        case "pareto":
            index = pareto_index(tail)
            return math.sqrt(index / (index - 2.0)) / (index - 1.0)
        case _:
            return 1.0


def _check(
    kind: str, quality: float = 0.0, bias: float = 0.0, noise: float = 0.0, tail: float = 1.0
) -> None:
    if kind not in KINDS:
        raise ValueError(f"Simulation {kind!r} is unknown; choose one of {', '.join(KINDS)}.")
    for name, value, low, high in (
        ("quality", quality, 0.0, 1.0),
        ("bias", bias, -10.0, 10.0),
        ("noise", noise, 0.0, 10.0),
        ("tail", tail, 0.05, 3.0),
    ):
        if not low <= value <= high:
            raise ValueError(
                f"The simulation's {name} is {value:g}, but must lie between {low:g} and {high:g}."
            )
