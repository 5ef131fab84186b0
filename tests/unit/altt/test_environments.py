"""Simulated worlds: the true risks are true, and one sample is shared where it should be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from models.altt.environments import Pool, Simulated, Stream, preset, reliable, simulated

pytestmark = pytest.mark.unit

GOLDEN = Path(__file__).parents[2] / "golden" / "altt"
SCENARIOS = json.loads((GOLDEN / "mc_targets.json").read_text())["meta"]["scenarios"]


@pytest.mark.golden
@pytest.mark.parametrize("name", ["easy10", "hard20", "mixed20", "null10"])
def test_presets_equal_golden(name):
    world, _ = preset(name)
    np.testing.assert_allclose(world.means, SCENARIOS[name], rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "count"), [("easy10", 5), ("hard20", 14), ("mixed20", 5), ("null10", 0)]
)
def test_presets_have_so_many_reliable(name, count):
    world, alpha = preset(name)
    assert reliable(world, alpha).sum() == count


def test_a_risk_of_exactly_alpha_is_reliable():
    assert reliable(simulated([0.2, np.nextafter(0.2, 1)]), 0.2).tolist() == [True, False]


def test_two_risks_must_both_be_met():
    class Two:
        names = ("a", "b")
        risks = np.array([[0.1, 0.5], [0.1, 0.3]])

    assert reliable(Two(), (0.2, 0.4)).tolist() == [False, True]


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["bernoulli", "beta"])
def test_losses_have_the_stated_means(kind):
    means = (0.0, 0.02, 0.3, 0.9, 1.0)
    world = Simulated(tuple("abcde"), means, kind)
    rng = np.random.default_rng(0)
    run, candidate = np.divmod(np.arange(5 * 20_000), 5)
    losses = world.draw(rng, 20_000, run, candidate).reshape(20_000, 5)
    assert ((losses >= 0) & (losses <= 1)).all()
    # Five standard errors at most: a false alarm below 6e-7 for each of three means.
    error = np.sqrt(np.array(means) * (1 - np.array(means)) / 20_000)
    assert (np.abs(losses.mean(axis=0) - means) <= 5 * error).all()
    if kind == "beta":
        inner = losses[:, 2]
        # Var of Beta(kp, k(1-p)) = p(1-p)/(k+1), k = 8; generous for its own error.
        assert inner.var() == pytest.approx(0.21 / 9, rel=0.08)


def test_zero_one_losses_of_one_sample_are_ordered_by_risk():
    world = simulated([0.1, 0.4, 0.8])
    run, candidate = np.divmod(np.arange(3 * 500), 3)
    losses = world.draw(np.random.default_rng(1), 500, run, candidate).reshape(500, 3)
    assert (np.diff(losses, axis=1) >= 0).all()
    assert len(np.unique(losses, axis=0)) == 4


def test_a_pool_is_drawn_row_by_row_and_its_mean_is_the_truth():
    losses = np.random.default_rng(2).random((40, 3))
    pool = Pool(("a", "b", "c"), losses)
    np.testing.assert_allclose(pool.risks[:, 0], losses.mean(axis=0))
    run, candidate = np.divmod(np.arange(3 * 100), 3)
    drawn = pool.draw(np.random.default_rng(3), 100, run, candidate).reshape(100, 3)
    rows = {tuple(row) for row in losses}
    assert all(tuple(row) in rows for row in drawn)
    assert len({tuple(row) for row in drawn}) > 20


def test_a_stream_gives_one_loss_a_candidate():
    stream = Stream(simulated([0.5, 0.5, 0.5]), np.random.default_rng(0))
    assert stream.usable() is None
    assert stream.draw(np.array([0, 2])).shape == (2, 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: simulated([0.1, 1.2]), "number 2 is 1.2"),
        (lambda: simulated([]), "0 names and 0 true risks"),
        (lambda: Simulated(("a",), (0.1, 0.2)), "1 names and 2 true risks"),
        (lambda: Simulated(("a", "a"), (0.1, 0.2)), "same name"),
        (lambda: simulated([0.1], "gaussian"), "must be bernoulli or beta"),
        (lambda: preset("medium"), "must be one of easy10, hard20, mixed20, null10"),
    ],
)
def test_wrong_worlds_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
