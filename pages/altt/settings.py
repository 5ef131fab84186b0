"""aLTT's controls: widgets in, one frozen record of settings out."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from models.altt.config import Config
from models.betting import Bet
from pages.altt.story import ACQUISITIONS, BETS, CONTROLS, KINDS, SOURCES
from ui.controls import Controls

SIMULATED = ("mixed20", "easy10", "hard20", "null10", "custom")
OWN = ("yours", "feed")
#: The target that each world is made for.
TARGETS = {
    "mixed20": 0.2,
    "easy10": 0.2,
    "hard20": 0.57,
    "null10": 0.2,
    "digits": 0.03,
    "cartpole": 0.2,
}


@dataclass(frozen=True)
class Settings:
    """Everything that decides the picture; the same settings give the same numbers."""

    source: str
    kind: str
    risks: str
    names: str
    alpha: float
    delta: float
    control: str
    acquisition: str
    epsilon: float
    budget: int
    bet: str
    truncation: float
    amount: float
    stop: int
    seed: int
    released: bool = False

    def config(self, n_candidates: int) -> Config:
        """Return the settings of a run with so many candidates.

        Raises
        ------
        ValueError
            One sentence on the setting that cannot be used.
        """
        return Config(
            n_candidates,
            self.alpha,
            self.delta,
            self.control,
            self.acquisition,
            self.epsilon,
            Bet(self.bet, self.truncation, self.amount if self.bet == "fixed" else None),
            self.budget,
            self.stop or None,
            self.released,
        )


def draw_controls(controls: Controls, *, released: bool) -> Settings:
    """Draw the six controls in sight and the further ones, and return what they say."""
    source = controls.choice(
        "source",
        "What is tested",
        SOURCES,
        "mixed20",
        "The candidate settings and where their losses come from. Another choice brings other "
        "lines into the race.",
    )
    kind, risks, names = "bernoulli", "", ""
    if source == "custom":
        risks = controls.text(
            "risks",
            "True risks, one a candidate",
            "0.05 0.1 0.15 0.25 0.3 0.4",
            "Numbers between 0 and 1; those up to the target are the ones to find.",
        )
    if source == "feed":
        names = controls.text(
            "names",
            "Names of the candidates",
            "A, B, C, D, E",
            "Separated by commas, and fixed before the first loss: adding one later would need a "
            "higher bar for all.",
        )
    alpha = controls.slider(
        "alpha",
        "Target risk alpha",
        0.01,
        0.99,
        0.2,
        0.01,
        "A setting is reliable if its expected loss is at most alpha. A lower target needs more "
        "tests, and the lines climb more slowly.",
    )
    delta = controls.slider(
        "delta",
        "Error level delta",
        0.01,
        0.5,
        0.1,
        0.01,
        "How often the promise may fail. A smaller delta raises the bar that a line must reach.",
    )
    control = controls.choice(
        "control",
        "What is promised",
        CONTROLS,
        "fwer",
        "No false certificate at all (family-wise), or few on average (false discoveries): the "
        "latter lowers the bar with each certificate.",
    )
    acquisition = controls.choice(
        "acquisition",
        "Which setting is tested next",
        ACQUISITIONS,
        "eps-greedy",
        "“Bet on the leader” sends most tests to the line closest to the bar; “in turn” treats all "
        "alike, as LTT does.",
    )
    epsilon = 0.25
    if acquisition == "eps-greedy":
        epsilon = controls.slider(
            "epsilon",
            "Share of exploring tests",
            0.0,
            1.0,
            epsilon,
            0.05,
            "How often a random uncertified setting is tested instead of the leader; 0.25 did best "
            "in the paper.",
        )
    budget, bet, truncation, amount, stop, seed = 2000, "agrapa", 0.75, 0.5, 0, 0
    with st.popover("More settings", icon=":material/tune:", width="stretch"):
        budget = controls.slider(
            "budget", "Budget T (tests)", 100, 5000, budget, 100,
            "The most tests that may be made. LTT must fix it in advance and looks only there.",
        )  # fmt: skip
        bet = controls.choice(
            "bet", "Bet", BETS, bet,
            "How much of a line's wealth is staked on the next loss; all are fixed before it.",
        )  # fmt: skip
        if bet == "fixed":
            amount = controls.slider(
                "amount", "Fixed bet", 0.0, 2.0, amount, 0.05,
                "The same stake for every loss; 0 never wins anything.",
            )  # fmt: skip
        truncation = controls.slider(
            "truncation", "Truncation c", 0.05, 1.0, truncation, 0.05,
            "The largest share of the admissible bet that may be staked. At 1 a single loss of 1 "
            "can bankrupt a line for good.",
        )  # fmt: skip
        stop = controls.number(
            "stop", "Stop at so many certified (0: never)", 0, 2000, 0,
            "Ends the run as soon as so many settings are certified, which is always allowed.",
        )  # fmt: skip
        if source not in OWN and source in SIMULATED:
            kind = controls.choice(
                "kind", "Losses", KINDS, kind,
                "0 or 1 (wrong or right), or anything in between with the same mean.",
            )  # fmt: skip
        seed = controls.number(
            "seed", "Seed", 0, 10**6, 0, "Another seed draws other losses; the same seed repeats."
        )
    return Settings(
        source=source,
        kind=kind,
        risks=risks,
        names=names,
        alpha=round(float(alpha), 2),
        delta=round(float(delta), 2),
        control=control,
        acquisition=acquisition,
        epsilon=round(float(epsilon), 2),
        budget=int(budget),
        bet=bet,
        truncation=round(float(truncation), 2),
        amount=round(float(amount), 2),
        stop=stop,
        seed=seed,
        released=released,
    )
