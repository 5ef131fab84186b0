"""A visitor's file gives a result or one sentence, never a traceback."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from tests.pages.visit import SLUGS, Downloads, charts, sampled, script, sound, visit

pytestmark = pytest.mark.app

JUNK = np.random.default_rng(0).bytes(4096)


def template(downloads: Downloads, slug: str) -> pd.DataFrame:
    """The rows that the page offers as a pattern."""
    return pd.read_csv(io.BytesIO(downloads.bytes(f"{slug}_upload_template")))


def hostile(rows: pd.DataFrame) -> dict[str, tuple[str, bytes]]:
    """Files that no page can use, by what is wrong with them."""
    words = rows.astype(object)
    for name in rows.select_dtypes("number"):
        words[name] = "plenty"
    comma = rows.to_csv(index=False)
    return {
        "empty": ("empty.csv", b""),
        "blank lines": ("blank.csv", b"\r\n \r\n\r\n"),
        "binary": ("binary.csv", JUNK),
        "binary, called Parquet": ("table.parquet", JUNK),
        "binary, called Excel": ("table.xlsx", JUNK),
        "a pickle": ("table.csv", b"\x80\x04\x95\x1a\0\0\0\0\0\0\0\x8c\x02os\x94\x8c\x06system"),
        "header only": ("header.csv", comma.splitlines()[0].encode()),
        "text for numbers": ("words.csv", words.to_csv(index=False).encode()),
        "infinite and too large": (
            "large.csv",
            rows.astype(object).map(lambda _: "1e999").to_csv(index=False).encode(),
        ),
        "an encoding other than its mark": ("mark.csv", b"\xff\xfe" + comma.encode() + b"x"),
        "an unclosed quote": ("quote.csv", comma.replace("\n", '\n"', 1).encode()),
        "rows of unequal length": ("ragged.csv", f"{comma}1,2,3,4,5,6,7,8,9\n".encode()),
    }


@pytest.mark.parametrize("slug", SLUGS)
def test_a_file_of_no_use_gives_a_sentence(slug: str, downloads: Downloads) -> None:
    visit(slug)
    for what, (name, data) in hostile(template(downloads, slug)).items():
        at = visit(slug)
        at.file_uploader(key=f"{slug}_upload").upload(name, data)
        sound(at.run(), what)
        (said,) = [error.value for error in at.error]
        assert said.endswith("."), what
        assert len(said) < 400, what
        sound(at.switch_page(script("claims")).run(), what)
        sound(at.switch_page(script(slug)).run(), what)
        assert charts(at), f"{what}: the page has lost its picture"


@pytest.mark.parametrize("slug", SLUGS)
def test_the_template_is_a_table_that_can_be_read(slug: str, downloads: Downloads) -> None:
    at = visit(slug)
    rows = template(downloads, slug)
    assert len(rows) >= 2
    at.file_uploader(key=f"{slug}_upload").upload("t.csv", rows.to_csv(index=False).encode())
    sound(at.run(), "uploading the template")
    assert any("t.csv" in text.value for text in at.markdown)


@pytest.mark.parametrize("slug", SLUGS)
def test_the_sample_gives_a_picture_of_its_own(slug: str) -> None:
    usual = charts(visit(slug))[0].alt
    at = sampled(slug)
    assert charts(at)[0].alt != usual
    sound(at.switch_page(script("home")).run(), "going home")
    sound(at.switch_page(script(slug)).run(), "coming back")
    assert charts(at)[0].alt != usual, "the table is gone after a look at another page"
    sound(at.button(key=f"{slug}_upload_remove").click().run(), "removing the table")
