"""Hostile CSV text in; rows of text and finite numbers out, or one sentence about a fault."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]

MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class Cells:
    """A parsed file: the header, the rows of text, and the line of the file where each row ends."""

    header: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]


def parse(data: bytes | str) -> Cells:
    """Split a file into a checked header and rows of text; blank lines are skipped."""
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(
                "The file is not UTF-8 text: save it as CSV (UTF-8), not as a spreadsheet."
            ) from None
    text = data.removeprefix("\ufeff")
    if not text.strip():
        raise ValueError("The file is empty: it needs a line of names and rows of losses.")
    first = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    rows, lines = [], []
    try:
        for row in reader:
            if any(row):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as fault:
        raise ValueError(f"Line {reader.line_num} of the file is no CSV: {fault}.") from None
    header = [name.strip() for name in rows[0]]
    while header and not header[-1]:
        header.pop()  # spreadsheets end lines with spare separators
    for j, name in enumerate(header):
        if not name:
            raise ValueError(
                f"Column {j + 1} has no name: name it, or remove it if it numbers the rows."
            )
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise ValueError(
            f"The name {twice[0]!r} stands on {header.count(twice[0])} columns: each candidate "
            "needs its own name, in the first line of the file."
        )
    if len(rows) == 1:
        raise ValueError("The file has names but no losses: add at least one row below them.")
    cells = Cells(tuple(header), rows[1:], lines[1:])
    for row, line in zip(cells.rows, cells.lines, strict=True):
        if len(row) > len(header) and any(row[len(header) :]):
            raise ValueError(
                f"Line {line} of the file has {len(row)} cells, but there are {len(header)} names."
            )
    if len(cells.rows) * len(header) > MOST_CELLS:
        raise ValueError(
            f"The file has {len(cells.rows) * len(header):,} cells, but at most {MOST_CELLS:,} are "
            "taken: keep the first rows, which are as good as any others."
        )
    return cells


def numbers(texts: Sequence[str], column: str, lines: Sequence[int]) -> Float:
    """Return finite numbers; a decimal comma is understood."""
    try:
        values = np.asarray([float(text.replace(",", ".")) for text in texts], dtype=np.float64)
    except ValueError:
        values = np.asarray([_number(text) for text in texts], dtype=np.float64)
    bad = ~np.isfinite(values)
    if bad.any():
        k, count = int(np.argmax(bad)), int(bad.sum())
        more = f" ({count} cells of this column are no numbers)" if count > 1 else ""
        raise ValueError(
            f"Line {lines[k]} of the file, column {column!r}: {texts[k][:40]!r} is not a finite "
            f"number{more}; correct it, but do not drop the row."
        )
    return values


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


def unit(
    values: Float,
    column: str,
    lines: Sequence[int],
    rewards: bool,
    bounds: tuple[float, float] | None,
) -> Float:
    """Scale by the stated bounds, turn rewards into losses, and insist on [0, 1]."""
    low, high = bounds if bounds is not None else (0.0, 1.0)
    bad = (values < low) | (values > high)
    if bad.any():
        k, count = int(np.argmax(bad)), int(bad.sum())
        if bounds is not None:
            remedy = "state wider bounds, the smallest and largest value possible"
        elif values.min() >= 0.0 and values.max() <= 100.0:
            remedy = "if these are percentages, state the bounds 0 and 100"
        else:
            remedy = "state the smallest and largest value possible to have them scaled"
        raise ValueError(
            f"Line {lines[k]} of the file, column {column!r}: {values[k]:g} lies outside "
            f"{low:g} to {high:g} ({count} of {values.size} values do); {remedy}."
        )
    scaled = (values - low) / (high - low)
    return 1.0 - scaled if rewards else scaled


def is_number(text: str) -> bool:
    """Return whether a cell can be read as a number."""
    return not math.isnan(_number(text))
