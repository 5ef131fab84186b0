"""Files in, tables or one sentence out: round trips, a list of bad files, and bombs."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ui import tables
from ui.tables import Limits, Table, UploadError, numbers, read_table, texts
from ui.tables.frames import Reading
from ui.tables.parquet import as_reading, unpack

pytestmark = pytest.mark.unit
SHEET = (
    b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    b"<sheetData>%s</sheetData></worksheet>"
)


def refusal(data: bytes, name: str = "data.csv", limits: Limits | None = None) -> str:
    """The sentence with which a file is refused."""
    with pytest.raises(UploadError) as caught:
        read_table(data, name, limits)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def assert_table_or_sentence(data: bytes, name: str) -> None:
    """Whatever else is raised fails the test."""
    outcome: str | Table
    try:
        outcome = read_table(data, name)
    except UploadError as error:
        outcome = str(error)
    assert outcome.endswith(".") if isinstance(outcome, str) else len(outcome.frame) > 0


def column(*cells: object) -> pd.DataFrame:
    """One column "x" whose rows are numbered as in a file with a header."""
    return pd.DataFrame({"x": list(cells)}, index=pd.RangeIndex(2, len(cells) + 2))


def cells(table: Table) -> dict[str, list[Any]]:
    return {str(name): values for name, values in table.frame.to_dict("list").items()}


def parquet(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def workbook(*rows: tuple[Any, ...], others: tuple[str, ...] = ()) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title in others:
        book.create_sheet(title)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def with_sheet(content: bytes, *, times: int = 1) -> bytes:
    """A workbook whose sheet is `content`, `times` over, written without ever holding it whole."""
    original = zipfile.ZipFile(io.BytesIO(workbook(("a",), (1,))))
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in original.namelist():
            with archive.open(member, "w") as target:
                if not member.endswith("sheet1.xml"):
                    target.write(original.read(member))
                    continue
                for _ in range(times):
                    target.write(content)
    return sink.getvalue()


# --- what is written reads back -------------------------------------------------------------

NAMES = st.text("abcXYZéß 019_", min_size=1, max_size=8).map(str.strip).filter(bool)
ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
SHEET_TEXT = st.text("abcÄß€ 019.,;-+%\"'<&>", max_size=6)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SHEET_FLOATS = st.floats(-1e300, 1e300).map(lambda x: float(f"{x:.15g}"))  # all that XLSX keeps


@st.composite
def frames(
    draw: st.DrawFn,
    content: st.SearchStrategy[str] = ANY_TEXT,
    floats: st.SearchStrategy[float] = FLOATS,
) -> pd.DataFrame:
    """At least one column of numbers and one of texts, so that no row is blank."""
    rows = draw(st.integers(1, 6))
    names = draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
    columns: dict[str, Any] = {}
    for place, name in enumerate(names):
        is_number = place == 0 or (place > 1 and draw(st.booleans()))
        values = draw(st.lists(floats if is_number else content, min_size=rows, max_size=rows))
        columns[name] = values if is_number else pd.array(values, dtype="str")
    return pd.DataFrame(columns)


def assert_reads_back(table: Table | Reading, frame: pd.DataFrame, kind: str) -> None:
    assert table.kind == kind
    assert list(table.frame.columns) == list(frame.columns)
    for name in frame.columns:
        if frame[name].dtype == np.float64:
            np.testing.assert_array_equal(
                numbers(table.frame, name, decimal=table.decimal).values, frame[name]
            )
        else:
            assert texts(table.frame, name, blank_ok=True).tolist() == frame[name].tolist()


@given(
    frame=frames(),
    delimiter=st.sampled_from([(",", "csv"), ("\t", "tsv"), (";", "semicolon")]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_delimited_text_reads_back(
    frame: pd.DataFrame, delimiter: tuple[str, str], quoting: Any, encoding: str
) -> None:
    separator, kind = delimiter
    text = frame.to_csv(index=False, sep=separator, quoting=quoting, lineterminator="\r\n")
    table = read_table(text.encode(encoding), "data.csv")
    assert_reads_back(table, frame, kind)
    assert table.frame.index.tolist() == list(range(2, len(frame) + 2))


@given(frame=frames(st.text("abc ", max_size=4)))
def test_semicolons_with_decimal_commas_read_back(frame: pd.DataFrame) -> None:
    text = frame.to_csv(index=False, sep=";", decimal=",", float_format="%.17e")
    table = read_table(text.encode(), "data.csv")
    assert table.decimal == ","
    assert_reads_back(table, frame, "semicolon")


@given(frame=frames())
def test_parquet_reads_back(frame: pd.DataFrame) -> None:
    data = parquet(pa.Table.from_pandas(frame, preserve_index=False))
    reading = as_reading(*unpack(data, Limits()), Limits())
    assert_reads_back(reading, frame, "parquet")
    assert reading.frame.index.tolist() == list(range(1, len(frame) + 1))


@given(frame=frames(), as_array=st.booleans(), ascii_only=st.booleans())
def test_json_reads_back(frame: pd.DataFrame, as_array: bool, ascii_only: bool) -> None:
    records = frame.to_dict("records")
    if as_array:
        text = json.dumps(records, ensure_ascii=ascii_only, indent=1)
    else:
        text = "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in records)
    assert_reads_back(read_table(text.encode(), "data.jsonl"), frame, "json")


@settings(max_examples=25, deadline=None)
@given(frame=frames(SHEET_TEXT, SHEET_FLOATS))
def test_xlsx_reads_back(frame: pd.DataFrame) -> None:
    assume(not any(str(cell).startswith("=") for cell in frame.to_numpy().ravel()))
    rows = frame.astype(object).itertuples(index=False, name=None)
    data = workbook(tuple(frame.columns), *rows)
    assert_reads_back(read_table(data, "data.xlsx"), frame, "xlsx")


def test_same_bytes_have_the_same_digest_whatever_their_name() -> None:
    first, second = read_table(b"a,b\n1,2\n", "a.csv"), read_table(b"a,b\n1,2\n", r"C:\x\b.txt")
    assert first.sha256 == second.sha256
    assert (first.name, second.name) == ("a.csv", "b.txt")


# --- text files as people have them ---------------------------------------------------------


def test_blank_lines_are_counted_and_rows_keep_their_numbers() -> None:
    table = read_table(b"\na,b\n1,2\n\n   \n,\n3,4\n", "data.csv")
    assert cells(table) == {"a": ["1", "3"], "b": ["2", "4"]}
    assert table.frame.index.tolist() == [3, 7]
    assert "2 blank rows were left out." in table.notes


def test_quoted_newlines_are_one_row() -> None:
    table = read_table(b'a,b\r\n"x\r\ny, ""z""",2\r\n3,4\r\n', "data.csv")
    assert cells(table) == {"a": ['x\r\ny, "z"', "3"], "b": ["2", "4"]}
    assert table.frame.index.tolist() == [2, 3]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_understood(end: str) -> None:
    table = read_table(end.join(["a,b", "1,2", "3,4"]).encode(), "data.csv")
    assert cells(table) == {"a": ["1", "3"], "b": ["2", "4"]}


