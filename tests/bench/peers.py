"""QuEst's baselines beside ppi-python 0.2.3, and QuEst itself at full size."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from ppi_py import ppi_mean_ci, ppi_quantile_ci
from table import Row, budget, cpu, in_turns, seconds

from models.quest import measures
from models.quest.baselines import ppi, ppi_plus_plus
from models.quest.estimate import Interval, prepare
from models.quest.intake import Samples
from models.quest.measures import Measure, Quantile

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ALPHA = 0.1
GRID = 5000  # points of the peer's default grid, which it takes at sizes like these


def draw(n: int, big_n: int) -> Samples:
    """Gaussian labels with a biased model of correlation 0.8."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=n + big_n)
    predicted = 0.3 + 0.8 * z + 0.6 * rng.normal(size=n + big_n)
    return Samples(z[:n], predicted[:n], predicted[n:])


def rows() -> list[Row]:
    """Every comparison with the peer, and QuEst's own cost."""
    found = [_quantile(level) for level in (0.5, 0.75)]
    found.append(_quantile_beyond_the_peer())
    found.append(_mean())
    return found + _own_cost()


def _ours(samples: Samples, measure: Measure, *, tuned: bool) -> Interval:
    arrays = samples.labels, samples.predictions, samples.pool
    parts = prepare(*arrays, measure, alpha=ALPHA)
    answer = ppi_plus_plus(parts, *arrays) if tuned else ppi(parts, *arrays)
    if answer is None:
        raise ValueError(f"{measure.name} has no tuned interval.")
    return answer


def _quantile(level: float) -> Row:
    samples = draw(1000, 10_000)
    found: dict[str, tuple[float, float]] = {}

    def ours() -> None:
        answer = _ours(samples, Quantile(level), tuned=False)
        found["ours"] = answer.low, answer.high

    def theirs() -> None:
        low, high = ppi_quantile_ci(
            samples.labels,
            samples.predictions,
            samples.pool,
            level,
            alpha=ALPHA,
            exact_grid=True,
        )
        found["theirs"] = float(np.squeeze(low)), float(np.squeeze(high))

    pair = in_turns(ours, theirs, 3)
    return Row(
        f"PPI interval of the {level:g} quantile, n = 1,000, N = 10,000",
        seconds(pair.ours),
        f"ppi-python {seconds(pair.theirs)}",
        f"{pair.ratio} faster",
        bool(np.allclose(found["ours"], found["theirs"], rtol=1e-9)),
    )


def _quantile_beyond_the_peer() -> Row:
    samples = draw(1000, 1_000_000)
    times = [cpu(lambda: _ours(samples, Quantile(0.5), tuned=False)) for _ in range(3)]
    # The peer compares every prediction with every grid point: one byte each, as booleans.
    gigabytes = GRID * 1_000_000 / 2**30
    return Row(
        "PPI interval of the median, n = 1,000, N = 1,000,000",
        seconds(times),
        f"ppi-python would need {gigabytes:.1f} GiB for one array of indicators: not run",
        "ours alone",
    )


def _mean() -> Row:
    samples = draw(1000, 1_000_000)
    found: dict[str, tuple[float, float]] = {}

    def ours() -> None:
        answer = _ours(samples, measures.mean(), tuned=True)
        found["ours"] = answer.low, answer.high

    def theirs() -> None:
        low, high = ppi_mean_ci(samples.labels, samples.predictions, samples.pool, alpha=ALPHA)
        found["theirs"] = float(np.squeeze(low)), float(np.squeeze(high))

    pair = in_turns(ours, theirs, 3)
    return Row(
        "PPI++ interval of the mean, n = 1,000, N = 1,000,000",
        seconds(pair.ours),
        f"ppi-python {seconds(pair.theirs)}",
        f"{pair.ratio} faster",
        bool(np.allclose(found["ours"], found["theirs"], rtol=1e-9)),
    )


def _own_cost() -> list[Row]:
    """CPU and peak memory of one QuEst interval, in a process of its own."""
    theirs = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, HERE / "million.py"]
    done = subprocess.run(command, env=theirs, capture_output=True, text=True, check=True)
    spent, peak = map(float, done.stdout.split())
    work = "QuEst, mean of the top 20 %, n = 1,000, N = 1,000,000"
    return [
        budget(f"{work}: CPU", spent, 2.0, "s"),
        budget(f"{work}: peak memory of the process", peak, 500.0, "MB"),
    ]
