"""What a visitor takes along: safe CSV, strict JSON, links, and a report that stands alone."""

from __future__ import annotations

import base64
import datetime as dt
import enum
import hashlib
import html
import html.parser
import io
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from ui import charts, report
from ui.report import Figure, Report, csv_bytes, html_report, json_bytes, link, payload
from ui.tables import read_table, texts

pytestmark = pytest.mark.unit
NASTY = '</script><script>alert("x")</script>&amp;$title<b>'
LIGHT = charts.Look(("#0072B2", "#D55E00"), "#1b1f24", "rgba(27,31,36,0.72)", "#d8dee4")
DARK = charts.Look(("#56B4E9", "#F28E5B"), "#e6edf3", "rgba(230,237,243,0.72)", "#30363d")


def sample(**changes: Any) -> Report:
    figure = go.Figure(go.Scatter(x=np.array([1.0, 2.0, np.nan]), y=[3, 4, 5], name=NASTY))
    figure.update_layout(height=300, font={"color": DARK.ink})
    fields: dict[str, Any] = {
        "slug": "quest",
        "title": f"Title {NASTY}",
        "claim": f"Claim {NASTY}",
        "sentences": (f"First {NASTY}", "Second."),
        "frame": pd.DataFrame({"x": [1.0, 2.0]}),
        "settings": {"alpha": 0.1, "span": (0.25, 0.75), "note": NASTY},
        "seed": 7,
        "result": {"value": np.float64(1 / 3), "low": np.nan, "methods": {"ours": {"width": 2.5}}},
        "figures": (Figure(f"Figure {NASTY}", figure, f"Alt {NASTY}"),),
        "snippet": f"print(1)  # {NASTY}",
        "citation": f"Author {NASTY}",
    }
    return Report(**{**fields, **changes})


# --- CSV ------------------------------------------------------------------------------------


@given(st.lists(st.floats(), min_size=1, max_size=20), st.data())
def test_csv_keeps_every_number(values: list[float], data: st.DataObject) -> None:
    integer = st.integers(-(2**63), 2**63 - 1)
    counts = data.draw(st.lists(integer, min_size=len(values), max_size=len(values)))
    frame = pd.DataFrame({"x": values, "n": counts})
    back = pd.read_csv(io.BytesIO(csv_bytes(frame)))
    np.testing.assert_array_equal(back["x"].to_numpy(np.float64), values)
    assert back["n"].tolist() == counts


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_text_that_a_spreadsheet_would_run_is_disarmed(start: str) -> None:
    cell = f'{start}HYPERLINK("http://x","y")'
    frame = pd.DataFrame({start + "name": [cell, "plain"], "mixed": [cell, -1.5]})
    back = pd.read_csv(io.BytesIO(csv_bytes(frame)), keep_default_na=False)
    assert list(back.columns) == [f"'{start}name", "mixed"]
    assert back.iloc[:, 0].tolist() == ["'" + cell, "plain"]
    assert back["mixed"].tolist() == ["'" + cell, "-1.5"]
    assert frame["mixed"].tolist() == [cell, -1.5]  # the caller's frame is left alone


def test_negative_numbers_are_no_formulas() -> None:
    frame = pd.DataFrame({"f": [-1.5, np.nan], "i": [-2, 3], "c": pd.Categorical(["=a", "b"])})
    assert csv_bytes(frame) == b"f,i,c\r\n-1.5,-2,'=a\r\n,3,b\r\n"


def test_line_ends_inside_a_cell_stay_inside_it() -> None:
    frame = pd.DataFrame({"a": ["x\r=1", "y\n=2", "z\r\n=3"], "b": ["1", "2", "3"]})
    table = read_table(csv_bytes(frame), "back.csv")
    assert texts(table.frame, "a").tolist() == frame["a"].tolist()


def test_byte_order_mark_only_beyond_ascii() -> None:
    assert csv_bytes(pd.DataFrame({"a": ["e"]})) == b"a\r\ne\r\n"
    assert csv_bytes(pd.DataFrame({"a": ["é"]})) == "\ufeffa\r\né\r\n".encode()


