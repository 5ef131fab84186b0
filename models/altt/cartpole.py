"""A cart that balances a pole: twenty policies, of which the reliable are to be certified.

The classic benchmark of Barto, Sutton and Anderson (1983): a push of 10 N to the left or right
every 0.02 s, for 200 steps; an episode fails when the cart leaves 2.4 m or the pole leans beyond
12 degrees. A policy is four gains ``k`` on position, speed, angle and angular speed, and pushes to
the right if ``k . state > 0``. The loss of an episode is ``1 - steps / 200``. It stands in for the
offline-trained policies of the paper's first experiment, whose losses are not published.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

from models.altt.environments import Pool

Float = npt.NDArray[np.float64]

STEPS = 200
#: Gains on the angular speed, from one that lets the pole fall early to one that hardly ever does.
SPIN_GAINS = np.linspace(0.0440, 0.0535, 20)
DATA = Path(__file__).resolve().parents[2] / "assets" / "altt" / "cartpole.npz"

_GRAVITY, _CART, _POLE, _HALF_LENGTH, _FORCE, _TICK = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
_EDGE, _LEAN = 2.4, math.radians(12.0)
_TOTAL = _CART + _POLE


def policies() -> Float:
    """Return the gains of the twenty policies, float64, shape (20, 4)."""
    count = len(SPIN_GAINS)
    return np.column_stack([np.full(count, k) for k in (0.02, 0.05, 1.0)] + [SPIN_GAINS])


def names() -> tuple[str, ...]:
    """Return one name a policy."""
    return tuple(f"gain {k:.4f}" for k in SPIN_GAINS)


def pool() -> Pool:
    """Return the stored episodes as a population: 2,000 starts, the same for every policy.

    The truth is the mean over them; runs draw them with replacement.
    """
    with np.load(DATA, allow_pickle=False) as data:
        return Pool(names(), 1.0 - data["steps"].astype(np.float64) / STEPS)


def starts(episodes: int, rng: np.random.Generator) -> Float:
    """Return initial states, uniform within 0.05 of upright rest, shape (episodes, 4)."""
    return rng.uniform(-0.05, 0.05, (episodes, 4))


def steps_balanced(gains: npt.ArrayLike, start: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return how many steps each policy balances from each start, at most 200.

    Parameters
    ----------
    gains : float64, shape (N, 4), one policy a row
    start : float64, shape (E, 4), position (m), speed (m/s), angle (rad), angular speed (rad/s)

    Returns
    -------
    int64, shape (E, N)
    """
    k = np.asarray(gains, dtype=np.float64)
    first = np.asarray(start, dtype=np.float64)
    x, v, angle, spin = (np.repeat(first[:, j, None], len(k), axis=1) for j in range(4))
    steps = np.zeros(x.shape, dtype=np.int64)
    up = np.ones(x.shape, dtype=np.bool_)
    for _ in range(STEPS):
        push = np.where(x * k[:, 0] + v * k[:, 1] + angle * k[:, 2] + spin * k[:, 3] > 0.0, 1, -1)
        sine, cosine = np.sin(angle), np.cos(angle)
        drive = (push * _FORCE + _POLE * _HALF_LENGTH * spin * spin * sine) / _TOTAL
        turn = (_GRAVITY * sine - cosine * drive) / (
            _HALF_LENGTH * (4.0 / 3.0 - _POLE * cosine * cosine / _TOTAL)
        )
        pull = drive - _POLE * _HALF_LENGTH * turn * cosine / _TOTAL
        x, v = x + _TICK * v, v + _TICK * pull
        angle, spin = angle + _TICK * spin, spin + _TICK * turn
        up &= (np.abs(x) <= _EDGE) & (np.abs(angle) <= _LEAN)
        steps += up
        # What has fallen stays put, so that no number grows without bound.
        x, v, angle, spin = (np.where(up, part, 0.0) for part in (x, v, angle, spin))
    return steps
