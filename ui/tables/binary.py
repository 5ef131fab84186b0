"""Readers of Parquet files and of XLSX workbooks."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import types

from ui.tables.frames import Reading, as_column, column_names, finish
from ui.tables.limits import PARQUET_UNPACKING, Limits, UploadError, quoted

# A cell takes 4 tags for its value, 4 for a text of its own, and its share of the row's 2. Styles,
# themes and relations take some thousands.
_TAGS_PER_CELL = 10
_TAGS_BESIDES = 50_000


def read_parquet(data: bytes, limits: Limits) -> Reading:
    """Flat columns of a Parquet file; the index is the record's number, the first being 1."""
    try:
        return _parquet(pa.BufferReader(data), limits)
    except UploadError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        raise UploadError(
            "The Parquet file is damaged, encrypted or of a kind that cannot be read here "
            f"({type(error).__name__}); write it again, or upload CSV."
        ) from None


def _parquet(source: Any, limits: Limits) -> Reading:
    schema = pq.read_schema(source)
    if len(set(schema.names)) < len(schema.names):
        raise UploadError("The Parquet file has two columns of one name; rename one of them.")
    flat = [field.name for field in schema if _is_flat(field.type)]
    if not flat:
        raise UploadError("The Parquet file has no column of numbers or texts; add one.")
    limits.check_columns(len(flat))
    texts = [field.name for field in schema if _is_text(field.type)]
    source.seek(0)
    file = pq.ParquetFile(source, read_dictionary=texts, arrow_extensions_enabled=False)
    _check_footer(file.metadata, set(flat), limits)

    chunks: dict[str, list[Any]] = {name: [] for name in flat}
    rows = text_bytes = 0
    for batch in file.iter_batches(columns=flat, use_threads=False):
        rows += batch.num_rows
        limits.check_cells(rows * len(flat))
        for name in flat:
            column = batch.column(name)
            # A dictionary may hold one long text that a million rows point to, so the decoded
            # size is added up before anything is decoded.
            if types.is_dictionary(column.type) and _is_text(column.type):
                lengths = pc.binary_length(column.dictionary)
                text_bytes += pc.sum(pc.take(lengths, column.indices)).as_py() or 0
                _check_unpacked(text_bytes, limits)
            chunks[name].append(_simple(column))
    names, notes = column_names(flat)
    nested = [name for name in schema.names if name not in chunks]
    if nested:
        shown = ", ".join(quoted(name) for name in nested[:5])
        others = f" and {len(nested) - 5:,} more columns" if len(nested) > 5 else ""
        notes.append(f"Left out, being neither numbers, texts nor dates: {shown}{others}.")
    if not rows:
        chunks = {name: [pa.array([], type=pa.large_string())] for name in flat}
    table = pa.table({n: pa.chunked_array(c) for n, c in zip(names, chunks.values(), strict=True)})
    frame = table.to_pandas()
    frame.index = pd.RangeIndex(1, len(frame) + 1)
    return Reading(finish(frame, limits, notes), "parquet", tuple(notes))


def _check_footer(footer: Any, flat: set[str], limits: Limits) -> None:
    """Refuse by the sizes that the footer states, before a page is read."""
    limits.check_cells(footer.num_rows * len(flat))
    unpacked = 0
    for group in range(footer.num_row_groups):
        for place in range(footer.num_columns):
            column = footer.row_group(group).column(place)
            if column.path_in_schema in flat:
                unpacked += column.total_uncompressed_size
                # Each text is coded by what differs from the one before: nothing in the file
                # bounds what it decodes to. Writers use it on request only.
                if "DELTA_BYTE_ARRAY" in column.encodings:
                    raise UploadError(
                        f"Column {quoted(column.path_in_schema)} is stored with the encoding "
                        "DELTA_BYTE_ARRAY, which is not accepted; write the file with the "
                        "default encodings."
                    )
        _check_unpacked(unpacked, limits)


def _check_unpacked(size: int, limits: Limits) -> None:
    cap = PARQUET_UNPACKING * limits.max_bytes
    if size > cap:
        raise UploadError(
            f"The Parquet file unpacks to more than {cap:,} bytes, the most that is allowed; "
            "upload fewer rows or columns."
        )


def _is_text(kind: Any) -> bool:
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_number(kind: Any) -> bool:
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _is_flat(kind: Any) -> bool:
    if types.is_dictionary(kind):
        kind = kind.value_type
    dated = types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind)
    other = dated or types.is_decimal(kind) or types.is_null(kind)
    return bool(_is_text(kind) or _is_number(kind) or other)


def _simple(column: Any) -> Any:
    """A column as numbers, or as text with "" for null; dates and times become text."""
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_decimal(column.type) or types.is_float16(column.type):
        return pc.cast(column, pa.float64())
    if _is_number(column.type) and not (types.is_boolean(column.type) and column.null_count):
        return column
    return pc.fill_null(pc.cast(column, pa.large_string()), "")


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
