"""Every page of the catalogue stands, at every end of every control, in each preset and tour."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Widget

from tests.pages.visit import (
    PAGES,
    SHARED_KEYS,
    SLUGS,
    address,
    charts,
    controls,
    ends,
    put,
    sound,
    story,
    tabs,
    visit,
)

pytestmark = pytest.mark.app


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_with_a_title_and_without_an_error(page: str) -> None:
    at = visit(page)
    assert [title.value for title in at.title if title.value.strip()]
    assert [error.value for error in at.error] == []


@pytest.mark.parametrize("slug", SLUGS)
def test_the_picture_is_there_before_the_first_click(slug: str) -> None:
    at = visit(slug)
    assert charts(at)
    for chart in charts(at):
        assert chart.alt.strip()
        drawn = json.loads(chart.spec)
        assert any(_points(trace) for trace in drawn["data"]), chart.alt
        assert drawn["layout"]["height"] > 0, "a chart of no fixed height makes the page jump"


@pytest.mark.parametrize("page", PAGES)
def test_every_control_can_go_to_its_ends(page: str) -> None:
    """One at a time, also the controls and tabs that only another one's value brings up."""
    known: set[str] = set()
    tried: set[str] = set()
    contexts: list[dict[str, Any]] = [{}]
    for context in contexts:
        at = visit(page, context)
        for key, label in tabs(at):
            if (key, label) not in tried and key not in context:
                tried.add((key, label))
                contexts.append({key: label})
        known |= controls(at).keys()
        moved: dict[str, Any] = {}
        for key in [key for key in controls(at) if key not in tried]:
            tried.add(key)
            for value in list(ends(controls(at)[key])) if key in controls(at) else []:
                if key not in controls(at):
                    at, moved = visit(page, context), {}
                back = {k: v for k, v in moved.items() if k in controls(at) and k != key}
                moved = {key: controls(at)[key].value} if key not in moved else moved
                at = put(at, back | {key: value})
                new = controls(at).keys() - known
                known |= new
                if new and (bound := controls(at)[key].proto.query_param_key):
                    contexts.append(context | {bound: address(value)})
            if not moved.keys() <= controls(at).keys():
                at, moved = visit(page, context), {}
    assert known <= tried, "controls that no address brings up"


@pytest.mark.parametrize("slug", SLUGS)
def test_every_preset_sets_its_controls(slug: str) -> None:
    presets = story(slug).presets
    assert 3 <= len(presets) <= 8
    for number, preset in enumerate(presets):
        at = visit(slug)
        sound(at.button(key=f"{slug}_preset_{number}").click().run(), f"preset {preset.title}")
        assert _disagreeing(at, slug, preset.values) == {}, preset.title
        assert at.button(key=f"{slug}_preset_{number}").proto.type == "primary", preset.title


@pytest.mark.parametrize("slug", SLUGS)
def test_the_tour_walks_forward_and_back(slug: str) -> None:
    steps = story(slug).tour
    assert len(steps) == 5
    at = visit(slug)
    at = sound(at.button(key=f"{slug}_tour_start").click().run(), "taking the tour")
    assert at.button(key=f"{slug}_tour_back").disabled
    for number, step in enumerate(steps, start=1):
        assert _disagreeing(at, slug, step.values) == {}, step.title
        assert any(step.text in text.value for text in at.markdown), step.title
        if number > 1:
            sound(at.button(key=f"{slug}_tour_back").click().run(), f"going back from {number}")
            assert _disagreeing(at, slug, steps[number - 2].values) == {}, step.title
            sound(at.button(key=f"{slug}_tour_next").click().run(), f"returning to {number}")
        sound(at.button(key=f"{slug}_tour_next").click().run(), f"leaving step {number}")
    assert f"{slug}_tour_next" not in {button.key for button in at.button}
    assert f"{slug}_tour_start" in {button.key for button in at.button}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_link_opens_the_tour_at_its_step(slug: str) -> None:
    steps = story(slug).tour
    at = visit(slug, {"tour": str(len(steps))})
    assert _disagreeing(at, slug, steps[-1].values) == {}
    assert any(steps[-1].text in text.value for text in at.markdown)


@pytest.mark.parametrize("number", ["0", "6", "-1", "1.5", "²", "99999999999999999999", "<b>", ""])
@pytest.mark.parametrize("slug", SLUGS)
def test_a_step_that_is_none_starts_no_tour(slug: str, number: str) -> None:
    at = visit(slug, {"tour": number})
    assert f"{slug}_tour_next" not in {button.key for button in at.button}


@pytest.mark.parametrize("slug", SLUGS)
def test_presenter_mode_shows_the_picture_and_little_else(slug: str) -> None:
    usual, stage = visit(slug), visit(slug, {"present": "1"})
    assert stage.session_state["present"] is True
    assert charts(stage)[0].alt == charts(usual)[0].alt
    assert len(list(stage.main)) < len(list(usual.main))
    assert _font(charts(stage)[0]) > _font(charts(usual)[0])
    left = put(stage, {"present": False})
    assert _font(charts(left)[0]) == _font(charts(usual)[0])


@pytest.mark.parametrize("page", PAGES)
def test_every_key_carries_the_name_of_its_page(page: str) -> None:
    at = visit(page)
    owners = tuple(f"{owner}_" for owner in (PAGES if page == "claims" else [page]))
    keys = [str(node.key) for node in at.main if isinstance(node, Widget)]
    assert keys
    assert [k for k in keys if k not in SHARED_KEYS and not k.startswith(owners)] == []


def _points(trace: dict[str, Any]) -> bool:
    return any(trace.get(axis) for axis in ("x", "y", "z", "values", "r", "lat"))


def _font(chart: Any) -> float:
    return float(json.loads(chart.spec)["layout"]["font"]["size"])


def _disagreeing(at: AppTest, slug: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Controls that are there, but do not stand where a preset or step puts them."""
    drawn = controls(at)
    there = {name: drawn[f"{slug}_{name}"].value for name in values if f"{slug}_{name}" in drawn}
    return {name: value for name, value in there.items() if value != values[name]}
