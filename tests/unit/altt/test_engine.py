"""The engine against aLTT in plain Python, and what must hold for any losses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.altt.acquisition import Seen, choose
from models.altt.certificates import anytime_p, certified, line, pick_one
from models.altt.config import Config
from models.altt.engine import Engine
from models.altt.ensemble import many_runs
from models.altt.environments import simulated
from models.altt.race import Race
from models.altt.solo import Solo
from models.betting import BETS, Bet
from models.multiple_testing import e_bh
from tests.unit.altt import plain

pytestmark = pytest.mark.unit

cheap = settings(max_examples=120, deadline=None, derandomize=True)


@st.composite
def runs(draw):
    n = draw(st.integers(1, 6))
    budget = draw(st.integers(1, 60))
    rule = draw(st.sampled_from(BETS))
    return {
        "n": n,
        "seed": draw(st.integers(0, 2**32 - 1)),
        "continuous": draw(st.booleans()),
        "config": {
            "alpha": draw(st.sampled_from([0.1, 0.3, 0.57])),
            "delta": draw(st.sampled_from([0.1, 0.4])),
            "control": draw(st.sampled_from(["fwer", "holm", "fdr"])),
            "acquisition": draw(st.sampled_from(["uniform", "random", "eps-greedy", "ucb"])),
            "epsilon": draw(st.sampled_from([0.0, 0.25, 1.0])),
            "budget": budget,
            "stop_at": draw(st.sampled_from([None, 1, n])),
        },
        "bet": {
            "rule": rule,
            "c": draw(st.sampled_from([0.5, 0.75, 1.0])),
            "amount": 0.8 if rule == "fixed" else None,
        },
    }


@cheap
@given(runs())
def test_a_run_equals_plain_python(case):
    rng = np.random.default_rng(case["seed"])
    n, options, bet = case["n"], case["config"], case["bet"]
    means = rng.random(n)[:, None] * 0.8
    uniform = rng.random((n, options["budget"]))
    # Continuous losses have no ties and never bankrupt; 0/1 losses do both.
    losses = uniform * means if case["continuous"] else (uniform < means).astype(float)
    draws_seed = int(rng.integers(2**32))
    draws = np.random.default_rng(draws_seed).random((options["budget"], 2))
    config = Config(n, **options, bet=Bet(bet["rule"], bet["c"], bet["amount"]))
    race = Race(config, np.random.default_rng(draws_seed))
    used = [0] * n
    wealths, sets = [], []
    while (picks := race.suggest()).size:
        pick = int(picks[0])
        race.feed([pick], [losses[pick, used[pick]]])
        used[pick] += 1
        wealths.append(race.state().wealth)
        sets.append(race.state().certified_ids)
    expected = plain.run(losses.tolist(), draws, **options, **bet)
    if not case["continuous"] and options["acquisition"] in ("eps-greedy", "ucb"):
        # Equal wealths may differ in the last digit between two ways to sum a history: compare
        # up to the first pick that differs, and insist that it was such a tie.
        picks = [entry.candidate for entry in race.log]
        same = next(
            (t for t, (a, b) in enumerate(zip(picks, expected[0], strict=False)) if a != b), None
        )
        if same is not None:
            before = expected[1][same - 1]
            counts = [picks[:same].count(i) for i in (picks[same], expected[0][same])]
            assert before[picks[same]] == pytest.approx(before[expected[0][same]], rel=1e-9) or (
                counts[0] == counts[1]
            )
            wealths, sets = wealths[:same], sets[:same]
            expected = tuple(part[:same] for part in expected)
            np.testing.assert_allclose(wealths, expected[1], rtol=1e-9, atol=1e-290)
            assert sets == expected[2]
            return
    assert [entry.candidate for entry in race.log] == expected[0]
    np.testing.assert_allclose(wealths, expected[1], rtol=1e-9, atol=1e-290)
    assert sets == expected[2]


def fill(config, losses):
    """Race a table until it stops; losses[i][k] is the k-th of candidate i."""
    race = Race(config, np.random.default_rng(1))
    used = np.zeros(config.n_candidates, dtype=int)
    while (picks := race.suggest()).size:
        race.feed(picks, [losses[i][used[i]] for i in picks])
        used[picks] += 1
    return race


@pytest.mark.parametrize("control", ["fwer", "holm", "fdr"])
@pytest.mark.parametrize("acquisition", ["eps-greedy", "ucb", "all"])
def test_permuting_candidates_permutes_the_result(control, acquisition):
    # Continuous losses have no ties, and the first pass tests everyone once in any order.
    rng = np.random.default_rng(3)
    losses = rng.random((6, 200)) * np.linspace(0.2, 0.9, 6)[:, None]
    order = rng.permutation(6)
    config = Config(6, 0.3, 0.1, control, acquisition, 0.0, budget=198)
    first, second = fill(config, losses), fill(config, losses[order])
    np.testing.assert_allclose(
        second.state().log_wealth, first.state().log_wealth[order], rtol=1e-12
    )
    np.testing.assert_array_equal(second.state().certified, first.state().certified[order])


@pytest.mark.parametrize("acquisition", ["uniform", "eps-greedy"])
def test_family_wise_sets_only_grow(acquisition):
    rng = np.random.default_rng(8)
    losses = (rng.random((5, 400)) < np.array([[0.05], [0.1], [0.2], [0.3], [0.5]])).astype(float)
    for control in ("fwer", "holm"):
        config = Config(5, 0.25, 0.1, control, acquisition, 0.25, budget=400)
        race = Race(config, np.random.default_rng(0))
        used, last = [0] * 5, set()
        while (picks := race.suggest()).size:
            pick = int(picks[0])
            race.feed([pick], [losses[pick, used[pick]]])
            used[pick] += 1
            now = set(race.state().certified_ids)
            assert last <= now
            last = now
        assert last


def test_a_false_discovery_set_may_shrink():
    race = Race(Config(1, 0.2, 0.1, "fdr", budget=100), np.random.default_rng(0))
    race.feed_batch(0, np.zeros(14))
    assert race.state().certified_ids == (0,)
    race.feed([0], [1.0])
    assert race.state().certified_ids == ()


@cheap
@given(st.lists(st.floats(-20, 20), min_size=1, max_size=8), st.sampled_from([0.01, 0.1, 0.3]))
def test_certified_sets_grow_with_delta_and_follow_the_rules(logs, delta):
    now = np.asarray([logs])
    peak = np.maximum(now, 0.0)
    for control in ("fwer", "holm", "fdr"):
        small = certified(Config(len(logs), 0.2, delta, control), now, peak)
        large = certified(Config(len(logs), 0.2, 2 * delta, control), now, peak)
        assert (small <= large).all()
    fdr = certified(Config(len(logs), 0.2, delta, "fdr"), now, peak)
    np.testing.assert_array_equal(fdr[0], e_bh(np.exp(now[0]), delta))


def test_a_stream_of_ones_certifies_nobody_and_everybody_can_be_certified_at_once():
    config = Config(4, 0.2, 0.1, "fdr", "all", budget=400)
    assert fill(config, np.ones((4, 400))).state().certified_ids == ()
    perfect = fill(config, np.zeros((4, 400)))
    assert perfect.state().stopped == "all certified"
    # Together they need 1/delta each, 14 zeros: 1.1875^14 = 11.1.
    assert perfect.state().tests.tolist() == [14] * 4
    assert 1.1875**13 < 10 < 1.1875**14


def test_wealth_of_exactly_n_over_delta_certifies():
    # alpha = 1/2, full bet: each zero loss doubles the wealth; 32 candidates at delta 1/2 need 64.
    config = Config(32, 0.5, 0.5, "fwer", bet=Bet("fixed", 1.0, 2.0), budget=100)
    race = Race(config, np.random.default_rng(0))
    race.feed_batch(3, np.zeros(5))
    assert race.state().certified_ids == ()
    race.feed([3], [0.0])
    assert race.state().wealth[3] == pytest.approx(64.0, rel=1e-14)
    assert race.state().certified_ids == (3,)


def test_scaling_n_over_delta_leaves_the_verdict():
    few = Config(5, 0.2, 0.1, "fwer", "uniform", budget=50)
    more = Config(10, 0.2, 0.2, "fwer", "uniform", budget=100)
    assert line(few, 0) == pytest.approx(line(more, 0))
    wealth = np.log(np.array([[49.9, 50.0, 50.1, 1.0, 0.5]]))
    np.testing.assert_array_equal(
        certified(few, wealth, wealth)[0],
        certified(more, np.tile(wealth, 2), np.tile(wealth, 2))[0, :5],
    )


@pytest.mark.parametrize(
    ("control", "k", "expected"),
    [
        ("fwer", 0, 200),
        ("fwer", 3, 200),
        ("holm", 3, 170),
        ("holm", 20, 10),
        ("fdr", 0, 200),
        ("fdr", 4, 50),
    ],
)
def test_the_line_to_cross(control, k, expected):
    assert np.exp(line(Config(20, control=control), k)) == pytest.approx(expected)


def test_several_risks_count_by_their_smallest_wealth():
    targets = (0.2, 0.4)
    race = Race(Config(2, targets, 0.1, budget=200), np.random.default_rng(0))
    rng = np.random.default_rng(6)
    table = (rng.random((60, 2)) < [0.02, 0.5]).astype(float)
    race.feed_batch(0, table)
    singles = []
    for j, target in enumerate(targets):
        one = Race(Config(1, target, 0.1, budget=200), np.random.default_rng(0))
        one.feed_batch(0, table[:, j])
        singles.append([entry.log_wealth for entry in one.log])
    expected = np.min(singles, axis=0)
    np.testing.assert_allclose([e.log_wealth for e in race.log], expected, rtol=1e-12, atol=1e-14)
    assert race.state().log_peak[0] == pytest.approx(max(expected.max(), 0.0))
    # The first risk alone would be certified, the pair is not: the second misses its target.
    assert max(singles[0]) > np.log(2 / 0.1)
    assert race.state().certified_ids == ()
    np.testing.assert_allclose(race.state().mean[0], table.mean(axis=0))


def test_a_bankrupt_candidate_is_tested_only_when_all_open_ones_are():
    config = Config(3, 0.5, 0.1, "fdr", "eps-greedy", 0.0, Bet("fixed", 1.0, 2.0), budget=50)
    race = Race(config, np.random.default_rng(0))
    race.feed([0], [1.0])
    race.feed([1], [0.8])
    race.feed([2], [1.0])
    assert race.state().log_wealth[[0, 2]].tolist() == [-np.inf, -np.inf]
    assert race.suggest().tolist() == [1]
    race.feed([1], [1.0])
    assert race.suggest().tolist() == [0]


def test_the_wealthiest_is_found_beyond_the_range_of_floats():
    config = Config(4, acquisition="eps-greedy", epsilon=0.0)
    seen = Seen(
        usable=np.ones((1, 4), dtype=bool),
        certified=np.array([[True, False, False, False]]),
        tests=np.ones((1, 4)),
        value=np.array([[0.9, 0.6, 0.5, 0.7]]),
        shift=np.array([[90_000, -5000, -4999, -5001]]),
        slack=np.zeros((1, 4)),
    )
    # Among the open ones 0.5 * 2^-4999 is the largest.
    assert choose(config, seen, np.array([0.5]), np.array([0.5])).tolist() == [2]


@cheap
@given(st.integers(1, 9), st.floats(0.0, 1.0, exclude_max=True), st.data())
def test_exploration_draws_every_open_candidate_equally(n, which, data):
    done = data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda x: not all(x)))
    ones = np.ones((1, n))
    seen = Seen(ones > 0, np.array([done]), ones, ones, np.zeros((1, n), dtype=np.int64), ones)
    pick = choose(Config(n, epsilon=1.0), seen, np.array([0.0]), np.array([which]))[0]
    open_ = [i for i in range(n) if not done[i]]
    assert pick == open_[int(which * len(open_))]


@pytest.mark.parametrize("control", ["fwer", "holm", "fdr"])
@pytest.mark.parametrize("acquisition", ["uniform", "random", "eps-greedy", "ucb", "all"])
@pytest.mark.parametrize(
    ("rule", "released"),
    [("agrapa", False), ("lbow", False), ("ons", False), ("max", False), ("agrapa", True)],
)
def test_many_runs_in_lockstep_are_the_same_as_one_by_one(control, acquisition, rule, released):
    if released and control == "holm":
        control = "fdr"
    targets = (0.3, 0.35)
    config = Config(
        5, targets, 0.1, control, acquisition, 0.3, Bet(rule), budget=300, released=released
    )
    rng = np.random.default_rng(11)
    means = np.linspace(0.05, 0.5, 5)[:, None, None]
    losses = (rng.random((6, 5, 60, 2)) < means).astype(float)
    draws = rng.random((60, 6, 2))
    engine, rows = Engine(config, 6), np.arange(6)
    solos = [Solo(config) for _ in rows]
    for t in range(60):
        flat = engine.choose(rows, draws[t, :, 0], draws[t, :, 1])
        row, column = np.divmod(flat, 5)
        batch = losses[row, column, engine.tests.reshape(-1)[flat].astype(int)]
        for r, solo in enumerate(solos):
            picks = solo.choose(*draws[t, r])
            np.testing.assert_array_equal(picks, column[row == r])
            solo.update(picks.tolist(), batch[row == r].tolist())
        engine.update(rows, flat, batch)
        for r, solo in enumerate(solos):
            np.testing.assert_allclose(
                solo.log_wealth, engine.log_wealth[r], rtol=1e-13, atol=1e-13
            )
            np.testing.assert_allclose(solo.log_peak, engine.log_peak[r], rtol=1e-13, atol=1e-13)
            np.testing.assert_array_equal(solo.tests, engine.tests[r])
            np.testing.assert_array_equal(solo.certified, engine.certified[r])
    np.testing.assert_allclose(
        [np.nan_to_num(solo.mean) for solo in solos], engine.mean, rtol=1e-13
    )


@pytest.mark.parametrize("acquisition", ["uniform", "eps-greedy", "all"])
def test_runs_that_stopped_keep_their_verdict_and_their_bill(acquisition):
    config = Config(3, 0.3, 0.1, "fwer", acquisition, 0.2, budget=400)
    out = many_runs(config, simulated([0.0, 0.0, 0.0]), 4, np.random.default_rng(0))
    # All losses are 0: all three are certified, at the same round in each run.
    assert (out.hits[:, -1] == 3).all()
    assert (out.spent == out.spent[0]).all()
    assert out.spent[0] < 120
    assert out.tests.sum() == out.spent.sum()
    first = int(np.argmax(out.hits[0] == 3))
    assert first == out.spent[0]
    assert not out.errors.any()
    assert out.rounds_to(1.0) == first


def test_all_on_one_sample_never_exceeds_the_budget():
    config = Config(7, 0.3, 0.1, "fwer", "all", budget=100)
    out = many_runs(config, simulated([0.5] * 7), 3, np.random.default_rng(0))
    assert out.spent.tolist() == [98] * 3


def test_the_world_must_fit_the_settings():
    with pytest.raises(ValueError, match="2 candidates with 1 risks, but the settings say 3"):
        many_runs(Config(3), simulated([0.1, 0.2]), 2, np.random.default_rng(0))


def test_pick_one_takes_the_best_of_the_certified():
    assert pick_one([True, False, True, True], [0.3, 0.1, 0.2, 0.2]) == 2
    assert pick_one([False, False], [0.1, 0.2]) is None
    assert pick_one([False, True], [np.nan, 0.2]) == 1
    with pytest.raises(ValueError, match="one number for each"):
        pick_one([True], [0.1, 0.2])


def test_anytime_p_is_one_over_the_largest_wealth():
    np.testing.assert_allclose(anytime_p(np.log([0.5, 1.0, 4.0])), [1.0, 1.0, 0.25])
    assert anytime_p(np.array([5000.0]))[0] == 0.0
