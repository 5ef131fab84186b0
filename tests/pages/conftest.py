"""What the tests of the pages share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import streamlit as st
from streamlit import config

from tests.pages.visit import Downloads

DETAILS = "client.showErrorDetails"


@pytest.fixture(autouse=True)
def _details() -> Iterator[None]:
    """Let a page that breaks say how, which it does not tell a visitor."""
    usual = config.get_option(DETAILS)
    config.set_option(DETAILS, "full")
    yield
    config.set_option(DETAILS, usual)


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> Downloads:
    """The files that a page offers, which a test without a browser cannot save."""
    found = Downloads()
    draw = st.download_button

    def noted(label: str, data: Any, *rest: Any, key: str, **more: Any) -> bool:
        found[key] = data
        return draw(label, data, *rest, key=key, **more)

    monkeypatch.setattr(st, "download_button", noted)
    return found
