"""Steering beside plain sampling of the same particles, and resampling beside PyPI's particles."""

from __future__ import annotations

import time

import numpy as np
from particles import resampling as peer
from table import Row, in_turns, seconds

from models.diffusion.denoisers import Denoiser
from models.diffusion.schedules import make_grid
from models.steering.image_rewards import image_reward
from models.steering.methods import Method, run_method
from models.steering.playground import Playground, default_mixture, plane_reward
from models.steering.resampling import resample
from models.steering.scoring import Reward
from models.steering.study import digit_denoiser, steered

PARTICLES = 100_000


def rows() -> list[Row]:
    """FK's overhead, frames while sampling, and systematic resampling."""
    place = Playground(plane_reward("linear", default_mixture()), 3.0)
    return [
        _overhead("plane", place.denoiser, place.reward, 64, 20),
        _overhead("digits", digit_denoiser(), image_reward("ink"), 16, 5),
        _frames(),
        _resampling(),
    ]


def _overhead(name: str, denoiser: Denoiser, reward: Reward, k: int, repeats: int) -> Row:
    grid = make_grid(steps=50)
    spent = [0.0]

    def timed(x: object) -> object:
        start = time.perf_counter()
        values = reward(x)  # type: ignore[arg-type]
        spent[0] += time.perf_counter() - start
        return values

    def once(method: Method) -> float:
        spent[0] = 0.0
        start = time.perf_counter()
        for _ in run_method(method, denoiser, grid, timed, steered(3.0), k, seed=0):
            pass
        return time.perf_counter() - start - spent[0]

    once("steering"), once("base")
    pairs = np.array([(once("steering"), once("base")) for _ in range(repeats)])
    ratio = float(np.median(pairs[:, 0] / pairs[:, 1]))
    return Row(
        f"FK steering, {name}, k = {k}, 50 steps, rewards left out",
        seconds(pairs[:, 0].tolist()),
        f"plain sampling {seconds(pairs[:, 1].tolist())}",
        f"{ratio:.2f}× its time (budget 1.10)",
    )


def _frames() -> Row:
    grid, reward = make_grid(steps=50), image_reward("ink")
    marks = [time.perf_counter()]
    for _ in run_method("steering", digit_denoiser(), grid, reward, steered(3.0), 16, seed=0):
        marks.append(time.perf_counter())
    gaps = np.diff(marks)
    return Row(
        "digits, k = 16, a state after each step",
        f"first after {gaps[0]:.3f} s",
        "budget: first < 1 s, then 4 a second",
        f"{len(gaps) / gaps.sum():.0f} states a second",
    )


def _resampling() -> Row:
    rng = np.random.default_rng(0)
    weights = rng.random(PARTICLES)
    weights /= weights.sum()
    peer.systematic(weights, PARTICLES)  # which compiles it
    pair = in_turns(
        lambda: resample(weights, "systematic", np.random.default_rng(1)),
        lambda: peer.systematic(weights, PARTICLES),
        7,
    )
    counts = [
        np.bincount(index, minlength=PARTICLES)
        for index in (
            resample(weights, "systematic", np.random.default_rng(1)),
            peer.systematic(weights, PARTICLES),
        )
    ]
    # Each copies a particle the whole number of times below or above its share.
    fair = all((np.abs(count - PARTICLES * weights) < 1 + 1e-9).all() for count in counts)
    return Row(
        f"systematic resampling, {PARTICLES:,} particles",
        seconds(pair.ours),
        f"particles 0.4 {seconds(pair.theirs)}",
        f"{np.median(np.divide(pair.theirs, pair.ours)):.2f}× its speed",
        fair,
    )
