"""A log of votes in memory: compact arrays, and what was left out of the file and why."""

from __future__ import annotations

import unicodedata
from array import array
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from models.checks import Float
from models.ranking.battles import Battles, Index, aggregate

B_WON, TIE, A_WON, BOTH_BAD = range(4)
UNKNOWN = -1

MOST_MODELS = 1000  # the tables are square in the number of models
_LONGEST_NAME = 200
_SHOWN = 20  # of the records left out, so many are named one by one
_SCORES = np.array([0.0, 0.5, 1.0, 0.5])


class Skipped(NamedTuple):
    """A record that was left out: its number and line in the file, both from 1, and why."""

    record: int
    line: int
    reason: str

    def __str__(self) -> str:
        """Return one clear sentence."""
        return f"Record {self.record} (line {self.line}) was left out: it {self.reason}."


@dataclass(frozen=True, eq=False)
class VoteLog:
    """Votes in the order of the file.

    Attributes
    ----------
    models, groups : names in alphabetical order; groups are languages or kinds of file
    a, b : int64 (n,), the first (top) and the second model
    outcome : int8 (n,), B_WON, TIE, A_WON or BOTH_BAD
    voter : int64 (n,), codes from 0, or -1 where unknown; the identities are not kept
    group : int64 (n,), index into ``groups``, or -1
    seconds : float64 (n,), since the epoch, or NaN
    records : number of records in the file
    skipped : the first of those left out
    reasons : number of records left out for each reason
    """

    models: tuple[str, ...]
    groups: tuple[str, ...]
    a: Index
    b: Index
    outcome: npt.NDArray[np.int8]
    voter: Index
    group: Index
    seconds: Float
    records: int
    skipped: tuple[Skipped, ...]
    reasons: dict[str, int]

    @property
    def n(self) -> int:
        """Number of votes."""
        return self.a.size

    @cached_property
    def score(self) -> Float:
        """Score of the first model, float64 (n,): ties and "both bad" count half."""
        return _SCORES[self.outcome]

    def battles(self) -> Battles:
        """Aggregate all votes."""
        return aggregate(self.models, self.a, self.b, self.score)

    def battles_by_group(self) -> dict[str, Battles]:
        """Aggregate the votes of each group; those of no group are left out."""
        return {
            name: aggregate(self.models, self.a[own], self.b[own], self.score[own])
            for i, name in enumerate(self.groups)
            for own in [self.group == i]
        }

    @property
    def summary(self) -> str:
        """One or two sentences: what was read, and what was left out."""
        text = f"Read {self.n:,} votes on {len(self.models)} models."
        left_out = sum(self.reasons.values())
        if left_out:
            first = f" {self.skipped[0]}" if self.skipped else ""
            verb = "was" if left_out == 1 else "were"
            text += f" {left_out:,} of {self.records:,} records {verb} left out.{first}"
        return text


