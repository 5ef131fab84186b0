"""The parts of the QuEst page below the first screen: more views, failures, trials, own data."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from models.quest.draws import Draw, rows_of
from models.quest.estimate import prepare
from models.quest.intake import Samples
from models.quest.joint import joint_region, unlabelled_influence
from models.quest.leaderboard import CANDIDATES, METHODS, PROMPTS, rank_candidates, simulate_board
from models.quest.measures import cvar_lower, cvar_upper, interval
from models.quest.study import Analysis, MethodSummary, Question, summarise_trials, trial
from models.trials import run_trials
from pages.quest import figures, texts
from pages.quest.compute import Result
from pages.quest.settings import Settings
from ui import charts
from ui.controls import Controls
from ui.live import live

TABS = ("Where the number comes from", "Against n", "Several measures", "Rank models")
SIZES = (50, 100, 200, 500, 1000)
REPEATS = 200
THREE = {
    "lowest 20 %": cvar_lower(0.2),
    "middle half": interval(0.25, 0.75),
    "top 20 %": cvar_upper(0.8),
}
WORST = cvar_upper(0.75)


def more_views(controls: Controls, settings: Settings, result: Result) -> None:
    """Views that explain the picture; only the open tab is computed."""
    samples, analysis, unit = result.samples, result.analysis, result.unit
    tabs = st.tabs(TABS, key=controls.key("view"), on_change="rerun", bind="query-params")
    look = charts.look()
    if tabs[0].open:
        with tabs[0]:
            _anatomy_of_the_number(settings, samples, analysis, look, unit)
    if tabs[1].open:
        with tabs[1]:
            _against_n(controls, settings, look, unit)
    if tabs[2].open:
        with tabs[2]:
            _several(settings, samples, look)
    if tabs[3].open:
        with tabs[3]:
            _ranking(controls, settings, look)


def _anatomy_of_the_number(
    settings: Settings, samples: Samples, analysis: Analysis, look: charts.Look, unit: str
) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        fig, alt = figures.quantile_curves(samples, settings.measure, look, unit)
        charts.show(fig, key="quest_fig_curves", alt=alt)
    with right:
        fig, alt = figures.variance_curve(
            analysis.parts, analysis.quest.lam, settings.variance, look
        )
        charts.show(fig, key="quest_fig_variance", alt=alt)
    parts = analysis.parts
    st.caption(
        f"Labels {charts.number(parts.labels.value)}; predictions "
        f"{charts.number(parts.labelled.value)} on the same rows and "
        f"{charts.number(parts.unlabelled.value)} on the others; eta {charts.number(parts.eta)}, "
        f"variance of the labels {charts.number(parts.labels.variance)}, of the predictions "
        f"{charts.number(parts.unlabelled.variance)}; "
        f"best weight {parts.lam_raw:.3f}, used {analysis.quest.lam:.3f}."
    )


def repeat(
    key: str,
    label: str,
    jobs: list[tuple[Draw, Question]],
    settings_key: object,
    draw_result: Callable[[list[tuple[MethodSummary, ...]]], None],
    *,
    calibrate: bool = False,
) -> None:
    """Run repeated draws behind a button, drawing as results arrive and keeping what is done."""

    def items() -> Generator[tuple[int, list[tuple[MethodSummary, ...]]], None, None]:
        rows: list[tuple[MethodSummary, ...]] = []
        for number, (draw, question) in enumerate(jobs):
            job = partial(trial, draw=draw, question=question, calibrate=calibrate)
            truth = draw.truth(question.measure)
            with closing(run_trials(job, REPEATS, seed=number)) as states:
                for state in states:
                    rows = [*rows[:number], summarise_trials(np.asarray(state.results), truth)]
                    yield number * REPEATS + state.done, rows

    total = REPEATS * len(jobs)
    found = live(
        key,
        label,
        settings_key,
        items,
        lambda item: (item[0] / total, f"{item[0]} of {total} draws"),
        starting="Starting the workers",
        stale="These draws were made with earlier settings; run them again to update.",
    )
    if found is not None:
        draw_result(found[1])


def check_coverage(controls: Controls, settings: Settings) -> None:
    """Repeat the picture's draw many times and hold each method to its promise."""
    if settings.source == "yours":
        st.info("Repeating needs a population whose truth is known; choose another one above.")
        return
    look = charts.look()

    def drawn(rows: list[tuple[MethodSummary, ...]]) -> None:
        fig, alt = figures.repeated(rows[0], settings.alpha, look)
        charts.show(fig, key="quest_fig_repeated", alt=alt)
        st.markdown(texts.repeated(rows[0], settings.alpha))

    repeat(
        controls.key("coverage"),
        f"Repeat the draw {REPEATS} times",
        [(settings.draw(), settings.question)],
        replace(settings, seed=0, show_truth=False, extra=()),
        drawn,
        calibrate=True,
    )


