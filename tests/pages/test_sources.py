"""What can be told of every page from its source, or from a process that has only shown it."""

from __future__ import annotations

import ast
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest

from models.catalog import working
from tests.pages.visit import ROOT, SLUGS

pytestmark = pytest.mark.app

# What each element must be given: a name that keeps it apart, and words for those who do not see.
NEEDS = {
    "plotly_chart": {"key", "alt"},
    "dataframe": {"key", "alt"},
    "data_editor": {"key", "alt"},
    "image": {"alt"},
}
HEAVY = ("torch", "diffusers", "transformers")
LIGHT_PAGES = ("home", "claims", *(demo.slug for demo in working() if not demo.needs))

SOURCES = sorted(
    str(file.relative_to(ROOT)) for top in ("pages", "ui") for file in (ROOT / top).rglob("*.py")
)

SHOW = """
import sys
from tests.pages.visit import visit
visit(sys.argv[1])
print(*(name for name in sys.argv[2:] if name in sys.modules))
"""


def lacking(text: str) -> Iterator[str]:
    """Calls that leave out what their element needs."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = {keyword.arg for keyword in node.keywords}
            if missing := NEEDS.get(node.func.attr, set()) - given:
                yield f"line {node.lineno}: {node.func.attr} lacks {' and '.join(sorted(missing))}"


@pytest.mark.parametrize(
    "file",
    [
        str(f.relative_to(ROOT))
        for top in ("pages", "ui")
        for f in sorted((ROOT / top).rglob("*.py"))
    ],
)
def test_every_picture_and_table_has_a_key_and_words(file: str) -> None:
    assert list(lacking((ROOT / file).read_text(encoding="utf-8"))) == []


def test_a_picture_without_words_is_found() -> None:
    text = "st.plotly_chart(f, key='a')\nleft.image(p)\nst.dataframe(t, key='b', alt='c')"
    assert list(lacking(text)) == ["line 1: plotly_chart lacks alt", "line 2: image lacks alt"]


@pytest.mark.parametrize("light", ["light", "dark"])
@pytest.mark.parametrize("slug", SLUGS)
def test_the_card_of_every_page_has_a_small_picture(slug: str, light: str) -> None:
    """Made by `python -m scripts.thumbnails`."""
    data = (ROOT / "assets" / "thumbnails" / f"{slug}_{light}.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", data[16:24])
    assert 400 <= width <= 1000
    assert 200 <= height <= 700
    assert len(data) < 60_000


@pytest.mark.parametrize("page", LIGHT_PAGES)
def test_a_page_that_needs_no_heavy_library_imports_none(page: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHOW, page, *HEAVY],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
