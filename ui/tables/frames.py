"""What the readers share: column names, columns of plain Python values, blank rows, checks."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ui.tables.limits import Limits, UploadError, quoted

_LONGEST_NAME = 200
_EXACT = 2**53  # whole numbers up to here are exact in float64


@dataclass(frozen=True)
class Reading:
    """What a reader found: the frame, the format, remarks in sentences, and the decimal mark."""

    frame: pd.DataFrame
    kind: str
    notes: tuple[str, ...] = ()
    decimal: str = "."


def column_names(header: Sequence[object]) -> tuple[list[str], list[str]]:
    """Unique, non-blank names for a header's cells, and a remark for each change.

    Raises
    ------
    UploadError
        If a name is longer than 200 characters.
    """
    names: list[str] = []
    notes: list[str] = []
    given = ["" if cell is None else str(cell).strip() for cell in header]
    for place, name in enumerate(given, start=1):
        if len(name) > _LONGEST_NAME:
            raise UploadError(
                f"The name of column {place:,} has {len(name):,} characters, but at most "
                f"{_LONGEST_NAME} are allowed; check that the first row is a header."
            )
        if not name:
            chosen = _free(f"column {place}", {*names, *given})
            notes.append(f"Column {place:,} has no name; it is called {quoted(chosen)} here.")
        elif name in names:
            chosen = _free(name, {*names, *given})
            notes.append(
                f"More than one column is called {quoted(name)}; column {place:,} is called "
                f"{quoted(chosen)} here."
            )
        else:
            chosen = name
        names.append(chosen)
    if len(notes) > 5:
        notes = [*notes[:4], f"{len(notes) - 4:,} more columns were given names like these."]
    if all(_looks_numeric(name) for name in given):
        shown = ", ".join(quoted(name) for name in given[:3])
        notes.append(f"The first row was read as column names, though it holds numbers: {shown}.")
    return names, notes


def as_column(values: Sequence[Any]) -> Any:
    """An array of numbers or booleans if all values are such, else of texts ("" where blank)."""
    kinds = {type(value) for value in values}
    blank = type(None) in kinds
    kinds.discard(type(None))
    if kinds == {bool} and not blank:
        return np.array(values, dtype=np.bool_)
    if kinds and kinds <= {int, float}:
        largest = max((abs(v) for v in values if type(v) is int), default=0)
        if kinds == {int} and not blank and largest < 2**63:
            return np.array(values, dtype=np.int64)
        if largest <= _EXACT:
            return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    texts = [_as_text(value) for value in values]
    try:
        return pd.array(texts, dtype="str")
    except UnicodeEncodeError:
        raise UploadError(
            "A text holds half a character (an unpaired surrogate); export the file again."
        ) from None


def finish(frame: pd.DataFrame, limits: Limits, notes: list[str]) -> pd.DataFrame:
    """The frame without rows that are blank in every column; the remark on them joins `notes`.

    Raises
    ------
    UploadError
        If no row is left, or a text is too long.
    """
    blank = np.ones(len(frame), dtype=np.bool_)
    for name in frame.columns:
        if not blank.any():
            break
        blank &= blank_cells(frame[name])
    if count := int(np.count_nonzero(blank)):
        frame = frame[~blank]
        rows = "row was" if count == 1 else "rows were"
        notes.append(f"{count:,} blank {rows} left out.")
    if frame.empty:
        shown = ", ".join(quoted(name) for name in frame.columns[:8])
        raise UploadError(
            f"The file names its columns ({shown}), but has no rows under them; add rows of data."
        )
    frame.index.name = "row"
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name].dtype):
            lengths = frame[name].str.len().to_numpy()
            if (longest := int(lengths.max())) > limits.max_text:
                row = frame.index[int(lengths.argmax())]
                raise UploadError(
                    f"Column {quoted(name)} holds {longest:,} characters in row {row:,}, but at "
                    f"most {limits.max_text:,} are allowed in one cell; shorten the text or check "
                    "the quotes."
                )
    return frame


def blank_cells(series: pd.Series) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where a column of text or numbers holds nothing, shape (rows,)."""
    if pd.api.types.is_numeric_dtype(series.dtype):
        return series.isna().to_numpy(dtype=np.bool_)
    return (series.str.strip() == "").to_numpy(dtype=np.bool_)


def _free(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name} ({number})" in taken:
        number += 1
    return f"{name} ({number})"


def _looks_numeric(name: str) -> bool:
    return name[:1] in set("+-.0123456789") and not any(c.isalpha() for c in name)


def _as_text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
