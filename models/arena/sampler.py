r"""Which pair to show: latency against coverage, with one temperature (our reading).

Over the unordered pairs, minimise sum p E - tau H(p); E is a pair's mean wait and H the entropy:

    p_ij = exp(-E_ij / tau) / sum exp(-E / tau),    then    p <- (1 - eps) p + eps / pairs.

tau has the unit seconds; tau -> infinity is uniform, tau -> 0 the fastest pair alone. The floor eps
keeps every pair possible. The arena's predicted median wait solves sum p_ij F_i(t) F_j(t) = 1/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from models.arena.latency import Index, Latencies
from models.checks import Float

_SHORTEST, _LONGEST = 1e-6, 1e3  # seconds between which the median is sought
_COLDEST, _HOTTEST = 1e-3, 1e4  # seconds between which a temperature is sought


@dataclass(frozen=True, eq=False)
class Sampler:
    """A distribution over the unordered pairs of the models.

    Attributes
    ----------
    latencies : of the models
    p : float64 (pairs,), in the order of ``latencies.pairs``
    """

    latencies: Latencies
    p: Float

    def __post_init__(self) -> None:
        """Raise ValueError unless p is a distribution over the pairs."""
        count = self.latencies.pairs[0].size
        if self.p.shape != (count,) or (self.p < 0).any() or abs(self.p.sum() - 1) > 1e-9:
            raise ValueError(f"p must be {count} chances that sum to 1, one for each pair.")

    @property
    def median_wait(self) -> float:
        """Predicted median seconds until both completions are there."""
        return self.wait_quantile(0.5)

    def wait_quantile(self, level: float) -> float:
        """Seconds within which a share ``level`` of the pairs is complete."""
        if not 0 < level < 1:
            raise ValueError(f"level is {level:g}, but must lie strictly between 0 and 1.")

        def excess(log_t: float) -> float:
            return float(self.latencies.pair_chance(math.exp(log_t)) @ self.p) - level

        low, high = math.log(_SHORTEST), math.log(_LONGEST)
        if excess(low) > 0 or excess(high) < 0:
            raise ValueError(
                f"The predicted wait lies outside {_SHORTEST:g} to {_LONGEST:g} s; check that the "
                "latencies are in seconds."
            )
        return math.exp(float(brentq(excess, low, high, xtol=1e-12)))

    @property
    def mean_wait(self) -> float:
        """Mean seconds until both completions are there."""
        return float(self.latencies.pair_mean() @ self.p)

    @property
    def entropy(self) -> float:
        """Entropy in nats."""
        used = self.p[self.p > 0]
        return float(-(used @ np.log(used)))

    @property
    def coverage(self) -> float:
        """Entropy over that of the uniform distribution, in [0, 1]; 1 for a single pair."""
        return self.entropy / math.log(self.p.size) if self.p.size > 1 else 1.0

    @property
    def model_shares(self) -> Float:
        """Share of each model among all completions shown; float64 (m,), sums to 1."""
        i, j = self.latencies.pairs
        m = len(self.latencies.models)
        return np.asarray((np.bincount(i, self.p, m) + np.bincount(j, self.p, m)) / 2)

    def battles_for(self, k: int) -> float:
        """Battles until every pair is expected at least k times; infinite if one never comes."""
        rarest = float(self.p.min())
        return k / rarest if rarest > 0 else math.inf

    def draw(self, count: int, rng: np.random.Generator) -> tuple[Index, Index]:
        """Draw pairs and flip a fair coin for the order: indices of the top and bottom models."""
        i, j = self.latencies.pairs
        pair = rng.choice(self.p.size, size=count, p=self.p)
        swap = rng.random(count) < 0.5
        return np.where(swap, j[pair], i[pair]), np.where(swap, i[pair], j[pair])


def by_temperature(latencies: Latencies, tau: float, floor: float = 0.0) -> Sampler:
    """Pairs at temperature ``tau`` > 0 seconds, a share ``floor`` in [0, 1] of them uniform.

    Raises
    ------
    ValueError
        For a temperature or floor out of range, or fewer than two models.
    """
    if not tau > 0:
        raise ValueError(f"The temperature is {tau:g} s, but must be positive.")
    if not 0 <= floor <= 1:
        raise ValueError(f"The floor is {floor:g}, but must lie in [0, 1].")
    wait = _pair_mean(latencies)
    weight = np.exp(-(wait - wait.min()) / tau)
    return Sampler(latencies, (1 - floor) * weight / weight.sum() + floor / wait.size)


def uniform(latencies: Latencies) -> Sampler:
    """All pairs alike, the arena without attention to latency."""
    return by_temperature(latencies, math.inf)


def fastest(latencies: Latencies) -> Sampler:
    """Return the limit tau -> 0: the pair with the shortest mean wait, and no other."""
    p = np.zeros(latencies.pairs[0].size)
    p[np.argmin(_pair_mean(latencies))] = 1.0
    return Sampler(latencies, p)


def by_variance(latencies: Latencies, games: npt.ArrayLike, wins: npt.ArrayLike) -> Sampler:
    """Deal where the next battle narrows a pair's win rate most, as chat arenas are said to.

    The weight of a pair is sqrt(v/n) - sqrt(v/(n+1)), v the variance of its outcome with one win
    for either side added. The formula is as remembered, not verified.

    Parameters
    ----------
    games, wins : float64 (pairs,), battles of each pair, and score of its first model in them
    """
    n, won = np.asarray(games, dtype=np.float64) + 2, np.asarray(wins, dtype=np.float64) + 1
    share = won / n
    v = share * (1 - share)
    weight = np.sqrt(v / n) - np.sqrt(v / (n + 1))
    return Sampler(latencies, weight / weight.sum())


def temperature_for(latencies: Latencies, median: float, floor: float = 0.0) -> float:
    """Return the temperature whose predicted median wait is ``median`` seconds.

    Raises
    ------
    ValueError
        If no temperature gives it, with the medians that can be reached.
    """

    def excess(log_tau: float) -> float:
        return by_temperature(latencies, math.exp(log_tau), floor).median_wait - median

    low, high = math.log(_COLDEST), math.log(_HOTTEST)
    if excess(low) > 0 or excess(high) < 0:
        raise ValueError(
            f"A median wait of {median:g} s is out of reach: it must lie between "
            f"{excess(low) + median:.3g} and {excess(high) + median:.3g} s."
        )
    return math.exp(float(brentq(excess, low, high, xtol=1e-10)))


def _pair_mean(latencies: Latencies) -> Float:
    if len(latencies.models) < 2:
        raise ValueError(
            f"{len(latencies.models)} models are too few for a pair: at least 2 are needed."
        )
    return latencies.pair_mean()
