r"""Intervals for models on whose strength the votes set no limit above, or none below.

A group of models that never conceded anything to the others could be arbitrarily strong. The closed
end of its interval is our reading: the strength at which the group would have won all its battles
against the others with chance alpha/2, while these are as strong as the lower ends of their own
intervals say. For one undefeated model against equals that is Clopper and Pearson's bound.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_expit

from models.checks import Float
from models.ranking.connectivity import Split

Standing = Literal[
    "ranked",
    "undefeated",
    "winless",
    "above the core",
    "below the core",
    "not comparable",
    "reference",
]


def standings(parts: Split) -> list[Standing]:
    """Say for each model of a split component what keeps its interval open.

    "ranked" is a model of the core, whose interval is closed. "reference" stands for a core of one:
    the others are compared with it. "not comparable" has no chain of results from or to the core.
    """
    names: list[Standing] = []
    for i in range(parts.above.size):
        if i in parts.core and parts.core.size > 1:
            names.append("ranked")
        elif parts.undefeated[i]:
            names.append("undefeated")
        elif parts.winless[i]:
            names.append("winless")
        elif i in parts.core:
            names.append("reference")
        elif parts.above[i]:
            names.append("above the core")
        elif parts.below[i]:
            names.append("below the core")
        else:
            names.append("not comparable")
    return names


def close_outwards(
    scores: Float, low: Float, high: Float, beta: Float, parts: Split, alpha: float
) -> None:
    """Write the one closed end of each group above or below the core into ``low`` and ``high``.

    Parameters
    ----------
    scores : float64 (m, m), the component's score matrix
    low, high : float64 (m,), the core's ends set and all others infinite; changed in place
    beta : float64 (m,), strengths, used inside each group only
    parts : the component's groups
    alpha : error level; each end takes half of it
    """
    level = math.log(alpha / 2)
    for group in parts.order:  # nearest to the core first
        if parts.above[group[0]]:
            low[group] = beta[group] + _shift(scores[group], beta[group], low, level)
    for group in reversed(parts.order):
        if parts.below[group[0]]:
            high[group] = beta[group] - _shift(scores[:, group].T, -beta[group], -high, level)


def _shift(won: Float, inside: Float, opponents: Float, level: float) -> float:
    """How far a group must move to win all of ``won`` (k, m) with log chance ``level``."""
    known = np.isfinite(opponents) & (won.sum(axis=0) > 0)
    rival, games = opponents[known], won[:, known]

    def excess(move: float) -> float:
        gap = move + inside[:, None] - rival[None, :]
        return float((games * log_expit(gap)).sum()) - level

    reach = 1.0
    while excess(-reach) > 0 or excess(reach) < 0:
        reach *= 2
    return float(brentq(excess, -reach, reach, xtol=1e-10))
