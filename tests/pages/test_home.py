"""The home page names every paper, opens those that work, and finds what is looked for."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from models.catalog import DEMOS, by_slug, sections, working
from tests.pages.visit import put, visit

pytestmark = pytest.mark.app

WORKING = {demo.slug for demo in working()}


def links(at: AppTest) -> set[str]:
    """The pages that can be opened from here."""
    return {link.proto.page for link in at.page_link}


def words(at: AppTest) -> str:
    """All that is written on the page."""
    return "\n".join(item.value for item in [*at.markdown, *at.caption, *at.info])


def test_every_paper_is_named_and_those_that_work_can_be_opened() -> None:
    at = visit("home")
    for demo in DEMOS:
        for paper in demo.papers:
            assert paper.title in words(at)
    assert links(at) == WORKING


@pytest.mark.parametrize("slug", sorted(WORKING))
def test_a_page_is_found_by_title_author_and_claim_in_any_case(slug: str) -> None:
    paper = by_slug(slug).papers[0]
    for looked_for in (paper.title, paper.authors.split(",")[0].upper(), paper.claim.lower()):
        at = put(visit("home"), {"home_search": f" {looked_for} "})
        assert slug in links(at), looked_for


def test_nonsense_and_markup_find_nothing() -> None:
    for nonsense in ("no such paper", "<script>alert(1)</script>", "[a](javascript:b)", "$\\x$"):
        at = put(visit("home"), {"home_search": nonsense})
        assert links(at) == set()
        assert all(paper.title not in words(at) for demo in DEMOS for paper in demo.papers)
        assert at.info


def test_a_section_holds_its_own_papers_only() -> None:
    at = visit("home")
    for section, demos in sections().items():
        at = put(at, {"home_section": section})
        for demo in DEMOS:
            assert all((paper.title in words(at)) == (demo in demos) for paper in demo.papers)
