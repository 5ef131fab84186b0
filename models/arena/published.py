"""The published leaderboard of November 2024: nine models' scores, waits and win fractions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from models.arena.latency import Latencies, from_medians
from models.checks import Float
from models.ranking.bradley_terry import elo, fit_scores

FILE = Path(__file__).resolve().parents[2] / "assets" / "arena" / "published.json"
SPREAD = 0.5  # of the log latencies, our assumption: then the uniform median is 1.60 s
MEDIAN_UNIFORM, MEDIAN_AWARE = 1.61, 1.07  # seconds, as reported about the paper


@dataclass(frozen=True, eq=False)
class Published:
    """What the authors published, in their order.

    Attributes
    ----------
    models : m = 9 names
    score, plus, minus : float64 (m,), Elo scale, with the 95 % interval's reach up and down
    medians : float64 (m,), median latency in seconds
    wins : float64 (m, m), share of battles that the row won against the column; NaN inside
    votes, top_accepted : counts in the released examples
    source : where all this stands
    """

    models: tuple[str, ...]
    score: Float
    plus: Float
    minus: Float
    medians: Float
    wins: Float
    votes: int
    top_accepted: int
    source: str

    @property
    def latencies(self) -> Latencies:
        """Log-normal latencies with the published medians and our spread."""
        return from_medians(self.models, self.medians, SPREAD)

    def refit(self, games: Float | None = None, wins: Float | None = None) -> Float:
        """Bradley-Terry scores from the win fractions, with the published scores' mean.

        Parameters
        ----------
        games : float64 (m, m) symmetric, battles of each pair; the counts are unpublished, and by
            default equal
        wins : float64 (m, m), other win fractions than the published, rounded ones
        """
        # Each fraction is rounded by itself, so that one pair sums to 0.99: the upper half counts.
        upper = np.triu(self.wins if wins is None else wins, 1)
        share = upper + np.tril(1 - upper.T, -1)
        scores = elo(fit_scores(share if games is None else share * games))
        return np.asarray(scores + self.score.mean() - scores.mean())


@lru_cache(maxsize=1)
def published() -> Published:
    """Read the numbers that are shipped."""
    data = json.loads(FILE.read_text(encoding="utf-8"))

    def values(name: str) -> Float:
        array = np.array(data[name], dtype=np.float64)
        array.flags.writeable = False
        return array

    return Published(
        tuple(data["models"]),
        values("score"),
        values("plus"),
        values("minus"),
        values("median_latency_s"),
        values("win_fraction"),
        data["examples"]["votes"],
        data["examples"]["top_accepted"],
        data["source"],
    )
