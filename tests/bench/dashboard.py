"""The dashboard's budgets, measured on a real server through a real browser."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Locator, sync_playwright
from table import Row, budget

from models.catalog import working
from scripts.visitor import Look, Served, Visitor, launched, served

WARM_UP, MOVES = 3, 20
MANY = 1000
LOOK = Look(1440, 900, "light")
EMPTY = """
import streamlit as st
st.title("Empty")
st.text(f"at {st.slider('One', 0, 1000, 10, key='one')}")
"""

# Noted by the page itself, as a script that looks from outside waits while the page is busy.
FIRST_HEADING = """
window.firstHeading = 0;
new MutationObserver((_, watch) => {
  if (document.querySelector('[data-testid="stMain"] h1')) {
    window.firstHeading = performance.now();
    watch.disconnect();
  }
}).observe(document, {childList: true, subtree: true});
"""

WORDS = """() => document.querySelector('[data-testid="stPlotlyChart"]').ariaLabel"""


def rows(*, long: bool) -> list[Row]:
    """Every budget of a page; ``long`` adds the memory after 1,000 reruns."""
    with sync_playwright() as playwright:
        browser = launched(playwright)
        with _empty() as place:
            bare = _first_element(browser, place, "")
            empty, wait = _slider(browser, place, "")
        with served() as place:
            found = [
                budget(
                    f"first element of /{page}, warm process and browser (an empty page: "
                    f"{bare:.2f} s)",
                    _first_element(browser, place, page),
                    1.5,
                    "s",
                )
                for page in ("", "claims", *(demo.slug for demo in working()))
            ]
            for demo in working():
                cost, redraw = _slider(browser, place, demo.slug)
                found.append(
                    budget(
                        f"{demo.title}: server CPU of a slider move beyond an empty page's "
                        f"{empty:.0f} ms",
                        cost - empty,
                        60.0,
                        "ms",
                    )
                )
                name = f"{demo.title}: redraw after it (an empty page: {wait:.2f} s)"
                found.append(budget(name, redraw, 0.4, "s"))
            if long:
                found.append(_memory(browser, place))
    return found


@contextlib.contextmanager
def _empty() -> Iterator[Served]:
    """Serve a page with one slider, by the same means."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "empty.py"
        script.write_text(EMPTY)
        with served(script) as place:
            yield place


def _first_element(browser: Browser, place: Served, page: str) -> float:
    """Seconds from asking for a page to its first heading, once server and browser are warm."""
    context = LOOK.context(browser)
    context.add_init_script(FIRST_HEADING)
    times = []
    for _ in range(4):
        tab = context.new_page()
        tab.goto(f"{place.url}/{page}")
        tab.wait_for_function("() => window.firstHeading > 0")
        times.append(tab.evaluate("window.firstHeading") / 1000)
        tab.close()
    context.close()
    return statistics.median(times[1:])


def _slider(browser: Browser, place: Served, page: str) -> tuple[float, float]:
    """Server CPU in ms and seconds until the page is drawn again, per move of its first slider."""
    context = LOOK.context(browser)
    visitor = Visitor(context.new_page())
    visitor.open(f"{place.url}/{page}")
    thumb = _one_thumb(visitor)
    server = psutil.Process(place.pid)
    waits = []
    before = server.cpu_times()
    for move in range(WARM_UP + MOVES):
        if move == WARM_UP:
            before = server.cpu_times()
        start = time.perf_counter()
        if page:  # a run from a cache can be too short for the browser to mark it
            words = visitor.page.evaluate(WORDS)
            thumb.press("ArrowLeft" if move % 2 else "ArrowRight")
            visitor.page.wait_for_function(f"words => ({WORDS})() !== words", arg=words)
            visitor.wait()
        else:
            thumb.press("ArrowLeft" if move % 2 else "ArrowRight")
            visitor.page.get_by_text(f"at {10 if move % 2 else 11}").wait_for()
        waits.append(time.perf_counter() - start)
    after = server.cpu_times()
    context.close()
    spent = after.user + after.system - before.user - before.system
    return 1000 * spent / MOVES, statistics.median(waits[WARM_UP:])


def _one_thumb(visitor: Visitor) -> Locator:
    """Return the first slider with a single thumb, which is one that can move both ways."""
    for slider in visitor.page.get_by_test_id("stSlider").all():
        thumbs = slider.get_by_role("slider")
        if thumbs.count() == 1:
            return thumbs
    raise LookupError(f"{visitor.page.url} has no slider with one thumb.")


def _memory(browser: Browser, place: Served) -> Row:
    context = LOOK.context(browser)
    visitor = Visitor(context.new_page())
    visitor.open(f"{place.url}/{working()[0].slug}")
    thumb = _one_thumb(visitor)
    server = psutil.Process(place.pid)
    sizes = []
    for move in range(MANY):
        with visitor.rerun():
            thumb.press("ArrowRight" if move % 2 else "ArrowLeft")
        if move >= MANY // 2:
            sizes.append(server.memory_info().rss)
    context.close()
    growth = 100 * (max(sizes[-50:]) / max(sizes[:50]) - 1)
    return budget(f"growth of memory over the last {MANY // 2} of {MANY} reruns", growth, 10.0, "%")
