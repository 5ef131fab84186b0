"""Train the tiny transformer: `python scripts/train_tiny_coder.py --checkpoint FOLDER`.

Reads the standard library of the running Python, learns the tokens, trains, and writes weights
(float16), settings and loss curve into assets/arena. Stopped, it goes on from the checkpoint;
`--steps N` ends elsewhere, with the learning rate falling over the last steps. One CPU thread.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import platform
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from safetensors.torch import save_file

from models.arena.contestants import tiny
from models.arena.contestants.bpe import ByteBpe, count_words, learn_merges
from models.arena.contestants.corpus import Source, installed
from models.arena.contestants.llama import Llama
from models.torchrun import torch

F = torch.nn.functional
CURVE = tiny.ASSETS / "tiny_coder_loss.json"
EVERY = 25  # steps a row of the curve
SAVE_EVERY = 100
HELD_OUT = 20  # every twentieth file is not trained on


@dataclass(frozen=True)
class Settings:
    """How it is trained.

    The rate is higher than usual for large models, because so small a network on so few steps would
    otherwise hardly leave its start.
    """

    steps: int = 1300
    batch: int = 32
    rate: float = 2e-3
    warm_up: int = 100
    falling: int = 200  # last steps, over which the rate falls to zero
    weight_decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float = 1.0
    fill_in: float = 0.3  # share of samples in the order prefix, suffix, middle
    seed: int = 0


def rate_at(step: int, settings: Settings) -> float:
    """Rise, stay, fall linearly: so that the number of steps can be chosen late."""
    rise = min(1.0, (step + 1) / settings.warm_up)
    fall = min(1.0, (settings.steps - step) / settings.falling)
    return settings.rate * rise * fall


class Samples:
    """Windows of the corpus, some of them with their middle at the end."""

    def __init__(self, sources: list[Source], bpe: ByteBpe, fill_in: float) -> None:
        self.bpe, self.fill_in = bpe, fill_in
        files = [[*bpe.encode(source.text), tiny.END] for source in sources]
        self.tokens = np.array([token for file in files for token in file], dtype=np.int64)

    def batch(self, size: int, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Return inputs and targets int64 (size, context); the target -100 counts nothing."""
        length = tiny.CONFIG.context
        rows = np.full((size, length + 1), -100, dtype=np.int64)
        for row in rows:
            start = int(rng.integers(len(self.tokens) - length - 1))
            window = self.tokens[start : start + length + 1]
            if rng.random() < self.fill_in:
                window = self._moved(window, rng)
            row[: len(window)] = window
        data = torch.from_numpy(rows)
        return data[:, :-1].clamp(min=0), data[:, 1:]

    def _moved(self, window: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Cut at a cursor inside the longest piece of one file; the middle ends with its line."""
        ends = np.flatnonzero(window == tiny.END)
        pieces = np.split(window, ends)
        piece = max(pieces, key=len)
        text = self.bpe.decode(piece[piece != tiny.END])
        if len(text) < 20:
            return window
        cursor = int(rng.integers(1, len(text) - 1))
        kind = rng.random()
        if kind < 0.2:  # inside a line: the rest of the line stays after the cursor
            line_end = text.find("\n", cursor)
            line_end = len(text) if line_end < 0 else line_end
            stop = int(rng.integers(cursor, line_end + 1))
        else:  # one to five lines, to the end of the last
            stop = cursor
            for _ in range(int(rng.integers(1, 6))):
                line_end = text.find("\n", stop + 1)
                if line_end < 0:
                    break
                stop = line_end
        before, middle, after = text[:cursor], text[cursor:stop], text[stop:]
        if kind > 0.8:
            after = ""
        room = tiny.CONFIG.context - 3
        m = [*self.bpe.encode(middle), tiny.END][:room]
        s = self.bpe.encode(after)[: max(0, (room - len(m)) // 3)]
        p = self.bpe.encode(before)[len(m) + len(s) - room :] if room > len(m) + len(s) else []
        return np.array([tiny.PREFIX, *p, tiny.SUFFIX, *s, tiny.MIDDLE, *m], dtype=np.int64)


def loss_of(model: Llama, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy in nats a token."""
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(inputs)
    return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=-100)


@torch.no_grad()
def held_out_loss(model: Llama, samples: Samples) -> float:
    """Loss on 128 windows of files that were not trained on, always the same."""
    rng = np.random.default_rng(1)
    return float(np.mean([float(loss_of(model, *samples.batch(32, rng))) for _ in range(4)]))


