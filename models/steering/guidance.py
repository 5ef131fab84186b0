"""Gradient guidance: a sampling step pushed along the reward's gradient.

    eps <- eps - s sqrt(1 - a) grad_x r(x_0_hat(x)),   a the signal left (alpha_bar)

Alone it is biased. As the proposal of particles it is exact again, if each weight gets the factor
N(x'; mu, sigma^2) / N(x'; mu_guided, sigma^2) of the model's step over the guided one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from models.checks import Float
from models.diffusion.denoisers import Denoiser, Prediction
from models.diffusion.sampling import Step, step_mean, take_step
from models.diffusion.schedules import Grid
from models.steering.scoring import Reward, differentiable
from models.torchrun import torch

# A backward pass costs about two forward ones.
CALLS_PER_STEP = 3


class GuidedStep(NamedTuple):
    """A guided step and the log ratio (k,) of the model's density over the proposal's."""

    step: Step
    log_ratio: Float


def guided_step(
    denoiser: Denoiser,
    grid: Grid,
    i: int,
    x: torch.Tensor,
    noise: torch.Tensor,
    reward: Reward,
    scale: float,
    bound: float | None = None,
) -> GuidedStep:
    """Do step i with the guidance's scale s; s = lambda aims at exp(lambda r).

    A step that adds no noise is left to the model, as the ratio of two points has no density.

    Parameters
    ----------
    x, noise : (k, *shape)
    bound : the greatest length of a particle's gradient; None: no bound

    Raises
    ------
    ValueError
        If the reward has no gradient.
    """
    k, sigma = len(x), grid.sigma[i]
    if not sigma:
        return GuidedStep(take_step(denoiser, grid, i, x, noise), np.zeros(k))
    with torch.enable_grad():
        at = x.detach().requires_grad_()
        seen = denoiser(at, grid.timesteps[i], grid.alpha_bar[i])
        values = differentiable(reward, denoiser.decode(seen.clean))
        (slope,) = torch.autograd.grad(values.sum(), at)
    slope = torch.nan_to_num(slope)
    if bound is not None:
        length = slope.flatten(1).norm(dim=1).clamp_min(bound)
        slope = slope * (bound / length).view(-1, *(1,) * (slope.ndim - 1))
    signal, spread = math.sqrt(grid.alpha_bar[i]), math.sqrt(1 - grid.alpha_bar[i])
    plain = Prediction(seen.eps.detach(), seen.clean.detach())
    push = scale * spread * slope
    guided = Prediction(plain.eps - push, plain.clean + spread / signal * push)
    moved = step_mean(guided, grid, i) - step_mean(plain, grid, i)
    after = step_mean(guided, grid, i) + sigma * noise
    away = noise + moved / sigma
    ratio = ((noise**2).flatten(1).sum(1) - (away**2).flatten(1).sum(1)) / 2
    return GuidedStep(Step(i, x, after, plain.clean), ratio.double().cpu().numpy())
