"""One aLTT run: a generator of frozen states, and the same run fed from outside.

``run`` draws losses itself from a source. ``Race`` is fed by hand or from a log: the next candidate
to test is a function of the state and of draws fixed at the start, so asking twice changes nothing,
and replaying a log reproduces the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import index
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from models.altt.certificates import anytime_p
from models.altt.config import Config
from models.altt.solo import Solo
from models.betting import check_losses

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]
Scalar = TypeVar("Scalar", bound=np.generic)


class Source(Protocol):
    """Where losses come from."""

    def usable(self) -> Bool | None:
        """Return which candidates have losses left, shape (N,); None if all always do."""

    def draw(self, candidates: Index) -> Float:
        """Return a fresh loss of each candidate given, all on one sample, shape (K, J)."""


@dataclass(frozen=True)
class Entry:
    """One line of the log: the loss (one a risk) of one candidate, and the bets placed on it."""

    round: int
    candidate: int
    losses: tuple[float, ...]
    bets: tuple[float, ...]
    log_wealth: float


@dataclass(frozen=True)
class State:
    """What is known after a round; arrays are read-only.

    Attributes
    ----------
    round : int, rounds so far; 0 before the first
    spent : int, losses drawn so far (equal to ``round`` unless acquisition is "all")
    entries : the log lines of this round
    log_wealth, log_peak : float64, shape (N,), natural logarithms
    tests : int64, shape (N,)
    mean : float64, shape (N, J), nan where untested
    certified : bool, shape (N,)
    stopped : why the run is over, or None: "budget", "enough certified", "all certified",
        "out of data"
    """

    round: int
    spent: int
    entries: tuple[Entry, ...]
    log_wealth: Float
    log_peak: Float
    tests: npt.NDArray[np.int64]
    mean: Float
    certified: Bool
    stopped: str | None

    @property
    def wealth(self) -> Float:
        """Wealth for display, held within 1e-300 and 1e300."""
        return np.exp(np.clip(self.log_wealth, -690.0, 690.0))

    @property
    def anytime_p(self) -> Float:
        """p-values valid at all times at once, ``min(1, 1/max E)`` (eq. 13)."""
        return anytime_p(self.log_peak)

    @property
    def certified_ids(self) -> tuple[int, ...]:
        """The certified candidates in ascending order."""
        return tuple(int(i) for i in np.flatnonzero(self.certified))


class Race:
    """A run that is fed from outside.

    Parameters
    ----------
    config : the settings
    rng : the draws of the acquisition rule are taken from it at once, two a loss of the budget, so
        that a longer budget begins with the same draws
    """

    def __init__(self, config: Config, rng: np.random.Generator) -> None:
        self.config = config
        self._risks = config.targets.size
        self._draws = rng.random((config.budget, 2))
        self.reset()

    def reset(self) -> None:
        """Forget every loss."""
        self._solo = Solo(self.config)
        self.log: list[Entry] = []
        self.rounds = 0

    def stopped(self, usable: Bool | None = None) -> str | None:
        """Return why the run is over (Section 3: at |set| >= d or at the budget), or None."""
        done = self._solo.certified
        spent = len(self.log)
        if spent >= self.config.budget:
            return "budget"
        found = np.count_nonzero(done)
        if self.config.stop_at is not None and found >= self.config.stop_at:
            return "enough certified"
        if found == done.size and not self.config.released:  # the released script tests on
            return "all certified"
        if usable is not None:
            left = usable if self.config.acquisition in ("uniform", "random") else usable & ~done
            if not left.any():
                return "out of data"
        if self.config.acquisition == "all":
            open_ = ~done if usable is None else usable & ~done
            if spent + int(open_.sum()) > self.config.budget:
                return "budget"  # a sample is paid for by all open candidates or by none
        return None

    def suggest(self, usable: Bool | None = None) -> Index:
        """Return the candidates to test next, empty when the run is over."""
        if self.stopped(usable) is not None:
            return np.empty(0, dtype=np.intp)
        explore, which = self._draws[self.rounds].tolist()
        return self._solo.choose(explore, which, usable)

    def feed(self, candidates: Sequence[int] | Index, losses: npt.ArrayLike) -> None:
        """Take one round: a loss (one a risk) of each candidate given, all from one sample.

        Parameters
        ----------
        candidates : distinct indices in [0, N); any, not only those suggested
        losses : float in [0, 1], shape (K,) or (K, J)

        Raises
        ------
        ValueError
            If an index is out of range, a loss is not in [0, 1], or the budget is spent.
        """
        n, risks = self.config.n_candidates, self._risks
        picks = [index(pick) for pick in candidates]
        if not picks or min(picks) < 0 or max(picks) >= n:
            raise ValueError(f"Candidates are {picks}, but must be from 0 to {n - 1}.")
        if len(set(picks)) != len(picks):
            raise ValueError("A round takes at most one loss of each candidate.")
        x = check_losses(losses, "Losses")
        if x.size != len(picks) * risks:
            raise ValueError(
                f"{x.size} losses were given for {len(picks)} candidates with {risks} risks each."
            )
        if len(self.log) + len(picks) > self.config.budget:
            raise ValueError(
                f"The budget of {self.config.budget} losses is spent: raise it to go on."
            )
        table = x.reshape(-1, risks).tolist()
        bets = self._solo.update(picks, table)
        self.rounds += 1
        for pick, row, stakes in zip(picks, table, bets, strict=True):
            wealth = float(self._solo.log_wealth[pick])
            self.log.append(Entry(self.rounds, pick, tuple(row), tuple(stakes), wealth))

    def feed_batch(self, candidate: int, losses: npt.ArrayLike) -> None:
        """Take several losses of one candidate as so many rounds; all are checked first.

        Parameters
        ----------
        losses : float in [0, 1], shape (b,) or (b, J)
        """
        risks = self._risks
        x = check_losses(losses, "Losses")
        if x.size == 0 or x.size % risks:
            raise ValueError(f"{x.size} losses were given, but {risks} a test are needed.")
        if len(self.log) + x.size // risks > self.config.budget:
            raise ValueError(
                f"{x.size // risks} losses exceed what is left of the budget of "
                f"{self.config.budget}: raise it to go on."
            )
        for row in x.reshape(-1, risks):
            self.feed([candidate], row)

    def losses(self, candidate: int) -> Float:
        """Return the losses of one candidate so far, in order, shape (n, J)."""
        seen = [entry.losses for entry in self.log if entry.candidate == candidate]
        return np.asarray(seen, dtype=np.float64).reshape(-1, self._risks)

    def state(self, usable: Bool | None = None) -> State:
        """Return a frozen copy of what is known now."""
        spent, last = len(self.log), self.rounds
        first = spent
        while first > 0 and self.log[first - 1].round == last:
            first -= 1
        solo = self._solo
        return State(
            last,
            spent,
            tuple(self.log[first:]),
            _frozen(solo.log_wealth),
            _frozen(solo.log_peak),
            _frozen(solo.tests),
            _frozen(solo.mean),
            _frozen(solo.certified),
            self.stopped(usable),
        )


def _frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def play(race: Race, source: Source) -> Iterator[State]:
    """Let a race draw its own losses until it stops, yielding the state now and after every round.

    The last state carries the reason why the run is over.
    """
    yield race.state(source.usable())
    while (picks := race.suggest(source.usable())).size:
        race.feed(picks, source.draw(picks))
        yield race.state(source.usable())


def run(config: Config, source: Source, rng: np.random.Generator) -> Iterator[State]:
    """Run aLTT (Algorithm 1), yielding the state at the start and after every round.

    Parameters
    ----------
    config : the settings
    source : the losses
    rng : for the acquisition rule alone
    """
    return play(Race(config, rng), source)
