"""Handwritten digits of 8 x 8 pixels, and the small network that draws them.

The images are scikit-learn's, scaled to [-1, 1]. A fixed shuffle cuts them into 1,500 to train
the network on, whose two halves also train the two classifiers, and 297 that none of them sees.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from models.torchrun import device, diffusers, torch

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "steering"
DATA = ASSETS / "digits.npz"
WEIGHTS = ASSETS / "digits_unet.safetensors"
CONFIG = ASSETS / "digits_unet.json"

CLASSES = 10
NO_CLASS = CLASSES  # the label of "any digit"; the network was trained on it too
TRAINED_ON = 1500


@dataclass(frozen=True)
class UNetConfig:
    """The network's shape, in diffusers' terms; 635,681 parameters."""

    channels: tuple[int, ...] = (32, 64)
    layers_per_block: int = 1
    norm_num_groups: int = 8


@dataclass(frozen=True)
class Digits:
    """Images float32 (n, 1, 8, 8) in [-1, 1] with their digits int64 (n,)."""

    images: torch.Tensor
    digit: torch.Tensor

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.digit)


@dataclass(frozen=True)
class Split:
    """The digits, cut up: ``train`` is the first half followed by the second."""

    train: Digits
    first_half: Digits
    second_half: Digits
    held_out: Digits


@lru_cache(maxsize=1)
def load() -> Split:
    """Return the stored digits, cut up as the stored networks know them."""
    with np.load(DATA, allow_pickle=False) as data:
        images = torch.from_numpy(data["images"].astype(np.float32) / 8 - 1).unsqueeze(1)
        digit = torch.from_numpy(data["digit"].astype(np.int64))
    order = torch.from_numpy(np.random.default_rng(0).permutation(len(digit)))

    def part(start: int, stop: int) -> Digits:
        rows = order[start:stop]
        return Digits(images[rows], digit[rows])

    half = TRAINED_ON // 2
    return Split(
        part(0, TRAINED_ON), part(0, half), part(half, TRAINED_ON), part(TRAINED_ON, len(digit))
    )


def build_unet(config: UNetConfig, seed: int) -> Any:
    """Return a fresh ``UNet2DModel`` with weights drawn from the seed alone."""
    module = diffusers()
    blocks = len(config.channels)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return module.UNet2DModel(
            sample_size=8,
            in_channels=1,
            out_channels=1,
            layers_per_block=config.layers_per_block,
            block_out_channels=config.channels,
            down_block_types=("DownBlock2D",) * blocks,
            up_block_types=("UpBlock2D",) * blocks,
            norm_num_groups=config.norm_num_groups,
            num_class_embeds=CLASSES + 1,
            add_attention=False,
        )


def save_unet(weights: dict[str, torch.Tensor], about: dict[str, Any], config: UNetConfig) -> None:
    """Write the weights as float16 with what was done to get them."""
    from safetensors.torch import save_file

    save_file({k: v.half().contiguous() for k, v in weights.items()}, WEIGHTS)
    text = json.dumps({"unet": asdict(config), **about}, indent=2)
    CONFIG.write_text(text + "\n", encoding="utf-8")


def load_unet() -> Any:
    """Return the shipped network, ready to sample, on the chosen device.

    Raises
    ------
    ValueError
        If its files are missing or damaged: it can then be trained anew.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if not (WEIGHTS.exists() and CONFIG.exists()):
        raise ValueError(f"The trained network {WEIGHTS.name} is missing: train it first.")
    try:
        about = json.loads(CONFIG.read_text(encoding="utf-8"))
        shape = about["unet"]
        unet = build_unet(UNetConfig(**(shape | {"channels": tuple(shape["channels"])})), 0)
        unet.load_state_dict({k: v.float() for k, v in load_file(WEIGHTS).items()})
    except (SafetensorError, RuntimeError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(
            f"The trained network {WEIGHTS.name} is damaged or does not fit its description: "
            "train it anew, or restore the file."
        ) from error
    return unet.to(device()).eval().requires_grad_(False)
