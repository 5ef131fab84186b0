"""Feeding a race by hand or from a table: batches, resets, stops, resumption, frozen states."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.altt.config import Config
from models.altt.environments import Stream, preset, simulated
from models.altt.log import read_csv, resume, resume_json, write_csv, write_json
from models.altt.race import Race, run
from models.altt.table import LossTable
from models.betting import Bet

pytestmark = pytest.mark.unit

cheap = settings(max_examples=30, deadline=None, derandomize=True)
NAMES = ("small", 'the "middle", one', "große")


def race_of(seed=0, **options):
    return Race(Config(3, 0.3, **options), np.random.default_rng(seed))


def filled(race, rounds, seed=5):
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        picks = race.suggest()
        race.feed(picks, (rng.random(len(picks)) < 0.2).astype(float))
    return race


def same(first, second):
    a, b = first.state(), second.state()
    np.testing.assert_array_equal(a.log_wealth, b.log_wealth)
    np.testing.assert_array_equal(a.log_peak, b.log_peak)
    np.testing.assert_array_equal(a.tests, b.tests)
    assert (a.round, a.spent, a.certified_ids, a.stopped) == (
        b.round,
        b.spent,
        b.certified_ids,
        b.stopped,
    )
    assert first.log == second.log
    assert first.suggest().tolist() == second.suggest().tolist()


@cheap
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sampled_from(["fwer", "holm", "fdr"]))
def test_a_batch_equals_one_by_one(losses, control):
    batch, single = race_of(control=control), race_of(control=control)
    batch.feed_batch(1, losses)
    for loss in losses:
        single.feed([1], [loss])
    same(batch, single)


def test_reset_forgets_everything():
    race = filled(race_of(), 80)
    race.reset()
    same(race, race_of())
    assert race.log == []
    same(filled(race, 30, seed=9), filled(race_of(), 30, seed=9))


@pytest.mark.parametrize("acquisition", ["uniform", "random", "eps-greedy", "ucb", "all"])
@pytest.mark.parametrize("at", [0, 1, 17])
def test_resuming_from_a_log_equals_never_stopping(acquisition, at):
    through = filled(race_of(acquisition=acquisition), at)
    text = write_csv(through, NAMES)
    again = resume(through.config, read_csv(text, NAMES, 1), np.random.default_rng(0))
    same(through, again)
    # The same further losses, one by one.
    same(filled(through, 12, seed=2), filled(again, 12, seed=2))
    other, names, seed = resume_json(write_json(through, NAMES, 0))
    assert (names, seed) == (NAMES, 0)
    same(through, other)


def test_a_log_returns_the_same_bits():
    race = race_of()
    race.feed([0], [0.1 + 0.2])
    race.feed([1], [5e-324])
    lines = read_csv(write_csv(race, NAMES), NAMES, 1)
    assert [line.losses for line in lines] == [(0.1 + 0.2,), (5e-324,)]


def test_a_log_of_several_risks_returns_the_same_race():
    config = Config(3, (0.3, 0.4), acquisition="all", budget=60)
    race = Race(config, np.random.default_rng(3))
    rng = np.random.default_rng(1)
    while (picks := race.suggest()).size:
        race.feed(picks, rng.random((len(picks), 2)))
    text = write_csv(race, NAMES)
    assert text.splitlines()[0] == "round,candidate,loss_1,loss_2,bet_1,bet_2,log10_wealth"
    same(race, resume(config, read_csv(text, NAMES, 2), np.random.default_rng(3)))


def test_a_longer_budget_begins_with_the_same_choices():
    short = filled(race_of(seed=4, acquisition="random", budget=50), 50)
    long = filled(race_of(seed=4, acquisition="random", budget=500), 50)
    assert [e.candidate for e in short.log] == [e.candidate for e in long.log]


def test_asking_twice_changes_nothing():
    race = race_of(acquisition="random", budget=50)
    assert race.suggest().tolist() == race.suggest().tolist()
    race.feed([2], [0.0])  # not necessarily what was suggested
    assert race.state().tests.tolist() == [0, 0, 1]


def test_uniform_is_round_robin_and_evens_out_what_was_fed_by_hand():
    race = filled(race_of(acquisition="uniform"), 7)
    assert [e.candidate for e in race.log] == [0, 1, 2, 0, 1, 2, 0]
    uneven = race_of(acquisition="uniform")
    uneven.feed_batch(0, [0.0, 0.0])
    assert [e.candidate for e in filled(uneven, 4).log][2:] == [1, 2, 1, 2]


def test_states_are_frozen_and_tell_this_round_alone():
    race = filled(race_of(acquisition="all"), 2)
    state = race.state()
    before = state.log_wealth.copy()
    filled(race, 5)
    np.testing.assert_array_equal(state.log_wealth, before)
    with pytest.raises(ValueError, match="read-only"):
        state.certified[0] = True
    assert (state.round, state.spent) == (2, 6)
    assert [entry.candidate for entry in state.entries] == [0, 1, 2]
    assert {entry.round for entry in state.entries} == {2}


def test_an_untested_candidate_is_untested_and_still_counts():
    race = race_of(acquisition="eps-greedy")
    race.feed_batch(0, np.zeros(40))
    state = race.state()
    assert state.tests.tolist() == [40, 0, 0]
    assert np.isnan(state.mean[1:]).all()
    assert state.log_wealth[1] == 0.0
    # Certified at 3/delta = 30, the number of all candidates, not of those tested.
    first = next(e.round for e in race.log if e.log_wealth >= math.log(30.0))
    step = [Race(race.config, np.random.default_rng(0)) for _ in range(2)]
    step[0].feed_batch(0, np.zeros(first - 1))
    step[1].feed_batch(0, np.zeros(first))
    assert [s.state().certified_ids for s in step] == [(), (0,)]
    assert race.log[first - 2].log_wealth < math.log(30.0)


def test_losses_of_one_candidate_in_order():
    race = filled(race_of(), 25)
    mine = [e.losses for e in race.log if e.candidate == 1]
    assert race.losses(1).tolist() == [list(x) for x in mine]
    assert race.losses(1).shape == (len(mine), 1)


class TestStops:
    def test_at_the_budget(self):
        states = list(run(Config(2, budget=5), Stream(simulated([0.5, 0.5]), rng(1)), rng(2)))
        assert [s.round for s in states] == [0, 1, 2, 3, 4, 5]
        assert [s.stopped for s in states] == [None] * 5 + ["budget"]

    def test_when_enough_are_certified(self):
        config = Config(4, 0.3, stop_at=2, budget=500)
        last = list(run(config, Stream(simulated([0.0] * 4), rng(1)), rng(2)))[-1]
        assert last.stopped == "enough certified"
        assert last.certified.sum() == 2
        assert last.round < 500

    def test_when_all_are_certified(self):
        last = list(run(Config(2, 0.3), Stream(simulated([0.0, 0.0]), rng(1)), rng(2)))[-1]
        assert last.stopped == "all certified"

    @pytest.mark.parametrize("acquisition", ["uniform", "random", "eps-greedy", "ucb", "all"])
    def test_when_the_data_run_out(self, acquisition):
        lengths = (3, 9, 1)
        table = LossTable(NAMES, tuple(np.full(n, 0.5) for n in lengths))
        config = Config(3, 0.3, acquisition=acquisition)
        last = list(run(config, table.source(), rng(2)))[-1]
        assert last.stopped == "out of data"
        assert last.tests.tolist() == list(lengths)

    def test_a_table_gives_its_kth_loss_to_the_kth_test(self):
        rows = np.random.default_rng(3).random((3, 20))
        table = LossTable(NAMES, tuple(rows))
        race = Race(Config(3, 0.5, acquisition="random", budget=30), rng(4))
        source = table.source()
        while (picks := race.suggest(source.usable())).size:
            race.feed(picks, source.draw(picks))
        for i in range(3):
            seen = race.losses(i)[:, 0]
            np.testing.assert_array_equal(seen, rows[i, : len(seen)])

    def test_the_released_script_tests_on_when_all_are_certified(self):
        config = Config(2, 0.3, released=True, budget=60)
        states = list(run(config, Stream(simulated([0.0, 0.0]), rng(1)), rng(2)))
        assert states[-1].stopped == "budget"
        assert states[-1].certified.all()
        assert states[-10].certified.all()

    def test_feeding_beyond_the_budget_is_refused(self):
        race = race_of(budget=4)
        race.feed_batch(0, [0.0] * 3)
        with pytest.raises(ValueError, match="2 losses exceed what is left of the budget of 4"):
            race.feed_batch(0, [0.0, 0.0])
        assert race.state().spent == 3
        race.feed([1], [0.0])
        with pytest.raises(ValueError, match="budget of 4 losses is spent"):
            race.feed([1], [0.0])


def rng(seed):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("candidates", "losses", "words"),
    [
        ([0], [math.nan], "number 1 is nan"),
        ([0, 1], [0.1, math.inf], "number 2 is inf"),
        ([0], [1.5], "number 1 is 1.5"),
        ([0], [-0.1], "must lie between 0 and 1"),
        ([3], [0.1], "must be from 0 to 2"),
        ([-1], [0.1], "must be from 0 to 2"),
        ([], [], "must be from 0 to 2"),
        ([1, 1], [0.1, 0.1], "at most one loss of each candidate"),
        ([0], [0.1, 0.2], "2 losses were given for 1 candidates"),
    ],
)
def test_a_wrong_round_is_refused_and_leaves_no_trace(candidates, losses, words):
    race = filled(race_of(), 10)
    with pytest.raises(ValueError, match=words):
        race.feed(candidates, losses)
    same(race, filled(race_of(), 10))


@pytest.mark.parametrize(
    ("losses", "words"),
    [([0.0, 0.1, math.nan], "number 3 is nan"), ([], "0 losses were given")],
)
def test_a_batch_with_a_fault_is_refused_whole(losses, words):
    race = race_of()
    with pytest.raises(ValueError, match=words):
        race.feed_batch(0, losses)
    assert race.log == []


GOOD = "round,candidate,loss,bet,log10_wealth\n1,small,0.0,1.0,0.1\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "first columns must be"),
        ("candidate,loss\nsmall,0.1\n", "first columns must be"),
        (GOOD + "2,unknown,0.0\n", "Line 3 of the log tests 'unknown'"),
        (GOOD + "2,small\n", "Line 3 of the log is cut short"),
        (GOOD + "2,small,none\n", "Line 3 of the log holds no number"),
        (GOOD + "2,small,nan\n", "number 1 is nan"),
        (GOOD + "3,small,0.0\n", "round 3 where round 2 is due"),
        (GOOD + "1,small,0.0\n", "at most one loss of each candidate"),
    ],
)
def test_a_damaged_log_is_named(text, words):
    with pytest.raises(ValueError, match=words):
        resume(Config(3, 0.3), read_csv(text, NAMES, 1), np.random.default_rng(0))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"names": ["a"], "settings": {"seed": 1}, "log": []}', "nonsense"]
)
def test_a_damaged_export_is_named(text):
    with pytest.raises(ValueError, match=r"no exported run|settings are incomplete"):
        resume_json(text)


@cheap
@given(st.integers(0, 2**32 - 1))
def test_the_same_seeds_give_the_same_run(seed):
    world, alpha = preset("easy10")
    config = Config(10, alpha, bet=Bet("lbow"), budget=40)
    first, second = (
        [s.entries for s in run(config, Stream(world, rng(seed)), rng(seed + 1))] for _ in range(2)
    )
    assert first == second
