"""Which way to move the noises z so that the reward of the sample M(z) rises.

    gradient   back-propagation through the whole sampler, of a differentiable reward
    zeroth     sum_i (r(M(z + mu xi_i)) - r(M(z))) xi_i / (q mu): rewards alone (ZO-SGD)
    hybrid 1   a slope h of r at the sample, from rewards of x + mu xi_i, back-propagated through M
    hybrid 2   h = sum_i (r(x_i) - r(x)) (x_i - x) with x_i = M(z + mu xi_i), which stay samples of
               the model; h / (|h| + 1e-3) is back-propagated through M

xi_i are Gaussian, q of them a sample, in one batch.

References
----------
Z. Tang et al., "Inference-Time Alignment of Diffusion Models with Direct Noise Optimization",
ICML 2025, Section on non-differentiable rewards; hybrid 2 after the published code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from models.checks import Float
from models.diffusion.denoisers import Denoiser, Prediction
from models.diffusion.sampling import take_step
from models.diffusion.schedules import Grid
from models.steering.scoring import Reward, differentiable, score
from models.torchrun import torch

Estimator = Literal["gradient", "zeroth", "hybrid 1", "hybrid 2"]

_BACKWARD = 2  # network calls that a backward pass is counted as


@dataclass(frozen=True, eq=False)
class Ascent:
    """The map from noises to samples, and how its ascent direction is found.

    Attributes
    ----------
    rows : which rows of the noises (k, S + 1, *shape) are optimised
    last_steps : how many sampling steps carry gradients
    """

    denoiser: Denoiser
    grid: Grid
    reward: Reward
    rows: slice
    last_steps: int
    estimator: Estimator
    mu: float
    perturbations: int
    checkpoint: bool

    def samples(self, noise: torch.Tensor, *, gradient: bool) -> torch.Tensor:
        """Return decoded samples of noises (k, S + 1, *shape)."""
        x, still = noise[:, 0], self.grid.steps - self.last_steps
        denoiser = _Checkpointed(self.denoiser) if self.checkpoint and gradient else self.denoiser
        for i in range(self.grid.steps):
            with torch.set_grad_enabled(gradient and i >= still):
                x = take_step(denoiser, self.grid, i, x, noise[:, i + 1]).after
        with torch.set_grad_enabled(gradient):
            return self.denoiser.decode(x)


class Slope(NamedTuple):
    """Samples (k, ...), rewards (k,), the direction (k, rows, *shape), and what that cost."""

    samples: torch.Tensor
    rewards: Float
    gradient: torch.Tensor
    network_calls: int
    reward_calls: int


def reward_slope(
    ascent: Ascent,
    whole: torch.Tensor,
    z: torch.Tensor,
    rng: np.random.Generator,
    *,
    wanted: bool = True,
) -> Slope:
    """Return the samples of noises ``whole`` with rows z, and the direction of higher reward.

    Without ``wanted`` the direction is 0, and only the samples are paid for.

    Raises
    ------
    ValueError
        If the reward fails, or has no gradient where that is asked for.
    """
    k, s = len(whole), ascent.grid.steps
    if not wanted:
        x = ascent.samples(_joined(whole, z.detach(), ascent.rows), gradient=False)
        return Slope(x, score(ascent.reward, x).values, torch.zeros_like(z), k * s, k)
    if ascent.estimator == "zeroth":
        return _zeroth(ascent, whole, z, rng)
    with torch.enable_grad():
        x = ascent.samples(_joined(whole, z, ascent.rows), gradient=True)
        back = (_BACKWARD + ascent.checkpoint) * ascent.last_steps
        calls, extra = k * (s + back), 0
        if ascent.estimator == "gradient":
            values = differentiable(ascent.reward, x)
            rewards = values.detach().double().cpu().numpy()
        else:
            rewards = score(ascent.reward, x).values
            if ascent.estimator == "hybrid 1":
                h = _slope_at_sample(ascent, x.detach(), rewards, rng)
            else:
                h = _slope_of_samples(ascent, whole, z, x.detach(), rewards, rng)
                extra = k * ascent.perturbations * s
            length = h.flatten(1).norm(dim=1).view(-1, *(1,) * (h.ndim - 1))
            values = (h / (length + 1e-3) * x).flatten(1).sum(1)
        (gradient,) = torch.autograd.grad(values.sum(), z)
    seen = k * (1 if ascent.estimator == "gradient" else 1 + ascent.perturbations)
    return Slope(x.detach(), rewards, gradient, calls + extra, seen)


def _zeroth(
    ascent: Ascent, whole: torch.Tensor, z: torch.Tensor, rng: np.random.Generator
) -> Slope:
    k, q, s = len(whole), ascent.perturbations, ascent.grid.steps
    x = ascent.samples(_joined(whole, z.detach(), ascent.rows), gradient=False)
    rewards = score(ascent.reward, x).values
    xi, near = _neighbours(ascent, whole, z, rng)
    gain = _gain(ascent, near, rewards)
    shape = (k, q, *(1,) * (z.ndim - 1))
    gradient = (gain.to(z).view(shape) * xi).sum(1) / (q * ascent.mu)
    return Slope(x, rewards, gradient, k * (1 + q) * s, k * (1 + q))


def _slope_at_sample(
    ascent: Ascent, x: torch.Tensor, rewards: Float, rng: np.random.Generator
) -> torch.Tensor:
    k, q = len(x), ascent.perturbations
    xi = torch.from_numpy(rng.standard_normal((k, q, *x.shape[1:]))).to(x)
    gain = _gain(ascent, (x.unsqueeze(1) + ascent.mu * xi).flatten(0, 1), rewards)
    return (gain.to(x).view(k, q, *(1,) * (x.ndim - 1)) * xi).sum(1) / (q * ascent.mu)


def _slope_of_samples(
    ascent: Ascent,
    whole: torch.Tensor,
    z: torch.Tensor,
    x: torch.Tensor,
    rewards: Float,
    rng: np.random.Generator,
) -> torch.Tensor:
    k, q = len(x), ascent.perturbations
    _, near = _neighbours(ascent, whole, z, rng)
    gain = _gain(ascent, near, rewards)
    away = near.view(k, q, *x.shape[1:]) - x.unsqueeze(1)
    return (gain.to(x).view(k, q, *(1,) * (x.ndim - 1)) * away).sum(1)


def _neighbours(
    ascent: Ascent, whole: torch.Tensor, z: torch.Tensor, rng: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Directions xi (k, q, rows, *shape), and the samples of z + mu xi, (k q, ...)."""
    q = ascent.perturbations
    xi = torch.from_numpy(rng.standard_normal((len(z), q, *z.shape[1:]))).to(z)
    moved = (z.detach().unsqueeze(1) + ascent.mu * xi).flatten(0, 1)
    noises = _joined(whole.repeat_interleave(q, dim=0), moved, ascent.rows)
    return xi, ascent.samples(noises, gradient=False)


