"""QuEst's controls: widgets in, one frozen record of settings out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from models.quest import draws, measures
from models.quest.estimate import LamMode, Variance
from models.quest.measures import Measure
from models.quest.study import Question
from pages.quest.story import EXTRA, KINDS, SOURCES
from ui.controls import Controls

LAM_MODES = {"clip": "Best, clipped to [0, 1]", "raw": "Best, unclipped", "fixed": "My own"}
VARIANCES = {"split": "Split (never negative)", "plug-in": "Plug-in (the paper's)"}
LARGEST_POOL = 20_000


@dataclass(frozen=True)
class Settings:
    """Everything that decides the picture; the same settings give the same numbers."""

    source: str
    kind: str
    span: tuple[float, float]
    share: float
    level: float
    edges: str
    weights: str
    rate: float
    n: int
    pool: int
    kept: int
    alpha: float
    lam_mode: str
    lam_fixed: float
    variance: Variance
    seed: int
    show_truth: bool
    extra: tuple[str, ...]
    quality: float
    bias: float
    noise: float
    tail: float

    @property
    def recipe(self) -> tuple[Callable[..., Measure], tuple[Any, ...]]:
        """Return the function that builds the measure, and its arguments.

        Raises
        ------
        ValueError
            If typed step edges or weights are unusable.
        """
        match self.kind:
            case "segment":
                return measures.interval, self.span
            case "top":
                return measures.cvar_upper, (round(1 - self.share, 4),)
            case "lowest":
                return measures.cvar_lower, (self.share,)
            case "quantile":
                return measures.Quantile, (self.level,)
            case "spectral":
                return measures.ExponentialWeight, (self.rate,)
            case "steps":
                return measures.steps, (
                    numbers(self.edges, "edges"),
                    numbers(self.weights, "weights"),
                )
        return measures.mean, ()

    def check(self) -> None:
        """Raise ValueError, one sentence, if the typed step weights describe no measure."""
        self.measure  # noqa: B018

    @property
    def measure(self) -> Measure:
        """Return the chosen measure."""
        build, arguments = self.recipe
        return build(*arguments)

    @property
    def lam(self) -> LamMode | float:
        """Return the weight's rule, or the fixed weight."""
        return self.lam_fixed if self.lam_mode == "fixed" else _MODES[self.lam_mode]

    @property
    def question(self) -> Question:
        """Return what is asked and how."""
        return Question(self.measure, self.alpha, self.lam, self.variance)

    def draw(self, *, n: int | None = None) -> draws.Draw:
        """Return the recipe of the samples, with another number of labels if one is given."""
        labelled = self.n if n is None else n
        room = draws.rows_of(self.source) - labelled
        return draws.Draw(
            self.source,
            labelled,
            min(self.pool, room),
            kept=self.kept / 100,
            quality=self.quality,
            bias=self.bias,
            noise=self.noise,
            tail=self.tail,
        )


_MODES: dict[str, LamMode] = {"clip": "clip", "raw": "raw"}


def numbers(text: str, name: str) -> tuple[float, ...]:
    """Read numbers separated by spaces or commas.

    Raises
    ------
    ValueError
        Naming the first entry that is no number.
    """
    found = []
    for entry in text.replace(",", " ").split():
        try:
            found.append(float(entry))
        except ValueError:
            raise ValueError(
                f"The step {name} hold {entry[:20]!r}, which is not a number; write numbers "
                "separated by spaces, such as 0 0.1 0.5 0.9 1."
            ) from None
    return tuple(found)


