r"""Quantile-based distributional measures (QuEst, Section 2).

A measure weighs the quantile function of a metric,
:math:`Q_\psi(F) = \int_0^1 \psi(p) F^{-1}(p)\,dp` with :math:`\int\psi = 1`, so a choice of
:math:`\psi` says which part of the distribution counts: all of it (mean), the worst share (CVaR),
a population segment (interval), or a single point (quantile).  All computations need only the
antiderivative :math:`\Psi`, except for the quantile, whose weight is a point mass.

References
----------
Deng, Zollo, Eyre, Inamdar, Madras, Zemel: QuEst, ICML 2025, Section 2 and Table 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from models.checks import Float, check_unit_open


@dataclass(frozen=True)
class Quantile:
    """The ``level``-quantile (value at risk): the value that a share ``level`` stays below."""

    level: float

    def __post_init__(self) -> None:
        """Refuse values outside the allowed range."""
        check_unit_open(self.level, "The quantile's level")

    @property
    def name(self) -> str:
        """Short name for tables and axes."""
        return "median" if self.level == 0.5 else f"{_percent(self.level)} quantile"

    @property
    def sentence(self) -> str:
        """What the number means, in plain words."""
        return f"the value that {_percent(self.level)} of the population stays below"

    @property
    def effective_share(self) -> float:
        """Share of the sample that lies beyond the quantile on its shorter side."""
        return min(self.level, 1.0 - self.level)


@dataclass(frozen=True)
class StepWeight:
    """A piecewise-constant weight: ``heights[k]`` between ``edges[k]`` and ``edges[k + 1]``.

    Heights are stored as given and normalised to integrate to one.  Negative heights (for example
    a difference of two segments) are an extension: the paper asks for a non-negative weight.
    """

    edges: tuple[float, ...]
    heights: tuple[float, ...]
    name: str
    sentence: str

    def __post_init__(self) -> None:
        """Refuse values outside the allowed range."""
        if len(self.edges) != len(self.heights) + 1:
            raise ValueError(
                f"{len(self.heights)} step weights need {len(self.heights) + 1} edges, "
                f"but {len(self.edges)} were given."
            )
        if any(not math.isfinite(v) for v in (*self.edges, *self.heights)):
            raise ValueError("Step edges and weights must all be finite numbers.")
        if self.edges[0] < 0.0 or self.edges[-1] > 1.0:
            raise ValueError(
                f"Step edges run from {self.edges[0]:g} to {self.edges[-1]:g}, "
                "but must stay between 0 and 1."
            )
        for left, right in pairwise(self.edges):
            if not left < right:
                raise ValueError(
                    f"Step edges must increase, but {left:g} is followed by {right:g}."
                )
        if abs(self._mass) < 1e-12:
            raise ValueError(
                "The step weights integrate to 0, so they describe no average; change a weight."
            )

    @property
    def _mass(self) -> float:
        return float(np.dot(np.diff(self.edges), self.heights))

    def antiderivative(self, p: npt.ArrayLike) -> Float:
        """Psi(p), rising from 0 at p = 0 to 1 at p = 1; arguments outside [0, 1] are clipped."""
        steps = np.diff(self.edges) * np.asarray(self.heights)
        levels = np.concatenate([[0.0], np.cumsum(steps)]) / self._mass
        return np.asarray(
            np.interp(np.asarray(p, dtype=np.float64), self.edges, levels), dtype=np.float64
        )

    @property
    def effective_share(self) -> float:
        """1 / int psi^2: the share of a sample that an equally precise plain mean would use."""
        squares = float(np.dot(np.diff(self.edges), np.square(self.heights)))
        return self._mass**2 / squares

    @property
    def signed(self) -> bool:
        """Whether a weight is negative, which the paper's theory does not cover."""
        return any(height / self._mass < 0 for height in self.heights)


