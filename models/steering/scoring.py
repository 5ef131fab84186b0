"""Calls a reward function and checks what it gives back.

A reward takes decoded particles (k, *shape) and returns one number each: as a tensor, with or
without gradient, a NumPy array or a sequence, of any numeric type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from models.checks import Float
from models.torchrun import torch

Reward = Callable[[torch.Tensor], Any]


class Scores(NamedTuple):
    """Rewards float64 (k,), -inf where the function gave no number, and how many those are."""

    values: Float
    invalid: int


def score(reward: Reward, particles: torch.Tensor) -> Scores:
    """Return the rewards of decoded particles (k, *shape), without gradient.

    Raises
    ------
    ValueError
        If the function does not return k numbers, or none of them is a number.
    """
    with torch.no_grad():
        raw = reward(particles)
    if isinstance(raw, torch.Tensor):
        raw = raw.detach().cpu().numpy()
    try:
        values = np.array(raw, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"The reward returned {type(raw).__name__}, which is no row of numbers."
        ) from None
    k = len(particles)
    if values.shape != (k,):
        raise ValueError(
            f"The reward returned an array of shape {values.shape} for {k} particles, but must "
            f"return one number for each, shape ({k},)."
        )
    # -inf is a fair answer (the logarithm of 0); NaN and +inf are none.
    wrong = np.isnan(values) | np.isposinf(values)
    if wrong.all():
        raise ValueError(
            f"The reward of all {k} particles is {values[0]:g}: there is nothing to choose by. "
            "Check the reward for a division by 0 or the logarithm of a negative number."
        )
    values[wrong] = -np.inf
    if np.isneginf(values).all():
        raise ValueError(
            f"The reward of all {k} particles is -inf: there is nothing to choose by. Use a reward "
            "that stays finite."
        )
    return Scores(values, int(wrong.sum()))


def differentiable(reward: Reward, particles: torch.Tensor) -> torch.Tensor:
    """Return the rewards (k,) as a tensor that carries gradients.

    Raises
    ------
    ValueError
        If the reward has no gradient, or returns another shape.
    """
    values = reward(particles)
    if not isinstance(values, torch.Tensor) or not values.requires_grad:
        raise ValueError(
            "This reward has no gradient, which gradient guidance and direct noise optimisation "
            "need: choose another reward, or an estimator that works without."
        )
    if values.shape != (len(particles),):
        raise ValueError(
            f"The reward returned shape {tuple(values.shape)} for {len(particles)} particles, but "
            f"must return one number for each, shape ({len(particles)},)."
        )
    return values