def test_cells_are_never_interpreted() -> None:
    table = read_table(b"a,b\n007,NA\n1e5,True\n 2 ,\n", "data.csv")
    assert cells(table) == {"a": ["007", "1e5", " 2 "], "b": ["NA", "True", ""]}


def test_duplicate_and_blank_headers_get_names_of_their_own() -> None:
    table = read_table(b"a, a ,,a (2)\n1,2,3,4\n", "data.csv")
    assert cells(table) == {"a": ["1"], "a (3)": ["2"], "column 3": ["3"], "a (2)": ["4"]}
    assert len(table.notes) == 2


def test_header_of_numbers_is_remarked_upon() -> None:
    table = read_table(b"1.5,-2\n3,4\n", "data.csv")
    assert list(table.frame.columns) == ["1.5", "-2"]
    assert any("holds numbers" in note for note in table.notes)


@pytest.mark.parametrize(
    ("data", "letters", "named"),
    [
        ("é,b\nü,1\n".encode("utf-8-sig"), ("é", "ü"), None),
        ("é,b\nü,1\n".encode("utf-16"), ("é", "ü"), None),
        ("é,b\nü,1\n".encode("utf-32"), ("é", "ü"), None),
        ("é,b\n€,1\n".encode("cp1252"), ("é", "€"), "Windows-1252"),
        (b"\xe9,b\n\x81,1\n", ("é", "\x81"), "Latin-1"),
    ],
)
def test_encodings(data: bytes, letters: tuple[str, str], named: str | None) -> None:
    table = read_table(data, "data.csv")
    name, cell = letters
    assert cells(table) == {name: [cell], "b": ["1"]}
    assert [named in note for note in table.notes] == ([] if named is None else [True])


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;b\n1,5;2\n", ","),
        ("a;b\n1,234;2\n", ","),  # semicolons speak for the comma
        ("a;b\n1,234;2.5\n", "."),  # but a point elsewhere speaks against it
        ("a;b\n1.5;2\n", "."),
        ("a\tb\n1,5\t2\n", ","),
        ("a\tb\n1,234\t2\n", "."),
        ('a,b\n"1,5",2\n', "."),
    ],
)
def test_decimal_mark_of_a_file(text: str, decimal: str) -> None:
    assert read_table(text.encode(), "data.csv").decimal == decimal


