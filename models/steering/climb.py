"""Direct noise optimisation followed step by step, without and with its regularisation."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

import numpy as np

from models.checks import Float
from models.diffusion.denoisers import Denoiser
from models.diffusion.noise import draw_noise, shared_generator
from models.diffusion.schedules import Grid
from models.steering.dno import DNOConfig, run_dno
from models.steering.scoring import Reward
from models.torchrun import torch

GAMMAS = (0.0, 1.0)


@dataclass(frozen=True)
class Climb:
    """The samples' way so far; means over the samples, after each optimiser step.

    Attributes
    ----------
    gamma : float
    steps, rewards, indicator : float64 (T,), the last P(z)
    fit, least_fit : float64 (T,), mean and lowest of what tells whether samples are still the
        model's own, such as log p
    samples : (k, *shape), where they are now
    network_calls : int, for each sample, backward passes counted as two
    """

    gamma: float
    steps: Float
    rewards: Float
    indicator: Float
    fit: Float
    least_fit: Float
    samples: torch.Tensor
    network_calls: int


def climbs(
    denoiser: Denoiser,
    grid: Grid,
    reward: Reward,
    config: DNOConfig,
    k: int,
    fit: Callable[[torch.Tensor], Float],
    *,
    seed: int,
    every: int = 1,
) -> Generator[dict[float, Climb], None, None]:
    """Yield both climbs so far, gamma = 0 and then gamma = 1, after every ``every``-th step.

    Parameters
    ----------
    config : all choices but gamma
    fit : of samples (k, *shape), one number each

    Raises
    ------
    ValueError
        If the reward does not fit the estimator.
    """
    found: dict[float, Climb] = {}
    for gamma in GAMMAS:
        noise = draw_noise(seed, k, grid.steps, denoiser.shape, dtype=denoiser.dtype)
        rng = shared_generator(seed, 0, "optimiser")
        rows: list[tuple[float, ...]] = []
        for state in run_dno(denoiser, grid, noise, reward, replace(config, gamma=gamma), rng):
            fits, p = fit(state.samples), np.exp(state.log_indicator)
            rows.append((state.step, state.rewards.mean(), p.mean(), fits.mean(), fits.min()))
            if state.step % every and not state.last:
                continue
            steps, rewards, indicator, mean, least = np.array(rows, dtype=np.float64).T
            found[gamma] = Climb(
                gamma, steps, rewards, indicator, mean, least, state.samples,
                state.network_calls // k,
            )  # fmt: skip
            yield dict(found)
