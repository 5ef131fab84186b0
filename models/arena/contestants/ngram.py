"""An n-gram model with back-off: the token that most often followed the last four, three, two, one.

Contexts are hashed to 64 bits and kept as sorted arrays. A context that has not been seen twice
with the same next token is left to the next shorter one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from models.arena.contestants.block import block
from models.arena.contestants.corpus import shipped
from models.arena.contestants.lexer import cut

ORDER = 5  # tokens, the predicted one included
LEAST = 2  # times that a context must have been followed by the token
MOST_TOKENS = 60
MOST_LINES = 2  # with a memory of four tokens it soon goes round in circles
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ngram:
    """The tables: ``contexts[k]`` are the sorted hashes of k + 1 tokens, ``follows[k]`` what came.

    Attributes
    ----------
    words : the token of each number
    contexts, follows : arrays (contexts of that length,), uint64 and int64
    """

    words: list[str]
    numbers: dict[str, int]
    contexts: tuple[Hashes, ...]
    follows: tuple[Numbers, ...]

    @property
    def size(self) -> int:
        """Number of contexts of all lengths."""
        return sum(len(table) for table in self.contexts)

    def following(self, tokens: Sequence[str]) -> str | None:
        """Return the likeliest next token, or None if not even the last token is known."""
        known = [self.numbers.get(token, -1) for token in tokens[1 - ORDER :]]
        for length in range(len(known), 0, -1):
            if -1 in known[-length:]:
                continue
            key = _hashes(np.array(known[-length:], dtype=np.int64), length)[0]
            table = self.contexts[length - 1]
            at = int(np.searchsorted(table, key))
            if at < len(table) and table[at] == key:
                return self.words[int(self.follows[length - 1][at])]
        return None

    def complete(self, prefix: str, suffix: str) -> str:
        """Continue the prefix greedily, to the end of its block or two lines."""
        tokens, written = cut(prefix), ""
        for _ in range(MOST_TOKENS):
            token = self.following(tokens)
            if token is None or (written + token).count("\n") >= MOST_LINES:
                break
            tokens.append(token)
            written += token
        return block(written, prefix, suffix)


def _hashes(numbers: Numbers, length: int) -> Hashes:
    """Hash every run of ``length`` neighbours; uint64 (n - length + 1,)."""
    size = len(numbers) - length + 1
    value = np.zeros(size, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for k in range(length):
            value = (value + numbers[k : k + size].astype(np.uint64) + np.uint64(1)) * _FACTOR
            value ^= value >> np.uint64(29)
    return value


def learn(texts: Sequence[str]) -> Ngram:
    """Count the tokens of texts."""
    numbers: dict[str, int] = {}
    sequence: list[int] = []
    for text in texts:
        sequence += [numbers.setdefault(token, len(numbers)) for token in cut("\n" + text)]
    stream = np.array(sequence, dtype=np.int64)
    contexts, follows = [], []
    for length in range(1, ORDER):
        keys, nexts = _hashes(stream[:-1], length), stream[length:]
        order = np.lexsort((nexts, keys))
        keys, nexts = keys[order], nexts[order]
        fresh = np.ones(len(keys), np.bool_)
        fresh[1:] = (keys[1:] != keys[:-1]) | (nexts[1:] != nexts[:-1])
        start = np.flatnonzero(fresh)
        times = np.diff(np.append(start, len(keys)))
        keys, nexts = keys[start][times >= LEAST], nexts[start][times >= LEAST]
        times = times[times >= LEAST]
        best = np.lexsort((nexts, -times, keys))
        keys, nexts = keys[best], nexts[best]
        first = np.ones(len(keys), np.bool_)
        first[1:] = keys[1:] != keys[:-1]
        contexts.append(keys[first])
        follows.append(nexts[first])
    return Ngram(list(numbers), numbers, tuple(contexts), tuple(follows))


@lru_cache(maxsize=1)
def load() -> Ngram:
    """Count the shipped part of the standard library, which takes a few seconds."""
    return learn([source.text for source in shipped()])