@dataclass(frozen=True)
class ExponentialWeight:
    """The smooth spectral weight psi(p) ~ exp(-rate p): a positive rate stresses low values."""

    rate: float

    def __post_init__(self) -> None:
        """Refuse values outside the allowed range."""
        if not 0.0 < abs(self.rate) <= 50.0:
            raise ValueError(
                f"The spectral rate is {self.rate:g}, but must lie in [-50, 50] and not be 0."
            )

    @property
    def name(self) -> str:
        """Short name for tables and axes."""
        return f"spectral mean (rate {self.rate:g})"

    @property
    def sentence(self) -> str:
        """What the number means, in plain words."""
        side = "low" if self.rate > 0 else "high"
        return f"an average that stresses {side} values smoothly, by exp({-self.rate:g} p)"

    def antiderivative(self, p: npt.ArrayLike) -> Float:
        """Psi(p) = (1 - exp(-k p)) / (1 - exp(-k)); arguments outside [0, 1] are clipped."""
        x = np.clip(np.asarray(p, dtype=np.float64), 0.0, 1.0)
        return np.asarray(np.expm1(-self.rate * x) / math.expm1(-self.rate), dtype=np.float64)

    @property
    def effective_share(self) -> float:
        """1 / int psi^2: the share of a sample that an equally precise plain mean would use."""
        k = self.rate
        return 2.0 * math.expm1(-k) ** 2 / (k * -math.expm1(-2.0 * k))

    @property
    def signed(self) -> bool:
        """An exponential is never negative."""
        return False


Weight = StepWeight | ExponentialWeight
Measure = Weight | Quantile


class Integrable(Protocol):
    """Any function on [0, 1] that is known through its antiderivative."""

    def antiderivative(self, p: npt.ArrayLike) -> Float:
        """Return the integral from 0 to p."""
        ...


def mean() -> StepWeight:
    """Return the plain average, psi = 1."""
    return StepWeight((0.0, 1.0), (1.0,), "mean", "the plain average")


def cvar_upper(level: float) -> StepWeight:
    """Mean of the highest share ``1 - level`` (upper CVaR), psi = 1/(1-b) on [b, 1]."""
    b = check_unit_open(level, "The CVaR level")
    share = _percent(1 - b)
    return StepWeight(
        (b, 1.0), (1.0,), f"mean of the top {share}", f"the mean of the highest {share}"
    )


def cvar_lower(level: float) -> StepWeight:
    """Mean of the lowest share ``level`` (lower CVaR), psi = 1/b on [0, b]."""
    b = check_unit_open(level, "The lower CVaR level")
    share = _percent(b)
    return StepWeight(
        (0.0, b), (1.0,), f"mean of the lowest {share}", f"the mean of the lowest {share}"
    )


def interval(low: float, high: float) -> StepWeight:
    """Mean of the segment between the ``low`` and ``high`` quantile levels (interval-VaR).

    Raises
    ------
    ValueError
        Unless 0 <= low < high <= 1.
    """
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(
            f"The segment runs from {low:g} to {high:g}, but must satisfy 0 <= low < high <= 1."
        )
    text = f"{_percent(low)} to {_percent(high)}"
    return StepWeight(
        (float(low), float(high)),
        (1.0,),
        f"mean of the segment {text}",
        f"the mean of those between the {_percent(low)} and {_percent(high)} quantiles",
    )


def steps(edges: tuple[float, ...], heights: tuple[float, ...]) -> StepWeight:
    """Return any piecewise-constant weight, normalised to integrate to one."""
    return StepWeight(
        tuple(map(float, edges)),
        tuple(map(float, heights)),
        "custom weighted mean",
        "a weighted mean of the segments you chose",
    )


def effective_count(measure: Measure, n: int) -> float:
    """How many of ``n`` labels carry the measure: n(1-b) for CVaR, n(b2-b1) for a segment."""
    return n * measure.effective_share


def check_enough(measure: Measure, n: int) -> None:
    """Refuse a measure that rests on less than one label.

    Raises
    ------
    ValueError
        Naming the smallest usable number of labels.
    """
    if effective_count(measure, n) < 1.0 - 1e-9:
        smallest = math.ceil(1.0 / measure.effective_share - 1e-9)
        raise ValueError(
            f"The {measure.name} rests on {effective_count(measure, n):.2g} of {n} labels; "
            f"at least {smallest} labels are needed."
        )


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