class Collector:
    """Collects votes record by record, about 50 bytes each, and builds the log at the end."""

    def __init__(self) -> None:
        """Start empty."""
        self.records = 0
        self.skipped: list[Skipped] = []
        self.reasons: Counter[str] = Counter()
        self._models: dict[str, int] = {}
        self._groups: dict[str, int] = {}
        self._a, self._b, self._outcome = array("i"), array("i"), array("b")
        self._group, self._voter, self._key = array("i"), array("q"), array("q")
        self._seconds = array("d")
        self._record, self._line = array("q"), array("q")

    def skip(self, line: int, reason: str, kind: str = "") -> None:
        """Leave the current record out; records of one ``kind`` are counted together."""
        self.reasons[kind or reason] += 1
        if len(self.skipped) < _SHOWN:
            self.skipped.append(Skipped(self.records, line, reason))

    def add(
        self,
        line: int,
        model_a: str,
        model_b: str,
        outcome: int,
        voter: str,
        group: str,
        seconds: float,
        key: str,
    ) -> None:
        """Keep the current record, unless it names a model badly; "" stands for unknown."""
        try:
            a, b = self._code(model_a), self._code(model_b)
        except ValueError as error:
            self.skip(line, str(error))
            return
        if a == b:
            self.skip(line, f"names {model_a.strip()!r} on both sides", "one model on both sides")
            return
        self._a.append(a)
        self._b.append(b)
        self._outcome.append(outcome)
        code = self._groups.setdefault(group, len(self._groups)) if group else UNKNOWN
        self._group.append(code)
        # Hashes instead of texts, so that a million distinct voters cost 8 bytes each. Python's
        # hash of a text is never -1.
        self._voter.append(hash(voter) if voter else UNKNOWN)
        self._key.append(hash(key) if key else UNKNOWN)
        self._seconds.append(seconds)
        self._record.append(self.records)
        self._line.append(line)

    def _code(self, name: str) -> int:
        code = self._models.get(name)
        if code is not None:
            return code
        clean = name.strip()
        if clean[:1] == "'" and clean[1:2] in ("=", "+", "-", "@"):
            clean = clean[1:]  # put there by an exporter against spreadsheet formulas
        if not clean:
            raise ValueError("names no model on one side")
        if len(clean) > _LONGEST_NAME:
            raise ValueError(f"has a model name of more than {_LONGEST_NAME} characters")
        if any(unicodedata.category(sign)[0] == "C" for sign in clean):
            raise ValueError("has a model name with control or invisible characters")
        if clean != name:
            return self._code(clean)
        if len(self._models) >= MOST_MODELS:
            raise TooManyModels(
                f"The file names more than {MOST_MODELS} models; check that the columns model_a "
                "and model_b hold names of models."
            )
        return self._models.setdefault(clean, len(self._models))

    def log(self) -> VoteLog:
        """Build the log; of several votes with one identifier the first is kept.

        Raises
        ------
        ValueError
            If there is no usable vote, with the reason for the first record left out.
        """
        key = np.frombuffer(self._key, np.int64) if self._key else np.empty(0, np.int64)
        kept = key == UNKNOWN
        kept[np.unique(key, return_index=True)[1]] = True
        again = int(kept.size - kept.sum())
        if again:
            self.reasons["repeats an identifier"] += again
            for where in np.flatnonzero(~kept)[: _SHOWN - len(self.skipped)]:
                self.skipped.append(
                    Skipped(self._record[where], self._line[where], "repeats an identifier")
                )
        if not kept.any():
            why = f" {self.skipped[0]}" if self.skipped else ""
            raise ValueError(f"The file holds no usable vote.{why}")
        models, places = _sorted_codes(self._models)
        groups, group_places = _sorted_codes(self._groups)
        group = np.array(self._group, dtype=np.int64)[kept]
        voters = np.array(self._voter, dtype=np.int64)[kept]
        known = voters != UNKNOWN
        voter = np.full(voters.size, UNKNOWN, dtype=np.int64)
        voter[known] = _by_first_appearance(voters[known])
        return VoteLog(
            models,
            groups,
            places[np.array(self._a, dtype=np.int64)[kept]],
            places[np.array(self._b, dtype=np.int64)[kept]],
            np.array(self._outcome, dtype=np.int8)[kept],
            voter,
            np.where(group == UNKNOWN, UNKNOWN, np.append(group_places, UNKNOWN)[group]),
            np.array(self._seconds, dtype=np.float64)[kept],
            self.records,
            tuple(self.skipped),
            dict(self.reasons),
        )


class TooManyModels(Exception):
    """Raised to stop reading at once; the importer turns it into a ValueError."""


def _sorted_codes(codes: dict[str, int]) -> tuple[tuple[str, ...], Index]:
    """Names in order, and the place of each code among them."""
    names = sorted(codes)
    places = np.empty(len(names), dtype=np.int64)
    for place, name in enumerate(names):
        places[codes[name]] = place
    return tuple(names), places


def _by_first_appearance(values: Index) -> Index:
    """Codes from 0 that depend on the order of the votes only, not on Python's hash seed."""
    _, first, back = np.unique(values, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[back.reshape(-1)], dtype=np.int64)
