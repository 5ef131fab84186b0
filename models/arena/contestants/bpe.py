"""Byte-level byte-pair encoding: learn merges, encode and decode (Sennrich et al., 2016).

A text is cut into words by a pattern; the bytes of a word are merged pair by pair, the merge that
was learnt first going first. Where every byte is a token, every text can be encoded.

References
----------
R. Sennrich, B. Haddow, A. Birch, "Neural Machine Translation of Rare Words with Subword Units",
ACL 2016.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

# A line end with the indentation after it is one word; digits stand alone.
CODE_WORDS = r"\n *| ?[^\W\d_]+|\d|_+| ?[^\w\s]+|[^\S\n]+"
# GPT-2's words; digits are split off before, so that one ends a run of blanks like the text's end.
GPT2_WORDS = r"\d|'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?![^\s\d])|\s+"

Pair = tuple[bytes, bytes]


class ByteBpe:
    """An encoder between text and token numbers.

    Parameters
    ----------
    tokens : the bytes of each token number; a byte that is none of them is lost in encoding
    merges : pairs in the order learnt
    words : pattern by which a text is cut before merging; must match every character
    """

    def __init__(self, tokens: Sequence[bytes], merges: Iterable[Pair], words: str) -> None:
        self.tokens = list(tokens)
        self._number = {token: number for number, token in enumerate(self.tokens)}
        self._rank = {pair: rank for rank, pair in enumerate(merges)}
        self._words = re.compile(words)
        self._known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """Return the token numbers of a text."""
        out: list[int] = []
        for word in self._words.findall(text):
            numbers = self._known.get(word)
            if numbers is None:
                numbers = self._merged(word)
                if len(self._known) < 100_000:
                    self._known[word] = numbers
            out += numbers
        return out

    def bytes_of(self, numbers: Iterable[int]) -> bytes:
        """Return the bytes that tokens stand for."""
        return b"".join(self.tokens[number] for number in numbers)

    def decode(self, numbers: Iterable[int]) -> str:
        """Return the text that tokens stand for; broken UTF-8 becomes the replacement sign."""
        return self.bytes_of(numbers).decode("utf-8", errors="replace")

    def _merged(self, word: str) -> list[int]:
        parts = [bytes([byte]) for byte in word.encode("utf-8", errors="replace")]
        while len(parts) > 1:
            ranks = [self._rank.get(pair) for pair in pairwise(parts)]
            best = min((rank for rank in ranks if rank is not None), default=None)
            if best is None:
                break
            at = ranks.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [self._number[part] for part in parts if part in self._number]


def count_words(texts: Iterable[str], words: str = CODE_WORDS) -> Counter[str]:
    """Count the words of texts."""
    pattern = re.compile(words)
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(pattern.findall(text))
    return counts


def learn_merges(counts: Mapping[str, int], size: int) -> list[Pair]:
    """Learn ``size`` merges: always the pair that is most frequent, the smaller one in a draw.

    Fewer are returned if no pair is left that occurs twice.
    """
    words = [[bytes([byte]) for byte in word.encode()] for word in counts]
    weights = list(counts.values())
    total: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[int]] = defaultdict(set)
    for index, word in enumerate(words):
        for pair in pairwise(word):
            total[pair] += weights[index]
            where[pair].add(index)
    merges: list[Pair] = []
    while len(merges) < size and total:
        best, times = min(total.items(), key=lambda item: (-item[1], item[0]))
        if times < 2:
            break
        merges.append(best)
        for index in where.pop(best):
            word = words[index]
            for pair in pairwise(word):
                total[pair] -= weights[index]
                if total[pair] <= 0:
                    del total[pair]
            at = 0
            while at < len(word) - 1:
                if (word[at], word[at + 1]) == best:
                    word[at : at + 2] = [best[0] + best[1]]
                at += 1
            for pair in pairwise(word):
                total[pair] += weights[index]
                where[pair].add(index)
    return merges
