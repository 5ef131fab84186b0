"""Reader of XLSX workbooks."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import openpyxl
import pandas as pd

from ui.tables.frames import Reading, as_column, column_names, finish
from ui.tables.limits import Limits, UploadError, quoted

# A cell takes 4 tags for its value, 4 for a text of its own, and its share of the row's 2. Styles,
# themes and relations take some thousands.
_TAGS_PER_CELL = 10
_TAGS_BESIDES = 50_000


def read_xlsx(data: bytes, limits: Limits) -> Reading:
    """First visible sheet of a workbook, cell values as stored; the index is the sheet's row."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > limits.max_bytes:
            raise UploadError(
                f"The workbook unpacks to {unpacked:,} bytes, but at most {limits.size} are "
                "allowed; save the sheet as CSV or Parquet."
            )
        # zipfile stops at the stated size of a member, so that figure cannot understate.
        formulas = _scan(archive, limits)
        workbook = openpyxl.load_workbook(
            io.BytesIO(data), read_only=True, data_only=True, keep_links=False
        )
        try:
            sheets = [sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible"]
            if not sheets:
                raise UploadError("The workbook has no visible sheet with cells; unhide one.")
            rows, values = _cells(sheets[0], limits)
        finally:
            workbook.close()
    except UploadError:
        raise
    except Exception as error:  # a hostile workbook makes openpyxl raise almost anything
        raise UploadError(
            f"The workbook is damaged, protected or not a real XLSX file ({type(error).__name__}); "
            "save it again, or upload CSV."
        ) from None
    reading = _sheet(rows, values, limits)
    notes = list(reading.notes)
    if len(sheets) > 1:
        notes.insert(0, f"Read from the sheet {quoted(sheets[0].title)}, the first of several.")
    if formulas:
        notes.append("Formulas count by their stored results; one without a result is blank.")
    return Reading(reading.frame, "xlsx", tuple(notes))


def _cells(sheet: Any, limits: Limits) -> tuple[list[int], list[tuple[Any, ...]]]:
    """Rows that hold something, and their numbers; stops as soon as there are too many cells."""
    sheet.reset_dimensions()  # what a file states about its own size is not to be relied on
    rows: list[int] = []
    values: list[tuple[Any, ...]] = []
    seen = 0
    for row, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        seen += max(1, len(cells))
        limits.check_cells(seen, sheet=True)
        if any(cell is not None for cell in cells):
            rows.append(row)
            values.append(tuple(cells))
    return rows, values


def _sheet(rows: list[int], values: list[tuple[Any, ...]], limits: Limits) -> Reading:
    if not values:
        raise UploadError("The sheet is empty; upload one with a header and rows.")
    width = _width(values[0])
    limits.check_columns(width)
    names, notes = column_names(values[0][:width])
    for row, cells in zip(rows, values, strict=True):
        if _width(cells) > width:
            raise UploadError(
                f"Row {row:,} has a cell in column {_width(cells):,}, but the header has "
                f"{width:,}; give the column a name, or empty the cell."
            )
    padded = [(cells + (None,) * width)[:width] for cells in values[1:]]
    columns = zip(*padded, strict=True) if padded else [()] * width
    frame = pd.DataFrame(
        {name: as_column(column) for name, column in zip(names, columns, strict=True)},
        index=pd.Index(rows[1:]),
    )
    if padded and (blank := rows[-1] - rows[0] - len(padded)):
        notes.append(f"{blank:,} blank row{'s were' if blank > 1 else ' was'} left out.")
    return Reading(finish(frame, limits, notes), "xlsx", tuple(notes))


def _width(cells: tuple[Any, ...]) -> int:
    return max((place for place, c in enumerate(cells, start=1) if c is not None), default=0)


def _scan(archive: zipfile.ZipFile, limits: Limits) -> bool:
    """Count tags over the raw XML, since parsing is slow; say whether a sheet holds formulas."""
    tags = 0
    formulas = False
    for member in archive.namelist():
        content = archive.read(member)
        tags += content.count(b"<")
        if member.startswith("xl/worksheets/"):
            formulas = formulas or b"<f>" in content or b"<f " in content
    cap = _TAGS_PER_CELL * min(limits.max_cells, limits.max_sheet_cells) + _TAGS_BESIDES
    if tags > cap:
        raise UploadError(
            f"The workbook is too large to be read cell by cell ({tags:,} XML tags, at most "
            f"{cap:,} are allowed); save the one sheet that is needed as CSV or Parquet."
        )
    return formulas
