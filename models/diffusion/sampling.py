"""DDIM and ancestral sampling: a deterministic map from a particle's noises to a sample.

    x_prev = sqrt(a_prev) x_0_hat + sqrt(1 - a_prev - sigma^2) eps_hat + sigma z

with a the signal left (alpha_bar); eta = 0 of the grid gives DDIM, eta = 1 the ancestral sampler.

References
----------
J. Song, C. Meng, S. Ermon, "Denoising Diffusion Implicit Models", ICLR 2021, eq. 12.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from models.diffusion.denoisers import Denoiser, Prediction
from models.diffusion.schedules import Grid
from models.torchrun import torch


class Step(NamedTuple):
    """One step: particles before it, after it, and the clean points that it saw."""

    i: int
    before: torch.Tensor
    after: torch.Tensor
    clean: torch.Tensor


def step_mean(seen: Prediction, grid: Grid, i: int) -> torch.Tensor:
    """Return the mean of the particles after step i, before its noise is added."""
    after, sigma = grid.alpha_bar_prev[i], grid.sigma[i]
    # Rounding may leave a hair below 0 in the last step.
    spread = math.sqrt(max(1 - after - sigma**2, 0.0))
    return math.sqrt(after) * seen.clean + spread * seen.eps


def take_step(denoiser: Denoiser, grid: Grid, i: int, x: torch.Tensor, noise: torch.Tensor) -> Step:
    """Do step i from particles x with the noises (k, *shape) of that step."""
    seen = denoiser(x, grid.timesteps[i], grid.alpha_bar[i])
    after = step_mean(seen, grid, i)
    if grid.sigma[i]:
        after = after + grid.sigma[i] * noise
    return Step(i, x, after, seen.clean)


def steps(denoiser: Denoiser, grid: Grid, noise: torch.Tensor) -> Iterator[Step]:
    """Yield every step of plain sampling from noises (k, S + 1, *shape)."""
    check_noise(denoiser, grid, noise)
    x = noise[:, 0]
    for i in range(grid.steps):
        done = take_step(denoiser, grid, i, x, noise[:, i + 1])
        yield done
        x = done.after


def sample(denoiser: Denoiser, grid: Grid, noise: torch.Tensor) -> torch.Tensor:
    """Return the samples (k, *shape) that the noises (k, S + 1, *shape) make."""
    x = noise[:, 0]
    for step in steps(denoiser, grid, noise):
        x = step.after
    return x


def check_noise(denoiser: Denoiser, grid: Grid, noise: torch.Tensor) -> None:
    """Raise ValueError unless the noises fit the grid and the model."""
    wanted = (grid.steps + 1, *denoiser.shape)
    if tuple(noise.shape[1:]) != wanted or len(noise) < 1:
        raise ValueError(
            f"The noises have shape {tuple(noise.shape)}, but {grid.steps} steps need (k, "
            f"{', '.join(map(str, wanted))}) with k of at least 1."
        )
