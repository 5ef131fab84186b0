"""Simulated populations: closed forms, and what each slider does to the predictions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from models.checks import Float
from models.quest.simulate import (
    KINDS,
    RATING_SHARES,
    pareto_index,
    simulate_population,
)

ROWS = 100_000
# |z| > 4.9 happens by chance with probability 1e-6; each seeded test is judged by that bound.
Z = 4.9


QUANTILES: dict[str, Callable[[Float], Float]] = {
    "gaussian": stats.norm.ppf,
    "lognormal": stats.lognorm(0.8).ppf,
    "pareto": stats.pareto(pareto_index(0.8)).ppf,
}


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("kind", "tail", "expected"),
    [
        ("gaussian", 1.0, 0.0),
        ("lognormal", 0.2, math.exp(0.02)),
        ("pareto", 0.5, 4 / 3),
        ("ratings", 1.0, 3.27),
    ],
)
def test_mean_is_near_its_closed_form(kind: str, tail: float, expected: float) -> None:
    gold, _ = simulate_population(kind, ROWS, 0.5, 0.3, 0.2, tail, seed=11)
    assert abs(gold.mean() - expected) < Z * gold.std() / math.sqrt(ROWS)


@pytest.mark.unit
@given(tail=st.floats(0.05, 3.0))
def test_pareto_variance_is_always_finite_and_heavier_tails_have_a_smaller_index(
    tail: float,
) -> None:
    assert pareto_index(tail) > 2.0
    assert pareto_index(tail) > pareto_index(tail + 0.01)
    assert pareto_index(1.0) == 3.0


@pytest.mark.statistical
@pytest.mark.parametrize("kind", list(QUANTILES))
def test_gold_values_follow_the_quantile_function(kind: str) -> None:
    gold, _ = simulate_population(kind, ROWS, 0.5, 0.3, 0.2, 0.8, seed=1)
    levels = np.linspace(0.01, 0.99, 99)
    below = (gold[:, None] <= QUANTILES[kind](levels)).mean(axis=0)
    # One bound for the largest of 99 binomial shares (Dvoretzky-Kiefer-Wolfowitz, level 1e-6).
    assert np.abs(below - levels).max() < math.sqrt(math.log(2e6) / (2 * ROWS))


@pytest.mark.statistical
def test_ratings_have_their_shares() -> None:
    gold, predictions = simulate_population("ratings", ROWS, 0.5, 0.0, 0.0, 1.0, seed=2)
    for values in (gold, predictions):
        ratings, counts = np.unique(values, return_counts=True)
        assert ratings.tolist() == [1, 2, 3, 4, 5]
        assert stats.chisquare(counts, ROWS * np.array(RATING_SHARES)).pvalue > 1e-6


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS)
def test_useless_predictions_are_independent_with_the_same_distribution(kind: str) -> None:
    gold, predictions = simulate_population(kind, ROWS, 0.0, 0.0, 0.0, 1.0, seed=3)
    ranks = stats.spearmanr(gold, predictions).statistic
    assert abs(ranks) < Z / math.sqrt(ROWS - 1)
    counts = np.histogram2d(
        stats.rankdata(gold) > ROWS / 2, stats.rankdata(predictions) > ROWS / 2, bins=2
    )[0]
    assert stats.chi2_contingency(counts).pvalue > 1e-6
    assert stats.ks_2samp(gold, predictions).pvalue > 1e-6


@pytest.mark.unit
@pytest.mark.parametrize("kind", KINDS)
def test_perfect_predictions_equal_the_gold_values(kind: str) -> None:
    gold, predictions = simulate_population(kind, 1000, 1.0, 0.0, 0.0, 1.0, seed=4)
    np.testing.assert_array_equal(predictions, gold)


@pytest.mark.statistical
def test_quality_is_the_correlation_of_the_normal_scores() -> None:
    for quality in (0.2, 0.5, 0.8, 0.95):
        gold, predictions = simulate_population("gaussian", ROWS, quality, 0.0, 0.0, 1.0, seed=5)
        found = np.corrcoef(gold, predictions)[0, 1]
        assert abs(math.atanh(found) - math.atanh(quality)) < Z / math.sqrt(ROWS - 3)


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS)
def test_better_models_correlate_more(kind: str) -> None:
    ranks = [
        stats.spearmanr(*simulate_population(kind, 20_000, q, 0.3, 0.2, 1.0, seed=6)).statistic
        for q in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    # Steps of about 0.2 with a standard error below 0.01: an inversion is a chance below 1e-80.
    assert np.diff(ranks).min() > 0.05


@pytest.mark.unit
@pytest.mark.parametrize(
    ("kind", "tail", "sd"),
    [
        ("gaussian", 1.0, 1.0),
        ("lognormal", 0.5, math.sqrt(math.expm1(0.25)) * math.exp(0.125)),
        ("pareto", 1.0, math.sqrt(3.0) / 2),
    ],
)
def test_bias_shifts_predictions_by_standard_deviations(kind: str, tail: float, sd: float) -> None:
    fair = simulate_population(kind, 500, 0.7, 0.0, 0.0, tail, seed=7)
    biased = simulate_population(kind, 500, 0.7, -1.5, 0.0, tail, seed=7)
    np.testing.assert_array_equal(fair[0], biased[0])
    np.testing.assert_allclose(biased[1] - fair[1], -1.5 * sd, rtol=1e-9)


@pytest.mark.statistical
def test_noise_adds_its_own_variance() -> None:
    exact = simulate_population("lognormal", ROWS, 0.7, 0.0, 0.0, 0.5, seed=8)[1]
    noisy = simulate_population("lognormal", ROWS, 0.7, 0.0, 2.0, 0.5, seed=8)[1]
    scatter = (noisy - exact) / (math.sqrt(math.expm1(0.25)) * math.exp(0.125))
    assert abs(scatter.mean()) < Z * 2.0 / math.sqrt(ROWS)
    assert abs(scatter.var() / 4.0 - 1.0) < Z * math.sqrt(2.0 / ROWS)


@pytest.mark.unit
def test_lenient_judges_still_give_ratings() -> None:
    gold, lenient = simulate_population("ratings", 5000, 0.9, 1.0, 0.5, 1.0, seed=9)
    assert set(lenient.tolist()) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert lenient.mean() > gold.mean() + 0.5


@pytest.mark.unit
@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"kind": "cauchy"}, r"'cauchy' is unknown; choose one of gaussian, lognormal"),
        ({"quality": 1.1}, r"quality is 1\.1, but must lie between 0 and 1\."),
        ({"quality": math.nan}, r"quality is nan, but must lie between 0 and 1\."),
        ({"bias": -11.0}, r"bias is -11, but must lie between -10 and 10\."),
        ({"noise": -0.1}, r"noise is -0\.1, but must lie between 0 and 10\."),
        ({"tail": 0.0}, r"tail is 0, but must lie between 0\.05 and 3\."),
    ],
)
def test_wrong_settings_are_named_with_their_range(
    changed: dict[str, object], sentence: str
) -> None:
    settings = {"quality": 0.5, "bias": 0.0, "noise": 0.0, "tail": 1.0, "kind": "gaussian"}
    with pytest.raises(ValueError, match=sentence):
        simulate_population(**settings | changed, rows=10, seed=0)
