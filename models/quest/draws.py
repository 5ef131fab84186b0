"""Random draws of labelled and unlabelled rows from a population whose truth is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import stats

from models.checks import Float
from models.quest.data import load_population
from models.quest.influence import plug_in, rank, summarise
from models.quest.intake import Samples
from models.quest.measures import Measure, Quantile
from models.quest.simulate import simulate_population

# Source -> (population, which predictions); simulated ones are named sim_<kind>.
REAL = {
    "net_assets": ("net_assets", "prediction_accounts"),
    "net_assets_weak": ("net_assets", "prediction"),
    "polling": ("polling", "prediction"),
    "words_model": ("words", "judge_model"),
    "words_rater": ("words", "judge_rater"),
    "earnings": ("earnings", "prediction"),
}
SIMULATED = ("gaussian", "lognormal", "pareto", "ratings")
SIMULATED_ROWS = 200_000


@dataclass(frozen=True, repr=False)
class Draw:
    """A repeatable recipe: which population, how many rows, what is broken on purpose.

    Calling it with a generator draws one set of samples.

    Attributes
    ----------
    source : a key of REAL, or ``sim_`` with one of SIMULATED
    n, n_unlabelled : labelled and unlabelled rows, drawn without replacement
    kept : share in [0, 1] of the drawn rows that keep their own prediction; the others' predictions
        are shuffled among them, so that 0 makes the model useless without changing its histogram
    selection : 0 draws the labelled rows at random; a positive value prefers rows with high labels,
        which breaks the paper's assumption of one population
    cap : quantile level in (0, 1] above which labels and predictions are recorded as that value
    quality, bias, noise, tail : the simulated population's parameters
    """

    source: str
    n: int
    n_unlabelled: int
    kept: float = 1.0
    selection: float = 0.0
    cap: float = 1.0
    quality: float = 0.8
    bias: float = 0.3
    noise: float = 0.0
    tail: float = 1.0

    def __repr__(self) -> str:
        """Show what differs from the defaults, as code that builds the same recipe."""
        shown = [repr(self.source), repr(self.n), repr(self.n_unlabelled)]
        for field in fields(self)[3:]:
            value = getattr(self, field.name)
            if value != field.default:
                shown.append(f"{field.name}={value!r}")
        return f"Draw({', '.join(shown)})"

    def population(self) -> tuple[Float, Float]:
        """Gold values and predictions of every row, two float64 arrays of shape (M,)."""
        if self.source in REAL:
            name, judge = REAL[self.source]
            population = load_population(name)
            return population.gold, population.predictions[judge]
        kind = self.source.removeprefix("sim_")
        if kind not in SIMULATED:
            allowed = ", ".join([*REAL, *(f"sim_{k}" for k in SIMULATED)])
            raise ValueError(f"Source {self.source!r} is unknown; choose one of {allowed}.")
        return _simulated(kind, self.quality, self.bias, self.noise, self.tail)

    def truth(self, measure: Measure) -> float:
        """Return the measure on every row's gold value, before any cap."""
        gold = _sorted_gold(self.source, self.quality, self.bias, self.noise, self.tail)
        if isinstance(measure, Quantile):
            return float(gold[rank(gold.size, measure.level) - 1])
        return float(plug_in(gold, measure))

    def __call__(self, rng: np.random.Generator) -> Samples:
        """Draw one set of samples.

        Raises
        ------
        ValueError
            If the population has fewer than n + N rows.
        """
        gold, predictions = self.population()
        total = self.n + self.n_unlabelled
        if total > gold.size:
            raise ValueError(
                f"{self.n:,} labelled and {self.n_unlabelled:,} unlabelled rows were asked for, "
                f"but this population has {gold.size:,} rows."
            )
        rows = self._rows(gold, rng)
        y, yhat = gold[rows], predictions[rows]
        if self.kept < 1.0:
            shuffled = np.flatnonzero(rng.random(total) >= self.kept)
            yhat[shuffled] = yhat[rng.permutation(shuffled)]
        if self.cap < 1.0:
            ceiling = float(np.quantile(gold, self.cap))
            y, yhat = np.minimum(y, ceiling), np.minimum(yhat, ceiling)
        return Samples(y[: self.n], yhat[: self.n], yhat[self.n :])

    def _rows(self, gold: Float, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        total = self.n + self.n_unlabelled
        if self.selection == 0.0:
            return rng.choice(gold.size, size=total, replace=False)
        score = stats.norm.ppf((stats.rankdata(gold) - 0.5) / gold.size)
        # Largest of score plus Gumbel noise: a weighted draw without replacement.
        order = np.argsort(-(self.selection * score + rng.gumbel(size=gold.size)))
        chosen, others = order[: self.n], order[self.n :]
        return np.concatenate([chosen, rng.permutation(others)[: self.n_unlabelled]])


@lru_cache(maxsize=8)
def _simulated(
    kind: str, quality: float, bias: float, noise: float, tail: float
) -> tuple[Float, Float]:
    return simulate_population(kind, SIMULATED_ROWS, quality, bias, noise, tail, seed=2025)


@lru_cache(maxsize=8)
def _sorted_gold(source: str, quality: float, bias: float, noise: float, tail: float) -> Float:
    draw = Draw(source, 2, 2, quality=quality, bias=bias, noise=noise, tail=tail)
    return np.sort(draw.population()[0])


def rows_of(source: str) -> int:
    """Return how many rows a source's population has."""
    return Draw(source, 2, 2).population()[0].size


def scale_of(draw: Draw, measure: Measure, alpha: float) -> tuple[float, float, float]:
    """Return the truth, the standard deviation of one label's influence, and the naive value.

    The naive value is the measure on all predictions; all three describe the population, so they
    do not depend on how many rows are drawn.
    """
    gold, predictions = draw.population()
    whole = summarise(gold, measure, alpha, ordered=False)
    naive = summarise(predictions, measure, alpha, ordered=False)
    return draw.truth(measure), math.sqrt(whole.variance), naive.value


def unit_of(source: str) -> str:
    """Return what a source's values count."""
    return load_population(REAL[source][0]).unit if source in REAL else "value"
