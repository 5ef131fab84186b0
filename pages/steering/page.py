"""Diffusion steering: bend a finished diffusion model towards a reward, beside the known truth."""

from __future__ import annotations

import streamlit as st

from models.catalog import by_slug
from models.steering.race import Race
from pages.steering import compute, figures, panels, takeaway, texts, yourdata
from pages.steering.settings import Settings, draw_controls
from pages.steering.story import STORY
from pages.steering.yourdata import Upload
from ui import anatomy, charts, ledger, report
from ui.controls import Controls
from ui.upload import plain

DEMO = by_slug("steering")


def main() -> None:
    """Draw the page; parts are reserved first, as the upload below decides the picture above."""
    controls = Controls(DEMO.slug)
    card = anatomy.begin(DEMO, STORY)
    left, right = st.columns([0.32, 0.68], gap="large")
    seen, views, failing, checking, own, taking = (st.container() for _ in range(6))
    with own:
        upload = anatomy.your_data(controls, yourdata.upload)
    with left:
        settings = draw_controls(controls)
    run = None
    try:
        run = compute.result(settings, upload)
    except ValueError as error:
        right.error(plain(str(error)))
    else:
        if run is None:
            right.info("Drop in your file under “Your data” below, or try the sample there.")
    if run is not None:
        with right:
            picture, alt = figures.particles(run, charts.look(large=anatomy.presenting()))
            charts.show(picture, key="steering_fig_particles", alt=alt)
        with card:
            anatomy.number_card(*texts.gain(run))
        sentences = texts.what_you_see(run)
        with seen:
            _seen(run, sentences)
        with views:
            panels.more_views(controls, settings, run)
        if not anatomy.presenting():
            with taking:
                _take(settings, run, sentences, upload)
    with failing:
        anatomy.heading(6, "When it fails")
        panels.when_it_fails(settings)
    with checking:
        anatomy.heading(7, "Check the claim")
        ledger.check(DEMO.slug)
    if not anatomy.presenting():
        anatomy.how_it_works(STORY)


def _seen(run: Race, sentences: list[str]) -> None:
    anatomy.what_you_see([plain(sentence) for sentence in sentences])
    for notice in run.notices:
        st.warning(plain(notice), icon=":material/warning:")
    panels.comparison(run)


def _take(settings: Settings, run: Race, sentences: list[str], upload: Upload | None) -> None:
    anatomy.heading(9, "Take it with you")
    still = figures.particles(run, charts.look(), play=False)
    report.take_away(takeaway.build(DEMO, settings, run, sentences, still, upload))


main()
