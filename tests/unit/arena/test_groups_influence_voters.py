"""Interaction test, influence of single votes, and the sequential test of voters."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from models.arena.voters import Crowd, deal
from models.ranking.battles import aggregate
from models.ranking.bradley_terry import fit, log_likelihood
from models.ranking.influence import fewest_removals, influence
from models.ranking.interaction import differences, interaction, supremum
from models.ranking.voters import voter_test
from tests.unit.arena.tables import table

THETA = np.array([0.5, 0.2, -0.1, -0.6])


def drawn(theta: np.ndarray, n: int, seed) -> object:
    rng = np.random.default_rng(seed)
    crowd = Crowd(theta)
    return crowd.battles(*deal(theta.size, n, rng), rng)


@pytest.mark.unit
def test_the_statistic_is_twice_the_gain_in_likelihood():
    parts = {"py": drawn(THETA, 300, 1), "js": drawn(-THETA, 200, 2)}
    whole = sum(part.scores for part in parts.values())
    common = log_likelihood(whole, fit_of(whole))
    own = sum(log_likelihood(part.scores, fit(part)) for part in parts.values())
    found = interaction(parts)
    assert found.statistic == pytest.approx(2 * (own - common), abs=1e-8)
    assert found.df == 3
    assert found.p_value == pytest.approx(stats.chi2.sf(found.statistic, 3))
    assert found.p_value < 1e-6
    assert found.sparse == ()


def fit_of(scores):
    a, b = np.nonzero(scores)
    names = [f"m{i}" for i in range(len(scores))]
    return fit(aggregate(names, a, b, np.ones(a.size), count=scores[a, b].astype(int)))


@pytest.mark.statistical
def test_the_interaction_test_keeps_its_level_without_ties():
    # 200 tables with one truth, of which 5 % are rejected; 1e-6 is cut off at either side.
    rejected = 0
    for seed in range(200):
        parts = {name: drawn(THETA, 400, [seed, i]) for i, name in enumerate(("a", "b", "c"))}
        rejected += interaction(parts).p_value < 0.05
    assert rejected <= stats.binom.isf(1e-6, 200, 0.05)
    assert rejected >= stats.binom.ppf(1e-6, 200, 0.05)


@pytest.mark.unit
def test_a_supremum_counts_only_battles_inside_strong_groups():
    battles = table(("A", "B", 6, 0, 0), ("B", "C", 7, 4, 1))
    inside = table(("B", "C", 7, 4, 1))
    assert supremum(battles.scores) == pytest.approx(log_likelihood(inside.scores, fit(inside)))
    assert supremum(battles.scores) >= log_likelihood(battles.scores, np.array([20.0, 0.25, -0.25]))


@pytest.mark.unit
def test_sparse_groups_are_named_and_degrees_counted_by_component():
    names = ["A", "B", "C"]
    full = aggregate(names, [0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0], np.ones(6))
    part = aggregate(names, [0, 0], [1, 1], [1.0, 1.0])
    found = interaction({"full": full, "part": part})
    assert found.df == 2 + 1 - 2
    assert found.sparse == ("part",)
    shown = differences({"full": full, "part": part})
    assert np.isnan(shown["part"].value).all()


@pytest.mark.statistical
def test_intervals_of_differences_cover():
    # No true difference: a table's coverage deviates by about 0.12 from 0.95, so that 0.90 is five
    # standard errors off (3e-7).
    hits = []
    for seed in range(150):
        parts = {name: drawn(THETA, n, [seed, n]) for name, n in (("a", 300), ("b", 900))}
        found = differences(parts)["a"]
        hits.append(np.mean((found.low <= 0) & (found.high >= 0)))
    assert 0.90 < np.mean(hits) < 0.995


@pytest.mark.unit
def test_differences_are_those_of_the_two_fits():
    parts = {"a": drawn(THETA, 300, 5), "b": drawn(THETA[::-1].copy(), 500, 6)}
    whole = sum(part.scores for part in parts.values())
    found = differences(parts)
    for name, part in parts.items():
        assert found[name].value == pytest.approx(fit(part) - fit_of(whole), abs=1e-8)


@pytest.mark.unit
def test_groups_must_share_models_and_be_at_least_two():
    one = table(("A", "B", 2, 1, 0))
    with pytest.raises(ValueError, match="1 groups have battles"):
        interaction({"a": one})
    with pytest.raises(ValueError, match="same models"):
        interaction({"a": one, "b": table(("A", "C", 2, 1, 0))})


@pytest.mark.unit
def test_influence_is_the_change_when_a_vote_is_taken_out():
    battles = drawn(THETA, 3000, 7)
    beta = fit(battles)
    effects = influence(battles, beta)
    for row in range(battles.a.size):
        less = battles.count.copy()
        less[row] -= 1
        change = fit(battles.with_counts(less)) - beta
        assert effects[row] == pytest.approx(change, rel=0.02, abs=1e-6)


@pytest.mark.unit
def test_fewest_removals_against_all_subsets():
    battles = table(("A", "B", 5, 3, 0), ("B", "C", 4, 2, 0), ("C", "A", 3, 4, 0))
    found = fewest_removals(battles)
    assert (found.leader, found.successor) == ("A", "B")
    assert found.taken.sum() == found.votes

    def leader_after(taken):
        left = battles.with_counts(battles.count - np.array(taken))
        try:
            return left.models[int(np.argmax(fit(left)))]
        except ValueError:
            return "A"

    assert leader_after(found.taken) == "B"
    options = itertools.product(*(range(count + 1) for count in battles.count))
    fewer = [taken for taken in options if sum(taken) < found.votes]
    assert fewer
    assert {leader_after(taken) for taken in fewer} == {"A"}


@pytest.mark.unit
def test_a_clear_leader_is_not_replaced_within_the_limit():
    battles = drawn(np.array([3.0, 0.0, -0.5]), 2000, 8)
    assert fewest_removals(battles, limit=20) is None
    with pytest.raises(ValueError, match="no finite scores"):
        fewest_removals(table(("A", "B", 3, 0, 0)))


def log_products(voter, a, b, y):
    """Both products vote by vote, from the definition."""
    bags: dict = {}
    below, above = {}, {}
    for who, i, j, score in zip(voter, a, b, y, strict=True):
        if i > j:
            i, j, score = j, i, 1 - score
        bag = bags.setdefault((i, j), [])
        bag.append(score)
        for sums, sign in ((below, 1), (above, -1)):

            def p(vote, bag=bag, sign=sign):
                return np.mean([sign * other <= sign * vote for other in bag])

            e = 1 / p(score) / np.mean([1 / p(vote) for vote in bag])
            sums[who] = sums.get(who, 0.0) + math.log(e)
    return below, above


@pytest.mark.unit
def test_the_products_follow_their_definition():
    rng = np.random.default_rng(9)
    a, b = deal(3, 150, rng)
    voter, y = rng.integers(0, 6, 150), rng.choice([0.0, 0.5, 1.0], 150)
    below, above = log_products(voter, a, b, y)
    found = voter_test(voter, a, b, y)
    assert found.below == pytest.approx([below[k] for k in range(6)])
    assert found.above == pytest.approx([above[k] for k in range(6)])
    assert found.votes.sum() == 150


@pytest.mark.unit
def test_the_faithful_rule_multiplies_one_over_two_p():
    # Ten votes 0 by others, then five votes 1 by voter 1: at or above, p = k/(10 + k).
    voter = np.array([0] * 10 + [1] * 5)
    y = np.array([0.0] * 10 + [1.0] * 5)
    a, b = np.zeros(15, int), np.ones(15, int)
    found = voter_test(voter, a, b, y, faithful=True)
    want = sum(math.log((10 + k) / (2 * k)) for k in range(1, 6))
    assert found.above[1] == pytest.approx(want)
    assert found.below[1] == pytest.approx(5 * math.log(0.5))
    assert list(found.flagged) == [False, True]
    turned = voter_test(voter, b, a, 1 - y, faithful=True)
    assert turned.above == pytest.approx(found.above)


@pytest.mark.statistical
def test_honest_voters_are_rarely_flagged_and_contrary_ones_mostly():
    # 300 honest voters with ties: at most 5 % are flagged on average; 37 with chance 1e-6.
    rng = np.random.default_rng(10)
    n = 12_000
    crowd = Crowd(np.array([1.2, 0.0, -1.2]), ties=0.2)
    a, b = deal(3, n, rng)
    y, voter = crowd.vote(a, b, rng), rng.integers(0, 310, n)
    contrary = (voter >= 300) & (np.arange(n) > 2000)
    worse = (np.where(crowd.theta[a] < crowd.theta[b], 1.0, 0.0))[contrary]
    y[contrary] = worse
    found = voter_test(voter, a, b, y)
    assert found.flagged[:300].sum() <= stats.binom.isf(1e-6, 300, 0.05)
    assert found.flagged[300:].sum() >= 8


@pytest.mark.unit
def test_no_votes_make_no_voters():
    none = np.empty(0, int)
    assert voter_test(none, none, none, []).flagged.size == 0
