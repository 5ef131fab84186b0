"""Multiple testing: golden sets, definitions by brute force, and the order between the rules."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models import multiple_testing as mt

pytestmark = pytest.mark.unit

cheap = settings(max_examples=60, deadline=None, derandomize=True)
GOLDEN = Path(__file__).parents[2] / "golden" / "altt"
CASES = json.loads((GOLDEN / "multiple_testing.json").read_text())["cases"]
P_CASES = [case for case in CASES if case["type"] == "p"]
E_CASES = [case for case in CASES if case["type"] == "e"]

ps = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12)
deltas = st.sampled_from([0.01, 0.05, 0.1, 0.3])


def ids(mask):
    return np.flatnonzero(mask).tolist()


@pytest.mark.golden
@pytest.mark.parametrize("rule", ["bonferroni", "holm", "bh", "by"])
def test_sets_and_adjusted_p_values_equal_golden(rule):
    assert len(P_CASES) >= 10
    for case in P_CASES:
        assert ids(getattr(mt, rule)(case["p"], case["delta"])) == case[rule]
        np.testing.assert_allclose(
            mt.adjusted_p(case["p"], rule), case[f"{rule}_adjusted"], rtol=1e-9
        )


@pytest.mark.golden
def test_fixed_sequence_equals_golden():
    with_starts = 0
    for case in P_CASES:
        assert ids(mt.fixed_sequence(case["p"], case["delta"])) == case["fst_one_start"]
        if "fst_two_starts" in case:
            two = case["fst_two_starts"]
            got = ids(mt.fixed_sequence(case["p"], case["delta"], two["starts"]))
            assert got == sorted(two["kclip_rejections"])
            with_starts += 1
    assert with_starts


@pytest.mark.golden
def test_e_bh_equals_golden():
    assert len(E_CASES) >= 10
    for case in E_CASES:
        assert ids(mt.e_bh(case["e"], case["delta"])) == case["ebh"] == case["bh_on_1_over_e"]
        p = 1.0 / np.maximum(case["e"], 1.0)
        assert ids(mt.holm(p, case["delta"])) == case["holm_on_1_over_e"]
        assert ids(mt.bonferroni(p, case["delta"])) == case["bonferroni_on_1_over_e"]


def test_the_first_of_three_is_certified_alone():
    assert ids(mt.e_bh([200.0, 1.0, 1.0], 0.1)) == [0]


@pytest.mark.parametrize("n", [1, 3, 7, 20, 1999])
@pytest.mark.parametrize("delta", [0.1, 0.05, 0.3])
def test_evidence_of_exactly_n_over_delta_k_is_enough(n, delta):
    e = n / (delta * np.arange(1, n + 1))
    assert mt.e_bh(e, delta).all()
    assert ids(mt.bonferroni(1.0 / e, delta)) == [0]


@cheap
@given(st.lists(st.floats(0.0, 1e4), min_size=1, max_size=12), deltas)
def test_e_bh_is_its_definition(e, delta):
    n = len(e)
    ordered = sorted(e, reverse=True)
    tight = [k for k in range(1, n + 1) if ordered[k - 1] >= n / (delta * k) * (1 - 2e-9)]
    loose = [k for k in range(1, n + 1) if ordered[k - 1] >= n / (delta * k) * (1 + 2e-9)]
    size = int(mt.e_bh(e, delta).sum())
    assert max(loose, default=0) <= size
    # Ties at the cut are certified together.
    cut = ordered[max(tight) - 1] if tight else math.inf
    assert size <= sum(x >= cut for x in e)
    chosen = np.asarray(e)[mt.e_bh(e, delta)]
    rest = np.asarray(e)[~mt.e_bh(e, delta)]
    assert not (chosen.size and rest.size) or chosen.min() > rest.max()


@cheap
@given(st.lists(st.floats(1.0, 1e6), min_size=1, max_size=12), deltas)
def test_e_bh_is_bh_on_the_inverse(e, delta):
    np.testing.assert_array_equal(mt.e_bh(e, delta), mt.bh(1.0 / np.asarray(e), delta))


@cheap
@given(ps, deltas)
def test_holm_is_closed_testing_with_bonferroni(p, delta):
    # Closure: reject i if every subset that contains it has a p-value of at most delta / size.
    p = p[:7]
    n = len(p)
    got = mt.holm(p, delta)
    for i in range(n):
        rejected = True
        for code in range(2**n):
            subset = [j for j in range(n) if code >> j & 1]
            if i in subset and min(p[j] for j in subset) > delta / len(subset) * (1 + 1e-9):
                rejected = False
        assert got[i] == rejected


@cheap
@given(ps, deltas)
def test_the_rules_are_nested(p, delta):
    bonferroni, holm, bh, by = (
        getattr(mt, rule)(p, delta) for rule in ("bonferroni", "holm", "bh", "by")
    )
    assert (bonferroni <= holm).all()
    assert (holm <= bh).all()
    assert (by <= bh).all()


@cheap
@given(ps, deltas, st.sampled_from(["bonferroni", "holm", "bh", "by"]))
def test_sets_are_where_the_adjusted_p_value_is_within_delta(p, delta, rule):
    adjusted = mt.adjusted_p(p, rule)
    got = getattr(mt, rule)(p, delta)
    assert got[adjusted <= delta * (1 - 1e-8)].all()
    assert not got[adjusted > delta * (1 + 1e-8)].any()


@cheap
@given(ps, st.sampled_from(["bonferroni", "holm", "bh", "by"]), st.data())
def test_sets_grow_with_delta_and_permute_with_the_hypotheses(p, rule, data):
    reject = getattr(mt, rule)
    order = data.draw(st.permutations(range(len(p))))
    np.testing.assert_array_equal(reject(p, 0.1)[order], reject(np.asarray(p)[order], 0.1))
    assert (reject(p, 0.05) <= reject(p, 0.1)).all()


@cheap
@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_a_table_is_decided_row_by_row(n, seed):
    table = np.random.default_rng(seed).random((4, n)) ** 4
    for rule in ("bonferroni", "holm", "bh", "by"):
        reject = getattr(mt, rule)
        np.testing.assert_array_equal(reject(table, 0.1), [reject(row, 0.1) for row in table])


def test_a_fixed_sequence_stops_at_the_first_failure_and_goes_round():
    p = [0.04, 0.9, 0.001, 0.04]
    assert ids(mt.fixed_sequence(p, 0.1)) == [0]
    assert ids(mt.fixed_sequence(p, 0.1, (0, 2))) == [0, 2, 3]
    assert ids(mt.fixed_sequence([0.01, 0.01], 0.1)) == [0, 1]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mt.holm([], 0.1), "At least one p-value"),
        (lambda: mt.bh([0.1, math.nan], 0.1), "number between 0 and 1"),
        (lambda: mt.bh([1.1], 0.1), "number between 0 and 1"),
        (lambda: mt.bonferroni([0.1], 0.0), "delta is 0"),
        (lambda: mt.by([0.1], 1.0), "delta is 1"),
        (lambda: mt.e_bh([-1.0], 0.1), "at least 0"),
        (lambda: mt.e_bh([math.nan], 0.1), "at least 0"),
        (lambda: mt.fixed_sequence([0.1], 0.1, (1,)), "positions from 0 to 0"),
        (lambda: mt.fixed_sequence([0.1], 0.1, ()), "positions from 0 to 0"),
        (lambda: mt.adjusted_p([0.1], "hochberg"), "must be bonferroni, holm, bh or by"),
    ],
)
def test_wrong_input_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
