"""Tables without finite scores: told apart, open-ended, and never a number that does not exist."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from models.ranking.battles import aggregate
from models.ranking.bradley_terry import RIDGE, elo, fit
from models.ranking.connectivity import (
    all_strongly_connected,
    components,
    split,
    strongly_connected,
)
from models.ranking.table import leaderboard
from tests.unit.arena.tables import from_case, golden, table

CASES = {case["name"]: case for case in golden("bt_small")["cases"]}
PEERS = golden("peers_on_degenerate_tables")


def board(battles, **options):
    return leaderboard(battles, np.random.default_rng(0), **options)


def rows(battles, **options):
    return {row.model: row for t in board(battles, **options).tables for row in t.rows}


@pytest.mark.golden
@pytest.mark.parametrize("name", CASES)
def test_the_golden_tables_are_told_apart(name):
    case = CASES[name]
    found = board(from_case(case))
    assert (len(found.tables) == 1) == case["connected"]
    exists = all(t.exists for t in found.tables) and len(found.tables) == 1
    assert exists == case["mle_exists"]


@pytest.mark.golden
@pytest.mark.parametrize("method", ["bootstrap", "sandwich"])
def test_an_undefeated_model_has_the_ridge_score_and_no_upper_end(method):
    case = CASES["only_wins_no_mle"]
    found = rows(from_case(case), method=method)
    want = case["map_ridge"][str(RIDGE)]
    assert [found[m].score for m in "ABC"] == pytest.approx(want, abs=1e-3)
    assert [found[m].standing for m in "ABC"] == ["undefeated", "ranked", "ranked"]
    assert found["A"].high == math.inf
    assert math.isfinite(found["A"].low)
    assert all(math.isfinite(found[m].high - found[m].low) for m in "BC")
    # None of the peers' claims to know A's score to within a tenth of a point is repeated.
    peer = PEERS["only_wins_no_mle"]["arena_rank_0.1.1"]
    assert peer["ci_upper"][0] - peer["ci_lower"][0] < 0.1
    assert "A: the interval is open-ended" in board(from_case(case)).verdict


@pytest.mark.golden
def test_components_stand_in_tables_of_their_own():
    battles = from_case(CASES["disconnected_two_components"])
    found = board(battles, method="sandwich")
    assert [[row.model for row in t.rows] for t in found.tables] == [["A", "B"], ["C", "D"]]
    want = CASES["disconnected_two_components"]["mle"]
    got = rows(battles, method="sandwich")
    assert [got[m].score for m in "ABCD"] == pytest.approx(want["elo"], abs=1e-3)
    ends = [(got[m].low, got[m].high) for m in "ABCD"]
    assert np.array(ends) == pytest.approx(np.array(want["ci95_sandwich_elo"]), abs=5e-3)
    assert "cannot be compared across groups" in found.verdict


@pytest.mark.unit
def test_no_votes_one_model_and_one_vote():
    empty = aggregate([], [], [], [])
    nobody = board(empty)
    assert (nobody.tables, nobody.without_battles) == ((), ())
    assert nobody.verdict == "There are no votes yet, so there is no ranking."
    none = np.empty(0, np.int64)
    lonely = board(aggregate(["A"], none, none, []))
    assert lonely.without_battles == ("A",)
    assert "one model only" in lonely.verdict
    unmet = board(aggregate(["A", "B", "C"], [0], [2], [0.5]))
    assert unmet.without_battles == ("B",)
    assert [row.model for row in unmet.tables[0].rows] == ["A", "C"]
    single = rows(table(("A", "B", 1, 0, 0)))
    assert (single["A"].standing, single["B"].standing) == ("undefeated", "winless")
    assert (single["A"].rank, single["B"].rank) == (1, 1)
    assert single["A"].high == math.inf
    assert single["B"].low == -math.inf


@pytest.mark.unit
def test_one_tie_and_all_ties_give_wide_intervals_not_empty_ones():
    found = rows(table(("A", "B", 0, 0, 1)))
    assert found["A"].score == pytest.approx(1000)
    # Fisher: the error of beta_A - beta_B is 1/sqrt(1/4) = 2, that of beta_A half of it.
    assert found["A"].high - 1000 == pytest.approx(1.959964 * 1 * 400 / math.log(10), abs=1e-3)
    ties = rows(table(("A", "B", 0, 0, 8), ("B", "C", 0, 0, 6)))
    assert all(row.high - row.low > 200 for row in ties.values())
    assert {row.rank for row in ties.values()} == {1}


@pytest.mark.unit
def test_the_closed_end_of_an_undefeated_model_is_clopper_and_pearsons():
    # Against two equals: the core's intervals are symmetric around their mean, and so the bound
    # from the lower ends solves sigma(x - low)^n = alpha/2.
    battles = table(("A", "B", 50, 50, 0), ("C", "A", 8, 0, 0), ("C", "B", 8, 0, 0))
    found = rows(battles, method="sandwich")
    gap = (found["C"].low - found["A"].low) * math.log(10) / 400
    assert 1 / (1 + math.exp(-gap)) == pytest.approx(0.025 ** (1 / 16), abs=1e-6)
    assert found["C"].rank == 1
    assert found["C"].low > found["A"].high
    assert found["A"].rank == found["B"].rank == 2


@pytest.mark.unit
def test_a_winless_model_mirrors_an_undefeated_one():
    up = rows(table(("A", "B", 5, 7, 1), ("C", "A", 8, 0, 0)), method="sandwich")
    down = rows(table(("A", "B", 7, 5, 1), ("A", "C", 8, 0, 0)), method="sandwich")
    for model in "ABC":
        assert up[model].score - 1000 == pytest.approx(1000 - down[model].score, abs=1e-6)
        assert up[model].low - 1000 == pytest.approx(1000 - down[model].high, abs=1e-6)
    assert down["C"].standing == "winless"


@pytest.mark.unit
def test_groups_above_below_and_beside_the_core():
    core = [("A", "B", 5, 5, 0), ("B", "C", 5, 5, 0), ("C", "A", 5, 5, 0)]
    found = rows(
        table(
            *core,
            ("U", "V", 3, 2, 0),  # two that only lose to each other
            ("U", "A", 30, 0, 0),
            ("V", "B", 30, 0, 0),
            ("A", "X", 30, 0, 0),
            ("X", "Y", 4, 0, 0),
            ("U", "W", 6, 0, 0),  # known only by a defeat against one above
        )
    )
    standing = {name: row.standing for name, row in found.items()}
    assert standing == {
        **dict.fromkeys("ABC", "ranked"),
        **dict.fromkeys("UV", "above the core"),
        "X": "below the core",
        "Y": "winless",
        "W": "winless",
    }
    assert found["U"].high == found["V"].high == math.inf
    assert found["X"].low == found["Y"].low == -math.inf
    assert found["Y"].high > found["X"].high  # four victories prove less than nothing at all
    assert found["W"].high == math.inf  # no chain of results leads from the core to it
    assert found["U"].rank == found["V"].rank == 1
    assert found["A"].rank == 3
    assert found["X"].rank > 3


@pytest.mark.unit
def test_without_any_core_the_best_known_model_is_the_reference():
    many = rows(table(("A", "B", 100, 0, 0), ("B", "C", 90, 0, 0)))
    assert {name: row.standing for name, row in many.items()} == {
        "A": "undefeated",
        "B": "reference",
        "C": "winless",
    }
    assert [many[name].rank for name in "ABC"] == [1, 2, 3]
    assert (many["B"].low, many["B"].high) == (-math.inf, math.inf)


@st.composite
def small_tables(draw):
    m = draw(st.integers(2, 5))
    pairs = list(itertools.combinations(range(m), 2))
    counts = [(i, j, draw(st.integers(0, 3)), draw(st.integers(0, 3))) for i, j in pairs]
    scores = np.zeros((m, m))
    for i, j, won, lost in counts:
        scores[i, j], scores[j, i] = won, lost
    return scores


@pytest.mark.unit
@settings(max_examples=60, deadline=None)
@given(small_tables())
def test_strong_connection_is_fords_condition(scores):
    m = len(scores)
    # Ford: in every split into two non-empty sets, some model of the second beat one of the first.
    sets = [s for k in range(1, m) for s in itertools.combinations(range(m), k)]
    want = all(scores[np.ix_([j for j in range(m) if j not in s], list(s))].sum() > 0 for s in sets)
    assert strongly_connected(scores) == want
    assert list(all_strongly_connected(np.stack([scores, np.ones((m, m))]))) == [want, True]


@pytest.mark.unit
@settings(max_examples=60, deadline=None)
@given(small_tables())
def test_no_table_gets_a_number_that_does_not_exist(scores):
    m = len(scores)
    a, b = np.nonzero(scores)
    battles = aggregate(
        [f"m{i}" for i in range(m)], a, b, np.ones(a.size), count=scores[a, b].astype(int)
    )
    found = board(battles, rounds=20)
    listed = [row.model for t in found.tables for row in t.rows]
    assert sorted([*listed, *found.without_battles]) == list(battles.models)
    for t in found.tables:
        if t.exists:
            assert elo(fit(t.battles)) == pytest.approx(elo(t.beta), abs=1e-6)
        for row in t.rows:
            assert math.isfinite(row.score)
            assert row.low < row.high
            closed = math.isfinite(row.low) and math.isfinite(row.high)
            assert closed == (row.standing == "ranked")
            assert t.exists <= closed
        s = t.battles.scores
        for row, conceded, scored in zip(
            sorted(t.rows, key=lambda row: row.model), s.sum(axis=0), s.sum(axis=1), strict=True
        ):
            assert (row.standing == "undefeated") == (conceded == 0)
            assert (row.standing == "winless") == (scored == 0)
        if not t.exists:
            parts = split(s)
            assert not (parts.above & parts.below).any()
    assert len(components(battles.scores)) == len(found.tables) + len(found.without_battles)


@pytest.mark.statistical
def test_the_closed_end_of_an_undefeated_model_covers():
    # A model that wins 12 of 12 with chance 2.2 %, just short of where the end lies. The end is
    # above the truth in at most 2.5 % of all tables; the limit is passed with chance 1e-6.
    truth, tables = 1.0, 2000
    chance = 1 / (1 + math.exp(-truth))
    rng = np.random.default_rng(7)
    won, half = rng.binomial(12, chance, tables), rng.binomial(4000, 0.5, tables)
    misses = 0
    for k in half[won == 12]:
        found = rows(table(("A", "B", k, 4000 - k, 0), ("C", "A", 12, 0, 0)), method="sandwich")
        core = np.mean([found["A"].score, found["B"].score])
        misses += found["C"].low > core + truth * 400 / math.log(10)
    assert (won == 12).sum() > 20
    assert misses <= stats.binom.isf(1e-6, tables, 0.025)


@pytest.mark.unit
def test_bootstrap_rounds_without_a_maximum_are_counted():
    battles = table(("A", "B", 12, 1, 0), ("B", "C", 5, 5, 0))
    (found,) = board(battles, rounds=200).tables
    assert found.exists
    # A's only defeat is missing from a round with chance (1 - 1/23)^23 = 0.36.
    assert 40 < found.resampled.by_ridge < 105
    assert np.isfinite(found.resampled.betas).all()


@pytest.mark.unit
def test_options_out_of_range_are_named():
    battles = table(("A", "B", 2, 1, 0))
    with pytest.raises(ValueError, match="method is 'magic'"):
        board(battles, method="magic")
    with pytest.raises(ValueError, match="rounds is 0"):
        board(battles, rounds=0)
    with pytest.raises(ValueError, match=r"did you mean 0\.05"):
        board(battles, alpha=95)
