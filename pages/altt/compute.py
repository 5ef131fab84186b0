"""aLTT's results for the page: settings in, cached results out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import streamlit as st

from models.altt import baselines, cartpole, digits
from models.altt.config import Config, advice, zeros_needed
from models.altt.environments import Environment, Stream, preset, reliable, simulated
from models.altt.race import Race, Source
from models.altt.table import LossTable
from models.checks import Float
from pages.altt.settings import SIMULATED, Settings
from pages.altt.trace import Trace, traced

Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Run:
    """What the page shows of one run.

    Attributes
    ----------
    trace : the run; ``flat``: the same budget in turn, None where there is no more data
    ltt : whom LTT certifies at the budget, by the name of its p-value
    tests, mean, log_wealth, log_peak, certified : the last state, shape (N,)
    stopped : why the run is over, None while a visitor feeds it
    risks : the true risks, shape (N,), None where unknown
    coverage : share of answers that each threshold accepts, for the digits
    """

    config: Config
    names: tuple[str, ...]
    trace: Trace
    flat: Trace | None
    ltt: dict[str, Bool]
    tests: npt.NDArray[np.int64]
    mean: Float
    log_wealth: Float
    log_peak: Float
    certified: Bool
    stopped: str | None
    zeros: int | None
    advice: tuple[str, ...]
    risks: Float | None = None
    coverage: Float | None = None

    @property
    def reliable(self) -> Bool | None:
        """Who is truly reliable, shape (N,), None where unknown."""
        return None if self.risks is None else np.asarray(self.risks <= self.config.targets[0])


def world(settings: Settings) -> Environment | None:
    """Return the world of the settings, None for a visitor's own losses.

    Raises
    ------
    ValueError
        If typed risks are unusable.
    """
    match settings.source:
        case "digits":
            return digits.load().pool(settings.alpha)
        case "cartpole":
            return cartpole.pool()
        case "custom":
            return simulated(numbers(settings.risks), settings.kind)
        case "yours" | "feed":
            return None
    return preset(settings.source, settings.kind)[0]


def names_of(settings: Settings, environment: Environment) -> tuple[str, ...]:
    """Return what the candidates are called on the page; simulated ones have only a number."""
    if settings.source in SIMULATED:
        return tuple(f"No. {i + 1}" for i in range(len(environment.names)))
    return environment.names


def numbers(text: str) -> list[float]:
    """Read numbers separated by spaces, commas or semicolons.

    Raises
    ------
    ValueError
        Naming the first entry that is no number.
    """
    found = []
    for entry in text.replace(",", " ").replace(";", " ").split():
        try:
            found.append(float(entry))
        except ValueError:
            raise ValueError(
                f"{entry[:20]!r} is not a number; write numbers between 0 and 1 with a decimal "
                "point, separated by spaces, such as 0.05 0.1 0.25."
            ) from None
    if not found:
        raise ValueError("There are no numbers; write some between 0 and 1, such as 0.05 0.1 0.25.")
    return found


def raced(config: Config, source: Source, seed: int) -> Race:
    """Let a race draw its losses until it stops."""
    race = Race(config, np.random.default_rng(seed))
    while (picks := race.suggest(source.usable())).size:
        race.feed(picks, source.draw(picks))
    return race


def spread(config: Config, source: Source, seed: int) -> Race:
    """Spend the whole budget in turn, whoever is certified, as LTT does."""
    race = Race(config, np.random.default_rng(seed))
    used = np.zeros(config.n_candidates)
    while len(race.log) < config.budget:
        usable = source.usable()
        if usable is not None and not usable.any():
            break
        pick = np.argmin(used if usable is None else np.where(usable, used, np.inf))
        race.feed([int(pick)], source.draw(np.array([pick])))
        used[pick] += 1
    return race


def stream(environment: Environment, seed: int) -> Stream:
    """Return the losses of a world, apart from the draws of the rule that picks candidates."""
    return Stream(environment, np.random.default_rng([seed, 1]))


def race_of(settings: Settings) -> Race:
    """Run the settings' world.

    Raises
    ------
    ValueError
        One sentence on why the settings cannot be used.
    """
    environment = world(settings)
    assert environment is not None
    config = settings.config(len(environment.names))
    return raced(config, stream(environment, settings.seed), settings.seed)


@st.cache_data(max_entries=128, show_spinner="Running the race")
def simulate(settings: Settings) -> Run:
    """Run the settings' world; holds no upload, so visitors may share it.

    Raises
    ------
    ValueError
        One sentence on why the settings cannot be used.
    """
    environment = world(settings)
    assert environment is not None
    race = race_of(settings)
    config = race.config
    flat = spread(_in_turn(config), stream(environment, settings.seed), settings.seed)
    return described(
        race,
        names_of(settings, environment),
        flat=flat,
        risks=environment.risks[:, 0],
        good=reliable(environment, settings.alpha),
        coverage=digits.load().coverage() if settings.source == "digits" else None,
    )


def from_table(settings: Settings, table: LossTable) -> tuple[Race, Run]:
    """Run a visitor's own losses.

    Raises
    ------
    ValueError
        One sentence on why the settings cannot be used.
    """
    config = settings.config(len(table.names))
    source = table.source()
    race = raced(config, source, settings.seed)
    flat = spread(_in_turn(config), table.source(), settings.seed)
    run = described(race, table.names, flat=flat, available=table.available, usable=source.usable())
    return race, run


def described(
    race: Race,
    names: Sequence[str],
    *,
    flat: Race | None = None,
    risks: Float | None = None,
    good: Bool | None = None,
    coverage: Float | None = None,
    available: Sequence[int] | None = None,
    usable: Bool | None = None,
) -> Run:
    """Return what the page shows of a race, and of the same budget spent in turn."""
    state = race.state(usable)
    config = race.config
    return Run(
        config,
        tuple(names),
        traced(race, good),
        None if flat is None else traced(flat, good),
        {} if flat is None else _ltt(flat),
        state.tests,
        state.mean[:, 0],
        state.log_wealth,
        state.log_peak,
        state.certified,
        state.stopped,
        zeros_needed(config),
        tuple(advice(config, available)),
        risks,
        coverage,
    )


def _in_turn(config: Config) -> Config:
    """The same promise and budget, tested in turn with honest bets."""
    return replace(config, acquisition="uniform", released=False, stop_at=None)


def _ltt(flat: Race) -> dict[str, Bool]:
    """Whom LTT certifies from the losses tested in turn: by proper p-values, looked at once."""
    config = replace(flat.config, budget=max(len(flat.log), 1))
    losses = [flat.losses(i) for i in range(config.n_candidates)]
    rule = "holm" if config.control == "fwer" else None
    found = {"Hoeffding–Bentkus": baselines.ltt(losses, config, "hb", rule)}
    if all(((x == 0.0) | (x == 1.0)).all() for x in losses):
        found["exact binomial"] = baselines.ltt(losses, config, "binomial", rule)
    return found
