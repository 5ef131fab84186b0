"""Worlds in which the true risks are known, to draw losses from and to judge certificates by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from models.altt.config import check_target
from models.betting import check_losses

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]

#: Beta losses have mean p and shapes 8p and 8(1 - p).
CONCENTRATION = 8.0
_JUST_ABOVE = 1e-9


class Environment(Protocol):
    """A world: names, true risks, and fresh losses of many runs at once."""

    @property
    def names(self) -> tuple[str, ...]:
        """One name a candidate."""

    @property
    def risks(self) -> Float:
        """The true risks, shape (N, J)."""

    def draw(self, rng: np.random.Generator, runs: int, run: Index, candidate: Index) -> Float:
        """Return fresh losses in [0, 1], shape (K, J).

        Pairs ``(run[k], candidate[k])`` of the same run share one sample; ``run`` lies in
        ``[0, runs)``.
        """


@dataclass(frozen=True)
class Simulated:
    """Losses of known mean, one risk a candidate.

    Attributes
    ----------
    names : one a candidate
    means : float in [0, 1], the true risks
    kind : "bernoulli" for losses of 0 and 1, "beta" for losses in between. 0/1 losses of one sample
        come from one uniform number (a hard sample is hard for everyone); beta losses are drawn
        independently.
    """

    names: tuple[str, ...]
    means: tuple[float, ...]
    kind: str = "bernoulli"

    def __post_init__(self) -> None:
        """Check the table of candidates."""
        check_losses(self.means, "The true risks")
        if not self.means or len(self.names) != len(self.means):
            raise ValueError(
                f"There are {len(self.names)} names and {len(self.means)} true risks, but each "
                "candidate needs one of each."
            )
        if len(set(self.names)) != len(self.names):
            raise ValueError("Two candidates have the same name: give each its own.")
        if self.kind not in ("bernoulli", "beta"):
            raise ValueError(f"The losses are {self.kind!r}, but must be bernoulli or beta.")

    @cached_property
    def risks(self) -> Float:
        """The true risks, float64, shape (N, 1)."""
        return np.asarray(self.means, dtype=np.float64)[:, None]

    def draw(self, rng: np.random.Generator, runs: int, run: Index, candidate: Index) -> Float:
        """Return fresh losses, float64, shape (K, 1)."""
        p = self.risks[candidate]
        if self.kind == "bernoulli":
            sample: Float = rng.random(runs)[run, None]
            return (sample < p).astype(np.float64)
        # Beta needs positive shapes; a mean of 0 or 1 is a constant loss.
        inside = np.clip(p, 1e-9, 1.0 - 1e-9)
        losses = rng.beta(CONCENTRATION * inside, CONCENTRATION * (1.0 - inside))
        return np.where((p > 0.0) & (p < 1.0), losses, p)


@dataclass(frozen=True)
class Pool:
    """A finite population of samples, drawn with replacement: the truth is the mean of the pool.

    Attributes
    ----------
    names : one a candidate
    losses : float64 in [0, 1], shape (samples, N), the loss of each candidate on each sample
    """

    names: tuple[str, ...]
    losses: Float

    @cached_property
    def risks(self) -> Float:
        """The true risks, float64, shape (N, 1)."""
        return np.asarray(self.losses.mean(axis=0)[:, None], dtype=np.float64)

    def draw(self, rng: np.random.Generator, runs: int, run: Index, candidate: Index) -> Float:
        """Return fresh losses, float64, shape (K, 1)."""
        sample = rng.integers(self.losses.shape[0], size=runs)
        return np.asarray(self.losses[sample[run], candidate][:, None], dtype=np.float64)


class Stream:
    """The losses of one run, drawn from an environment; a ``Source`` that never ends."""

    def __init__(self, environment: Environment, rng: np.random.Generator) -> None:
        self._environment = environment
        self._rng = rng

    def usable(self) -> Bool | None:
        """Return None: there is always another loss."""
        return None

    def draw(self, candidates: Index) -> Float:
        """Return a fresh loss of each candidate, all on one sample, shape (K, J)."""
        zero = np.zeros(len(candidates), dtype=np.intp)
        return self._environment.draw(self._rng, 1, zero, candidates)


def reliable(environment: Environment, alpha: float | Sequence[float]) -> Bool:
    """Return which candidates meet every target, bool, shape (N,)."""
    meets = environment.risks <= np.atleast_1d(np.asarray(alpha))
    return np.asarray(meets.all(axis=1), dtype=np.bool_)


def simulated(means: Sequence[float], kind: str = "bernoulli") -> Simulated:
    """Return a world of candidates named by number and true risk."""
    return Simulated(tuple(f"{i}: {p:.3g}" for i, p in enumerate(means)), tuple(means), kind)


def preset(name: str, kind: str = "bernoulli") -> tuple[Simulated, float]:
    """Return one of the four simulated worlds and its target alpha.

    ``easy10`` has clear winners and losers, ``hard20`` small margins around the paper's 0.57,
    ``mixed20`` five good candidates among fifteen that miss the target by a hair, ``null10``
    nothing to certify.
    """
    above = 0.2 + _JUST_ABOVE
    worlds: dict[str, tuple[list[float], float]] = {
        "easy10": ([0.02, 0.05, 0.08, 0.10, 0.12, 0.25, 0.3, 0.4, 0.5, 0.6], 0.2),
        "hard20": (
            [*np.linspace(0.44, 0.55, 14).tolist(), *np.linspace(0.58, 0.70, 6).tolist()],
            0.57,
        ),
        "mixed20": ([0.05] * 5 + [above] * 15, 0.2),
        "null10": ([above] * 10, 0.2),
    }
    if name not in worlds:
        raise ValueError(f"The preset is {name!r}, but must be one of {', '.join(worlds)}.")
    means, alpha = worlds[name]
    return simulated(means, kind), check_target(alpha)
