"""The state of many aLTT runs in lockstep: wealth, certificates, and one update a round.

Runs are rows, candidates columns; inside, both are flattened so that a round touches only the
wealth that it changes. A single run is faster in ``Solo``, which chooses and certifies alike.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from models.altt.acquisition import Seen, choose
from models.altt.certificates import certified
from models.altt.config import Config
from models.eprocess import Wealth

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]

_UNUSED = np.empty((0, 0))


class Engine:
    """Wealth and certificates of ``rows`` independent runs of one configuration.

    Attributes
    ----------
    log_wealth, log_peak : float64, shape (rows, N), the smallest wealth over the risks, and its
        running maximum (under ``released`` the smallest of the risks' maxima, as the script does)
    certified : bool, shape (rows, N)
    """

    def __init__(self, config: Config, rows: int = 1) -> None:
        self.config = config
        self._shape = (rows, config.n_candidates)
        cells, risks = rows * config.n_candidates, config.targets.size
        self._wealth = Wealth(
            (cells, risks), config.targets, config.played_bet, peek=config.released
        )
        self._peak = np.zeros((cells, risks if config.released else 1))
        self._value = np.ones(self._shape)  # of the smallest wealth over the risks, times 2**shift
        self._shift = np.zeros(self._shape, dtype=np.int64)
        self.log_wealth = np.zeros(self._shape)
        self.log_peak = np.zeros(self._shape)
        self.certified: Bool = np.zeros(self._shape, dtype=np.bool_)
        self._all_usable = np.ones(self._shape, dtype=np.bool_)

    @property
    def tests(self) -> Float:
        """Number of losses of each candidate, shape (rows, N)."""
        return self._wealth.n[:, 0].reshape(self._shape)

    @property
    def mean(self) -> Float:
        """Mean loss, shape (rows, N, J); 0 where untested."""
        return self._wealth.mean.reshape(*self._shape, -1)

    def choose(
        self, rows: Index, explore: Float, which: Float, usable: Bool | None = None
    ) -> Index:
        """Return the flat positions ``row * N + candidate`` that the given runs test next.

        Parameters
        ----------
        rows : intp, shape (K,), the runs that go on, ascending
        explore, which : float64 in [0, 1), shape (K,), this round's draws
        usable : bool, shape (K, N), candidates with losses left; all when omitted
        """
        n = self._shape[1]
        at = slice(None) if rows.size == self._shape[0] else rows
        usable = self._all_usable[at] if usable is None else usable
        if self.config.acquisition == "all":
            run, column = np.nonzero(usable & ~self.certified[at])
            return np.asarray(rows[run] * n + column, dtype=np.intp)
        seen = Seen(
            usable,
            self.certified[at],
            self.tests[at],
            self._value[at],
            self._shift[at],
            self._slack(at) if self.config.acquisition == "ucb" else _UNUSED,
        )
        return rows * n + choose(self.config, seen, explore, which)

    def _slack(self, at: Index | slice) -> Float:
        return np.asarray((self.config.targets - self.mean[at]).min(axis=-1), dtype=np.float64)

    def update(self, rows: Index, flat: Index, losses: Float) -> Float:
        """Take one loss a risk for each flat position; return the bets, shape (len(flat), J).

        Parameters
        ----------
        rows : intp, the runs that ``flat`` touches
        flat : intp, distinct
        losses : float64 in [0, 1], shape (len(flat), J)
        """
        bets = self._wealth.feed(flat, losses)
        now = self._wealth.log_wealth[flat]
        weakest = np.argmin(now, axis=1)
        low = now[np.arange(flat.size), weakest]
        self._value.reshape(-1)[flat] = self._wealth.value[flat, weakest]
        self._shift.reshape(-1)[flat] = self._wealth.shift[flat, weakest]
        self._peak[flat] = np.maximum(
            self._peak[flat], now if self.config.released else low[:, None]
        )
        self.log_wealth.reshape(-1)[flat] = low
        self.log_peak.reshape(-1)[flat] = self._peak[flat].min(axis=1)
        at = slice(None) if rows.size == self._shape[0] else rows
        self.certified[at] = certified(self.config, self.log_wealth[at], self.log_peak[at])
        return bets
