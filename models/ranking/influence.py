r"""Influence of single votes, and how few removals would change the leader.

Taking one battle (a, b, y) of weight w out of the table moves the strengths by about
-w H+ d (y - p), d = e_a - e_b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.checks import Float
from models.ranking.battles import Battles, Index
from models.ranking.bradley_terry import fit_scores
from models.ranking.connectivity import strongly_connected
from models.ranking.uncertainty import inverse_hessian, residuals


def influence(battles: Battles, beta: Float) -> Float:
    """Change of every strength when one battle of a row is taken out; float64 (rows, m)."""
    spread = inverse_hessian(battles, beta)
    pull = battles.weight * residuals(battles, beta)
    return np.asarray(-pull[:, None] * (spread[battles.a] - spread[battles.b]))


@dataclass(frozen=True, eq=False)
class Removal:
    """The fewest votes found whose removal puts another model on top.

    Attributes
    ----------
    votes : how many
    leader, successor : names before and after
    taken : int64 (rows,), how many battles of each row are taken out
    """

    votes: int
    leader: str
    successor: str
    taken: Index


def fewest_removals(battles: Battles, limit: int | None = None) -> Removal | None:
    """Search for the fewest votes whose removal changes the leader.

    For each rival the votes are ranked by their influence on its gap to the leader, and the count
    is confirmed by a refit; influence is an approximation, so the answer bounds the least number
    from above.

    Parameters
    ----------
    battles : one strongly connected component with at least two models
    limit : give up beyond so many votes; by default a fifth of all

    Returns
    -------
    The removal, or None if none within the limit was found.

    Raises
    ------
    ValueError
        If the table has no finite scores.
    """
    if not strongly_connected(battles.scores):
        raise ValueError("The table has no finite scores, so there is no leader to replace.")
    beta = fit_scores(battles.scores)
    leader = int(np.argmax(beta))
    effects = influence(battles, beta)
    best: Removal | None = None
    most = battles.n // 5 if limit is None else limit
    for rival in np.argsort(-beta, kind="stable")[1:]:
        gain = effects[:, rival] - effects[:, leader]
        order = np.argsort(-gain, kind="stable")
        order = order[gain[order] > 0]
        bound = min(most, int(battles.count[order].sum()))
        if best is not None:
            bound = min(bound, best.votes - 1)
        gap = float(beta[leader] - beta[rival])
        pulls = np.cumsum(np.repeat(gain[order], battles.count[order]))
        predicted = 1 + int(np.searchsorted(pulls, gap))
        votes = _least(battles, beta, leader, order, predicted, bound)
        if votes is not None:
            taken = _first(battles, order, votes)
            after = fit_scores(battles.with_counts(battles.count - taken).scores, start=beta)
            successor = battles.models[int(np.argmax(after))]
            best = Removal(votes, battles.models[leader], successor, taken)
    return best


def _first(battles: Battles, order: Index, votes: int) -> Index:
    """Take ``votes`` battles from the rows in this order."""
    taken = np.zeros_like(battles.count)
    before = np.cumsum(battles.count[order]) - battles.count[order]
    taken[order] = np.clip(votes - before, 0, battles.count[order])
    return taken


def _least(
    battles: Battles, beta: Float, leader: int, order: Index, predicted: int, bound: int
) -> int | None:
    """Least number of leading removals in [1, bound] found to change the leader, or None."""

    def changes(votes: int) -> bool:
        left = battles.with_counts(battles.count - _first(battles, order, votes)).scores
        if not strongly_connected(left):
            return False
        return int(np.argmax(fit_scores(left, start=beta))) != leader

    low, high = 0, predicted
    while high <= bound and not changes(high):
        low, high = high, high + max(1, high // 8)
    if high > bound:
        high = bound
        if high <= low or not changes(high):
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if changes(middle) else (middle, high)
    return high
