"""Retrieval: find the place of the corpus that reads most like the code before the cursor.

The last tokens before the cursor, blanks aside, are looked up; the longest run that occurs decides,
and among the places with the same run the one whose surroundings share most words with the task's.
What follows there is the completion, with the cursor's indentation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from models.arena.contestants.block import block
from models.arena.contestants.corpus import shipped
from models.arena.postprocess import MAX_LINES
from models.arena.strict import indent

MOST_TOKENS = 60  # longer runs are not told apart
MOST_PLACES = 1000  # of equal length that are ranked
NEARBY = 400  # characters on each side that are compared
_TOKEN = re.compile(r"\n|[^\W\d]\w*|\d+|[^\w\s]")
_WORD = re.compile(r"[^\W\d]\w+")


@dataclass(frozen=True, eq=False)
class Retrieval:
    """The corpus as one text.

    Attributes
    ----------
    numbers : number of each distinct token
    tokens : int32 (n,), the text's tokens
    ends : int32 (n,), where in the text each token ends
    """

    text: str
    numbers: dict[str, int]
    tokens: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]

    def places(self, prefix: str) -> tuple[npt.NDArray[np.int64], int]:
        """Return the last token of each longest run that ends as the prefix does, and its length.

        No places and length 0 if not even the last token occurs.
        """
        wanted = [self.numbers.get(token, -1) for token in _TOKEN.findall(prefix)[-MOST_TOKENS:]]
        found = np.arange(len(self.tokens), dtype=np.int64)
        for length, number in enumerate(reversed(wanted)):
            earlier = found[found >= length]
            matching = earlier[self.tokens[earlier - length] == number]
            if not len(matching):
                return (found, length) if length else (matching, 0)
            found = matching
        return found, len(wanted)

    def complete(self, prefix: str, suffix: str) -> str:
        """Return what follows at the best place, to the end of its block or five lines."""
        places, length = self.places(prefix)
        if not length:
            return ""
        if len(places) > MOST_PLACES:
            places = places[np.linspace(0, len(places) - 1, MOST_PLACES).astype(np.int64)]
        before, after = _words(prefix[-NEARBY:]), _words(suffix[:NEARBY])
        ends = self.ends[places]
        scores = [
            len(before & _words(self.text[max(0, end - NEARBY) : end]))
            + len(after & _words(self.text[end : end + NEARBY]))
            for end in ends.tolist()
        ]
        end = int(ends[int(np.argmax(scores))])
        return block(self._following(end, prefix), prefix, suffix)

    def _following(self, end: int, prefix: str) -> str:
        """Return the lines after a place, shifted to the indentation at the cursor."""
        start = self.text.rfind("\n", 0, end) + 1
        lines = self.text[start : self.text.find("\n\n\n", end)].split("\n")
        offset = end - start
        there = indent(lines[0]) if lines[0].strip() else ""
        here = indent(prefix.rpartition("\n")[2])
        first, *rest = lines[: MAX_LINES + 1]
        shift = len(here) - len(there)
        moved = [
            " " * max(0, len(indent(line)) + shift) + line.lstrip() if line.strip() else ""
            for line in rest
        ]
        first = first[offset:]
        if prefix.endswith((" ", "\t", "\n")):
            first = first.lstrip()
        return "\n".join([first, *moved][:MAX_LINES])


def learn(texts: Sequence[str]) -> Retrieval:
    """Index texts."""
    text = "\n".join(texts)
    numbers: dict[str, int] = {}
    tokens, ends = [], []
    for match in _TOKEN.finditer(text):
        tokens.append(numbers.setdefault(match.group(), len(numbers)))
        ends.append(match.end())
    return Retrieval(
        text, numbers, np.array(tokens, dtype=np.int32), np.array(ends, dtype=np.int32)
    )


@lru_cache(maxsize=1)
def load() -> Retrieval:
    """Index the shipped part of the standard library, which takes about a second."""
    return learn([source.text for source in shipped()])


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))
