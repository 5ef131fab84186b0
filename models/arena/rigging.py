r"""Rigging a leaderboard by votes: two strategies, and how many votes they need.

"target only" votes for the target where it is recognised. "omnipresent" votes
in every recognised battle for the side that most raises the target above the model just ahead: with
u = H+ (e_target - e_ahead), a win of a over b moves the gap by (u_a - u_b)(1 - p), a defeat by
-(u_a - u_b) p; so it votes for the side with the larger u. (Strategies from "Improving your model
ranking on Chatbot Arena by vote rigging", ICML 2025, in our reading.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit

from models.arena.voters import Crowd, deal
from models.checks import Float, check_choice
from models.ranking.battles import Battles, Bool, Index
from models.ranking.bradley_terry import fit_scores

Strategy = Literal["target only", "omnipresent"]
Otherwise = Literal["normal", "random", "tie", "abstain"]


@dataclass(frozen=True)
class Attack:
    """What the attacker does.

    Attributes
    ----------
    target : name of the model to promote
    strategy : "target only" or "omnipresent"
    otherwise : vote where the pair is not recognised, or the target is not in it
    accuracy : chance in [0, 1] that the attacker recognises a battle's models
    share : share in (0, 1] of the new votes that are the attacker's; the crowd casts the others
    batch : votes between two refits, of the attacker and of the table shown
    """

    target: str
    strategy: Strategy = "omnipresent"
    otherwise: Otherwise = "abstain"
    accuracy: float = 1.0
    share: float = 1.0
    batch: int = 50

    def __post_init__(self) -> None:
        """Raise ValueError for a value out of range."""
        check_choice(self.strategy, Strategy, "strategy")
        check_choice(self.otherwise, Otherwise, "vote otherwise")
        if not 0 <= self.accuracy <= 1:
            raise ValueError(f"The accuracy is {self.accuracy:g}, but must lie in [0, 1].")
        if not 0 < self.share <= 1:
            raise ValueError(f"The share is {self.share:g}, but must lie in (0, 1].")
        if self.batch < 1:
            raise ValueError(f"The batch is {self.batch}, but must be at least 1.")


@dataclass(frozen=True, eq=False)
class Rigged:
    """The table after some battles.

    Attributes
    ----------
    dealt, cast : new battles so far, and votes of the attacker among them
    rank : of the target by score, from 1
    beta : float64 (m,)
    a, b, score, hostile : the batch's votes, in order, and whether each was the attacker's
    """

    dealt: int
    cast: int
    rank: int
    beta: Float
    a: Index
    b: Index
    score: Float
    hostile: Bool


def rig(
    honest: Battles, crowd: Crowd, attack: Attack, rng: np.random.Generator, battles: int
) -> Iterator[Rigged]:
    """Deal ``battles`` new pairs uniformly, yielding the state at the start and after each batch.

    Parameters
    ----------
    honest : the table so far, strongly connected, over the crowd's models
    crowd : who casts the votes that are not the attacker's, and "normal" ones

    Raises
    ------
    ValueError
        If the target is not among the models.
    """
    if attack.target not in honest.models:
        raise ValueError(f"The target {attack.target!r} is not among the models of the table.")
    target = honest.models.index(attack.target)
    scores = honest.scores.copy()
    beta = fit_scores(scores)
    none = np.empty(0, np.int64)
    yield Rigged(0, 0, _rank(beta, target), beta, none, none, np.empty(0), np.empty(0, np.bool_))
    dealt = cast = 0
    while dealt < battles:
        size = min(attack.batch, battles - dealt)
        a, b = deal(len(beta), size, rng)
        y = crowd.vote(a, b, rng)
        hostile = rng.random(size) < attack.share
        known = hostile & (rng.random(size) < attack.accuracy)
        y, counted = _hostile_votes(scores, beta, target, attack, a, b, y, hostile, known, rng)
        a, b, y, hostile = a[counted], b[counted], y[counted], hostile[counted]
        np.add.at(scores, (a, b), y)
        np.add.at(scores, (b, a), 1 - y)
        beta = fit_scores(scores, start=beta)
        dealt += size
        cast += int(hostile.sum())
        yield Rigged(dealt, cast, _rank(beta, target), beta, a, b, y, hostile)


def _hostile_votes(
    scores: Float,
    beta: Float,
    target: int,
    attack: Attack,
    a: Index,
    b: Index,
    honest: Float,
    hostile: Bool,
    known: Bool,
    rng: np.random.Generator,
) -> tuple[Float, Bool]:
    """Return all votes with the attacker's among them, and which of them count."""
    y = honest.copy()
    fallback = {
        "normal": honest,
        "random": (rng.random(y.size) < 0.5).astype(np.float64),
        "tie": np.full(y.size, 0.5),
        "abstain": honest,
    }[attack.otherwise]
    y[hostile] = fallback[hostile]
    if attack.strategy == "omnipresent":
        worth = _worth(scores, beta, target)
        aimed = known & (worth[a] != worth[b])
        choice = worth[a] > worth[b]
    else:
        aimed = known & ((a == target) | (b == target))
        choice = a == target
    y[aimed] = choice[aimed]
    abstains = hostile & ~aimed & (attack.otherwise == "abstain")
    return y, ~abstains


def _worth(scores: Float, beta: Float, target: int) -> Float:
    """How far a little more score of each model moves the target's gap to the model just ahead."""
    p = expit(beta[:, None] - beta[None, :])
    h = (scores + scores.T) * p * (1 - p)
    hessian = np.diag(h.sum(axis=1)) - h
    ahead = _just_ahead(beta, target)
    aim = np.zeros(beta.size)
    aim[target] = 1.0
    aim[ahead] -= 1.0
    return np.asarray(np.linalg.pinv(hessian, rcond=1e-12, hermitian=True) @ aim)


def _just_ahead(beta: Float, target: int) -> int:
    """Return the model one rank above the target, or behind it if it leads."""
    order = list(np.argsort(-beta, kind="stable"))
    place = order.index(target)
    return int(order[place - 1] if place else order[1])


def _rank(beta: Float, target: int) -> int:
    return 1 + int((beta > beta[target]).sum())
