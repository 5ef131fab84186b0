"""Latencies and the sampler: golden values, closed forms and frequencies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from models.arena.dealing import shown
from models.arena.latency import Latencies, fit_latencies, from_medians
from models.arena.sampler import (
    Sampler,
    by_temperature,
    by_variance,
    fastest,
    temperature_for,
    uniform,
)
from models.arena.study import waits
from tests.unit.arena.tables import golden

WANT = golden("latency_sampler")
NINE = from_medians(WANT["models"], WANT["median_latency_s"], 0.5)


def within(value, tolerance=WANT["tolerance"]):
    return pytest.approx(value, abs=tolerance)


@pytest.mark.golden
def test_pairs_and_their_waits():
    first, second = NINE.pairs
    assert [[NINE.models[i], NINE.models[j]] for i, j in zip(first, second, strict=True)] == WANT[
        "pairs"
    ]
    assert NINE.pair_mean() == within(WANT["pair_expected_max_s"])
    medians = [Sampler(NINE, np.eye(first.size)[pair]).median_wait for pair in range(first.size)]
    assert medians == within(WANT["pair_median_max_s"])


@pytest.mark.golden
def test_the_uniform_arena():
    even = uniform(NINE)
    assert even.median_wait == within(WANT["uniform"]["median_s"])
    assert even.mean_wait == within(WANT["uniform"]["mean_s"])
    assert even.entropy == within(WANT["uniform"]["entropy_nats"])
    assert even.coverage == pytest.approx(1)


@pytest.mark.golden
@pytest.mark.parametrize("want", WANT["by_tau"], ids=lambda want: str(want["tau"]))
def test_the_arena_at_each_temperature(want):
    found = by_temperature(NINE, want["tau"])
    assert found.median_wait == within(want["median_s"])
    assert found.mean_wait == within(want["mean_s"])
    assert found.entropy == within(want["entropy_nats"])
    assert found.coverage == within(want["entropy_over_max"])
    assert found.p.min() == pytest.approx(want["min_pair_prob"], rel=1e-3)
    assert found.p.max() == within(want["max_pair_prob"])
    assert found.model_shares == within(want["model_share"])
    reduction = 1 - found.median_wait / uniform(NINE).median_wait
    assert reduction == within(want["median_reduction_vs_uniform"])


@pytest.mark.golden
def test_the_temperature_for_the_reported_median():
    tau = temperature_for(NINE, WANT["target"])
    assert tau == within(WANT["tau_for_target_median"])
    assert by_temperature(NINE, tau).median_wait == pytest.approx(WANT["target"], abs=1e-9)
    with pytest.raises(ValueError, match=r"must lie between 0\.85\d* and 1\.6 s"):
        temperature_for(NINE, 3.0)


latencies = st.builds(
    lambda mu, s: Latencies(
        tuple(f"m{i}" for i in range(len(mu))), np.array(mu), np.array(s[: len(mu)])
    ),
    st.lists(st.floats(-2, 2), min_size=2, max_size=5),
    st.lists(st.floats(0.1, 1.0), min_size=5, max_size=5),
)


@pytest.mark.unit
@settings(max_examples=20, deadline=None)
@given(latencies)
def test_the_mean_wait_of_a_pair_is_the_integral_of_its_tail(model):
    for pair, want in enumerate(model.pair_mean()):
        tail, _ = integrate.quad(
            lambda u, pair=pair: (1 - model.pair_chance(np.exp(u))[pair]) * np.exp(u),
            -12,
            9,
            limit=200,
        )
        assert want == pytest.approx(tail, rel=1e-4)


@pytest.mark.unit
@settings(max_examples=20, deadline=None)
@given(latencies, st.floats(0.05, 5))
def test_the_closed_form_minimises_wait_minus_entropy(model, tau):
    wait = model.pair_mean()

    def objective(logits):
        p = np.exp(logits - logits.max())
        p /= p.sum()
        return p @ wait + tau * (p @ np.log(np.maximum(p, 1e-300)))

    found = by_temperature(model, tau)
    best = float(found.p @ wait) - tau * found.entropy
    assert best == pytest.approx(-tau * np.log(np.exp(-wait / tau).sum()), abs=1e-9, rel=1e-9)
    start = np.zeros(wait.size)
    assert optimize.minimize(objective, start).fun >= best - 1e-7


@pytest.mark.unit
def test_the_limits_of_the_temperature():
    assert by_temperature(NINE, 1e6).p == pytest.approx(uniform(NINE).p, rel=1e-3)
    cold = by_temperature(NINE, 1e-4)
    assert cold.p == pytest.approx(fastest(NINE).p, abs=1e-9)
    assert fastest(NINE).battles_for(5) == math.inf
    assert uniform(NINE).battles_for(5) == pytest.approx(180)
    taus = np.geomspace(0.05, 50, 30)
    medians = [by_temperature(NINE, tau).median_wait for tau in taus]
    assert (np.diff(medians) > 0).all()


@pytest.mark.unit
def test_a_floor_keeps_every_pair_possible():
    floored = by_temperature(NINE, 0.1, floor=0.2)
    assert floored.p.min() == pytest.approx(0.2 / 36, rel=1e-4)
    assert floored.p.sum() == pytest.approx(1)
    assert floored.model_shares.sum() == pytest.approx(1)
    assert by_temperature(NINE, 0.1, floor=1).p == pytest.approx(uniform(NINE).p)


@pytest.mark.statistical
@pytest.mark.parametrize("tau", [0.3, 2.0])
def test_drawn_pairs_and_sides_follow_their_chances(tau):
    # One chi-square test each for pairs and sides, at a false-alarm rate of 1e-7.
    sampler = by_temperature(NINE, tau, floor=0.05)
    top, bottom = sampler.draw(200_000, np.random.default_rng(3))
    first, second = NINE.pairs
    counts = np.zeros((9, 9))
    np.add.at(counts, (top, bottom), 1)
    pairs = counts[first, second] + counts[second, first]
    assert pairs.sum() == 200_000
    assert stats.chisquare(pairs, sampler.p * 200_000).pvalue > 1e-7
    on_top = stats.chisquare(
        np.concatenate([counts[first, second], counts[second, first]]),
        np.concatenate([pairs, pairs]) / 2,
        ddof=first.size - 1,
    )
    assert on_top.pvalue > 1e-7


@pytest.mark.statistical
@pytest.mark.parametrize("tau", [0.1, 0.334, math.inf])
def test_the_predicted_median_is_that_of_simulated_waits(tau):
    # The median of 100,000 log-normal waits strays by about 0.2 %, a tenth of the tolerance.
    sampler = by_temperature(NINE, tau)
    drawn = waits(sampler, 100_000, np.random.default_rng(4))
    assert np.median(drawn) == pytest.approx(sampler.median_wait, rel=0.02)
    assert drawn.mean() == pytest.approx(sampler.mean_wait, rel=0.02)
    assert np.quantile(drawn, 0.9) == pytest.approx(sampler.wait_quantile(0.9), rel=0.02)


@pytest.mark.unit
def test_log_normals_are_fitted_or_taken_from_the_prior():
    measured = {"many": [1.0, 2.0, 4.0, 8.0, 16.0], "few": [3.0, 5.0, 100.0], "none": []}
    found = fit_latencies(measured, {"none": 0.8})
    logs = np.log(measured["many"])
    assert found.medians == pytest.approx([4.0, 5.0, 0.8])
    assert found.s == pytest.approx([logs.std(ddof=1), 0.5, 0.5])
    constant = fit_latencies({"a": [2.0] * 6, "b": [1.0] * 6})
    assert uniform(constant).median_wait == pytest.approx(2.0, rel=0.01)
    with pytest.raises(ValueError, match="none has no measured latency"):
        fit_latencies(measured)
    with pytest.raises(ValueError, match=r"latency of a is -1 s"):
        fit_latencies({"a": [-1.0, 2.0]})


@pytest.mark.unit
def test_the_active_sampler_prefers_pairs_that_met_rarely():
    found = by_variance(NINE, np.arange(36) * 10.0, np.arange(36) * 5.0)
    assert (np.diff(found.p) < 0).all()
    certain = by_variance(NINE, np.full(36, 50.0), np.where(np.arange(36) < 18, 25.0, 50.0))
    assert certain.p[0] > certain.p[-1]


@pytest.mark.unit
def test_values_out_of_range_are_named():
    for call, message in (
        (lambda: by_temperature(NINE, 0), "temperature is 0 s"),
        (lambda: by_temperature(NINE, math.nan), "temperature is nan s"),
        (lambda: by_temperature(NINE, 1, 1.5), r"floor is 1\.5"),
        (lambda: by_temperature(from_medians(["a"], [1.0]), 1), "1 models are too few"),
        (lambda: from_medians(["a", "b"], [1.0, 0.0]), "median of b is 0 s"),
        (lambda: from_medians(["a"], [1.0, 2.0]), "must pair up"),
        (lambda: from_medians(["a", "b"], [1.0, 2.0], 0), "spread .* is 0"),
        (lambda: Sampler(NINE, np.ones(36)), "36 chances that sum to 1"),
        (lambda: uniform(NINE).wait_quantile(1), "level is 1"),
        (lambda: uniform(from_medians(["a", "b"], [1e4, 1e5])).median_wait, "in seconds"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.unit
@pytest.mark.parametrize(
    ("top", "bottom", "want"),
    [
        ("", "", "nothing"),
        ("a", "", "top alone"),
        ("", "b", "bottom alone"),
        ("a", "a", "top alone"),
        ("a", "b", "pair"),
        ("a", "a ", "pair"),
    ],
)
def test_only_two_different_completions_are_a_battle(top, bottom, want):
    assert shown(top, bottom) == want
