"""The two real problems: the stored truth is what the classifier and the simulator give."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from models.altt import cartpole, digits
from models.altt.config import Config
from models.altt.ensemble import many_runs
from models.altt.environments import reliable

pytestmark = pytest.mark.unit


class TestDigits:
    data = digits.load()

    def test_two_thirds_are_held_out_and_mostly_answered_well(self):
        assert self.data.images.shape == (1198, 8, 8)
        assert self.data.images.max() == 16
        assert set(self.data.digit) == set(range(10))
        assert 0.9 < (self.data.digit == self.data.answer).mean() < 0.99

    @pytest.mark.parametrize("alpha", [0.003, 0.01, 0.02, 0.03, 0.1])
    def test_a_threshold_is_reliable_exactly_if_its_accepted_answers_are(self, alpha):
        pool = self.data.pool(alpha)
        expected = self.data.selective_error() <= alpha
        np.testing.assert_array_equal(reliable(pool, alpha), expected)

    def test_losses_are_zero_one_and_alpha(self):
        losses = self.data.pool(0.03).losses
        assert set(np.unique(losses)) == {0.0, 0.03, 1.0}
        accepted = self.data.confidence >= 0.99
        right = self.data.digit == self.data.answer
        np.testing.assert_array_equal(losses[accepted & right, -1], 0.0)
        np.testing.assert_array_equal(losses[accepted & ~right, -1], 1.0)
        np.testing.assert_array_equal(losses[~accepted, -1], 0.03)

    def test_every_threshold_accepts_someone_and_coverage_falls(self):
        coverage = self.data.coverage()
        assert coverage[-1] > 0.1
        assert (np.diff(coverage) <= 0).all()

    def test_risk_is_not_monotone_in_the_threshold(self):
        # So a search that stops at the first threshold that fails would be no shortcut.
        steps = np.diff(self.data.pool(0.03).risks[:, 0])
        assert (steps > 0).any()
        assert (steps < 0).any()

    def test_names_are_all_different(self):
        names = self.data.pool(0.03).names
        assert len(set(names)) == 20
        assert names[0] == "from 0.30"
        assert names[-1] == "from 0.99"


def balance(gains, state):
    """One episode in plain Python, after the equations of Barto, Sutton and Anderson."""
    x, v, angle, spin = state
    for step in range(200):
        force = 10.0 if np.dot(gains, (x, v, angle, spin)) > 0 else -10.0
        common = (force + 0.05 * spin**2 * math.sin(angle)) / 1.1
        turn = (9.8 * math.sin(angle) - math.cos(angle) * common) / (
            0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1)
        )
        pull = common - 0.05 * turn * math.cos(angle) / 1.1
        x, v, angle, spin = x + 0.02 * v, v + 0.02 * pull, angle + 0.02 * spin, spin + 0.02 * turn
        if abs(x) > 2.4 or abs(angle) > math.radians(12):
            return step
    return 200


class TestCartPole:
    def test_episodes_equal_plain_python(self):
        start = cartpole.starts(12, np.random.default_rng(5))
        gains = cartpole.policies()[::4]
        got = cartpole.steps_balanced(gains, start)
        expected = np.array([[balance(k, state) for k in gains] for state in start])
        # Pushing left or right is chaotic: the last digit of a sine may move a rare episode.
        assert (got == expected).mean() >= 0.95
        assert 20 < got.min() < got.max() == 200

    def test_stored_episodes_are_what_the_simulator_gives(self):
        pool = cartpole.pool()
        assert pool.losses.shape == (2000, 20)
        start = cartpole.starts(2000, np.random.default_rng(0))[:100]
        again = 1.0 - cartpole.steps_balanced(cartpole.policies(), start) / 200
        assert (again == pool.losses[:100]).mean() >= 0.95

    def test_left_and_right_are_alike(self):
        start = cartpole.starts(50, np.random.default_rng(1))
        gains = cartpole.policies()[[3, 12]]
        np.testing.assert_array_equal(
            cartpole.steps_balanced(gains, start), cartpole.steps_balanced(gains, -start)
        )

    def test_pushing_one_way_only_fails_at_once_and_the_best_policy_seldom(self):
        pool = cartpole.pool()
        start = cartpole.starts(50, np.random.default_rng(2))
        assert cartpole.steps_balanced(np.zeros((1, 4)), start).max() < 15
        assert pool.risks[-1, 0] < 0.05
        assert pool.risks[0, 0] > 0.6
        assert (np.diff(pool.risks[:, 0]) < 0).all()
        assert 5 <= reliable(pool, 0.3).sum() <= 9


@pytest.mark.statistical
def test_altt_certifies_the_reliable_policies_and_no_other():
    out = many_runs(Config(20, 0.3, budget=1200), cartpole.pool(), 40, np.random.default_rng(0))
    assert out.true_positive_rate[:, -1].mean() > 0.8
    # If the error is within delta, more than this has a probability below 1e-6.
    assert out.ever_wrong.sum() <= binom.isf(1e-6, 40, 0.1)
