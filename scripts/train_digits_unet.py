"""Train the digit network: `python scripts/train_digits_unet.py --checkpoint FILE`.

Writes the running mean of the weights, what was done, and the loss curve into assets/steering.
Stopped, it goes on from the checkpoint. On one CPU thread a step takes about 0.13 s.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import sys
import time
from dataclasses import asdict
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from models.diffusion.schedules import COSINE
from models.steering import digits
from models.steering.training import TrainConfig, TrainState, denoising_loss, train
from models.torchrun import diffusers, torch

CURVE = digits.ASSETS / "digits_unet_loss.csv"
EVERY = 50  # steps a row of the curve
SAVE_EVERY = 250


def losses(state: TrainState) -> tuple[float, float]:
    """Loss of the averaged weights on 512 training and 512 held-out draws, always the same."""
    unet = digits.build_unet(TrainConfig().unet, 0).eval()
    unet.load_state_dict(state.averaged)
    bars = torch.from_numpy(COSINE.alpha_bar()).float()
    split = digits.load()
    with torch.no_grad():
        found = [
            denoising_loss(unet, part, bars, np.random.default_rng(1), 512, 0.15)
            for part in (split.train, split.held_out)
        ]
    return float(found[0]), float(found[1])


def write(state: TrainState, config: TrainConfig, rows: list[list[str]]) -> None:
    """Write weights, config and curve."""
    on_train, held_out = losses(state)
    about = {
        "command": "python scripts/train_digits_unet.py --checkpoint FILE",
        "train": {k: v for k, v in asdict(config).items() if k != "unet"},
        "steps_done": state.step,
        "parameters": sum(p.numel() for p in state.unet.parameters()),
        "loss_training_images": round(on_train, 4),
        "loss_held_out_images": round(held_out, 4),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
            "diffusers": diffusers().__version__,
        },
    }
    digits.save_unet(state.averaged, about, config.unet)
    with CURVE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["step", "loss"], *rows])
    print(state.step, on_train, held_out, f"{time.process_time():.0f} CPU s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    checkpoint: Path = parser.parse_args().checkpoint
    config = TrainConfig()
    resume, rows, recent = None, [], []
    if checkpoint.exists():
        resume = torch.load(checkpoint, weights_only=True)
        rows = resume.pop("rows")
    for state in train(config, resume):
        recent.append(state.loss)
        if state.step % EVERY == 0:
            rows.append([str(state.step), f"{np.mean(recent):.4f}"])
            recent = []
        if state.step % SAVE_EVERY == 0 or state.step == config.steps:
            draft = checkpoint.with_suffix(".part")
            torch.save(state.checkpoint() | {"rows": rows}, draft)
            draft.replace(checkpoint)
            write(state, config, rows)


if __name__ == "__main__":
    main()
