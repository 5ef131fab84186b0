"""Part 9 of a page, "Take it with you": link, CSV, JSON, offline HTML report, and Python lines.

Everything but `take_away` is pure. CSV is UTF-8; a byte-order mark, which spreadsheets want and
some other programs stumble over, is written only where there is text beyond ASCII.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import enum
import hashlib
import html
import json
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from plotly.offline import get_plotlyjs

from ui import charts

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_PACKAGES = ("numpy", "scipy", "streamlit", "plotly")
_FONT = "Inter, system-ui, sans-serif"


@dataclass(frozen=True)
class Figure:
    """A figure of the report: its title, the Plotly figure, and what it shows in words."""

    title: str
    figure: go.Figure
    alt: str


@dataclass(frozen=True)
class Report:
    """All that a visitor can take away from one page in one state.

    Attributes
    ----------
    slug, title, claim
        The page, its title, and the paper's claim in one sentence.
    sentences
        What the result says, as plain text.
    frame
        What is drawn, one row a point.
    settings, seed, result
        The controls' values, the seed, and the figures computed from them.
    figures
        What the page shows.
    snippet
        Python that prints the same number.
    citation
        How to cite the paper.
    """

    slug: str
    title: str
    claim: str
    sentences: tuple[str, ...]
    frame: pd.DataFrame
    settings: dict[str, Any]
    seed: int
    result: dict[str, Any]
    figures: tuple[Figure, ...]
    snippet: str
    citation: str


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """The frame as CSV (RFC 4180) without its index; floats read back exactly.

    A text cell or name that a spreadsheet would take for a formula gets an apostrophe in front.
    Numbers, negative ones too, are written as they are.
    """
    safe = frame.rename(columns=_disarmed)
    for place, kind in enumerate(safe.dtypes):
        if not pd.api.types.is_numeric_dtype(kind):
            column = safe.iloc[:, place].astype(object).map(_disarmed)
            safe.isetitem(place, column.to_numpy(dtype=object))
    # A lone carriage return inside a cell is quoted only if it is part of the line end.
    text = safe.to_csv(index=False, lineterminator="\r\n")
    return text.encode("utf-8" if text.isascii() else "utf-8-sig")


def json_bytes(payload: Mapping[str, Any]) -> bytes:
    """The payload as JSON; NumPy and pandas values become plain, NaN and infinity null.

    Raises
    ------
    TypeError
        If a value is of a type that has no plain form.
    """
    text = json.dumps(_jsonable(payload), ensure_ascii=False, allow_nan=False, indent=2)
    return text.encode()


def payload(report: Report) -> dict[str, Any]:
    """Settings, seed, result and versions: what the JSON export holds."""
    return {
        "page": report.slug,
        "title": report.title,
        "claim": report.claim,
        "settings": report.settings,
        "seed": report.seed,
        "result": report.result,
        "sentences": report.sentences,
        "citation": report.citation,
        "versions": versions(),
        "created": _now(),
    }


def versions() -> dict[str, str]:
    """Versions of Python and of the packages on which a number can depend."""
    return {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}


def link(slug: str, params: Mapping[str, Any]) -> str:
    """Relative link to a page in a state, such as ``/quest?quest_alpha=0.05``.

    `params` holds the parameters that are off their defaults; None is left out, and a sequence
    repeats its key, as Streamlit's bound widgets write it.
    """
    pairs = {
        key: str(value).lower() if isinstance(value, bool) else value
        for key, value in params.items()
        if value is not None
    }
    query = urlencode(pairs, doseq=True)
    return f"/{slug}?{query}" if query else f"/{slug}"


def html_report(
    report: Report,
    *,
    light: charts.Look | None = None,
    dark: charts.Look | None = None,
    font: str = _FONT,
) -> bytes:
    """A page that stands alone: it opens offline, in light or dark, and prints.

    Its content-security policy forbids every request, and lets no script run but the two that
    are written here (by their SHA-256).

    Parameters
    ----------
    report
        What to write. All texts are escaped.
    light, dark
        The looks of the app (by default as configured). A figure carries the colours of the look
        that it was drawn in; they are exchanged for those of the reader's mode.
    font
        CSS list of font families; nothing is fetched.
    """
    looks = {"light": light or charts.look("light"), "dark": dark or charts.look("dark")}
    scripts = (get_plotlyjs(), _beside("report_page.js")) if report.figures else ()
    return (
        Template(_beside("report_page.html"))
        .substitute(
            policy=" ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'",
            title=html.escape(report.title),
            claim=html.escape(report.claim),
            sentences="\n".join(f"<p>{html.escape(text)}</p>" for text in report.sentences),
            figures="\n".join(_figure(figure, looks["dark"].ink) for figure in report.figures),
            result=_rows(report.result),
            settings=_rows({**report.settings, "seed": report.seed}),
            snippet=html.escape(report.snippet),
            citation=html.escape(report.citation),
            versions=html.escape(", ".join(f"{k} {v}" for k, v in versions().items())),
            created=_now(),
            font=font,
            ink=looks["light"].ink,
            line=looks["light"].line,
            dark_ink=looks["dark"].ink,
            dark_line=looks["dark"].line,
            paper=_paper("light", "#ffffff"),
            dark_paper=_paper("dark", "#11181f"),
            looks=_embedded(
                {mode: [*look.palette, look.ink, look.line] for mode, look in looks.items()}
            ),
            scripts="\n".join(f"<script>{script}</script>" for script in scripts),
        )
        .encode()
    )


def take_away(report: Report) -> None:
    """Draw the link, the downloads and the Python lines."""
    slug = report.slug
    st.markdown("**Link to exactly this state**")
    st.code(_address(slug), language=None, wrap_lines=True)
    with st.container(horizontal=True):
        for name, suffix, mime, build in (
            ("What is drawn (CSV)", "csv", "text/csv", lambda: csv_bytes(report.frame)),
            (
                "Settings and result (JSON)",
                "json",
                "application/json",
                lambda: json_bytes(payload(report)),
            ),
            (
                "Report (HTML)",
                "html",
                "text/html",
                lambda: html_report(report, light=charts.look("light"), dark=charts.look("dark")),
            ),
        ):
            st.download_button(
                name,
                build,
                f"{slug}.{suffix}",
                mime,
                key=f"{slug}_take_{suffix}",
                icon=":material/download:",
                on_click="ignore",
            )
    st.markdown("**The same number in Python**")
    st.code(report.snippet, language="python", wrap_lines=True)


def _address(slug: str) -> str:
    """Full address of the state in the visitor's browser, or the relative one if it is unknown."""
    prefix = f"{slug}_"
    params = {
        key: st.query_params.get_all(key) for key in st.query_params if key[: len(prefix)] == prefix
    }
    url = st.context.url
    if not url:
        return link(slug, params)
    return url.rstrip("/").removesuffix(f"/{slug}") + link(slug, params)


