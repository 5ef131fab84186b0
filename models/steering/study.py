"""One trial of each comparison that the claims are measured by; every trial is paired.

Methods within a trial share starting points and noises, so that their difference is due to the
method. Sizes are those of the page's defaults: 50 sampling steps, eta = 1, intermediate rewards
after steps 9, 19, 29 and 39.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from models.checks import Float
from models.diffusion.denoisers import Denoiser, unet_denoiser
from models.diffusion.mixtures import Mixture, make_mixture
from models.diffusion.noise import draw_noise, shared_generator
from models.diffusion.schedules import make_grid
from models.steering.ascent import Estimator
from models.steering.config import SPARSE, FKConfig
from models.steering.digits import NO_CLASS, load_unet
from models.steering.distances import diversity, spearman
from models.steering.dno import DNOConfig, DNOState, run_dno
from models.steering.image_rewards import RewardName, image_reward
from models.steering.methods import Method, Outcome, finish, run_method
from models.steering.playground import Playground, default_mixture, plane_reward
from models.steering.potentials import Potential
from models.steering.race import duel
from models.steering.scoring import Reward

FIRST, FINAL, EVERY = SPARSE


def steered(lam: float, potential: Potential = "difference") -> FKConfig:
    """Return the page's default choices at a strength and with a potential."""
    return FKConfig(lam=lam, potential=potential, first=FIRST, final=FINAL, every=EVERY)


def _finish(
    denoiser: Denoiser, reward: Reward, method: Method, config: FKConfig, k: int, seed: int
) -> Outcome:
    grid = make_grid(steps=50)
    return finish(method, run_method(method, denoiser, grid, reward, config, k, seed=seed))


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


@lru_cache(maxsize=8)
def playground(lam: float, share: float = 0.20) -> Playground:
    """Return the plane with its linear reward; the group it favours has the given share."""
    mixture = default_mixture()
    rest = mixture.weights[:2] / mixture.weights[:2].sum() * (1 - share)
    moved: Mixture = make_mixture([*rest.tolist(), share], mixture.means, mixture.covariances)
    return Playground(plane_reward("linear", moved), lam, moved)


def plane_race(rng: np.random.Generator, k: int, lam: float, share: float) -> Float:
    """Best rewards of steering and of best of n with k particles each."""
    place, seed = playground(lam, share), _seed(rng)
    pair: tuple[Method, Method] = ("steering", "best of n")
    ends = [_finish(place.denoiser, place.reward, m, steered(lam), k, seed) for m in pair]
    return np.array([end.rewards.max() for end in ends])


def plane_rarity(rng: np.random.Generator, k: int, lam: float, rare: float, common: float) -> Float:
    """Gap of steering over best of n where the favoured group is rare, and where it is common."""
    gaps = [-np.diff(plane_race(rng, k, lam, share))[0] for share in (rare, common)]
    return np.array(gaps)


def plane_sizes(rng: np.random.Generator, sizes: tuple[int, ...], lam: float) -> Float:
    """Best reward of steering for each number of particles."""
    place, seed = playground(lam), _seed(rng)
    run = [_finish(place.denoiser, place.reward, "steering", steered(lam), k, seed) for k in sizes]
    return np.array([end.rewards.max() for end in run])


def plane_potentials(rng: np.random.Generator, k: int, lam: float) -> Float:
    """Best reward, distance between particles and share of ancestors, of max, then difference."""
    place, seed = playground(lam), _seed(rng)
    found: list[float] = []
    for potential in ("max", "difference"):
        config = replace(steered(lam, potential), when="always")
        end = _finish(place.denoiser, place.reward, "steering", config, k, seed)
        found += [float(end.rewards.max()), diversity(end.samples), end.unique_share]
    return np.array(found)


def plane_strengths(rng: np.random.Generator, k: int, strengths: tuple[float, ...]) -> Float:
    """Mean distance between steered particles at each strength."""
    seed, found = _seed(rng), []
    for lam in strengths:
        place = playground(lam)
        end = _finish(place.denoiser, place.reward, "steering", steered(lam), k, seed)
        found.append(diversity(end.samples))
    return np.array(found)


def plane_correlations(rng: np.random.Generator, k: int) -> Float:
    """Rank correlation of intermediate and final rewards after steps 9, 19, 29 and 39."""
    place, seed = playground(1.0), _seed(rng)
    config = replace(steered(1.0), when="never")
    states = list(
        run_method(
            "steering", place.denoiser, make_grid(steps=50), place.reward, config, k, seed=seed
        )
    )
    rewards = [state.rewards for state in states if state.rewards is not None]
    return np.array([spearman(r, rewards[-1]) for r in rewards[:-1]])