# --- JSON -----------------------------------------------------------------------------------


class Mode(enum.Enum):
    CLIP = "clip"


@dataclass(frozen=True)
class Interval:
    low: float
    high: np.float64


def test_json_makes_values_plain() -> None:
    values = {
        "f": np.float32(0.5),
        "i": np.int64(3),
        "b": np.bool_(True),
        "a": np.array([[1.0, np.inf], [np.nan, -np.inf]]),
        "s": pd.Series([1, 2]),
        "d": pd.DataFrame({"x": [pd.NA, "y"]}),
        "t": dt.date(2025, 7, 13),
        "m": Mode.CLIP,
        "r": Interval(0.1, np.float64(0.2)),
        "n": None,
        3: ("u", 1.5),
    }
    assert json.loads(json_bytes(values)) == {
        "f": 0.5,
        "i": 3,
        "b": True,
        "a": [[1.0, None], [None, None]],
        "s": [1, 2],
        "d": {"x": [None, "y"]},
        "t": "2025-07-13",
        "m": "clip",
        "r": {"low": 0.1, "high": 0.2},
        "n": None,
        "3": ["u", 1.5],
    }


@given(st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False)))
def test_json_keeps_every_number(values: dict[str, float]) -> None:
    assert json.loads(json_bytes(values)) == values


def test_json_refuses_what_has_no_plain_form() -> None:
    with pytest.raises(TypeError, match="Figure cannot be written as JSON"):
        json_bytes({"x": go.Figure()})


def test_payload_says_all_that_a_number_depends_on() -> None:
    loaded = json.loads(json_bytes(payload(sample())))
    assert loaded["settings"] == {"alpha": 0.1, "span": [0.25, 0.75], "note": NASTY}
    assert loaded["seed"] == 7
    assert loaded["result"]["value"] == 1 / 3
    assert loaded["result"]["low"] is None
    assert set(loaded["versions"]) == {"python", "numpy", "scipy", "streamlit", "plotly"}
    assert loaded["versions"]["numpy"] == np.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", loaded["created"])


# --- link -----------------------------------------------------------------------------------


def test_link_holds_what_is_given_and_no_more() -> None:
    assert link("quest", {}) == "/quest"
    assert link("quest", {"quest_alpha": 0.05, "quest_off": None}) == "/quest?quest_alpha=0.05"
    assert link("q", {"q_on": True, "q_span": (0.2, 0.8)}) == "/q?q_on=true&q_span=0.2&q_span=0.8"


@given(st.dictionaries(st.text(min_size=1), st.lists(st.text(min_size=1), min_size=1)))
def test_link_can_carry_any_text(params: dict[str, list[str]]) -> None:
    address = urlsplit(link("quest", params))
    assert address.path == "/quest"
    assert parse_qs(address.query) == params


# --- HTML -----------------------------------------------------------------------------------


