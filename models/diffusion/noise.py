"""The noises of each particle, drawn from a generator of its own.

Slot j of a run always receives the same noises, whatever the number of particles, the method or
what becomes of the others. Row 0 is the starting point x_T, row i + 1 what step i adds; a sample
is a deterministic function of these rows, and so is what :mod:`models.steering.dno` optimises.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.torchrun import torch

# Spawn keys of a run: (repeat, _SLOT, j) for the noises of slot j, (repeat, purpose) for the rest.
_SLOT = 0
_SHARED = {"resampling": 1, "rewards": 2, "optimiser": 3}


def slot_generator(seed: int, repeat: int, slot: int) -> np.random.Generator:
    """Return the generator of one slot's noises."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(repeat, _SLOT, slot)))


def shared_generator(seed: int, repeat: int, purpose: str) -> np.random.Generator:
    """Return the generator that a whole run shares for a purpose.

    Parameters
    ----------
    purpose : "resampling", "rewards" (intermediate ones that draw) or "optimiser"
    """
    key = (repeat, _SHARED[purpose])
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def draw_noise(
    seed: int,
    slots: int | Sequence[int],
    steps: int,
    shape: Sequence[int],
    *,
    repeat: int = 0,
    dtype: torch.dtype = torch.float64,
) -> torch.Tensor:
    """Draw the noises of some slots, shape (k, steps + 1, *shape).

    Parameters
    ----------
    seed, repeat : int >= 0, which run it is
    slots : the number of particles k >= 1, or the k slots wanted
    steps : int, sampling steps
    shape : of one particle

    Raises
    ------
    ValueError
        If there is no particle, or the seed is negative.
    """
    wanted = range(slots) if isinstance(slots, int) else slots
    if len(wanted) < 1:
        raise ValueError(f"There are {len(wanted)} particles, but at least 1 is needed.")
    if seed < 0:
        raise ValueError(f"The seed is {seed}, but must be a whole number of at least 0.")
    rows = np.empty((len(wanted), steps + 1, *shape))
    for row, slot in zip(rows, wanted, strict=True):
        slot_generator(seed, repeat, slot).standard_normal(out=row)
    return torch.from_numpy(rows).to(dtype)


def follow_slots(noise: torch.Tensor, slots: Sequence[int]) -> torch.Tensor:
    """Return the noises (1, S + 1, *shape) of a particle that sat in ``slots[i]`` during step i.

    Parameters
    ----------
    noise : (k, S + 1, *shape), of all slots
    slots : S slot numbers, the first also of its starting point
    """
    rows = [noise[slots[0], 0], *(noise[slot, i + 1] for i, slot in enumerate(slots))]
    return torch.stack(rows).unsqueeze(0)
