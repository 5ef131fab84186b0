r"""Bradley-Terry with covariates: the advantage of the top place, and style.

    logit P(a wins) = beta_a - beta_b + gamma + sum_k c_k z_k

gamma is constant because a is always on top; z_k are differences such as (len_a - len_b)/(len_a +
len_b), standardised over the battles. The strengths and the effects each have a ridge of their own;
FastChat's style control puts lambda = 0.5 on both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, ndtri

from models.checks import Float, check_alpha, check_same_length
from models.ranking.battles import Battles
from models.ranking.bradley_terry import RIDGE
from models.ranking.connectivity import components
from models.ranking.uncertainty import laplacian

TOP = "top place"

_MAX_STEPS = 60
_LONGEST_STEP = 2.0
_TOLERANCE = 1e-9
_CERTAIN = 20.0  # logits beyond which a fit only follows a separation, sigma(20) = 1 - 2e-9


@dataclass(frozen=True, eq=False)
class Controlled:
    """Strengths and effects from one fit.

    Attributes
    ----------
    beta : float64 (m,), natural-log scale, mean zero in every connected component
    names : of the k effects
    effects, low, high : float64 (k,), with sandwich intervals; infinite where no maximum exists
    exists : whether the maximum does; otherwise strengths and effects are the ridge fit's
    covariance : float64 (m + k, m + k), of strengths and effects
    """

    beta: Float
    names: tuple[str, ...]
    effects: Float
    low: Float
    high: Float
    exists: bool
    covariance: Float


def relative_difference(of_a: npt.ArrayLike, of_b: npt.ArrayLike) -> Float:
    """(x_a - x_b) / (x_a + x_b) for non-negative measures of the texts; 0 where both are 0."""
    a, b = np.asarray(of_a, dtype=np.float64), np.asarray(of_b, dtype=np.float64)
    if (a < 0).any() or (b < 0).any():
        raise ValueError("Lengths and counts of the texts must not be negative.")
    total = a + b
    return np.divide(a - b, total, out=np.zeros(total.shape), where=total > 0)


def standardised(values: npt.ArrayLike) -> Float:
    """Columns (n, k) shifted to mean 0 and scaled to standard deviation 1.

    Raises
    ------
    ValueError
        If a column does not vary, or holds something that is not finite.
    """
    z = np.asarray(values, dtype=np.float64)
    if not np.isfinite(z).all():
        raise ValueError("The covariates hold a value that is not finite.")
    spread = z.std(axis=0)
    if not (spread > 0).all():
        raise ValueError(f"Covariate {int(np.argmin(spread))} (from 0) is the same in all battles.")
    return np.asarray((z - z.mean(axis=0)) / spread)


def control(
    battles: Battles,
    covariates: npt.ArrayLike | None = None,
    names: tuple[str, ...] = (),
    *,
    position: bool = True,
    ridge: float = 0.0,
    effects_ridge: float = 0.0,
    alpha: float = 0.05,
) -> Controlled:
    """Fit strengths together with the top place's advantage and style effects.

    Parameters
    ----------
    battles : at least one; one row a battle if there are covariates
    covariates : float64 (rows, k), row by row with ``battles``, usually :func:`standardised`
    names : of the k covariates
    position : whether the top place has an effect, named ``TOP`` and put first
    ridge, effects_ridge : lambda on the strengths, and on the effects
    alpha : error level of the effects' intervals

    Raises
    ------
    ValueError
        If there are no battles, or covariates and names do not fit.
    """
    z = np.empty((battles.a.size, 0)) if covariates is None else np.asarray(covariates, np.float64)
    z = z[:, None] if z.ndim == 1 else z
    check_same_length(battles.a, z, ("battles", "covariates"))
    if z.shape[1] != len(names):
        raise ValueError(f"There are {z.shape[1]} covariates, but {len(names)} names.")
    if not battles.n:
        raise ValueError("There are no battles to fit.")
    level = check_alpha(alpha)
    if position:
        z, names = np.column_stack([np.ones(len(z)), z]), (TOP, *names)
    m = len(battles.models)
    penalty = np.append(np.full(m, ridge), np.full(z.shape[1], effects_ridge))
    parameters = _newton(battles, z, penalty)
    exists = parameters is not None
    if parameters is None:
        penalty = np.maximum(penalty, RIDGE)
        parameters = _newton(battles, z, penalty)
        if parameters is None:
            raise ValueError("The fit with covariates does not converge, even with a ridge.")
    covariance = _sandwich(battles, z, parameters, penalty)
    effects = parameters[m:]
    reach = -float(ndtri(level / 2)) * np.sqrt(np.diag(covariance)[m:])
    if not exists:
        reach = np.full(effects.size, math.inf)
    return Controlled(
        parameters[:m], names, effects, effects - reach, effects + reach, exists, covariance
    )


def _logits(battles: Battles, z: Float, parameters: Float) -> Float:
    m = len(battles.models)
    beta = parameters[:m]
    return np.asarray(beta[battles.a] - beta[battles.b] + z @ parameters[m:])


def _design_product(battles: Battles, z: Float, values: Float) -> Float:
    """X' values, where row X = (d, z); values is (rows,)."""
    m = len(battles.models)
    own = np.bincount(battles.a, values, m) - np.bincount(battles.b, values, m)
    return np.concatenate([own, values @ z])


def _information(battles: Battles, z: Float, weight: Float) -> Float:
    """X' diag(weight) X, float64 (m + k, m + k)."""
    cross = np.array([_design_product(battles, z, weight * column) for column in z.T])
    m = len(battles.models)
    full = np.zeros((m + z.shape[1],) * 2)
    full[:m, :m] = laplacian(battles, weight)
    if z.shape[1]:
        full[m:], full[:m, m:] = cross, cross[:, :m].T
    return full


def _fixed_level(battles: Battles, width: int) -> Float:
    """Ones for every pair of models in one component, which removes the null directions."""
    fix = np.zeros((width, width))
    for part in components(battles.scores):
        fix[np.ix_(part, part)] = 1.0
    return fix


def _newton(battles: Battles, z: Float, penalty: Float) -> Float | None:
    """Fit all parameters; None if they run away, as they do where no maximum exists."""
    width = len(battles.models) + z.shape[1]
    parameters = np.zeros(width)
    fix = _fixed_level(battles, width)
    for _ in range(_MAX_STEPS):
        logits = _logits(battles, z, parameters)
        p = expit(logits)
        gradient = _design_product(battles, z, battles.total * (battles.score - p))
        hessian = _information(battles, z, battles.total * p * (1 - p)) + np.diag(penalty)
        try:
            step = np.linalg.solve(
                hessian + fix * np.trace(hessian) / width**2, gradient - penalty * parameters
            )
        except np.linalg.LinAlgError:
            return None
        longest = float(np.abs(step).max())
        parameters += step * min(1.0, _LONGEST_STEP / longest) if longest > 0 else 0.0
        if longest < _TOLERANCE:
            for part in components(battles.scores):
                parameters[part] -= parameters[part].mean()
            return parameters
        if float(np.abs(parameters[penalty == 0]).max(initial=0.0)) > _CERTAIN:
            return None
    return None


def _sandwich(battles: Battles, z: Float, parameters: Float, penalty: Float) -> Float:
    p = expit(_logits(battles, z, parameters))
    bread = _information(battles, z, battles.total * p * (1 - p)) + np.diag(penalty)
    inverse = np.linalg.pinv(bread, rcond=1e-12, hermitian=True)
    squares = battles.count * (battles.weight * (battles.score - p)) ** 2
    return np.asarray(inverse @ _information(battles, z, squares) @ inverse)
