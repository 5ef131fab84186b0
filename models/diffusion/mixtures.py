r"""Gaussian mixtures under the forward noising of a diffusion model, in closed form.

Symbols: the mixture is sum_k w_k N(mu_k, S_k) in d dimensions and x_t = sqrt(a) x_0 +
sqrt(1 - a) eps with a the signal left (alpha_bar). Then

    x_t         ~ sum_k w_k N(sqrt(a) mu_k, C_k),   C_k = a S_k + (1 - a) I
    rho_k(x_t)  = P(component k | x_t)
    x_0 | x_t   ~ sum_k rho_k N(m_k, P_k),   m_k = mu_k + sqrt(a) S_k C_k^-1 (x_t - sqrt(a) mu_k),
                                             P_k = S_k - a S_k C_k^-1 S_k
    score(x_t)  = - sum_k rho_k C_k^-1 (x_t - sqrt(a) mu_k),   eps = -sqrt(1 - a) score

All tensors are float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from models.torchrun import torch


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture of Gaussians; build it with :func:`make_mixture`, which checks it.

    Attributes
    ----------
    weights : float64 (K,), positive, summing to 1
    means : float64 (K, d)
    covariances : float64 (K, d, d), positive definite
    """

    weights: torch.Tensor
    means: torch.Tensor
    covariances: torch.Tensor

    @property
    def dimension(self) -> int:
        """The dimension d."""
        return self.means.shape[1]

    def noised(self, alpha_bar: float) -> Noised:
        """Return the law of x_t where ``alpha_bar`` in [0, 1] of the signal is left."""
        if not 0.0 <= alpha_bar <= 1.0:
            raise ValueError(f"alpha_bar is {alpha_bar:g}, but must lie between 0 and 1.")
        return Noised(self, alpha_bar)

    def log_density(self, x: torch.Tensor) -> torch.Tensor:
        """Return log p_0(x), shape (n,), of points (n, d)."""
        return self.noised(1.0).log_density(x)

    def component_shares(self, x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Return each component's share (K,) of points (n, d) with normalised weights (n,)."""
        return weights @ self.noised(1.0).responsibilities(x)

    def sample(self, n: int, rng: np.random.Generator) -> torch.Tensor:
        """Draw n points, shape (n, d)."""
        which = rng.choice(len(self.weights), size=n, p=self.weights.numpy())
        white = torch.from_numpy(rng.standard_normal((n, self.dimension)))
        roots = torch.linalg.cholesky(self.covariances)[which]
        return self.means[which] + torch.einsum("nij,nj->ni", roots, white)


@dataclass(frozen=True, eq=False)
class Noised:
    """A mixture seen through noise: density, score and the posterior of the clean point."""

    mixture: Mixture
    alpha_bar: float

    @cached_property
    def _centres(self) -> torch.Tensor:
        return math.sqrt(self.alpha_bar) * self.mixture.means

    @cached_property
    def _precisions(self) -> torch.Tensor:
        eye = torch.eye(self.mixture.dimension, dtype=torch.float64)
        noisy = self.alpha_bar * self.mixture.covariances + (1 - self.alpha_bar) * eye
        return torch.Tensor(torch.linalg.inv(noisy))

    @cached_property
    def _constants(self) -> torch.Tensor:
        d = self.mixture.dimension
        half: torch.Tensor = torch.linalg.slogdet(self._precisions).logabsdet / 2
        return self.mixture.weights.log() + half - d / 2 * math.log(2 * math.pi)

    @cached_property
    def _gains(self) -> torch.Tensor:
        return math.sqrt(self.alpha_bar) * self.mixture.covariances @ self._precisions

    @cached_property
    def posterior_covariances(self) -> torch.Tensor:
        """Covariances (K, d, d) of x_0 given x_t and the component; they do not depend on x_t."""
        s = self.mixture.covariances
        return s - math.sqrt(self.alpha_bar) * self._gains @ s

    def _look(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Deviations (n, K, d), the same times precision, and log w_k N_k(x) (n, K)."""
        away = x.unsqueeze(1) - self._centres
        pulled = torch.einsum("kij,nkj->nki", self._precisions, away)
        return away, pulled, self._constants - (away * pulled).sum(-1) / 2

    def log_density(self, x: torch.Tensor) -> torch.Tensor:
        """Return log p_t(x), shape (n,)."""
        return torch.logsumexp(self._look(x)[2], dim=1)

    def log_responsibilities(self, x: torch.Tensor) -> torch.Tensor:
        """Return log P(component | x_t = x), shape (n, K)."""
        return torch.log_softmax(self._look(x)[2], dim=1)

    def responsibilities(self, x: torch.Tensor) -> torch.Tensor:
        """Return P(component | x_t = x), shape (n, K)."""
        return self.log_responsibilities(x).exp()

    def score(self, x: torch.Tensor) -> torch.Tensor:
        """Return the gradient of log p_t at x, shape (n, d)."""
        _, pulled, joint = self._look(x)
        return -torch.einsum("nk,nki->ni", torch.softmax(joint, dim=1), pulled)

    def posterior_means(self, x: torch.Tensor) -> torch.Tensor:
        """Return E[x_0 | x_t = x, component], shape (n, K, d)."""
        away = x.unsqueeze(1) - self._centres
        return self.mixture.means + torch.einsum("kij,nkj->nki", self._gains, away)

    def denoise(self, x: torch.Tensor) -> torch.Tensor:
        """Return E[x_0 | x_t = x], shape (n, d)."""
        return torch.einsum("nk,nki->ni", self.responsibilities(x), self.posterior_means(x))

    def sample_clean(self, x: torch.Tensor, many: int, rng: np.random.Generator) -> torch.Tensor:
        """Draw x_0 given x_t = x, ``many`` times a point, shape (n, many, d)."""
        n, d = x.shape
        shares = self.responsibilities(x).cumsum(1)
        picks = torch.from_numpy(rng.random((n, many))) * shares[:, -1:]
        which = torch.searchsorted(shares, picks).clamp_max(shares.shape[1] - 1)
        # The covariance is exactly 0 where no noise is left, so that it has no Cholesky factor.
        values, vectors = torch.linalg.eigh(self.posterior_covariances)
        roots = vectors * values.clamp_min(0).sqrt().unsqueeze(1)
        white = torch.from_numpy(rng.standard_normal((n, many, d)))
        spread = torch.einsum("nmij,nmj->nmi", roots[which], white)
        rows = torch.arange(n).unsqueeze(1)
        return self.posterior_means(x)[rows, which] + spread


def make_mixture(weights: object, means: object, covariances: object) -> Mixture:
    """Return a checked mixture from array-likes (K,), (K, d) and (K, d, d).

    Raises
    ------
    ValueError
        If shapes do not fit, a number is not finite, a weight is not positive, the weights do not
        sum to 1, or a covariance is not symmetric and positive definite.
    """
    w, m, s = (_float64(part) for part in (weights, means, covariances))
    if w.ndim != 1 or m.ndim != 2 or m.shape[0] != len(w) or s.shape != (*m.shape, m.shape[1]):
        raise ValueError(
            f"A mixture needs weights (K,), means (K, d) and covariances (K, d, d), but their "
            f"shapes are {tuple(w.shape)}, {tuple(m.shape)} and {tuple(s.shape)}."
        )
    if not all(bool(torch.isfinite(part).all()) for part in (w, m, s)):
        raise ValueError("A mixture's weights, means and covariances must be finite numbers.")
    if float(w.min()) <= 0 or abs(float(w.sum()) - 1) > 1e-9:
        raise ValueError(
            f"The mixture's weights are {w.tolist()}, but must be positive and sum to 1."
        )
    for k in range(len(w)):
        symmetric = torch.allclose(s[k], s[k].T, atol=1e-12)
        if not symmetric or float(torch.linalg.eigvalsh(s[k])[0]) <= 0:
            raise ValueError(
                f"The covariance of component {k} is {s[k].tolist()}, but must be symmetric and "
                "positive definite."
            )
    return Mixture(w, m, s)


def _float64(values: object) -> torch.Tensor:
    if isinstance(values, torch.Tensor):
        return values.detach().double().cpu().clone()
    return torch.from_numpy(np.array(values, dtype=np.float64))
