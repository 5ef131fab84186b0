"""Digit pictures as a method leaves them: weights, ancestors, the judge, the nearest real digit."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from models.checks import Float
from models.diffusion.denoisers import Denoiser
from models.diffusion.schedules import Grid
from models.steering.config import FKConfig
from models.steering.digits import load
from models.steering.fk import FKState
from models.steering.image_rewards import judged, nearest
from models.steering.methods import Method, equal_cost, finish, outcome, run_method
from models.steering.resampling import Index, normalise
from models.steering.scoring import Reward
from models.torchrun import torch


@dataclass(frozen=True)
class Gallery:
    """A method's pictures, finished or as far as they were when it was stopped.

    Attributes
    ----------
    method : str
    step, steps : int, done and in all
    images : float32 (k, 1, 8, 8) in [-1, 1], the denoised estimates until the end
    weights : float64 (k,), normalised
    roots : int64 (k,), starting slot of each
    rewards : float64 (k,), or None before the end
    judge : float64 (k,), the judge's probability of the wanted digit, or of its likeliest one
    nearest : float64 (k,), distance to the nearest training picture
    network_calls, reward_calls : int
    notices : sentences for the visitor
    """

    method: Method
    step: int
    steps: int
    images: torch.Tensor
    weights: Float
    roots: Index
    rewards: Float | None
    judge: Float
    nearest: Float
    network_calls: int
    reward_calls: int
    notices: tuple[str, ...]


def galleries(
    denoiser: Denoiser,
    grid: Grid,
    reward: Reward,
    config: FKConfig,
    k: int,
    methods: tuple[Method, ...],
    *,
    seed: int,
    digit: int | None = None,
    every: int = 2,
) -> Generator[dict[Method, Gallery], None, None]:
    """Yield all methods' pictures so far, after every ``every``-th step of each.

    Parameters
    ----------
    methods : run one after the other, from the same noises, at equal network calls
    digit : the wanted one, which the judge is asked for; None: its likeliest

    Raises
    ------
    ValueError
        If the choices do not fit each other or no particle has a reward.
    """
    done: dict[Method, Gallery] = {}
    for method in methods:
        n = equal_cost(method, k, grid)
        notices: dict[str, None] = {}
        for state in run_method(method, denoiser, grid, reward, config, n, seed=seed):
            notices.update(dict.fromkeys(state.notices))
            if state.last or state.step % every == 0:
                done[method] = _gallery(method, state, grid.steps, digit, tuple(notices))
                yield dict(done)


def _gallery(
    method: Method, state: FKState, steps: int, digit: int | None, notices: tuple[str, ...]
) -> Gallery:
    if state.last:
        end = outcome(method, state)
        images, weights, rewards = end.samples, end.weights, end.rewards
    else:
        images, rewards = state.clean[torch.from_numpy(state.parents)], None
        weights = normalise(state.log_weights)
    seen = images.detach().float().cpu().clamp(-1, 1)
    return Gallery(
        method,
        state.step + 1,
        steps,
        seen,
        weights,
        state.roots,
        rewards,
        np.asarray(judged(seen, digit).exp().double().numpy(), dtype=np.float64),
        distance(seen),
        state.network_calls,
        state.reward_calls,
        notices,
    )


def distance(images: torch.Tensor) -> Float:
    """Return the distance of pictures (k, 1, 8, 8) to the nearest training picture, (k,)."""
    seen = images.detach().float().cpu().clamp(-1, 1)
    return np.asarray(nearest(seen, load().train.images).double().numpy(), dtype=np.float64)


def usual_distance() -> float:
    """Median distance of a real digit that no network saw to the nearest training picture."""
    return float(np.median(distance(load().held_out.images)))


def best_by_size(
    denoiser: Denoiser,
    grid: Grid,
    reward: Reward,
    config: FKConfig,
    sizes: tuple[int, ...],
    repeats: int,
    seed: int,
) -> Generator[dict[Method, Float], None, None]:
    """Yield the highest rewards so far, (R, B) by method, of steering and of best of n."""
    pair: tuple[Method, Method] = ("steering", "best of n")
    rows: dict[Method, list[list[float]]] = {method: [] for method in pair}
    for repeat in range(repeats):
        for method in pair:
            best = []
            for k in sizes:
                states = run_method(
                    method, denoiser, grid, reward, config, k, seed=seed, repeat=repeat
                )
                best.append(float(finish(method, states).rewards.max()))
            rows[method].append(best)
        yield {method: np.array(values) for method, values in rows.items()}


def tiled(images: torch.Tensor, columns: int, scale: int, gap: int, paper: int) -> Index:
    """Lay pictures (k, 1, h, w) in [-1, 1] out as one grey image (H, W) of 0 to 255, ink dark."""
    grey = ((1 - images[:, 0].clamp(-1, 1)) * 127.5).round().long().numpy()
    large = grey.repeat(scale, axis=1).repeat(scale, axis=2)
    k, h, w = large.shape
    rows = -(-k // columns)
    wide = min(k, columns)
    sheet = np.full((rows * (h + gap) - gap, wide * (w + gap) - gap), paper, dtype=np.int64)
    for i, picture in enumerate(large):
        top, left = i // columns * (h + gap), i % columns * (w + gap)
        sheet[top : top + h, left : left + w] = picture
    return sheet
