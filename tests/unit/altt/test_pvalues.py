"""p-values: golden, closed forms, exact tails, and validity by enumeration."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.pvalues import bentkus_p, binomial_p, hoeffding_bentkus_p, hoeffding_p, wsr_p

pytestmark = pytest.mark.unit

cheap = settings(max_examples=60, deadline=None, derandomize=True)
GOLDEN = Path(__file__).parents[2] / "golden" / "altt"
HB = json.loads((GOLDEN / "pvalues_hb.json").read_text())["cases"]
WSR = json.loads((GOLDEN / "pvalues_wsr.json").read_text())["cases"]
FUNCTIONS = {
    "hb": hoeffding_bentkus_p,
    "hoeffding": hoeffding_p,
    "bentkus": bentkus_p,
    "binomial": binomial_p,
}


def exact_tail(k, n, alpha):
    p = Fraction(alpha)
    return float(sum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k + 1)))


@pytest.mark.golden
@pytest.mark.parametrize("name", FUNCTIONS)
def test_p_values_equal_golden(name):
    cases = [case for case in HB if name in case]
    assert len(cases) >= 80
    got = [float(FUNCTIONS[name](c["r_hat"], c["n"], c["alpha"])) for c in cases]
    np.testing.assert_allclose(got, [c[name] for c in cases], rtol=1e-9)


@pytest.mark.golden
@pytest.mark.parametrize("case", WSR, ids=lambda c: f"n{c['fixed_n']}")
def test_wsr_equals_golden(case):
    got = wsr_p(case["losses"], case["alpha"], case["delta"])
    assert float(got) == pytest.approx(case["p_one_sided"], rel=1e-8)


@pytest.mark.parametrize(("n", "k", "alpha"), [(10, 0, 0.5), (12, 3, 0.25), (100, 7, 0.125)])
def test_binomial_equals_the_sum_of_exact_fractions(n, k, alpha):
    assert float(binomial_p(k / n, n, alpha)) == pytest.approx(exact_tail(k, n, alpha), rel=1e-12)


def test_a_rounded_count_does_not_jump_to_the_next_one():
    assert 100 * 0.07 > 7
    assert float(binomial_p(0.07, 100, 0.2)) == pytest.approx(exact_tail(7, 100, 0.2), rel=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.57])
def test_no_losses_at_all_give_the_power_of_the_complement(alpha):
    assert float(hoeffding_p(0.0, 30, alpha)) == pytest.approx((1 - alpha) ** 30, rel=1e-12)


@cheap
@given(st.integers(1, 200), st.floats(0.0, 1.0), st.floats(0.01, 0.99))
def test_p_values_lie_in_the_unit_interval_and_are_ordered(n, mean, alpha):
    hb = float(hoeffding_bentkus_p(mean, n, alpha))
    assert 0.0 <= hb <= 1.0
    assert hb == min(float(hoeffding_p(mean, n, alpha)), float(bentkus_p(mean, n, alpha)))
    k = round(mean * n)
    assert float(binomial_p(k / n, n, alpha)) <= float(hoeffding_bentkus_p(k / n, n, alpha)) * (
        1.0 + 1e-9
    )
    if mean >= alpha:
        assert float(hoeffding_p(mean, n, alpha)) == 1.0


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.57])
@pytest.mark.parametrize("function", [hoeffding_bentkus_p, binomial_p])
def test_rejection_under_the_null_is_as_rare_as_promised_by_enumeration(function, alpha):
    n = 40
    p = function(np.arange(n + 1) / n, n, alpha)
    weight = np.array([math.comb(n, k) * alpha**k * (1 - alpha) ** (n - k) for k in range(n + 1)])
    for level in (0.01, 0.05, 0.1, 0.3):
        assert weight[p <= level].sum() <= level * (1.0 + 1e-12)


@pytest.mark.parametrize("alpha", [0.2, 0.57])
def test_wsr_rejection_under_the_null_is_as_rare_as_promised_by_enumeration(alpha):
    n = 12
    losses = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(float)
    weight = alpha ** losses.sum(axis=1) * (1 - alpha) ** (n - losses.sum(axis=1))
    p = wsr_p(losses, alpha, 0.1)
    for level in (0.05, 0.1, 0.3):
        assert weight[p <= level].sum() <= level


@cheap
@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_wsr_of_a_table_is_wsr_of_its_rows(n, seed):
    table = np.random.default_rng(seed).random((3, n))
    np.testing.assert_allclose(
        wsr_p(table, 0.6, 0.1), [float(wsr_p(row, 0.6, 0.1)) for row in table], rtol=1e-12
    )


@pytest.mark.parametrize("alpha", [0.0, 1.0, 1.2])
def test_wrong_levels_are_refused(alpha):
    for function in FUNCTIONS.values():
        with pytest.raises(ValueError, match="must lie strictly between 0 and 1"):
            function(0.1, 10, alpha)
    with pytest.raises(ValueError, match="must lie strictly between 0 and 1"):
        wsr_p([0.1], alpha, 0.1)
