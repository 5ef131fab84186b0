"""Measuring a claim on its page: the figure, the verdict, and what a stop leaves."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from models.claims import Claim, Measurement, Progress, Scale
from models.quest import claims
from tests.pages.visit import visit
from ui.ledger import VISITOR

pytestmark = pytest.mark.app


def claim(measure: Callable[[Scale, int, Progress], Measurement]) -> Claim:
    return Claim(
        "fake", "A is below B.", "Section 1", "", measure, "% lower", kind="our reading",
        headline=True,
    )  # fmt: skip


def measured_page(monkeypatch: pytest.MonkeyPatch, one: Claim) -> AppTest:
    monkeypatch.setattr(claims, "CLAIMS", (one,))
    at = visit("quest")
    at.button(key="quest_claim_fake_run").click().run()
    assert not at.exception
    return at


def test_a_measured_claim_shows_its_figure_and_enters_the_visitors_ledger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scales: list[str] = []

    def measure(scale: Scale, seed: int, progress: Progress) -> Measurement:
        scales.append(scale)
        progress(5, 10, 1.0, Measurement(20.0, 5.0, 35.0, 5, "holds"))
        return Measurement(22.0, 12.0, 32.0, 10, "holds", "Note of the claim.")

    at = measured_page(monkeypatch, claim(measure))
    entry = at.session_state[VISITOR]["quest/fake"]
    assert (entry.measurement.value, entry.measurement.trials, entry.scale) == (22.0, 10, "quick")
    assert scales == ["quick"]
    assert any("22 % lower (12 to 32)" in text.value for text in at.markdown)
    assert any("measured by you just now. Note of the claim." in c.value for c in at.caption)


def test_a_stopped_measurement_keeps_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(scale: Scale, seed: int, progress: Progress) -> Measurement:
        progress(5, 10, None, Measurement(20.0, -5.0, 45.0, 5, "not shown"))
        st.stop()
        pytest.fail("a stopped run went on")

    at = measured_page(monkeypatch, claim(measure))
    at.run()
    assert at.session_state[VISITOR]["quest/fake"].measurement.trials == 5
    assert any("20 % lower (-5 to 45)" in text.value for text in at.markdown)


def test_the_claims_page_prefers_the_visitors_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(scale: Scale, seed: int, progress: Progress) -> Measurement:
        return Measurement(-4.0, -6.0, -2.0, 10, "contradicted")

    at = measured_page(monkeypatch, claim(measure))
    at.switch_page("../pages/claims.py").run()
    assert not at.exception
    table = at.dataframe[0].value
    table = table[table["paper"] == "QuEst"]
    assert table["verdict"].tolist() == ["contradicted"]
    assert table["measured here"].tolist() == ["-4 % lower (-6 to -2)"]
    assert any("1 of these figures were measured by you" in c.value for c in at.caption)
