"""A Gaussian mixture fitted to a visitor's points, by expectation maximisation."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from models.checks import Float
from models.diffusion.mixtures import Mixture, make_mixture

LEAST_POINTS = 10
MOST_COMPONENTS = 6
_STARTS = 4
_ROUNDS = 200
_FLOOR = 1e-3  # of a variance, in units of the points' own


def standardise(points: Float) -> Float:
    """Return points (n, d) minus their mean, over their standard deviation, by column.

    Raises
    ------
    ValueError
        If there are fewer than ten points, one is not finite, or a column is constant.
    """
    if points.ndim != 2 or len(points) < LEAST_POINTS:
        raise ValueError(
            f"There are {len(points)} points, but at least {LEAST_POINTS} are needed to fit groups."
        )
    if not np.isfinite(points).all():
        raise ValueError("The points must be finite numbers.")
    with np.errstate(over="ignore", invalid="ignore"):
        spread = points.std(axis=0)
    if not np.isfinite(spread).all():
        raise ValueError("The points are too large to compute with: rescale them.")
    if not (spread > 1e-12 * (1 + np.abs(points).max(axis=0))).all():
        column = int(np.argmin(spread)) + 1
        raise ValueError(
            f"Coordinate {column} is the same for all points, so that there is no plane to steer "
            "in: choose a column that varies."
        )
    return np.asarray((points - points.mean(axis=0)) / spread, dtype=np.float64)


def fit_mixture(points: Float, components: int, seed: int) -> Mixture:
    """Fit a mixture with full covariances; the best of a few starts, common components first.

    Parameters
    ----------
    points : (n, d), best standardised; a variance is kept at 0.001 at least
    components : from 1 to 6, at most one for five points

    Raises
    ------
    ValueError
        If the number of components is out of range.
    """
    most = min(MOST_COMPONENTS, len(points) // 5)
    if not 1 <= components <= most:
        raise ValueError(
            f"The number of groups is {components}, but {len(points)} points allow 1 to {most}."
        )
    rng = np.random.default_rng(seed)
    fits = [_fit(points, _start(points, components, rng)) for _ in range(_STARTS)]
    _, weights, means, covariances = max(fits, key=lambda fit: fit[0])
    order = np.argsort(-weights, kind="stable")
    return make_mixture(weights[order], means[order], covariances[order])


def _start(points: Float, components: int, rng: np.random.Generator) -> Float:
    """Centres drawn far from each other (k-means++)."""
    centres = [points[rng.integers(len(points))]]
    while len(centres) < components:
        away = np.min([np.square(points - c).sum(axis=1) for c in centres], axis=0)
        total = away.sum()
        share = away / total if total > 0 else np.full(len(points), 1 / len(points))
        centres.append(points[rng.choice(len(points), p=share)])
    return np.array(centres)


def _fit(points: Float, means: Float) -> tuple[float, Float, Float, Float]:
    """Log likelihood a point, weights (K,), means (K, d), covariances (K, d, d)."""
    d, k = points.shape[1], len(means)
    weights = np.full(k, 1 / k)
    covariances = np.tile(np.cov(points.T, bias=True).reshape(d, d) + _FLOOR * np.eye(d), (k, 1, 1))
    before, level = -np.inf, -np.inf
    for _ in range(_ROUNDS):
        away = points[:, None] - means
        inverse = np.linalg.inv(covariances)
        form = np.einsum("nki,kij,nkj->nk", away, inverse, away)
        log_det = np.linalg.slogdet(covariances)[1]
        joint = np.log(weights) - (form + log_det + d * np.log(2 * np.pi)) / 2
        total = logsumexp(joint, axis=1)
        level = float(total.mean())
        if level - before < 1e-8:
            break
        before = level
        share = np.exp(joint - total[:, None])
        mass = share.sum(axis=0) + 1e-9
        weights = mass / mass.sum()
        means = share.T @ points / mass[:, None]
        away = points[:, None] - means
        covariances = np.einsum("nk,nki,nkj->kij", share, away, away) / mass[:, None, None]
        covariances = covariances + _FLOOR * np.eye(d)
    return level, weights, means, covariances
