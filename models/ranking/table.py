"""The leaderboard: scores with honest intervals, Rank(UB), and what cannot be ranked said so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri

from models.checks import Float, check_alpha, check_choice
from models.ranking.battles import Battles, Index
from models.ranking.bradley_terry import RIDGE, elo, fit_scores
from models.ranking.connectivity import components, split, strongly_connected
from models.ranking.open_ended import Standing, close_outwards, standings
from models.ranking.uncertainty import Bootstrap, bootstrap, standard_errors

Method = Literal["bootstrap", "sandwich"]


@dataclass(frozen=True)
class Row:
    """One model's line.

    Attributes
    ----------
    model, battles : its name, and the number of its battles
    score : Elo scale; the ridge fit unless the table's ``exists``
    low, high : interval at level 1 - alpha, infinite where open-ended
    rank : Rank(UB), 1 + the number of models that are surely better
    standing : "ranked", or why an end is open; see ``open_ended``
    """

    model: str
    battles: int
    score: float
    low: float
    high: float
    rank: int
    standing: Standing


@dataclass(frozen=True, eq=False)
class Table:
    """The leaderboard of one connected component.

    Attributes
    ----------
    rows : best score first
    battles : the component's votes
    beta : float64 (m,), strengths in the order of ``battles.models``
    exists : whether the maximum of the likelihood does
    resampled : the bootstrap behind the intervals; None for sandwich intervals
    """

    rows: tuple[Row, ...]
    battles: Battles
    beta: Float
    exists: bool
    resampled: Bootstrap | None


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Tables that must not be compared with one another, largest first.

    Attributes
    ----------
    tables : one for each connected component with at least two models
    without_battles : models that were listed and never voted on
    """

    tables: tuple[Table, ...]
    without_battles: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """One sentence on what the votes allow."""
        if not self.tables:
            count = len(self.without_battles)
            if count == 1:
                return "There is one model only, so there is nothing to compare it with."
            return "There are no votes yet, so there is no ranking."
        parts = []
        if len(self.tables) > 1:
            parts.append(
                f"The votes fall into {len(self.tables)} groups of models that never met; their "
                "scores cannot be compared across groups."
            )
        names = [row.model for t in self.tables for row in t.rows if row.standing != "ranked"]
        if names:
            shown = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
            parts.append(f"No finite score exists for {shown}: the interval is open-ended.")
        return " ".join(parts) or "All models can be compared."


def leaderboard(
    battles: Battles,
    rng: np.random.Generator,
    *,
    method: Method = "bootstrap",
    rounds: int = 100,
    alpha: float = 0.05,
) -> Leaderboard:
    """Rank the models, each connected component in a table of its own.

    Parameters
    ----------
    battles : any table, down to an empty one
    rng : for the bootstrap
    method : "bootstrap" (Chatbot Arena's and Copilot Arena's) or "sandwich"
    rounds : of the bootstrap
    alpha : error level in (0, 1)

    Raises
    ------
    ValueError
        For an unknown method, a level outside (0, 1), or no rounds.
    """
    check_choice(method, Method, "method")
    check_alpha(alpha)
    tables, alone = [], []
    for part in components(battles.scores):
        if part.size == 1:
            alone.append(battles.models[part[0]])
            continue
        tables.append(_table(battles.only(part), rng, method, rounds, alpha))
    return Leaderboard(tuple(tables), tuple(sorted(alone)))


def _table(
    battles: Battles, rng: np.random.Generator, method: Method, rounds: int, alpha: float
) -> Table:
    s = battles.scores
    exists = strongly_connected(s)
    if exists:
        beta = fit_scores(s)
        low, high, resampled = _closed(battles, beta, rng, method, rounds, alpha)
        standing: list[Standing] = ["ranked"] * len(beta)
    else:
        beta, resampled = fit_scores(s, ridge=RIDGE), None
        parts = split(s)
        standing = standings(parts)
        low, high = np.full(len(beta), -math.inf), np.full(len(beta), math.inf)
        if parts.core.size > 1:
            core = battles.only(parts.core)
            lower, upper, resampled = _closed(
                core, fit_scores(core.scores), rng, method, rounds, alpha
            )
            anchor = beta[parts.core].mean()
            low[parts.core], high[parts.core] = anchor + lower, anchor + upper
        else:
            low[parts.core] = high[parts.core] = beta[parts.core]
        close_outwards(s, low, high, beta, parts, alpha)
    ranks = rank_ub(low, high)
    if not exists and parts.core.size == 1:
        # The others are compared with this one; on its own strength the votes set no limit.
        low[parts.core], high[parts.core] = -math.inf, math.inf
    games = battles.battles_of
    lines = [
        Row(
            battles.models[i],
            int(games[i]),
            float(elo(beta[i])),
            float(elo(low[i])),
            float(elo(high[i])),
            int(ranks[i]),
            standing[i],
        )
        for i in np.argsort(-beta, kind="stable")
    ]
    return Table(tuple(lines), battles, beta, exists, resampled)


def rank_ub(low: Float, high: Float) -> Index:
    """Return 1 + the number of models whose lower bound is above this one's upper; int64 (m,)."""
    return np.asarray(1 + (low[None, :] > high[:, None]).sum(axis=1), dtype=np.int64)


def _closed(
    battles: Battles,
    beta: Float,
    rng: np.random.Generator,
    method: Method,
    rounds: int,
    alpha: float,
) -> tuple[Float, Float, Bootstrap | None]:
    reach = -float(ndtri(alpha / 2)) * standard_errors(battles, beta)
    if method == "sandwich":
        return beta - reach, beta + reach, None
    resampled = bootstrap(battles, rounds, rng, start=beta)
    low, high = resampled.quantiles(alpha)
    # Resampling one and the same row (a single vote, all ties) shows no spread at all.
    flat = high - low < 1e-9
    return np.where(flat, beta - reach, low), np.where(flat, beta + reach, high), resampled
