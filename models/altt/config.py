"""What is promised and how candidates are tested: the settings of one aLTT run.

Candidates ``0..N-1`` are fixed before the first loss. Candidate ``i`` is *reliable* if its expected
loss is at most ``alpha``; with several risks, if that holds for each of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from models.betting import Bet
from models.checks import check_unit_open
from models.eprocess import EQUAL, Wealth

Float = npt.NDArray[np.float64]

#: Error rates: family-wise by Ville with Bonferroni or Holm, false discoveries by e-BH.
CONTROLS = ("fwer", "holm", "fdr")
#: Which candidate next; see ``models.altt.acquisition``.
ACQUISITIONS = ("uniform", "random", "eps-greedy", "ucb", "all")
MOST_CANDIDATES = 2000


@dataclass(frozen=True)
class Config:
    """Settings of a run, with the paper's values where it gives one.

    Attributes
    ----------
    n_candidates : int in [1, 2000], N
    alpha : float in (0, 1), the target risk; a tuple for several risks at once (then a candidate's
        wealth is the smallest over its risks)
    delta : float in (0, 1), the error level; 0.1 in the paper's experiments
    control : one of ``CONTROLS``
    acquisition : one of ``ACQUISITIONS``
    epsilon : float in [0, 1], share of exploring rounds of "eps-greedy"; the paper uses 0.25 to
        0.95, the smallest doing best
    bet : the betting rule, AGRAPA as in the paper's main runs
    budget : int >= 1, T, the number of losses that may be drawn
    stop_at : int in [1, N] or None, stop as soon as so many candidates are certified (the paper's
        d; its text stops at |set| >= d, its pseudo-code one later: the text is followed)
    released : reproduce the authors' policy-selection script, which departs from the paper: the bet
        sees the loss that it is placed on, truncation is 1, false discoveries are controlled on
        running maxima, inequalities are strict. **The guarantee is void.**
    """

    n_candidates: int
    alpha: float | tuple[float, ...] = 0.2
    delta: float = 0.1
    control: str = "fwer"
    acquisition: str = "eps-greedy"
    epsilon: float = 0.25
    bet: Bet = field(default_factory=Bet)
    budget: int = 2000
    stop_at: int | None = None
    released: bool = False

    def __post_init__(self) -> None:
        """Check every setting; each fault has its sentence."""
        n = self.n_candidates
        if not 1 <= n <= MOST_CANDIDATES:
            raise ValueError(
                f"There are {n} candidates, but a run takes 1 to {MOST_CANDIDATES}: choose the "
                "settings worth testing before looking at their losses."
            )
        for target in self.targets:
            check_target(float(target))
        if not self.targets.size:
            raise ValueError("At least one target alpha is needed.")
        check_unit_open(self.delta, "delta")
        _check_choice(self.control, CONTROLS, "error rate")
        _check_choice(self.acquisition, ACQUISITIONS, "acquisition")
        if not 0.0 <= self.epsilon <= 1.0:
            raise ValueError(f"epsilon is {self.epsilon:g}, but must lie between 0 and 1.")
        if self.budget < 1:
            raise ValueError(f"The budget is {self.budget} losses, but must be at least 1.")
        if self.stop_at is not None and not 1 <= self.stop_at <= n:
            raise ValueError(
                f"The run is to stop at {self.stop_at} certified candidates, but there are {n}: "
                f"choose 1 to {n}."
            )
        if self.released and self.control == "holm":
            raise ValueError("The released script has no Holm rule: choose fwer or fdr with it.")

    @property
    def targets(self) -> Float:
        """The targets, one a risk, float64, shape (J,)."""
        return np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))

    @property
    def played_bet(self) -> Bet:
        """The bet in use: the released script does not truncate."""
        return replace(self.bet, truncation=1.0) if self.released else self.bet


def check_target(alpha: float) -> float:
    """Return the target risk if it lies in (0, 1).

    Raises
    ------
    ValueError
        Saying what a target of 0, or of 1 and more, would mean.
    """
    if alpha >= 1.0:
        raise ValueError(
            f"alpha is {alpha:g}, but must lie strictly between 0 and 1: every loss in [0, 1] "
            "meets a target of 1."
        )
    if not alpha > 0.0:
        raise ValueError(
            f"alpha is {alpha:g}, but must lie strictly between 0 and 1: no number of losses can "
            "certify a risk of 0."
        )
    return alpha


def zeros_needed(config: Config, *, together: bool = False) -> int | None:
    """Return how many losses of 0 in a row certify a candidate, None if no number does.

    Alone it must reach ``N/delta``. Under false discovery control ``together`` asks how many each
    candidate needs if all N are perfect: then ``1/delta`` is enough.
    """
    shared = together and config.control == "fdr"
    goal = math.log((1 if shared else config.n_candidates) / config.delta)
    targets = config.targets
    wealth = Wealth(targets.shape, targets, config.played_bet, peek=config.released)
    count = 0
    while float(wealth.log_wealth.min()) < goal - EQUAL:
        wealth.feed(..., 0.0)
        count += 1
        if count == 2 and not wealth.log_wealth.min() > 0.0:
            return None  # a bet of 0 never wins anything
        if count >= 1_000_000:
            return None
    return count


def advice(config: Config, available: Sequence[int] | None = None) -> list[str]:
    """Return what should be known before the run, as sentences; empty when there is nothing.

    Parameters
    ----------
    available : the number of losses at hand for each candidate, None if unlimited
    """
    n, budget = config.n_candidates, config.budget
    notes = []
    if n == 1:
        notes.append("There is a single candidate, so no correction for many tests is needed.")
    if budget < n:
        notes.append(
            f"The budget of {budget} losses is smaller than the {n} candidates: some are never "
            "tested and stay uncertified, but still count."
        )
    alone, shared = zeros_needed(config), zeros_needed(config, together=True)
    if alone is None or shared is None:
        notes.append("With this bet the wealth never grows, so nothing can ever be certified.")
        return notes
    most = min(budget, max(available) if available is not None and len(available) else budget)
    if most < shared:
        notes.append(
            f"Nothing can be certified: even a candidate whose losses are all 0 needs {shared} of "
            f"them{' (if all candidates are as good)' if shared < alone else ''}, and at most "
            f"{most} are at hand."
        )
    elif available is not None:
        short = sum(count < shared for count in available)
        if short:
            notes.append(
                f"{short} of {n} candidates have fewer than the {shared} losses that even a "
                "perfect candidate needs, and cannot be certified."
            )
    return notes


def _check_choice(value: str, allowed: tuple[str, ...], name: str) -> None:
    if value not in allowed:
        raise ValueError(f"The {name} is {value!r}, but must be one of {', '.join(allowed)}.")
