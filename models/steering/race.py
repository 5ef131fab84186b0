"""All methods on the plane from the same noises: rewards, costs, distance from the truth."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from models.checks import Float
from models.diffusion.schedules import Grid
from models.steering.config import FKConfig
from models.steering.distances import spearman
from models.steering.fk import FKState
from models.steering.methods import Method, Outcome, equal_cost, finish, outcome, run_method
from models.steering.playground import Playground
from models.steering.resampling import Index

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


class Way(NamedTuple):
    """A weighed step: the rewards there (k,) of the ancestors of the particles of the end.

    ``rho`` is Spearman's rank correlation with the rewards of the end.
    """

    step: int
    rewards: Float
    rho: float


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

    def origin(self, step: int) -> Index:
        """Which particle of a step, before its resampling, each of the end descends from, (k,)."""
        chain: Index = np.arange(self.k)
        for state in reversed(self.states[step:-1]):
            chain = state.parents[chain]
        return chain

    @cached_property
    def ways(self) -> tuple[Way, ...]:
        """The weighed steps before the end, looked back at from there."""
        last = self.states[-1].rewards
        assert last is not None
        return tuple(
            Way(state.step, rewards, spearman(rewards, last))
            for state in self.states[:-1]
            if state.rewards is not None
            for rewards in [state.rewards[self.origin(state.step)]]
        )


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
        NONE if single else place.mmd2(end.samples, end.weights),
        NONE if single else place.share_gap(end.samples, end.weights),
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


DUEL: tuple[Method, Method] = ("steering", "importance")


def duel(
    place: Playground, grid: Grid, config: FKConfig, k: int, seed: int, repeat: int = 0
) -> dict[Method, Outcome]:
    """Run steering and weighted plain samples with k particles each, from the same noises."""

    def run(method: Method) -> Outcome:
        states = run_method(
            method, place.denoiser, grid, place.reward, config, k, seed=seed, repeat=repeat
        )
        return finish(method, states)

    return {method: run(method) for method in DUEL}


def climb(
    place: Playground, grid: Grid, config: FKConfig, sizes: tuple[int, ...], seed: int, repeat: int
) -> Ladder:
    """Return one repeat: steering and the model itself with each number of particles."""
    duels = [duel(place, grid, config, k, seed, repeat) for k in sizes]

    def table(measure: Callable[[Outcome], float], method: Method) -> Float:
        return np.array([[measure(ends[method]) for ends in duels]])

    def best(end: Outcome) -> float:
        return float(end.rewards.max())

    def far(end: Outcome) -> float:
        return place.mmd2(end.samples, end.weights)

    def gap(end: Outcome) -> float:
        return place.share_gap(end.samples, end.weights)

    return Ladder(
        sizes,
        {"steering": table(best, "steering"), "best of n": table(best, "importance")},
        {method: table(far, method) for method in DUEL},
        {method: table(gap, method) for method in DUEL},
    )


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