def test_quoted_delimiters_do_not_decide_the_format() -> None:
    table = read_table(b'"a;1","b;2"\n"x;1","y;2"\n', "data.csv")
    assert cells(table) == {"a;1": ["x;1"], "b;2": ["y;2"]}


def test_many_rows_are_read_exactly() -> None:
    values = np.random.default_rng(0).normal(size=(200_000, 2))
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(pa.table({"y": values[:, 0], "p": values[:, 1]}), sink)
    frame = read_table(sink.getvalue().to_pybytes(), "data.csv").frame
    np.testing.assert_array_equal(numbers(frame, "y").values, values[:, 0])
    np.testing.assert_array_equal(numbers(frame, "p").values, values[:, 1])


# --- other formats as people have them ------------------------------------------------------


def test_json_fills_missing_names_and_keeps_types() -> None:
    lines = b'{"a": 1, "c": true}\n\n{"b": "x", "a": 2.5, "c": false}\n{"a": null, "c": true}\n'
    table = read_table(lines, "data.ndjson")
    assert table.frame["a"].tolist()[:2] == [1.0, 2.5]
    assert np.isnan(table.frame["a"].iloc[2])
    assert table.frame["b"].tolist() == ["", "x", ""]
    assert table.frame["c"].tolist() == [True, False, True]
    assert table.frame.index.tolist() == [1, 3, 4]


def test_json_nested_values_and_huge_integers_stay_as_text() -> None:
    table = read_table(b'{"a": [1, {"b": 2}], "n": 123456789012345678901}\n', "data.json")
    assert cells(table) == {"a": ['[1, {"b": 2}]'], "n": ["123456789012345678901"]}


def test_parquet_types() -> None:
    table = read_table(
        parquet(
            pa.table(
                {
                    "i": pa.array([1, None], pa.int32()),
                    "h": pa.array(np.array([1, 2], np.float16)),
                    "d": pa.array(["2020-01-02", None]).cast(pa.date32()),
                    "c": pa.array(["u", "v"]).dictionary_encode(),
                    "b": pa.array([True, None]),
                    "nested": pa.array([[1], [2]]),
                }
            )
        ),
        "data.parquet",
    )
    assert table.frame["i"].tolist()[0] == 1.0
    assert np.isnan(table.frame["i"].iloc[1])
    assert table.frame["h"].tolist() == [1.0, 2.0]
    assert table.frame["d"].tolist() == ["2020-01-02", ""]
    assert table.frame["c"].tolist() == ["u", "v"]
    assert table.frame["b"].tolist() == ["true", ""]
    assert "nested" not in table.frame
    assert any('"nested"' in note for note in table.notes)


def test_xlsx_takes_the_first_sheet_and_says_so() -> None:
    data = workbook((), ("a", "b", None), (1, "x"), (), (2.5, None), ("=1+1", "y"), others=("two",))
    table = read_table(data, "data.xlsx")
    assert table.frame["a"].tolist()[:2] == [1.0, 2.5]
    assert table.frame["b"].tolist() == ["x", "", "y"]
    assert table.frame.index.tolist() == [3, 5, 6]
    notes = " ".join(table.notes)
    assert "first of several" in notes
    assert "1 blank row was left out." in notes
    assert "Formulas" in notes


