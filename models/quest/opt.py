r"""QuEst-Opt: a free weight on the predictions (QuEst, Section 5.2, Theorem 5.1 and App. B.1).

Q = Q_psi(F_n) + sum_k xi_k [Q_{phi_k}(Ft_N^u) - Q_{phi_k}(Ft_n)], with xi minimising the convex
(1 + r) xi'S xi + sigma2_labels - 2 xi'eta + (ridge/2)|xi|^2, that is
xi = ((1 + r) S + ridge/2 I)^{-1} eta.  QuEst itself is the one-element basis {psi}.

The paper's basis is 30 sinusoids whose frequencies it does not give; ours are those of a positional
embedding.  Indicator bins are offered too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.checks import Float
from models.quest.estimate import Interval, Parts, Variance, check_variance, normal_interval
from models.quest.influence import plug_in, weight_influence
from models.quest.measures import Integrable

SMALLEST_N = 200


@dataclass(frozen=True)
class Sinusoid:
    """The basis function sin(w p) or cos(w p), through its antiderivative."""

    frequency: float
    cosine: bool

    def antiderivative(self, p: npt.ArrayLike) -> Float:
        """(1 - cos(w p))/w for the sine, sin(w p)/w for the cosine; p is clipped to [0, 1]."""
        x = self.frequency * np.clip(np.asarray(p, dtype=np.float64), 0.0, 1.0)
        return np.asarray((np.sin(x) if self.cosine else 1.0 - np.cos(x)) / self.frequency)


@dataclass(frozen=True)
class Bin:
    """Indicator of [low, high), height 1 (not normalised), through its antiderivative."""

    low: float
    high: float

    def antiderivative(self, p: npt.ArrayLike) -> Float:
        """Length of [low, p] within the bin."""
        return np.clip(np.asarray(p, dtype=np.float64), self.low, self.high) - self.low


def bins(k: int = 5) -> list[Bin]:
    """Return k equal indicator bins on [0, 1]."""
    if k < 1:
        raise ValueError(f"QuEst-Opt needs at least 1 bin, but got {k}.")
    return [Bin(i / k, (i + 1) / k) for i in range(k)]


def sinusoids() -> list[Sinusoid]:
    """Our reading of the paper's 30 sinusoids: w_k = 10000^(-2k/30), k = 0..14, sine and cosine."""
    return [Sinusoid(10000 ** (-2 * k / 30), cosine) for k in range(15) for cosine in (False, True)]


@dataclass(frozen=True)
class OptResult:
    """QuEst-Opt's interval and the weights that it chose.

    Attributes
    ----------
    interval : Interval
    xi : float64 array, shape (K,)
    rho2 : float
        The variance estimate of sqrt(n) times the estimate; negative plug-in values are kept.
    """

    interval: Interval
    xi: Float
    rho2: float


def quest_opt(
    parts: Parts,
    predictions: Float,
    pool: Float,
    basis: Sequence[Integrable],
    *,
    reg: float = 0.1,
    variance: Variance = "split",
) -> OptResult:
    """QuEst-Opt on prepared parts.

    Parameters
    ----------
    parts : Parts
        Labels and measure; the prediction summaries inside are not used.
    predictions, pool : float64 arrays, shapes (n,) and (N,)
        Labelled and unlabelled predictions.
    basis : sequence of K functions with an antiderivative
    reg : float > 0
        Ridge relative to the mean diagonal: ridge = reg trace(S) / K.
    variance : "split" or "plug-in"

    Raises
    ------
    ValueError
        If the ridge is not positive or the variance is unknown.
    """
    check_variance(variance)
    if not (math.isfinite(reg) and reg > 0):
        raise ValueError(f"The ridge is {reg:g}, but must be a positive number.")
    order = np.argsort(predictions, kind="stable")
    labelled, unlabelled = predictions[order], np.sort(pool)
    b = np.empty((len(basis), parts.n))
    b[:, order] = [weight_influence(labelled, phi) for phi in basis]
    c = np.stack([weight_influence(unlabelled, phi) for phi in basis])
    shift = np.array([plug_in(unlabelled, phi) - plug_in(labelled, phi) for phi in basis])
    s = (c @ c.T) / pool.size
    eta = b @ parts.labels.influence / parts.n
    ridge = reg * float(np.trace(s)) / len(basis)
    quadratic = (1 + parts.ratio) * s + ridge / 2 * np.eye(len(basis))
    # Without spread among the predictions there is no ridge either, and they get no weight.
    xi = np.asarray(np.linalg.solve(quadratic, eta) if ridge > 0 else np.zeros_like(eta))
    noise = float(xi @ s @ xi)
    if variance == "split":
        rest = parts.labels.influence - xi @ b
        rho2 = float(np.mean(np.square(rest))) + parts.ratio * noise
    else:
        rho2 = (1 + parts.ratio) * noise + parts.labels.variance - 2 * float(xi @ eta)
    estimate = parts.labels.value + float(xi @ shift)
    interval = normal_interval("QuEst-Opt", estimate, rho2 / parts.n, parts.alpha, lam=math.nan)
    return OptResult(interval, xi, rho2)
