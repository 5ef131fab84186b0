"""The same run many times: how much each method finds, and how often it errs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from models.altt.baselines import ltt_many
from models.altt.config import Config
from models.altt.ensemble import Ensemble, many_runs
from models.altt.environments import Environment, simulated
from models.checks import Float
from models.intervals import Interval, mean_interval, share_interval
from ui.charts import Role

BLOCK = 25
REPEATS = 200
GRID = 100  # budgets at which a curve is drawn
NULL_RUNS, NULL_TESTS, NULL_CANDIDATES = 200, 1000, 10
JUST_ABOVE = 1e-9


@dataclass(frozen=True)
class Method:
    """What one method did over R runs, at B budgets.

    Attributes
    ----------
    found : share of the reliable found, shape (R, B); nan if nothing is reliable
    wrong, fdp : shape (R,), whether a false certificate stands at the end, and their share
    horizon_only : each budget is one whose only look is at its end
    """

    name: str
    role: Role
    at: npt.NDArray[np.int64]
    found: Float
    wrong: npt.NDArray[np.bool_]
    fdp: Float
    horizon_only: bool = False

    @property
    def runs(self) -> int:
        """How many runs there were."""
        return len(self.wrong)

    @property
    def power(self) -> tuple[Float, Float]:
        """Mean share found at each budget, and the reach of its 95 % interval, shape (B,)."""
        spread = self.found.std(axis=0, ddof=1) / np.sqrt(self.runs)
        return self.found.mean(axis=0), 1.96 * spread

    def error(self, *, fdr: bool) -> Interval:
        """Return the error rate that was promised to be small, with its 95 % interval."""
        if fdr:
            return mean_interval(self.fdp)
        return share_interval(int(self.wrong.sum()), self.runs)

    def extended(self, more: Method) -> Method:
        """Return these runs and more of the same."""
        return replace(
            self,
            found=np.concatenate([self.found, more.found]),
            wrong=np.concatenate([self.wrong, more.wrong]),
            fdp=np.concatenate([self.fdp, more.fdp]),
        )


def blocks(config: Config, environment: Environment, seed: int) -> Iterator[list[Method]]:
    """Yield all methods' runs so far, a block more each time."""
    total: list[Method] = []
    for number in range(REPEATS // BLOCK):
        rng = np.random.default_rng([seed, 3, number])
        new = _block(config, environment, rng)
        total = [a.extended(b) for a, b in zip(total, new, strict=True)] if total else new
        yield total


def _block(config: Config, environment: Environment, rng: np.random.Generator) -> list[Method]:
    honest = replace(config, released=False)
    greedy = replace(honest, acquisition="eps-greedy", stop_at=None)
    rivals: list[tuple[str, Config, Role]] = [
        ("aLTT, as set above", config, "naive" if config.released else "ours"),
        ("aLTT, 25 % exploring", replace(greedy, epsilon=0.25), "variant"),
        ("aLTT, 95 % exploring", replace(greedy, epsilon=0.95), "other"),
        ("aLTT, in turn", replace(greedy, acquisition="uniform"), "peer"),
    ]
    if config.acquisition == "eps-greedy" and config.epsilon == 0.25 and not config.released:
        del rivals[1]
    budget = config.budget
    at = np.unique(np.linspace(0, budget, GRID + 1).round().astype(np.int64))
    found = []
    for name, rule, role in rivals:
        runs = many_runs(rule, environment, BLOCK, rng)
        found.append(_method(name, role, runs, at))
    looks = [max(1, budget * k // 8) for k in range(1, 9)]
    rule_name = "holm" if config.control == "fwer" else None
    runs = ltt_many(honest, environment, BLOCK, rng, at=sorted(set(looks)), rule=rule_name)
    found.append(_method("LTT, Hoeffding–Bentkus", "classical", runs, None))
    return found


def _method(name: str, role: Role, runs: Ensemble, at: npt.NDArray[np.int64] | None) -> Method:
    columns = np.arange(len(runs.at)) if at is None else at
    return Method(
        name,
        role,
        runs.at[columns],
        runs.true_positive_rate[:, columns],
        runs.errors[:, -1] > 0,
        runs.false_discovery_proportion[:, -1],
        at is None,
    )


def peeking(config: Config) -> list[Method]:
    """Return how often honest and peeking bets err where nothing may be certified.

    Ten candidates have a risk just above the target; each of 200 runs makes 1,000 tests.
    """
    target = float(config.targets[0])
    nothing = simulated([target + JUST_ABOVE] * NULL_CANDIDATES)
    base = replace(config, n_candidates=NULL_CANDIDATES, budget=NULL_TESTS, stop_at=None)
    rules: list[tuple[str, bool, Role]] = [
        ("Bets fixed before the loss", False, "ours"),
        ("Bets that see the loss", True, "naive"),
    ]
    found = []
    for name, released, role in rules:
        rule = replace(base, released=released)
        runs = many_runs(rule, nothing, NULL_RUNS, np.random.default_rng(4))
        found.append(_method(name, role, runs, runs.at[-1:]))
    return found
