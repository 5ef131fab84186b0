"""Feynman-Kac potentials along each lineage, in logarithms.

Symbols: s = lambda r, the scaled reward of a particle at a scheduled step; m the statistic that its
lineage carries; A the sum of its log potentials so far.

    difference   log G = s - m,       m <- s
    max          log G = max(s, m),   m <- max(s, m), from -inf
    sum          log G = s + m,       m <- s + m
    current      log G = s
    none         log G = 0
    exact        difference, with s = log V_t(x_t), the log of E[exp(lambda r(x_0)) | x_t]
    at the end   log G = lambda r(x_0) - A, so that A = lambda r(x_0) for every potential

References
----------
R. Singhal et al., "A General Framework for Inference-time Scaling and Steering of Diffusion
Models", ICML 2025, Section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from models.checks import Float, check_choice
from models.steering.resampling import Index

Potential = Literal["difference", "max", "sum", "current", "none", "exact"]


class Weighed(NamedTuple):
    """Log potentials (k,) of one scheduled step, and the lineages after it."""

    log_potential: Float
    lineages: Lineages


@dataclass(frozen=True)
class Lineages:
    """What k lineages carry along: ``statistic`` m and ``accumulated`` A, float64 (k,)."""

    potential: Potential
    statistic: Float
    accumulated: Float

    def weigh(self, scaled: Float, *, terminal: bool = False) -> Weighed:
        """Return this step's log potentials from the scaled rewards s (k,).

        A particle whose s is -inf (a reward that is no number) has weight 0 from then on.
        """
        statistic = self.statistic
        match self.potential:
            case "difference" | "exact":
                alive = np.where(np.isfinite(statistic), statistic, 0.0)
                log_g, statistic = scaled - alive, scaled
            case "max":
                log_g = statistic = np.maximum(scaled, statistic)
            case "sum":
                log_g = statistic = scaled + statistic
            case "current":
                log_g = scaled
            case _:
                log_g = np.zeros_like(scaled)
        if terminal:
            alive = np.where(np.isfinite(self.accumulated), self.accumulated, 0.0)
            log_g = scaled - alive
        log_g = np.where(np.isneginf(scaled) | np.isneginf(self.accumulated), -np.inf, log_g)
        return Weighed(
            log_g,
            replace(self, statistic=statistic, accumulated=self.accumulated + log_g),
        )

    def follow(self, parents: Index) -> Lineages:
        """Return the lineages of the chosen parents."""
        return replace(
            self, statistic=self.statistic[parents], accumulated=self.accumulated[parents]
        )


def start(potential: Potential, k: int) -> Lineages:
    """Return k fresh lineages.

    Raises
    ------
    ValueError
        If the potential is unknown.
    """
    check_choice(potential, Potential, "potential")
    # From 0, max would ignore every negative reward; from -inf a constant added to the reward
    # changes no particle.
    first = -np.inf if potential == "max" else 0.0
    return Lineages(potential, np.full(k, first), np.zeros(k))