def plane_truth(rng: np.random.Generator, k: int, lam: float) -> Float:
    """Squared distance (MMD) from the exact target, of steering and of importance sampling."""
    place, seed = playground(lam), _seed(rng)
    ends = duel(place, make_grid(steps=50), steered(lam), k, seed)
    return np.array([place.mmd2(end.samples, end.weights) for end in ends.values()])


@lru_cache(maxsize=1)
def digit_denoiser() -> Denoiser:
    """Return the shipped network, drawing digits of any class."""
    return unet_denoiser(load_unet(), NO_CLASS)


def digit_race(rng: np.random.Generator, k: int, lam: float, digit: int) -> Float:
    """Best log probability of a digit: steering, best of n, and one plain sample."""
    seed, reward = _seed(rng), image_reward("digit", digit=digit)
    pair: tuple[Method, Method] = ("steering", "best of n")
    ends = [_finish(digit_denoiser(), reward, m, steered(lam), k, seed) for m in pair]
    return np.array([*(end.rewards.max() for end in ends), ends[1].rewards[0]])


def digit_unsmooth(rng: np.random.Generator, name: RewardName, k: int, lam: float) -> Float:
    """Mean of a reward that has no gradient: steering, and the model itself."""
    seed, reward = _seed(rng), image_reward(name)
    pair: tuple[Method, Method] = ("steering", "base")
    ends = [_finish(digit_denoiser(), reward, m, steered(lam), k, seed) for m in pair]
    return np.array([end.mean_reward for end in ends])


def _optimised(
    seed: int, k: int, config: DNOConfig, eta: float = 1.0
) -> tuple[DNOState, Playground]:
    place, grid = playground(1.0), make_grid(steps=50, eta=eta)
    noise = draw_noise(seed, k, grid.steps, place.denoiser.shape)
    rng = shared_generator(seed, 0, "optimiser")
    *_, end = run_dno(place.denoiser, grid, noise, place.reward, config, rng)
    return end, place


# As in the playground: Adam without clipping, and few random orders, which n = 102 numbers allow.
PLANE_DNO = DNOConfig(optimiser="adam", clip=None, orders=10, checkpoint=False)


def dno_against_best(rng: np.random.Generator, k: int, steps: int, gamma: float) -> Float:
    """Mean reward of optimised samples, and of the best of n each at equal network calls."""
    seed = _seed(rng)
    end, place = _optimised(seed, k, replace(PLANE_DNO, steps=steps, gamma=gamma))
    n = end.network_calls // (k * 50)
    best = _finish(place.denoiser, place.reward, "best of n", steered(1.0), k * n, seed)
    return np.array([end.rewards.mean(), best.rewards.reshape(k, n).max(axis=1).mean()])


def dno_noises(rng: np.random.Generator, k: int, steps: int) -> Float:
    """Mean reward after the same optimiser steps on all noises (eta = 1), and on x_T (eta = 0)."""
    seed, config = _seed(rng), replace(PLANE_DNO, steps=steps, gamma=0.0)
    return np.array([_optimised(seed, k, config, eta)[0].rewards.mean() for eta in (1.0, 0.0)])


def dno_regularised(rng: np.random.Generator, k: int, steps: int) -> Float:
    """Mean reward, log p(x) and P(z) without regularisation, then the same with it."""
    seed, found = _seed(rng), []
    for gamma in (0.0, 1.0):
        end, place = _optimised(seed, k, replace(PLANE_DNO, steps=steps, gamma=gamma))
        log_p = place.mixture.log_density(end.samples).numpy()
        found += [end.rewards.mean(), log_p.mean(), np.exp(end.log_indicator).mean()]
    return np.array(found)


def dno_estimators(rng: np.random.Generator, k: int, calls: int) -> Float:
    """Mean reward of hybrid 2, hybrid 1 and the zeroth-order estimate at equal network calls.

    ``calls`` counts passes of the sampler for each sample; four perturbations each.
    """
    seed, found = _seed(rng), []
    costs: dict[Estimator, int] = {"hybrid 2": 7, "hybrid 1": 3, "zeroth": 5}
    for estimator, passes in costs.items():
        config = replace(PLANE_DNO, estimator=estimator, steps=calls // passes, gamma=0.0)
        found.append(_optimised(seed, k, config)[0].rewards.mean())
    return np.array(found)
