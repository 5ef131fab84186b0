"""What a table of battles can tell: components, and groups that never conceded to each other.

Two graphs over the models: "met" (undirected) and "scored against" (i -> j if i won or tied against
j). Models in different components of the first are not comparable at all. Inside a component the
scores are finite exactly if the second is strongly connected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from models.checks import Float
from models.ranking.battles import Bool, Index


def components(scores: Float) -> list[Index]:
    """Index arrays of the models that met, directly or through others; largest first.

    Models without any battle form components of their own.
    """
    _, label = csgraph.connected_components(sparse.csr_array(scores), directed=False)
    return _by_size(label)


def groups(scores: Float) -> list[Index]:
    """Return the strongly connected groups of "scored against", largest first."""
    _, label = csgraph.connected_components(sparse.csr_array(scores), connection="strong")
    return _by_size(label)


def strongly_connected(scores: Float) -> bool:
    """Whether the maximum of the likelihood exists for this one component."""
    return bool(all_strongly_connected(scores[None])[0])


def all_strongly_connected(scores: Float) -> Bool:
    """Judge a stack (R, m, m) of tables in one pass; bool (R,)."""
    rounds, m, _ = scores.shape
    r, i, j = np.nonzero(scores)
    graph = sparse.coo_array(
        (np.ones(r.size, dtype=np.int8), (r * m + i, r * m + j)), shape=(rounds * m, rounds * m)
    )
    _, label = csgraph.connected_components(graph.tocsr(), connection="strong")
    table = label.reshape(rounds, m)
    return np.asarray((table == table[:, :1]).all(axis=1))


@dataclass(frozen=True, eq=False)
class Split:
    """A component that is not strongly connected, seen from its core.

    Attributes
    ----------
    core : int64 indices of the group that the others are compared with; the largest, and among
        equals the one with the most battles
    above, below : bool (m,), connected to the core only by victories, or only by defeats
    undefeated, winless : bool (m,), conceded nothing at all, scored nothing at all
    order : the groups, such that each comes after all groups that it scored against
    """

    core: Index
    above: Bool
    below: Bool
    undefeated: Bool
    winless: Bool
    order: list[Index]


def split(scores: Float) -> Split:
    """Tell apart the groups of one component."""
    parts = groups(scores)
    games = (scores + scores.T).sum(axis=1)
    largest = [part for part in parts if part.size == parts[0].size]
    core = max(largest, key=lambda part: float(games[part].sum()))
    reach = _reachable(scores)
    above, below = reach[:, core[0]].copy(), reach[core[0]].copy()
    above[core] = below[core] = False
    # A group reaches all that those it scored against reach, and itself.
    order = sorted(parts, key=lambda part: int(reach[part[0]].sum()))
    return Split(core, above, below, scores.sum(axis=0) == 0, scores.sum(axis=1) == 0, order)


def _reachable(scores: Float) -> Bool:
    step = (scores > 0) | np.eye(len(scores), dtype=np.bool_)
    while True:
        further = (step.astype(np.float32) @ step.astype(np.float32)) > 0
        if (further == step).all():
            return np.asarray(step)
        step = further


def _by_size(label: npt.NDArray[np.int32]) -> list[Index]:
    if not label.size:
        return []
    order = np.argsort(label, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(label))[:-1])
    return sorted(parts, key=lambda part: -part.size)
