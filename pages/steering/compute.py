"""The steering page's results: settings in, cached results out."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from models.checks import Float
from models.diffusion.fitting import fit_mixture
from models.diffusion.mixtures import Mixture
from models.diffusion.schedules import make_grid
from models.steering.ascent import Estimator
from models.steering.climb import Climb, climbs
from models.steering.distances import diversity
from models.steering.playground import Playground, default_mixture, plane_reward
from models.steering.race import Ladder, Race, climb, duel, race, together
from models.steering.study import PLANE_DNO, steered
from models.torchrun import torch
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


def ladder(settings: Settings, own: Playground) -> Generator[Ladder, None, None]:
    """Yield the repeats so far of races with 1 to 32 particles, one more each time."""
    total: Ladder | None = None
    config, grid = settings.config, settings.grid
    for repeat in range(REPEATS):
        more = climb(own, grid, config, SIZES, settings.seed, repeat)
        total = more if total is None else together(total, more)
        yield total


def optimise(settings: Settings, own: Playground) -> Generator[dict[float, Climb], None, None]:
    """Yield both climbs so far, first without and then with the regularisation.

    A reward without a gradient is climbed by the estimator that perturbs the noise (hybrid 2).
    """
    estimator: Estimator = "gradient" if settings.smooth else "hybrid 2"
    config = replace(PLANE_DNO, steps=DNO_STEPS, estimator=estimator)

    def log_p(samples: torch.Tensor) -> Float:
        return own.mixture.log_density(samples).numpy()

    return climbs(
        own.denoiser, settings.grid, own.reward, config, DNO_SAMPLES, log_p,
        seed=settings.seed, every=DNO_EVERY,
    )  # fmt: skip


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
        grid, each = make_grid(steps=50, eta=eta), []
        for seed in range(FAILURE_RUNS):
            found, plain = duel(own, grid, config, 16, seed).values()
            far, gap = (
                [measure(end.samples, end.weights) for end in (found, plain)]
                for measure in (own.mmd2, own.share_gap)
            )
            each.append(
                (
                    found.rewards.max() - plain.rewards.max(),
                    len(np.unique(found.samples.numpy(), axis=0)),
                    diversity(found.samples),
                    gap[1] - gap[0],
                    *far,
                )
            )
        gain, distinct, spread, shares, far_found, far_plain = np.mean(each, axis=0)
        rows.append(
            {
                "setting": name,
                "best_gain": gain,
                "distinct": distinct,
                "spread": spread,
                "share_gap": shares,
                "distance_ratio": far_found / far_plain,
            }
        )
    return pd.DataFrame(rows)