def draw_controls(controls: Controls) -> Settings:
    """Draw the six controls in sight and the further ones, and return what they say."""
    source = controls.choice(
        "source",
        "Population",
        SOURCES,
        "net_assets",
        "Whose answers are asked for. Another population changes every number in the picture.",
    )
    kind = controls.choice(
        "kind",
        "What is asked",
        KINDS,
        "segment",
        "Which part of the distribution counts; the shaded part of the curves further down.",
    )
    span, share, level, rate, edges, weights = (0.33, 0.67), 0.2, 0.5, 3.0, "", ""
    match kind:
        case "segment":
            span = controls.span(
                "span",
                "From and to (share of the population)",
                span,
                "Moving the ends asks about another segment; a narrow one rests on fewer labels.",
            )
        case "top" | "lowest":
            share = controls.slider(
                "share",
                "Share of the population",
                0.01,
                0.5,
                share,
                0.01,
                "A smaller share looks further into the tail, and the intervals get wider.",
            )
        case "quantile":
            level = controls.slider(
                "level",
                "Quantile level",
                0.01,
                0.99,
                level,
                0.01,
                "The value that this share of the population stays below.",
            )
        case "spectral":
            rate = controls.slider(
                "rate",
                "Rate of the weight exp(-rate p)",
                -10.0,
                10.0,
                rate,
                0.5,
                "Positive rates stress low values, negative ones high values; 0 is not allowed.",
            )
        case "steps":
            edges = controls.text(
                "edges",
                "Edges (shares, rising)",
                "0 0.1 0.5 0.9 1",
                "Where the weight changes; one more than there are weights.",
            )
            weights = controls.text(
                "weights",
                "Weights",
                "3 1 1 3",
                "How much each segment counts; they are scaled to sum to one.",
            )
    n, pool, kept = 200, 7000, 100
    if source != "yours":
        n = controls.slider(
            "n",
            "Labels n",
            10,
            1000,
            n,
            10,
            "How many rows have a true answer. More labels narrow every interval but the "
            "predictions-only one.",
        )
        kept = controls.slider(
            "kept",
            "Predictions left intact (%)",
            0,
            100,
            kept,
            5,
            "Below 100 the other predictions are shuffled; at 0 the model is useless and QuEst "
            "must fall back on the labels.",
        )
    alpha = controls.segments(
        "alpha",
        "Error level alpha",
        [0.05, 0.1, 0.2],
        0.1,
        "The share of draws in which an interval may miss: 0.1 asks for 90 % intervals.",
    )
    quality, bias, noise, tail = 0.8, 0.3, 0.0, 1.0
    with st.popover("More settings", icon=":material/tune:", width="stretch"):
        if source != "yours":
            pool = controls.slider(
                "pool",
                "Predictions without a label N",
                100,
                LARGEST_POOL,
                pool,
                100,
                "How many rows have a prediction only. The gain levels off once N is much larger "
                "than n.",
            )
        lam_mode = controls.choice(
            "lam_mode",
            "Weight on the predictions",
            LAM_MODES,
            "clip",
            "How much the predictions count; “my own” lets you see what other weights do.",
        )
        lam_fixed = 1.0
        if lam_mode == "fixed":
            lam_fixed = controls.slider(
                "lam", "My weight", -1.0, 2.0, lam_fixed, 0.05, "0 is labels only, 1 is PPI."
            )
        variance = controls.choice(
            "variance",
            "Variance estimate",
            VARIANCES,
            "split",
            "Both are right for many labels; the plug-in one can turn negative for few.",
        )
        extra = controls.several(
            "extra",
            "Further methods in the picture",
            EXTRA,
            "QuEst-Opt chooses its weight freely and needs at least 200 labels.",
        )
        seed, show_truth = 0, False
        if source != "yours":
            seed = controls.number(
                "seed", "Seed", 0, 10**6, 0, "Another seed draws other rows; the same seed repeats."
            )
            show_truth = controls.toggle(
                "truth",
                "Show the true value",
                False,
                "The population is known here, so the picture can show what is estimated.",
            )
        if source.startswith("sim_"):
            quality = controls.slider(
                "quality", "Model quality", 0.0, 1.0, quality, 0.05,
                "Correlation of prediction and truth; 0 is a useless model.",
            )  # fmt: skip
            bias = controls.slider(
                "bias", "Model bias", -2.0, 2.0, bias, 0.1,
                "Shifts every prediction, in standard deviations. QuEst corrects it.",
            )  # fmt: skip
            noise = controls.slider(
                "noise", "Model noise", 0.0, 2.0, noise, 0.1,
                "Extra scatter of the predictions, in standard deviations.",
            )  # fmt: skip
            tail = controls.slider(
                "tail", "Heaviness of the tail", 0.2, 2.0, tail, 0.1,
                "Larger values make extreme answers more frequent and normal intervals worse.",
            )  # fmt: skip
    return Settings(
        source=source,
        kind=kind,
        span=span,
        share=float(share),
        level=float(level),
        edges=edges,
        weights=weights,
        rate=float(rate),
        n=int(n),
        pool=int(pool),
        kept=int(kept),
        alpha=float(alpha),
        lam_mode=lam_mode,
        lam_fixed=float(lam_fixed),
        variance="plug-in" if variance == "plug-in" else "split",
        seed=seed,
        show_truth=show_truth,
        extra=tuple(extra),
        quality=float(quality),
        bias=float(bias),
        noise=float(noise),
        tail=float(tail),
    )
