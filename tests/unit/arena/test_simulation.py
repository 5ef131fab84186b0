"""Simulated voters, attacks on the table, and defences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from models.arena.defences import anonymous, daily_cap, not_too_frequent, plausible
from models.arena.rigging import Attack, rig
from models.arena.study import coverage_trial, recovery_trial
from models.arena.voters import Crowd, deal, uniform_chance, without_ties
from models.ranking.bradley_terry import fit, fit_scores
from models.ranking.voters import voter_test

FIVE = np.array([0.9, 0.4, 0.0, -0.4, -0.9])


@pytest.mark.statistical
def test_votes_have_the_chances_that_the_crowd_says():
    # Each of 20 ordered pairs has about 10,000 votes, so that 0.03 is 6 standard errors (4e-8).
    crowd = Crowd(FIVE, gamma=0.7, ties=0.1, careless=0.2)
    rng = np.random.default_rng(1)
    a, b = deal(5, 200_000, rng)
    y = crowd.vote(a, b, rng)
    for i, j in np.argwhere(uniform_chance(5) > 0):
        own = (a == i) & (b == j)
        assert y[own].mean() == pytest.approx(
            crowd.chance(np.array([i]), np.array([j]))[0], abs=0.03
        )
    assert np.mean(y == 0.5) == pytest.approx(0.1, abs=0.005)
    assert set(np.unique(y)) == {0.0, 0.5, 1.0}
    assert not (a == b).any()


@pytest.mark.unit
def test_the_target_is_the_truth_without_ties_and_smaller_with_them():
    even = uniform_chance(5)
    assert Crowd(FIVE).target(even) == pytest.approx(FIVE, abs=1e-8)
    tied = Crowd(FIVE, ties=0.08).target(even)
    assert np.ptp(tied) < np.ptp(FIVE)
    assert without_ties(tied, 0.08) == pytest.approx(FIVE, abs=0.05)
    careless = Crowd(FIVE, careless=0.08).target(even)
    assert careless == pytest.approx(tied, abs=1e-8)
    biased = Crowd(FIVE, gamma=1.5).target(even)
    assert (np.diff(biased) < 0).all()
    assert biased + biased[::-1] == pytest.approx(np.zeros(5), abs=1e-8)
    assert np.ptp(biased) < np.ptp(FIVE)


@pytest.mark.statistical
def test_strengths_are_recovered_from_a_hundred_thousand_votes():
    # The error's mean is 0.038 with a deviation of 0.004 over tables: 0.1 is 15 of them away.
    for seed in range(3):
        error, rank = recovery_trial(np.random.default_rng(seed), 50, 100_000, 0.08)
        assert error < 0.1
        assert rank > 0.98


@pytest.mark.statistical
def test_both_kinds_of_intervals_cover_at_their_level():
    # Over 200 tables of ten models the mean coverage strays by about 0.5 points: with the
    # bootstrap's known deficit of a point, 91 is five of them away (3e-7).
    shares = np.array(
        [coverage_trial(np.random.default_rng([3, k]), 10, 2000, 0.08) for k in range(200)]
    )
    sandwich, resampled = 100 * shares.mean(axis=0)
    assert 93 <= sandwich <= 98
    assert 91 <= resampled <= 97


@pytest.mark.unit
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ties": 0.6, "careless": 0.5}, "sum to less than 1"),
        ({"ties": -0.1}, "must not be negative"),
        ({"theta": np.array([np.inf, 0])}, "finite"),
    ],
)
def test_an_impossible_crowd_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Crowd(**({"theta": FIVE} | options))


def honest(n: int = 4000, seed: int = 5):
    crowd, rng = Crowd(FIVE), np.random.default_rng(seed)
    return crowd, crowd.battles(*deal(5, n, rng), rng)


@pytest.mark.unit
@pytest.mark.parametrize("strategy", ["target only", "omnipresent"])
def test_an_attack_lifts_its_target_and_accounts_for_its_votes(strategy):
    crowd, battles = honest()
    attack = Attack("m03", strategy, share=0.5, otherwise="normal")
    states = list(rig(battles, crowd, attack, np.random.default_rng(6), 4000))
    assert states[0].rank == 4
    assert states[-1].rank < 4
    assert states[-1].dealt == 4000
    assert states[-1].cast == sum(int(s.hostile.sum()) for s in states)
    assert sum(s.a.size for s in states) == 4000
    assert stats.binom.cdf(states[-1].cast, 4000, 0.5) == pytest.approx(0.5, abs=0.4999995)
    scores = battles.scores.copy()
    for state in states:
        np.add.at(scores, (state.a, state.b), state.score)
        np.add.at(scores, (state.b, state.a), 1 - state.score)
    a, b = np.nonzero(scores)
    assert scores.sum() == battles.n + 4000
    assert states[-1].rank == 1 + (states[-1].beta > states[-1].beta[3]).sum()
    assert a.size == b.size == 20


@pytest.mark.unit
def test_an_abstaining_attacker_votes_only_where_the_target_is():
    crowd, battles = honest()
    attack = Attack("m04", "target only", otherwise="abstain")
    for state in rig(battles, crowd, attack, np.random.default_rng(7), 500):
        assert ((state.a == 4) | (state.b == 4)).all()
        assert (state.score == (state.a == 4)).all()


@pytest.mark.unit
def test_an_attacker_who_recognises_nothing_is_an_honest_crowd():
    crowd, battles = honest()
    attack = Attack("m04", "omnipresent", otherwise="normal", accuracy=0.0)
    states = list(rig(battles, crowd, attack, np.random.default_rng(8), 3000))
    assert states[-1].rank == 5
    ties = Attack("m04", "omnipresent", otherwise="tie", accuracy=0.0)
    last = list(rig(battles, crowd, ties, np.random.default_rng(8), 300))[-1]
    assert (last.score == 0.5).all()


@pytest.mark.unit
def test_omnipresent_votes_are_those_that_raise_the_gap():
    """Each single vote, refitted, must move the target towards the model just ahead."""
    crowd, battles = honest(600)
    beta = fit(battles)
    order = list(np.argsort(-beta))
    target = order[3]
    attack = Attack(battles.models[target], "omnipresent", batch=40)
    rng = np.random.default_rng(9)
    _, state = list(rig(battles, crowd, attack, rng, 40))
    ahead = order[2]
    for a, b, y in zip(state.a, state.b, state.score, strict=True):
        gains = []
        for outcome in (0.0, 1.0):
            scores = battles.scores.copy()
            scores[a, b] += outcome
            scores[b, a] += 1 - outcome
            again = fit_scores(scores)
            gains.append((again[target] - again[ahead]) - (beta[target] - beta[ahead]))
        assert y == np.argmax(gains)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "magic"}, "strategy is 'magic'"),
        ({"otherwise": "magic"}, "vote otherwise is 'magic'"),
        ({"accuracy": 1.5}, r"accuracy is 1\.5"),
        ({"share": 0}, "share is 0"),
        ({"batch": 0}, "batch is 0"),
    ],
)
def test_an_impossible_attack_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Attack(**({"target": "m00"} | options))


@pytest.mark.unit
def test_an_unknown_target_is_refused():
    crowd, battles = honest(200)
    with pytest.raises(ValueError, match="'m99' is not among the models"):
        next(rig(battles, crowd, Attack("m99"), np.random.default_rng(0), 10))


@pytest.mark.unit
def test_the_daily_cap_keeps_the_first_votes_of_each_day():
    day = 86_400.0
    voter = np.array([0, 0, 0, 1, 0, 0, 1])
    seconds = np.array([30, 10, 20, 5, day + 1, np.nan, np.nan])
    kept = daily_cap(voter, seconds, 2)
    assert list(kept) == [False, True, True, True, True, True, True]
    assert list(daily_cap(voter, seconds, 1)) == [False, True, False, True, True, True, True]
    with pytest.raises(ValueError, match="daily cap is 0"):
        daily_cap(voter, seconds, 0)


@pytest.mark.unit
def test_implausible_votes_are_dropped_and_ties_are_not():
    a, b, y = np.array([0, 0, 0, 4]), np.array([4, 4, 4, 0]), np.array([1, 0, 0.5, 1])
    chance = special.expit(1.8)
    assert list(plausible(a, b, y, FIVE, 0.2)) == [True, False, True, False]
    assert plausible(a, b, y, FIVE, 1 - chance - 1e-9).all()
    with pytest.raises(ValueError, match="least chance is 1"):
        plausible(a, b, y, FIVE, 1.0)


@pytest.mark.unit
def test_votes_that_name_a_model_are_dropped():
    texts = ["As GPT-4o, I", "claude code", "Claudette", "llama.3", "plain"]
    kept = anonymous(texts, ["gpt-4o", "Claude", "llama.3"])
    assert list(kept) == [False, False, True, False, True]
    assert anonymous(texts, []).all()


@pytest.mark.unit
def test_frequent_prompts_are_thinned_out_and_others_kept():
    prompts = ["hi"] * 500 + [f"p{k}" for k in range(1000)]
    kept = not_too_frequent(prompts, np.random.default_rng(0), quantile=0.99)
    assert kept[500:].all()
    assert kept[:500].sum() == 1
    assert not_too_frequent(prompts, np.random.default_rng(0), quantile=1).all()
    assert not_too_frequent([], np.random.default_rng(0)).size == 0


@pytest.mark.statistical
def test_the_sequential_test_finds_a_rigger_among_honest_voters():
    """His votes all go to the weakest model; over ten voters none but him may be flagged."""
    crowd, rng = Crowd(FIVE), np.random.default_rng(11)
    a, b = deal(5, 6000, rng)
    y, voter = crowd.vote(a, b, rng), rng.integers(0, 10, 6000)
    rigged = (voter == 9) & ((a == 4) | (b == 4)) & (np.arange(6000) > 1000)
    y[rigged] = (a == 4)[rigged]
    found = voter_test(voter, a, b, y, alpha=1e-7)
    assert list(np.flatnonzero(found.flagged)) == [9]
