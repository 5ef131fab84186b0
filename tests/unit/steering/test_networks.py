"""The shipped network, its training, diffusers' pipelines, and torch set up in one place."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from models import torchrun
from models.diffusion.denoisers import (
    NetworkDenoiser,
    pipeline_denoiser,
    schedule_of,
    unet_denoiser,
)
from models.diffusion.noise import draw_noise
from models.diffusion.sampling import sample
from models.diffusion.schedules import COSINE, NoiseSchedule, make_grid
from models.steering import digits
from models.steering.config import FKConfig
from models.steering.dno import DNOConfig, run_dno
from models.steering.image_rewards import image_reward, judged, nearest
from models.steering.methods import finish, run_method
from models.steering.training import TrainConfig, denoising_loss, train
from models.torchrun import torch

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def unet():
    return digits.load_unet()


def test_the_shipped_network_denoises_digits_it_never_saw(unet):
    bars = torch.from_numpy(COSINE.alpha_bar()).float()
    with torch.no_grad():
        loss = denoising_loss(
            unet, digits.load().held_out, bars, np.random.default_rng(1), 512, 0.15
        )
    about = json.loads(digits.CONFIG.read_text())
    assert float(loss) < 0.2
    assert float(loss) == pytest.approx(about["loss_held_out_images"], abs=0.01)
    assert about["parameters"] == sum(p.numel() for p in unet.parameters())
    assert about["steps_done"] == about["train"]["steps"] >= 2000


def test_the_loss_curve_falls():
    with (digits.ASSETS / "digits_unet_loss.csv").open() as file:
        rows = [float(row["loss"]) for row in csv.DictReader(file)]
    assert np.mean(rows[-5:]) < 0.6 * np.mean(rows[:3])


def test_labelled_samples_are_the_digit_asked_for(unet):
    """Twelve threes: the judge, which no training of the network used, recognises at least 9."""
    grid = make_grid(steps=20)
    denoiser = unet_denoiser(unet, label=3)
    noise = draw_noise(0, 12, 20, (1, 8, 8), dtype=torch.float32)
    with torch.no_grad():
        images = sample(denoiser, grid, noise)
    assert int((judged(images, 3) > np.log(0.5)).sum()) >= 9
    real = nearest(digits.load().held_out.images, digits.load().train.images).mean()
    assert float(nearest(images, digits.load().train.images).mean()) < 1.5 * float(real)


def test_particles_do_not_depend_on_the_batch(unet):
    grid, denoiser = make_grid(steps=8), unet_denoiser(unet, digits.NO_CLASS)
    noise = draw_noise(3, 5, 8, (1, 8, 8), dtype=torch.float32)
    with torch.no_grad():
        whole, again, alone = (sample(denoiser, grid, n) for n in (noise, noise, noise[2:3]))
    assert torch.equal(whole, again)
    torch.testing.assert_close(whole[2:3], alone, rtol=0, atol=1e-4)


def test_steering_the_network_raises_its_reward(unet):
    grid, denoiser = make_grid(steps=20), unet_denoiser(unet, digits.NO_CLASS)
    reward, config = image_reward("little ink"), FKConfig(lam=20.0, first=3, final=15, every=4)
    ends = {
        m: finish(m, run_method(m, denoiser, grid, reward, config, 6, seed=1))
        for m in ("base", "steering")
    }
    assert ends["steering"].mean_reward > ends["base"].mean_reward
    assert ends["steering"].network_calls == ends["base"].network_calls


def test_noise_optimisation_works_through_the_network(unet):
    denoiser = unet_denoiser(unet, digits.NO_CLASS, clip=None)
    grid = make_grid(steps=6)
    noise = draw_noise(0, 2, 6, (1, 8, 8), dtype=torch.float32)
    config = DNOConfig(steps=4, rate=0.05, orders=2)
    states = list(
        run_dno(denoiser, grid, noise, image_reward("ink"), config, np.random.default_rng(0))
    )
    assert (states[-1].rewards > states[0].rewards).all()


def test_training_stopped_and_resumed_is_training(tmp_path):
    config = TrainConfig(steps=4, batch=4, unet=digits.UNetConfig(channels=(8, 8)))
    straight = [state.loss for state in train(config)]
    first = train(config)
    for _ in range(2):
        state = next(first)
    torch.save(state.checkpoint(), tmp_path / "half.pt")
    resume = torch.load(tmp_path / "half.pt", weights_only=True)
    assert [s.loss for s in train(config, resume)] == straight[2:]
    assert [s.loss for s in train(replace(config, seed=1))] != straight


def test_training_lowers_the_loss():
    config = TrainConfig(steps=40, batch=16, unet=digits.UNetConfig(channels=(8, 16)))
    losses = [state.loss for state in train(config)]
    assert np.mean(losses[-8:]) < np.mean(losses[:8])


def test_a_missing_network_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(digits, "WEIGHTS", tmp_path / "none.safetensors")
    with pytest.raises(ValueError, match=r"none\.safetensors is missing: train it first"):
        digits.load_unet()


def test_an_unconditional_pipeline_from_a_folder_samples_as_diffusers_does(tmp_path):
    """eta = 0 and the same starting point: the pipeline's own loop is the witness."""
    module = torchrun.diffusers()
    small = digits.build_unet(digits.UNetConfig(channels=(8, 8)), 0)
    plain = module.UNet2DModel(**{**small.config, "num_class_embeds": None})
    scheduler = module.DDIMScheduler(
        beta_schedule="squaredcos_cap_v2", set_alpha_to_one=True, clip_sample=True
    )
    module.DDIMPipeline(unet=plain, scheduler=scheduler).save_pretrained(tmp_path)
    pipeline = module.DDIMPipeline.from_pretrained(tmp_path)
    denoiser, schedule = pipeline_denoiser(pipeline)
    assert schedule == NoiseSchedule("squaredcos_cap_v2")
    noise = draw_noise(0, 2, 5, (1, 8, 8), dtype=torch.float32)
    with torch.no_grad():
        ours = sample(denoiser, make_grid(schedule, 5, 0.0), noise)
        pipeline.scheduler.set_timesteps(5)
        theirs = noise[:, 0]
        for t in pipeline.scheduler.timesteps:
            output = pipeline.unet(theirs, t).sample
            theirs = pipeline.scheduler.step(output, t, theirs, eta=0.0).prev_sample
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-4)


