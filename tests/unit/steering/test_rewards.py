"""Rewards of the plane and of images, the typed expression, and distances."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from models.diffusion.mixtures import make_mixture
from models.diffusion.tilts import HalfPlane, Quadratic, log_value, log_z, sample_tilted
from models.steering.classifiers import ABOUT, accuracy, load_classifiers
from models.steering.digits import load
from models.steering.distances import diversity, mmd2, sliced_w1, spearman
from models.steering.expression import Expression
from models.steering.image_rewards import image_reward, judged, nearest
from models.steering.playground import Playground, default_mixture, plane_reward
from models.torchrun import torch

pytestmark = pytest.mark.unit

MIXTURE = default_mixture()
DIGITS = load()
SOME = DIGITS.held_out.images[:12]


# ------------------------------------------------------------------------------- the plane


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["linear", "point", "half-plane"])
def test_log_z_and_log_value_match_plain_averages(name):
    """400,000 draws, 6 standard errors of the mean weight."""
    rng, reward, lam = np.random.default_rng(0), plane_reward(name, MIXTURE), 0.8
    x = MIXTURE.sample(400_000, rng)
    for points, known in (
        (x, log_z(MIXTURE, reward, lam)),
        (
            MIXTURE.noised(0.4).sample_clean(torch.tensor([[0.3, -0.2]]).double(), 400_000, rng)[0],
            float(
                log_value(MIXTURE.noised(0.4), reward, torch.tensor([[0.3, -0.2]]).double(), lam)
            ),
        ),
    ):
        w = torch.exp(lam * reward(points)).numpy()
        assert abs(w.mean() - np.exp(known)) < 6 * w.std() / np.sqrt(len(w))


@pytest.mark.parametrize("name", ["linear", "point", "half-plane"])
def test_value_at_no_noise_is_the_reward_and_at_full_noise_log_z(name):
    reward, x = plane_reward(name, MIXTURE), torch.tensor([[0.4, 1.0], [1.6, -2.0]]).double()
    at_data = log_value(MIXTURE.noised(1.0), reward, x, 2.0)
    torch.testing.assert_close(at_data, 2.0 * reward(x), rtol=0, atol=1e-9)
    at_noise = log_value(MIXTURE.noised(0.0), reward, x, 2.0)
    np.testing.assert_allclose(at_noise, log_z(MIXTURE, reward, 2.0), atol=1e-12)


def test_value_is_a_martingale_along_the_noising():
    """E[V_s(x_s) | x_t] = V_t(x_t) for s < t, by quadrature through x_0: the tower rule."""
    reward, rng = plane_reward("linear", MIXTURE), np.random.default_rng(0)
    x_t = torch.tensor([[0.2, 0.1]]).double()
    clean = MIXTURE.noised(0.3).sample_clean(x_t, 200_000, rng)[0]
    # x_s given x_0 and x_t, with alpha_bar 0.3 at t and 0.6 at s.
    ratio = 0.3 / 0.6
    variance = (1 - 0.6) / (1 - 0.3) * (1 - ratio)
    mean = (np.sqrt(0.6) * (1 - ratio) * clean + np.sqrt(ratio) * (1 - 0.6) * x_t) / (1 - 0.3)
    x_s = mean + np.sqrt(variance) * torch.from_numpy(rng.standard_normal(clean.shape))
    values = torch.exp(log_value(MIXTURE.noised(0.6), reward, x_s, 1.0)).numpy()
    expected = float(torch.exp(log_value(MIXTURE.noised(0.3), reward, x_t, 1.0)))
    assert abs(values.mean() - expected) < 6 * values.std() / np.sqrt(len(values))


@pytest.mark.parametrize("name", ["half-plane", "group"])
def test_rejection_draws_the_tilted_share(name):
    place = Playground(plane_reward(name, MIXTURE), 2.0)
    prior = MIXTURE.sample(200_000, np.random.default_rng(1))
    inside = float(place.reward(prior).mean())
    expected = inside * np.exp(2) / (inside * np.exp(2) + 1 - inside)
    share = float(place.reward(place.truth).mean())
    assert share == pytest.approx(expected, abs=6 * np.sqrt(0.25 / len(place.truth)))
    assert float(place.shares.sum()) == pytest.approx(1.0)


def test_a_target_too_rare_for_rejection_is_refused():
    rare = HalfPlane(torch.tensor([1.0, 0.0]).double(), 50.0)
    with pytest.raises(ValueError, match="too few for 10"):
        sample_tilted(MIXTURE, rare, 40.0, 10, np.random.default_rng(0))


def test_mean_reward_of_the_target_is_that_of_its_mixture():
    place = Playground(plane_reward("linear", MIXTURE), 3.0)
    expected = float(place.target.weights @ place.reward(place.target.means))
    assert place.mean_reward == pytest.approx(expected, abs=1e-5)
    assert float(place.shares[2]) == pytest.approx(0.9955, abs=1e-4)


def test_a_flat_quadratic_reward_changes_nothing():
    flat = Quadratic(torch.zeros(2, 2).double(), torch.zeros(2).double())
    assert log_z(MIXTURE, flat, 3.0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("weights", "covariances", "sentence"),
    [
        ([0.5, 0.6], [np.eye(2)] * 2, "sum to 1"),
        ([1.0, 0.0], [np.eye(2)] * 2, "must be positive"),
        ([0.5, 0.5], [np.eye(2), -np.eye(2)], "component 1"),
        ([0.5, 0.5], [np.eye(2), [[1.0, 0.5], [0.0, 1.0]]], "symmetric"),
        ([0.5, 0.5], [np.eye(2)], "shapes are"),
        ([0.5, 0.5], [np.eye(2), np.full((2, 2), np.nan)], "finite"),
    ],
)
def test_a_mixture_that_is_none_is_refused(weights, covariances, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_mixture(weights, np.zeros((2, 2)), covariances)


def test_unknown_rewards_and_noise_levels_are_refused():
    with pytest.raises(ValueError, match="one of linear"):
        plane_reward("best", MIXTURE)
    with pytest.raises(ValueError, match=r"alpha_bar is 1\.5"):
        MIXTURE.noised(1.5)


# ------------------------------------------------------------------------------- distances


def test_distances_are_zero_for_the_same_points_and_grow_with_a_shift():
    x = MIXTURE.sample(300, np.random.default_rng(0))
    equal = np.full(300, 1 / 300)
    near, far = (mmd2(x + d, equal, x) for d in (0.2, 1.0))
    assert mmd2(x, equal, x) == pytest.approx(0.0, abs=1e-12)
    assert 0 < near < far
    slices = [sliced_w1(x + d, equal, x, np.random.default_rng(1)) for d in (0.0, 1.0)]
    assert slices[0] == pytest.approx(0.0, abs=1e-12)
    # The shift (1, 1) is seen as sqrt(2) |cos| of its angle with the direction; |cos| averages
    # 2/pi, and 50 directions give that within 15 %.
    assert slices[1] == pytest.approx(2 * np.sqrt(2) / np.pi, rel=0.15)


def test_the_kernel_is_the_mean_over_four_bandwidths():
    x, y = torch.zeros(1, 2).double(), torch.ones(1, 2).double() / np.sqrt(2)
    gaussians = [np.exp(-1 / (2 * h**2)) for h in (0.25, 0.5, 1.0, 2.0)]
    assert mmd2(x, np.ones(1), y) == pytest.approx(2 - 2 * np.mean(gaussians), abs=1e-12)


def test_weights_count_like_copies():
    x, y = (MIXTURE.sample(n, np.random.default_rng(n)) for n in (3, 40))
    copies = x[[0, 0, 1, 2]]
    assert mmd2(x, np.array([0.5, 0.25, 0.25]), y) == pytest.approx(
        mmd2(copies, np.full(4, 0.25), y), abs=1e-12
    )


def test_spearman_is_scipys_and_nan_where_there_is_no_order():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, 30).astype(float), rng.normal(size=30)
    assert spearman(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)
    assert np.isnan(spearman(np.ones(5), b[:5]))


def test_diversity_is_the_mean_distance_of_pairs():
    assert diversity(torch.tensor([[0.0], [1.0], [3.0]])) == pytest.approx(2.0)
    assert diversity(torch.zeros(1, 2)) == 0.0


# ---------------------------------------------------------------------------------- images


@pytest.mark.parametrize(
    "name", ["digit", "ink", "contrast", "left-right symmetry", "up-down symmetry"]
)
def test_smooth_rewards_carry_gradients_and_stay_bounded_off_the_range(name):
    reward, x = image_reward(name), SOME.clone().requires_grad_()
    values = reward(x)
    (gradient,) = torch.autograd.grad(values.sum(), x)
    assert reward.differentiable
    assert torch.isfinite(gradient).all()
    assert float(gradient.abs().max()) > 0
    beyond, clipped = (reward(v) for v in (9 * SOME, (9 * SOME).clamp(-1, 1)))
    torch.testing.assert_close(beyond, clipped)


def test_symmetric_images_have_the_highest_symmetry():
    mirrored = torch.cat([SOME[..., :4], SOME[..., :4].flip(3)], dim=3)
    assert (image_reward("left-right symmetry")(mirrored) == 0).all()
    assert (image_reward("left-right symmetry")(SOME) < 0).all()


def test_a_wider_bar_has_a_thicker_stroke():
    bars = torch.full((4, 1, 8, 8), -1.0)
    for i in range(1, 4):
        bars[i, :, :, 2 : 2 + i] = 1.0
    widths = image_reward("thick strokes")(bars)
    assert widths[0] == 0
    assert (widths.diff() > 0).all()


def test_a_blank_image_is_the_easiest_to_compress():
    noisy = torch.from_numpy(np.random.default_rng(0).uniform(-1, 1, (1, 1, 8, 8)))
    values = image_reward("compressible")(torch.cat([torch.zeros(1, 1, 8, 8), noisy]))
    assert values[0] > values[1]


def test_a_drawing_is_most_like_itself():
    values = image_reward("like a drawing", drawing=SOME[3, 0])(SOME)
    assert int(values.argmax()) == 3
    assert float(values[3]) == 0.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"name": "beauty"}, "reward is 'beauty'"),
        ({"name": "digit", "digit": 10}, "digit is 10"),
        ({"name": "like a drawing"}, "Draw something"),
        ({"name": "like a drawing", "drawing": torch.full((8, 8), torch.nan)}, "Draw something"),
    ],
)
def test_wrong_rewards_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        image_reward(**arguments)


def test_a_drawing_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"\(9, 9\) pixels"):
        image_reward("like a drawing", drawing=torch.zeros(9, 9))(SOME)


def test_both_classifiers_recognise_digits_that_neither_saw():
    about = json.loads(ABOUT.read_text())
    for name, classifier in zip(("reward", "judge"), load_classifiers(), strict=True):
        share = accuracy(classifier, DIGITS.held_out)
        assert share == pytest.approx(about[name]["accuracy_held_out"], abs=0.01)
        assert share > 0.95


def test_the_splits_do_not_overlap():
    rows = [
        {tuple(image.flatten().tolist()) for image in part.images}
        for part in (DIGITS.first_half, DIGITS.second_half, DIGITS.held_out)
    ]
    assert [len(r) for r in rows] == [750, 750, 297]
    assert not rows[0] & rows[1]
    assert not (rows[0] | rows[1]) & rows[2]


def test_the_judge_knows_threes_and_nearest_finds_the_same_image():
    threes = DIGITS.held_out.images[DIGITS.held_out.digit == 3]
    assert float(judged(threes, 3).exp().mean()) > 0.8
    assert float(nearest(SOME, SOME).max()) < 1e-2
    assert float(nearest(SOME, DIGITS.train.images).min()) > 0.5


# ----------------------------------------------------------------------------- expression


def test_an_expression_computes_what_it_says():
    found = Expression("2*left - right**2 + max(0.1, p3) if mean < 9 else 0")(SOME)
    x = (SOME.squeeze(1) + 1) / 2
    p3 = image_reward("digit", digit=3)(SOME).exp()
    expected = 2 * x[:, :, :4].mean((1, 2)) - x[:, :, 4:].mean((1, 2)) ** 2 + p3.clamp_min(0.1)
    np.testing.assert_allclose(found, expected.double(), rtol=1e-6)


@pytest.mark.parametrize(
    "text", ["3", "not mean", "1 < mean < 2 and left", "-mean", "min(1, 2, 3)"]
)
def test_every_allowed_form_gives_one_number_an_image(text):
    assert Expression(text)(SOME).shape == (12,)


@pytest.mark.parametrize(
    "text", ["log(0*mean)", "1/(mean-mean)", "(-1)**0.5", "9**9**9", "exp(999)"]
)
def test_where_there_is_no_value_the_reward_is_nan(text):
    assert np.isnan(Expression(text)(SOME)).all()


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "mean.__class__", "mean.real", "().__class__", "'a' * 9",
        "[1][0]", "{1: 2}", "lambda: 1", "(x := 1)", "[m for m in (1, 2)]", "f'{mean}'",
        "open('x')",
        "eval('1')", "max(*[1, 2])", "abs(x=1)", "mean; mean", "import os", "True", "None", "1j",
        "left @ right", "1 << 9", "mean is left", "sqrt", "unknown", "max(mean)", "abs(1, 2)", "",
        "1" * 201, "1e999", "((((", "mean(1)", "print(1)", "~1", "5 // 2", "...",
    ],
)  # fmt: skip
def test_nothing_but_arithmetic_is_let_through(text):
    with pytest.raises(ValueError, match=r"\w"):
        Expression(text)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="mean left()+-*/.,0123456789<>p_[]'\"=", max_size=40))
def test_any_text_gives_rewards_or_one_sentence(text):
    try:
        expression = Expression(text)
    except ValueError:
        return
    assert expression(SOME[:2]).shape == (2,)
