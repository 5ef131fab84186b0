"""The parts of the aLTT page below the first screen: more views, the peeking switch, many runs."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from models.altt.config import Config
from models.altt.race import Race
from models.checks import Float
from models.eprocess import risk_upper_bound
from pages.altt import compute, figures, repeat, texts, views
from pages.altt.compute import Run
from pages.altt.settings import OWN, Settings
from ui import charts
from ui.controls import Controls
from ui.live import live

TABS = ("Table and guarantee", "Against LTT", "Where the tests went")
RELEASED = "Reproduce the released script (it peeks and so departs from the paper; guarantee void)"
COLUMNS = (
    "candidate",
    "verdict",
    "tests",
    "mean_loss",
    "true_risk",
    "risk_at_most",
    "answers_accepted",
    "wealth",
    "anytime_p",
    "first_certified",
)
MARKS = {True: ":material/check_circle:", False: ":material/cancel:", None: ":material/help:"}


def more_views(controls: Controls, settings: Settings, run: Run, race: Race | None) -> None:
    """Views that explain the picture; only the open tab is computed."""
    tabs = st.tabs(TABS, key=controls.key("view"), on_change="rerun", bind="query-params")
    look = charts.look()
    if tabs[0].open:
        with tabs[0]:
            _table(controls, settings, run, race)
    if tabs[1].open:
        with tabs[1]:
            fig, alt = views.against(run, look)
            charts.show(fig, key="altt_fig_against", alt=alt)
            st.caption(
                "“LTT, as in the paper's experiments” certifies by the wealth that it holds at the "
                "end; the p-values of the LTT paper use the same losses, and are stronger there. "
                "Neither says anything earlier."
            )
    if tabs[2].open:
        with tabs[2]:
            fig, alt = views.allocation(run, look)
            charts.show(fig, key="altt_fig_allocation", alt=alt)


def _table(controls: Controls, settings: Settings, run: Run, race: Race | None) -> None:
    left, right = st.columns([0.62, 0.38], gap="large")
    with left:
        bounded = controls.toggle(
            "bounds",
            f"Bound each risk from above (at {1 - run.config.delta:.0%}, at any time)",
            False,
            "Adds the smallest target that the same bets would certify, for one setting by itself. "
            "Takes a second or two.",
        )
        bounds = None
        if bounded:
            bounds = _bounds(settings) if race is None else _bounds_of(race)
        st.dataframe(
            _shown(run, bounds),
            hide_index=True,
            key="altt_table",
            alt="The final table: every candidate with its verdict",
        )
        if chosen := texts.pick(run):
            st.markdown(chosen)
    with right:
        st.markdown(f"**What is promised.** {texts.promise(run)}")
        for known, text in texts.checklist(run, own=settings.source in OWN):
            st.markdown(f"{MARKS[known]} {text}")
        if settings.source in OWN:
            st.caption(
                "Question marks are for you to vouch for: no program can see them in a file."
            )


def _shown(run: Run, bounds: Float | None) -> pd.DataFrame:
    """The table with numbers as a reader wants them."""
    frame = texts.table(run, bounds)
    frame.insert(4, "wealth", [figures.wealth_text(x) for x in run.log_wealth])
    frame = frame.drop(columns="log_wealth")
    for name in ("mean_loss", "anytime_p", "risk_at_most", "answers_accepted", "true_risk"):
        if name in frame:
            frame[name] = [f"{x:.3g}" if np.isfinite(x) else "–" for x in frame[name]]
    first = frame["first_certified"]
    frame["first_certified"] = [f"{int(x):,}" if np.isfinite(x) else "–" for x in first]
    frame = frame[[name for name in COLUMNS if name in frame]]
    return frame.rename(columns=lambda name: str(name).replace("_", " "))


@st.cache_data(max_entries=32, show_spinner="Bounding the risks")
def _bounds(settings: Settings) -> Float:
    return _bounds_of(compute.race_of(settings))


def _bounds_of(race: Race) -> Float:
    """The 1 - delta upper bound on each risk, that holds at any time; 1 where untested."""
    losses = [race.losses(i)[:, 0] for i in range(race.config.n_candidates)]
    bet, delta = race.config.bet, race.config.delta
    bounds = [risk_upper_bound(x, delta, bet, grid=200) if x.size else 1.0 for x in losses]
    return np.asarray(bounds, dtype=np.float64)


def switch(controls: Controls) -> bool:
    """Draw the switch that breaks the promise, which the picture above must know of first."""
    return controls.toggle(
        "released",
        RELEASED,
        False,
        "The bets see the loss that they are placed on. Lines climb faster, and those that should "
        "not reach the bar do.",
    )


def when_it_fails(settings: Settings) -> None:
    """Measure what peeking does to the promise."""
    if not settings.released:
        st.markdown(
            "The authors' released policy script lets each bet see the loss that it is placed on. "
            "It looks like a detail. Switch it on and watch the race above, and the count of false "
            "certificates here."
        )
        return
    st.error(
        "The guarantee is void: the bets peek, so the wealth is no evidence any more. The paper "
        "itself defines bets on past losses only.",
        icon=":material/warning:",
    )
    try:
        methods = _peeking(settings.config(repeat.NULL_CANDIDATES))
    except ValueError as error:
        st.warning(str(error))
        return
    fig, alt = views.validity(methods, settings.delta, charts.look(), fdr=False)
    charts.show(fig, key="altt_fig_peeking", alt=alt)
    st.markdown(texts.peeked(methods, settings.delta))


@st.cache_data(max_entries=64, show_spinner="Counting false certificates")
def _peeking(config: Config) -> list[repeat.Method]:
    return repeat.peeking(config)


def many_runs(controls: Controls, settings: Settings) -> None:
    """Repeat the picture's run with fresh losses, drawing as results arrive."""
    if settings.source in OWN:
        st.info("Repeating needs a world whose truth is known; choose another one above.")
        return
    same = replace(settings, seed=0)

    def items() -> Generator[tuple[Settings, list[repeat.Method]], None, None]:
        environment = compute.world(settings)
        assert environment is not None
        config = settings.config(len(environment.names))
        for methods in repeat.blocks(config, environment, seed=0):
            yield same, methods

    found = live(
        controls.key("many"),
        f"Repeat the run {repeat.REPEATS} times",
        same,
        items,
        lambda item: (
            item[1][0].runs / repeat.REPEATS,
            f"{item[1][0].runs} of {repeat.REPEATS} runs",
        ),
        starting="Drawing fresh losses",
        stale="These runs were made with earlier settings; run them again to update.",
    )
    if found is not None:
        made_with, methods = found
        _drawn(methods, made_with)


def _drawn(methods: list[repeat.Method], settings: Settings) -> None:
    look, fdr = charts.look(), settings.control == "fdr"
    left, right = st.columns(2, gap="medium")
    if not np.isnan(methods[0].power[0][-1]):
        with left:
            fig, alt = views.power(methods, look, settings.budget)
            charts.show(fig, key="altt_fig_power", alt=alt)
    with right:
        fig, alt = views.validity(methods, settings.delta, look, fdr=fdr)
        charts.show(fig, key="altt_fig_validity", alt=alt)
    st.markdown(texts.repeated(methods, fdr=fdr, delta=settings.delta))
