"""The eyes of the browser tests see what they are there to see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from scripts.visitor import Look, Visitor, chromium
from tests.browser.test_pages import barriers

pytestmark = pytest.mark.browser


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Visitor]:
    with Look(400, 400, "light").context(browser) as context:
        yield Visitor(context.new_page())


def test_a_request_to_another_machine_is_stopped_and_noted(visitor: Visitor) -> None:
    visitor.page.set_content('<img src="http://elsewhere.test/x.png" alt="x">')
    assert visitor.strays == ["http://elsewhere.test/x.png"]


def test_an_uncaught_exception_and_a_console_error_are_heard(visitor: Visitor) -> None:
    visitor.page.set_content("<script>console.error('one'); throw new Error('two')</script>")
    assert [words.split()[0] for words in visitor.complaints] == ["one", "two"]


def test_pale_letters_and_a_nameless_button_are_barriers(visitor: Visitor) -> None:
    visitor.page.set_content(
        '<html lang="en"><title>t</title><main><h1>h</h1><button></button>'
        '<p style="color: #ccc; background: #fff">pale</p></main></html>'
    )
    assert {found.split(":")[0] for found in barriers(visitor)} == {"button-name", "color-contrast"}


def test_without_a_browser_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    with pytest.raises(FileNotFoundError, match="none is on the PATH: install it"):
        chromium()
    monkeypatch.setenv("CHROMIUM", "nothing")
    with pytest.raises(FileNotFoundError, match="nothing is not a program: install it"):
        chromium()
