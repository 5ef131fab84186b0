"""Noise schedules, and the grid of steps that a sampler takes through one.

Symbols: alpha_bar_t the share of signal left at training step t, x_t = sqrt(alpha_bar) x_0 +
sqrt(1 - alpha_bar) eps; S sampling steps, counted up from 0 = the noisiest; eta the share of the
ancestral sampler's noise that is injected (0: deterministic DDIM, 1: DDPM's variance).

    sigma = eta sqrt((1 - alpha_bar_prev) / (1 - alpha_bar) (1 - alpha_bar / alpha_bar_prev))

References
----------
J. Song, C. Meng, S. Ermon, "Denoising Diffusion Implicit Models", ICLR 2021, eq. 12 and 16.
A. Nichol, P. Dhariwal, "Improved Denoising Diffusion Probabilistic Models", ICML 2021 (cosine).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from models.checks import Float, check_choice

Betas = Literal["linear", "scaled_linear", "squaredcos_cap_v2"]
Spacing = Literal["leading", "trailing", "linspace"]

_MAX_BETA = 0.999


@dataclass(frozen=True)
class NoiseSchedule:
    """How a model was noised in training; the names are those of diffusers' schedulers.

    ``beta_start`` and ``beta_end`` do not matter for the cosine schedule, which is the default.
    """

    betas: Betas = "squaredcos_cap_v2"
    train_steps: int = 1000
    beta_start: float = 0.0001
    beta_end: float = 0.02

    def __post_init__(self) -> None:
        """Raise ValueError if a field is out of range."""
        check_choice(self.betas, Betas, "beta schedule")
        if self.train_steps < 1:
            raise ValueError(f"train_steps is {self.train_steps}, but must be at least 1.")
        if not 0.0 < self.beta_start <= self.beta_end < 1.0:
            raise ValueError(
                f"The betas run from {self.beta_start:g} to {self.beta_end:g}, but must rise "
                "strictly between 0 and 1."
            )

    def alpha_bar(self) -> Float:
        """Return alpha_bar at each training step, shape (train_steps,), falling."""
        n = self.train_steps
        if self.betas == "linear":
            betas = np.linspace(self.beta_start, self.beta_end, n)
        elif self.betas == "scaled_linear":
            betas = np.linspace(math.sqrt(self.beta_start), math.sqrt(self.beta_end), n) ** 2
        else:
            signal = np.cos((np.arange(n + 1) / n + 0.008) / 1.008 * math.pi / 2) ** 2
            betas = np.minimum(1 - signal[1:] / signal[:-1], _MAX_BETA)
        return np.asarray(np.cumprod(1.0 - betas), dtype=np.float64)


COSINE = NoiseSchedule()


@dataclass(frozen=True)
class Grid:
    """The steps of a sampler, from noise to data.

    Attributes
    ----------
    timesteps : int64, shape (S,), training steps at which the network is called
    alpha_bar, alpha_bar_prev : float64, shape (S,), before and after each step
    sigma : float64, shape (S,), standard deviation of the noise that each step adds
    eta : float in [0, 1]
    """

    timesteps: tuple[int, ...]
    alpha_bar: tuple[float, ...]
    alpha_bar_prev: tuple[float, ...]
    sigma: tuple[float, ...]
    eta: float

    @property
    def steps(self) -> int:
        """Number of sampling steps, S."""
        return len(self.timesteps)


def make_grid(
    schedule: NoiseSchedule = COSINE,
    steps: int = 50,
    eta: float = 1.0,
    *,
    spacing: Spacing = "leading",
    offset: int = 0,
    ends_clean: bool = True,
    quiet_end: bool = False,
) -> Grid:
    """Lay out the sampling steps as diffusers' DDIMScheduler does.

    Parameters
    ----------
    schedule : how the model was noised in training
    steps : int, S, from 1 to the number of training steps
    eta : float in [0, 1]
    spacing, offset : how steps are spread over the training steps; ``offset`` counts with
        "leading" only
    ends_clean : whether the last step ends at alpha_bar = 1 (``set_alpha_to_one``), which adds no
        noise, or at that of training step 0
    quiet_end : leave out the noise of the last step, as the code of direct noise optimisation does

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    check_choice(spacing, Spacing, "spacing")
    n = schedule.train_steps
    if not 1 <= steps <= n:
        raise ValueError(f"There are {steps} sampling steps, but 1 to {n} are allowed.")
    if not 0.0 <= eta <= 1.0:
        raise ValueError(f"eta is {eta:g}, but must lie between 0 and 1.")
    if spacing == "linspace":
        times = np.linspace(0, n - 1, steps).round()[::-1].astype(np.int64)
    elif spacing == "leading":
        times = np.arange(steps)[::-1] * (n // steps) + offset
    else:
        times = np.round(np.arange(n, 0, -n / steps)).astype(np.int64) - 1
    if times.max() >= n:
        raise ValueError(f"An offset of {offset} leads beyond the last training step, {n - 1}.")
    bars = schedule.alpha_bar()
    before = bars[times]
    earlier = times - n // steps
    after = np.where(earlier >= 0, bars[np.maximum(earlier, 0)], 1.0 if ends_clean else bars[0])
    sigma = eta * np.sqrt((1 - after) / (1 - before) * (1 - before / after))
    if quiet_end:
        sigma[-1] = 0.0
    return Grid(
        tuple(times.tolist()),
        tuple(before.tolist()),
        tuple(after.tolist()),
        tuple(sigma.tolist()),
        eta,
    )
