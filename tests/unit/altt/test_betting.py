"""Bets and e-processes: golden paths, closed forms, and what a wealth can never do."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from models.betting import BETS, Bet, check_losses
from models.eprocess import Gambler, Wealth, e_process, risk_upper_bound

pytestmark = pytest.mark.unit

cheap = settings(max_examples=60, deadline=None, derandomize=True)
GOLDEN = Path(__file__).parents[2] / "golden" / "altt"
CASES = json.loads((GOLDEN / "eprocess.json").read_text())["cases"]

unit = st.floats(0.0, 1.0, allow_nan=False)
targets = st.floats(0.02, 0.98)
rules = st.sampled_from([name for name in BETS if name != "fixed"])


def bet_of(case):
    name = case["bet"].lower()
    if name in BETS:
        return Bet(name, case["truncation_c"])
    return Bet("fixed", case["truncation_c"], float(name))


@pytest.mark.golden
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['seq']}-{c['bet']}-{c['timing']}")
def test_path_equals_golden(case):
    path = e_process(case["losses"], case["alpha"], bet_of(case), peek=case["timing"] == "released")
    np.testing.assert_allclose(path.bets, case["bets"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.exp(path.log_wealth), case["wealth"], rtol=1e-9, atol=1e-12)


@cheap
@given(st.lists(unit, min_size=1, max_size=60), targets, rules, st.floats(0.05, 1.0))
def test_bets_are_admissible_and_wealth_is_never_negative(losses, alpha, rule, c):
    path = e_process(losses, alpha, Bet(rule, c))
    assert (path.bets >= 0.0).all()
    assert (path.bets <= c / (1.0 - alpha) * (1.0 + 1e-12)).all()
    assert not np.isnan(path.log_wealth).any()
    assert (path.log_wealth < math.inf).all()


@cheap
@given(st.lists(unit, min_size=2, max_size=30), targets, rules, st.data())
def test_a_bet_does_not_see_the_loss_it_is_placed_on(losses, alpha, rule, data):
    k = data.draw(st.integers(0, len(losses) - 1))
    changed = [*losses[:k], data.draw(unit), *losses[k + 1 :]]
    before = e_process(losses, alpha, Bet(rule)).bets
    after = e_process(changed, alpha, Bet(rule)).bets
    np.testing.assert_array_equal(before[: k + 1], after[: k + 1])


@pytest.mark.parametrize("rule", ["agrapa", "lbow", "ons"])
def test_a_peeking_bet_does_see_it(rule):
    low = e_process([0.0, 0.5, 0.0], 0.4, Bet(rule), peek=True).bets
    high = e_process([0.0, 0.5, 1.0], 0.4, Bet(rule), peek=True).bets
    assert low[2] > high[2]


@cheap
@given(st.floats(0.0, 3.0), targets, st.integers(1, 40), st.integers(0, 40))
def test_fixed_bet_has_the_product_as_closed_form(amount, alpha, zeros, ones):
    mu = min(amount, 0.75 / (1.0 - alpha))
    path = e_process([0.0] * zeros + [1.0] * ones, alpha, Bet("fixed", 0.75, amount))
    expected = zeros * math.log1p(mu * alpha) + ones * math.log1p(mu * (alpha - 1.0))
    assert path.log_wealth[-1] == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("rule", [name for name in BETS if name != "fixed"])
@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.57])
def test_expected_wealth_under_the_null_is_at_most_one_by_enumeration(rule, alpha):
    # Every 0/1 sequence of seven losses at risk exactly alpha: a martingale, so exactly 1.
    n = 7
    total = 0.0
    for code in range(2**n):
        losses = [(code >> k) & 1 for k in range(n)]
        weight = alpha ** sum(losses) * (1.0 - alpha) ** (n - sum(losses))
        total += weight * math.exp(e_process(losses, alpha, Bet(rule)).log_wealth[-1])
    assert total == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("rule", ["agrapa", "lbow", "ons"])
def test_peeking_makes_the_expected_wealth_exceed_one_by_enumeration(rule):
    n, alpha = 7, 0.2
    total = 0.0
    for code in range(2**n):
        losses = [(code >> k) & 1 for k in range(n)]
        weight = alpha ** sum(losses) * (1.0 - alpha) ** (n - sum(losses))
        total += weight * math.exp(e_process(losses, alpha, Bet(rule), peek=True).log_wealth[-1])
    assert total > 1.2


def test_losses_equal_to_alpha_bet_the_least_and_win_nothing():
    path = e_process([0.3] * 6, 0.3)
    np.testing.assert_array_equal(path.bets[1:], 0.1)
    np.testing.assert_allclose(path.log_wealth, 0.0, atol=1e-15)


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.57, 0.9])
def test_full_loss_at_the_full_bet_bankrupts_for_good(alpha):
    path = e_process([1.0, 0.0, 0.0], alpha, Bet("fixed", 1.0, 1e6))
    np.testing.assert_array_equal(path.log_wealth, -math.inf)


@pytest.mark.parametrize("rule", ["agrapa", "lbow"])
def test_fifty_thousand_zero_losses_stay_finite(rule):
    up = e_process(np.zeros(50_000), 0.2, Bet(rule)).log_wealth[-1]
    # The bet is the cap throughout, 0.9375: the wealth is 10^3732.
    assert up == pytest.approx(50_000 * math.log(1.1875), rel=1e-12)
    down = e_process(np.ones(50_000), 0.2, Bet(rule)).log_wealth[-1]
    # The smallest bet, 0.1, after the first.
    expected = math.log(1.0 - 0.9375 * 0.8) + 49_999 * math.log(1.0 - 0.1 * 0.8)
    assert down == pytest.approx(expected, rel=1e-12)


@cheap
@given(
    st.lists(st.one_of(unit, st.sampled_from([0.0, 0.3, 1.0])), min_size=1, max_size=60),
    st.one_of(st.just(0.3), targets),
    st.sampled_from(BETS),
    st.floats(0.05, 1.0),
    st.booleans(),
)
def test_many_processes_equal_one(losses, alpha, rule, c, peek):
    bet = Bet(rule, c, 0.7 if rule == "fixed" else None)
    path = e_process(losses, alpha, bet, peek=peek)
    many = Wealth((3,), np.array([alpha, 0.5, alpha]), bet, peek=peek)
    for t, loss in enumerate(losses):
        bets = many.feed(..., loss)
        assert bets[0] == bets[2] == path.bets[t]
        np.testing.assert_allclose(
            many.log_wealth[[0, 2]], path.log_wealth[t], rtol=1e-13, atol=1e-13
        )


@cheap
@given(st.lists(unit, min_size=1, max_size=40), targets, rules)
def test_value_and_shift_are_the_plain_product(losses, alpha, rule):
    wealth, one, product = Wealth((1,), alpha, Bet(rule)), Gambler(alpha, Bet(rule)), 1.0
    for loss in losses:
        bet = wealth.feed(..., loss)[0]
        one.feed(loss)
        product *= 1.0 + bet * (alpha - loss)
    assert math.ldexp(float(wealth.value[0]), int(wealth.shift[0])) == product
    assert math.ldexp(one.value, one.shift) == product


def test_processes_side_by_side_do_not_disturb_each_other():
    rng = np.random.default_rng(4)
    losses = rng.random((3, 25))
    side = Wealth((3, 1), 0.4, Bet("ons"))
    for k in range(25):
        side.feed(np.array([0, 2]), losses[[0, 2], k, None])
    np.testing.assert_allclose(
        side.log_wealth[[0, 2], 0],
        [e_process(losses[i], 0.4, Bet("ons")).log_wealth[-1] for i in (0, 2)],
        rtol=1e-12,
    )
    assert side.log_wealth[1, 0] == 0.0


class TestRiskUpperBound:
    @pytest.mark.parametrize("n", [5, 20, 100, 400])
    def test_zero_losses_with_a_fixed_bet_follow_the_closed_form(self, n):
        # (1 + x a)^n = 1/delta; the bound is the next grid point above the last level standing.
        level = (0.1 ** (-1.0 / n) - 1.0) / 0.5
        expected = min(math.ceil(level * 1000) / 1000, 1.0)
        assert risk_upper_bound(np.zeros(n), 0.1, Bet("fixed", 0.75, 0.5)) == expected

    def test_nothing_is_said_without_losses_or_after_ones(self):
        assert risk_upper_bound([], 0.1) == 1.0
        assert risk_upper_bound(np.ones(50), 0.1) == 1.0

    def test_it_shrinks_towards_the_risk(self):
        losses = np.random.default_rng(1).random(3000) < 0.2
        bounds = [risk_upper_bound(losses[:n], 0.1) for n in (50, 400, 3000)]
        assert bounds[0] > bounds[1] > bounds[2] > 0.2
        assert bounds[2] < 0.25

    @cheap
    @given(st.lists(st.sampled_from([0.0, 0.2, 1.0]), max_size=40), st.floats(0.02, 0.5))
    def test_it_falls_with_delta(self, losses, delta):
        strict, loose = risk_upper_bound(losses, delta / 2), risk_upper_bound(losses, delta)
        assert strict >= loose

    @pytest.mark.statistical
    def test_it_covers_the_risk_at_all_times(self):
        # The running maximum decides, so a bound below the risk at any of the 60 losses shows at
        # the last. It happens with probability <= 0.1 a path: more than ``limit`` in 400 have a
        # probability below 1e-6.
        rng = np.random.default_rng(20)
        limit = int(binom.isf(1e-6, 400, 0.1))
        misses = sum(
            risk_upper_bound((rng.random(60) < 0.31).astype(float), 0.1, grid=100) < 0.31
            for _ in range(400)
        )
        assert misses <= limit


@pytest.mark.parametrize(
    ("rule", "c", "amount", "words"),
    [
        ("martingale", 0.75, None, "must be one of agrapa"),
        ("agrapa", 0.0, None, r"c is 0, but must lie in \(0, 1\]"),
        ("agrapa", 1.2, None, r"c is 1.2, but must lie in \(0, 1\]"),
        ("agrapa", math.nan, None, r"c is nan"),
        ("fixed", 0.75, None, "fixed bet is None"),
        ("fixed", 0.75, -1.0, "fixed bet is -1"),
        ("agrapa", 0.75, 0.5, "takes no amount"),
    ],
)
def test_wrong_bets_are_refused(rule, c, amount, words):
    with pytest.raises(ValueError, match=words):
        Bet(rule, c, amount)


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ([0.1, math.nan, 2.0], r"number 2 is nan \(2 values are out of range\)"),
        ([0.1, math.inf], "number 2 is inf"),
        ([-0.5], "number 1 is -0.5"),
        (["a"], "must be numbers between 0 and 1"),
    ],
)
def test_wrong_losses_are_named(losses, words):
    with pytest.raises(ValueError, match=words):
        check_losses(losses, "Losses")


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, 1.5, math.nan])
def test_wrong_alpha_is_refused(alpha):
    with pytest.raises(ValueError, match=r"alpha is .*must lie strictly between 0 and 1"):
        e_process([0.0], alpha)
