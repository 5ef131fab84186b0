"""Sampling steps, exact mixtures and the noise's plausibility against stored values."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from models.diffusion.denoisers import MixtureDenoiser, NetworkDenoiser
from models.diffusion.mixtures import make_mixture
from models.diffusion.sampling import sample, steps
from models.diffusion.schedules import NoiseSchedule, make_grid
from models.diffusion.tilts import Linear, Quadratic, log_value, log_z, tilt
from models.steering.plausibility import log_bounds, plausibility
from models.torchrun import torch

pytestmark = pytest.mark.golden

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "steering"


def cases(name: str) -> list[dict]:
    return json.loads((FOLDER / f"{name}.json").read_text())["cases"]


def network(x, times):
    return 0.3 * x + 0.1 * torch.sin(3 * x) + 0.05 * times.view(-1, *(1,) * (x.ndim - 1)) / 1000


def tensor(values) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("case", cases("ddim_steps"), ids=lambda c: f"seed{c['seed']}")
def test_every_sampling_step(case):
    config = case["config"]
    grid = make_grid(
        NoiseSchedule(
            config["beta_schedule"],
            config["num_train_timesteps"],
            config["beta_start"],
            config["beta_end"],
        ),
        case["num_inference_steps"],
        case["eta"],
        spacing=config["timestep_spacing"],
        offset=config["steps_offset"],
        ends_clean=config["set_alpha_to_one"],
    )
    assert list(grid.timesteps) == case["timesteps"]
    k, *shape = case["shape"]
    denoiser = NetworkDenoiser(
        network,
        tuple(shape),
        config["prediction_type"],
        1.0 if config["clip_sample"] else None,
    )
    rows = [case["x_T"], *(step["variance_noise"] for step in case["steps"])]
    noise = torch.stack([torch.tensor(row).view(k, *shape) for row in rows], dim=1)
    for done, golden in zip(steps(denoiser, grid, noise), case["steps"], strict=True):
        wanted = np.array(golden["prev_sample"])
        if np.isnan(wanted).any():  # there float32 takes the root of a hair below 0
            assert torch.isfinite(done.after).all()
            continue
        assert grid.sigma[done.i] == pytest.approx(golden["sigma"], abs=2e-6)
        np.testing.assert_allclose(done.after.flatten().numpy(), wanted, rtol=2e-5, atol=5e-5)
        if done.i < 2:  # later ones start from what float32 made of the earlier ones
            clean = done.clean.flatten().numpy()
            np.testing.assert_allclose(clean, golden["pred_original_sample"], rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("case", cases("dno_sampler"), ids=lambda c: f"eta{c['eta']}")
def test_sampler_of_direct_noise_optimisation(case):
    grid = make_grid(
        NoiseSchedule(case["beta_schedule"], 1000, case["beta_start"], case["beta_end"]),
        case["num_steps"],
        case["eta"],
        offset=case["steps_offset"],
        ends_clean=False,
        quiet_end=True,
    )
    assert list(grid.timesteps[::-1]) == case["timesteps_ascending"]
    np.testing.assert_allclose(grid.sigma[::-1], case["noise_level"], atol=5e-6)
    rows = tensor(case["noise_vectors"]).flip(0)  # theirs rise in time, ours fall
    denoiser = NetworkDenoiser(network, (rows.shape[1],), clip=None)
    seen = [step.after for step in steps(denoiser, grid, rows.unsqueeze(0))]
    np.testing.assert_allclose(
        torch.cat(seen).numpy(), np.array(case["trajectory_from_x_T"])[1:], atol=2e-5
    )


@pytest.mark.parametrize("case", cases("gmm_tilt"), ids=lambda c: f"seed{c['seed']}")
def test_tilted_mixtures(case):
    prior, lam = case["prior"], case["lmbda"]
    mixture = make_mixture(prior["weights"], prior["means"], prior["covariances"])
    linear, quadratic = case["linear_reward"], case["quadratic_reward"]
    for reward, golden in (
        (Linear(tensor(linear["a"])), linear["tilted"]),
        (Quadratic(tensor(quadratic["A"]), tensor(quadratic["c"])), quadratic["tilted"]),
    ):
        assert log_z(mixture, reward, lam) == pytest.approx(golden["log_Z"], abs=1e-6)
        tilted = tilt(mixture, reward, lam)
        np.testing.assert_allclose(tilted.weights, golden["weights"], atol=1e-6)
        np.testing.assert_allclose(tilted.means, golden["means"], atol=1e-6)
        np.testing.assert_allclose(tilted.covariances, golden["covariances"], atol=1e-6)


@pytest.mark.parametrize("case", cases("gmm_tilt"), ids=lambda c: f"seed{c['seed']}")
def test_noised_mixtures(case):
    prior = case["prior"]
    mixture = make_mixture(prior["weights"], prior["means"], prior["covariances"])
    points = tensor(case["query_points"])
    reward = Linear(tensor(case["linear_reward"]["a"]))
    for golden in case["noised"]:
        noised = mixture.noised(golden["alpha_bar"])
        seen = MixtureDenoiser(mixture)(points, 0, golden["alpha_bar"])
        for ours, theirs in (
            (noised.log_density(points), "log_density"),
            (noised.score(points), "score"),
            (noised.denoise(points), "x0_hat"),
            (seen.clean, "x0_hat"),
            (seen.eps, "eps"),
            (noised.responsibilities(points), "responsibilities"),
            (log_value(noised, reward, points, case["lmbda"]), "log_value_linear"),
        ):
            np.testing.assert_allclose(ours.numpy(), golden[theirs], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "case", cases("dno_regularisation"), ids=lambda c: f"{c['kind']}-{c['seed']}"
)
def test_plausibility_of_noise(case):
    z = tensor(case["noise"]).flatten().unsqueeze(0).requires_grad_()
    first, second = log_bounds(z, case["k"])
    assert float(first.detach()) == pytest.approx(case["log_p1_sequential"], rel=1e-8, abs=1e-9)
    assert float(second.detach()) == pytest.approx(case["log_p2_sequential"], rel=1e-8, abs=1e-9)
    regulariser, _ = plausibility(z, np.array(case["permutations"]), case["k"])
    loss = 4 * math.log(2) - regulariser
    assert float(loss.detach()) == pytest.approx(case["reg_loss"], rel=1e-8)
    (gradient,) = torch.autograd.grad(loss.sum(), z)
    assert float(gradient.norm()) == pytest.approx(case["grad_norm"], rel=1e-6, abs=1e-9)
    np.testing.assert_allclose(gradient[0, :8], case["grad_first8"], rtol=1e-6, atol=1e-9)


def test_plain_sampling_is_its_last_step():
    mixture = make_mixture([1.0], [[0.5, -0.5]], [0.3 * np.eye(2)])
    grid, denoiser = make_grid(steps=5), MixtureDenoiser(mixture)
    noise = torch.from_numpy(np.random.default_rng(0).standard_normal((3, 6, 2)))
    *_, last = steps(denoiser, grid, noise)
    assert torch.equal(sample(denoiser, grid, noise), last.after)
