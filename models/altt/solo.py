"""The state of one aLTT run, in plain floats: what ``Engine`` is for many runs in lockstep."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from models.altt.acquisition import Seen, choose
from models.altt.certificates import certified
from models.altt.config import Config
from models.eprocess import Gambler

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]


class Solo:
    """Wealth and certificates of one run.

    Attributes
    ----------
    log_wealth, log_peak : float64, shape (N,), as in ``Engine``
    tests : int64, shape (N,)
    mean : float64, shape (N, J), nan where untested
    certified : bool, shape (N,)
    """

    def __init__(self, config: Config) -> None:
        n, targets = config.n_candidates, config.targets.tolist()
        self.config = config
        self._targets = config.targets
        self._gamblers = [
            [Gambler(alpha, config.played_bet, peek=config.released) for alpha in targets]
            for _ in range(n)
        ]
        self._value = np.ones(n)  # of the smallest wealth over the risks, times 2**shift
        self._shift = np.zeros(n, dtype=np.int64)
        self._all_usable: Bool = np.ones(n, dtype=np.bool_)
        self.log_wealth = np.zeros(n)
        self.log_peak = np.zeros(n)
        self.tests = np.zeros(n, dtype=np.int64)
        self.mean = np.full((n, len(targets)), np.nan)
        self.certified: Bool = np.zeros(n, dtype=np.bool_)

    def choose(self, explore: float, which: float, usable: Bool | None = None) -> Index:
        """Return the candidates to test next; arguments as in ``Engine``, for one run."""
        usable = self._all_usable if usable is None else usable
        if self.config.acquisition == "all":
            return np.flatnonzero(usable & ~self.certified)
        slack = self._value
        if self.config.acquisition == "ucb":
            slack = (self._targets - self.mean).min(axis=1)
        seen = Seen(
            usable[None],
            self.certified[None],
            self.tests[None],
            self._value[None],
            self._shift[None],
            slack[None],
        )
        return choose(self.config, seen, np.array([explore]), np.array([which]))

    def update(self, picks: list[int], losses: list[list[float]]) -> list[list[float]]:
        """Take one loss a risk for each pick, all distinct; return the bets in the same shape."""
        bets = []
        for pick, row in zip(picks, losses, strict=True):
            gamblers = self._gamblers[pick]
            bets.append([g.feed(loss) for g, loss in zip(gamblers, row, strict=True)])
            poorest = min(gamblers, key=lambda g: g.log_wealth)
            self._value[pick], self._shift[pick] = poorest.value, poorest.shift
            self.log_wealth[pick] = poorest.log_wealth
            if self.config.released:
                self.log_peak[pick] = min(g.log_peak for g in gamblers)
            else:
                self.log_peak[pick] = max(self.log_peak[pick], poorest.log_wealth)
            self.tests[pick] += 1
            self.mean[pick] = [g.mean for g in gamblers]
        done = certified(self.config, self.log_wealth[None], self.log_peak[None])
        self.certified = done[0]
        return bets
