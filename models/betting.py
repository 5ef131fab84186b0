"""Bets against a risk: how much of a wealth is staked on the next loss.

A gambler who doubts that a setting's risk exceeds ``alpha`` stakes ``mu`` on each loss ``L`` in
[0, 1]; the wealth becomes ``E * (1 + mu * (alpha - L))``, ``0 <= mu <= 1/(1 - alpha)`` (aLTT, arXiv
2409.15844, eq. 11-14). Every bet here is predictable: it is computed from past losses alone.

=========  ==================================================================================
``n``      number of past losses            ``m``, ``v``  their mean, their variance (over ``n``)
``cap``    ``truncation / (1 - alpha)``     ``m2``  ``n v``
=========  ==================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]

#: The rules by name; "fixed" needs an amount.
BETS = ("agrapa", "lbow", "ons", "max", "unit", "fixed")

#: Smallest bet of AGRAPA and LBOW (``c_min`` of the authors' release).
SMALLEST = 0.1


@dataclass(frozen=True)
class Bet:
    """A betting rule (aLTT, Section 3; Waudby-Smith and Ramdas 2024 for AGRAPA, LBOW and ONS).

    Attributes
    ----------
    rule : one of ``BETS``; "agrapa" as in the paper's main runs
    truncation : float in (0, 1], the share ``c`` of the largest admissible bet that may be staked;
        0.75 as in the authors' prompt-engineering code. At 1 a single loss of 1 can bankrupt.
    amount : float >= 0, the bet of the rule "fixed"; None for the others
    """

    rule: str = "agrapa"
    truncation: float = 0.75
    amount: float | None = None

    def __post_init__(self) -> None:
        """Check the rule, its truncation and its amount."""
        if self.rule not in BETS:
            raise ValueError(f"The bet is {self.rule!r}, but must be one of {', '.join(BETS)}.")
        if not 0.0 < self.truncation <= 1.0:
            raise ValueError(
                f"The truncation c is {self.truncation:g}, but must lie in (0, 1]: above 1 the "
                "wealth could turn negative."
            )
        if self.rule == "fixed":
            if self.amount is None or not 0.0 <= self.amount < math.inf:
                raise ValueError(
                    f"The fixed bet is {self.amount}, but must be a finite number of at least 0."
                )
        elif self.amount is not None:
            raise ValueError(f"The bet {self.rule!r} takes no amount; only the fixed bet does.")

    def cap(self, alpha: Float) -> Float:
        """Return the largest bet allowed at each target in ``alpha``."""
        return self.truncation / (1.0 - alpha)

    def constant(self, alpha: Float) -> Float | None:
        """Return the bet of a rule that never changes it (MAX, UNIT, FIXED), else None.

        1/alpha exceeds the admissible 1/(1 - alpha) for every alpha below 1/2, hence the cap.
        """
        if self.rule == "max":
            return np.minimum(1.0 / alpha, self.cap(alpha))
        if self.rule == "unit":
            return np.minimum(0.5 / alpha, self.cap(alpha))
        if self.rule == "fixed":
            return np.minimum(float(self.amount or 0.0), self.cap(alpha))
        return None

    def first(self, alpha: Float) -> Float:
        """Return the bet of AGRAPA, LBOW and ONS before any loss, ``min(1, cap)``."""
        return np.minimum(1.0, self.cap(alpha))

    def aimed(self, n: Float, mean: Float, m2: Float, alpha: Float) -> Float:
        """Return the bet of AGRAPA or LBOW after ``n`` losses; the arrays broadcast.

        AGRAPA bets ``(alpha - m) / (v + (m - alpha)^2)``; LBOW adds ``w |m - alpha|`` to the
        denominator, ``w`` being ``1 - alpha`` if ``m > alpha`` and else ``alpha``. Both are clipped
        to [0.1, cap].
        """
        gap = alpha - mean
        spread = m2 / np.maximum(n, 1.0) + gap * gap
        settled = spread < 1e-12  # all past losses equal alpha: the release divides 0 by 0 here
        if self.rule == "lbow":
            spread = spread + np.where(gap < 0.0, 1.0 - alpha, alpha) * np.abs(gap)
        aim = np.where(settled, SMALLEST, gap / np.where(settled, 1.0, spread))
        bets = np.minimum(np.maximum(aim, SMALLEST), self.cap(alpha))
        return np.where(n == 0.0, self.first(alpha), bets)

    def aimed_one(self, n: int, mean: float, m2: float, alpha: float) -> float:
        """Return what ``aimed`` does, for one process after at least one loss, in plain floats."""
        gap = alpha - mean
        spread = m2 / n + gap * gap
        if spread < 1e-12:
            aim = SMALLEST
        elif self.rule == "lbow":
            aim = gap / (spread + (1.0 - alpha if gap < 0.0 else alpha) * abs(gap))
        else:
            aim = gap / spread
        return min(max(aim, SMALLEST), self.truncation / (1.0 - alpha))


def check_losses(values: npt.ArrayLike, name: str) -> Float:
    """Return ``values`` as a float64 vector in [0, 1].

    Raises
    ------
    ValueError
        Naming the first value that is no number or out of range, its position counted from 1, and
        how many there are.
    """
    try:
        x = np.asarray(values, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers between 0 and 1.") from None
    if x.size and not (x.min() >= 0.0 and x.max() <= 1.0):  # not so either if one is nan
        bad = ~((x >= 0.0) & (x <= 1.0))
        first, count = int(np.argmax(bad)), int(bad.sum())
        raise ValueError(
            f"{name} must lie between 0 and 1, but number {first + 1} is {x[first]:g}"
            + (f" ({count} values are out of range)." if count > 1 else ".")
        )
    return x
