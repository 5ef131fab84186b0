"""What a visitor takes home says what the page says: lines of Python, CSV, JSON, the report."""

from __future__ import annotations

import ast
import io
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.visit import ROOT, SLUGS, Downloads, sampled, sound, story, visit

pytestmark = pytest.mark.app


def snippet(at: AppTest) -> str:
    """The lines of Python on the page."""
    (lines,) = [code.value for code in at.code if code.language == "python"]
    return str(lines)


def numbers(value: Any) -> Iterator[float]:
    """Every number in a result, None standing for one that is not finite."""
    match value:
        case bool() | str():
            return
        case None:
            yield math.nan
        case int() | float():
            yield float(value)
        case dict():
            for item in value.values():
                yield from numbers(item)
        case list():
            for item in value:
                yield from numbers(item)


def printed(code: str, folder: Path = ROOT) -> list[float]:
    """What an interpreter that knows nothing else prints for the lines."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{code}\n\n{done.stderr}"
    return [float(word) for word in done.stdout.split()]


def disagreeing(at: AppTest, downloads: Downloads, slug: str, folder: Path = ROOT) -> list[float]:
    """Numbers that the lines print, but the page's result does not hold to the last digit."""
    said = printed(snippet(at), folder)
    result = set(numbers(json.loads(downloads.bytes(f"{slug}_take_json"))["result"]))
    drawn = pd.read_csv(io.BytesIO(downloads.bytes(f"{slug}_take_csv"))).select_dtypes("number")
    assert said
    assert said[0] in result & set(drawn.to_numpy().ravel()), "what is printed first is drawn"
    none = any(math.isnan(number) for number in result)
    return [x for x in said if x not in result and not (math.isnan(x) and none)]


@pytest.mark.parametrize("slug", SLUGS)
def test_the_lines_print_the_number_of_each_preset(slug: str, downloads: Downloads) -> None:
    at = visit(slug)
    seen = set()
    for number, preset in enumerate(story(slug).presets):
        downloads.clear()
        at = sound(at.button(key=f"{slug}_preset_{number}").click().run(), preset.title)
        if f"{slug}_take_json" not in downloads:
            assert preset.title == "Your data"
            continue
        assert disagreeing(at, downloads, slug) == [], preset.title
        seen.add(snippet(at))
    assert len(seen) >= 3


@pytest.mark.parametrize("slug", SLUGS)
def test_the_lines_print_the_number_of_a_visitors_own_table(
    slug: str, downloads: Downloads, tmp_path: Path
) -> None:
    at = sampled(slug)
    name = next(text.value.split("**")[1] for text in at.markdown if "In use: **" in text.value)
    (tmp_path / name.replace("\\", "")).write_bytes(downloads.bytes(f"{slug}_upload_sample"))
    assert disagreeing(at, downloads, slug, tmp_path) == []


@pytest.mark.parametrize("slug", SLUGS)
def test_the_lines_are_few_and_call_models_alone(slug: str) -> None:
    code = snippet(visit(slug))
    names = [name for node in ast.walk(ast.parse(code)) for name in _imported(node)]
    assert {name.split(".")[0] for name in names} <= {"models", "numpy", "pandas"}
    assert any(name.startswith("models.") for name in names)
    assert len(code.splitlines()) <= 20


@pytest.mark.parametrize("slug", SLUGS)
def test_the_exports_can_be_read(slug: str, downloads: Downloads) -> None:
    visit(slug)
    rows = pd.read_csv(io.BytesIO(downloads.bytes(f"{slug}_take_csv")))
    assert len(rows)
    assert len(rows.select_dtypes("number").columns)
    page = json.loads(downloads.bytes(f"{slug}_take_json"))
    assert page["page"] == slug
    assert {"settings", "seed", "result", "versions"} <= page.keys()
    report = downloads.bytes(f"{slug}_take_html").decode()
    assert page["title"] in report or page["title"] in report.replace("&#x27;", "'")
    assert page["citation"] in report.replace("&#x27;", "'").replace("&amp;", "&")


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom():
            return [node.module or "."]
    return []
