"""What a visitor's file may be at most, and the one exception that refuses a file."""

from __future__ import annotations

import os
from dataclasses import dataclass

MEBIBYTE = 2**20
PARQUET_UNPACKING = 4


class UploadError(ValueError):
    """One sentence that tells a visitor what is wrong with a file, where, and what to do.

    `cleanable` is true when reading the same cells with ``clean=True`` would succeed.
    """

    def __init__(self, sentence: str, *, cleanable: bool = False) -> None:
        super().__init__(sentence)
        self.cleanable = cleanable


@dataclass(frozen=True)
class Limits:
    """Caps that are checked before a file is parsed, and again while it is.

    Attributes
    ----------
    max_bytes
        Size of the file as uploaded. An XLSX file may not unpack to more than this either;
        a Parquet file may unpack to `PARQUET_UNPACKING` times as much.
    max_cells, max_columns
        Cells without the header, and columns.
    max_sheet_cells
        Cells of an XLSX sheet: reading one takes some 20 microseconds, a hundred times as long
        as from CSV.
    max_text
        Characters in one cell.
    """

    max_bytes: int = 50 * MEBIBYTE
    max_cells: int = 5_000_000
    max_columns: int = 1_000
    max_sheet_cells: int = 200_000
    max_text: int = 100_000

    @classmethod
    def from_env(cls) -> Limits:
        """Read `LIVEPROOF_MAX_UPLOAD_MB` and `LIVEPROOF_MAX_CELLS`, else the defaults."""
        return cls(
            max_bytes=_whole("LIVEPROOF_MAX_UPLOAD_MB", cls.max_bytes // MEBIBYTE) * MEBIBYTE,
            max_cells=_whole("LIVEPROOF_MAX_CELLS", cls.max_cells),
        )

    @property
    def megabytes(self) -> int:
        """The size cap in whole megabytes, as `st.file_uploader` wants it."""
        return max(1, self.max_bytes // MEBIBYTE)

    @property
    def size(self) -> str:
        """The size cap in words."""
        if self.max_bytes < MEBIBYTE:
            return f"{self.max_bytes:,} bytes"
        return f"{self.max_bytes / MEBIBYTE:g} MB"

    def check_cells(self, cells: int, *, sheet: bool = False) -> None:
        """Refuse more cells than allowed.

        Raises
        ------
        UploadError
            If `cells` is above the cap.
        """
        cap = min(self.max_cells, self.max_sheet_cells) if sheet else self.max_cells
        if cells <= cap:
            return
        if sheet:
            raise UploadError(
                f"The sheet has more than {cap:,} cells, the most that are read from XLSX; "
                "save it as CSV or Parquet, or upload part of it."
            )
        raise UploadError(
            f"The file has about {cells:,} cells, but at most {cap:,} are allowed; "
            "upload fewer rows or fewer columns."
        )

    def check_columns(self, columns: int) -> None:
        """Refuse more columns than allowed.

        Raises
        ------
        UploadError
            If `columns` is above the cap.
        """
        if columns > self.max_columns:
            raise UploadError(
                f"The file has {columns:,} columns, but at most {self.max_columns:,} are allowed; "
                "keep the columns that are needed."
            )


def _whole(variable: str, default: int) -> int:
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f'{variable} is "{text}", but must be a whole number of at least 1.')
    return int(text)


def quoted(value: object, longest: int = 40) -> str:
    """A cell or a name as it can be shown inside a sentence: short, quoted, on one line."""
    text = "".join(map(_visible, str(value)[: 4 * longest]))
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    return f'"{text}"'


def _visible(character: str) -> str:
    if character.isspace():
        return " "
    return character if character.isprintable() else "\N{SYMBOL FOR SUBSTITUTE}"
