r"""Do the ranks depend on the group (language, kind of work)? Differences, and one test for all.

The test is the likelihood ratio of strengths of their own in each group against common ones. A
group's log-likelihood is its supremum, which exists even where the maximum does not: battles
between sets of models that never conceded to each other then count with chance 1. Half wins for
ties have less spread than the likelihood takes them for, so that with ties the test is cautious.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import ndtri

from models.checks import Float, check_alpha
from models.ranking.battles import Battles
from models.ranking.bradley_terry import fit, fit_scores, log_likelihood
from models.ranking.connectivity import components, groups, strongly_connected
from models.ranking.uncertainty import inverse_hessian, laplacian, residuals


@dataclass(frozen=True)
class Interaction:
    """Likelihood-ratio test of group-specific strengths against common ones.

    Attributes
    ----------
    statistic, df, p_value : twice the gain in log-likelihood, and its chi-square tail
    sparse : groups in which some models have no finite score, so that the tail is a rough guide
    """

    statistic: float
    df: int
    p_value: float
    sparse: tuple[str, ...]


def interaction(parts: Mapping[str, Battles]) -> Interaction:
    """Test whether the strengths differ between groups.

    Parameters
    ----------
    parts : battles of each group, all with the same list of models

    Raises
    ------
    ValueError
        If there are fewer than two groups with battles, their lists of models differ, or nothing
        can be compared.
    """
    used = _checked(parts)
    whole = sum(part.scores for part in used.values())
    gain = -supremum(np.asarray(whole))
    free = -_free(np.asarray(whole))
    sparse = []
    for name, part in used.items():
        gain += supremum(part.scores)
        free += _free(part.scores)
        if any(not strongly_connected(part.only(c).scores) for c in components(part.scores)):
            sparse.append(name)
    if free < 1:
        raise ValueError("No two models met in more than one group, so nothing can be compared.")
    statistic = max(0.0, 2 * gain)
    return Interaction(statistic, free, float(stats.chi2.sf(statistic, free)), tuple(sparse))


def supremum(scores: Float) -> float:
    """Log-likelihood at the maximum, or the limit that it approaches where there is none."""
    total = 0.0
    for part in groups(scores):
        if part.size > 1:
            inside = scores[np.ix_(part, part)]
            total += log_likelihood(inside, fit_scores(inside))
    return total


def _free(scores: Float) -> int:
    return sum(part.size - 1 for part in components(scores))


@dataclass(frozen=True, eq=False)
class Differences:
    """How far each model's strength in a group lies from its overall one.

    Attributes
    ----------
    models : as in the battles
    value, low, high : float64 (m,), natural-log scale, interval by influence values; NaN for models
        outside the group's largest component, and for all where the group has no finite scores
    """

    models: tuple[str, ...]
    value: Float
    low: Float
    high: Float


def differences(parts: Mapping[str, Battles], alpha: float = 0.05) -> dict[str, Differences]:
    """Compare each group's strengths with the overall ones, over the models that it shares.

    The group is a part of the whole, which the interval takes into account. Both sets of strengths
    have mean zero over the group's models.

    Raises
    ------
    ValueError
        As :func:`interaction`, or if the whole table has no finite scores.
    """
    used = _checked(parts)
    z = -float(ndtri(check_alpha(alpha) / 2))
    models = next(iter(used.values())).models
    whole = Battles(
        models,
        *(
            np.concatenate([getattr(part, name) for part in used.values()])
            for name in ("a", "b", "score", "count", "weight")
        ),
    )
    overall = fit(whole)
    spread, noise = inverse_hessian(whole, overall), residuals(whole, overall)
    outer = laplacian(whole, whole.count * (whole.weight * noise) ** 2)
    found = {}
    for name, part in used.items():
        nothing = np.full(len(models), np.nan)
        found[name] = Differences(models, nothing, nothing, nothing)
        shared = components(part.scores)[0]
        inner = part.only(shared)
        if not strongly_connected(inner.scores):
            continue
        centre = np.eye(shared.size) - 1 / shared.size
        own = fit(inner)
        value = own - centre @ overall[shared]
        # Influence of a battle: own d r - overall d r0 inside the group, - overall d r0 outside.
        pick = np.zeros((shared.size, len(models)))
        pick[np.arange(shared.size), shared] = 1.0
        to_own = centre @ inverse_hessian(inner, own) @ pick
        to_all = centre @ spread[shared]
        inside = np.zeros(len(models))
        inside[shared] = own
        r, r0 = residuals(part, inside), residuals(part, overall)
        in_group = np.isin(part.a, shared)
        squared = part.count * part.weight**2
        both = laplacian(part, squared * r * r0 * in_group)
        single = laplacian(part, squared * r**2 * in_group)
        cross = to_own @ both @ to_all.T
        variance = to_own @ single @ to_own.T - cross - cross.T + to_all @ outer @ to_all.T
        reach = z * np.sqrt(np.maximum(np.diag(variance), 0.0))
        values, low, high = nothing.copy(), nothing.copy(), nothing.copy()
        values[shared], low[shared], high[shared] = value, value - reach, value + reach
        found[name] = Differences(models, values, low, high)
    return found


def _checked(parts: Mapping[str, Battles]) -> dict[str, Battles]:
    used = {name: part for name, part in parts.items() if part.n}
    if len(used) < 2:
        raise ValueError(f"{len(used)} groups have battles, but at least 2 are needed.")
    if len({part.models for part in used.values()}) > 1:
        raise ValueError("All groups must list the same models.")
    return used
