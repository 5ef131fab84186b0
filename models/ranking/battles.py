r"""Battles: votes between two models, aggregated once into distinct rows with counts.

A battle is (a, b, y): ``a`` stood on the first (top) place, y = 1 if a won, 0 if b won, and 0.5 for
a tie and for "both bad". From the rows come two m x m matrices, on which everything else works:

    S[i, j]   score of i against j, summed over their battles, each with its weight
    N = S + S'  the weight of the battles between i and j
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from models.checks import Float, check_same_length

Index = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
OUTCOMES = (0.0, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class Battles:
    """Votes in aggregated form; build it with :func:`aggregate` or :func:`from_names`.

    Attributes
    ----------
    models : names in alphabetical order; m of them
    a, b : int64 (rows,), indices of the first and the second model
    score : float64 (rows,), of the first model, in {0, 0.5, 1}
    count : int64 (rows,), how many identical battles the row stands for
    weight : float64 (rows,), the weight of each of them; 1 unless said otherwise
    """

    models: tuple[str, ...]
    a: Index
    b: Index
    score: Float
    count: Index
    weight: Float

    @property
    def n(self) -> int:
        """The number of battles."""
        return int(self.count.sum())

    @property
    def total(self) -> Float:
        """Weight of each row, count times weight."""
        return self.count * self.weight

    @cached_property
    def scores(self) -> Float:
        """S, float64 (m, m)."""
        return self.pairwise(self.total * self.score, self.total * (1 - self.score))

    @cached_property
    def games(self) -> Float:
        """N = S + S', float64 (m, m), symmetric."""
        return self.scores + self.scores.T

    @cached_property
    def meetings(self) -> Index:
        """Number of battles of each pair, unweighted, int64 (m, m), symmetric."""
        return self.pairwise(self.count, self.count).astype(np.int64)

    @property
    def battles_of(self) -> Index:
        """Number of battles of each model, int64 (m,)."""
        return np.asarray(self.meetings.sum(axis=1))

    def pairwise(self, forward: npt.ArrayLike, backward: npt.ArrayLike) -> Float:
        """Sum ``forward`` over the rows at [a, b] and ``backward`` at [b, a]; float64 (m, m)."""
        m = len(self.models)
        ahead = np.bincount(self.a * m + self.b, np.asarray(forward), m * m)
        back = np.bincount(self.b * m + self.a, np.asarray(backward), m * m)
        return np.asarray(ahead + back, dtype=np.float64).reshape(m, m)

    def rows(self, kept: Bool | Index) -> Battles:
        """Return only these rows, with all models still listed."""
        return replace(
            self,
            a=self.a[kept],
            b=self.b[kept],
            score=self.score[kept],
            count=self.count[kept],
            weight=self.weight[kept],
        )

    def only(self, members: Index) -> Battles:
        """Return the battles among some of the models, with only those listed."""
        place = np.full(len(self.models), -1)
        place[members] = np.arange(members.size)
        inside = (place[self.a] >= 0) & (place[self.b] >= 0)
        part = self.rows(inside)
        names = tuple(self.models[i] for i in members)
        return replace(part, models=names, a=place[part.a], b=place[part.b])

    def with_counts(self, count: Index) -> Battles:
        """Return the same rows with other counts; rows that fall to zero are left out."""
        return replace(self, count=count).rows(count > 0)

    def reweighted(self, floor: int = 50) -> Battles:
        """Weight each battle by 1 / max(battles of its pair, floor), scaled to a mean of 1.

        Often-dealt (fast) pairs then no longer dominate the scores.

        Raises
        ------
        ValueError
            If the floor is below 1.
        """
        if floor < 1:
            raise ValueError(f"floor is {floor}, but must be a whole number of at least 1.")
        weight = 1.0 / np.maximum(self.meetings[self.a, self.b], floor)
        if self.n:
            weight /= float(self.count @ weight) / self.n
        return replace(self, weight=weight)


