"""Draw a completion from a language model, token by token."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from models.arena.contestants.bpe import ByteBpe
from models.arena.contestants.llama import Cache, Llama
from models.torchrun import torch


@dataclass(frozen=True)
class Decoding:
    """How tokens are drawn.

    Attributes
    ----------
    temperature : >= 0; 0 takes the likeliest token
    top_p : in (0, 1]; only the likeliest tokens that hold this much of the probability are drawn
    most_tokens : after so many the answer ends
    """

    temperature: float = 0.2
    top_p: float = 0.9
    most_tokens: int = 96


def check_decoding(decoding: Decoding) -> None:
    """Raise ValueError unless every setting is in its range."""
    if not 0 <= decoding.temperature <= 5:
        raise ValueError(f"The temperature is {decoding.temperature:g}, but must lie in [0, 5].")
    if not 0 < decoding.top_p <= 1:
        raise ValueError(f"top_p is {decoding.top_p:g}, but must lie in (0, 1].")
    if decoding.most_tokens < 1:
        raise ValueError(f"The most tokens are {decoding.most_tokens}, but must be at least 1.")


def without_blanks(text: str) -> tuple[str, bytes]:
    """Split a prompt's text from the blanks at its end, which ``generate`` is given to heal."""
    start = text.rstrip()
    return start, text[len(start) :].encode()


def generate(
    model: Llama,
    bpe: ByteBpe,
    prompt: Sequence[int],
    decoding: Decoding,
    rng: np.random.Generator,
    *,
    stops: Collection[int],
    heal: bytes = b"",
    enough: Callable[[bytes], bool] = lambda _: False,
) -> str:
    """Continue a prompt until a stop token, enough text, or the most tokens.

    Parameters
    ----------
    prompt : token numbers, at least one
    rng : one uniform draw a token; none at temperature 0
    stops : token numbers that end the answer, and are not part of it
    heal : bytes with which the answer must begin, because they were cut from the prompt's end: a
        blank there would keep the model from the tokens that it learnt, which begin with the blank.
        They are not part of the answer.
    enough : told the bytes so far, says whether to end
    """
    check_decoding(decoding)
    cache: Cache = []
    step, written, left = list(prompt), b"", heal
    with torch.inference_mode():
        for _ in range(decoding.most_tokens):
            logits = model(torch.tensor([step]), cache, last=True)[0, -1].float()
            if left:
                logits[~_begins(bpe, left, len(logits))] = -torch.inf
            token = draw(logits, decoding, rng)
            if token in stops:
                break
            piece = bpe.tokens[token]
            written += piece[len(left) :]
            left = left[len(piece) :]
            if not left and enough(written):
                break
            step = [token]
    return written.decode("utf-8", errors="replace")


def draw(logits: torch.Tensor, decoding: Decoding, rng: np.random.Generator) -> int:
    """Draw one token from logits (vocabulary,) by temperature and nucleus (Holtzman et al., 2020).

    The nucleus is the smallest set of likeliest tokens whose probability reaches ``top_p``.
    """
    if decoding.temperature == 0:
        return int(logits.argmax())
    chance, order = torch.softmax(logits / decoding.temperature, dim=-1).sort(
        descending=True, stable=True
    )
    total = chance.double().cumsum(-1)
    size = int((total < decoding.top_p).sum()) + 1
    size = min(size, len(total))
    at = int(np.searchsorted(total[:size].numpy(), rng.random() * float(total[size - 1]), "right"))
    return int(order[min(at, size - 1)])


def _begins(bpe: ByteBpe, left: bytes, size: int) -> torch.Tensor:
    """Which tokens begin with ``left`` or are a beginning of it; bool (size,)."""
    fits = [
        bool(token) and (token.startswith(left) or left.startswith(token)) for token in bpe.tokens
    ]
    return torch.tensor(fits + [False] * (size - len(fits)))
