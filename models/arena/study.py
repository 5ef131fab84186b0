"""Single trials behind the claims: each takes a generator and returns a few numbers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import stats

from models.arena.latency import Latencies
from models.arena.published import MEDIAN_AWARE, published
from models.arena.rigging import Attack, rig
from models.arena.sampler import Sampler, by_temperature, temperature_for, uniform
from models.arena.voters import Crowd, deal, uniform_chance, without_ties
from models.checks import Float
from models.ranking.bradley_terry import ELO, fit
from models.ranking.covariates import control
from models.ranking.uncertainty import bootstrap, standard_errors

Z95 = 1.959963984540054


@lru_cache(maxsize=1)
def samplers() -> tuple[float, Sampler, Sampler]:
    """Return the temperature that gives the reported median, with the uniform and this sampler."""
    latencies = published().latencies
    tau = temperature_for(latencies, MEDIAN_AWARE)
    return tau, uniform(latencies), by_temperature(latencies, tau)


def published_crowd(gamma: float = 0.0) -> Crowd:
    """Voters whose true strengths are the published scores."""
    score = published().score
    return Crowd((score - score.mean()) / ELO, gamma=gamma)


def waits(sampler: Sampler, count: int, rng: np.random.Generator) -> Float:
    """Seconds that voters wait for ``count`` dealt pairs; float64 (count,)."""
    model: Latencies = sampler.latencies
    top, bottom = sampler.draw(count, rng)
    first = model.mu[top] + model.s[top] * rng.standard_normal(count)
    second = model.mu[bottom] + model.s[bottom] * rng.standard_normal(count)
    return np.asarray(np.exp(np.maximum(first, second)))


def wait_trial(rng: np.random.Generator, count: int) -> Float:
    """Median waits of ``count`` battles, latency-aware and uniform."""
    _, even, aware = samplers()
    return np.array([np.median(waits(aware, count, rng)), np.median(waits(even, count, rng))])


def price_trial(rng: np.random.Generator, count: int) -> Float:
    """Mean standard errors (Elo) after ``count`` battles, latency-aware and uniform."""
    _, even, aware = samplers()
    crowd = published_crowd()
    found = []
    for sampler in (aware, even):
        battles = crowd.battles(*sampler.draw(count, rng), rng)
        found.append(ELO * standard_errors(battles, fit(battles)).mean())
    return np.array(found)


def refit_trial(rng: np.random.Generator) -> Float:
    """Correlations of the refitted with the published scores, and the largest gap, once.

    The win fractions move within their rounding; each model's share of the battles, and so the
    counts of pairs, are drawn between a half and twice the average.
    """
    board = published()
    m = len(board.models)
    wins = board.wins + rng.uniform(-0.005, 0.005, (m, m))
    often = 2.0 ** rng.uniform(-1, 1, m)
    scores = board.refit(often[:, None] * often[None, :], wins)
    return np.array(
        [
            np.corrcoef(scores, board.score)[0, 1],
            stats.spearmanr(scores, board.score).statistic,
            np.abs(scores - board.score).max(),
        ]
    )


def position_trial(rng: np.random.Generator, count: int, gamma: float) -> Float:
    """Rank correlation and slope against the truth, without and with gamma, and gamma itself."""
    crowd = published_crowd(gamma)
    battles = crowd.battles(*deal(len(crowd.theta), count, rng), rng)
    plain = fit(battles)
    full = control(battles)
    inside = float(full.low[0] <= gamma <= full.high[0])
    figures = [
        value
        for beta in (plain, full.beta)
        for value in (
            stats.spearmanr(beta, crowd.theta).statistic,
            float(beta @ crowd.theta / (crowd.theta @ crowd.theta)),
        )
    ]
    return np.array([*figures, full.effects[0], inside])


def recovery_trial(rng: np.random.Generator, models: int, count: int, ties: float) -> Float:
    """Root mean squared error of the strengths, corrected for ties, and their rank correlation."""
    theta = rng.normal(0.0, 0.6, models)
    crowd = Crowd(theta - theta.mean(), ties=ties)
    beta = without_ties(fit(crowd.battles(*deal(models, count, rng), rng)), ties)
    error = float(np.sqrt(np.mean((beta - crowd.theta) ** 2)))
    return np.array([error, stats.spearmanr(beta, crowd.theta).statistic])


def coverage_trial(rng: np.random.Generator, models: int, count: int, ties: float) -> Float:
    """Shares of the models whose 95 % intervals cover: sandwich, and bootstrap of 100 rounds."""
    theta = rng.normal(0.0, 0.6, models)
    crowd = Crowd(theta - theta.mean(), ties=ties)
    battles = crowd.battles(*deal(models, count, rng), rng)
    beta, target = fit(battles), crowd.target(uniform_chance(models))
    reach = Z95 * standard_errors(battles, beta)
    low, high = bootstrap(battles, 100, rng, start=beta).quantiles()
    return np.array(
        [np.mean(np.abs(beta - target) <= reach), np.mean((low <= target) & (target <= high))]
    )


def rigging_trial(
    rng: np.random.Generator, models: int, count: int, ranks: int, most: int
) -> Float:
    """Battles and votes needed to lift the middle model by ``ranks``: omnipresent, target only.

    Where ``most`` battles do not suffice, that number stands.
    """
    theta = rng.normal(0.0, 0.4, models)
    crowd = Crowd(theta - theta.mean())
    honest = crowd.battles(*deal(models, count, rng), rng)
    middle = int(np.argsort(-fit(honest))[models // 2])
    needed: list[float] = []
    for attack in (
        Attack(honest.models[middle], "omnipresent", batch=25),
        Attack(honest.models[middle], "target only", batch=25),
    ):
        goal = 0
        for state in rig(honest, crowd, attack, rng, most):
            goal = goal or max(1, state.rank - ranks)
            if state.rank <= goal:
                break
        needed += [state.dealt, state.cast]
    return np.array(needed)
