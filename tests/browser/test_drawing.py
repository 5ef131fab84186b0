"""The drawing pad in a real browser: by mouse and by keyboard, and cleared again."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect

from scripts.visitor import Look, Served, Visitor

pytestmark = pytest.mark.browser

STATE = {"steering_view": "On pictures: digits", "steering_d_reward": "Like my drawing"}
EMPTY = "Draw something first"


@pytest.mark.parametrize("look", [Look(1440, 900, "light"), Look(390, 844, "dark")])
def test_a_stroke_reaches_the_server_and_can_be_cleared(
    browser: Browser, server: Served, look: Look
) -> None:
    with look.context(browser) as context:
        page = context.new_page()
        visitor = Visitor(page)
        visitor.open(f"{server.url}/steering?{urlencode(STATE)}")
        pad = page.locator(".st-key-steering_d_pad")
        canvas, empty = pad.locator("canvas"), page.get_by_text(EMPTY)
        expect(empty).to_be_visible()
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 10, steps=12)
        page.mouse.up()
        expect(empty).to_have_count(0)
        expect(page.get_by_role("button", name="Draw 8 pictures")).to_be_visible()
        pad.get_by_role("button", name="Clear").click()
        expect(empty).to_be_visible()
        canvas.focus()
        for key in ("ArrowRight", "ArrowRight", "ArrowDown", " "):
            page.keyboard.press(key)
        expect(empty).to_have_count(0)
