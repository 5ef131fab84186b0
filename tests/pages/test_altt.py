"""The aLTT page: four ways to losses, the peeking switch, many runs, and the certificate."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from models.altt.__main__ import main as verify
from pages.altt import repeat
from tests.pages.visit import Downloads, charts, put, sampled, sound, visit

pytestmark = pytest.mark.app

FEED = {"altt_source": "Feed losses as you test"}


def uploaded(text: str | bytes, name: str = "losses.csv") -> AppTest:
    at = visit("altt")
    data = text.encode() if isinstance(text, str) else text
    at.file_uploader(key="altt_upload").upload(name, data)
    return sound(at.run(), f"uploading {name}")


def shown(at: AppTest) -> AppTest:
    return sound(at.button(key="altt_show_own").click().run(), "racing the file")


def said(at: AppTest) -> str:
    return " ".join(box.value for box in (*at.info, *at.warning))


def fed(at: AppTest, losses: str, who: str | None = None) -> AppTest:
    at.text_area(key="altt_feed_losses").set_value(losses)
    if who is not None:
        next(s for s in at.selectbox if str(s.key).startswith("altt_feed_who")).set_value(who)
    return sound(at.button(key="altt_feed_add").click().run(), f"adding {losses}")


@pytest.mark.parametrize(
    "source",
    [
        "Simulated: clear winners",
        "Simulated: small margins",
        "Simulated: nothing to find",
        "Simulated: my own risks",
        "Real: when may the classifier answer?",
        "Real: which policy balances the pole?",
    ],
)
def test_every_world_races_at_once(source: str) -> None:
    at = visit("altt", {"altt_source": source, "altt_budget": "300"})
    assert [error.value for error in at.error] == []
    assert "Wealth of" in charts(at)[0].alt
    assert "After 300 tests" in said(at)
    assert any("needs" in caption.value for caption in at.caption)


@pytest.mark.parametrize("tab", ["Against LTT", "Where the tests went"])
def test_each_view_draws_its_picture(tab: str) -> None:
    at = visit("altt", {"altt_view": tab, "altt_budget": "300"})
    assert len(charts(at)) == 2


def test_the_table_can_bound_every_risk() -> None:
    at = visit("altt", {"altt_budget": "300", "altt_bounds": "true"})
    table = at.dataframe[0].value
    assert len(table) == 20
    assert (table["risk at most"].astype(float) > 0).all()


def test_the_switch_voids_the_promise_and_counts_the_damage() -> None:
    at = visit("altt")
    assert len(charts(at)) == 1
    at = put(at, {"altt_released": True})
    assert any("guarantee is void" in error.value for error in at.error)
    assert "nothing is promised" in said(at)
    assert any("peeking bets in **" in text.value for text in at.markdown)
    assert "Bets that see the loss" in charts(at)[-1].alt


def test_many_runs_show_what_is_found_and_how_often_it_errs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repeat, "REPEATS", 2 * repeat.BLOCK)
    at = visit("altt", {"altt_budget": "300"})
    sound(at.button(key="altt_many_run").click().run(), "repeating")
    assert any("Over 50 runs" in text.value for text in at.markdown)
    assert "mean of 50 runs" in charts(at)[-2].alt
    put(at, {"altt_delta": 0.2})
    assert any("made with earlier settings" in caption.value for caption in at.caption)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("too large", "A,B\n0.1,0.2\n1.7,0.3\n", "Line 3 of the file, column 'A': 1.7"),
        ("percent", "A,B\n10,20\n5,70\n", "state the bounds 0 and 100"),
        ("negative", "A,B\n-0.1,0\n", "-0.1 lies outside"),
        ("not a number", "A,B\n0.1,nan\n0.2,0.1\n", "'nan' is not a finite number"),
        ("text", "A,B\n0.1,plenty\n", "'plenty' is not a finite number"),
        ("twice", "A,A\n0,1\n", "stands on 2 columns"),
        ("hole", "A,B\n0,\n0,1\n", "has no value in column 'B'"),
        ("index", "row,A\n1,0\n2,0\n3,0\n", "counts the rows"),
        ("no candidate", "candidate,loss\n,0.5\n", "names no candidate"),
        ("no losses", "A,B\n", "names but no losses"),
        ("wide", ",".join(f"c{i}" for i in range(2001)) + "\n" + ",".join("0" * 2001), "2,001"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_gives_one_sentence(name: str, text: str, problem: str) -> None:
    at = uploaded(text)
    (error,) = [box.value.replace("\\", "") for box in at.error]
    assert problem in error
    assert charts(at), name


def test_percentages_are_taken_with_stated_bounds_and_rewards_are_turned() -> None:
    at = uploaded("A,B\n" + "97,20\n99,30\n" * 60)
    assert at.error
    at.toggle(key="altt_upload_scaled").set_value(True)
    at.toggle(key="altt_upload_rewards").set_value(True)
    at = sound(at.run(), "scaling")
    assert [error.value for error in at.error] == []
    assert "certified: A." in said(shown(at))


def test_long_and_wide_files_of_the_same_losses_race_alike() -> None:
    wide = "A;B\n" + "0,1;0,5\n0;1\n" * 40
    rows = [f"{name},{x}" for x, y in [(0.1, 0.5), (0, 1)] * 40 for name, x in (("A", x), ("B", y))]
    long = "candidate,loss\n" + "\n".join(rows)
    first, second = shown(uploaded(wide)), shown(uploaded(long))
    assert charts(first)[0].alt == charts(second)[0].alt


def test_a_table_that_is_not_text_is_read_too() -> None:
    data = io.BytesIO()
    pd.DataFrame({"A": [0.0] * 60, "B": [1.0] * 60}).to_parquet(data)
    at = shown(uploaded(data.getvalue(), "losses.parquet"))
    assert "certified: A." in said(at)


def test_too_few_losses_are_said_to_be_too_few() -> None:
    at = shown(uploaded("A,B\n" + "0,1\n" * 10))
    assert "Nothing can be certified" in said(at)
    assert "needs 18 of them, and at most 10 are at hand" in said(at)


def test_a_single_candidate_is_welcome() -> None:
    assert "single candidate" in said(shown(uploaded("A\n" + "0\n" * 60)))


def test_the_certificate_of_a_file_verifies_and_a_changed_one_does_not(
    downloads: Downloads, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sampled("altt")
    certificate, log = tmp_path / "certificate.json", tmp_path / "log.csv"
    certificate.write_bytes(downloads.bytes("altt_certificate_certificate_json"))
    log.write_bytes(downloads.bytes("altt_certificate_log_csv"))
    assert verify(["verify", str(certificate), str(log)]) == 0
    page = downloads.bytes("altt_certificate_certificate_html").decode()
    assert json.loads(certificate.read_text())["log_sha256"] in page
    log.write_text(log.read_text().replace("0.", "1.", 1))
    assert verify(["verify", str(certificate), str(log)]) == 1
    capsys.readouterr()


def test_the_certificate_of_a_simulated_run_verifies(
    downloads: Downloads, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    visit("altt", {"altt_budget": "300"})
    certificate, log = tmp_path / "certificate.json", tmp_path / "log.csv"
    certificate.write_bytes(downloads.bytes("altt_certificate_certificate_json"))
    log.write_bytes(downloads.bytes("altt_certificate_log_csv"))
    assert verify(["verify", str(certificate), str(log)]) == 0
    capsys.readouterr()


def test_losses_are_fed_in_batches_and_the_run_resumes_from_its_export(
    downloads: Downloads,
) -> None:
    at = visit("altt", FEED)
    assert any("Test next: A." in text.value for text in at.markdown)
    at = fed(at, "0 " * 24)
    assert "After 24 tests 1 of the 5 settings is certified: A." in said(at)
    at = fed(at, "1, 0; 0.5", "D")
    assert "After 27 tests" in said(at)
    run, log = downloads.bytes("altt_feed_json"), downloads.bytes("altt_feed_csv")
    before = charts(at)[0].alt
    at = sound(at.button(key="altt_feed_reset").click().run(), "resetting")
    assert "No test has been made yet" in said(at)
    for name, data in (("run.json", run), ("log.csv", log)):
        fresh = visit("altt", FEED)
        fresh.file_uploader(key="altt_feed_resume").upload(name, data)
        sound(fresh.run(), f"resuming from {name}")
        assert charts(fresh)[0].alt == before, name


def test_a_promise_does_not_change_with_what_was_seen() -> None:
    at = fed(visit("altt", FEED), "0 0 0")
    before = charts(at)[0].alt
    at = put(at, {"altt_alpha": 0.5, "altt_names": "A, B"})
    assert charts(at)[0].alt == before
    assert any("fixed with the first loss: alpha 0.2" in c.value for c in at.caption)


def test_a_larger_budget_is_taken_over() -> None:
    at = fed(visit("altt", FEED | {"altt_budget": "100"}), "0 1 " * 50)
    assert any("Nothing to test next" in text.value for text in at.markdown)
    at = put(at, {"altt_budget": 200})
    assert any("Test next:" in text.value for text in at.markdown)
    assert "After 100 tests" in said(at)


@pytest.mark.parametrize(
    ("losses", "problem"),
    [
        ("", "no numbers"),
        ("much", "'much' is not a number"),
        ("0 2", "number 2 is 2"),
        ("0 nan", "number 2 is nan"),
        ("0 " * 2001, "exceed what is left of the budget"),
    ],
)
def test_losses_that_cannot_be_used_change_nothing(losses: str, problem: str) -> None:
    at = fed(visit("altt", FEED), losses)
    (error,) = [box.value.replace("\\", "") for box in at.error]
    assert problem in error
    assert "No test has been made yet" in said(at)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("run.json", b"{}"),
        ("run.json", b"\xff\xfe"),
        ("run.json", b'{"settings": 3, "names": 4, "log": 5}'),
        ("log.csv", b"a,b\n1,2\n"),
        ("log.csv", b"round,candidate,loss\n1,Z,0.5\n"),
        ("log.csv", b"round,candidate,loss\n2,A,0.5\n"),
    ],
)
def test_an_export_that_cannot_be_resumed_gives_a_sentence(name: str, data: bytes) -> None:
    at = visit("altt", FEED)
    at.file_uploader(key="altt_feed_resume").upload(name, data)
    sound(at.run(), "resuming")
    (error,) = [box.value for box in at.error]
    assert error.endswith(".")


@pytest.mark.parametrize("names", ["", "A,A", "<b>,*"])
def test_names_are_checked_or_shown_as_they_are(names: str) -> None:
    at = visit("altt", FEED)
    at = put(at, {"altt_names": names})
    assert bool(at.error) == (names != "<b>,*")


def test_settings_that_do_not_fit_give_a_sentence() -> None:
    at = visit("altt", {"altt_stop": "21"})
    assert any("choose 1 to 20" in error.value for error in at.error)
    at = visit("altt", {"altt_released": "true", "altt_control": "No false certificate (Holm)"})
    assert any("no Holm rule" in error.value for error in at.error)
