"""Training of the small digit network, as a stream of states that can be stopped and resumed.

The loss is the usual one of noise prediction, E |eps - eps_theta(x_t, t, class)|^2 over uniform
training steps; what is kept is the running mean of the weights. The class is withheld from a
share of the images, so that one network also draws digits of any class.

References
----------
J. Ho, A. Jain, P. Abbeel, "Denoising Diffusion Probabilistic Models", NeurIPS 2020, eq. 14.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from models.diffusion.schedules import COSINE
from models.steering.digits import NO_CLASS, Digits, UNetConfig, build_unet, load
from models.torchrun import torch


@dataclass(frozen=True)
class TrainConfig:
    """How the network is trained; the shipped one was trained with these values."""

    steps: int = 4000
    batch: int = 32
    rate: float = 1e-3  # falls to a tenth along half a cosine
    ema: float = 0.995
    unlabelled: float = 0.15
    seed: int = 0
    unet: UNetConfig = field(default_factory=UNetConfig)


@dataclass(frozen=True)
class TrainState:
    """Where training stands: the step just done, its loss, and all that resuming needs.

    ``unet`` and ``averaged`` are live: they change as training goes on.
    """

    step: int
    loss: float
    unet: Any
    averaged: dict[str, torch.Tensor]
    optimiser: torch.optim.Optimizer
    rng: np.random.Generator

    def checkpoint(self) -> dict[str, Any]:
        """Return the state as tensors and plain values, for ``torch.save``."""
        return {
            "step": self.step,
            "unet": self.unet.state_dict(),
            "averaged": self.averaged,
            "optimiser": self.optimiser.state_dict(),
            "rng": self.rng.bit_generator.state,
        }


def train(config: TrainConfig, resume: dict[str, Any] | None = None) -> Iterator[TrainState]:
    """Train on the training digits, yielding after each step.

    Parameters
    ----------
    config : all choices, with the seed of everything random
    resume : what an earlier run's ``checkpoint`` returned
    """
    rng = np.random.default_rng(config.seed)
    unet = build_unet(config.unet, config.seed).train()
    optimiser = torch.optim.AdamW(unet.parameters(), lr=config.rate)
    averaged = {name: value.detach().clone() for name, value in unet.state_dict().items()}
    done = 0
    if resume is not None:
        unet.load_state_dict(resume["unet"])
        optimiser.load_state_dict(resume["optimiser"])
        averaged = {name: value.clone() for name, value in resume["averaged"].items()}
        rng.bit_generator.state = resume["rng"]
        done = int(resume["step"])
    data, alpha_bar = load().train, torch.from_numpy(COSINE.alpha_bar()).float()
    for step in range(done + 1, config.steps + 1):
        falling = 0.55 + 0.45 * math.cos(math.pi * (step - 1) / config.steps)
        for group in optimiser.param_groups:
            group["lr"] = config.rate * falling
        loss = denoising_loss(unet, data, alpha_bar, rng, config.batch, config.unlabelled)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(unet.parameters(), 1.0)
        optimiser.step()
        kept = min(config.ema, step / (step + 10))  # so that the first random weights fade soon
        with torch.no_grad():
            for name, value in unet.state_dict().items():
                averaged[name].lerp_(value, 1 - kept)
        yield TrainState(step, float(loss.detach()), unet, averaged, optimiser, rng)


def denoising_loss(
    unet: Any,
    data: Digits,
    alpha_bar: torch.Tensor,
    rng: np.random.Generator,
    batch: int,
    unlabelled: float,
) -> torch.Tensor:
    """Return the mean squared error of the predicted noise on a random batch."""
    rows = torch.from_numpy(rng.integers(len(data), size=batch))
    t = torch.from_numpy(rng.integers(len(alpha_bar), size=batch))
    labels = data.digit[rows].masked_fill(
        torch.from_numpy(rng.random(batch) < unlabelled), NO_CLASS
    )
    clean = data.images[rows]
    noise = torch.from_numpy(rng.standard_normal(clean.shape, dtype=np.float32))
    signal = alpha_bar[t].view(-1, 1, 1, 1)
    noisy = signal.sqrt() * clean + (1 - signal).sqrt() * noise
    predicted = unet(noisy, t, class_labels=labels).sample
    return torch.nn.functional.mse_loss(predicted, noise)
