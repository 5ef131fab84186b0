r"""Several measures at once: vector estimate, joint region, and the box it competes with.

QuEst, Section 5 and Theorem on the multivariate CLT: with L = diag(lam), A = cov(a), C = cov(c),
E = cov(a, b),

    V       = A + (1 + r) L C L - E L - L E'      ("plug-in"; can be indefinite in small samples)
    V_split = cov(a - b L) + r L C L              (never indefinite; the default)

and the region n (Q - q)' V^{-1} (Q - q) <= chi2_{k, 1 - alpha}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from models.checks import Float
from models.quest.estimate import LamMode, Parts, Variance, check_variance
from models.quest.influence import summarise
from models.quest.measures import Measure

# A correlation matrix whose smallest eigenvalue is below this is singular but for rounding.
_SINGULAR = 1e-10


@dataclass(frozen=True)
class Region:
    """A joint confidence region of k measures.

    Attributes
    ----------
    estimate : float64 array, shape (k,)
    covariance : float64 array, shape (k, k)
        Of the estimate itself (V / n).
    radius2 : float
        chi-square quantile that bounds the Mahalanobis distance.
    lam : float64 array, shape (k,)
    volume : float
        Volume of the ellipsoid; NaN where there is none, and :attr:`refusal` then says why.
    box : float64 array, shape (k, 2)
        Bonferroni box: k intervals at level alpha / k each; NaN for a measure without an interval.
    """

    method: str
    estimate: Float
    covariance: Float
    radius2: float
    lam: Float
    volume: float
    box: Float

    @property
    def refusal(self) -> str:
        """Empty, or one sentence on why there is no region."""
        smallest = _smallest_eigenvalue(self.covariance)
        if smallest > _SINGULAR:
            return ""
        if smallest < -_SINGULAR:
            return (
                "There is no joint region: the plug-in covariance is indefinite on this sample; "
                "choose the split variance."
            )
        return (
            "There is no joint region: the labels of a measure show no spread (ties or a cap), or "
            "two of the measures carry the same information."
        )

    @property
    def box_volume(self) -> float:
        """Volume of the Bonferroni box."""
        return float(np.prod(self.box[:, 1] - self.box[:, 0]))

    def contains(self, q: Float) -> bool:
        """Whether the ellipsoid contains the point ``q`` of shape (k,).

        Raises
        ------
        ValueError
            If there is no region, with :attr:`refusal`.
        """
        self._check_exists()
        gap = self.estimate - q
        return bool(gap @ np.linalg.solve(self.covariance, gap) <= self.radius2)

    def ellipse(self, i: int, j: int, points: int = 121) -> Float:
        """Outline, shape (points, 2), of the joint region's shadow on coordinates i and j.

        Raises
        ------
        ValueError
            If there is no region, with :attr:`refusal`.
        """
        self._check_exists()
        pair = self.covariance[np.ix_([i, j], [i, j])]
        angle = np.linspace(0, 2 * np.pi, points)
        circle = np.stack([np.cos(angle), np.sin(angle)])
        outline = np.linalg.cholesky(pair) @ circle * math.sqrt(self.radius2)
        return np.asarray(self.estimate[[i, j]] + outline.T, dtype=np.float64)

    def _check_exists(self) -> None:
        if self.refusal:
            raise ValueError(self.refusal)


def joint_region(
    parts: Sequence[Parts],
    unlabelled: Sequence[Float],
    *,
    lam: LamMode | float | None = "clip",
    variance: Variance = "split",
) -> Region:
    """Joint region of k measures on the same labelled rows and the same unlabelled rows.

    Parameters
    ----------
    parts : k prepared measures
        Their influence values must refer to the same n labelled rows in the same order.
    unlabelled : k float64 arrays, shape (N,)
        Influence values of the unlabelled predictions in a common row order
        (:func:`unlabelled_influence`).
    lam : "clip", "raw", a number, or None for labels only
    variance : "split" or "plug-in"

    Raises
    ------
    ValueError
        If there are no measures, or they do not share n, N and alpha.
    """
    check_variance(variance)
    if not parts or len(parts) != len(unlabelled):
        raise ValueError(
            "A joint region needs at least one measure and one array of unlabelled influence "
            f"values for each, but got {len(parts)} and {len(unlabelled)}."
        )
    first = parts[0]
    if any(
        (p.n, p.n_unlabelled, p.alpha) != (first.n, first.n_unlabelled, first.alpha) for p in parts
    ):
        raise ValueError("A joint region needs measures on the same rows and at the same alpha.")
    k = len(parts)
    weights = np.array([p.choose_lam(0.0 if lam is None else lam) for p in parts])
    a = np.stack([p.labels.influence for p in parts])
    b = np.stack([p.labelled.influence for p in parts])
    c = np.stack(list(unlabelled))
    n, big_n, ratio = first.n, first.n_unlabelled, first.ratio
    spread = (c @ c.T) / big_n
    if variance == "split":
        rest = a - weights[:, None] * b
        cov = (rest @ rest.T) / n + ratio * np.outer(weights, weights) * spread
    else:
        cross = (a @ b.T) / n * weights
        cov = (a @ a.T) / n + (1 + ratio) * np.outer(weights, weights) * spread - cross - cross.T
    cov = cov / n
    flat = [p.labels.variance == 0 for p in parts]
    # As for a single measure: without spread among the labels there is nothing to state.
    cov[flat, :] = cov[:, flat] = 0.0
    estimate = np.array([p.point(w) for p, w in zip(parts, weights, strict=True)])
    radius2 = float(stats.chi2.isf(first.alpha, k))
    z = float(stats.norm.isf(first.alpha / (2 * k)))
    variances = np.diag(cov)
    half = z * np.sqrt(np.where(variances > 0, variances, np.nan))
    return Region(
        "Labels only" if lam is None else "QuEst",
        estimate,
        cov,
        radius2,
        weights,
        ellipsoid_volume(cov, radius2),
        np.stack([estimate - half, estimate + half], axis=1),
    )


def unlabelled_influence(pool: Float, measures: Sequence[Measure], alpha: float) -> list[Float]:
    """Influence values of the unlabelled predictions in row order, one array (N,) a measure."""
    return [summarise(pool, measure, alpha).influence for measure in measures]


def ellipsoid_volume(covariance: Float, radius2: float) -> float:
    """pi^{k/2} / Gamma(k/2 + 1) radius^k sqrt(det); NaN unless positive definite."""
    if _smallest_eigenvalue(covariance) <= _SINGULAR:
        return math.nan
    k = covariance.shape[0]
    unit = math.pi ** (k / 2) / float(special.gamma(k / 2 + 1))
    return float(unit * radius2 ** (k / 2) * math.sqrt(float(np.linalg.det(covariance))))


def _smallest_eigenvalue(covariance: Float) -> float:
    """Of the correlation matrix, so that the measures' scales do not count; 0 without spread."""
    variances = np.diag(covariance)
    if variances.min() <= 0:
        return float(np.sign(variances.min()))
    return float(np.linalg.eigvalsh(covariance / np.sqrt(np.outer(variances, variances)))[0])
