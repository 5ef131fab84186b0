"""aLTT: certify settings one test at a time, stop at any moment, and see what peeking does."""

from __future__ import annotations

import streamlit as st

from models.altt.race import Race
from models.catalog import by_slug
from pages.altt import compute, feed, figures, panels, takeaway, texts, yourdata
from pages.altt.compute import Run
from pages.altt.settings import TARGETS, Settings, draw_controls
from pages.altt.story import STORY
from ui import anatomy, charts, ledger, report
from ui.controls import Controls
from ui.upload import plain

DEMO = by_slug("altt")


def main() -> None:
    """Draw the page; parts are reserved first, as the switch and the upload decide the picture."""
    controls = Controls(DEMO.slug)
    card = anatomy.begin(DEMO, STORY)
    left, right = st.columns([0.32, 0.68], gap="large")
    seen, views, failing, checking, own, taking = (st.container() for _ in range(6))
    with own:
        upload = anatomy.your_data(controls, yourdata.upload)
    with failing:
        anatomy.heading(6, "When it fails")
        released = panels.switch(controls)
    with left:
        settings = draw_controls(controls, released=released)
    try:
        found = _result(controls, settings, upload)
    except ValueError as error:
        right.error(plain(str(error)))
        found = None
    else:
        if found is None:
            right.info("Drop in your file under “Your data” below, or try the sample there.")
    if found is not None:
        run, race, fed = found
        with left:
            st.caption(plain(texts.needed(run)))
        with right:
            look = charts.look(large=anatomy.presenting())
            until = None if fed is None else feed.reach(run)
            picture, alt = figures.race(run, look, until=until)
            charts.show(picture, key="altt_fig_race", alt=alt)
        with card:
            anatomy.number_card(*texts.saved(run))
        sentences = texts.what_you_see(run)
        with seen:
            if fed is not None:
                feed.draw(controls, settings, fed, run)
            _seen(controls, settings, run, sentences)
        with views:
            panels.more_views(controls, settings, run, race)
        if not anatomy.presenting():
            with taking:
                anatomy.heading(9, "Take it with you")
                takeaway.certificate(controls, settings, run, race, upload)
                still = figures.race(run, look, play=False, until=until)
                made = takeaway.build(DEMO, settings, run, sentences, still, upload)
                report.take_away(made)
    with failing:
        panels.when_it_fails(settings)
    with checking:
        anatomy.heading(7, "Check the claim")
        panels.many_runs(controls, settings)
        ledger.check(DEMO.slug)
    if not anatomy.presenting():
        anatomy.how_it_works(STORY)


def _result(
    controls: Controls, settings: Settings, upload: yourdata.Upload | None
) -> tuple[Run, Race | None, feed.Feed | None] | None:
    """The run of the settings, its race where it is a visitor's own, and the feed if there is one.

    None while a visitor's file is awaited.
    """
    if settings.source == "feed":
        fed = feed.current(controls, settings)
        return compute.described(fed.race, fed.names), fed.race, fed
    if settings.source != "yours":
        return compute.simulate(settings), None, None
    if upload is None:
        return None
    key, kept_at = (upload.digest, settings), controls.key("own_result")
    kept = st.session_state.get(kept_at)
    if kept is None or kept[0] != key:
        kept = (key, compute.from_table(settings, upload.table))
        st.session_state[kept_at] = kept
    race, run = kept[1]
    return run, race, None


def _seen(controls: Controls, settings: Settings, run: Run, sentences: list[str]) -> None:
    anatomy.what_you_see([plain(sentence) for sentence in sentences])
    for note in run.advice:
        st.warning(plain(note), icon=":material/warning:")
    target = TARGETS.get(settings.source)
    if hint := texts.hint(settings.source, settings.alpha, target):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(hint, width="content")
            st.button(
                f"Show it at {target:g}",
                key=controls.key("retarget"),
                type="tertiary",
                on_click=controls.write,
                args=({"alpha": target},),
            )


main()
