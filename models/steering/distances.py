"""How far weighted particles are from exact draws, and how different they are from each other."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata, wasserstein_distance

from models.checks import Float
from models.torchrun import torch

BANDWIDTHS = (2.0, 1.0, 0.5, 0.25)


def mmd2(x: torch.Tensor, weights: Float, y: torch.Tensor) -> float:
    """Squared maximum mean discrepancy of weighted points (n, d) and equal ones (m, d).

    The kernel is the mean of Gaussian ones, exp(-|x - y|^2 / (2 h^2)), with four bandwidths h. The
    V-statistic: never negative, and 0 only for equal samples.
    """
    w = torch.from_numpy(weights)
    v = torch.full((len(y),), 1 / len(y), dtype=torch.float64)
    return float(w @ _kernel(x, x) @ w - 2 * w @ _kernel(x, y) @ v) + _self_term(y)


def _kernel(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    # Each bandwidth is half the one before, so that its kernel is the fourth power of that one's.
    kernel = torch.cdist(x, y).square_().mul_(-1 / (2 * BANDWIDTHS[0] ** 2)).exp_()
    total = kernel.clone()
    for _ in BANDWIDTHS[1:]:
        total += kernel.square_().square_()
    return total.div_(len(BANDWIDTHS))


_SELF: dict[int, tuple[torch.Tensor, float]] = {}


def _self_term(y: torch.Tensor) -> float:
    # The exact draws are compared with again and again, and this term is the costly one.
    kept = _SELF.get(id(y))
    if kept is None or kept[0] is not y:
        _SELF.clear()
        _SELF[id(y)] = kept = (y, float(_kernel(y, y).mean()))
    return kept[1]


def sliced_w1(
    x: torch.Tensor, weights: Float, y: torch.Tensor, rng: np.random.Generator, slices: int = 50
) -> float:
    """Return the mean over random directions of the Wasserstein-1 distance of the projections."""
    directions = rng.standard_normal((slices, x.shape[1]))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    pairs = zip(directions @ x.numpy().T, directions @ y.numpy().T, strict=True)
    return float(np.mean([wasserstein_distance(p, q, weights) for p, q in pairs]))


def diversity(x: torch.Tensor) -> float:
    """Return the mean distance of two different particles of (k, *shape); 0 for one particle."""
    flat = x.flatten(1).double()
    k = len(flat)
    return float(torch.cdist(flat, flat).sum()) / (k * (k - 1)) if k > 1 else 0.0


def spearman(a: Float, b: Float) -> float:
    """Return the rank correlation of two vectors; NaN where one is constant or shorter than 3."""
    ranks = [rankdata(v) - (len(v) + 1) / 2 for v in (a, b)]
    size = np.sqrt(np.square(ranks[0]).sum() * np.square(ranks[1]).sum())
    return float(ranks[0] @ ranks[1] / size) if len(a) > 2 and size else float("nan")