def _against_n(controls: Controls, settings: Settings, look: charts.Look, unit: str) -> None:
    if settings.source == "yours":
        st.info("This view needs a population whose truth is known; choose another one above.")
        return
    sizes = [n for n in SIZES if n <= rows_of(settings.source) // 2]

    def drawn(rows: list[tuple[MethodSummary, ...]]) -> None:
        fig, alt = figures.against_n(sizes[: len(rows)], rows, look, unit)
        charts.show(fig, key="quest_fig_against_n", alt=alt)

    repeat(
        controls.key("against_n"),
        f"Measure at n = {', '.join(map(str, sizes))}",
        [(settings.draw(n=n), settings.question) for n in sizes],
        replace(settings, seed=0, n=0, show_truth=False, extra=()),
        drawn,
    )


def _several(settings: Settings, samples: Samples, look: charts.Look) -> None:
    measures = list(THREE.values())
    parts = [
        prepare(samples.labels, samples.predictions, samples.pool, m, alpha=settings.alpha)
        for m in measures
    ]
    pool = unlabelled_influence(samples.pool, measures, settings.alpha)
    ours = joint_region(parts, pool, lam=settings.lam, variance=settings.variance)
    base = joint_region(parts, pool, lam=None)
    if refusal := ours.refusal or base.refusal:
        st.warning(refusal)
        return
    truth = None
    if settings.show_truth:
        truth = np.array([settings.draw().truth(m) for m in measures])
    fig, alt = figures.ellipses(((ours, "ours"), (base, "classical")), list(THREE), truth, look)
    charts.show(fig, key="quest_fig_ellipses", alt=alt)
    volumes = {
        "QuEst, joint region": ours.volume,
        "QuEst, Bonferroni box": ours.box_volume,
        "Labels only, joint region": base.volume,
        "Labels only, Bonferroni box": base.box_volume,
    }
    table = pd.DataFrame(
        {
            "region": list(volumes),
            "volume": [charts.number(v) for v in volumes.values()],
            "relative to the labels-only box": [v / base.box_volume for v in volumes.values()],
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            "relative to the labels-only box": st.column_config.NumberColumn(format="%.3f")
        },
        key="quest_volumes",
        alt="Volumes of the joint regions and of the boxes",
    )


def _ranking(controls: Controls, settings: Settings, look: charts.Look) -> None:
    st.caption(
        "Eight *simulated* language models answer 20,000 prompts; a large judge is the gold "
        "standard, a small one is cheap. Which model is worst in its worst quarter?"
    )
    n = min(settings.n, 1000)
    board = simulate_board(0)
    rng = np.random.default_rng([settings.seed, 2])
    answers = rank_candidates(board, WORST, n, min(settings.pool, PROMPTS - n), settings.alpha, rng)
    fig, alt = figures.leaderboard(answers, CANDIDATES, METHODS, board.truth(WORST), look)
    charts.show(fig, key="quest_fig_leaderboard", alt=alt)
    st.markdown(alt)


def when_it_fails(controls: Controls, settings: Settings) -> None:
    """Break the paper's assumptions on purpose and measure what the promise is then worth."""
    if settings.source == "yours":
        st.info("Breaking needs a population whose truth is known; choose another one above.")
        return
    left, right = st.columns([0.32, 0.68], gap="large")
    with left:
        selection = controls.slider(
            "selection",
            "Labelled rows prefer high values",
            0.0,
            2.0,
            0.5,
            0.1,
            "0 draws the labelled rows at random, as the method assumes. Above, rich people answer "
            "more often, and every method that trusts the labels is misled.",
        )
        cap = controls.slider(
            "cap",
            "Answers are recorded up to this quantile",
            0.5,
            1.0,
            1.0,
            0.01,
            "Below 1 higher answers are cut off at that value (top-coding): what lies beyond is "
            "invisible, while the truth is not.",
        )
    draw = replace(settings.draw(), selection=selection, cap=cap)
    look = charts.look()

    def drawn(rows: list[tuple[MethodSummary, ...]]) -> None:
        fig, alt = figures.repeated(rows[0], settings.alpha, look)
        charts.show(fig, key="quest_fig_broken", alt=alt)
        st.markdown(texts.repeated(rows[0], settings.alpha))

    with right:
        repeat(
            controls.key("broken"),
            f"Measure the damage over {REPEATS} draws",
            [(draw, settings.question)],
            (replace(settings, seed=0, show_truth=False, extra=()), selection, cap),
            drawn,
        )
