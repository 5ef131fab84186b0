r"""Rewards on the plane whose tilted law is known: p(x) exp(lam r(x)) / Z over a mixture.

Each reward knows log E[exp(lam r(x))] of x under one Gaussian N(m, S), its "log moment" g. Over a
mixture that gives, with the posterior N(m_k, P_k) of :mod:`models.diffusion.mixtures`,

    log Z        = logsumexp_k(log w_k + g(mu_k, S_k))
    log V_t(x_t) = logsumexp_k(log rho_k(x_t) + g(m_k(x_t), P_k)),   V_t = E[exp(lam r(x_0)) | x_t]
    w'_k         = w_k exp(g(mu_k, S_k)) / Z,   the tilted components' weights

The linear and the quadratic reward keep the mixture Gaussian, which :func:`tilt` returns. Targets
of the others are drawn by rejection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from models.diffusion.mixtures import Mixture, Noised, make_mixture
from models.torchrun import torch

_BATCH = 20_000
_MAX_DRAWS = 4_000_000


class PlaneReward(Protocol):
    """A reward of points (n, d) with a known upper bound on exp(lam r) where it is not Gaussian."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return the rewards (n,) of points (n, d)."""
        ...


class Solvable(PlaneReward, Protocol):
    """A reward with a closed log moment."""

    def log_moment(self, m: torch.Tensor, s: torch.Tensor, lam: float) -> torch.Tensor:
        """Return log E exp(lam r(x)) for x ~ N(m, s): m (..., K, d), s (K, d, d) -> (..., K)."""
        ...


@dataclass(frozen=True, eq=False)
class Linear:
    """The reward a.x, with a of shape (d,)."""

    a: torch.Tensor

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return the rewards (n,) of points (n, d)."""
        return x @ self.a

    def log_moment(self, m: torch.Tensor, s: torch.Tensor, lam: float) -> torch.Tensor:
        """Return lam a.m + lam^2 a'Sa / 2."""
        return lam * (m @ self.a) + lam**2 / 2 * torch.einsum("i,kij,j->k", self.a, s, self.a)


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The reward -(x - c)'A(x - c) / 2, with c (d,) and A (d, d) positive semidefinite."""

    a: torch.Tensor
    c: torch.Tensor

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return the rewards (n,) of points (n, d)."""
        away = x - self.c
        return -torch.einsum("ni,ij,nj->n", away, self.a, away) / 2

    def log_moment(self, m: torch.Tensor, s: torch.Tensor, lam: float) -> torch.Tensor:
        """Return -(logdet(I + lam S A) + lam (m - c)'A(I + lam S A)^-1(m - c)) / 2."""
        widened = torch.eye(len(self.c), dtype=torch.float64) + lam * s @ self.a
        away = m - self.c
        form = self.a @ torch.linalg.inv(widened)
        quad = torch.einsum("...ki,kij,...kj->...k", away, form, away)
        log_det: torch.Tensor = torch.linalg.slogdet(widened).logabsdet
        return -(log_det + lam * quad) / 2


@dataclass(frozen=True, eq=False)
class HalfPlane:
    """The indicator of a.x >= b, a reward without a gradient."""

    a: torch.Tensor
    b: float

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return the rewards (n,) of points (n, d)."""
        return (x @ self.a >= self.b).double()

    def log_moment(self, m: torch.Tensor, s: torch.Tensor, lam: float) -> torch.Tensor:
        """Return log(1 - P + exp(lam) P), P = P(a.x >= b)."""
        # With no noise left the spread is 0, and the indicator itself must come out.
        spread = torch.einsum("i,kij,j->k", self.a, s, self.a).clamp_min(1e-300).sqrt()
        z = (m @ self.a - self.b) / spread
        inside = torch.special.log_ndtr(z)
        outside = torch.special.log_ndtr(-z)
        return torch.logaddexp(outside, lam + inside)


@dataclass(frozen=True, eq=False)
class InComponent:
    """The indicator that component k is the likeliest origin of x; it has no closed log moment."""

    mixture: Mixture
    k: int

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return the rewards (n,) of points (n, d)."""
        return (self.mixture.noised(1.0).log_responsibilities(x).argmax(1) == self.k).double()


def log_z(mixture: Mixture, reward: Solvable, lam: float) -> float:
    """Return log Z = log E exp(lam r(x)) over the mixture."""
    g = reward.log_moment(mixture.means, mixture.covariances, lam)
    return float(torch.logsumexp(mixture.weights.log() + g, dim=0))


def log_value(noised: Noised, reward: Solvable, x: torch.Tensor, lam: float) -> torch.Tensor:
    """Return log V_t(x) = log E[exp(lam r(x_0)) | x_t = x], shape (n,)."""
    g = reward.log_moment(noised.posterior_means(x), noised.posterior_covariances, lam)
    return torch.logsumexp(noised.log_responsibilities(x) + g, dim=1)


def tilt(mixture: Mixture, reward: Linear | Quadratic, lam: float) -> Mixture:
    """Return the tilted law, a mixture again."""
    mu, s = mixture.means, mixture.covariances
    logits = mixture.weights.log() + reward.log_moment(mu, s, lam)
    weights = torch.softmax(logits, dim=0)
    if isinstance(reward, Linear):
        means, covariances = mu + lam * s @ reward.a, s
    else:
        widened = torch.eye(len(reward.c), dtype=torch.float64) + lam * s @ reward.a
        covariances = torch.linalg.solve(widened, s)
        covariances = (covariances + covariances.mT) / 2
        pull = torch.linalg.solve(s, mu.unsqueeze(-1)).squeeze(-1) + lam * reward.a @ reward.c
        means = torch.einsum("kij,kj->ki", covariances, pull)
    # A weight may underflow to 0, which a mixture refuses; it then counts for nothing anyway.
    weights = weights.clamp_min(1e-300)
    return make_mixture(weights / weights.sum(), means, covariances)


def sample_tilted(
    mixture: Mixture, reward: PlaneReward, lam: float, n: int, rng: np.random.Generator
) -> torch.Tensor:
    """Draw n points of the tilted law, shape (n, d): exactly, or by rejection from the mixture.

    Rejection takes the reward's maximum to be 1, as it is for the indicators.

    Raises
    ------
    ValueError
        If the tilted law is too rare under the mixture to be drawn by rejection.
    """
    if isinstance(reward, Linear | Quadratic):
        return tilt(mixture, reward, lam).sample(n, rng)
    kept: list[npt.NDArray[np.float64]] = []
    count = drawn = 0
    while count < n:
        if drawn >= _MAX_DRAWS:
            raise ValueError(
                f"Only {count} of {drawn} draws have the reward that lambda = {lam:g} asks for, "
                f"too few for {n} exact ones: choose a smaller lambda or a commoner reward."
            )
        x = mixture.sample(_BATCH, rng)
        accept = rng.random(_BATCH) < torch.exp(lam * (reward(x) - 1)).numpy()
        kept.append(x.numpy()[accept])
        count, drawn = count + int(accept.sum()), drawn + _BATCH
    return torch.from_numpy(np.concatenate(kept)[:n])
