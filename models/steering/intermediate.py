"""The reward of a particle that is still noisy, and of one that is finished.

    denoised   r(x_0_hat(x_t)), the clean point that the step itself saw: no further network call
    next       r(x_0_hat(x_{t-1})), of the point that the step led to: one call more
    many       log mean exp r(x_0) over draws of x_0 given x_t
    exact      log V_t(x_{t-1}) / lambda, for the exact potential

References
----------
R. Singhal et al., "A General Framework for Inference-time Scaling and Steering of Diffusion
Models", ICML 2025, Section 3.
"""

from __future__ import annotations

import math
from typing import NamedTuple, cast

import numpy as np
from scipy.special import logsumexp

from models.checks import Float
from models.diffusion.denoisers import Denoiser, MixtureDenoiser
from models.diffusion.sampling import Step
from models.diffusion.schedules import Grid
from models.diffusion.tilts import Solvable, log_value
from models.steering.config import FKConfig
from models.steering.scoring import Reward, Scores, score
from models.torchrun import torch


class StepRewards(NamedTuple):
    """What a step's particles are worth.

    Attributes
    ----------
    scaled, rewards : float64 (k,), s = lambda r, and r; -inf where the reward was no number
    network_calls, reward_calls : int, spent on it, counted a particle
    invalid : int, rewards that were no number
    """

    scaled: Float
    rewards: Float
    network_calls: int
    reward_calls: int
    invalid: int


def step_rewards(
    denoiser: Denoiser,
    grid: Grid,
    step: Step,
    reward: Reward,
    config: FKConfig,
    rng: np.random.Generator,
) -> StepRewards:
    """Return the rewards after a step; after the last one, those of the finished samples."""
    k, lam = len(step.after), config.lam
    if step.i == grid.steps - 1:
        return _known(lam, score(reward, denoiser.decode(step.after)), 0, k)
    after = grid.alpha_bar_prev[step.i]
    if config.potential == "exact":  # FKConfig.check has seen to model and reward
        noised, known = cast(MixtureDenoiser, denoiser).at(after), cast(Solvable, reward)
        scaled = log_value(noised, known, step.after, lam).numpy()
        return StepRewards(scaled, scaled / lam if lam else np.zeros(k), 0, 0, 0)
    if config.intermediate == "many":
        noised = cast(MixtureDenoiser, denoiser).at(grid.alpha_bar[step.i])
        draws = noised.sample_clean(step.before, config.samples, rng).flatten(0, 1)
        found = score(reward, draws)
        means = logsumexp(found.values.reshape(k, -1), axis=1) - math.log(config.samples)
        return _known(lam, Scores(np.asarray(means), found.invalid), 0, k * config.samples)
    if config.intermediate == "next":
        with torch.no_grad():
            clean = denoiser(step.after, grid.timesteps[step.i + 1], after).clean
        return _known(lam, score(reward, denoiser.decode(clean)), k, k)
    return _known(lam, score(reward, denoiser.decode(step.clean)), 0, k)


def _known(lam: float, found: Scores, network_calls: int, reward_calls: int) -> StepRewards:
    # 0 times -inf is no number, but a particle without a reward stays out even at lambda = 0.
    out = np.isneginf(found.values)
    scaled = np.where(out, -np.inf, lam * np.where(out, 0.0, found.values))
    return StepRewards(scaled, found.values, network_calls, reward_calls, found.invalid)
