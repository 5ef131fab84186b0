"""Direct noise optimisation: gradient ascent on the noises that a finished model draws.

Samples are x_0 = M(z) for noises z = (x_T, z_1, ..., z_S) (:mod:`models.diffusion.sampling`). Each
sample maximises

    r(M(z)) + gamma E[log p1(z) + log p2(z)]      over z, from z ~ N(0, I)

by itself; nothing is trained. The second term (:mod:`models.steering.plausibility`) keeps z where
Gaussian noise can be. With eta = 0 only x_T matters.

References
----------
Z. Tang et al., "Inference-Time Alignment of Diffusion Models with Direct Noise Optimization",
ICML 2025, Algorithm 1, and its published code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from models.checks import Float, check_choice
from models.diffusion.denoisers import Denoiser
from models.diffusion.sampling import check_noise
from models.diffusion.schedules import Grid
from models.steering.ascent import Ascent, Estimator, reward_slope
from models.steering.plausibility import BLOCK, draw_orders, plausibility
from models.steering.scoring import Reward
from models.torchrun import torch

Rows = Literal["all", "start"]
Optimiser = Literal["adamw", "adam", "sgd"]


@dataclass(frozen=True)
class DNOConfig:
    """How noises are optimised; the defaults are the published code's, save ``gamma``.

    Attributes
    ----------
    steps : int >= 0, optimiser steps
    rate, optimiser, weight_decay : of the optimiser; decay counts with "adamw" only
    clip : the greatest length of a sample's gradient, None: no bound
    gamma : weight of the regularisation; the published default is 0, off
    orders, block : random orders a step, and the length b of a block
    rows : optimise all noises or the starting point x_T only
    last_steps : let only the last so many sampling steps carry gradients; None: all
    estimator, mu, perturbations : the reward's gradient, or an estimate without it from so many
        perturbed samples at distance mu; see :mod:`models.steering.ascent`
    checkpoint : recompute each network call instead of keeping what it saw
    """

    steps: int = 100
    rate: float = 0.01
    optimiser: Optimiser = "adamw"
    weight_decay: float = 0.01
    clip: float | None = 1.0
    gamma: float = 1.0
    orders: int = 100
    block: int = BLOCK
    rows: Rows = "all"
    last_steps: int | None = None
    estimator: Estimator = "gradient"
    mu: float = 0.01
    perturbations: int = 4
    checkpoint: bool = True

    def __post_init__(self) -> None:
        """Raise ValueError if a field is out of range."""
        check_choice(self.optimiser, Optimiser, "optimiser")
        check_choice(self.rows, Rows, "choice of noises")
        check_choice(self.estimator, Estimator, "estimator")
        for name, least in (("steps", 0), ("orders", 0), ("block", 1), ("perturbations", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}, but must be at least {least}.")
        for name in ("rate", "mu"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name):g}, but must be above 0.")
        if self.gamma < 0 or self.weight_decay < 0:
            raise ValueError("gamma and weight_decay must not be negative.")
        if self.clip is not None and not self.clip > 0:
            raise ValueError(f"clip is {self.clip:g}, but must be above 0, or None.")
        if self.last_steps is not None and (self.last_steps < 1 or self.rows == "start"):
            raise ValueError("last_steps must be at least 1, and needs all noises to be optimised.")


@dataclass(frozen=True)
class DNOState:
    """The samples before optimiser step ``step``, the last one after all of them.

    Attributes
    ----------
    step : int, from 0
    last : bool
    samples : (k, *shape)
    noise : (k, S + 1, *shape)
    rewards : float64 (k,)
    regulariser : float64 (k,), log p1 + log p2 and their mean over random orders, at most 0
    log_indicator : float64 (k,), log P(z)
    size : float64 (k,), |z|^2 / n of the optimised noises, near 1 for Gaussian ones
    network_calls, reward_calls : int, spent so far, counted a sample; a backward pass counts as 2
    """

    step: int
    last: bool
    samples: torch.Tensor
    noise: torch.Tensor
    rewards: Float
    regulariser: Float
    log_indicator: Float
    size: Float
    network_calls: int
    reward_calls: int


def run_dno(
    denoiser: Denoiser,
    grid: Grid,
    noise: torch.Tensor,
    reward: Reward,
    config: DNOConfig,
    rng: np.random.Generator,
) -> Iterator[DNOState]:
    """Optimise k independent samples, yielding steps + 1 states; stop by leaving the loop.

    Parameters
    ----------
    denoiser, grid : the model and the steps taken through it
    noise : (k, S + 1, *shape), where the ascent starts
    reward : of decoded samples; differentiable with the estimator "gradient"
    config : all choices
    rng : for random orders and perturbations

    Raises
    ------
    ValueError
        If the configuration does not fit the grid, or the reward fails.
    """
    check_noise(denoiser, grid, noise)
    last_steps = config.last_steps or grid.steps
    if last_steps > grid.steps:
        raise ValueError(
            f"last_steps is {last_steps}, but there are only {grid.steps} sampling steps."
        )
    start_only = config.rows == "start" or grid.eta == 0
    first = 0 if last_steps == grid.steps else grid.steps - last_steps + 1
    rows = slice(0, 1) if start_only else slice(first, grid.steps + 1)
    ascent = Ascent(
        denoiser, grid, reward, rows, last_steps, config.estimator, config.mu,
        config.perturbations, config.checkpoint,
    )  # fmt: skip
    return _run(ascent, noise, config, rng)


def _run(
    ascent: Ascent, noise: torch.Tensor, config: DNOConfig, rng: np.random.Generator
) -> Iterator[DNOState]:
    whole = noise.detach().clone()
    z = whole[:, ascent.rows].clone().requires_grad_()
    optimiser = _optimiser(z, config)
    network_calls = reward_calls = 0
    for step in range(config.steps + 1):
        last = step == config.steps
        slope = reward_slope(ascent, whole, z, rng, wanted=not last)
        orders = draw_orders(z[0].numel(), config.orders, rng)
        with torch.enable_grad():
            # The published order: by rising diffusion time, the starting point last.
            flat = z.flip(1).flatten(1)
            regulariser, log_indicator = plausibility(flat, orders, config.block)
            if config.gamma and not last:
                (pull,) = torch.autograd.grad(regulariser.sum(), z)
                slope = slope._replace(gradient=slope.gradient + config.gamma * pull)
        network_calls += slope.network_calls
        reward_calls += slope.reward_calls
        now = whole.clone()
        now[:, ascent.rows] = z.detach()
        yield DNOState(
            step,
            last,
            slope.samples,
            now,
            slope.rewards,
            _numbers(regulariser),
            _numbers(log_indicator),
            _numbers(flat.square().mean(1)),
            network_calls,
            reward_calls,
        )
        if not last:
            z.grad = -_clipped(slope.gradient, config.clip)
            optimiser.step()


def _optimiser(z: torch.Tensor, config: DNOConfig) -> torch.optim.Optimizer:
    if config.optimiser == "adamw":
        return torch.optim.AdamW([z], lr=config.rate, weight_decay=config.weight_decay)
    if config.optimiser == "adam":
        return torch.optim.Adam([z], lr=config.rate)
    return torch.optim.SGD([z], lr=config.rate)


def _clipped(gradient: torch.Tensor, clip: float | None) -> torch.Tensor:
    """Shorten each sample's gradient by itself, so that samples do not depend on each other."""
    gradient = torch.nan_to_num(gradient, nan=0.0, posinf=0.0, neginf=0.0)
    if clip is None:
        return gradient
    length: torch.Tensor = gradient.flatten(1).norm(dim=1).clamp_min(clip)
    return gradient * (clip / length).view(-1, *(1,) * (gradient.ndim - 1))


def _numbers(values: torch.Tensor) -> Float:
    return np.asarray(values.detach().double().cpu().numpy(), dtype=np.float64)