def _figure(figure: Figure, dark_ink: str) -> str:
    """One figure: its title, its alt text (which stays if no script runs), and its data."""
    spec = json.loads(figure.figure.to_json())
    layout = spec["layout"]
    layout.pop("template", None)  # the app's theme, or Plotly's default
    for trace in spec["data"]:
        if trace.get("type") == "scattergl":  # a reader's browser may have no WebGL
            trace["type"] = "scatter"
    drawn_in = "dark" if layout.get("font", {}).get("color") == dark_ink else "light"
    height = int(layout.get("height") or 420)
    return (
        f'<figure role="group" aria-label="{html.escape(figure.alt)}">\n'
        f"<figcaption>{html.escape(figure.title)}</figcaption>\n"
        f'<div class="plot" style="min-height:{height}px" data-drawn-in="{drawn_in}">'
        f"{html.escape(figure.alt)}</div>\n"
        f'<script type="application/json">{_embedded(spec)}</script>\n</figure>'
    )


def _embedded(value: Any) -> str:
    """JSON that can stand inside a script element."""
    return json.dumps(value).replace("<", "\\u003c")


def _rows(values: Mapping[str, Any]) -> str:
    return "\n".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(_shown(value))}</td></tr>'
        for name, value in _flat(_jsonable(values))
    )


def _flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            rows += _flat(value, f"{prefix}{name}, ")
        else:
            rows.append((prefix + name, value))
    return rows


def _shown(value: Any) -> str:
    if isinstance(value, list):
        shown = ", ".join(_shown(item) for item in value[:12])
        return f"{shown}, … ({len(value):,} values)" if len(value) > 12 else shown
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_shown(item)}" for name, item in value.items())
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _disarmed(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value


def _jsonable(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, enum.Enum):
        return _jsonable(value.value)
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, np.generic):
        return _jsonable(value.item())
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, pd.DataFrame):
        return {str(name): _jsonable(value[name].tolist()) for name in value.columns}
    if isinstance(value, np.ndarray | pd.Series | pd.Index):
        return _jsonable(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [_jsonable(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _jsonable(getattr(value, f.name)) for f in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} cannot be written as JSON.")


def _paper(mode: charts.Mode, default: str) -> str:
    return str(st.get_option(f"theme.{mode}.backgroundColor") or default)


def _beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
