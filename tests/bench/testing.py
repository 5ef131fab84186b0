"""aLTT's engine beside a plain loop over rounds, and Holm beside statsmodels."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from statsmodels.stats.multitest import multipletests
from table import Row, cpu, in_turns, seconds

from models.altt.config import Config
from models.altt.ensemble import many_runs
from models.altt.environments import Stream, preset
from models.altt.race import run
from models.multiple_testing import holm

sys.path.append(str(Path(__file__).resolve().parents[1] / "unit" / "altt"))

import plain

ROUNDS = 5000


def rows() -> list[Row]:
    """One run, many runs, and a multiple test."""
    return [_one_run(), _many_runs(), _holm()]


def _one_run() -> Row:
    world, alpha = preset("hard20")
    losses = np.random.default_rng(1).random((20, ROUNDS)) < np.array(world.means)[:, None]
    table = losses.astype(float).tolist()
    draws = np.random.default_rng(2).random((ROUNDS, 2))

    def ours() -> None:
        for _ in run(
            Config(20, alpha, budget=ROUNDS),
            Stream(world, np.random.default_rng(3)),
            np.random.default_rng(4),
        ):
            pass

    def theirs() -> None:
        plain.run(
            table,
            draws,
            alpha=alpha,
            delta=0.1,
            control="fwer",
            acquisition="eps-greedy",
            epsilon=0.25,
            rule="agrapa",
            c=0.75,
            amount=None,
            budget=ROUNDS,
        )

    pair = in_turns(ours, theirs, 3)
    return Row(
        "aLTT, one run of 20 candidates and 5,000 rounds, every state kept",
        seconds(pair.ours),
        f"plain Python loop, no states {seconds(pair.theirs)}",
        f"{sum(pair.theirs) / sum(pair.ours):.2f}× the loop's speed",
    )


def _many_runs() -> Row:
    world, alpha = preset("hard20")
    config = Config(20, alpha, budget=2000)
    times = [cpu(lambda: many_runs(config, world, 200, np.random.default_rng(1))) for _ in range(3)]
    rate = 200 * 2000 / min(times)
    return Row(
        "aLTT, 200 runs of 20 candidates and 2,000 rounds",
        seconds(times),
        "budget 3 s",
        f"{'met' if max(times) < 3 else 'NOT MET'}, {rate:,.0f} run-rounds a second",
    )


def _holm() -> Row:
    p = np.random.default_rng(0).random(2000) ** 3
    found: dict[str, np.ndarray] = {}

    def ours() -> None:
        for _ in range(100):
            found["ours"] = holm(p, 0.1)

    def theirs() -> None:
        for _ in range(100):
            found["theirs"] = multipletests(p, 0.1, method="holm")[0]

    pair = in_turns(ours, theirs, 3)
    return Row(
        "Holm on 2,000 p-values, 100 times",
        seconds(pair.ours),
        f"statsmodels {seconds(pair.theirs)}",
        f"{pair.ratio} faster",
        bool(np.array_equal(found["ours"], found["theirs"])),
    )
