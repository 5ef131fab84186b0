"""Feynman-Kac steering: particles that are weighed and resampled as they are denoised.

Particle j of k carries a log weight l_j. After the scheduled steps its intermediate reward r gives
a potential (:mod:`models.steering.potentials`) whose logarithm is added to l_j; when the particles
are resampled, everything a particle carries is copied along and l_j returns to 0; otherwise the
weight is kept. After the last step the weighted particles estimate the target
p(x_0) exp(lambda r(x_0)) / Z, and the product of the mean weights estimates Z without bias.

References
----------
R. Singhal et al., "A General Framework for Inference-time Scaling and Steering of Diffusion
Models", ICML 2025, Algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from models.checks import Float
from models.diffusion.denoisers import Denoiser
from models.diffusion.sampling import Step, check_noise, take_step
from models.diffusion.schedules import Grid
from models.steering.config import FKConfig
from models.steering.guidance import CALLS_PER_STEP, guided_step
from models.steering.intermediate import step_rewards
from models.steering.potentials import Lineages, start
from models.steering.released import ReleasedWeights, start_released
from models.steering.resampling import Index, effective_size, log_mean, normalise, resample
from models.steering.scoring import Reward
from models.torchrun import torch

_LEAST = 1e-12  # relative; an effective size that equals the threshold up to rounding is kept
_COPIES = "With η = 0 no step adds noise: copies of a particle stay identical."


@dataclass(frozen=True)
class FKState:
    """The particles after one step.

    Attributes
    ----------
    step : int, from 0; ``last`` says whether it is the final one
    particles : (k, *shape), after resampling where there was any
    clean : (k, *shape), the clean points seen in this step, before resampling
    rewards : float64 (k,), of this step and before resampling; None where it was not scheduled
    weights : float64 (k,), normalised, before resampling
    log_weights : float64 (k,), carried on after this step
    effective : float, effective sample size of ``weights``
    resampled : bool
    parents : int64 (k,), the particle of the step before that each came from
    roots : int64 (k,), the starting slot that each descends from
    accumulated : float64 (k,), sum of each lineage's log potentials
    log_z : float, estimate of log E exp(lambda r) with the steps so far; NaN as released
    network_calls, reward_calls : int, spent so far, counted a particle
    notices : sentences for the visitor
    """

    step: int
    last: bool
    particles: torch.Tensor
    clean: torch.Tensor
    rewards: Float | None
    weights: Float
    log_weights: Float
    effective: float
    resampled: bool
    parents: Index
    roots: Index
    accumulated: Float
    log_z: float
    network_calls: int
    reward_calls: int
    notices: tuple[str, ...]

    @property
    def unique_roots(self) -> int:
        """The number of starting points that still have a descendant."""
        return len(np.unique(self.roots))


def run_fk(
    denoiser: Denoiser,
    grid: Grid,
    noise: torch.Tensor,
    reward: Reward,
    config: FKConfig,
    rng: np.random.Generator,
) -> Iterator[FKState]:
    """Steer k particles, yielding after every step; stop by leaving the loop.

    Parameters
    ----------
    denoiser, grid : the model and the steps taken through it
    noise : (k, S + 1, *shape), from :func:`models.diffusion.noise.draw_noise`
    reward : of decoded particles, see :mod:`models.steering.scoring`
    config : all choices
    rng : for resampling, and for intermediate rewards that draw

    Raises
    ------
    ValueError
        If the configuration does not fit the model, the grid or the reward.
    """
    check_noise(denoiser, grid, noise)
    config.check(grid, denoiser, reward)
    return _states(_Cloud(denoiser, grid, noise, reward, config, rng))


def _states(cloud: _Cloud) -> Iterator[FKState]:
    scheduled = cloud.config.scheduled(cloud.grid.steps)
    if cloud.config.potential == "none" and not cloud.config.as_released:
        scheduled = frozenset()
    for i in range(cloud.grid.steps):
        last = i == cloud.grid.steps - 1
        step = cloud.propose(i)
        due = last or i in scheduled
        rewards = cloud.weigh(step) if due else None
        weights, effective = cloud.weights, cloud.effective
        parents = cloud.select(last) if due else None
        yield FKState(
            i,
            last,
            cloud.x,
            step.clean,
            rewards,
            weights,
            cloud.log_weights,
            effective,
            parents is not None,
            np.arange(cloud.k) if parents is None else parents,
            cloud.roots,
            cloud.lineages.accumulated,
            cloud.log_z + cloud.log_mean if cloud.released is None else math.nan,
            cloud.network_calls,
            cloud.reward_calls,
            cloud.take_notices(),
        )


class _Cloud:
    """The particles of a run and all that belongs to them, on their way."""

    def __init__(
        self,
        denoiser: Denoiser,
        grid: Grid,
        noise: torch.Tensor,
        reward: Reward,
        config: FKConfig,
        rng: np.random.Generator,
    ) -> None:
        self.denoiser, self.grid, self.noise = denoiser, grid, noise
        self.reward, self.config, self.rng = reward, config, rng
        self.k = k = len(noise)
        self.x = noise[:, 0]
        self.roots: Index = np.arange(k)
        self.lineages: Lineages = start(config.potential, k)
        self.released: ReleasedWeights | None = None
        if variant := config.as_released:
            self.released = start_released(
                variant, config.potential, config.lam, k, adaptive=config.when == "adaptive"
            )
        self.log_z, self.network_calls, self.reward_calls = 0.0, 0, 0
        self._forced = False
        self._notices: list[str] = []
        if grid.eta == 0 and config.resamples:
            self._notices.append(_COPIES)
        self._set(np.zeros(k))

    def _set(self, log_weights: Float) -> None:
        self.log_weights = log_weights
        self.weights = normalise(log_weights)
        self.effective = effective_size(self.weights)
        self.log_mean = log_mean(log_weights)

    def take_notices(self) -> tuple[str, ...]:
        """Return the notices since the last call."""
        notices, self._notices = tuple(self._notices), []
        return notices

    def propose(self, i: int) -> Step:
        """Move all particles by one step."""
        config, grid, noise = self.config, self.grid, self.noise[:, i + 1]
        if not config.guidance:
            with torch.no_grad():
                step = take_step(self.denoiser, grid, i, self.x, noise)
            self.network_calls += self.k
        else:
            step, ratio = guided_step(
                self.denoiser, grid, i, self.x, noise, self.reward, config.guidance, config.bound
            )
            guided = grid.sigma[i] > 0
            self.network_calls += self.k * (CALLS_PER_STEP if guided else 1)
            self.reward_calls += self.k * guided
            if config.corrected:
                self._set(self.log_weights + ratio)
        self.x = step.after
        return step

    def weigh(self, step: Step) -> Float:
        """Weigh the particles by their rewards, which are returned, shape (k,)."""
        last = step.i == self.grid.steps - 1
        seen = step_rewards(self.denoiser, self.grid, step, self.reward, self.config, self.rng)
        self.network_calls += seen.network_calls
        self.reward_calls += seen.reward_calls
        if seen.invalid:
            self._notices.append(
                f"At step {step.i} the reward of {seen.invalid} of {self.k} particles was no "
                "number: their weight is 0."
            )
        if self.released is None:
            log_g, self.lineages = self.lineages.weigh(seen.scaled, terminal=last)
            log_weights = self.log_weights + log_g
            _check_alive(log_weights, step.i)
            self._set(log_weights)
        else:
            weights, self.released = self.released.weigh(seen.rewards, terminal=last)
            self._forced = weights is not None
            self._set(np.zeros(self.k) if weights is None else _log(weights))
        return seen.rewards

    def select(self, last: bool) -> Index | None:
        """Resample if the policy says so; returns the parents (k,), or None."""
        config = self.config
        if self.released is not None:
            wanted = self._forced
        elif last and not config.at_end:
            wanted = False
        else:
            low = self.effective < config.threshold * self.k * (1 - _LEAST)
            wanted = config.when == "always" or (config.when == "adaptive" and low)
        if not wanted:
            return None
        parents = resample(self.weights, config.resampler, self.rng)
        self.x, self.roots = self.x[parents], self.roots[parents]
        self.lineages = self.lineages.follow(parents)
        self.released = self.released.follow(parents) if self.released else None
        self.log_z += self.log_mean
        self._set(np.zeros(self.k))
        return parents


def _log(weights: Float) -> Float:
    if not weights.any():
        raise ValueError(
            "Every weight of the released code is 0, which it cannot resample from: use a smaller "
            "lambda or the exact weights."
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights), dtype=np.float64)


def _check_alive(log_weights: Float, i: int) -> None:
    if np.isneginf(log_weights).all():
        raise ValueError(
            f"After step {i} no particle has a weight above 0, as each had a reward that is no "
            "number at some step: use more particles, or a reward that is always a number."
        )
