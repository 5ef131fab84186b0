"""A transformer of 2.2 million parameters, trained by this project on the standard library.

Trained by ``scripts/train_tiny_coder.py``: byte-pair tokens, 2048 of them, the last four with a
special meaning. In 30 % of the samples the text is cut at a cursor and its middle moved to the end,
so that the model learns to fill in (Bavarian et al., "Efficient Training of Language Models to Fill
in the Middle", 2022).
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from safetensors.torch import load_file

from models.arena.contestants.bpe import CODE_WORDS, ByteBpe
from models.arena.contestants.decoding import Decoding, generate, without_blanks
from models.arena.contestants.llama import Llama, LlamaConfig
from models.arena.postprocess import MAX_LINES

ASSETS = Path(__file__).resolve().parents[3] / "assets" / "arena"
WEIGHTS = ASSETS / "tiny_coder.safetensors"
ABOUT = ASSETS / "tiny_coder.json"

VOCABULARY = 2048
PREFIX, SUFFIX, MIDDLE, END = range(VOCABULARY - 4, VOCABULARY)
CONFIG = LlamaConfig(
    vocabulary=VOCABULARY,
    layers=4,
    width=192,
    heads=6,
    kv_heads=6,
    feed_forward=512,
    context=256,
)
_ANSWER = 72  # tokens of the context that are left for the answer
_AFTER = 48  # most tokens of the code after the cursor


@dataclass(frozen=True)
class Tiny:
    """The trained network with its tokenizer."""

    model: Llama
    bpe: ByteBpe

    def complete(
        self, prefix: str, suffix: str, decoding: Decoding, rng: np.random.Generator
    ) -> str:
        """Return what the model writes at the cursor, at most five lines and a bit."""
        start, blanks = without_blanks(prefix)
        tokens = prompt_tokens(self.bpe, start, suffix)
        most = min(decoding.most_tokens, CONFIG.context - len(tokens))
        return generate(
            self.model,
            self.bpe,
            tokens,
            Decoding(decoding.temperature, decoding.top_p, most),
            rng,
            stops=(END, PREFIX, SUFFIX, MIDDLE),
            heal=blanks,
            enough=lambda text: text.count(b"\n") > MAX_LINES,
        )


def tokenizer(merges: list[tuple[bytes, bytes]]) -> ByteBpe:
    """Return the encoder: 256 bytes, the merges, and four special tokens without bytes."""
    tokens = [bytes([byte]) for byte in range(256)] + [first + second for first, second in merges]
    tokens += [b""] * (VOCABULARY - len(tokens))
    return ByteBpe(tokens, merges, CODE_WORDS)


def prompt_tokens(bpe: ByteBpe, prefix: str, suffix: str) -> list[int]:
    """Arrange the code around the cursor as in training, the nearest to the cursor kept."""
    after = bpe.encode(suffix)[:_AFTER]
    before = bpe.encode(prefix)[-(CONFIG.context - _ANSWER - 3 - len(after)) :]
    return [PREFIX, *before, SUFFIX, *after, MIDDLE]


@lru_cache(maxsize=1)
def load() -> Tiny:
    """Load the shipped weights, float16, as float32."""
    about = json.loads(ABOUT.read_text(encoding="utf-8"))
    merges = [
        (base64.b64decode(first), base64.b64decode(second)) for first, second in about["merges"]
    ]
    model = Llama(CONFIG)
    model.load_state_dict({name: value.float() for name, value in load_file(WEIGHTS).items()})
    return Tiny(model.eval().requires_grad_(False), tokenizer(merges))
