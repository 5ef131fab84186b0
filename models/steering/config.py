"""The choices of Feynman-Kac steering, with their checks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from models.checks import check_choice
from models.diffusion.denoisers import Denoiser, MixtureDenoiser
from models.diffusion.schedules import Grid
from models.steering.potentials import Potential
from models.steering.released import Variant
from models.steering.resampling import Scheme
from models.steering.scoring import Reward

When = Literal["adaptive", "always", "never"]
Intermediate = Literal["denoised", "next", "many"]


@dataclass(frozen=True)
class FKConfig:
    """How particles are steered.

    Attributes
    ----------
    lam : float >= 0, the strength lambda of the tilt
    potential : see :mod:`models.steering.potentials`; "exact" needs an analytic model
    first, final, every : int, the scheduled steps are first, first + every, ... <= final, counted
        from 0 = the noisiest; the last step always counts
    resampler, when, threshold : the scheme; whether to resample when the effective sample size
        falls below ``threshold`` k, always at scheduled steps, or never
    intermediate, samples : the reward of the clean point seen in the step ("denoised", free), of
        the one seen from where the step led ("next", one more network call), or log mean exp of
        the rewards of ``samples`` draws of x_0 ("many", needs an analytic model)
    at_end : resample after the last step too, so that all weights are equal
    guidance, corrected, bound : scale of gradient guidance in the proposal, whether weights make
        up for it, and the greatest length of a gradient
    as_released : "" or the variant of the published code whose weights are used instead
    """

    lam: float = 10.0  # the published script
    potential: Potential = "difference"
    first: int = 20
    final: int = 80
    every: int = 20
    resampler: Scheme = "systematic"  # lower variance than the paper's multinomial
    when: When = "adaptive"
    threshold: float = 0.5
    intermediate: Intermediate = "denoised"
    samples: int = 4
    at_end: bool = False
    guidance: float = 0.0
    corrected: bool = True
    bound: float | None = None
    as_released: Variant | Literal[""] = ""

    def __post_init__(self) -> None:
        """Raise ValueError if a field is out of range by itself."""
        check_choice(self.potential, Potential, "potential")
        check_choice(self.resampler, Scheme, "resampling scheme")
        check_choice(self.when, When, "resampling policy")
        check_choice(self.intermediate, Intermediate, "intermediate reward")
        if not (math.isfinite(self.lam) and self.lam >= 0):
            raise ValueError(f"lambda is {self.lam:g}, but must be a finite number of at least 0.")
        if not 0.0 <= self.threshold <= 1.0:
            raise ValueError(
                f"The threshold is {self.threshold:g}, but must be a share of k between 0 and 1."
            )
        for name in ("every", "samples"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, but must be at least 1.")
        if not 0 <= self.first <= self.final:
            raise ValueError(
                f"The schedule runs from step {self.first} to {self.final}, but must start at 0 or "
                "later and not end before it starts."
            )
        if self.as_released and self.potential == "exact":
            raise ValueError("The released code has no exact potential: choose another one.")

    @property
    def resamples(self) -> bool:
        """Whether particles may be copied at all."""
        return self.when != "never" and self.potential != "none"

    def scheduled(self, steps: int) -> frozenset[int]:
        """Return the scheduled steps of a sampler with so many, without its last."""
        return frozenset(range(self.first, min(self.final, steps - 2) + 1, self.every))

    def check(self, grid: Grid, denoiser: Denoiser, reward: Reward) -> None:
        """Raise ValueError if the choices do not fit the grid, the model or the reward."""
        if self.resamples and self.final > grid.steps - 1:
            raise ValueError(
                f"The schedule ends at step {self.final}, but {grid.steps} sampling steps are "
                f"numbered from 0 to {grid.steps - 1}: end it earlier or take more steps."
            )
        analytic = isinstance(denoiser, MixtureDenoiser)
        if self.potential == "exact" and not (analytic and hasattr(reward, "log_moment")):
            raise ValueError(
                "The exact potential needs the analytic model and a reward with a known average: "
                "linear, quadratic or half-plane."
            )
        if self.intermediate == "many" and not analytic:
            raise ValueError(
                "Many samples of x_0 given x_t can be drawn from the analytic model only: choose "
                'the "denoised" intermediate reward.'
            )
        if self.guidance and self.corrected and grid.eta == 0:
            raise ValueError(
                "With eta = 0 no step adds noise, so that guidance cannot be made up for by "
                "weights: choose eta above 0."
            )
        if self.guidance and self.as_released:
            raise ValueError("The released code has no guidance: choose one of the two.")


# Resolution of the playground's and the digits' samplers, which take 50 steps.
SPARSE = (9, 39, 10)


def paper_config(potential: Potential = "max") -> FKConfig:
    """Return the published launch script's choices: 100 steps, lambda 10, 20 to 80 by 20."""
    return FKConfig(potential=potential, resampler="multinomial", when="always")
