"""Is this still Gaussian noise? The probability regularisation of direct noise optimisation.

Symbols: n numbers z, cut into m blocks z_1 ... z_m of length b;

    M1 = |mean z_i|,      log p1 = min(log 2 - m M1^2 / (2 b), 0)
    M2 = |mean z_i z_i' - I| (spectral norm)
                          log p2 = min(log 2 - m/2 max(sqrt(1 + M2) - 1 - sqrt(b/m), 0)^2, 0)

p1 and p2 bound the probability that Gaussian noise looks at least that strange. Optimised noise
may hide its structure in the order of the numbers, so the same is done for random orders. With few
blocks the bounds say nothing: noise that is all 0 is noticed only from m > 5.8 b on.

References
----------
Z. Tang et al., "Inference-Time Alignment of Diffusion Models with Direct Noise Optimization",
ICML 2025, and its published code.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from models.torchrun import torch

BLOCK = 4
_LOG2 = math.log(2)


def log_bounds(z: torch.Tensor, block: int = BLOCK) -> tuple[torch.Tensor, torch.Tensor]:
    """Return log p1 and log p2, each (...), of noises (..., n); a tail that fills no block is cut.

    Fewer numbers than one block say nothing: both are 0.
    """
    m = z.shape[-1] // block
    if not m:
        nothing = 0.0 * z.sum(-1)
        return nothing, nothing
    blocks = z[..., : m * block].reshape(*z.shape[:-1], m, block)
    centre = blocks.mean(dim=-2)
    first = _LOG2 - m * centre.square().sum(-1) / (2 * block)
    second_moment = blocks.mT @ blocks / m
    eye = torch.eye(block, dtype=z.dtype, device=z.device)
    off = torch.linalg.eigvalsh(second_moment - eye).abs().amax(-1)
    excess = ((1 + off).sqrt() - 1 - math.sqrt(block / m)).clamp_min(0)
    second = _LOG2 - m / 2 * excess.square()
    return first.clamp_max(0), second.clamp_max(0)


def draw_orders(n: int, count: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return random orders of n numbers, shape (count, n)."""
    return rng.permuted(np.tile(np.arange(n), (count, 1)), axis=1)


def plausibility(
    z: torch.Tensor, orders: npt.NDArray[np.int64], block: int = BLOCK
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the regulariser and the indicator of noises (k, n), each (k,).

    Parameters
    ----------
    z : (k, n)
    orders : int64 (P, n), permutations; P may be 0
    block : int, b

    Returns
    -------
    regulariser : log p1 + log p2 as they stand, plus their mean over the orders; at most 0, and
        exactly 0 inside the typical set. The published code's loss is 4 log 2 minus this.
    log_indicator : the least of all log p1 and log p2; its exponential P(z) is near 1 for noise
        that may well be Gaussian
    """
    stacked = torch.cat([z.unsqueeze(1), z[:, torch.from_numpy(orders)]], dim=1)
    first, second = log_bounds(stacked, block)
    both = first + second
    regulariser = both[:, 0]
    if len(orders):
        regulariser = regulariser + both[:, 1:].mean(1)
    return regulariser, torch.minimum(first, second).amin(1)