def test_a_text_pipeline_is_guided_and_decoded():
    """Stand-ins for unet, text encoder and VAE: eps = mean of the words + scale * difference."""

    class UNet:
        config = SimpleNamespace(in_channels=4, sample_size=2)
        device, dtype = torch.device("cpu"), torch.float32

        def __call__(self, x, times, encoder_hidden_states):
            words = encoder_hidden_states.mean((1, 2)).view(-1, 1, 1, 1)
            return SimpleNamespace(sample=words + 0 * x)

    def encode(prompt, device, images, guided, negative):
        return torch.full((1, 3, 5), 2.0), torch.full((1, 3, 5), 0.5) if guided else None

    vae = SimpleNamespace(
        config=SimpleNamespace(scaling_factor=0.5), decode=lambda z: SimpleNamespace(sample=z + 1)
    )
    settings = {
        "beta_schedule": "scaled_linear",
        "num_train_timesteps": 1000,
        "beta_start": 0.00085,
        "beta_end": 0.012,
    }
    pipeline = SimpleNamespace(
        unet=UNet(), vae=vae, encode_prompt=encode, scheduler=SimpleNamespace(config=settings)
    )
    x = torch.zeros(3, 4, 2, 2)
    for scale, expected in ((1.0, 2.0), (3.0, 0.5 + 3 * 1.5)):
        denoiser, schedule = pipeline_denoiser(pipeline, "a duck", scale)
        assert float(denoiser(x, 500, 0.5).eps.mean()) == pytest.approx(expected)
        assert denoiser.shape == (4, 2, 2)
        assert schedule.beta_end == 0.012
    torch.testing.assert_close(
        denoiser.decode(torch.ones(1, 4, 2, 2)), torch.full((1, 4, 2, 2), 3.0)
    )


def test_schedules_that_cannot_be_sampled_are_refused():
    with pytest.raises(ValueError, match="betas of its own"):
        schedule_of({"trained_betas": [0.1]})
    with pytest.raises(ValueError, match="beta schedule is 'sigmoid'"):
        NoiseSchedule("sigmoid")
    with pytest.raises(ValueError, match="0 sampling steps"):
        make_grid(steps=0)
    with pytest.raises(ValueError, match="eta is 2"):
        make_grid(eta=2.0)
    with pytest.raises(ValueError, match="beyond the last"):
        make_grid(steps=1, offset=1000)
    with pytest.raises(ValueError, match="prediction type"):
        NetworkDenoiser(lambda x, t: x, (2,), "score")
    with pytest.raises(ValueError, match="0 particles"):
        draw_noise(0, 0, 5, (2,))
    with pytest.raises(ValueError, match="seed is -1"):
        draw_noise(-1, 1, 5, (2,))


def test_a_second_visitor_waits_until_a_worker_is_free(monkeypatch):
    monkeypatch.setattr(torchrun, "_FREE", threading.BoundedSemaphore(1))
    waited, freed = threading.Event(), threading.Event()

    def second():
        with torchrun.worker(waited.set):
            freed.set()

    thread = threading.Thread(target=second)
    with torchrun.worker():
        thread.start()
        assert waited.wait(10)
        assert not freed.is_set()
    thread.join(10)
    assert freed.is_set()


def test_a_wait_can_be_given_up(monkeypatch):
    monkeypatch.setattr(torchrun, "_FREE", threading.BoundedSemaphore(1))

    def leave():
        raise InterruptedError

    with torchrun.worker(), pytest.raises(InterruptedError), torchrun.worker(leave):
        pass
    with torchrun.worker(leave):  # what was given up is not held
        pass


@pytest.mark.parametrize(("value", "ok"), [("", True), ("cpu", True), ("nonsense", False)])
def test_the_device_is_one_that_torch_knows(monkeypatch, value, ok):
    monkeypatch.setenv("LIVEPROOF_DEVICE", value)
    if ok:
        assert torchrun.device() == torch.device("cpu")
    else:
        with pytest.raises(ValueError, match="LIVEPROOF_DEVICE is 'nonsense'"):
            torchrun.device()


def test_claims_open_without_torch_and_torch_is_frozen_and_pinned():
    code = """
import sys, gc
import models.catalog, models.claims, models.steering.claims
assert not {"torch", "diffusers", "safetensors"} & set(sys.modules)
from models.torchrun import torch
assert gc.get_freeze_count() > 10_000
assert torch.get_num_threads() == 1
assert "diffusers" not in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=digits.ASSETS.parents[1],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
