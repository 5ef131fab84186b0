"""QuEst: an interval for any part of a distribution from few labels and many predictions."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st
from plotly.graph_objects import Figure
from streamlit.delta_generator import DeltaGenerator

from models.catalog import by_slug
from pages.quest import compute, figures, panels, takeaway, texts, yourdata
from pages.quest.settings import Settings, draw_controls
from pages.quest.story import STORY
from pages.quest.yourdata import Upload
from ui import anatomy, charts, ledger, report
from ui.controls import Controls

DEMO = by_slug("quest")


class Places(NamedTuple):
    """Containers of the page's parts, reserved in their order on screen."""

    card: DeltaGenerator
    picture: DeltaGenerator
    seen: DeltaGenerator
    views: DeltaGenerator
    failing: DeltaGenerator
    checking: DeltaGenerator
    own: DeltaGenerator
    taking: DeltaGenerator


def main() -> None:
    """Draw the page; parts are reserved first, as the upload below decides the picture above."""
    controls = Controls(DEMO.slug)
    card = anatomy.begin(DEMO, STORY)
    left, right = st.columns([0.32, 0.68], gap="large")
    places = Places(card, right, *(st.container() for _ in range(6)))
    with places.own:
        upload = anatomy.your_data(controls, yourdata.upload)
    with left:
        settings = draw_controls(controls)
    try:
        result = compute.result(settings, upload)
    except ValueError as error:
        right.error(str(error))
    else:
        if result is None:
            right.info("Drop in your file under “Your data” below, or try the sample there.")
        else:
            _answer(controls, settings, upload, result, places)
        with places.failing:
            anatomy.heading(6, "When it fails")
            panels.when_it_fails(controls, settings)
        with places.checking:
            anatomy.heading(7, "Check the claim")
            panels.check_coverage(controls, settings)
            ledger.check(DEMO.slug)
    if not anatomy.presenting():
        anatomy.how_it_works(STORY)


def _answer(
    controls: Controls,
    settings: Settings,
    upload: Upload | None,
    result: compute.Result,
    places: Places,
) -> None:
    with places.picture:
        picture, alt = _picture(settings, result)
    with places.card:
        anatomy.number_card(*texts.worth(result.analysis))
    sentences = texts.what_you_see(result.analysis, truth=result.truth)
    with places.seen:
        _seen(sentences, result)
    with places.views:
        panels.more_views(controls, settings, result)
    if anatomy.presenting():
        return
    with places.own:
        yourdata.results(settings, upload)
    with places.taking:
        anatomy.heading(9, "Take it with you")
        report.take_away(
            takeaway.build(DEMO, settings, result.analysis, sentences, picture, alt, upload)
        )


def _picture(settings: Settings, result: compute.Result) -> tuple[Figure, str]:
    look = charts.look(large=anatomy.presenting())
    span = compute.axis_span(settings) if settings.source != "yours" else None
    picture, alt = figures.intervals(
        result.analysis.intervals, look, unit=result.unit, span=span, truth=result.truth
    )
    charts.show(picture, key="quest_fig_intervals", alt=alt)
    return picture, alt


def _seen(sentences: list[str], result: compute.Result) -> None:
    anatomy.what_you_see(sentences)
    for item in result.advice:
        if item.serious:
            st.warning(item.text, icon=":material/warning:")
        else:
            st.caption(item.text)
    for note in result.notes:
        st.caption(note)


main()
