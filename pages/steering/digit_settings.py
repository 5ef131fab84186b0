"""Controls of the digits: widgets in, one frozen record of settings out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from models.diffusion.schedules import Grid, make_grid
from models.steering.ascent import Estimator
from models.steering.config import FKConfig
from models.steering.dno import DNOConfig
from models.steering.image_rewards import ImageReward, image_reward
from models.steering.methods import Method
from models.torchrun import torch
from pages.steering.settings import Schedule, draw_schedule
from pages.steering.story import POTENTIALS
from ui.controls import Controls
from ui.drawing import drawing_pad

METHODS: tuple[Method, ...] = ("steering", "best of n", "guidance")
REWARDS = {
    "digit": "Be a certain digit",
    "ink": "Much ink",
    "little ink": "Little ink",
    "contrast": "High contrast",
    "left-right symmetry": "Same left and right",
    "up-down symmetry": "Same above and below",
    "thick strokes": "Thick strokes (no gradient)",
    "thin strokes": "Thin strokes (no gradient)",
    "compressible": "Small as a PNG file (no gradient)",
    "like a drawing": "Like my drawing",
    "expression": "My own formula (no gradient)",
}
DNO_STEPS, CLIMBERS = 20, 4


@dataclass(frozen=True)
class DigitSettings:
    """Everything that decides the pictures."""

    reward: str
    digit: int
    drawing: tuple[float, ...] | None
    expression: str
    lam: float
    k: int
    steps: int
    potential: str
    schedule: Schedule
    methods: tuple[Method, ...]
    seed: int

    def check(self) -> None:
        """Raise ValueError with one sentence if the choices cannot be used."""
        _ = self.config, self.image_reward

    @property
    def grid(self) -> Grid:
        """The sampling steps."""
        return make_grid(steps=self.steps, eta=self.schedule.eta)

    @property
    def config(self) -> FKConfig:
        """The choices of the steered particles."""
        choices: dict[str, Any] = {"potential": self.potential, **self.schedule.of(self.steps)}
        return FKConfig(lam=self.lam, **choices)

    @property
    def image_reward(self) -> ImageReward:
        """The reward; raises ValueError if a drawing or a formula is missing or wrong."""
        goal = None
        if self.drawing is not None:
            side = round(len(self.drawing) ** 0.5)
            goal = 2 * torch.tensor(self.drawing, dtype=torch.float32).view(side, side) - 1
        name: Any = self.reward
        return image_reward(name, digit=self.digit, drawing=goal, expression=self.expression)

    @property
    def wanted(self) -> int | None:
        """The digit that the judge is asked for."""
        return self.digit if self.reward == "digit" else None

    @property
    def dno(self) -> DNOConfig:
        """The choices of the climb in the noise."""
        estimator: Estimator = "gradient" if self.image_reward.differentiable else "hybrid 2"
        return replace(DNOConfig(), steps=DNO_STEPS, orders=8, estimator=estimator)

    @property
    def dno_grid(self) -> Grid:
        """Fewer sampling steps, as each optimiser step goes through all of them and back."""
        return make_grid(steps=20, eta=1.0)


def draw_controls(controls: Controls) -> DigitSettings:
    """Draw the controls and return what they say."""
    reward = controls.choice(
        "d_reward", "Wanted", REWARDS, "digit", "What the pictures should score high on."
    )
    digit, drawing, expression = 3, None, ""
    if reward == "digit":
        digit = controls.slider(
            "d_digit", "Digit", 0, 9, 3, 1,
            "The digit that the reward's classifier should see; the judge is another one.",
        )  # fmt: skip
    if reward == "like a drawing":
        cells = drawing_pad(controls, "d_pad", 8, "Your drawing, 8 by 8 cells")
        drawing = None if cells is None else tuple(cells.ravel().tolist())
    if reward == "expression":
        expression = controls.text(
            "d_formula", "Formula", "10 * p3 - 5 * ink",
            "Numbers, + - * / **, comparisons, and or not, if else, abs min max sqrt exp log, "
            "and an image's statistics: ink, mean, contrast, left_right, p0 to p9 and more.",
        )  # fmt: skip
    lam = controls.slider(
        "d_lam", "Strength λ", 0.0, 10.0, 2.0, 0.5,
        "How strongly the reward counts when particles are copied.",
    )  # fmt: skip
    k = controls.slider(
        "d_k", "Particles k", 4, 32, 8, 4, "Pictures drawn side by side, for each method."
    )
    steps = controls.slider(
        "d_steps", "Sampling steps", 10, 50, 50, 10, "Fewer are faster and rougher."
    )
    with st.popover("More settings", icon=":material/tune:", width="stretch"):
        potential = controls.choice(
            "d_potential", "Potential",
            {name: label for name, label in POTENTIALS.items() if name != "exact"}, "difference",
            "How an intermediate reward becomes a weight.",
        )  # fmt: skip
        schedule = draw_schedule(controls, "d_")
        left_out = controls.several(
            "d_without", "Leave out",
            {"best of n": "Best of n", "guidance": "Gradient guidance"},
            "Methods that are not run.",
        )  # fmt: skip
        seed = controls.number("d_seed", "Seed", 0, 10**6, 0, "Another seed, other pictures.")
    return DigitSettings(
        reward, int(digit), drawing, expression, float(lam), int(k), int(steps), potential,
        schedule, tuple(m for m in METHODS if m not in left_out), seed,
    )  # fmt: skip
