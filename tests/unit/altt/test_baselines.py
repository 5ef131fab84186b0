"""Learn-then-test at a fixed budget: allocation, p-values, and what it shares with aLTT."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from models.altt.baselines import P_VALUES, ltt, ltt_many, p_value, shares
from models.altt.config import Config
from models.altt.environments import Pool, preset, simulated
from models.altt.race import run
from models.altt.table import LossTable
from models.betting import Bet
from models.pvalues import hoeffding_bentkus_p

pytestmark = pytest.mark.unit


def table(n=6, depth=60, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n, depth)) < np.linspace(0.0, 0.4, n)[:, None]).astype(float)


@pytest.mark.parametrize(("budget", "n"), [(0, 3), (7, 3), (9, 3), (2, 5), (5000, 20)])
def test_shares_are_equal_up_to_one_and_add_up(budget, n):
    counts = shares(budget, n)
    assert counts.sum() == budget
    assert counts.max() - counts.min() <= 1
    assert (np.diff(counts) <= 0).all()


@pytest.mark.parametrize(
    ("control", "kind"), [("fwer", "anytime"), ("holm", "anytime"), ("fdr", "e")]
)
@pytest.mark.parametrize("budget", [150, 200, 203])
def test_ltt_on_wealth_is_non_adaptive_altt_at_the_horizon(control, kind, budget):
    losses = table()
    config = Config(6, 0.25, 0.1, control, "uniform", budget=budget)
    last = list(
        run(config, LossTable(tuple("abcdef"), tuple(losses)).source(), np.random.default_rng(0))
    )[-1]
    assert last.spent == budget
    np.testing.assert_array_equal(ltt(losses, config, kind), last.certified)


def test_hoeffding_bentkus_with_holm_by_hand():
    losses = table()
    config = Config(6, 0.25, 0.1, "holm", budget=240)
    p = [float(hoeffding_bentkus_p(row[:40].mean(), 40, 0.25)) for row in losses]
    done = []
    for rank, i in enumerate(np.argsort(p, kind="stable")):
        if p[i] > 0.1 / (6 - rank):
            break
        done.append(int(i))
    assert np.flatnonzero(ltt(losses, config, "hb")).tolist() == sorted(done)
    assert done


def test_only_the_first_losses_count_and_short_columns_are_used_whole():
    losses = [*table()[:5], np.zeros(3)]
    config = Config(6, 0.25, budget=120)
    cut = [row[:20] for row in losses]
    for kind in P_VALUES:
        np.testing.assert_array_equal(ltt(losses, config, kind), ltt(cut, config, kind))


def test_without_losses_nothing_is_certified():
    empty = [np.empty(0)] * 3
    for kind in P_VALUES:
        assert not ltt(empty, Config(3, budget=30), kind).any()


def test_several_risks_must_all_be_met():
    both = np.stack([np.zeros((4, 50)), np.zeros((4, 50))], axis=-1)
    both[1, :, 1] = 1.0
    got = ltt(list(both), Config(4, (0.3, 0.3), budget=200), "hb")
    assert got.tolist() == [True, False, True, True]


def test_a_fixed_sequence_may_replace_bonferroni():
    losses = table()
    config = Config(6, 0.25, budget=360)
    first = ltt(losses, config, "hb", rule="fixed_sequence")
    assert first.sum() >= ltt(losses, config, "hb").sum()
    assert (np.diff(first.astype(int)) <= 0).all()


@pytest.mark.parametrize("kind", P_VALUES)
def test_many_runs_of_a_pool_with_one_row_are_that_row(kind):
    row = np.array([[0.0, 0.0, 1.0, 0.0]])
    pool = Pool(tuple("abcd"), row)
    config = Config(4, 0.3, budget=400)
    out = ltt_many(config, pool, 3, np.random.default_rng(0), at=[4, 40, 401], kind=kind)
    assert out.at.tolist() == [4, 40, 401]
    assert out.hits[:, 0].tolist() == [0, 0, 0]
    assert out.hits[:, 2].tolist() == [3, 3, 3]
    assert not out.errors.any()
    assert out.n_reliable == 3
    assert out.tests[0].tolist() == [101, 100, 100, 100]
    for column, budget in enumerate(out.at):
        alone = ltt([np.full(200, x) for x in row[0]], Config(4, 0.3, budget=int(budget)), kind)
        assert alone.sum() == out.hits[0, column]


def test_binomial_refuses_losses_in_between():
    with pytest.raises(ValueError, match="losses of 0 and 1 only"):
        ltt([np.full(10, 0.5)], Config(1, budget=10), "binomial")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: p_value([0.0], 0.2, "t", 0.1, Bet()), "must be one of e, anytime, hb"),
        (lambda: ltt([np.zeros(9)], Config(1, budget=9), rule="hochberg"), "rule is 'hochberg'"),
    ],
)
def test_unknown_names_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("world", "control", "kind", "expected"),
    [
        ("easy10", "holm", "hb", {250: 0.22, 500: 0.37, 1000: 0.69, 1500: 0.83}),
        ("hard20", "holm", "hb", {1000: 0.03, 2000: 0.13, 5000: 0.37}),
        ("hard20", "fdr", "hb", {1000: 0.06, 2000: 0.19, 5000: 0.54}),
        ("hard20", "holm", "binomial", {5000: 0.46}),
        ("hard20", "fdr", "binomial", {5000: 0.67}),
    ],
)
def test_power_is_as_measured_for_the_specification(world, control, kind, expected):
    # The reference figures have two digits and unknown repeats: 0.07 is five standard errors of
    # 80 repeats (0.012 each) and the rounding.
    environment, alpha = preset(world)
    config = Config(len(environment.means), alpha, 0.1, control)
    out = ltt_many(config, environment, 300, np.random.default_rng(5), at=list(expected), kind=kind)
    got = out.true_positive_rate.mean(axis=0)
    np.testing.assert_allclose(got, list(expected.values()), atol=0.07)


@pytest.mark.statistical
def test_family_wise_error_of_ltt_is_within_delta():
    world = simulated([0.3] * 6)
    config = Config(6, 0.3 - 1e-9, 0.2, "holm", budget=300)
    for kind in P_VALUES:
        out = ltt_many(config, world, 400, np.random.default_rng(1), kind=kind)
        # More than this has a probability below 1e-6 if the error is within delta.
        assert out.ever_wrong.sum() <= binom.isf(1e-6, 400, 0.2)
