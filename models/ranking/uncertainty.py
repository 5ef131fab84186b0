r"""Uncertainty of Bradley-Terry strengths: sandwich and Fisher covariance, and the bootstrap.

    H = sum w p (1 - p) d d',   G = sum w^2 (y - p)^2 d d',   d = e_a - e_b
    sandwich  H+ G H+           Fisher  H+

H+ is the pseudo-inverse and the sums run over single battles, so the errors belong to strengths
with mean zero. With ties the sandwich is narrower than Fisher's, which takes half a win for a
coin's toss. w is a battle's weight, not a count of identical ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import expit

from models.checks import Float, check_alpha
from models.ranking.battles import Battles
from models.ranking.bradley_terry import RIDGE, fit_scores
from models.ranking.connectivity import all_strongly_connected

_CELLS = 2_000_000  # of stacked matrices held at a time in the bootstrap: 16 MB each


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Strengths refitted on resampled tables.

    Attributes
    ----------
    betas : float64 (rounds, m), natural-log scale, each with mean zero
    by_ridge : rounds in which no maximum existed, so that the ridge fit stands in
    """

    betas: Float
    by_ridge: int

    def quantiles(self, alpha: float = 0.05) -> tuple[Float, Float]:
        """Lower and upper ends (m,) of the percentile interval at level 1 - alpha."""
        tail = check_alpha(alpha) / 2
        low, high = np.quantile(self.betas, [tail, 1 - tail], axis=0)
        return low, high

    def rank_shares(self) -> Float:
        """Share of rounds in which model i holds rank k + 1; float64 (m, m), rows sum to 1."""
        rounds, m = self.betas.shape
        ranks = np.argsort(np.argsort(-self.betas, axis=1, kind="stable"), axis=1)
        cells = np.bincount((np.arange(m) * m + ranks).ravel(), minlength=m * m)
        return np.asarray(cells.reshape(m, m) / rounds)


def bootstrap(
    battles: Battles,
    rounds: int,
    rng: np.random.Generator,
    *,
    ridge: float = 0.0,
    start: Float | None = None,
) -> Bootstrap:
    """Resample the battles with replacement and refit, as Chatbot Arena's leaderboards do.

    Parameters
    ----------
    battles : one component with at least one battle
    rounds : at least 1
    rng : drawn from once, by ``multinomial`` over the aggregated rows
    ridge : lambda for all rounds; with 0, rounds without a maximum use lambda = 0.1
    start : float64 (m,), strengths to start from; the point estimate saves steps

    Raises
    ------
    ValueError
        If there are no battles or no rounds.
    """
    if rounds < 1:
        raise ValueError(f"rounds is {rounds}, but must be a whole number of at least 1.")
    if not battles.n:
        raise ValueError("There are no battles to resample.")
    m = len(battles.models)
    counts = rng.multinomial(battles.n, battles.count / battles.n, size=rounds)
    spread = _spread(battles)
    betas, by_ridge = np.empty((rounds, m)), 0
    size = max(1, _CELLS // (m * m))
    for first in range(0, rounds, size):
        part = slice(first, first + size)
        scores = (counts[part] @ spread).reshape(-1, m, m)
        whole = np.ones(len(scores), np.bool_) if ridge else all_strongly_connected(scores)
        block = betas[part]
        if whole.any():
            block[whole] = fit_scores(scores[whole], ridge=ridge, start=start)
        if not whole.all():
            block[~whole] = fit_scores(scores[~whole], ridge=RIDGE, start=start)
            by_ridge += int((~whole).sum())
    return Bootstrap(betas, by_ridge)


def _spread(battles: Battles) -> sparse.csr_array:
    """Return the (rows, m m) matrix that turns counts of rows into flat score matrices."""
    m, rows = len(battles.models), np.arange(battles.a.size)
    return sparse.csr_array(
        (
            np.concatenate([battles.weight * battles.score, battles.weight * (1 - battles.score)]),
            (
                np.concatenate([rows, rows]),
                np.concatenate([battles.a * m + battles.b, battles.b * m + battles.a]),
            ),
        ),
        shape=(rows.size, m * m),
    )


def laplacian(battles: Battles, weight: Float) -> Float:
    """Sum of weight d d' over the rows, d = e_a - e_b; float64 (m, m)."""
    pairs = battles.pairwise(weight, weight)
    return np.diag(pairs.sum(axis=1)) - pairs


def residuals(battles: Battles, beta: Float) -> Float:
    """Score minus chance, y - p, of each row; float64 (rows,)."""
    return np.asarray(battles.score - expit(beta[battles.a] - beta[battles.b]))


def inverse_hessian(battles: Battles, beta: Float) -> Float:
    """H+, the pseudo-inverse of the likelihood's Hessian and Fisher's covariance; (m, m)."""
    p = expit(beta[battles.a] - beta[battles.b])
    hessian = laplacian(battles, battles.total * p * (1 - p))
    return np.asarray(np.linalg.pinv(hessian, rcond=1e-12, hermitian=True))


def sandwich(battles: Battles, beta: Float) -> Float:
    """Robust covariance H+ G H+ of the strengths, float64 (m, m)."""
    bread = inverse_hessian(battles, beta)
    squares = battles.count * (battles.weight * residuals(battles, beta)) ** 2
    return np.asarray(bread @ laplacian(battles, squares) @ bread)


def standard_errors(battles: Battles, beta: Float) -> Float:
    """Sandwich errors (m,); Fisher's where no battle strays from the fit (all ties, for example).

    A table of ties alone fits perfectly, and the sandwich would promise a width of zero.
    """
    robust = np.sqrt(np.maximum(np.diag(sandwich(battles, beta)), 0.0))
    if not (robust < 1e-9).any():
        return np.asarray(robust)
    fisher = np.sqrt(np.maximum(np.diag(inverse_hessian(battles, beta)), 0.0))
    return np.where(robust < 1e-9, fisher, robust)
