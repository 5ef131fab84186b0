"""All methods on the plane from the same noises: rewards, costs, distance from the truth."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from models.checks import Float
from models.diffusion.schedules import Grid
from models.steering.config import FKConfig
from models.steering.distances import mmd2
from models.steering.fk import FKState
from models.steering.methods import Method, Outcome, equal_cost, outcome, run_method
from models.steering.playground import Playground
from models.torchrun import torch

NONE = float("nan")


@dataclass(frozen=True)
class Row:
    """One method's line in the comparison; NaN where a method has no such figure.

    Attributes
    ----------
    method : str
    particles : int
    best, mean, error : highest reward, weighted mean reward and its standard error
    network_calls, reward_calls : int, over all particles
    seconds : float, of this run here
    mmd2 : squared distance of the weighted particles from exact draws of the target
    share_gap : half the sum of differences between component shares and the target's, in [0, 1]
    unique : int, starting points that still have a descendant
    """

    method: Method
    particles: int
    best: float
    mean: float
    error: float
    network_calls: int
    reward_calls: int
    seconds: float
    mmd2: float
    share_gap: float
    unique: int


@dataclass(frozen=True, eq=False)
class Race:
    """A comparison on the plane.

    Attributes
    ----------
    place, grid, config, k, seed : what was run
    states : of the steered particles, one a step
    plain : of the model itself, one a step
    outcomes : by method
    rows : one a method, in the order of ``outcomes``
    refusals : why a method could not run, by method
    notices : sentences of the steered run
    """

    place: Playground
    grid: Grid
    config: FKConfig
    k: int
    seed: int
    states: tuple[FKState, ...]
    plain: tuple[FKState, ...]
    outcomes: dict[Method, Outcome]
    rows: tuple[Row, ...]
    refusals: dict[Method, str]
    notices: tuple[str, ...]

    def row(self, method: Method) -> Row:
        """Return a method's row."""
        return next(row for row in self.rows if row.method == method)


def race(place: Playground, grid: Grid, config: FKConfig, k: int, seed: int) -> Race:
    """Run every method once, with the number of particles that costs as many network calls.

    The model itself, the best of its samples, and its samples weighted by exp(lambda r) are one
    run looked at in three ways.

    Raises
    ------
    ValueError
        If the choices do not fit each other.
    """

    def run(method: Method, n: int) -> tuple[tuple[FKState, ...], float]:
        start = time.perf_counter()
        states = run_method(method, place.denoiser, grid, place.reward, config, n, seed=seed)
        return tuple(states), time.perf_counter() - start

    steered, seconds = run("steering", k)
    plain, plain_seconds = run("base", k)
    outcomes: dict[Method, Outcome] = {"steering": outcome("steering", steered[-1])}
    times: dict[Method, float] = {"steering": seconds}
    looks: tuple[Method, ...] = ("importance", "best of n", "base")
    for method in looks:
        outcomes[method], times[method] = outcome(method, plain[-1]), plain_seconds
    refusals: dict[Method, str] = {}
    try:
        pushed, times["guidance"] = run("guidance", equal_cost("guidance", k, grid))
    except ValueError as error:
        refusals["guidance"] = str(error)
    else:
        outcomes["guidance"] = outcome("guidance", pushed[-1])
    notices = dict.fromkeys(notice for state in steered for notice in state.notices)
    rows = tuple(_row(place, end, times[method]) for method, end in outcomes.items())
    return Race(
        place, grid, config, k, seed, steered, plain, outcomes, rows, refusals, tuple(notices)
    )


def share_gap(place: Playground, samples: torch.Tensor, weights: Float) -> float:
    """Half the sum of differences between the particles' component shares and the target's."""
    found = place.mixture.component_shares(samples, torch.from_numpy(weights))
    return float((found - place.shares).abs().sum()) / 2


def _row(place: Playground, end: Outcome, seconds: float) -> Row:
    used = end.weights > 0
    mean = end.mean_reward
    error = float(np.sqrt(np.square(end.weights[used] * (end.rewards[used] - mean)).sum()))
    single = end.method == "best of n"  # one sample is shown, which has no spread
    return Row(
        end.method,
        len(end.rewards),
        NONE if end.method == "base" else float(end.rewards.max()),
        NONE if single else mean,
        NONE if single or len(end.rewards) < 2 else error,
        end.network_calls,
        end.reward_calls,
        seconds,
        NONE if single else mmd2(end.samples, end.weights, place.truth),
        NONE if single else share_gap(place, end.samples, end.weights),
        len(np.unique(end.roots)),
    )


@dataclass(frozen=True)
class Ladder:
    """Repeated races for several numbers of particles.

    Attributes
    ----------
    sizes : numbers of particles, (B,)
    best : by method, (R, B), highest rewards of "steering" and "best of n"
    mmd2, share_gap : by method, (R, B), of "steering" and "importance"
    """

    sizes: tuple[int, ...]
    best: dict[Method, Float]
    mmd2: dict[Method, Float]
    share_gap: dict[Method, Float]

    @property
    def repeats(self) -> int:
        """How many races there were of each size."""
        return len(self.best["steering"])


def climb(
    place: Playground, grid: Grid, config: FKConfig, sizes: tuple[int, ...], seed: int, repeat: int
) -> Ladder:
    """Return one repeat: steering and the model itself with each number of particles."""
    best: dict[Method, list[float]] = {"steering": [], "best of n": []}
    far: dict[Method, list[float]] = {"steering": [], "importance": []}
    gap: dict[Method, list[float]] = {"steering": [], "importance": []}
    for k in sizes:
        for method, single in (("steering", "steering"), ("importance", "best of n")):
            states = run_method(
                method,  # type: ignore[arg-type]
                place.denoiser,
                grid,
                place.reward,
                config,
                k,
                seed=seed,
                repeat=repeat,
            )
            *_, last = states
            end = outcome(method, last)  # type: ignore[arg-type]
            best[single].append(float(end.rewards.max()))  # type: ignore[index]
            far[method].append(mmd2(end.samples, end.weights, place.truth))  # type: ignore[index]
            gap[method].append(share_gap(place, end.samples, end.weights))  # type: ignore[index]
    return Ladder(sizes, _rows(best), _rows(far), _rows(gap))


def _rows(lists: dict[Method, list[float]]) -> dict[Method, Float]:
    return {name: np.array([values]) for name, values in lists.items()}


def together(first: Ladder, second: Ladder) -> Ladder:
    """Return the repeats of both."""

    def join(a: dict[Method, Float], b: dict[Method, Float]) -> dict[Method, Float]:
        return {name: np.concatenate([a[name], b[name]]) for name in a}

    return Ladder(
        first.sizes,
        join(first.best, second.best),
        join(first.mmd2, second.mmd2),
        join(first.share_gap, second.share_gap),
    )
