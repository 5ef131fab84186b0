"""A visitor's hands: the first screen, the keyboard, the slider, the link, the report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator

from models.catalog import by_slug
from scripts.visitor import Look, Served, Visitor
from tests.browser.test_pages import barriers, drawn
from tests.pages.visit import SLUGS, controls, story, visit

pytestmark = pytest.mark.browser

SCREEN = Look(1440, 900, "light")
FIRST_CHART = '[data-testid="stPlotlyChart"]'
FRAME = """() => {
  const chart = document.querySelector('.js-plotly-plot');
  const layout = chart._fullLayout;
  return [layout.height, chart.getBoundingClientRect().top, layout.xaxis.range];
}"""


@pytest.fixture(params=SLUGS)
def slug(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """The browser of all who come here."""
    with SCREEN.context(browser) as context:
        yield context


@pytest.fixture
def visitor(context: BrowserContext, server: Served, slug: str) -> Iterator[Visitor]:
    """Someone who has just opened the page."""
    visitor = Visitor(context.new_page())
    visitor.open(f"{server.url}/{slug}")
    yield visitor
    visitor.page.close()


def widget(visitor: Visitor, key: str) -> Locator:
    """What holds the widget of a key."""
    return visitor.page.locator(f".st-key-{key}")


def tab_to(visitor: Visitor, target: Locator) -> None:
    """Press Tab until the target has the focus, as often as a page can have stops at most."""
    for _ in range(300):
        visitor.page.keyboard.press("Tab")
        if target.evaluate("node => node === document.activeElement"):
            return
    pytest.fail(f"No number of Tabs leads to {target}.")


def test_the_first_screen_holds_header_presets_controls_and_picture(
    visitor: Visitor, slug: str
) -> None:
    bound = [k for k, c in controls(visit(slug)).items() if c.proto.query_param_key == k]
    own = [key for key in bound if key.startswith(f"{slug}_")]
    presets = [f"{slug}_preset_{number}" for number in range(len(story(slug).presets))]
    parts = [visitor.page.locator("h1"), *(widget(visitor, key) for key in (*presets, *own[:3]))]
    for part in parts:
        box = part.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= SCREEN.height, part
    box = visitor.page.locator(FIRST_CHART).first.bounding_box()
    assert box is not None
    assert SCREEN.height - box["y"] >= box["height"] / 2


def test_a_preset_can_be_set_by_keyboard_alone(visitor: Visitor, slug: str) -> None:
    before = drawn(visitor)
    button = widget(visitor, f"{slug}_preset_1").get_by_role("button")
    tab_to(visitor, button)
    with visitor.rerun():
        visitor.page.keyboard.press("Enter")
    assert button.get_attribute("kind") == "primary"
    assert drawn(visitor) != before


def test_the_tour_can_be_walked_and_left_by_keyboard_alone(visitor: Visitor, slug: str) -> None:
    tab_to(visitor, widget(visitor, f"{slug}_tour_start").get_by_role("button"))
    with visitor.rerun():
        visitor.page.keyboard.press("Enter")
    onward = widget(visitor, f"{slug}_tour_next").get_by_role("button")
    for number, step in enumerate(story(slug).tour, start=1):
        assert (
            visitor.page.get_by_text(f"{number} of {len(story(slug).tour)}. {step.title}").count()
            == 1
        )
        assert f"tour={number}" in visitor.page.url
        tab_to(visitor, onward)
        with visitor.rerun():
            visitor.page.keyboard.press("Enter")
    assert onward.count() == 0
    assert "tour=" not in visitor.page.url


def test_a_slider_moves_the_data_and_not_the_frame(visitor: Visitor, slug: str) -> None:
    before, words = visitor.page.evaluate(FRAME), drawn(visitor)
    sliders = visitor.page.get_by_test_id("stSlider").all()
    thumbs = [slider.locator("input") for slider in sliders]
    thumb = next(thumb for thumb in thumbs if thumb.count() == 1)
    thumb.focus()
    with visitor.rerun():
        thumb.press("ArrowRight")
    assert drawn(visitor) != words
    assert visitor.page.evaluate(FRAME) == before


def test_the_link_on_the_page_opens_its_state(
    visitor: Visitor, context: BrowserContext, server: Served, slug: str
) -> None:
    with visitor.rerun():
        widget(visitor, f"{slug}_preset_1").get_by_role("button").click()
    link = visitor.page.locator("code").filter(has_text=f"{server.url}/{slug}?").inner_text()
    assert urlsplit(link).query
    for address in (link, visitor.page.url):
        other = Visitor(context.new_page())
        other.open(address)
        assert drawn(other) == drawn(visitor), address
        other.page.close()


def test_presenter_mode_outlives_a_reload(visitor: Visitor, slug: str) -> None:
    with visitor.rerun():
        widget(visitor, "present").locator("label").click()
    assert visitor.page.get_by_test_id("stSidebar").count() == 0
    visitor.open(visitor.page.url)
    assert visitor.page.get_by_test_id("stSidebar").count() == 0


def test_the_card_on_the_home_page_leads_to_the_page(
    visitor: Visitor, server: Served, slug: str
) -> None:
    visitor.open(server.url)
    card = visitor.page.get_by_test_id("stMain").get_by_role("link", name=by_slug(slug).title)
    with visitor.rerun():
        card.click()
    assert urlsplit(visitor.page.url).path == f"/{slug}"
    assert drawn(visitor)


def test_the_report_opens_without_a_network(
    visitor: Visitor, browser: Browser, slug: str, tmp_path: Path
) -> None:
    with visitor.page.expect_download() as saved:
        widget(visitor, f"{slug}_take_html").get_by_role("button").click()
    report = tmp_path / "report.html"
    saved.value.save_as(report)
    with browser.new_context(offline=True) as context:
        reader = Visitor(context.new_page())
        reader.page.goto(report.as_uri())
        figures = reader.page.locator("figure")
        reader.page.wait_for_function(
            "() => [...document.querySelectorAll('figure')].every((f) => f.querySelector('.trace'))"
        )
        assert figures.count() >= 1
        assert all(figure.get_attribute("aria-label") for figure in figures.all())
        assert reader.complaints == []
        assert reader.strays == []
        assert barriers(reader) == []
