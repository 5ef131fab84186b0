"""Every method through one door: what it draws, what that costs, and how to make costs equal.

base         independent samples of the model
best of n    the same, of which the best is shown
importance   the same, weighted by exp(lambda r)
guidance     samples pushed along the reward's gradient, without correction
steering     Feynman-Kac particles
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from models.checks import Float, check_choice
from models.diffusion.denoisers import Denoiser, MixtureDenoiser
from models.diffusion.noise import draw_noise, shared_generator
from models.diffusion.schedules import Grid
from models.steering.config import FKConfig
from models.steering.fk import FKState, run_fk
from models.steering.guidance import CALLS_PER_STEP
from models.steering.resampling import Index
from models.steering.scoring import Reward
from models.torchrun import device, torch

Method = Literal["base", "best of n", "importance", "guidance", "steering"]


@dataclass(frozen=True)
class Outcome:
    """What a method ends with.

    Attributes
    ----------
    method : str
    samples : (k, *shape)
    rewards, weights : float64 (k,), final rewards, and normalised weights of the samples
    roots : int64 (k,), starting slot of each
    log_z : float, estimate of log E exp(lambda r); NaN where the method has none
    network_calls, reward_calls : int, counted a particle
    notices : sentences for the visitor, each once
    """

    method: Method
    samples: torch.Tensor
    rewards: Float
    weights: Float
    roots: Index
    log_z: float
    network_calls: int
    reward_calls: int
    notices: tuple[str, ...]

    @property
    def best(self) -> int:
        """The particle with the highest reward."""
        return int(np.argmax(self.rewards))

    @property
    def mean_reward(self) -> float:
        """The weighted mean reward."""
        used = self.weights > 0  # a reward of -inf has weight 0
        return float(self.weights[used] @ self.rewards[used])

    @property
    def unique_share(self) -> float:
        """The share of starting points that still have a descendant."""
        return len(np.unique(self.roots)) / len(self.roots)


def run_method(
    method: Method,
    denoiser: Denoiser,
    grid: Grid,
    reward: Reward,
    config: FKConfig,
    k: int,
    *,
    seed: int,
    repeat: int = 0,
) -> Iterator[FKState]:
    """Run a method with k particles, yielding after every step.

    All methods share starting points and noises, slot by slot.

    Raises
    ------
    ValueError
        If an argument is out of range or the choices do not fit.
    """
    check_choice(method, Method, "method")
    plain = replace(config, potential="none", when="never", guidance=0.0, as_released="")
    if method == "guidance":
        plain = replace(plain, guidance=config.guidance or config.lam, corrected=False)
    noise = draw_noise(seed, k, grid.steps, denoiser.shape, repeat=repeat, dtype=denoiser.dtype)
    if not isinstance(denoiser, MixtureDenoiser):
        noise = noise.to(device())
    rng = shared_generator(seed, repeat, "resampling")
    return run_fk(denoiser, grid, noise, reward, config if method == "steering" else plain, rng)


def finish(method: Method, states: Iterator[FKState]) -> Outcome:
    """Run a method to its end and return what it ends with."""
    notices: dict[str, None] = {}
    for state in states:
        notices.update(dict.fromkeys(state.notices))
    return outcome(method, state, tuple(notices))


def outcome(method: Method, state: FKState, notices: tuple[str, ...] = ()) -> Outcome:
    """Return a method's outcome from its last state."""
    if state.rewards is None or not state.last:
        raise ValueError(f"Step {state.step} is not the last one: run the method to its end.")
    k = len(state.rewards)
    weighted = method in ("importance", "steering")
    log_weights = state.log_weights - state.log_weights.max()
    weights = np.exp(log_weights) if weighted else np.ones(k)
    rewards = state.rewards[state.parents]
    if state.resampled:
        # Rewards are reported before resampling, samples after it.
        weights = np.ones(k)
    return Outcome(
        method,
        state.particles,
        rewards,
        weights / weights.sum(),
        state.roots,
        state.log_z if weighted else float("nan"),
        state.network_calls,
        state.reward_calls,
        notices,
    )


def equal_cost(method: Method, k: int, grid: Grid) -> int:
    """Return the particles that cost a method as many network calls as k plain samples.

    Raises
    ------
    ValueError
        If not even one particle fits, or guidance has no step to guide.
    """
    if method != "guidance":
        return k
    noisy = sum(1 for sigma in grid.sigma if sigma)
    if not noisy:
        raise ValueError(
            "With η = 0 no step adds noise, and only steps that do are guided: choose η above 0."
        )
    each = noisy * CALLS_PER_STEP + grid.steps - noisy
    if (n := k * grid.steps // each) < 1:
        raise ValueError(
            f"k is {k}, but guidance needs {each} network calls for one sample: use at least "
            f"{-(-each // grid.steps)}."
        )
    return n
