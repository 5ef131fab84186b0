"""Weights on the quantile function, and plug-in values of samples under them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from models.quest import measures
from models.quest.influence import plug_in, rank, summarise, weight_influence
from models.quest.measures import ExponentialWeight, Quantile, StepWeight

pytestmark = pytest.mark.unit

cheap = settings(max_examples=50, deadline=None, derandomize=True)

WEIGHTS = [
    measures.mean(),
    measures.cvar_upper(0.8),
    measures.cvar_lower(0.2),
    measures.interval(0.25, 0.75),
    measures.interval(1 / 3, 2 / 3),
    measures.steps((0, 0.1, 0.5, 0.9, 1), (3, 1, 1, 3)),
    measures.steps((0.1, 0.4, 0.6), (-1, 3)),
    ExponentialWeight(3.0),
    ExponentialWeight(-2.0),
]
IDS = [weight.name for weight in WEIGHTS]
levels = st.floats(0.01, 0.99)
samples = st.lists(st.floats(-100, 100), min_size=2, max_size=30).map(
    lambda values: np.array(sorted(values))
)


@pytest.mark.parametrize("weight", WEIGHTS, ids=IDS)
def test_antiderivative_rises_from_zero_to_one_and_is_flat_outside(weight):
    psi = weight.antiderivative([-3.0, 0.0, 1.0, 4.0])
    assert psi == pytest.approx([0, 0, 1, 1], abs=1e-12)
    if not weight.signed:
        assert (np.diff(weight.antiderivative(np.linspace(0, 1, 501))) >= 0).all()


@pytest.mark.parametrize("weight", WEIGHTS, ids=IDS)
def test_plug_in_is_the_integral_of_the_empirical_quantile_function(weight):
    x = np.sort(np.random.default_rng(1).normal(size=7))
    # Between (i-1)/7 and i/7 the quantile function is x_(i): integrate psi there numerically.
    total = 0.0
    for i in range(7):
        p = np.linspace(i / 7, (i + 1) / 7, 2001)
        psi = np.diff(weight.antiderivative(p)) / np.diff(p)
        total += x[i] * integrate.trapezoid(np.repeat(psi, 2), np.repeat(p, 2)[1:-1])
    assert plug_in(x, weight) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("weight", WEIGHTS, ids=IDS)
def test_effective_share_is_one_over_the_integral_of_the_squared_weight(weight):
    def square(p: float) -> float:
        h = 1e-6
        return float(np.diff(weight.antiderivative([p - h, p + h]))[0] / (2 * h)) ** 2

    edges = weight.edges if isinstance(weight, StepWeight) else (0.0, 1.0)
    inside = [(left + 2e-6, right - 2e-6) for left, right in pairwise(edges)]
    total = sum(integrate.quad(square, *pair)[0] for pair in inside)
    assert weight.effective_share == pytest.approx(1 / total, rel=1e-3)


def test_measures_of_one_to_ten_by_hand():
    x = np.arange(1.0, 11.0)
    assert plug_in(x, measures.mean()) == pytest.approx(5.5)
    assert plug_in(x, measures.cvar_upper(0.8)) == pytest.approx(9.5)
    assert plug_in(x, measures.cvar_lower(0.25)) == pytest.approx((1 + 2 + 0.5 * 3) / 2.5)
    assert plug_in(x, measures.interval(0.25, 0.75)) == pytest.approx(5.5)
    assert plug_in(x, measures.interval(0.3, 0.6)) == pytest.approx(5.0)
    assert plug_in(x, measures.steps((0, 0.5, 1), (1, 3))) == pytest.approx((3 + 3 * 8) / 4)


@cheap
@given(samples, st.integers(1, 60))
def test_border_observations_count_by_their_exact_fraction(x, tail):
    """CVaR against exact rational arithmetic: the tail size n(1-b) is never rounded."""
    b = Fraction(tail, 61)
    left = len(x) * (1 - b)
    total = Fraction(0)
    for value in x[::-1]:
        take = min(left, Fraction(1))
        total += take * Fraction(float(value))
        left -= take
    want = float(total / (len(x) * (1 - b)))
    assert plug_in(x, measures.cvar_upper(float(b))) == pytest.approx(want, rel=1e-9, abs=1e-9)


@cheap
@given(samples, levels)
def test_upper_and_lower_tail_average_to_the_mean(x, b):
    upper, lower = measures.cvar_upper(b), measures.cvar_lower(b)
    mixed = (1 - b) * plug_in(x, upper) + b * plug_in(x, lower)
    assert mixed == pytest.approx(x.mean(), rel=1e-9, abs=1e-9)


@cheap
@given(samples, levels)
def test_upper_tail_mean_lies_between_the_quantile_and_the_maximum(x, b):
    value = plug_in(x, measures.cvar_upper(b))
    assert x[rank(x.size, b) - 1] - 1e-9 <= value <= x[-1] + 1e-9


@cheap
@given(samples, st.sampled_from(WEIGHTS))
def test_influence_values_have_mean_zero_and_rise_with_the_value(x, weight):
    influence = weight_influence(x, weight)
    assert abs(influence.mean()) <= 1e-9 * (1 + np.abs(influence).max())
    if not weight.signed:
        assert (np.diff(influence) >= 0).all()


@cheap
@given(samples)
def test_influence_of_the_mean_is_the_deviation_from_it(x):
    assert weight_influence(x, measures.mean()) == pytest.approx(x - x.mean(), abs=1e-9)


@pytest.mark.parametrize(
    ("weight", "psi"),
    [
        (ExponentialWeight(3.0), lambda p: 3 * np.exp(-3 * p) / (1 - math.exp(-3))),
        (ExponentialWeight(-2.0), lambda p: 2 * np.exp(2 * p) / (math.exp(2) - 1)),
    ],
    ids=["low", "high"],
)
def test_exponential_weight_integrates_its_density(weight, psi):
    for p in (0.1, 0.5, 0.93):
        assert weight.antiderivative(p) == pytest.approx(integrate.quad(psi, 0, p)[0], rel=1e-9)
    assert weight.effective_share == pytest.approx(
        1 / integrate.quad(lambda p: psi(p) ** 2, 0, 1)[0], rel=1e-9
    )


@pytest.mark.parametrize(
    ("m", "level", "want"),
    [(10, 0.9, 9), (10, 0.91, 10), (10, 0.05, 1), (3, 1 / 3, 1), (5, 0.6, 3), (7, 0.999, 7)],
)
def test_rank_is_the_ceiling_of_m_times_level_without_rounding_dust(m, level, want):
    assert rank(m, level) == want


def test_rank_agrees_with_exact_arithmetic_for_every_whole_percentage():
    """100 x 0.07 is 7.000000000000001 in floating point, and still means the 7th of 100."""
    for m in range(1, 401):
        found = [rank(m, percent / 100) for percent in range(1, 100)]
        assert found == [-(-m * percent // 100) for percent in range(1, 100)]


@cheap
@given(samples, levels)
def test_quantile_is_the_first_value_with_at_least_that_share_below(x, b):
    value = summarise(x, Quantile(b), 0.1).value
    at_or_below = np.array([np.mean(x <= v) for v in x])
    assert value == x[np.argmax(at_or_below >= b - 1e-9)]


def test_names_and_sentences_state_the_measure_in_plain_words():
    assert measures.cvar_upper(0.8).sentence == "the mean of the highest 20 %"
    assert measures.cvar_lower(0.2).name == "mean of the lowest 20 %"
    assert "25 % and 75 %" in measures.interval(0.25, 0.75).sentence
    assert Quantile(0.5).name == "median"
    assert Quantile(0.9).name == "90 % quantile"
    assert Quantile(0.9).sentence == "the value that 90 % of the population stays below"
    assert "stresses low values" in ExponentialWeight(3).sentence
    assert "stresses high values" in ExponentialWeight(-3).sentence


def test_only_a_weight_below_zero_is_signed():
    assert measures.steps((0, 0.5, 1), (-1, 3)).signed
    assert measures.steps((0, 0.5, 1), (1, -3)).signed  # normalised by a negative integral
    assert not measures.steps((0, 0.5, 1), (-1, -3)).signed
    assert not measures.mean().signed
