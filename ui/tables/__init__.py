"""A visitor's file in, a validated table or one clear sentence out; knows no Streamlit.

`read_table` recognises the format by content and name, checks every cap before it parses, and
never executes or unpickles anything. `numbers` and `texts` turn a column into an array.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ui.tables.frames import Reading, blank_cells
from ui.tables.limits import Limits, UploadError, quoted
from ui.tables.numeric import Numbers, numbers
from ui.tables.parquet import read_parquet
from ui.tables.text import read_delimited, read_json
from ui.tables.workbook import read_xlsx

__all__ = ["EXTENSIONS", "Limits", "Numbers", "Table", "UploadError", "numbers", "read_table"]

_TEXT = "delimited text"
_FORMATS = {
    "csv": _TEXT, "tsv": _TEXT, "tab": _TEXT, "txt": _TEXT,
    "json": "JSON", "jsonl": "JSON", "ndjson": "JSON",
    "parquet": "Parquet", "pq": "Parquet",
    "xlsx": "XLSX",
}  # fmt: skip
EXTENSIONS = tuple(_FORMATS)
_READERS: dict[str, Callable[[bytes, Limits], Reading]] = {
    _TEXT: read_delimited,
    "JSON": read_json,
    "Parquet": read_parquet,
    "XLSX": read_xlsx,
}
# Beginnings of files that are never opened, and what to do instead.
_REFUSED = {
    b"\x1f\x8b": "is packed with gzip; unpack it first",
    b"BZh": "is packed with bzip2; unpack it first",
    b"\xfd7zXZ\0": "is packed with xz; unpack it first",
    b"(\xb5/\xfd": "is packed with Zstandard; unpack it first",
    b"7z\xbc\xaf'\x1c": "is a 7z archive; unpack it first",
    b"\xd0\xcf\x11\xe0": "is an old or password-protected Excel file; save it as XLSX or CSV",
    b"%PDF": "is a PDF document; export the table as CSV",
    b"\x93NUMPY": "is a NumPy file; save the table as CSV or Parquet",
    b"\x89HDF": "is an HDF5 file; save the table as CSV or Parquet",
    b"ARROW1": "is an Arrow (Feather) file; save the table as Parquet",
    b"SQLite format 3": "is an SQLite database; export the table as CSV",
}
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_JSON = re.compile(rb"(\{\s*[\"}]|\[\s*[\[{\]])")


@dataclass(frozen=True)
class Table:
    """A visitor's table.

    Attributes
    ----------
    frame
        Text columns as `str` with "" for blank; numbers stay numbers where the format has them.
        The index, "row", is the row number that a person sees in the file.
    name, kind
        The file's name; "csv", "tsv", "semicolon", "json", "parquet" or "xlsx".
    notes
        Sentences on what was noticed or decided while reading.
    sha256
        Of the file's bytes, in hexadecimal.
    decimal
        The file's decimal mark, "." or ",": hand it to `numbers`.
    """

    frame: pd.DataFrame
    name: str
    kind: str
    notes: tuple[str, ...]
    sha256: str
    decimal: str = "."


def read_table(data: bytes, name: str, limits: Limits | None = None) -> Table:
    """Read an uploaded file.

    Parameters
    ----------
    data
        The file's bytes.
    name
        Its name, which must go with the content.
    limits
        Caps; by default those of the environment.

    Raises
    ------
    UploadError
        One sentence on why the file cannot be used.
    """
    limits = limits or Limits.from_env()
    name = PurePath(name.replace("\\", "/")).name
    if not data:
        raise UploadError(f"{quoted(name)} is empty; upload a file with a header and rows.")
    if len(data) > limits.max_bytes:
        raise UploadError(
            f"{quoted(name)} has {len(data):,} bytes, but at most {limits.size} are allowed; "
            "upload fewer rows or columns, or use Parquet."
        )
    reading = _READERS[_recognise(data, name)](data, limits)
    digest = hashlib.sha256(data).hexdigest()
    return Table(reading.frame, name, reading.kind, reading.notes, digest, reading.decimal)


def texts(frame: pd.DataFrame, column: str, *, blank_ok: bool = False) -> npt.NDArray[Any]:
    """One column as Python strings, shape (rows,), dtype object; "" where blank.

    Raises
    ------
    UploadError
        If a cell is blank although `blank_ok` is false.
    """
    series = frame[column]
    blank = blank_cells(series)
    if not blank_ok and blank.any():
        row = frame.index[int(np.argmax(blank))]
        raise UploadError(
            f"Column {quoted(column)} is blank in row {row:,}, but every row needs a text here; "
            "fill in the cell or remove the row."
        )
    if pd.api.types.is_numeric_dtype(series.dtype):
        cells = ["" if b else str(v) for v, b in zip(series.tolist(), blank, strict=True)]
        return np.array(cells, dtype=object)
    return series.to_numpy(dtype=object)


def _recognise(data: bytes, name: str) -> str:
    """The format of the content, provided that the name agrees with it."""
    for start, sentence in _REFUSED.items():
        if data.startswith(start):
            raise UploadError(f"{quoted(name)} {sentence}.")
    if _PICKLE.match(data):
        raise UploadError(
            f"{quoted(name)} is a Python pickle, which is never opened here as it could run code; "
            "save the table as CSV or Parquet."
        )
    extension = PurePath(name).suffix.lower().removeprefix(".")
    if extension and extension not in _FORMATS:
        raise UploadError(
            f"{quoted(name)} ends in .{extension}, but only {', '.join(EXTENSIONS)} are read; "
            "save the table as one of these."
        )
    content = _content(data, name, extension)
    promised = _FORMATS.get(extension, content)
    if content != promised:
        raise UploadError(
            f"{quoted(name)} is named like {promised}, but its content is {content}; "
            "rename it, or export it again."
        )
    return content


def _content(data: bytes, name: str, extension: str) -> str:
    if data.startswith(b"PAR1"):
        return "Parquet"
    if data.startswith(b"PK"):
        try:
            members = zipfile.ZipFile(io.BytesIO(data)).namelist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
            raise UploadError(
                f"{quoted(name)} is a damaged workbook or archive; save it again, or upload CSV."
            ) from None
        if "xl/workbook.xml" in members:
            return "XLSX"
        raise UploadError(f"{quoted(name)} is a zip archive without a workbook; unpack it first.")
    start = data[:1000]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        start = start.decode("utf-16", errors="ignore").encode()
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    promised = _FORMATS.get(extension) == "JSON" and start.startswith((b"[", b"{"))
    return "JSON" if promised or _JSON.match(start) else _TEXT