# --- bad files: one sentence each -----------------------------------------------------------

TEXT_REFUSALS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", '"data.csv" is empty'),
    "blank lines only": (b"\n  \n\r\n", "only blank lines"),
    "header without rows": (b"a,b\n\n", 'names its columns ("a", "b"), but has no rows'),
    "too few cells": (b"a,b\n1,2\n3\n4\n", "Row 3 has 1 cell, but the header has 2 (and 1 more"),
    "too many cells": (b"a,b\n1,2\n\n3,4,5\n", "Row 4 has 3 cells, but the header has 2"),
    "row after a quoted newline": (b'a,b\n"1\n",2\n3\n', "Row 3 has 1 cell"),
    "open quote": (b'a,b\n1,2\n3,"4\n5,6\n', "Row 3 opens a quotation mark"),
    "open quote that makes the row short": (b'a,b\n"1,2\n3,4\n', "Row 2 opens a quotation mark"),
    "NUL": (b"a,b\n1,2\n3,\0\n", "NUL byte in line 3"),
    "cut UTF-16": ("a,b\n1,2\n".encode("utf-16")[:-1], "marked as UTF-16 text, but is damaged"),
    "huge single line": (b"x" * 1_200_000, "too long to be a header"),
    "huge single cell": (b"a,b\n1," + b"x" * 200_000, "holds 200,000 characters in row 2"),
    "long name": (b"a" * 201 + b",b\n1,2\n", "name of column 1 has 201 characters"),
    "many columns": (b"a," * 1_000 + b"a\n", "has 1,001 columns, but at most 1,000"),
}


@pytest.mark.parametrize(("data", "part"), TEXT_REFUSALS.values(), ids=TEXT_REFUSALS.keys())
def test_bad_text_is_refused(data: bytes, part: str) -> None:
    assert part in refusal(data)


JSON_REFUSALS: dict[str, tuple[bytes, str]] = {
    "broken": (b'{"a": 1}\n\n{"a":\n', "wrong in line 3, character 6"),
    "spread over lines": (b'{\n"a": 1\n}\n', "wrong in line 1"),
    "not objects": (b'[{"a": 1}, [2]]', "Record 2 is not a JSON object"),
    "name twice": (b'{"a": 1}\n{"a": 1, "a": 2}\n', "Record 2 gives the same name twice"),
    "no names": (b"[{}]", "no JSON record"),
    "deep": (b'{"a": ' + b"[" * 100_000 + b"\n", "nested too deeply"),
    "long number": (b'{"a": ' + b"1" * 5_000 + b"}", "too many digits"),
    "half a character": (b'{"a": "\\ud800"}', "half a character"),
}


@pytest.mark.parametrize(("data", "part"), JSON_REFUSALS.values(), ids=JSON_REFUSALS.keys())
def test_bad_json_is_refused(data: bytes, part: str) -> None:
    assert part in refusal(data, "data.json")


MISNAMED: dict[str, tuple[bytes, str, str]] = {
    "text as Parquet": (b"a,b\n1,2\n", "x.parquet", "named like Parquet, but its content is"),
    "JSON as CSV": (b'{"a": 1}\n', "x.csv", "its content is JSON"),
    "Parquet as XLSX": (parquet(pa.table({"a": [1.0]})), "x.xlsx", "its content is Parquet"),
    "XLSX as CSV": (workbook(("a",), (1,)), "x.csv", "its content is XLSX"),
    "gzip": (gzip.compress(b"a,b\n1,2\n"), "x.csv.gz", "packed with gzip; unpack it first"),
    "gzip in disguise": (gzip.compress(b"a,b\n1,2\n"), "x.csv", "packed with gzip"),
    "zip": (b"PK\x05\x06" + bytes(18), "x.xlsx", "zip archive without a workbook"),
    "cut workbook": (workbook(("a",), (1,))[:900], "x.xlsx", "damaged workbook"),
    "old Excel": (b"\xd0\xcf\x11\xe0rest", "x.xls", "old or password-protected Excel file"),
    "cut Parquet": (parquet(pa.table({"a": [1.0]}))[:-9], "x.parquet", "damaged, encrypted"),
    "unknown": (b"a,b\n1,2\n", "x.exe", "ends in .exe, but only csv, tsv"),
    "NumPy": (b"\x93NUMPY\x01\0", "x.csv", "NumPy file"),
}


