"""The parts that every page is made of, in their fixed order, with the tour and presenter mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import streamlit as st

from models.catalog import Demo
from ui import ledger
from ui.controls import Controls

Own = TypeVar("Own")

PRESENT = "present"
TOUR = "tour"


@dataclass(frozen=True)
class Preset:
    """A named setting of the page's controls (names without the slug)."""

    title: str
    help: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One step of the tour: what to look at, and the controls that it sets."""

    title: str
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Story:
    """A page's texts, as data.

    Attributes
    ----------
    question : the page's title, a question a stranger understands
    lead : one or two sentences under it
    scaled_down : one line on what is smaller or other than in the paper
    presets, tour : settings and the guided walk (five steps)
    how : the algorithm in steps with the paper's numbering (Markdown)
    limits : what is simplified and where it stops being valid (Markdown)
    references : citations (Markdown)
    """

    question: str
    lead: str
    scaled_down: str
    presets: tuple[Preset, ...]
    tour: tuple[Step, ...]
    how: str
    limits: str
    references: str


def presenting() -> bool:
    """Whether presenter mode is on: by ``?present=1``, or since it was switched on in this visit.

    The parameter is ours and not bound to the switch, as Streamlit would write ``true`` for 1 and
    drop the parameter on the way.
    """
    if st.query_params.get(PRESENT) == "1":
        st.session_state["_presenting"] = True
    on = bool(st.session_state.get("_presenting"))
    if on and PRESENT not in st.query_params:
        st.query_params[PRESENT] = "1"  # another page's address came without it
    return on


def begin(demo: Demo, story: Story) -> Any:
    """Draw the tour strip, the header and the presets; return the slot of the third card.

    The slot is a container that the page fills once it has a result.
    """
    controls = Controls(demo.slug)
    step = _tour_step(demo.slug, story.tour, controls)
    if step is not None:
        _tour_strip(story.tour, step, controls)
    slot = _header(demo, story, touring=step is not None)
    _presets(story.presets, controls)
    return slot


def your_data(controls: Controls, draw: Callable[[Controls], Own | None]) -> Own | None:
    """Part 8: draw the visitor's own data and return them; presenter mode only remembers them."""
    key = controls.key("own")
    if presenting():
        kept: Own | None = st.session_state.get(key)
        return kept
    heading(8, "Your data")
    st.session_state[key] = found = draw(controls)
    return found


def number_card(title: str, number: str, text: str) -> None:
    """Fill the header's third card with a number of the page's own."""
    st.markdown(title)
    st.markdown(f"**{number}**")
    st.caption(text)


def what_you_see(sentences: Sequence[str]) -> None:
    """Part 5: two or three sentences computed from the result."""
    text = f"**What you see.** {' '.join(sentences)}"
    st.info(("### " if presenting() else "") + text, icon=":material/visibility:")


def heading(number: int, title: str) -> None:
    """Return the heading of a part below the first screen."""
    st.header(title, divider="gray", anchor=f"part-{number}")


def how_it_works(story: Story) -> None:
    """Part 10: the steps, what is simplified, and the references."""
    heading(10, "How it works, and its limits")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(story.how)
    with right:
        st.markdown("**Limits**\n\n" + story.limits)
        st.markdown("**References**\n\n" + story.references)


def _header(demo: Demo, story: Story, *, touring: bool) -> Any:
    with st.container(horizontal=True, vertical_alignment="center"):
        who = " · ".join(f"{paper.venue}, {paper.authors}" for paper in demo.papers)
        st.caption(f"{demo.section} · {who}", width="stretch")
        if not touring:
            st.button(
                "Take the tour",
                key=f"{demo.slug}_tour_start",
                icon=":material/tour:",
                type="tertiary",
                on_click=_go,
                args=(1,),
            )
        st.toggle(
            "Present",
            presenting(),
            key=PRESENT,
            help="Larger type, without the menu and what a stage does not need.",
            on_change=_switch_presenting,
        )
    st.title(story.question, anchor=False)
    st.markdown(("### " if presenting() else "") + story.lead)
    reported, measured, third = st.columns([1.1, 1.1, 0.8], gap="small")
    with reported.container(border=True, height="stretch", gap="xsmall"):
        st.markdown("The papers say" if len(demo.papers) > 1 else "The paper says")
        told = [paper.reported for paper in demo.papers if paper.reported]
        for reported_figure in told or ["no single number"]:
            st.markdown(f"**{reported_figure}**")
        st.caption(story.scaled_down)
    with measured.container(border=True, height="stretch", gap="xsmall"):
        ledger.headline_card(demo.slug)
    return third.container(border=True, height="stretch", gap="xsmall")


def _presets(presets: Sequence[Preset], controls: Controls) -> None:
    with st.container(horizontal=True, gap="small"):
        for number, preset in enumerate(presets):
            st.button(
                preset.title,
                key=controls.key(f"preset_{number}"),
                help=preset.help,
                type="primary" if controls.matches(preset.values) else "secondary",
                on_click=controls.write,
                args=(preset.values,),
            )


def _tour_step(slug: str, tour: Sequence[Step], controls: Controls) -> int | None:
    """Return the tour's step by ``?tour=``, setting its controls when it has just been entered."""
    chosen = st.query_params.get(TOUR, "")
    step = int(chosen) if chosen in {str(k + 1) for k in range(len(tour))} else None
    if st.session_state.get("_tour_applied") != (slug, step):
        st.session_state["_tour_applied"] = (slug, step)
        if step is not None:
            controls.write(tour[step - 1].values)
    return step


def _go(step: int | None) -> None:
    if step is None:
        st.query_params.pop(TOUR, None)
    else:
        st.query_params[TOUR] = str(step)


def _switch_presenting() -> None:
    st.session_state["_presenting"] = st.session_state[PRESENT]
    if not st.session_state[PRESENT]:
        st.query_params.pop(PRESENT, None)


def _tour_strip(tour: Sequence[Step], step: int, controls: Controls) -> None:
    current = tour[step - 1]
    with st.container(border=True, key=controls.key("tour_strip")):
        st.markdown(f"**{step} of {len(tour)}. {current.title}**  \n{current.text}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Back",
                key=controls.key("tour_back"),
                disabled=step == 1,
                on_click=_go,
                args=(step - 1,),
            )
            st.button(
                "Next" if step < len(tour) else "Finish",
                key=controls.key("tour_next"),
                type="primary",
                on_click=_go,
                args=(step + 1 if step < len(tour) else None,),
            )
            st.button(
                "End the tour",
                key=controls.key("tour_end"),
                type="tertiary",
                on_click=_go,
                args=(None,),
            )