class Page(html.parser.HTMLParser):
    """What a browser would see: elements with attributes and text, scripts kept apart."""

    def __init__(self, source: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(source.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and data.strip():
            self.texts.setdefault(self.open[-1], []).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(html_report(sample(), light=LIGHT, dark=DARK))


def test_report_escapes_every_text(page: Page) -> None:
    assert page.texts["h1"] == [f"Title {NASTY}"]
    assert page.texts["title"] == [f"Title {NASTY}"]
    assert page.texts["p"][:3] == [f"Claim {NASTY}", f"First {NASTY}", "Second."]
    assert page.texts["figcaption"] == [f"Figure {NASTY}"]
    assert page.texts["code"] == [f"print(1)  # {NASTY}"]
    assert NASTY in page.texts["td"]
    assert not page.all("b")


def test_report_asks_for_nothing_from_outside(page: Page) -> None:
    for tag, attributes in page.elements:
        assert tag not in {"link", "img", "iframe", "object", "form", "a", "base"}
        assert not {"src", "href", "action", "srcset"} & attributes.keys()
    style = "".join(page.texts["style"])
    assert "url(" not in style
    assert "@import" not in style


def test_report_policy_admits_its_own_scripts_and_no_requests(page: Page) -> None:
    metas = [m for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    policy = dict(part.strip().split(" ", 1) for part in str(metas[0]["content"]).split(";"))
    assert policy["default-src"] == "'none'"
    assert set(policy) == {
        "default-src", "script-src", "style-src", "img-src", "base-uri", "form-action",
    }  # fmt: skip
    assert policy["img-src"] == "data: blob:"
    scripts = [
        text
        for attributes, text in zip(page.all("script"), page.texts["script"], strict=True)
        if attributes.get("type") != "application/json"
    ]
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert policy["script-src"] == " ".join(f"'sha256-{digest}'" for digest in hashes)
    assert len(scripts) == 2
    assert sum("plotly.js v" in script[:200] for script in scripts) == 1
    assert "\r" not in "".join(scripts)  # a browser would hash other bytes


def test_report_figures_carry_alt_texts_and_their_data(page: Page) -> None:
    assert [f["aria-label"] for f in page.all("figure")] == [f"Alt {NASTY}"]
    assert page.texts["div"] == [f"Alt {NASTY}"]
    assert [d["data-drawn-in"] for d in page.all("div")] == ["dark"]
    specs = [
        json.loads(text)
        for attributes, text in zip(page.all("script"), page.texts["script"], strict=True)
        if attributes == {"type": "application/json"}
    ]
    assert len(specs) == 1
    assert specs[0]["data"][0]["name"] == NASTY
    assert specs[0]["data"][0]["y"] == [3, 4, 5]
    assert "template" not in specs[0]["layout"]


def test_report_figures_need_no_webgl() -> None:
    figure = Figure("Cloud", go.Figure(go.Scattergl(x=[1.0], y=[2.0])), "A point")
    source = html_report(sample(figures=(figure,)), light=LIGHT, dark=DARK)
    specs = [text for text in Page(source).texts["script"] if text.startswith('{"data"')]
    assert [trace["type"] for trace in json.loads(specs[0])["data"]] == ["scatter"]


def test_report_tables_show_settings_and_results(page: Page) -> None:
    names, shown = page.texts["th"], page.texts["td"]
    rows = dict(zip(names, shown, strict=True))
    assert rows == {
        "value": "0.333333",
        "low": "none",
        "methods, ours, width": "2.5",
        "alpha": "0.1",
        "span": "0.25, 0.75",
        "note": NASTY,
        "seed": "7",
    }


def test_report_says_when_and_with_what_it_was_made(page: Page) -> None:
    footer = page.texts["p"][-1]
    for name, number in report.versions().items():
        assert f"{name} {number}" in footer
    assert re.search(r"on \d{4}-\d\d-\d\d \d\d:\d\d UTC", footer)


def test_report_without_figures_runs_no_script() -> None:
    source = html_report(sample(figures=()), light=LIGHT, dark=DARK)
    assert len(source) < 20_000
    assert b"script-src 'none'" in source
    assert all(s == {"type": "application/json", "id": "looks"} for s in Page(source).all("script"))


def test_report_uses_the_configured_looks_by_default() -> None:
    source = html_report(sample(figures=()))
    assert charts.look("light").ink.encode() in source
    assert charts.look("dark").ink.encode() in source


# --- drawn ----------------------------------------------------------------------------------


def take_away_page() -> None:
    import pandas as pd
    import streamlit as st

    from ui.report import Report, take_away

    frame = pd.DataFrame({"x": [1.0]})
    st.query_params.from_dict({"quest_alpha": "0.05", "tour": "1"})
    take_away(
        Report(
            "quest", "T", "C", ("S",), frame, {"alpha": 0.05}, 1, {"v": 1.0}, (), "print(1)", "A"
        )
    )


def test_take_away_draws_link_downloads_and_snippet() -> None:
    app = AppTest.from_function(take_away_page).run()
    assert not app.exception
    assert [code.value for code in app.code] == ["/quest?quest_alpha=0.05", "print(1)"]
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["What is drawn (CSV)", "Settings and result (JSON)", "Report (HTML)"]