@pytest.mark.parametrize(("data", "name", "part"), MISNAMED.values(), ids=MISNAMED.keys())
def test_content_must_go_with_the_name(data: bytes, name: str, part: str) -> None:
    assert part in refusal(data, name)


class Trap:
    sprung: bool = False

    def __reduce__(self) -> tuple[Callable[..., None], tuple[object, ...]]:
        return setattr, (Trap, "sprung", True)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ["x.pkl", "x.csv", "x"])
def test_a_pickle_is_never_loaded(protocol: int, name: str) -> None:
    assert "never opened" in refusal(pickle.dumps(Trap(), protocol), name)
    assert not Trap.sprung


def test_xlsx_refusals() -> None:
    assert "sheet is empty" in refusal(workbook(), "x.xlsx")
    assert "has no rows" in refusal(workbook(("a", "b")), "x.xlsx")
    assert "Row 3 has a cell in column 3, but the header has 2" in refusal(
        workbook(("a", "b"), (1, 2), (1, 2, 3)), "x.xlsx"
    )


def parquet_refusal(data: bytes, limits: Limits | None = None) -> str:
    """The refusal without the process of its own, which the next tests are not about."""
    limits = limits or Limits()
    with pytest.raises(UploadError) as caught:
        as_reading(*unpack(data, limits), limits)
    return str(caught.value)


def test_parquet_refusals() -> None:
    assert "no column of numbers or texts" in parquet_refusal(parquet(pa.table({"a": [[1]]})))
    assert "has no rows" in parquet_refusal(parquet(pa.table({"a": pa.array([], "f8")})))
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert "two columns of one name" in parquet_refusal(parquet(twice))
    assert "damaged, encrypted" in parquet_refusal(parquet(twice)[:-9])


def test_a_refusal_in_the_process_of_its_own_is_handed_on() -> None:
    assert "no column of numbers or texts" in refusal(parquet(pa.table({"a": [[1]]})), "x.pq")


def test_a_file_that_kills_its_process_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = parquet(pa.table({"a": [1.0]}))
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    assert "damaged, encrypted or needs more memory or time" in refusal(data, "x.parquet")


def test_the_process_of_its_own_cannot_take_all_memory() -> None:
    code = "from ui.tables import child; child.limit_resources(); bytearray(child._MEMORY)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.stderr.decode().splitlines()[-1:] == ["MemoryError"]


# --- caps and bombs -------------------------------------------------------------------------


def test_size_is_checked_first() -> None:
    assert "has 9 bytes, but at most 8 bytes" in refusal(b"a,b\n1,2\n\n", limits=Limits(8))


def test_cells_are_counted_before_text_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pa.csv, "read_csv", None)  # a call would end in another error
    assert "about 6,000,000 cells" in refusal(b"a,b\n" + b"1,2\n" * 3_000_000)


def test_as_many_cells_as_allowed_are_read() -> None:
    data = b"a,b\n" + b"1,2\n" * 50
    assert read_table(data, "x.csv", Limits(max_cells=100)).frame.shape == (50, 2)
    assert "about 100 cells" in refusal(data, limits=Limits(max_cells=99))
    records = b'{"a":1,"b":2}\n' * 50
    assert read_table(records, "x.json", Limits(max_cells=100)).frame.shape == (50, 2)
    assert "cells" in refusal(records, "x.json", Limits(max_cells=99))


def test_json_of_empty_objects_is_counted_too() -> None:
    assert "cells" in refusal(b"{}\n" * 200, "x.json", Limits(max_cells=99))
    assert "cells" in refusal(b"[" + b"[]," * 200 + b"[]]", "x.json", Limits(max_cells=99))


def test_workbook_that_unpacks_to_too_much_is_refused() -> None:
    data = with_sheet(b" " * 2**20, times=51)
    assert len(data) < 100_000
    assert "unpacks to 53," in refusal(data, "x.xlsx")


