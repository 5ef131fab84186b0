"""Settings: each bad one has its sentence, and what cannot succeed is said before the run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from models.altt.config import Config, advice, zeros_needed
from models.betting import BETS, Bet

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_candidates": 0}, "There are 0 candidates, but a run takes 1 to 2000"),
        ({"n_candidates": 2001}, "There are 2001 candidates"),
        ({"alpha": 0.0}, "no number of losses can certify a risk of 0"),
        ({"alpha": -0.1}, "alpha is -0.1, but must lie strictly between 0 and 1"),
        ({"alpha": 1.0}, r"every loss in \[0, 1\] meets a target of 1"),
        ({"alpha": math.nan}, "alpha is nan"),
        ({"alpha": (0.2, 1.2)}, "alpha is 1.2"),
        ({"alpha": ()}, "At least one target"),
        ({"delta": 0.0}, "delta is 0, but must lie strictly between 0 and 1"),
        ({"delta": 1.0}, "delta is 1, but"),
        ({"delta": math.nan}, "delta is nan"),
        ({"control": "none"}, "error rate is 'none', but must be one of fwer, holm, fdr"),
        ({"acquisition": "best"}, "acquisition is 'best', but must be one of uniform"),
        ({"epsilon": 1.1}, "epsilon is 1.1, but must lie between 0 and 1"),
        ({"epsilon": -0.1}, "epsilon is -0.1"),
        ({"epsilon": math.nan}, "epsilon is nan"),
        ({"budget": 0}, "budget is 0 losses, but must be at least 1"),
        ({"stop_at": 0}, "to stop at 0 certified candidates, but there are 5: choose 1 to 5"),
        ({"stop_at": 6}, "to stop at 6 certified candidates"),
        ({"released": True, "control": "holm"}, "has no Holm rule"),
    ],
)
def test_each_bad_setting_has_its_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        Config(**{"n_candidates": 5, **options})


def test_twenty_candidates_need_31_zeros():
    # ln 200 / ln(1 + 0.9375 * 0.2) = 30.8
    assert zeros_needed(Config(20, 0.2, 0.1)) == 31


@pytest.mark.parametrize("rule", ["max", "unit", "fixed"])
@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.57, 0.9])
@pytest.mark.parametrize("n", [1, 20])
def test_zeros_needed_follow_the_closed_form_for_constant_bets(rule, alpha, n):
    bet = Bet(rule, 0.75, 0.3 if rule == "fixed" else None)
    mu = min({"max": 1 / alpha, "unit": 0.5 / alpha, "fixed": 0.3}[rule], 0.75 / (1 - alpha))
    expected = math.ceil(math.log(n / 0.1) / math.log1p(mu * alpha))
    assert zeros_needed(Config(n, alpha, 0.1, bet=bet)) == expected


@pytest.mark.parametrize("rule", [name for name in BETS if name != "fixed"])
@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.57])
def test_zeros_needed_are_at_least_what_the_cap_allows(rule, alpha):
    count = zeros_needed(Config(20, alpha, 0.1, bet=Bet(rule)))
    assert count >= math.log(200) / math.log1p(0.75 / (1 - alpha) * alpha) - 1e-9


def test_a_bet_of_nothing_never_certifies():
    config = Config(3, 0.2, bet=Bet("fixed", 0.75, 0.0))
    assert zeros_needed(config) is None
    assert "the wealth never grows" in advice(config)[0]


def test_perfect_candidates_help_each_other_under_false_discovery_control():
    assert zeros_needed(Config(20, 0.2, 0.1, "fdr")) == 31
    assert zeros_needed(Config(20, 0.2, 0.1, "fdr"), together=True) == 14
    assert zeros_needed(Config(20, 0.2, 0.1, "fwer"), together=True) == 31


def test_several_risks_need_as_many_as_the_strictest():
    both = zeros_needed(Config(4, (0.05, 0.3)))
    assert both == zeros_needed(Config(4, 0.05)) > zeros_needed(Config(4, 0.3))


@pytest.mark.parametrize(
    ("config", "available", "words"),
    [
        (Config(1), None, "single candidate"),
        (Config(20, budget=10), None, "budget of 10 losses is smaller than the 20 candidates"),
        (Config(20, budget=30), None, "Nothing can be certified"),
        (Config(20), [30] * 20, "needs 31 of them, and at most 30 are at hand"),
        (Config(20, control="fdr"), [13] * 20, r"14 of them \(if all candidates are as good\)"),
        (Config(3), [100, 5, 5], "2 of 3 candidates have fewer than the"),
    ],
)
def test_what_cannot_succeed_is_said_before_the_run(config, available, words):
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(" ".join(advice(config, available)))


def test_nothing_is_said_when_there_is_nothing_to_say():
    assert advice(Config(20)) == []
    assert advice(Config(20), [31] * 20) == []


def test_targets_are_one_a_risk():
    np.testing.assert_array_equal(Config(2, 0.3).targets, [0.3])
    np.testing.assert_array_equal(Config(2, (0.3, 0.1)).targets, [0.3, 0.1])
    assert Config(2, released=True).played_bet.truncation == 1.0
    assert Config(2).played_bet.truncation == 0.75
