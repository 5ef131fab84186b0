r"""Simulated voters: known strengths, a liking for the top place, ties, and carelessness.

    y = 0.5 with the tie rate t; a random side if careless; else a wins with sigma(theta_a - theta_b
    + gamma)

Ties that come at a fixed rate pull Bradley-Terry strengths towards 0. What the fit converges to is
the maximum of the expected likelihood, ``Crowd.target``; recovery and coverage are judged by that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from models.checks import Float
from models.ranking.battles import Battles, Index, aggregate
from models.ranking.bradley_terry import fit_scores


@dataclass(frozen=True, eq=False)
class Crowd:
    """How a simulated crowd votes.

    Attributes
    ----------
    theta : float64 (m,), true strengths on the natural-log scale
    gamma : advantage of the top place on the same scale
    ties, careless : shares in [0, 1) of tied and of random votes; their sum is below 1
    """

    theta: Float
    gamma: float = 0.0
    ties: float = 0.0
    careless: float = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError for shares out of range or strengths that are not finite."""
        if not (0 <= self.ties < 1 and 0 <= self.careless < 1 and self.ties + self.careless < 1):
            raise ValueError(
                f"The shares of ties ({self.ties:g}) and careless votes ({self.careless:g}) must "
                "not be negative, and must sum to less than 1."
            )
        if not np.isfinite(self.theta).all():
            raise ValueError("The true strengths must be finite.")

    @property
    def models(self) -> tuple[str, ...]:
        """Names in alphabetical order: m00, m01, and so on."""
        width = len(str(len(self.theta) - 1))
        return tuple(f"m{i:0{max(2, width)}d}" for i in range(len(self.theta)))

    def chance(self, a: Index, b: Index) -> Float:
        """Return the expected score of the top models a against b, float64."""
        sincere = expit(self.theta[a] - self.theta[b] + self.gamma)
        even = self.ties + self.careless
        return np.asarray(even / 2 + (1 - even) * sincere)

    def vote(self, a: Index, b: Index, rng: np.random.Generator) -> Float:
        """Scores in {0, 0.5, 1} of the top models a against the bottom models b."""
        n = a.size
        u, kind = rng.random(n), rng.random(n)
        won = np.where(
            kind < self.ties + self.careless,
            u < 0.5,
            u < expit(self.theta[a] - self.theta[b] + self.gamma),
        )
        return np.where(kind < self.ties, 0.5, won.astype(np.float64))

    def battles(self, a: Index, b: Index, rng: np.random.Generator) -> Battles:
        """Vote on these pairs and aggregate."""
        return aggregate(self.models, a, b, self.vote(a, b, rng))

    def target(self, pair_chance: Float) -> Float:
        """Strengths that the fit converges to, float64 (m,).

        Parameters
        ----------
        pair_chance : float64 (m, m), chance that a battle is dealt with i on top and j below
        """
        index = np.arange(len(self.theta))
        a, b = (grid.ravel() for grid in np.meshgrid(index, index, indexing="ij"))
        y = self.chance(a, b).reshape(pair_chance.shape)
        return fit_scores(pair_chance * y + (pair_chance * (1 - y)).T)


def deal(m: int, count: int, rng: np.random.Generator) -> tuple[Index, Index]:
    """Draw pairs of distinct models uniformly, in random order."""
    a = rng.integers(0, m, count)
    return a, (a + rng.integers(1, m, count)) % m


def uniform_chance(m: int) -> Float:
    """Chances of ordered pairs under :func:`deal`; float64 (m, m)."""
    return np.asarray((1 - np.eye(m)) / (m * (m - 1)))


def without_ties(beta: Float, ties: float) -> Float:
    """Undo the shrinkage of strengths by a known rate of half wins, to first order in theta.

    The expected score's slope at equal models is (1 - ties)/4 instead of 1/4.
    """
    return np.asarray(beta / (1 - ties))
