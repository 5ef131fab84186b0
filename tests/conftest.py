"""The one server and the one browser that the tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

from scripts.visitor import Served, launched, served

# A busy machine is no fault of the code: properties are tested without a limit on their time.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def server() -> Iterator[Served]:
    """The dashboard, which must not have logged an exception by the end."""
    with served() as running:
        yield running
    log = "".join(running.lines)
    assert "Traceback" not in log, log


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium or Chrome; without one the tests fail and say what to install."""
    with sync_playwright() as playwright:
        running = launched(playwright)
        yield running
        running.close()
