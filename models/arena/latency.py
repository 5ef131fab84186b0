r"""How long the models take, and how long a pair takes: log-normal latencies and their maximum.

Symbols: L_i ~ LogNormal(mu_i, s_i), independent; both completions are shown at the same moment, so
that a voter waits for max(L_i, L_j), whose distribution function is F_i(t) F_j(t), and, with
r = sqrt(s_i^2 + s_j^2),

    E max = exp(mu_i + s_i^2/2) Phi((mu_i - mu_j + s_i^2)/r)
          + exp(mu_j + s_j^2/2) Phi((mu_j - mu_i + s_j^2)/r).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from models.checks import Float, check_same_length, check_sample

Index = npt.NDArray[np.int64]

LEAST_MEASURED = 5  # with fewer measurements the prior speaks
PRIOR_SPREAD = 0.5


@dataclass(frozen=True, eq=False)
class Latencies:
    """Log-normal latencies of m models.

    Attributes
    ----------
    models : names
    mu, s : float64 (m,), mean and standard deviation of the log seconds; s > 0
    """

    models: tuple[str, ...]
    mu: Float
    s: Float

    @property
    def medians(self) -> Float:
        """Median seconds of each model, float64 (m,)."""
        return np.asarray(np.exp(self.mu))

    @property
    def pairs(self) -> tuple[Index, Index]:
        """Indices of the m (m - 1) / 2 unordered pairs, in lexicographic order."""
        first, second = np.triu_indices(len(self.models), 1)
        return first.astype(np.int64), second.astype(np.int64)

    def chance(self, t: npt.ArrayLike) -> Float:
        """Chance that a model has answered within t seconds; float64 (..., m)."""
        seconds = np.asarray(t, dtype=np.float64)[..., None]
        with np.errstate(divide="ignore"):
            return np.asarray(ndtr((np.log(seconds) - self.mu) / self.s))

    def pair_chance(self, t: npt.ArrayLike) -> Float:
        """Chance that both models of a pair have answered; float64 (..., pairs)."""
        first, second = self.pairs
        alone = self.chance(t)
        return np.asarray(alone[..., first] * alone[..., second])

    def pair_mean(self) -> Float:
        """Mean seconds until both models of a pair have answered; float64 (pairs,)."""
        i, j = self.pairs
        r = np.hypot(self.s[i], self.s[j])
        gap = self.mu[i] - self.mu[j]
        slower_i = np.exp(self.mu[i] + self.s[i] ** 2 / 2) * ndtr((gap + self.s[i] ** 2) / r)
        slower_j = np.exp(self.mu[j] + self.s[j] ** 2 / 2) * ndtr((self.s[j] ** 2 - gap) / r)
        return np.asarray(slower_i + slower_j)


def from_medians(
    models: Sequence[str], medians: npt.ArrayLike, spread: float = PRIOR_SPREAD
) -> Latencies:
    """Latencies with given medians (seconds, > 0) and one common spread of the logs.

    Raises
    ------
    ValueError
        If a median or the spread is not positive, or names and medians do not pair up.
    """
    values = check_sample(medians, "medians", minimum=1)
    check_same_length(np.array(models, dtype=object), values, ("models", "medians"))
    if not (values > 0).all():
        where = int(np.argmin(values))
        raise ValueError(f"The median of {models[where]} is {values[where]:g} s, but must be > 0.")
    _check_spread(spread)
    return Latencies(tuple(models), np.log(values), np.full(values.size, float(spread)))


def fit_latencies(
    measured: Mapping[str, npt.ArrayLike], prior: Mapping[str, float] | None = None
) -> Latencies:
    """Fit each model's log-normal to its measured seconds.

    With fewer than 5 measurements the prior median is used, with spread 0.5; without a prior that
    is the median of those few. A spread below 0.001 (all alike) is taken for 0.001.

    Raises
    ------
    ValueError
        If a measurement is not positive and finite, or a model has neither any nor a prior.
    """
    mu, s = [], []
    for name, values in measured.items():
        seconds = check_sample(values, f"latencies of {name}", minimum=0)
        if not (seconds > 0).all():
            raise ValueError(f"A latency of {name} is {seconds.min():g} s, but must be > 0.")
        if seconds.size >= LEAST_MEASURED:
            logs = np.log(seconds)
            mu.append(float(logs.mean()))
            s.append(max(float(logs.std(ddof=1)), 1e-3))
            continue
        median = (prior or {}).get(name)
        if median is None and not seconds.size:
            raise ValueError(f"{name} has no measured latency, and no prior median was given.")
        mu.append(math.log(float(np.median(seconds)) if median is None else median))
        s.append(PRIOR_SPREAD)
    return Latencies(tuple(measured), np.array(mu), np.array(s))


def _check_spread(spread: float) -> None:
    if not 0 < spread < math.inf:
        raise ValueError(f"The spread of the log latencies is {spread:g}, but must be positive.")
