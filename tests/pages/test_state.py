"""A state lives in its URL: every link opens as it was, and a mangled one as if it were bare."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.visit import (
    PAGES,
    SHARED_KEYS,
    SLUGS,
    address,
    another,
    charts,
    controls,
    put,
    script,
    sound,
    story,
    visit,
)

pytestmark = pytest.mark.app

# What people and programs make of a link.
MANGLED: dict[str, str | list[str]] = {
    "empty": "",
    "not a number": "nan",
    "infinite": "1e400",
    "far out of range": "-123456789012345678901234567890",
    "markup": "<script>alert(1)</script>",
    "text": "Ω\u202e'; DROP TABLE votes; --",
    "NUL": "\x00",
    "long": "9" * 5000,
    "repeated": ["1", "0.5", "x"],
}


def bound(at: AppTest) -> dict[str, Any]:
    """The values that live in the URL, by key, but for those that all pages share."""
    return {
        key: control.value
        for key, control in controls(at).items()
        if control.proto.query_param_key and key not in SHARED_KEYS
    }


def changed(at: AppTest) -> dict[str, Any]:
    """Change every bound control in turn; the values set, as a visitor picked them."""
    picked = {}
    for key in bound(at):
        if key in controls(at):
            picked[key] = another(controls(at)[key])
            put(at, {key: picked[key]})
    return {key: value for key, value in picked.items() if key in controls(at)}


@pytest.mark.parametrize("slug", SLUGS)
def test_every_control_on_the_page_lives_in_the_url(slug: str) -> None:
    """But for those of a visitor's own file and of the claims, which a link cannot carry."""
    own = (f"{slug}_claim", f"{slug}_upload", f"{slug}_map_", f"{slug}_files")
    loose = [k for k, c in controls(visit(slug)).items() if not c.proto.query_param_key]
    assert [key for key in loose if key not in SHARED_KEYS and not key.startswith(own)] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_link_opens_the_state_it_was_taken_from(page: str) -> None:
    at = visit(page)
    usual = bound(at)
    link = {key: address(value) for key, value in changed(at).items()}
    assert bound(visit(page, link)) == bound(at)
    assert not usual or bound(at) != usual


@pytest.mark.parametrize("slug", SLUGS)
def test_the_link_shown_opens_the_state_of_each_preset_and_step(slug: str) -> None:
    """Also where a preset brings up a control that was not on the page before."""
    doors = [f"{slug}_preset_{number}" for number in range(len(story(slug).presets))]
    for door in (*doors, f"{slug}_tour_start"):
        at = visit(slug)
        sound(at.button(key=door).click().run(), door)
        shown = [urlsplit(code.value) for code in at.code if code.value.startswith(f"/{slug}")]
        if shown:
            assert bound(visit(slug, parse_qs(shown[0].query))) == bound(at), door


@pytest.mark.parametrize("slug", SLUGS)
def test_presenter_mode_stays_in_the_url(slug: str) -> None:
    at = visit(slug, {"present": "1"})
    assert at.session_state["present"] is True
    assert visit(slug, at.query_params).session_state["present"] is True


@pytest.mark.parametrize("damage", MANGLED)
@pytest.mark.parametrize("page", PAGES)
def test_a_mangled_link_opens_the_default(page: str, damage: str) -> None:
    usual = visit(page)
    words = {item.key for item in usual.text_input}  # for which any text is a value
    mangled = {key: MANGLED[damage] for key in bound(usual) if key not in words}
    opened = visit(page, mangled | {"present": MANGLED[damage], "unknown": MANGLED[damage]})
    chosen = {key: value for key, value in bound(opened).items() if value is not None}
    assert bound(usual) == bound(usual) | chosen
    assert [chart.alt for chart in charts(opened)] == [chart.alt for chart in charts(usual)]
    assert [error.value for error in opened.error] == []
    visit(page, dict.fromkeys(words, MANGLED[damage]))


@pytest.mark.parametrize("slug", SLUGS)
def test_what_a_visitor_set_is_there_after_a_look_at_another_page(slug: str) -> None:
    at = visit(slug)
    changed(at)
    left = bound(at)
    sound(at.switch_page(script("claims")).run(), "going to the claims")
    sound(at.switch_page(script(slug)).run(), "coming back")
    assert bound(at) == left
