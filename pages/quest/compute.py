"""QuEst's results for the page: settings in, cached results out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from models.quest import opt
from models.quest.baselines import bootstrap
from models.quest.draws import scale_of, unit_of
from models.quest.estimate import Interval
from models.quest.intake import Advice, Samples, advise
from models.quest.measures import Integrable
from models.quest.study import Analysis, analyse
from pages.quest import texts
from pages.quest.settings import Settings
from pages.quest.yourdata import Upload


@dataclass(frozen=True)
class Result:
    """What the picture shows.

    Attributes
    ----------
    unit : what the axis counts
    truth : the population's own value where it is known and wanted
    notes : what was done with the data, in sentences
    """

    samples: Samples
    analysis: Analysis
    advice: tuple[Advice, ...]
    unit: str
    truth: float | None = None
    notes: tuple[str, ...] = ()


def result(settings: Settings, upload: Upload | None) -> Result | None:
    """Return the result of the settings; None while a visitor's own data are awaited.

    Raises
    ------
    ValueError
        One sentence on why the settings or the data cannot be used.
    """
    settings.check()
    if settings.source != "yours":
        return _from_population(settings)
    if upload is None:
        return None
    key = (upload.digest, settings)
    kept = st.session_state.get("quest_own_result")
    if kept is None or kept[0] != key:
        kept = (key, _analysed(upload.samples, settings, upload.unit))
        st.session_state["quest_own_result"] = kept
    own: Result = kept[1]
    return own


@st.cache_data(max_entries=128, show_spinner=False)
def _from_population(settings: Settings) -> Result:
    """Analyse the draw that the settings describe; holds no upload, so visitors may share it."""
    draw = settings.draw()
    samples = draw(np.random.default_rng(settings.seed))
    truth = draw.truth(settings.measure) if settings.show_truth else None
    short = texts.shortfall(draw, settings.pool)
    notes = (short,) if short else ()
    return _analysed(samples, settings, unit_of(settings.source), truth, notes)


def _analysed(
    samples: Samples,
    settings: Settings,
    unit: str,
    truth: float | None = None,
    notes: tuple[str, ...] = (),
) -> Result:
    rng = np.random.default_rng([settings.seed, 1])
    plain = analyse(samples, settings.question, rng)
    advice = advise(samples, plain.parts, plain.quest.lam)
    further, refusals = _further(samples, plain, settings, rng)
    analysis = Analysis(plain.parts, plain.intervals | further)
    return Result(samples, analysis, advice, unit, truth, (*notes, *refusals))


def _further(
    samples: Samples, plain: Analysis, settings: Settings, rng: np.random.Generator
) -> tuple[dict[str, Interval], list[str]]:
    """Intervals of the further methods asked for, and why one of them is not offered."""
    found: dict[str, Interval] = {}
    refusals = []
    parts = plain.parts
    bases: dict[str, tuple[Sequence[Integrable], float]] = {
        "opt_bins": (opt.bins(), 0.1),
        "opt_sinusoids": (opt.sinusoids(), 1e-3),
    }
    for name, (basis, reg) in bases.items():
        if name in settings.extra:
            if parts.n < opt.SMALLEST_N:
                refusals.append(
                    f"QuEst-Opt is offered from {opt.SMALLEST_N} labels on; with fewer it was "
                    "measured to be worse than QuEst."
                )
                continue
            free = opt.quest_opt(parts, samples.predictions, samples.pool, basis, reg=reg)
            found[f"QuEst-Opt ({name.removeprefix('opt_')})"] = free.interval
    if "bootstrap" in settings.extra:
        answer = bootstrap(parts, samples.labels, rng)
        found[answer.method] = answer
    return found, refusals


@st.cache_data(max_entries=256, show_spinner=False)
def axis_span(settings: Settings) -> tuple[float, float]:
    """Axis range that stays put while n moves within a decade or the predictions are spoilt."""
    truth, spread, naive = scale_of(settings.draw(), settings.measure, settings.alpha)
    base = 30 if settings.n < 100 else 100 if settings.n < 400 else 400
    reach = 4 * spread / base**0.5
    low, high = min(truth - reach, naive), max(truth + reach, naive)
    pad = 0.08 * (high - low) or 1.0
    return low - pad, high + pad
