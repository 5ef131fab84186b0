"""Strengths, intervals and plain tables, against golden values, brute force and symmetries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special

from models.ranking.battles import aggregate, from_names, from_scores
from models.ranking.bradley_terry import ELO, elo, fit, fit_scores, log_likelihood
from models.ranking.matrices import average_win_rate, win_matrix
from models.ranking.table import rank_ub
from models.ranking.uncertainty import (
    bootstrap,
    inverse_hessian,
    sandwich,
    standard_errors,
)
from tests.unit.arena.tables import SHARED, from_case, golden, synthetic, table

SMALL = golden("bt_small")
CASES = {case["name"]: case for case in SMALL["cases"]}
EXISTING = [name for name, case in CASES.items() if case["mle"]]
TOLERANCE = SMALL["conventions"]["tolerances"]


@pytest.mark.golden
@pytest.mark.parametrize("name", EXISTING)
def test_scores_and_errors_of_small_tables(name):
    battles, want = from_case(CASES[name]), CASES[name]["mle"]
    beta = fit(battles)
    assert battles.n == CASES[name]["n_battles"]
    assert elo(beta) == pytest.approx(want["elo"], abs=TOLERANCE["elo_mle"])
    error = ELO * np.sqrt(np.diag(sandwich(battles, beta)))
    assert error == pytest.approx(want["se_sandwich_elo"], abs=TOLERANCE["se"])
    fisher = ELO * np.sqrt(np.diag(inverse_hessian(battles, beta)))
    assert fisher == pytest.approx(want["se_fisher_elo"], abs=TOLERANCE["se"])
    assert -log_likelihood(battles.scores, beta) == pytest.approx(want["neg_loglik"], abs=1e-7)
    ends = np.array(want["ci95_sandwich_elo"])
    if "rank_ub_from_sandwich" in want:
        assert list(rank_ub(*ends.T)) == want["rank_ub_from_sandwich"]


@pytest.mark.golden
@pytest.mark.parametrize("name", CASES)
def test_ridge_scores_and_score_shares_of_small_tables(name):
    battles = from_case(CASES[name])
    for ridge, want in CASES[name]["map_ridge"].items():
        got = elo(fit(battles, ridge=float(ridge)))
        assert got == pytest.approx(want, abs=TOLERANCE["map_ridge"])
    share = battles.scores.sum(axis=1) / battles.games.sum(axis=1)
    assert share == pytest.approx(CASES[name]["score_share"], abs=1e-6)


@pytest.mark.golden
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "bootstrap" in case])
def test_bootstrap_of_small_tables(name):
    battles, want = from_case(CASES[name]), CASES[name]["bootstrap"]
    rows = [
        [battles.models[a], battles.models[b], y]
        for a, b, y in zip(battles.a, battles.b, battles.score, strict=True)
    ]
    assert rows == want["unique_rows_a_b_outcome"]
    assert list(battles.count) == want["unique_row_counts"]
    drawn = bootstrap(
        battles, want["R"], np.random.default_rng(want["seed"]), ridge=want["ridge_lambda"]
    )
    low, high = drawn.quantiles()
    within = TOLERANCE["bootstrap_quantiles"]
    assert elo(low) == pytest.approx(want["q025"], abs=within)
    assert elo(high) == pytest.approx(want["q975"], abs=within)
    assert elo(np.median(drawn.betas, axis=0)) == pytest.approx(want["q500"], abs=within)
    assert list(rank_ub(low, high)) == want["rank_ub"]
    assert drawn.by_ridge == 0


@pytest.mark.golden
def test_a_hundred_thousand_battles_of_fifty_models():
    want, a, b, y, names = synthetic()
    battles = aggregate(names, a, b, y)
    assert (battles.a.size, y.sum()) == (want["unique_rows"], want["sum_y"])
    beta = fit(battles)
    assert elo(beta) == pytest.approx(want["elo_mle"], abs=want["tolerance_elo"])
    errors = ELO * standard_errors(battles, beta)
    assert errors == pytest.approx(want["se_sandwich_elo"], abs=want["tolerance_se"])
    quantiles = want["bootstrap"]
    rng = np.random.default_rng(quantiles["seed"])
    low, high = bootstrap(battles, quantiles["R"], rng, start=beta).quantiles()
    assert elo(low) == pytest.approx(quantiles["q025"], abs=0.05)
    assert elo(high) == pytest.approx(quantiles["q975"], abs=0.05)


@pytest.mark.golden
@pytest.mark.skipif(not SHARED.is_dir(), reason="the released votes are not part of the project")
def test_the_released_examples():
    lines = (SHARED / "copilot_arena_v1_votes.csv").read_text().splitlines()[1:]
    rows = [line.split(",") for line in lines]
    battles = from_names(
        [row[0] for row in rows], [row[1] for row in rows], [1 - float(row[2]) for row in rows]
    )
    want = golden("copilot_arena_v1_bt")
    assert elo(fit(battles)) == pytest.approx(want["mle_elo"], abs=1e-3)
    for ridge in (0.1, 1.0):
        expected = want[f"ridge_{ridge}"]["elo_no_position_term"]
        assert elo(fit(battles, ridge=ridge)) == pytest.approx(expected, abs=1e-3)
    drawn = bootstrap(battles, 200, np.random.default_rng(0), ridge=1.0)
    low, high = drawn.quantiles()
    assert elo(low) == pytest.approx(want["bootstrap_ridge1_R200_seed0"]["q025"], abs=0.05)
    assert elo(high) == pytest.approx(want["bootstrap_ridge1_R200_seed0"]["q975"], abs=0.05)


def drawn_table(seed: int, m: int, n: int):
    """Random battles with a cycle through all models, so that the maximum exists."""
    rng = np.random.default_rng(seed)
    ring = np.arange(m)
    a = np.concatenate([ring, rng.integers(0, m, n)])
    b = np.concatenate([(ring + 1) % m, (a[m:] + rng.integers(1, m, n)) % m])
    y = np.concatenate([np.ones(m), rng.choice([0.0, 0.5, 1.0], n)])
    return [f"m{i:02d}" for i in range(m)], a, b, y


seeds = st.integers(0, 2**32 - 1)


@pytest.mark.unit
@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(2, 7), st.integers(0, 60), st.sampled_from([0.0, 0.3]))
def test_strengths_maximise_the_likelihood(seed, m, n, ridge):
    names, a, b, y = drawn_table(seed, m, n)

    def loss(beta):
        gap = beta[a] - beta[b]
        fitted = y * special.log_expit(gap) + (1 - y) * special.log_expit(-gap)
        return -fitted.sum() + (ridge + 1e-9) / 2 * beta @ beta

    want = optimize.minimize(loss, np.zeros(m), method="BFGS", options={"gtol": 1e-7}).x
    got = fit(aggregate(names, a, b, y), ridge=ridge)
    assert got == pytest.approx(want - want.mean(), abs=2e-4)
    assert loss(got) <= loss(want) + 1e-9


@pytest.mark.unit
@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(2, 7), st.integers(0, 60))
def test_order_of_rows_and_of_sides_changes_nothing(seed, m, n):
    names, a, b, y = drawn_table(seed, m, n)
    beta = fit(aggregate(names, a, b, y))
    rng = np.random.default_rng(seed)
    order, swap = rng.permutation(a.size), rng.random(a.size) < 0.5
    first, second = np.where(swap, b, a)[order], np.where(swap, a, b)[order]
    again = aggregate(names, first, second, np.where(swap, 1 - y, y)[order])
    assert fit(again) == pytest.approx(beta, abs=1e-8)
    assert standard_errors(again, beta) == pytest.approx(
        standard_errors(aggregate(names, a, b, y), beta), abs=1e-8
    )


@pytest.mark.unit
@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(2, 7), st.integers(0, 60))
def test_a_shift_of_the_start_and_repeated_votes_change_no_score(seed, m, n):
    names, a, b, y = drawn_table(seed, m, n)
    once = aggregate(names, a, b, y)
    beta = fit(once)
    assert fit_scores(once.scores, start=np.full(m, 7.0)) == pytest.approx(beta, abs=1e-8)
    thrice = aggregate(names, np.tile(a, 3), np.tile(b, 3), np.tile(y, 3))
    assert fit(thrice) == pytest.approx(beta, abs=1e-8)
    assert standard_errors(thrice, beta) == pytest.approx(
        standard_errors(once, beta) / np.sqrt(3), rel=1e-6
    )


@pytest.mark.unit
def test_a_stack_of_tables_is_fitted_as_each_alone():
    stack = np.stack([aggregate(*drawn_table(seed, 6, 40)).scores for seed in range(9)])
    alone = [fit_scores(scores) for scores in stack]
    assert fit_scores(stack) == pytest.approx(np.array(alone), abs=1e-9)


@pytest.mark.unit
def test_the_sandwich_is_the_mean_of_squared_influences():
    battles = aggregate(*drawn_table(3, 5, 200))
    beta = fit(battles)
    p = special.expit(beta[battles.a] - beta[battles.b])
    d = np.eye(5)[battles.a] - np.eye(5)[battles.b]
    hessian = np.einsum("r,ri,rj->ij", battles.count * p * (1 - p), d, d)
    meat = np.einsum("r,ri,rj->ij", battles.count * (battles.score - p) ** 2, d, d)
    want = np.linalg.pinv(hessian) @ meat @ np.linalg.pinv(hessian)
    assert sandwich(battles, beta) == pytest.approx(want, abs=1e-10)


@pytest.mark.statistical
def test_sandwich_and_bootstrap_widths_agree_for_thousands_of_votes():
    # A bootstrap deviation from 2,000 rounds strays by 1.6 %, so that 15 % is nine deviations.
    battles = aggregate(*drawn_table(11, 6, 4000))
    beta = fit(battles)
    spread = bootstrap(battles, 2000, np.random.default_rng(5), start=beta).betas.std(axis=0)
    assert spread == pytest.approx(standard_errors(battles, beta), rel=0.15)


@pytest.mark.unit
def test_weights_count_like_repeated_votes_and_reweighting_evens_out_pairs():
    names, a, b, y = drawn_table(4, 4, 30)
    weight = np.where(y == 1, 3.0, 1.0)
    repeated = np.repeat(np.arange(a.size), weight.astype(int))
    heavy = fit(aggregate(names, a, b, y, weight))
    assert heavy == pytest.approx(fit(aggregate(names, a[repeated], b[repeated], y[repeated])))
    uneven = table(("A", "B", 600, 400, 0), ("B", "C", 60, 40, 0), ("C", "A", 30, 20, 0))
    even = uneven.reweighted(floor=50)
    games = even.games[np.triu_indices(3, 1)]
    assert games == pytest.approx([uneven.n / 3] * 3)
    assert even.reweighted(10**6).weight == pytest.approx(np.ones(even.a.size))
    with pytest.raises(ValueError, match="floor is 0"):
        uneven.reweighted(0)


@pytest.mark.unit
def test_the_sandwich_squares_weights_that_are_not_counts():
    names, a, b, y = drawn_table(8, 4, 300)
    doubled = aggregate(names, a, b, y, np.full(a.size, 2.0))
    plain = aggregate(names, a, b, y)
    beta = fit(plain)
    # Twice the weight of every battle is no new evidence.
    assert standard_errors(doubled, beta) == pytest.approx(standard_errors(plain, beta))


@pytest.mark.unit
def test_rank_stability_shares():
    battles = table(("A", "B", 900, 100, 0), ("B", "C", 50, 50, 0))
    shares = bootstrap(battles, 400, np.random.default_rng(0)).rank_shares()
    assert shares.sum(axis=0) == pytest.approx(np.ones(3))
    assert shares.sum(axis=1) == pytest.approx(np.ones(3))
    assert shares[0, 0] == 1.0
    assert 0.3 < shares[1, 1] < 0.7


@pytest.mark.unit
def test_win_matrix_leaves_ties_out_and_empty_pairs_blank():
    battles = table(("A", "B", 3, 1, 5), ("B", "C", 0, 2, 0), ("C", "D", 0, 0, 4))
    shares = win_matrix(battles)
    nan = np.nan
    want = [[nan, 0.75, nan, nan], [0.25, nan, 0, nan], [nan, 1, nan, nan], [nan] * 4]
    assert shares == pytest.approx(np.array(want), nan_ok=True)
    assert average_win_rate(battles) == pytest.approx([0.75, 0.125, 1, nan], nan_ok=True)


@pytest.mark.unit
def test_whole_tables_of_wins_are_read_as_battles():
    battles = from_scores(["A", "B"], [[0, 3], [1, 0]], [[0, 2], [0, 0]])
    assert battles.scores == pytest.approx(np.array([[0, 4], [2, 0]]))
    assert battles.n == 6


@pytest.mark.unit
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": [0, 1]}, r"Battle 1 \(counted from 0\) names one model on both sides"),
        ({"a": [0, 2]}, r"a is 2 in battle 1, but must be in \[0, 2\)"),
        ({"a": [0.0, 0.5]}, "a must hold whole numbers"),
        ({"a": [0]}, "must pair up row by row"),
        ({"score": [1, 0.7]}, "Battle 1 .* none of 0, 0.5 and 1"),
        ({"score": [np.nan, 1]}, "Battle 0 .* none of 0, 0.5 and 1"),
        ({"weight": [1, 0]}, "Battle 1 .* weight that is not positive"),
        ({"count": [0, 1]}, "Battle 0 .* count below 1"),
        ({"models": ["B", "A"]}, "alphabetical"),
    ],
)
def test_bad_battles_are_refused_in_one_sentence(change, message):
    given_ = {"models": ["A", "B"], "a": [0, 0], "b": [1, 1], "score": [1, 0]} | change
    with pytest.raises(ValueError, match=message):
        aggregate(**given_)


@pytest.mark.unit
def test_fit_refuses_what_has_no_finite_scores():
    with pytest.raises(ValueError, match="models A, B have no finite Bradley-Terry scores"):
        fit(table(("A", "B", 3, 0, 0)))
    with pytest.raises(ValueError, match="ridge is -1"):
        fit_scores(np.ones((2, 2)), ridge=-1)
    with pytest.raises(ValueError, match="does not converge"):
        fit_scores(np.array([[0.0, 5.0], [0.0, 0.0]]))
