"""QuEst: an interval for any part of a distribution from few labels and many predictions."""

from __future__ import annotations

import streamlit as st
from plotly.graph_objects import Figure

from models.catalog import by_slug
from pages.quest import compute, figures, panels, takeaway, texts, yourdata
from pages.quest.settings import Settings, draw_controls
from pages.quest.story import STORY
from ui import anatomy, charts, ledger, report
from ui.controls import Controls

DEMO = by_slug("quest")


def main() -> None:
    """Draw the page; parts are reserved first, as the upload below decides the picture above."""
    controls = Controls(DEMO.slug)
    card = anatomy.begin(DEMO, STORY)
    left, right = st.columns([0.32, 0.68], gap="large")
    parts = [st.container() for _ in range(6)]
    seen, views, failing, checking, own, taking = parts
    with own:
        upload = None
        if anatomy.presenting():
            upload = yourdata.remembered(controls)
        else:
            anatomy.heading(8, "Your data")
            upload = yourdata.upload(controls)
    with left:
        settings = draw_controls(controls)
    try:
        result = compute.result(settings, upload)
    except ValueError as error:
        right.error(str(error))
        result = None
    else:
        if result is None:
            right.info("Drop in your file under “Your data” below, or try the sample there.")
    if result is not None:
        with right:
            picture, alt = _picture(settings, result)
        with card:
            anatomy.number_card(*texts.worth(result.analysis))
        sentences = texts.what_you_see(result.analysis, truth=result.truth)
        with seen:
            _seen(sentences, result)
        with views:
            panels.more_views(controls, settings, result)
        if not anatomy.presenting():
            with own:
                yourdata.results(settings, upload)
            with taking:
                anatomy.heading(9, "Take it with you")
                report.take_away(
                    takeaway.build(DEMO, settings, result.analysis, sentences, picture, alt, upload)
                )
    with failing:
        anatomy.heading(6, "When it fails")
        panels.when_it_fails(controls, settings)
    with checking:
        anatomy.heading(7, "Check the claim")
        panels.check_coverage(controls, settings)
        ledger.check(DEMO.slug)
    if not anatomy.presenting():
        anatomy.how_it_works(STORY)


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
