"""The weights of the published code, where they differ from the paper's mathematics.

They are exp(lambda statistic) cut off at 1e10; the statistic of "max" starts at 0; at the end the
statistic, not the reward, is divided by the product of the earlier weights; and in adaptive mode
the weights of a step that does not resample are dropped. Kept for comparison only.

References
----------
Class FKD of github.com/zacharyhorvitz/Fk-Diffusion-Steering, commit 9413005.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from models.checks import Float
from models.steering.potentials import Potential
from models.steering.resampling import Index

Variant = Literal["text_to_image", "discrete"]

_CEILING = 1e10
_SHARE = 0.5  # of k: an effective size below this resamples


@dataclass(frozen=True)
class ReleasedWeights:
    """State of the published class: its ``population_rs`` and ``product_of_potentials``, (k,)."""

    variant: Variant
    potential: Potential
    lam: float
    adaptive: bool
    statistic: Float
    product: Float

    def weigh(self, rewards: Float, *, terminal: bool) -> tuple[Float | None, ReleasedWeights]:
        """Return the weights (k,) to resample with, or None for no resampling, and the state.

        If weights are returned, :meth:`follow` must be called with the parents drawn.
        """
        match self.potential:
            case "max":
                statistic = np.maximum(rewards, self.statistic)
            case "sum":
                statistic = rewards + self.statistic
            case _:
                statistic = rewards
        change = statistic - self.statistic if self.potential == "difference" else statistic
        with np.errstate(over="ignore", invalid="ignore"):
            weights = np.exp(self.lam * change)
            if self.potential == "none" and not terminal:
                weights = np.ones_like(rewards)
            if terminal and self.potential != "difference":
                weights = weights / self.product
        weights = np.nan_to_num(np.clip(weights, 0.0, _CEILING), nan=0.0)
        if self.variant == "discrete" and not weights.any():
            weights = np.ones_like(weights)
        moved = replace(self, statistic=statistic)
        lenient = self.adaptive or (terminal and self.variant == "text_to_image")
        if lenient and weights.any():
            size = weights.sum() ** 2 / np.square(weights).sum()
            if size >= _SHARE * len(weights):
                return None, moved
        return weights, replace(moved, product=self.product * weights)

    def follow(self, parents: Index) -> ReleasedWeights:
        """Return the state of the chosen parents."""
        return replace(self, statistic=self.statistic[parents], product=self.product[parents])


def start_released(
    variant: Variant, potential: Potential, lam: float, k: int, *, adaptive: bool
) -> ReleasedWeights:
    """Return the state before the first step."""
    return ReleasedWeights(variant, potential, lam, adaptive, np.zeros(k), np.ones(k))
