"""The comparison on the plane, the fit of a visitor's points, and the pictures of the digits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from models.diffusion.fitting import fit_mixture, standardise
from models.diffusion.mixtures import make_mixture
from models.diffusion.schedules import make_grid
from models.steering import digits, gallery
from models.steering.climb import climbs
from models.steering.config import FKConfig
from models.steering.dno import DNOConfig
from models.steering.image_rewards import image_reward
from models.steering.methods import finish, run_method
from models.steering.playground import Playground, default_mixture, plane_reward
from models.steering.race import climb, race, together
from models.steering.study import digit_denoiser, steered
from models.torchrun import torch

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def place():
    return Playground(plane_reward("linear", default_mixture()), 3.0)


@pytest.fixture(scope="module")
def run(place):
    return race(place, make_grid(steps=50), steered(3.0), 16, seed=4)


def test_a_row_says_what_the_method_by_itself_gives(place, run):
    states = run_method(
        "steering", place.denoiser, make_grid(steps=50), place.reward, steered(3.0), 16, seed=4
    )
    alone, row = finish("steering", states), run.row("steering")
    assert row.best == alone.rewards.max()
    assert row.mean == alone.mean_reward
    assert (row.network_calls, row.reward_calls) == (800, 80)
    spread = np.square(alone.weights * (alone.rewards - alone.mean_reward)).sum()
    assert row.error == pytest.approx(math.sqrt(spread), rel=1e-12)


def test_plain_samples_are_one_run_seen_in_three_ways(run):
    base, weighted, best = (run.row(m) for m in ("base", "importance", "best of n"))
    rewards = run.outcomes["base"].rewards
    assert base.mean == pytest.approx(rewards.mean())
    weights = np.exp(3.0 * (rewards - rewards.max()))
    assert weighted.mean == pytest.approx(weights @ rewards / weights.sum())
    assert best.best == rewards.max()
    assert math.isnan(best.mean)
    assert math.isnan(best.mmd2)
    assert math.isnan(base.best)


def test_no_method_makes_more_network_calls_than_plain_samples(run):
    assert {row.method for row in run.rows} == {
        "steering", "importance", "best of n", "base", "guidance",
    }  # fmt: skip
    assert max(row.network_calls for row in run.rows) == 800


def test_a_reward_without_a_gradient_leaves_guidance_out():
    mixture = default_mixture()
    own = Playground(plane_reward("half-plane", mixture), 2.0, mixture)
    found = race(own, make_grid(steps=10), steered_for(10), 8, seed=0)
    assert list(found.refusals) == ["guidance"]
    assert "no gradient" in found.refusals["guidance"]


def test_without_noise_there_is_no_step_to_guide(place):
    found = race(place, make_grid(steps=10, eta=0.0), steered_for(10), 8, seed=0)
    assert "no step adds noise" in found.refusals["guidance"]
    assert "guidance" not in found.outcomes


def steered_for(steps: int):
    return FKConfig(lam=2.0, first=1, final=steps - 3, every=2)


def test_the_gap_of_shares_is_zero_at_the_target_and_one_far_from_it(place):
    exact = place.truth
    n = len(exact)
    # The share of a group among n draws misses by less than 6 standard errors, 6 sqrt(1 / 4 n).
    assert place.share_gap(exact, np.full(n, 1 / n)) < 6 * math.sqrt(0.25 / n)
    left = torch.full((5, 2), -2.0, dtype=torch.float64)
    assert place.share_gap(left, np.full(5, 0.2)) == pytest.approx(
        1 - float(place.shares[0]), abs=1e-3
    )


def test_a_ladder_adds_up_repeats_of_the_same_sizes(place):
    grid = make_grid(steps=50)
    first, second = (climb(place, grid, steered(3.0), (1, 4), 7, r) for r in (0, 1))
    both = together(first, second)
    assert both.repeats == 2
    assert both.best["steering"].tolist() == [
        first.best["steering"][0].tolist(),
        second.best["steering"][0].tolist(),
    ]
    # One particle has nobody to be chosen over: steering is the model itself.
    assert both.best["steering"][:, 0].tolist() == both.best["best of n"][:, 0].tolist()


@pytest.mark.statistical
def test_groups_far_apart_are_found_again():
    """Means miss by less than 0.2, six standard errors of the smallest group's 100 points."""
    rng = np.random.default_rng(3)
    truth = make_mixture(
        [0.5, 0.3, 0.2], [[-4.0, 0.0], [4.0, 4.0], [4.0, -4.0]], [0.1 * np.eye(2)] * 3
    )
    points = truth.sample(500, rng).numpy()
    found = fit_mixture(points, 3, 0)
    for weight, mean, covariance in zip(found.weights, found.means, found.covariances, strict=True):
        away = (truth.means - mean).norm(dim=1)
        nearest = int(away.argmin())
        assert float(away[nearest]) < 0.2
        assert float(weight) == pytest.approx(float(truth.weights[nearest]), abs=0.13)
        # Variance 0.1 + the floor 0.001; a variance of 100 points has standard error 0.014.
        assert torch.diagonal(covariance).tolist() == pytest.approx([0.1, 0.1], abs=0.085)
    assert found.weights.tolist() == sorted(found.weights.tolist(), reverse=True)