def _gain(ascent: Ascent, near: torch.Tensor, rewards: Float) -> torch.Tensor:
    """Rewards of k q neighbours above those of their k centres, (k, q); 0 where not finite."""
    found = score(ascent.reward, near).values.reshape(len(rewards), -1)
    with np.errstate(invalid="ignore"):
        gain = found - rewards[:, None]
    return torch.from_numpy(np.where(np.isfinite(gain), gain, 0.0))


def _joined(whole: torch.Tensor, z: torch.Tensor, rows: slice) -> torch.Tensor:
    return torch.cat([whole[:, : rows.start], z, whole[:, rows.stop :]], dim=1)


@dataclass(frozen=True, eq=False)
class _Checkpointed:
    """A denoiser that recomputes instead of remembering, for the backward pass."""

    inner: Denoiser

    @property
    def shape(self) -> tuple[int, ...]:
        return self.inner.shape

    @property
    def dtype(self) -> torch.dtype:
        return self.inner.dtype

    def __call__(self, x: torch.Tensor, timestep: int, alpha_bar: float) -> Prediction:
        if not torch.is_grad_enabled():
            return self.inner(x, timestep, alpha_bar)
        eps, clean = torch.utils.checkpoint.checkpoint(
            self.inner, x, timestep, alpha_bar, use_reentrant=False
        )
        return Prediction(eps, clean)

    def decode(self, clean: torch.Tensor) -> torch.Tensor:
        return self.inner.decode(clean)
