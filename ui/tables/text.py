"""Readers of text files: values between delimiters, and JSON records."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from ui.tables.frames import Reading, as_column, column_names, finish
from ui.tables.limits import Limits, UploadError, quoted

_HEAD = 1_000_000  # characters within which the header line must end
_SNIFFED = 65_536
# In the order of preference when two of them split all lines equally well.
_DELIMITERS = {"\t": ("tsv", "tabs"), ";": ("semicolon", "semicolons"), ",": ("csv", "commas")}
# Numbers that need a decimal comma, that need a decimal point, and that may have a comma.
_COMMA = r"^\s*[-+]?(\d*,(\d{1,2}|\d{4,})|0,\d+|\d{1,3}(\.\d{3})+,\d+|\d*,\d*[eE][-+]?\d+)\s*$"
_POINT = r"^\s*[-+]?(\d*\.(\d{1,2}|\d{4,})|0\.\d+|\d{1,3}(,\d{3})+\.\d+|\d*\.\d*[eE][-+]?\d+)\s*$"
_EITHER = r"^\s*[-+]?\d+,\d+\s*$"


def read_delimited(data: bytes, limits: Limits) -> Reading:
    """CSV, TSV or semicolon-separated text with a header, each cell as text.

    The index is the number of the record, the first being 1; blank lines count.
    """
    data, notes = decode(data)
    head = data[: 4 * _HEAD].decode("utf-8", errors="ignore")[:_HEAD]
    delimiter = _sniff(head[:_SNIFFED])
    header_row, header = _header(head, delimiter)
    limits.check_columns(len(header))
    names, remarks = column_names(header)
    lines = max(data.count(b"\n"), data.count(b"\r"))
    limits.check_cells(lines + data.count(delimiter.encode()) - len(header))

    frame = _records(data, delimiter, len(header))
    frame.columns = pd.Index(names)
    frame = finish(frame.loc[header_row + 1 :], limits, remarks)
    kind, words = _DELIMITERS[delimiter]
    if kind != "csv":
        notes.append(f"The columns are separated by {words}.")
    decimal = "." if kind == "csv" else _decimal(frame, kind)
    if decimal == ",":
        notes.append("Numbers are read with a decimal comma: 1,5 is one and a half.")
    return Reading(frame, kind, (*notes, *remarks), decimal)


def read_json(data: bytes, limits: Limits) -> Reading:
    """JSON records: one object a line, or one array of objects.

    The index is the line, or the place in the array, the first being 1.
    """
    data, notes = decode(data)
    limits.check_cells(data.count(b",") + 1)
    columns: dict[str, list[Any]] = {}
    rows: list[int] = []
    for row, record in _objects(data.decode()):
        if not isinstance(record, _Pairs):
            raise UploadError(
                f'Record {row:,} is not a JSON object such as {{"x": 1}}; give one object a '
                "line, or one array of objects."
            )
        values = dict(record)
        if len(values) < len(record):
            raise UploadError(f"Record {row:,} gives the same name twice; keep one of them.")
        for name in values:
            if name not in columns:
                columns[name] = [None] * len(rows)
        rows.append(row)
        limits.check_columns(len(columns))
        limits.check_cells(max(1, len(columns)) * len(rows))
        for name, column in columns.items():
            column.append(values.get(name))
    if not columns:
        raise UploadError("The file holds no JSON record with a named value; upload some rows.")
    names, remarks = column_names(list(columns))
    series = {
        name: as_column([_unpaired(v) for v in column])
        for name, column in zip(names, columns.values(), strict=True)
    }
    frame = finish(pd.DataFrame(series, index=pd.Index(rows)), limits, notes)
    return Reading(frame, "json", (*notes, *remarks))


def decode(data: bytes) -> tuple[bytes, list[str]]:
    """The same text as UTF-8 without a byte-order mark, and remarks on how it was read.

    Raises
    ------
    UploadError
        If the bytes are not text.
    """
    notes: list[str] = []
    try:
        if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
            data = data.decode("utf-32").encode()
        elif data.startswith((b"\xff\xfe", b"\xfe\xff")):
            data = data.decode("utf-16").encode()
        else:
            data = data.removeprefix(b"\xef\xbb\xbf")
            data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.encoding != "utf-8":
            raise UploadError(
                f"The file is marked as {error.encoding[:6].upper()} text, but is damaged or cut "
                "short; save it again as UTF-8."
            ) from None
        name = "Windows-1252"
        try:
            data = data.decode("cp1252").encode()
        except UnicodeDecodeError:
            data, name = data.decode("latin-1").encode(), "Latin-1"
        notes.append(f"The text is not UTF-8 and was read as {name}: check accented letters.")
    if (nul := data.find(b"\0")) >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise UploadError(
            f"The file holds a NUL byte in line {line:,}, so it is not plain text; "
            "export it again as UTF-8 text."
        )
    return data, notes


def _sniff(sample: str) -> str:
    """The delimiter that splits most lines into as many cells as the first one."""
    bare = re.sub(r'"(?:[^"]|"")*("|\Z)', "q", sample)  # what is quoted separates nothing
    lines = [line for line in re.split(r"[\r\n]+", bare) if line.strip()][:200]
    counts = {mark: [line.count(mark) for line in lines] for mark in _DELIMITERS}
    fits = {mark: n.count(n[0]) for mark, n in counts.items() if n and n[0]}
    return max(fits, key=fits.__getitem__, default=",")


def _header(head: str, delimiter: str) -> tuple[int, list[str]]:
    """Number and cells of the first record that is not blank."""
    long = len(head) == _HEAD and not re.search(r"[\r\n]", head.strip())
    try:
        reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
        for row, record in enumerate(reader, start=1):
            if not long and any(cell.strip() for cell in record):
                return row, record
    except csv.Error:
        long = True
    if long:
        raise UploadError(
            "The first line is too long to be a header; check the line ends and the quotes."
        )
    raise UploadError("The file holds only blank lines; upload one with a header and rows.")


def _records(data: bytes, delimiter: str, columns: int) -> pd.DataFrame:
    """All records as text, header and blank ones included, indexed by their number."""
    # A last line with one cell too many is appended. If the parser does not report it, a quote
    # that is never closed has swallowed it.
    sentinel = "\0" + delimiter * columns
    if not data.endswith((b"\n", b"\r")):
        data += b"\n"
    data += sentinel.encode()
    ragged: list[tuple[int, int]] = []
    spaces: list[int] = []
    closed = False

    def on_invalid(row: Any) -> str:
        nonlocal closed
        if row.text == sentinel:
            closed = True
        elif row.text.strip():
            ragged.append((row.number, row.actual_columns))
        else:
            spaces.append(row.number)
        return "skip"

    names = [str(place) for place in range(columns)]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                column_names=names, use_threads=False, block_size=len(data) + 1
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=False,
                invalid_row_handler=on_invalid,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowException as error:
        raise UploadError(f"The text cannot be split into rows: {quoted(error, 80)}.") from None
    total = table.num_rows + len(ragged) + len(spaces)
    if not closed:
        raise UploadError(
            f"Row {total:,} opens a quotation mark that is never closed; close or remove it."
        )
    if ragged:
        row, cells = ragged[0]
        more = len(ragged) - 1
        others = f" (and {more:,} more such row{'s' if more > 1 else ''})" if more else ""
        raise UploadError(
            f"Row {row:,} has {cells:,} cell{'s' if cells > 1 else ''}, but the header has "
            f"{columns:,}{others}; make all rows equally long, and quote cells that hold "
            f"{_DELIMITERS[delimiter][1]}."
        )
    frame: pd.DataFrame = table.to_pandas()
    numbers: npt.NDArray[np.int64] = np.arange(1, total + 1)
    frame.index = pd.Index(np.delete(numbers, np.array(spaces, dtype=int) - 1))
    return frame


def _decimal(frame: pd.DataFrame, kind: str) -> str:
    """The file's decimal mark, from cells that can be read in one way only."""
    maybe = point = False
    for name in frame.columns:
        cells = pa.array(frame[name], type=pa.large_string())
        commas = pc.match_substring(cells, ",")
        if pc.any(commas).as_py():
            if pc.any(pc.match_substring_regex(cells, _COMMA)).as_py():
                return ","
            maybe = maybe or pc.any(pc.match_substring_regex(cells, _EITHER)).as_py()
        point = point or pc.any(pc.match_substring_regex(cells, _POINT)).as_py()
    # Semicolons are what spreadsheets write where the comma is the decimal mark.
    return "," if kind == "semicolon" and maybe and not point else "."


class _Pairs(list[tuple[str, Any]]):
    """The pairs of a JSON object, kept apart so that a repeated name is seen."""


def _unpaired(value: Any) -> Any:
    if isinstance(value, _Pairs):
        return {name: _unpaired(v) for name, v in value}
    return [_unpaired(v) for v in value] if isinstance(value, list) else value


def _objects(text: str) -> Iterator[tuple[int, Any]]:
    """Row number and value of each record."""
    row = 1
    try:
        if text.lstrip().startswith("["):
            yield from enumerate(json.loads(text, object_pairs_hook=_Pairs), start=1)
            return
        for row, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield row, json.loads(line, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        line_number = row + error.lineno - 1
        raise UploadError(
            f"The JSON breaks off or is wrong in line {line_number:,}, character {error.colno:,}; "
            "give one object a line, or one array of objects."
        ) from None
    except (ValueError, RecursionError):
        raise UploadError(
            f"The JSON in or after line {row:,} has a number of too many digits or is nested too "
            "deeply; flatten it to one object a line."
        ) from None
