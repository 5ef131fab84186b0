"""The steering page's results: settings in, cached results out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from models.checks import Float
from models.diffusion.fitting import fit_mixture
from models.diffusion.mixtures import Mixture
from models.diffusion.noise import draw_noise, shared_generator
from models.diffusion.schedules import make_grid
from models.steering.ascent import Estimator
from models.steering.distances import diversity, spearman
from models.steering.dno import run_dno
from models.steering.playground import Playground, default_mixture, plane_reward
from models.steering.race import Ladder, Race, climb, race, together
from models.steering.study import PLANE_DNO, steered
from pages.steering.settings import Settings
from pages.steering.yourdata import Upload

SIZES = (1, 2, 4, 8, 16, 32)
REPEATS = 30
DNO_SAMPLES = 16
DNO_STEPS = 60
DNO_EVERY = 2


def place(settings: Settings, upload: Upload | None) -> Playground | None:
    """Return the playground; None while a visitor's points are awaited."""
    if settings.source != "yours":
        mixture = default_mixture()
    elif upload is None:
        return None
    else:
        key = (upload.digest, settings.components)
        kept: tuple[Any, Mixture] | None = st.session_state.get("steering_own_mixture")
        if kept is None or kept[0] != key:
            kept = (key, fit_mixture(upload.points, settings.components, 0))
            st.session_state["steering_own_mixture"] = kept
        mixture = kept[1]
    return Playground(plane_reward(settings.reward, mixture), settings.lam, mixture)


def result(settings: Settings, upload: Upload | None) -> Race | None:
    """Return the race of the settings; None while a visitor's own points are awaited.

    Raises
    ------
    ValueError
        One sentence on why the settings or the data cannot be used.
    """
    if settings.source != "yours":
        return _shared(settings)
    own = place(settings, upload)
    return None if own is None else _run(settings, own)


@st.cache_resource(max_entries=32, show_spinner=False)
def _shared(settings: Settings) -> Race:
    """Race on the default mixture; holds no upload, so visitors may share it."""
    default = place(settings, None)
    assert default is not None
    return _run(settings, default)


def _run(settings: Settings, own: Playground) -> Race:
    return race(own, settings.grid, settings.config, settings.k, settings.seed)


def correlations(run: Race) -> list[tuple[int, float]]:
    """Rank correlation of each weighed step's rewards with those their descendants end with."""
    *_, last = run.states
    assert last.rewards is not None
    found = []
    for state in run.states[:-1]:
        if state.rewards is not None:
            final = last.rewards
            found.append((state.step, spearman(state.rewards[origin(run, state.step)], final)))
    return found


def origin(run: Race, step: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Which particle of ``step``, before its resampling, each particle of the end descends from."""
    chain = np.arange(run.k)
    for state in reversed(run.states[step:-1]):
        chain = state.parents[chain]
    return chain


def ladder(settings: Settings, own: Playground) -> Iterator[Ladder]:
    """Yield the repeats so far of races with 1 to 32 particles, one more each time."""
    total: Ladder | None = None
    config, grid = settings.config, settings.grid
    for repeat in range(REPEATS):
        more = climb(own, grid, config, SIZES, settings.seed, repeat)
        total = more if total is None else together(total, more)
        yield total


@dataclass(frozen=True)
class Climb:
    """Direct noise optimisation so far: means over the samples, after each optimiser step.

    Attributes
    ----------
    gamma : float
    steps, rewards, log_p, indicator : (T,)
    worst : (T,), lowest log p of a sample
    samples : (k, 2), where they are now
    network_calls : int, for each sample, backward passes counted as two
    """

    gamma: float
    steps: Float
    rewards: Float
    log_p: Float
    indicator: Float
    worst: Float
    samples: Float
    network_calls: int


def optimise(settings: Settings, own: Playground) -> Iterator[dict[float, Climb]]:
    """Yield both climbs so far, first without and then with the regularisation.

    A reward without a gradient is climbed by the estimator that perturbs the noise (hybrid 2).
    """
    grid = settings.grid
    smooth = settings.reward in ("linear", "point")
    estimator: Estimator = "gradient" if smooth else "hybrid 2"
    found: dict[float, Climb] = {}
    for gamma in (0.0, 1.0):
        config = replace(PLANE_DNO, steps=DNO_STEPS, gamma=gamma, estimator=estimator)
        noise = draw_noise(settings.seed, DNO_SAMPLES, grid.steps, own.denoiser.shape)
        rng = shared_generator(settings.seed, 0, "optimiser")
        rows: list[tuple[float, ...]] = []
        for state in run_dno(own.denoiser, grid, noise, own.reward, config, rng):
            log_p = own.mixture.log_density(state.samples).numpy()
            rows.append(
                (
                    state.step,
                    state.rewards.mean(),
                    log_p.mean(),
                    np.exp(state.log_indicator).mean(),
                    log_p.min(),
                )
            )
            if state.step % DNO_EVERY and not state.last:
                continue
            at, rewards, log_p_mean, indicator, worst = np.array(rows, dtype=np.float64).T
            found[gamma] = Climb(
                gamma,
                at,
                rewards,
                log_p_mean,
                indicator,
                worst,
                state.samples.numpy(),
                state.network_calls // DNO_SAMPLES,
            )
            yield dict(found)


FAILURES: dict[str, dict[str, Any]] = {
    "As it should be: difference, λ = 3": {},
    "No fresh noise, η = 0": {"eta": 0.0},
    "Greedy: max, copied at every weighing": {"potential": "max", "when": "always"},
    "Greedy: sum, copied at every weighing": {"potential": "sum", "when": "always"},
    "A common target, λ = 1": {"lam": 1.0},
}
FAILURE_RUNS = 40


@st.cache_data(max_entries=1, show_spinner="Measuring what goes wrong")
def failures() -> pd.DataFrame:
    """Return one row a way to go wrong: means over paired runs with 16 particles."""
    rows = []
    for name, changes in FAILURES.items():
        lam, eta = float(changes.get("lam", 3.0)), float(changes.get("eta", 1.0))
        own = Playground(plane_reward("linear", default_mixture()), lam)
        config = replace(
            steered(lam, changes.get("potential", "difference")),
            when=changes.get("when", "adaptive"),
        )
        runs = [race(own, make_grid(steps=50, eta=eta), config, 16, s) for s in range(FAILURE_RUNS)]
        ends = [run.outcomes["steering"] for run in runs]
        rows.append(
            {
                "setting": name,
                "best_gain": 0.0
                + np.mean([r.row("steering").best - r.row("best of n").best for r in runs]),
                "distinct": np.mean([len(np.unique(e.samples.numpy(), axis=0)) for e in ends]),
                "spread": np.mean([diversity(e.samples) for e in ends]),
                "share_gap": np.mean(
                    [r.row("importance").share_gap - r.row("steering").share_gap for r in runs]
                ),
                "distance_ratio": np.mean([r.row("steering").mmd2 for r in runs])
                / np.mean([r.row("importance").mmd2 for r in runs]),
            }
        )
    return pd.DataFrame(rows)
