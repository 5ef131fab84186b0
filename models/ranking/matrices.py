"""Plain tables beside the scores: who beat whom how often, and average win rates."""

from __future__ import annotations

import numpy as np

from models.checks import Float
from models.ranking.battles import Battles


def win_matrix(battles: Battles) -> Float:
    """Share of decided battles that the row's model won against the column's; float64 (m, m).

    Ties do not count. A pair without a decided battle is NaN, never 0.5.
    """
    decided = battles.rows(battles.score != 0.5)
    games = decided.games
    blank = np.full(games.shape, np.nan)
    return np.asarray(np.divide(decided.scores, games, out=blank, where=games > 0))


def average_win_rate(battles: Battles) -> Float:
    """Mean of each row of the win matrix over the opponents met; NaN for none; float64 (m,)."""
    shares = win_matrix(battles)
    met = np.isfinite(shares)
    opponents = met.sum(axis=1)
    total = np.where(met, shares, 0.0).sum(axis=1)
    blank = np.full(total.shape, np.nan)
    return np.asarray(np.divide(total, opponents, out=blank, where=opponents > 0))