def aggregate(
    models: Sequence[str],
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    weight: npt.ArrayLike | None = None,
    count: npt.ArrayLike | None = None,
) -> Battles:
    """Merge identical battles, in lexicographic order of (a, b, score, weight).

    Parameters
    ----------
    models : m distinct names in alphabetical order; a model without battles may be listed
    a, b : integers (n,) in [0, m), the first and the second model of each battle
    score : numbers (n,) in {0, 0.5, 1}, of the first model
    weight : positive numbers (n,), optional
    count : positive integers (n,), optional, if each row stands for several battles

    Raises
    ------
    ValueError
        If a battle names one model twice or an unknown one, a score is none of the three, a weight
        is not positive and finite, or the names are not distinct and sorted.
    """
    names = tuple(models)
    if list(names) != sorted(set(names)):
        raise ValueError("The models' names must be distinct and in alphabetical order.")
    first, second = _indices(a, "a", len(names)), _indices(b, "b", len(names))
    y = np.asarray(score, dtype=np.float64).reshape(-1)
    w = np.ones(y.size) if weight is None else np.asarray(weight, dtype=np.float64).reshape(-1)
    c = np.ones(y.size, np.int64) if count is None else np.asarray(count, np.int64).reshape(-1)
    for other, name in ((second, "b"), (y, "score"), (w, "weight"), (c, "count")):
        check_same_length(first, other, ("a", name))
    _refuse(first == second, "names one model on both sides")
    _refuse(~np.isin(y, OUTCOMES), "has a score that is none of 0, 0.5 and 1")
    _refuse(~((w > 0) & np.isfinite(w)), "has a weight that is not positive and finite")
    _refuse(c < 1, "has a count below 1")
    key = (first * len(names) + second) * 3 + np.rint(2 * y).astype(np.int64)
    if weight is None:
        found, back = np.unique(key, return_inverse=True)
        weights = np.ones(found.size)
    else:
        pairs = np.stack([key.astype(np.float64), w], axis=1)
        distinct, back = np.unique(pairs, axis=0, return_inverse=True)
        found, weights = distinct[:, 0].astype(np.int64), distinct[:, 1]
    counts = np.bincount(back.reshape(-1), c, found.size).astype(np.int64)
    pair, outcome = np.divmod(found, 3)
    rows_a, rows_b = np.divmod(pair, max(len(names), 1))
    return Battles(names, rows_a, rows_b, outcome / 2, counts, weights)


def from_names(
    model_a: Sequence[str],
    model_b: Sequence[str],
    score: npt.ArrayLike,
    weight: npt.ArrayLike | None = None,
) -> Battles:
    """Aggregate battles given by name, one entry a battle; see :func:`aggregate`."""
    names = sorted({*model_a, *model_b})
    place = {name: i for i, name in enumerate(names)}
    a = np.fromiter((place[name] for name in model_a), np.int64, len(model_a))
    b = np.fromiter((place[name] for name in model_b), np.int64, len(model_b))
    return aggregate(names, a, b, score, weight)


def from_scores(models: Sequence[str], wins: npt.ArrayLike, ties: npt.ArrayLike) -> Battles:
    """Build battles from whole numbers of wins (row over column) and ties (each pair once).

    ``ties`` is read from its upper triangle. Sides are as the indices say: i before j counts as
    first in ties, and the winner counts as first in wins.
    """
    won = np.asarray(wins, dtype=np.int64)
    tied = np.triu(np.asarray(ties, dtype=np.int64), 1)
    (wa, wb), (ta, tb) = np.nonzero(won), np.nonzero(tied)
    y = np.concatenate([np.ones(wa.size), np.full(ta.size, 0.5)])
    count = np.concatenate([won[wa, wb], tied[ta, tb]])
    return aggregate(models, np.append(wa, ta), np.append(wb, tb), y, count=count)


def _indices(values: npt.ArrayLike, name: str, m: int) -> Index:
    index = np.asarray(values).reshape(-1)
    if index.size and not np.issubdtype(index.dtype, np.integer):
        raise ValueError(f"{name} must hold whole numbers, but holds {index.dtype}.")
    index = index.astype(np.int64)
    wrong = (index < 0) | (index >= m)
    if wrong.any():
        where = int(np.argmax(wrong))
        raise ValueError(f"{name} is {index[where]} in battle {where}, but must be in [0, {m}).")
    return index


def _refuse(wrong: Bool, what: str) -> None:
    if wrong.any():
        raise ValueError(f"Battle {int(np.argmax(wrong))} (counted from 0) {what}.")
