"""Many seeded runs: power as in the golden targets, errors within delta, and what peeking does.

False alarms: every one-sided limit on a count is a binomial quantile at 1e-6, given the promise.
Power is compared within the tolerance that the golden file states, four standard errors of both
measurements plus 0.01, which is about five: 1e-6 a comparison. Seeds are fixed.
"""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from models.altt.baselines import ltt_many
from models.altt.config import Config
from models.altt.ensemble import many_runs
from models.altt.environments import preset, simulated
from models.betting import Bet

GOLDEN = Path(__file__).parents[2] / "golden" / "altt"
ROWS = json.loads((GOLDEN / "mc_targets.json").read_text())["rows"]
REPEATS = {"easy10": 100, "mixed20": 120, "hard20": 50, "null10": 300}


def series(row):
    return row["scenario"], row["control"], row["policy"], row["epsilon"]


def wanted(row):
    # Time: the ends of the range of policies are enough, and with nothing to find one error rate.
    if (row["scenario"], row["control"]) == ("null10", "FDR"):
        return False
    return row["epsilon"] in (0, 0.25) or (row["scenario"], row["control"]) == ("easy10", "FWER")


SERIES = [
    (key, list(rows)) for key, rows in groupby(sorted(filter(wanted, ROWS), key=series), key=series)
]


@lru_cache
def ensemble(scenario, control, policy, epsilon, budget):
    world, alpha = preset(scenario)
    config = Config(
        n_candidates=len(world.means),
        alpha=alpha,
        delta=0.1,
        control=control.lower(),
        acquisition="uniform" if policy == "uniform" else "eps-greedy",
        epsilon=epsilon,
        budget=budget,
    )
    return many_runs(config, world, REPEATS[scenario], np.random.default_rng(2024))


@pytest.mark.golden
@pytest.mark.statistical
@pytest.mark.parametrize(("key", "rows"), SERIES, ids=["-".join(map(str, k)) for k, _ in SERIES])
def test_operating_characteristics_equal_golden(key, rows):
    scenario, control, *_ = key
    repeats = REPEATS[scenario]
    out = ensemble(*key, max(row["t"] for row in rows))
    for row in rows:
        if out.n_reliable:
            rate = out.true_positive_rate[:, row["t"]]
            error = np.hypot(row["tpr_se"], rate.std(ddof=1) / np.sqrt(repeats))
            assert rate.mean() == pytest.approx(row["tpr"], abs=4 * error + 0.01)
        else:
            assert np.isnan(out.true_positive_rate).all()
        if control == "FDR":
            share = out.false_discovery_proportion[:, row["t"]]
            # Hoeffding: the mean of values in [0, 1] exceeds delta by this much with p < 1e-6.
            assert share.mean() <= 0.1 + np.sqrt(np.log(1e6) / (2 * repeats))
            ever = binom.isf(1e-6, repeats, 0.3)  # not promised; a sanity bound only
            assert (out.errors[:, : row["t"] + 1] > 0).any(axis=1).sum() <= ever
        else:
            wrong = (out.errors[:, : row["t"] + 1] > 0).any(axis=1).sum()
            assert wrong <= binom.isf(1e-6, repeats, 0.1)


NULL = simulated([0.2] * 10)


@pytest.mark.statistical
@pytest.mark.parametrize("rule", ["agrapa", "lbow", "ons", "max", "unit"])
@pytest.mark.parametrize("acquisition", ["eps-greedy", "all", "random"])
def test_false_certificates_stay_within_delta_under_any_bet_and_policy(rule, acquisition):
    config = Config(10, 0.2 - 1e-9, 0.1, "holm", acquisition, 0.25, Bet(rule), budget=600)
    out = many_runs(config, NULL, 120, np.random.default_rng(7))
    assert out.ever_wrong.sum() <= binom.isf(1e-6, 120, 0.1)


@pytest.mark.statistical
@pytest.mark.parametrize("rule", ["agrapa", "lbow"])
def test_peeking_breaks_the_promise(rule):
    # All ten exactly at the target: were the promise kept, so many false certificates would have
    # a probability below 1e-6.
    config = Config(10, 0.2 - 1e-9, bet=Bet(rule), budget=1200, released=True)
    out = many_runs(config, NULL, 150, np.random.default_rng(7))
    assert out.ever_wrong.sum() > binom.isf(1e-6, 150, 0.1)


@pytest.mark.statistical
def test_peeking_with_agrapa_errs_in_about_half_of_the_runs():
    # Measured for the specification: 0.54 at alpha 0.2 in 1000 runs of 2000 rounds. Five standard
    # errors of 300 runs and of 1000 are 0.16.
    config = Config(10, 0.2 - 1e-9, 0.1, "fwer", "uniform", budget=2000, released=True)
    out = many_runs(config, NULL, 200, np.random.default_rng(3))
    assert out.ever_wrong.mean() == pytest.approx(0.54, abs=0.19)


@pytest.mark.statistical
def test_ltt_with_its_own_p_values_wins_at_the_horizon_under_fdr_and_altt_before_it():
    world, alpha = preset("hard20")
    adaptive = ensemble("hard20", "FDR", "greedy", 0.25, 5000).true_positive_rate
    fixed = ltt_many(
        Config(20, alpha, 0.1, "fdr", budget=5000),
        world,
        200,
        np.random.default_rng(2),
        kind="binomial",
    ).true_positive_rate
    gap = fixed.mean() - adaptive[:, 5000].mean()
    error = np.hypot(fixed.std() / 200**0.5, adaptive[:, 5000].std() / len(adaptive) ** 0.5)
    assert gap > 3 * error
    # LTT knows nothing before its horizon; aLTT has its first certificates early.
    assert (adaptive[:, 500] > 0).mean() > 0.5


def test_the_first_round_at_which_a_rate_is_reached():
    world, alpha = preset("easy10")
    config = Config(10, alpha, budget=600)
    out = many_runs(config, world, 20, np.random.default_rng(0))
    mean = out.true_positive_rate.mean(axis=0)
    first = out.rounds_to(0.5)
    assert mean[int(first)] >= 0.5 > mean[int(first) - 1]
    assert np.isnan(out.rounds_to(1.01))
    np.testing.assert_array_equal(out.empty, out.hits + out.errors == 0)
