"""The steering page's controls: widgets in, one frozen record of settings out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from models.diffusion.schedules import Grid, make_grid
from models.steering.config import FKConfig
from pages.steering.story import (
    INTERMEDIATES,
    POTENTIALS,
    RELEASED,
    RESAMPLERS,
    REWARDS,
    SOURCES,
    WHEN,
)
from ui.controls import Controls


@dataclass(frozen=True)
class Schedule:
    """Noise of the sampling steps, and where on the way rewards are looked at.

    Attributes
    ----------
    eta : in [0, 1]
    span, every : first and last weighed step and their distance, as shares of the sampling steps
    """

    eta: float
    span: tuple[float, float]
    every: float

    def of(self, steps: int) -> dict[str, int]:
        """Return the numbers of the weighed steps of a sampler, as a configuration takes them."""
        first, final = (max(0, round(share * steps) - 1) for share in self.span)
        return {"first": first, "final": final, "every": max(1, round(self.every * steps))}


@dataclass(frozen=True)
class Settings:
    """Everything that decides the picture; the same settings give the same numbers."""

    source: str
    components: int
    reward: str
    lam: float
    k: int
    steps: int
    potential: str
    schedule: Schedule
    resampler: str
    when: str
    threshold: float
    intermediate: str
    samples: int
    released: str
    seed: int

    @property
    def grid(self) -> Grid:
        """The sampling steps."""
        return make_grid(steps=self.steps, eta=self.schedule.eta)

    @property
    def config(self) -> FKConfig:
        """The choices of the steered particles.

        Raises
        ------
        ValueError
            One sentence on choices that do not fit each other.
        """
        return FKConfig(**self.choices)

    @property
    def smooth(self) -> bool:
        """Whether the reward has a gradient."""
        return self.reward in ("linear", "point")

    @property
    def choices(self) -> dict[str, Any]:
        """The arguments of the configuration."""
        return {
            "lam": self.lam,
            "potential": self.potential,
            **self.schedule.of(self.steps),
            "resampler": self.resampler,
            "when": self.when,
            "threshold": self.threshold,
            "intermediate": self.intermediate,
            "samples": self.samples,
            "as_released": self.released if self.released != "exact" else "",
        }


def draw_controls(controls: Controls) -> Settings:
    """Draw the six controls in sight and the further ones, and return what they say."""
    source = controls.choice(
        "source", "What is sampled", SOURCES, "groups",
        "The law that the diffusion model draws from when nobody steers it.",
    )  # fmt: skip
    components = 3
    if source == "yours":
        components = controls.slider(
            "components", "Groups to fit", 1, 6, 3, 1,
            "How many Gaussian groups describe your points. More groups follow them more closely.",
        )  # fmt: skip
    reward = controls.choice(
        "reward", "Reward", REWARDS, "linear",
        "What samples should score high on. The shaded region of the picture moves with it.",
    )  # fmt: skip
    lam = controls.slider(
        "lam", "Strength λ", 0.0, 6.0, 3.0, 0.25,
        "How strongly the reward counts. At 0 the target is the model itself; the higher, the "
        "rarer the target is among plain samples.",
    )  # fmt: skip
    k = controls.slider(
        "k", "Particles k", 2, 128, 16, 2,
        "How many samples run side by side. Every method gets as many network calls as k plain "
        "samples cost.",
    )  # fmt: skip
    steps = controls.slider(
        "steps", "Sampling steps", 10, 100, 50, 10,
        "Steps from noise to a finished sample. Each is one network call for each particle.",
    )  # fmt: skip
    potential = controls.choice(
        "potential", "Potential", POTENTIALS, "difference",
        "How an intermediate reward becomes a weight. All are exact with many particles; with few "
        "they differ in how greedy they are.",
    )  # fmt: skip
    with st.popover("More settings", icon=":material/tune:", width="stretch"):
        schedule = draw_schedule(controls)
        resampler = controls.choice(
            "resampler", "Resampling", RESAMPLERS, "systematic",
            "How copies are drawn. Multinomial, the paper's, has the most chance in it.",
        )  # fmt: skip
        when = controls.choice(
            "when", "When to copy", WHEN, "adaptive",
            "Only when the weights have become uneven, at every weighing, or never.",
        )  # fmt: skip
        threshold = controls.slider(
            "threshold", "Copy below this share of k", 0.0, 1.0, 0.5, 0.05,
            "Particles are copied when the effective sample size falls below this share.",
        )  # fmt: skip
        intermediate = controls.choice(
            "intermediate", "Intermediate reward", INTERMEDIATES, "denoised",
            "What is scored on the way: the denoised estimate costs nothing more.",
        )  # fmt: skip
        samples = 4
        if intermediate == "many":
            samples = controls.slider(
                "samples", "Draws N for one reward", 1, 64, 4, 1,
                "More draws make the intermediate reward surer, at so many reward calls each.",
            )  # fmt: skip
        released = controls.choice(
            "released", "Weights", RELEASED, "exact",
            "The published code's weights depart from the paper's mathematics; they stand here "
            "to compare.",
        )  # fmt: skip
        seed = controls.number(
            "seed", "Seed", 0, 10**6, 0, "Another seed draws other noises; the same one repeats."
        )
    return Settings(
        source, int(components), reward, float(lam), int(k), int(steps), potential, schedule,
        resampler, when, round(float(threshold), 2), intermediate, int(samples), released, seed,
    )  # fmt: skip


def draw_schedule(controls: Controls, prefix: str = "") -> Schedule:
    """Draw the controls of the schedule, whose names begin with the prefix."""
    eta = controls.slider(
        f"{prefix}eta", "Noise of each step η", 0.0, 1.0, 1.0, 0.05,
        "At 1 every step adds fresh noise, so that copies drift apart; at 0 they stay the "
        "same.",
    )  # fmt: skip
    span = controls.span(
        f"{prefix}span", "Steps that are weighed, from and to", (0.2, 0.8),
        "Where on the way the intermediate rewards are looked at; the end always counts.",
    )  # fmt: skip
    every = controls.slider(
        f"{prefix}every", "Weighed once in so large a share of the steps", 0.02, 0.5, 0.2, 0.02,
        "Smaller looks more often, with more reward calls and more copying.",
    )  # fmt: skip
    low, high = span
    return Schedule(round(float(eta), 2), (round(low, 2), round(high, 2)), round(float(every), 2))
