"""One aLTT run, loss by loss: who was tested, and who was certified at each moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.altt.certificates import certified, line
from models.altt.config import Config
from models.altt.race import Race
from models.checks import Float

Bool = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]
_CELLS = 1_000_000


@dataclass(frozen=True)
class Trace:
    """One run, loss by loss.

    Attributes
    ----------
    candidate, log_wealth : shape (T,), who was tested, and its log-wealth after the test
    count : int64, shape (T + 1,), how many are certified after 0, 1, ... tests
    right : int64, shape (T + 1,), how many of these are truly reliable; the same where unknown
    first : int64, shape (N,), the test at which each was first certified, 0 if never
    """

    candidate: Index
    log_wealth: Float
    count: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]

    @property
    def spent(self) -> int:
        """How many tests were made."""
        return len(self.candidate)

    def rounds_to(self, right: int) -> int | None:
        """Return the number of tests after which so many were rightly certified, None if never."""
        enough = np.flatnonzero(self.right >= right)
        return int(enough[0]) if enough.size else None


def traced(race: Race, good: Bool | None = None) -> Trace:
    """Return what a race's log says, and who was certified at each moment."""
    config = race.config
    n, total = config.n_candidates, len(race.log)
    who = np.fromiter((entry.candidate for entry in race.log), np.intp, total)
    log_wealth = np.fromiter((entry.log_wealth for entry in race.log), np.float64, total)
    count, right = np.zeros(total + 1, np.int64), np.zeros(total + 1, np.int64)
    first = np.zeros(n, np.int64)
    wealth, peak = np.zeros(n), np.zeros(n)
    for start in range(0, total, step := max(1, _CELLS // n)):
        block = slice(start, min(start + step, total))
        held = levels(who[block], log_wealth[block], wealth)
        peaks = np.maximum(np.maximum.accumulate(held, axis=0), peak)
        done = certified(config, held, peaks)
        count[block.start + 1 : block.stop + 1] = done.sum(axis=1)
        right[block.start + 1 : block.stop + 1] = (done if good is None else done & good).sum(1)
        new = done.any(axis=0) & (first == 0)
        first[new] = start + 1 + done.argmax(axis=0)[new]
        wealth, peak = held[-1], peaks[-1]
    return Trace(who, log_wealth, count, right, first)


def levels(who: Index, log_wealth: Float, start: Float) -> Float:
    """Return everybody's log-wealth after each test, shape (T, N), from where they started."""
    tested = who[:, None] == np.arange(len(start))
    last = np.maximum.accumulate(np.where(tested, np.arange(len(who))[:, None], -1), axis=0)
    return np.where(last >= 0, log_wealth[last], start)


def threshold(config: Config, count: npt.NDArray[np.int64]) -> Float:
    """Return the log-wealth that certifies when so many are certified, same shape as ``count``."""
    lines = {int(k): line(config, int(k)) for k in np.unique(count)}
    return np.asarray([lines[int(k)] for k in count], dtype=np.float64)
