"""A digit classifier that may abstain, and thresholds on its confidence to choose among.

Candidates are thresholds; an answer is accepted if its confidence reaches the threshold. The loss
is 1 for an accepted wrong answer, 0 for an accepted right one and ``alpha`` for a rejection, so
that its mean is at most ``alpha`` exactly if the error rate *among the accepted* is:
``P(accepted, wrong) <= alpha P(accepted)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from models.altt.config import check_target
from models.altt.environments import Pool

Float = npt.NDArray[np.float64]

THRESHOLDS = np.linspace(0.30, 0.99, 20)
DATA = Path(__file__).resolve().parents[2] / "assets" / "altt" / "digits.npz"


@dataclass(frozen=True)
class Digits:
    """The held-out digits and what the classifier said about them.

    Attributes
    ----------
    images : uint8 in [0, 16], shape (S, 8, 8)
    digit, answer : uint8, shape (S,), the truth and the classifier's answer
    confidence : float32 in (0, 1), shape (S,), the probability that it gives its answer
    """

    images: npt.NDArray[np.uint8]
    digit: npt.NDArray[np.uint8]
    answer: npt.NDArray[np.uint8]
    confidence: npt.NDArray[np.float32]

    def coverage(self) -> Float:
        """Return the share of answers accepted at each threshold, shape (20,)."""
        return np.asarray(self._accepted().mean(axis=0), dtype=np.float64)

    def selective_error(self) -> Float:
        """Return the error rate among the accepted at each threshold, shape (20,)."""
        accepted = self._accepted()
        wrong = accepted & (self.digit != self.answer)[:, None]
        return np.asarray(wrong.sum(axis=0) / accepted.sum(axis=0), dtype=np.float64)

    def pool(self, alpha: float) -> Pool:
        """Return the losses of the twenty thresholds as a population, for a target ``alpha``."""
        accepted = self._accepted()
        wrong = (self.digit != self.answer)[:, None]
        losses = np.where(accepted, wrong.astype(np.float64), check_target(alpha))
        return Pool(tuple(f"from {t:.2f}" for t in THRESHOLDS), losses)

    def _accepted(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.confidence[:, None] >= THRESHOLDS, dtype=np.bool_)


def load() -> Digits:
    """Return the stored digits."""
    with np.load(DATA, allow_pickle=False) as data:
        return Digits(data["images"], data["digit"], data["answer"], data["confidence"])
