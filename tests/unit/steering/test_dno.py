"""Direct noise optimisation: gradients, regularisation, estimators and hard cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.diffusion.denoisers import NetworkDenoiser
from models.diffusion.noise import draw_noise
from models.diffusion.sampling import sample
from models.diffusion.schedules import make_grid
from models.steering.ascent import Ascent, reward_slope
from models.steering.dno import DNOConfig, run_dno
from models.steering.plausibility import draw_orders, log_bounds, plausibility
from models.steering.playground import Playground, default_mixture, plane_reward
from models.torchrun import torch

pytestmark = pytest.mark.unit

GRID = make_grid(steps=10)
PLACE = Playground(plane_reward("linear", default_mixture()), 1.0)
CONFIG = DNOConfig(steps=15, optimiser="adam", rate=0.03, clip=None, orders=4, checkpoint=False)


def run(config=CONFIG, grid=GRID, reward=PLACE.reward, k=4, denoiser=PLACE.denoiser):
    noise = draw_noise(2, k, grid.steps, denoiser.shape, dtype=denoiser.dtype)
    return list(run_dno(denoiser, grid, noise, reward, config, np.random.default_rng(0)))


def ascent(estimator="gradient", rows=slice(0, 11), last_steps=10, q=4, mu=0.01, checkpoint=False):
    return Ascent(
        PLACE.denoiser, GRID, PLACE.reward, rows, last_steps, estimator, mu, q, checkpoint
    )


def test_the_gradient_is_that_of_finite_differences():
    noise = draw_noise(1, 1, 10, (2,))
    z = noise.clone().requires_grad_()
    found = reward_slope(ascent(), noise, z, np.random.default_rng(0)).gradient[0]
    h = 1e-5
    for row, column in ((0, 0), (0, 1), (4, 0), (9, 1)):
        up, down = noise.clone(), noise.clone()
        up[0, row, column] += h
        down[0, row, column] -= h
        ends = [PLACE.reward(sample(PLACE.denoiser, GRID, n)) for n in (up, down)]
        expected = float(ends[0] - ends[1]) / (2 * h)
        assert float(found[row, column]) == pytest.approx(expected, rel=1e-4, abs=1e-7)


def test_checkpointing_changes_no_gradient():
    noise = draw_noise(1, 3, 10, (2,))
    slopes = [
        reward_slope(
            ascent(checkpoint=c), noise, noise.clone().requires_grad_(), np.random.default_rng(0)
        )
        for c in (False, True)
    ]
    assert torch.equal(slopes[0].gradient, slopes[1].gradient)
    assert slopes[1].network_calls - slopes[0].network_calls == 3 * 10


def test_rewards_rise_and_every_sample_by_itself():
    states = run()
    assert (states[-1].rewards > states[0].rewards).all()
    alone = run(k=2)[-1]
    # Random orders are drawn once a step for all samples, so that the batch may be cut.
    np.testing.assert_allclose(alone.rewards, states[-1].rewards[:2], atol=1e-9)


def test_the_first_state_is_the_plain_sample_and_the_last_is_marked():
    states = run()
    plain = sample(PLACE.denoiser, GRID, draw_noise(2, 4, 10, (2,)))
    torch.testing.assert_close(states[0].samples, plain, rtol=0, atol=1e-12)
    assert [s.last for s in states] == [False] * 15 + [True]
    again = sample(PLACE.denoiser, GRID, states[-1].noise)
    torch.testing.assert_close(states[-1].samples, again, rtol=0, atol=1e-12)


def test_without_injected_noise_only_the_start_moves():
    states = run(grid=make_grid(steps=10, eta=0.0))
    moved = (states[-1].noise - states[0].noise).abs().amax((0, 2))
    assert moved[0] > 0
    assert (moved[1:] == 0).all()


def test_only_the_last_steps_carry_gradients_if_asked():
    states = run(replace(CONFIG, last_steps=3))
    moved = (states[-1].noise - states[0].noise).abs().amax((0, 2))
    assert (moved[:8] == 0).all()
    assert (moved[8:10] > 0).all()


def test_regularisation_is_silent_inside_the_typical_set():
    z = torch.from_numpy(np.random.default_rng(0).standard_normal((50, 400))).requires_grad_()
    regulariser, _ = plausibility(z, draw_orders(400, 1, np.random.default_rng(1)))
    (gradient,) = torch.autograd.grad(regulariser.sum(), z)
    silent = regulariser == 0
    assert 15 < int(silent.sum()) < 50
    assert (gradient[silent] == 0).all()
    assert (gradient[~silent] != 0).any(dim=1).all()


@pytest.mark.parametrize(
    "strange",
    [
        lambda z: z + 0.5,
        lambda z: 1.5 * z,
        lambda z: 0 * z,
        lambda z: z.abs(),
        lambda z: z[..., :1000].repeat(1, 4).sort(dim=-1).values,
    ],
    ids=["shifted", "scaled", "zero", "one-sided", "sorted"],
)
def test_strange_noise_is_found_out(strange):
    z = torch.from_numpy(np.random.default_rng(0).standard_normal((1, 4000)))
    _, indicator = plausibility(strange(z), draw_orders(4000, 2, np.random.default_rng(1)))
    assert float(indicator) < -5


@pytest.mark.statistical
def test_the_bounds_hold_for_gaussian_noise():
    """P(p <= 0.1) <= 0.1 for both bounds; 2,000 draws allow 0.14 (6 standard errors)."""
    z = torch.from_numpy(np.random.default_rng(3).standard_normal((2000, 400)))
    for bound in log_bounds(z):
        assert float((bound <= np.log(0.1)).double().mean()) <= 0.14


def test_fewer_numbers_than_a_block_say_nothing():
    first, second = log_bounds(torch.full((2, 3), 9.0))
    assert first.tolist() == second.tolist() == [0.0, 0.0]


def test_a_tail_that_fills_no_block_is_cut_off():
    z = torch.from_numpy(np.random.default_rng(0).standard_normal((1, 43)))
    for whole, cut in zip(log_bounds(z), log_bounds(z[:, :40]), strict=True):
        assert torch.equal(whole, cut)


def test_zero_noise_has_a_finite_gradient():
    z = torch.zeros(1, 4000, dtype=torch.float64, requires_grad=True)
    regulariser, _ = plausibility(z, draw_orders(4000, 2, np.random.default_rng(0)))
    (gradient,) = torch.autograd.grad(regulariser.sum(), z)
    assert torch.isfinite(gradient).all()


def test_regularisation_keeps_noise_and_sample_plausible():
    longer = replace(CONFIG, steps=60)
    free, held = (run(replace(longer, gamma=g))[-1] for g in (0.0, 1.0))
    assert free.log_indicator.mean() < held.log_indicator.mean()
    density = PLACE.mixture.log_density
    assert float(density(free.samples).mean()) < float(density(held.samples).mean())
    start = run(replace(CONFIG, steps=0))[0]
    assert free.rewards.mean() > held.rewards.mean() > start.rewards.mean()


@pytest.mark.parametrize("estimator", ["zeroth", "hybrid 1", "hybrid 2"])
def test_estimators_point_uphill_without_a_gradient(estimator):
    """The mean over 400 perturbations has a positive product with the true gradient."""
    noise = draw_noise(1, 2, 10, (2,))

    def direction(name):
        z = noise.clone().requires_grad_()
        return reward_slope(ascent(name, q=400), noise, z, np.random.default_rng(0)).gradient

    true, found = direction("gradient").flatten(1), direction(estimator).flatten(1)
    cosine = torch.nn.functional.cosine_similarity(true, found)
    assert (cosine > 0.8).all()


def test_the_zeroth_order_estimate_converges_to_the_gradient():
    noise = draw_noise(1, 1, 10, (2,))
    pair = [
        reward_slope(
            ascent(name, q=20_000, mu=1e-4), noise, noise.clone().requires_grad_(),
            np.random.default_rng(0),
        ).gradient
        for name in ("gradient", "zeroth")
    ]  # fmt: skip
    assert float((pair[0] - pair[1]).norm() / pair[0].norm()) < 0.1


@pytest.mark.parametrize("estimator", ["zeroth", "hybrid 1", "hybrid 2"])
def test_estimators_raise_a_reward_that_has_no_gradient(estimator):
    def black_box(x):
        return PLACE.reward(x).detach().numpy()

    states = run(replace(CONFIG, estimator=estimator, perturbations=8), reward=black_box)
    assert states[-1].rewards.mean() > states[0].rewards.mean()


def test_a_reward_without_gradient_is_refused_by_the_gradient_estimator():
    with pytest.raises(ValueError, match="has no gradient"):
        run(reward=lambda x: PLACE.reward(x).detach())


@pytest.mark.parametrize(
    ("estimator", "network", "rewards"),
    [("gradient", 3, 1), ("zeroth", 5, 5), ("hybrid 1", 3, 5), ("hybrid 2", 7, 5)],
)
def test_calls_are_counted(estimator, network, rewards):
    end = run(replace(CONFIG, steps=2, estimator=estimator))[-1]
    # Two steps, and the samples that the last state shows.
    assert end.network_calls == 4 * 10 * (2 * network + 1)
    assert end.reward_calls == 4 * (2 * rewards + 1)


def test_a_gradient_that_is_no_number_moves_nothing_else():
    def broken(x):
        values = PLACE.reward(x)
        return torch.cat([values[:1] * torch.nan, values[1:]])

    states = run(replace(CONFIG, steps=3), reward=broken)
    assert torch.isfinite(states[-1].noise).all()
    assert (states[-1].rewards[1:] > states[0].rewards[1:]).all()


def test_a_bounded_gradient_bounds_each_sample_step():
    config = replace(CONFIG, optimiser="sgd", rate=1.0, clip=0.25, gamma=0.0, steps=1)
    states = run(config)
    moved = (states[1].noise - states[0].noise).flatten(1).norm(dim=1)
    assert (moved <= 0.25 + 1e-9).all()


def test_clipping_the_clean_point_is_seen_by_the_gradient():
    grid = make_grid(steps=4)
    steep = NetworkDenoiser(lambda x, t: -1e4 * x, (2,), clip=1.0)
    noise = draw_noise(0, 1, 4, (2,), dtype=torch.float32)
    *_, end = run_dno(
        steep, grid, noise, lambda x: x.sum(1), replace(CONFIG, steps=1, gamma=0.0),
        np.random.default_rng(0),
    )  # fmt: skip
    assert torch.equal(end.noise, noise)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"steps": -1}, "steps is -1"),
        ({"rate": 0.0}, "rate is 0"),
        ({"mu": -1.0}, "mu is -1"),
        ({"gamma": -1.0}, "must not be negative"),
        ({"clip": 0.0}, "clip is 0"),
        ({"estimator": "guess"}, "estimator is 'guess'"),
        ({"last_steps": 11}, "last_steps is 11, but there are only 10"),
        ({"last_steps": 0}, "last_steps must be at least 1"),
        ({"last_steps": 3, "rows": "start"}, "needs all noises"),
    ],
)
def test_choices_that_do_not_fit_are_one_sentence(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        run(replace(CONFIG, **change))