def test_workbook_with_too_many_tags_is_refused_before_it_is_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(openpyxl, "load_workbook", None)
    data = with_sheet(SHEET % (b"<a/>" * 60_000))
    assert "XML tags" in refusal(data, "x.xlsx", Limits(max_cells=100))


@pytest.mark.parametrize(
    "rows",
    [
        b'<row r="1"><c r="A1"><v>1</v></c></row><row r="99999999999"><c><v>1</v></c></row>',
        b'<row><c r="ZZZ1"><v>1</v></c></row>' * 20,
        b"<row><c><v>1</v></c></row>" * 1_001,
    ],
    ids=["a gap of rows", "wide rows", "many rows"],
)
def test_sheet_is_read_no_further_than_the_cap(rows: bytes) -> None:
    sentence = refusal(with_sheet(SHEET % rows), "x.xlsx", Limits(max_sheet_cells=1_000))
    assert "more than 1,000 cells" in sentence


def test_dimension_that_a_sheet_states_is_not_believed() -> None:
    rows = b'<row><c t="str"><v>a</v></c></row><row><c><v>7</v></c></row>'
    stated = SHEET.replace(b"<sheetData>", b'<dimension ref="A1:ZZ999999"/><sheetData>')
    assert cells(read_table(with_sheet(stated % rows), "x.xlsx")) == {"a": [7]}


def test_entities_are_not_expanded() -> None:
    doctype = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    data = with_sheet(doctype + SHEET % b'<row><c t="str"><v>&b;</v></c></row>')
    assert "not a real XLSX file" in refusal(data, "x.xlsx")


def test_parquet_row_count_is_checked_in_the_footer() -> None:
    data = parquet(pa.table({"a": np.zeros(6_000_000, np.int8)}))
    assert len(data) < 30_000
    assert "about 6,000,000 cells" in parquet_refusal(data)


def test_parquet_that_states_a_large_size_is_refused() -> None:
    limits = Limits(max_bytes=1_000_000)
    text = pa.table({"a": ["x" * 100_000 + chr(65 + i) for i in range(50)]})
    data = parquet(text, use_dictionary=False, compression="zstd")
    assert len(data) < limits.max_bytes
    assert "unpacks to more than 4,000,000 bytes" in parquet_refusal(data, limits)


def test_parquet_dictionary_bomb_is_refused_before_it_is_decoded() -> None:
    # Two megabytes in memory as written; thirty gigabytes once decoded.
    indices = pa.array(np.zeros(500_000, np.int32))
    bomb = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 60_000]))
    data = parquet(pa.table({"a": bomb}))
    assert len(data) < 10_000
    before = pa.total_allocated_bytes()
    assert "unpacks to more than" in parquet_refusal(data)
    assert pa.total_allocated_bytes() - before < 2**20


def test_parquet_prefix_coding_is_counted_as_decoded() -> None:
    options: dict[str, Any] = {
        "use_dictionary": False,
        "column_encoding": {"a": "DELTA_BYTE_ARRAY"},
    }
    limits = Limits(max_bytes=10_000)
    data = parquet(pa.table({"a": ["x" * 1_000] * 10}), **options)
    assert unpack(data, limits)[0]["a"].to_pylist() == ["x" * 1_000] * 10
    data = parquet(pa.table({"a": ["x" * 1_000] * 100}), **options)
    assert len(data) < limits.max_bytes
    assert "unpacks to more than 40,000 bytes" in parquet_refusal(data, limits)


def test_limits_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEPROOF_MAX_UPLOAD_MB", "2")
    monkeypatch.setenv("LIVEPROOF_MAX_CELLS", "7")
    assert (Limits.from_env().max_bytes, Limits.from_env().max_cells) == (2 * 2**20, 7)
    assert "at most 7 are allowed" in refusal(b"a,b\n1,2\n3,4\n5,6\n7,8\n")
    monkeypatch.setenv("LIVEPROOF_MAX_CELLS", "many")
    with pytest.raises(ValueError, match='LIVEPROOF_MAX_CELLS is "many", but must be'):
        Limits.from_env()


