"""Ranking candidate models by a tail risk, after the paper's red-teaming experiment (Section 6).

The paper scores eight language models' answers to 20,000 prompts with a large judge (gold) and a
small one (predictions) and ranks the models by the mean of their worst 25 %.  Those scores are not
public; here eight models are *simulated* so that the judges' correlation has the range that the
paper reports (.07 to .50) and the cheap judge has its own taste, which no number of its scores
averages away.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special, stats

from models.checks import Float
from models.quest.estimate import Interval, labels_only, predictions_only, prepare, quest
from models.quest.influence import plug_in
from models.quest.measures import Measure, Weight, check_enough

CANDIDATES = tuple("ABCDEFGH")
PROMPTS = 20_000
METHODS = ("QuEst", "Labels only", "Predictions only")


@dataclass(frozen=True)
class Board:
    """Scores of every candidate on every prompt, in [0, 1]; higher is worse.

    Attributes
    ----------
    gold, judge : float64 arrays, shape (8, 20000)
    """

    gold: Float
    judge: Float

    def truth(self, weight: Weight) -> Float:
        """Each candidate's measure on all prompts, shape (8,)."""
        return plug_in(np.sort(self.gold, axis=1), weight)


@lru_cache(maxsize=4)
def simulate_board(seed: int) -> Board:
    """Simulate the eight candidates' scores under both judges."""
    rng = np.random.default_rng(seed)
    hazard = rng.normal(size=PROMPTS)
    level = np.linspace(-3.2, -2.4, len(CANDIDATES))[:, None]
    taste = rng.normal(scale=0.3, size=(len(CANDIDATES), 1))
    agreement = np.linspace(0.1, 0.62, len(CANDIDATES))[rng.permutation(len(CANDIDATES))][:, None]
    shared = 0.7 * hazard + 0.7 * rng.normal(size=(len(CANDIDATES), PROMPTS))
    own = rng.normal(size=shared.shape)
    seen = agreement * shared + np.sqrt(1 - agreement**2) * own
    return Board(special.expit(level + 2 * shared), special.expit(level + taste + 2 * seen))


def rank_candidates(
    board: Board, weight: Weight, n: int, n_unlabelled: int, alpha: float, rng: np.random.Generator
) -> list[dict[str, Interval]]:
    """Estimate every candidate's measure from n gold and N cheap scores of random prompts.

    Raises
    ------
    ValueError
        If n + N exceeds the 20,000 prompts, or n is too small for the measure.
    """
    if n + n_unlabelled > PROMPTS:
        raise ValueError(
            f"{n} labelled and {n_unlabelled} unlabelled prompts were asked for, but there are "
            f"{PROMPTS:,} in all."
        )
    measure: Measure = weight
    check_enough(measure, n)
    rows = rng.permutation(PROMPTS)[: n + n_unlabelled]
    labelled, pool = rows[:n], rows[n:]
    answers = []
    for gold, judge in zip(board.gold, board.judge, strict=True):
        parts = prepare(gold[labelled], judge[labelled], judge[pool], measure, alpha=alpha)
        found = (quest(parts), labels_only(parts), predictions_only(parts))
        answers.append({answer.method: answer for answer in found})
    return answers


def rank_trial(
    rng: np.random.Generator, board_seed: int, weight: Weight, n: int, n_unlabelled: int
) -> Float:
    """One repetition: rank correlation with the truth, then mean error, of each of METHODS."""
    board = simulate_board(board_seed)
    truth = board.truth(weight)
    answers = rank_candidates(board, weight, n, n_unlabelled, 0.10, rng)
    estimates = np.array([[answer[method].estimate for answer in answers] for method in METHODS])
    ranks = [float(stats.spearmanr(row, truth).statistic) for row in estimates]
    return np.array([*ranks, *np.mean(np.abs(estimates - truth), axis=1)])