def fresh(settings: Settings) -> Llama:
    """Return a network with weights drawn from the seed alone."""
    model = Llama(tiny.CONFIG)
    source = torch.Generator().manual_seed(settings.seed)
    for name, value in model.named_parameters():
        if value.dim() > 1:
            scale = 0.02
            if name.endswith(("attn_output.weight", "ffn_down.weight")):
                scale /= (2 * tiny.CONFIG.layers) ** 0.5
            torch.nn.init.normal_(value, 0.0, scale, generator=source)
    return model


def write(model: Llama, bpe_merges: list[tuple[bytes, bytes]], about: dict[str, Any]) -> None:
    """Write weights, settings and curve."""
    rows = about.pop("curve")
    tiny.ASSETS.mkdir(parents=True, exist_ok=True)
    save_file(
        {name: value.detach().half().contiguous() for name, value in model.state_dict().items()},
        tiny.WEIGHTS,
    )
    about["merges"] = [[base64.b64encode(part).decode() for part in pair] for pair in bpe_merges]
    tiny.ABOUT.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    CURVE.write_text(json.dumps(rows) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=Settings.steps)
    parser.add_argument("--rate", type=float, default=Settings.rate)
    parser.add_argument("--dry", action="store_true", help="write no assets")
    args = parser.parse_args()
    settings = Settings(steps=args.steps, rate=args.rate)
    folder: Path = args.checkpoint
    folder.mkdir(parents=True, exist_ok=True)
    state_file = folder / "state.pt"

    sources = installed()
    training = [source for i, source in enumerate(sources) if i % HELD_OUT]
    held_out = [source for i, source in enumerate(sources) if not i % HELD_OUT]
    merges = learn_merges(count_words(source.text for source in training), tiny.VOCABULARY - 260)
    bpe = tiny.tokenizer(merges)
    train, check = (Samples(part, bpe, settings.fill_in) for part in (training, held_out))
    print(len(sources), "files", len(train.tokens), "+", len(check.tokens), "tokens", flush=True)

    model = fresh(settings)
    groups: list[dict[str, Any]] = [
        {"params": [p for p in model.parameters() if p.dim() > 1]},
        {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(
        groups, lr=settings.rate, betas=settings.betas, weight_decay=settings.weight_decay
    )
    rng, start, rows, recent, seconds = np.random.default_rng(settings.seed), 0, [], [], 0.0
    if state_file.exists():
        state = torch.load(state_file, weights_only=True)
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        rng.bit_generator.state = json.loads(state["rng"])
        start, rows, seconds = state["step"], state["rows"], state["seconds"]
    for step in range(start, settings.steps):
        began = time.perf_counter()
        for group in optimiser.param_groups:
            group["lr"] = rate_at(step, settings)
        loss = loss_of(model, *train.batch(settings.batch, rng))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        optimiser.step()
        recent.append(float(loss.detach()))
        seconds += time.perf_counter() - began
        done = step + 1
        if done % EVERY == 0:
            held = held_out_loss(model, check) if done % SAVE_EVERY == 0 else None
            rows.append({"step": done, "training": round(float(np.mean(recent)), 4)})
            if held is not None:
                rows[-1]["held_out"] = round(held, 4)
            recent = []
            print(rows[-1], f"{seconds:.0f} s", flush=True)
        if done % SAVE_EVERY == 0 or done == settings.steps:
            draft = state_file.with_suffix(".part")
            torch.save(
                {
                    "model": model.state_dict(),
                    "optimiser": optimiser.state_dict(),
                    "rng": json.dumps(rng.bit_generator.state),
                    "step": done,
                    "rows": rows,
                    "seconds": seconds,
                },
                draft,
            )
            draft.replace(state_file)
            if args.dry:
                continue
            about = {
                "command": "python scripts/train_tiny_coder.py --checkpoint FOLDER",
                "settings": asdict(settings),
                "steps_done": done,
                "parameters": sum(p.numel() for p in model.parameters()),
                "corpus": {
                    "files": len(training),
                    "tokens": len(train.tokens),
                    "held_out_files": len(held_out),
                    "held_out_tokens": len(check.tokens),
                },
                "held_out_loss": round(held_out_loss(model, check), 4),
                "seconds": round(seconds),
                "versions": {
                    "python": platform.python_version(),
                    "numpy": np.__version__,
                    "torch": torch.__version__,
                },
                "curve": rows,
            }
            write(model, merges, about)


if __name__ == "__main__":
    main()