@settings(max_examples=300)
@given(
    data=st.binary(max_size=200),
    name=st.sampled_from(["x.csv", "x.json", "x.parquet", "x.xlsx", "x"]),
    start=st.sampled_from([b"", b"PK\x03\x04", b'{"a":', b"a,b\n", b"\xff\xfe"]),
)
def test_any_bytes_give_a_table_or_a_sentence(data: bytes, name: str, start: bytes) -> None:
    assert_table_or_sentence(start + data, name)


@settings(max_examples=60, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_a_damaged_workbook_gives_a_table_or_a_sentence(place: float, byte: int) -> None:
    original = workbook(("a", "b"), ("x", 1), ("y", 2))
    at = int(place * len(original))
    assert_table_or_sentence(original[:at] + bytes([byte]) + original[at + 1 :], "x.xlsx")


@pytest.mark.parametrize("place", [3, 60, 210, -40])
def test_a_damaged_parquet_file_gives_a_table_or_a_sentence(place: int) -> None:
    damaged = bytearray(parquet(pa.table({"a": ["x", "y"], "b": [1.0, 2.0]})))
    damaged[place] ^= 0x5B
    assert_table_or_sentence(bytes(damaged), "x.parquet")


# --- numbers --------------------------------------------------------------------------------


@given(st.lists(FLOATS, min_size=1, max_size=20))
def test_numbers_are_exact(values: list[float]) -> None:
    result = numbers(column(*map(repr, values)), "x")
    np.testing.assert_array_equal(result.values, values)
    assert (result.cleaned, result.blank) == (0, 0)


@pytest.mark.parametrize("cell", ["5", " +5 ", "5.", "05", "5e0", "0.5E1", "500e-2"])
def test_plain_numbers(cell: str) -> None:
    assert numbers(column(cell), "x").values.tolist() == [5.0]


@pytest.mark.parametrize(
    "cell", ["abc", "1_000", "0x10", "1e", ".", "--1", "1 2", "٣", "1,2,3", "(5)"]
)
def test_what_is_no_number_is_refused_even_when_cleaned(cell: str) -> None:
    for clean in (False, True):
        with pytest.raises(UploadError, match=r'Column "x" holds ".*" in row 3,') as caught:
            numbers(column("1", cell), "x", clean=clean)
        assert not caught.value.cleanable


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1,234", 1234.0),
        ("-1,234,567.5", -1234567.5),
        ("1 234", 1234.0),
        ("1\u202f234,5", 1234.5),
        ("1\u00a0234.5", 1234.5),
        ("1'234.5", 1234.5),
        ("1.234.567,5", 1234567.5),
        ("1,5", 1.5),
        ("0,123", 0.123),
        ("12%", 0.12),
        ("12.5 %", 0.125),
        ("€5", 5.0),
        ("-$1,234.50", -1234.5),
        ("5 €", 5.0),
        ("\N{MINUS SIGN}5", -5.0),
    ],
)
def test_cleaning(cell: str, value: float) -> None:
    with pytest.raises(UploadError, match="switch on cleaning") as caught:
        numbers(column("7", cell), "x")
    assert caught.value.cleanable
    result = numbers(column("7", cell), "x", clean=True)
    assert result.values.tolist() == [7.0, value]
    assert (result.cleaned, result.blank) == (1, 0)


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1))
def test_english_thousands_are_cleaned(values: list[int]) -> None:
    result = numbers(column(*(f"{v:,}" for v in values)), "x", clean=True)
    assert result.values.tolist() == values
    assert result.cleaned == sum(abs(v) >= 1000 for v in values)


@given(st.lists(st.decimals(-(10**6), 10**6, places=2), min_size=1))
def test_continental_numbers_are_cleaned(values: list[Any]) -> None:
    swapped = [f"{v:,}".translate(str.maketrans(",.", ".,")) for v in values]
    result = numbers(column(*swapped), "x", clean=True, decimal=",")
    assert result.values.tolist() == [float(v) for v in values]


def test_other_cells_of_a_column_settle_the_comma() -> None:
    assert numbers(column("1,234", "1,5"), "x", clean=True).values.tolist() == [1.234, 1.5]
    assert numbers(column("1,234", "1.5"), "x", clean=True).values.tolist() == [1234.0, 1.5]


