"""Every page in a real browser: it opens first and last, light and dark, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext

from models.catalog import working
from scripts.visitor import Look, Served, Visitor, served
from tests.pages.visit import PAGES, SLUGS, address, another, charts, controls, visit

pytestmark = pytest.mark.browser

LOOKS = {
    "wide light": Look(1440, 900, "light"),
    "wide dark": Look(1440, 900, "dark"),
    "narrow light": Look(390, 844, "light"),
    "narrow dark": Look(390, 844, "dark"),
}
AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")

# What axe finds in Streamlit's own frame, which is not ours to mend: rule and part of the page.
NOT_OURS = {
    # The menu wraps the pages of a section in a div between list and items.
    "list": '[data-testid="stSidebarNav"]',
    "listitem": '[data-testid="stSidebarNav"]',
}

OVERFLOW = """() => {
  const main = document.querySelector('[data-testid="stMain"]');
  const page = document.documentElement;
  return Math.max(page.scrollWidth - page.clientWidth, main.scrollWidth - main.clientWidth);
}"""
CHARTS = """() => [...document.querySelectorAll('[data-testid="stPlotlyChart"]')].map((chart) => ({
  alt: chart.getAttribute('aria-label'),
  drawn: [...chart.querySelectorAll('svg.main-svg')].some((svg) => svg.getBBox().width > 0),
  left: chart.getBoundingClientRect().left,
  right: chart.getBoundingClientRect().right,
}))"""


def path(page: str) -> str:
    """The page's place on the server."""
    return "/" if page == "home" else f"/{page}"


def expected(page: str, url: str) -> list[str]:
    """What Streamlit's client complains of itself: below a page it asks there for the server."""
    told = "Failed to load resource: the server responded with a status of 404 (Not Found)"
    asked = ("health", "host-config") if page != "home" else ()
    return [f"{told} {url}{path(page)}/_stcore/{name}" for name in asked]


def drawn(visitor: Visitor) -> list[str]:
    """The words of every chart on the page."""
    return [chart["alt"] for chart in visitor.page.evaluate(CHARTS)]


def barriers(visitor: Visitor) -> list[str]:
    """What axe holds to be serious or critical, but for what is not ours."""
    visitor.page.evaluate(AXE)
    found = visitor.page.evaluate("axe.run()")["violations"]
    return [
        f"{finding['id']}: {node['html'][:200]} {node['failureSummary']}"
        for finding in found
        if finding["impact"] in ("serious", "critical")
        for node in finding["nodes"]
        if not _within(visitor, node["target"][0], NOT_OURS.get(finding["id"]))
    ]


def _within(visitor: Visitor, target: str, part: str | None) -> bool:
    script = "([target, part]) => document.querySelector(target).closest(part) !== null"
    return part is not None and bool(visitor.page.evaluate(script, [target, part]))


def off_default(slug: str) -> dict[str, Any]:
    """A parameter of the page's address that changes its picture."""
    usual = visit(slug)
    for key, control in controls(usual).items():
        if control.proto.query_param_key == key and key.startswith(f"{slug}_"):
            link = {key: address(another(control))}
            changed = charts(visit(slug, link))  # none where it waits for a visitor's own data
            if changed and changed[0].alt != charts(usual)[0].alt:
                return link
    pytest.fail(f"No parameter of {slug} changes the words of its picture.")


@pytest.mark.parametrize("slug", SLUGS)
def test_a_link_into_a_page_can_be_the_first_request_of_all(browser: Browser, slug: str) -> None:
    link = off_default(slug)
    with served() as fresh, LOOKS["wide light"].context(browser) as context:
        page = context.new_page()
        visitor = Visitor(page)
        visitor.open(f"{fresh.url}/{slug}?{urlencode(link, doseq=True)}")
        menu = page.locator('[data-testid="stSidebarNavLink"]')
        titles = [demo.title for demo in working()]
        assert [item.split("\n")[-1] for item in menu.all_inner_texts()] == [
            "Papers",
            "Claims",
            *titles,
        ]
        assert page.get_by_role("dialog").count() == 0
        assert page.get_by_text("Page not found").count() == 0
        assert drawn(visitor) == [chart.alt for chart in charts(visit(slug, link))]
        assert parse_qs(urlsplit(page.url).query) == parse_qs(urlencode(link, doseq=True))
    assert "Traceback" not in "".join(fresh.lines)


@pytest.fixture(scope="module", params=LOOKS)
def look(request: pytest.FixtureRequest) -> Look:
    return LOOKS[str(request.param)]


@pytest.fixture(scope="module")
def context(browser: Browser, look: Look) -> Iterator[BrowserContext]:
    """A browser of this screen, which looks at one page after the other."""
    with look.context(browser) as context:
        yield context


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def seen(context: BrowserContext, server: Served, page: str) -> Iterator[Visitor]:
    """The page as it stands in this light and on this screen."""
    visitor = Visitor(context.new_page())
    visitor.open(server.url + path(page))
    yield visitor
    visitor.page.close()


def test_nothing_went_wrong(seen: Visitor, server: Served, page: str) -> None:
    assert seen.page.get_by_test_id("stException").count() == 0
    assert sorted(seen.complaints) == sorted(expected(page, server.url))


def test_nothing_left_this_machine(seen: Visitor) -> None:
    assert seen.strays == []


def test_nothing_is_wider_than_the_screen(seen: Visitor) -> None:
    assert seen.page.evaluate(OVERFLOW) == 0


def test_every_chart_is_drawn_and_described(seen: Visitor, look: Look, page: str) -> None:
    found = seen.page.evaluate(CHARTS)
    assert len(found) >= (page in SLUGS)
    for chart in found:
        assert chart["drawn"]
        assert chart["alt"].strip()
        assert 0 <= chart["left"] < chart["right"] <= look.width


def test_every_image_is_described_or_declared_mute(seen: Visitor) -> None:
    assert seen.page.locator("img:not([alt])").count() == 0


def test_the_page_wears_the_visitors_light(seen: Visitor, look: Look) -> None:
    ground = "getComputedStyle(document.querySelector('[data-testid=\"stApp\"]')).backgroundColor"
    red, green, blue = (int(part) for part in seen.page.evaluate(ground)[4:-1].split(","))
    assert (red + green + blue < 3 * 128) == (look.scheme == "dark")


def test_axe_finds_no_serious_barrier(seen: Visitor) -> None:
    assert barriers(seen) == []
