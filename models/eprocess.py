"""Wealth of gamblers against a risk: e-processes, and the risk bounds that follow from them.

The wealth starts at 1 and grows by ``1 + mu (alpha - L)`` with each loss ``L`` (aLTT, arXiv
2409.15844, eq. 11-14). While each bet ``mu`` is fixed before its loss is seen and the risk does
exceed ``alpha``, the wealth is a non-negative supermartingale: its expectation is at most 1 at any
stopping time, and it ever reaches ``1/p`` with probability at most ``p`` (Ville).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import EllipsisType

import numpy as np
import numpy.typing as npt

from models.betting import Bet, check_losses
from models.checks import check_unit_open

Float = npt.NDArray[np.float64]
Where = npt.NDArray[np.intp] | EllipsisType

#: Two evidences closer than this (relatively) count as equal: the last digits of a product of
#: thousands of factors must not decide a certificate. It widens delta by a factor 1 + 1e-9.
EQUAL = 1e-9

_NEWTON = 2.0 / (2.0 - math.log(3.0))
_LOG_2 = math.log(2.0)
_LARGE = 1e150
_RUINED = 1e-12  # a factor this small can only be a full loss at the bet 1/(1 - alpha)


class Wealth:
    """Many e-processes at once, each with its own past; all arrays have the same ``shape``.

    Parameters
    ----------
    shape : the shape of all arrays
    alpha : float in (0, 1), broadcastable along the last axis of ``shape``
    bet : the rule
    peek : let the bet see the loss that it is placed on, as the authors' policy-selection script
        does. **The result is no e-process and carries no guarantee.** Peeking ONS takes its Newton
        step first; the script's own recursion divides by zero at the cap and is not reproduced.

    Attributes
    ----------
    n, mean, m2 : float64, number, mean and summed squared deviation (Welford) of the past losses
    value, shift : float64 and int64, the wealth as ``value * 2**shift``: the plain floating-point
        product, free of over- and underflow, since powers of two are exact
    log_wealth : float64, natural logarithm of the wealth; -inf once bankrupt
    """

    def __init__(
        self, shape: tuple[int, ...], alpha: npt.ArrayLike, bet: Bet, *, peek: bool = False
    ) -> None:
        self.alpha = np.asarray(alpha, dtype=np.float64)
        self.bet = bet
        self.peek = peek
        self._cap = bet.cap(self.alpha)
        self._constant = bet.constant(self.alpha)
        self.n = np.zeros(shape)
        self.mean = np.zeros(shape)
        self.m2 = np.zeros(shape)
        self.value = np.ones(shape)
        self.shift = np.zeros(shape, dtype=np.int64)
        self.log_wealth = np.zeros(shape)
        self._nu = np.broadcast_to(bet.first(self.alpha), shape).copy()
        self._a = np.ones(shape)

    def next_bets(self, where: Where = ...) -> Float:
        """Return the bets on the next loss of the processes at ``where`` (leading axis)."""
        if self._constant is not None:
            return np.broadcast_to(self._constant, self.n[where].shape).copy()
        if self.bet.rule == "ons":
            return self._nu[where].copy()
        return self.bet.aimed(self.n[where], self.mean[where], self.m2[where], self.alpha)

    def feed(self, where: Where, losses: npt.ArrayLike) -> Float:
        """Place the bets, take one loss for each process at ``where`` and return the bets.

        Parameters
        ----------
        where : intp indices into the leading axis, all distinct, or ``...`` for all
        losses : float in [0, 1], broadcastable to the selected part
        """
        loss = np.asarray(losses, dtype=np.float64)
        if self.peek:
            self._learn(where, loss)
            bets = self.next_bets(where)
        else:
            bets = self.next_bets(where)
            self._learn(where, loss)
        factor = 1.0 + bets * (self.alpha - loss)
        value = self.value[where] * np.where(factor < _RUINED, 0.0, factor)
        if value.max() > _LARGE or value.min() < 1.0 / _LARGE:
            value, power = np.frexp(value)
            self.shift[where] += power
        self.value[where] = value
        alive = value > 0.0
        log_value = np.log(value, where=alive, out=np.full(value.shape, -np.inf))
        self.log_wealth[where] = log_value + _LOG_2 * self.shift[where]
        return bets

    def _learn(self, where: Where, loss: Float) -> None:
        n = self.n[where] + 1.0
        old = self.mean[where]
        new = old + (loss - old) / n
        # The mean last: ``old`` may be a view of it.
        self.m2[where] += (loss - old) * (loss - new)
        self.mean[where] = new
        self.n[where] = n
        if self.bet.rule == "ons":
            y = loss - self.alpha
            nu = self._nu[where]
            z = y / (1.0 - y * nu + 1e-10)
            a = self._a[where] + z * z
            self._a[where] = a
            self._nu[where] = np.minimum(np.maximum(nu - _NEWTON * z / a, 0.0), self._cap)


class Gambler:
    """One e-process in plain floats: what ``Wealth`` is for many, and much faster for one.

    Parameters and attributes are those of ``Wealth``, as plain numbers; ``log_peak`` is the running
    maximum of ``log_wealth``, at least 0.
    """

    def __init__(self, alpha: float, bet: Bet, *, peek: bool = False) -> None:
        target = np.asarray(alpha, dtype=np.float64)
        constant = bet.constant(target)
        self.alpha, self.bet, self.peek = alpha, bet, peek
        self.n, self.mean, self.m2 = 0, 0.0, 0.0
        self.value, self.shift = 1.0, 0
        self.log_wealth = self.log_peak = 0.0
        self._cap = float(bet.cap(target))
        self._constant = None if constant is None else float(constant)
        self._nu, self._a = float(bet.first(target)), 1.0
        self._first = self._nu

    def next_bet(self) -> float:
        """Return the bet on the next loss."""
        if self._constant is not None:
            return self._constant
        if self.bet.rule == "ons":
            return self._nu
        if not self.n:
            return self._first
        return self.bet.aimed_one(self.n, self.mean, self.m2, self.alpha)

    def feed(self, loss: float) -> float:
        """Place the bet, take one loss in [0, 1] and return the bet."""
        if self.peek:
            self._learn(loss)
            bet = self.next_bet()
        else:
            bet = self.next_bet()
            self._learn(loss)
        factor = 1.0 + bet * (self.alpha - loss)
        self.value = self.value * factor if factor >= _RUINED else 0.0
        if not 1.0 / _LARGE <= self.value <= _LARGE:
            self.value, power = math.frexp(self.value)
            self.shift += power
        self.log_wealth = (
            math.log(self.value) + _LOG_2 * self.shift if self.value > 0.0 else -math.inf
        )
        self.log_peak = max(self.log_peak, self.log_wealth)
        return bet

    def _learn(self, loss: float) -> None:
        self.n += 1
        old = self.mean
        self.mean = old + (loss - old) / self.n
        self.m2 += (loss - old) * (loss - self.mean)
        if self.bet.rule == "ons":
            y = loss - self.alpha
            z = y / (1.0 - y * self._nu + 1e-10)
            self._a += z * z
            self._nu = min(max(self._nu - _NEWTON * z / self._a, 0.0), self._cap)


@dataclass(frozen=True)
class Path:
    """One e-process, loss by loss: ``bets`` and ``log_wealth``, float64, shape (n,)."""

    bets: Float
    log_wealth: Float


def e_process(
    losses: npt.ArrayLike, alpha: float, bet: Bet | None = None, *, peek: bool = False
) -> Path:
    """Return the bets and the log-wealth after each loss (aLTT, eq. 11-14).

    Parameters
    ----------
    losses : float in [0, 1], shape (n,)
    alpha : float in (0, 1), the risk that is doubted
    bet : the rule; AGRAPA at truncation 0.75 when omitted
    peek : see ``Wealth``

    Raises
    ------
    ValueError
        If ``alpha`` or a loss is out of range.
    """
    x = check_losses(losses, "The losses")
    gambler = Gambler(check_unit_open(alpha, "alpha"), bet or Bet(), peek=peek)
    bets, path = np.empty(x.size), np.empty(x.size)
    for t, loss in enumerate(x.tolist()):
        bets[t] = gambler.feed(loss)
        path[t] = gambler.log_wealth
    return Path(bets, path)


def risk_upper_bound(
    losses: npt.ArrayLike, delta: float, bet: Bet | None = None, *, grid: int = 1000
) -> float:
    """Return a 1 - delta upper bound on the risk that holds at every number of losses at once.

    The level ``k/grid`` is doubted away once its wealth has ever reached ``1/delta``. The bound is
    the grid point above the largest level still standing: the largest grid point below the true
    risk falls with probability at most delta, whether or not the wealth is monotone in the level.
    It is 1 when nothing can be said.

    Raises
    ------
    ValueError
        If ``delta`` or a loss is out of range.
    """
    x = check_losses(losses, "The losses")
    goal = -math.log(check_unit_open(delta, "delta"))
    wealth = Wealth((grid - 1,), np.arange(1, grid) / grid, bet or Bet())
    peak = np.zeros(grid - 1)
    for loss in x:
        wealth.feed(..., loss)
        np.maximum(peak, wealth.log_wealth, out=peak)
    standing = np.flatnonzero(peak < goal - EQUAL)
    largest = int(standing[-1]) + 1 if standing.size else 0
    return (largest + 1) / grid