def test_a_mixture_of_decimal_marks_is_refused() -> None:
    for mixed in (column("1,5", "1.25"), column("1,5", "1.234")):
        with pytest.raises(UploadError, match=r'"1,5" in row 2, which cannot be read'):
            numbers(mixed, "x", clean=True)


def test_file_with_decimal_commas() -> None:
    assert numbers(column("1,5", "2"), "x", decimal=",").values.tolist() == [1.5, 2.0]
    assert numbers(column("1.5", "2"), "x", decimal=",").values.tolist() == [1.5, 2.0]
    with pytest.raises(UploadError, match=r'"1\.234" in row 2.*switch on cleaning'):
        numbers(column("1.234", "2"), "x", decimal=",")
    assert numbers(column("1.234", "2"), "x", decimal=",", clean=True).values[0] == 1234.0


def test_the_first_bad_cell_and_the_number_of_others_are_named() -> None:
    with pytest.raises(UploadError, match=r'"no" in row 3 \(and 2 more such cells\)'):
        numbers(column("1", "no", "2", "no", "nope"), "x")
    with pytest.raises(UploadError, match=r'"bad" in row 4,'):  # not the one that cleaning reads
        numbers(column("1", "1,234", "bad"), "x")


def test_blank_cells() -> None:
    frame = column("1", "", "  ", "nan")
    with pytest.raises(UploadError, match=r'Column "x" is blank in row 3 \(and 2 more such cells'):
        numbers(frame, "x")
    result = numbers(frame, "x", blank_ok=True)
    np.testing.assert_array_equal(result.values, [1.0, np.nan, np.nan, np.nan])
    assert (result.cleaned, result.blank) == (0, 3)


@pytest.mark.parametrize("cell", ["n/a", "NA", "#N/A", "null", "None", "-", "?"])
def test_words_for_missing_are_blank_only_when_cleaned(cell: str) -> None:
    with pytest.raises(UploadError, match="switch on cleaning"):
        numbers(column("1", cell), "x", blank_ok=True)
    with pytest.raises(UploadError, match="every row needs a number"):
        numbers(column("1", cell), "x", clean=True)
    result = numbers(column("1", cell), "x", clean=True, blank_ok=True)
    assert (result.cleaned, result.blank) == (1, 1)


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e999"])
def test_infinite_numbers(cell: str) -> None:
    with pytest.raises(UploadError, match=r"in row 3, but only finite numbers can be used"):
        numbers(column("1", cell), "x", blank_ok=True)
    value = numbers(column("1", cell), "x", infinite_ok=True).values[1]
    assert value == (-np.inf if cell.startswith("-") else np.inf)


def test_columns_that_are_numbers_already() -> None:
    frame = pd.DataFrame({"i": [1, 2], "b": [True, False], "f": [1.5, np.nan]}, index=[4, 9])
    assert numbers(frame, "i").values.tolist() == [1.0, 2.0]
    assert numbers(frame, "b").values.tolist() == [1.0, 0.0]
    with pytest.raises(UploadError, match=r'Column "f" is blank in row 9,'):
        numbers(frame, "f")


def test_unknown_column_names_those_there_are() -> None:
    with pytest.raises(UploadError, match=r'no column "y"; the file has "x"'):
        numbers(column("1"), "y")


def test_texts() -> None:
    frame = pd.DataFrame({"s": ["a", ""], "i": [1, 2], "f": [0.5, np.nan]}, index=[2, 3])
    assert texts(frame, "s", blank_ok=True).tolist() == ["a", ""]
    assert texts(frame, "i").tolist() == ["1", "2"]
    assert texts(frame, "f", blank_ok=True).tolist() == ["0.5", ""]
    with pytest.raises(UploadError, match=r'Column "s" is blank in row 3'):
        texts(frame, "s")


def test_what_a_file_holds_cannot_break_the_sentence() -> None:
    sentence = refusal(b"a,b\n" * 2, "x\n\x1b[31m" + "y" * 300 + ".exe")
    assert sentence.isprintable()
    assert len(sentence) < 300
    assert tables.EXTENSIONS[0] == "csv"
