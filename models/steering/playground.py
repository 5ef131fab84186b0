"""The analytic playground: a small mixture in the plane, a reward, and the known truth.

Three groups of points; the linear reward a.x favours the right-hand lower one. At lambda = 1 that
is a mild tilt, which plain importance sampling manages too; at lambda = 3 the target is rare, and
steering the particles on their way pays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from models.checks import Float
from models.diffusion.denoisers import MixtureDenoiser
from models.diffusion.mixtures import Mixture, make_mixture
from models.diffusion.tilts import (
    HalfPlane,
    InComponent,
    Linear,
    PlaneReward,
    Quadratic,
    log_z,
    sample_tilted,
    tilt,
)
from models.steering.distances import mmd2
from models.torchrun import torch

TRUTH_DRAWS = 2000
_TRUTH_SEED = 20250713


def default_mixture() -> Mixture:
    """Return the three groups: weights .45, .35, .20, variances .15, .10, .20."""
    eye = np.eye(2)
    return make_mixture(
        [0.45, 0.35, 0.20],
        [[-2.0, 0.0], [1.5, 1.8], [1.5, -1.8]],
        [0.15 * eye, 0.10 * eye, 0.20 * eye],
    )


def plane_reward(name: str, mixture: Mixture) -> PlaneReward:
    """Return a reward of the playground by name.

    Parameters
    ----------
    name : "linear" (a.x with a = (1, -1/2)), "point" (minus half the squared distance to
        (1.5, -1.8)), "half-plane" (right of x = 1) or "group" (the last component)

    Raises
    ------
    ValueError
        If there is no such reward.
    """
    match name:
        case "linear":
            return Linear(torch.tensor([1.0, -0.5], dtype=torch.float64))
        case "point":
            eye = torch.eye(mixture.dimension, dtype=torch.float64)
            return Quadratic(eye, torch.tensor([1.5, -1.8], dtype=torch.float64))
        case "half-plane":
            return HalfPlane(torch.tensor([1.0, 0.0], dtype=torch.float64), 1.0)
        case "group":
            return InComponent(mixture, len(mixture.weights) - 1)
    raise ValueError(
        f"The reward is {name!r}, but must be one of linear, point, half-plane and group."
    )


@dataclass(frozen=True, eq=False)
class Playground:
    """A mixture, a reward of the plane and a strength; everything known about the target."""

    reward: PlaneReward
    lam: float = 3.0
    mixture: Mixture = field(default_factory=default_mixture)

    @cached_property
    def denoiser(self) -> MixtureDenoiser:
        """The exact denoiser."""
        return MixtureDenoiser(self.mixture)

    @cached_property
    def target(self) -> Mixture | None:
        """The tilted law where that is a mixture again, else None."""
        if isinstance(self.reward, Linear | Quadratic):
            return tilt(self.mixture, self.reward, self.lam)
        return None

    @cached_property
    def truth(self) -> torch.Tensor:
        """Exact draws of the target, (2000, d), always the same."""
        rng = np.random.default_rng(_TRUTH_SEED)
        return sample_tilted(self.mixture, self.reward, self.lam, TRUTH_DRAWS, rng)

    @cached_property
    def log_z(self) -> float | None:
        """The log of E exp(lambda r), or None where it has no closed form."""
        return (
            None
            if isinstance(self.reward, InComponent)
            else log_z(self.mixture, self.reward, self.lam)  # type: ignore[arg-type]
        )

    @cached_property
    def mean_reward(self) -> float:
        """The target's mean reward: the derivative of log Z in lambda, or the draws' mean."""
        if self.log_z is None:
            return float(self.reward(self.truth).mean())
        h = 1e-4
        low, high = (
            log_z(self.mixture, self.reward, self.lam + d)  # type: ignore[arg-type]
            for d in (-h, h)
        )
        return (high - low) / (2 * h)

    @cached_property
    def shares(self) -> torch.Tensor:
        """The target's share of each component of the mixture, (K,)."""
        if self.target is not None:
            return self.target.weights
        n = len(self.truth)
        return self.mixture.component_shares(self.truth, torch.full((n,), 1 / n).double())

    def mmd2(self, samples: torch.Tensor, weights: Float) -> float:
        """Squared distance (MMD) of weighted particles (k, d) from exact draws of the target."""
        return mmd2(samples, weights, self.truth)

    def share_gap(self, samples: torch.Tensor, weights: Float) -> float:
        """Half the sum of differences between the particles' component shares and the target's."""
        found = self.mixture.component_shares(samples, torch.from_numpy(weights))
        return float((found - self.shares).abs().sum()) / 2