def test_one_group_is_mean_and_covariance():
    points = standardise(np.random.default_rng(0).standard_normal((50, 2)) @ [[2.0, 1.0], [0, 1]])
    found = fit_mixture(points, 1, 0)
    assert found.means[0].tolist() == pytest.approx([0.0, 0.0], abs=1e-12)
    expected = np.cov(points.T, bias=True) + 1e-3 * np.eye(2)
    assert found.covariances[0].numpy() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        (np.zeros((9, 2)), "There are 9 points, but at least 10 are needed"),
        (np.full((12, 2), np.nan), "must be finite"),
        (np.column_stack([np.arange(12.0), np.full(12, 5.0)]), "Coordinate 2 is the same"),
        (np.full((12, 2), 1e200) * np.arange(24.0).reshape(12, 2), "too large to compute with"),
    ],
)
def test_points_that_cannot_be_fitted_are_one_sentence(points, sentence):
    with pytest.raises(ValueError, match=sentence):
        standardise(points)


@pytest.mark.parametrize("components", [0, 3, 7])
def test_more_groups_than_points_allow_are_refused(components):
    with pytest.raises(ValueError, match="10 points allow 1 to 2"):
        fit_mixture(np.random.default_rng(0).standard_normal((10, 2)), components, 0)


def test_the_galleries_end_as_the_methods_do():
    reward, grid, config = image_reward("ink"), make_grid(steps=10), steered_for(10)
    steps = list(
        gallery.galleries(
            digit_denoiser(), grid, reward, config, 4, ("steering", "best of n"), seed=1, digit=3
        )
    )
    assert [max(g.step for g in item.values()) for item in steps[:2]] == [1, 3]
    last = steps[-1]
    for method in ("steering", "best of n"):
        states = run_method(method, digit_denoiser(), grid, reward, config, 4, seed=1)
        alone = finish(method, states)
        assert last[method].rewards.tolist() == alone.rewards.tolist()
        assert last[method].weights.tolist() == alone.weights.tolist()
        assert torch.equal(last[method].images, alone.samples.clamp(-1, 1))
        assert last[method].network_calls == 40
    assert steps[0]["steering"].rewards is None


def test_pictures_of_training_digits_are_at_no_distance():
    seen = digits.load().train.images[:3]
    assert gallery.distance(seen) == pytest.approx([0.0, 0.0, 0.0], abs=2e-3)
    assert 1.0 < gallery.usual_distance() < 4.0


def test_the_noise_climb_raises_the_reward_with_and_without_gamma():
    config = DNOConfig(steps=2, orders=2)
    grid, reward = make_grid(steps=5), image_reward("ink")
    *_, found = climbs(digit_denoiser(), grid, reward, config, 2, gallery.distance, seed=0)
    assert sorted(found) == [0.0, 1.0]
    assert found[0.0].rewards[0] == found[1.0].rewards[0]
    assert found[0.0].rewards[2] > found[0.0].rewards[0]
    assert found[0.0].steps.tolist() == [0, 1, 2]


def test_one_particle_is_as_good_steered_as_not():
    *_, found = gallery.best_by_size(
        digit_denoiser(), make_grid(steps=10), image_reward("ink"), steered_for(10), (1, 2), 2, 0
    )
    assert found["steering"].shape == (2, 2)
    assert found["steering"][:, 0].tolist() == found["best of n"][:, 0].tolist()


def test_pictures_are_laid_out_in_rows_with_dark_ink():
    images = torch.stack([torch.full((1, 2, 2), v) for v in (1.0, -1.0, 0.0)])
    sheet = gallery.tiled(images, columns=2, scale=2, gap=1, paper=9)
    assert sheet.shape == (9, 9)
    assert (sheet[0, 0], sheet[0, 5], sheet[5, 0], sheet[4, 0], sheet[5, 5]) == (0, 255, 128, 9, 9)


def test_a_damaged_network_is_one_sentence(monkeypatch, tmp_path):
    broken = tmp_path / "digits_unet.safetensors"
    broken.write_bytes(digits.WEIGHTS.read_bytes()[:1000])
    monkeypatch.setattr(digits, "WEIGHTS", broken)
    with pytest.raises(ValueError, match="is damaged or does not fit"):
        digits.load_unet()
