"""Reader of Parquet files, in a process of its own.

A damaged Parquet file can end the process that reads it (some of pyarrow's accessors let a C++
exception through), and a file that lies about its sizes can ask for any amount of memory. So
`ui.tables.child` calls `unpack` under limits of memory and time, and hands back a plain table.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import types

from ui.tables.frames import Reading, column_names, finish
from ui.tables.limits import PARQUET_UNPACKING, Limits, UploadError, quoted

_ROOT = Path(__file__).parents[2]
_SECONDS = 120
_DICTIONARY = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}
_BATCH = 131_072  # rows between two checks
_DAMAGED = (
    "The Parquet file is damaged, encrypted or needs more memory or time than allowed; "
    "write it again, or upload CSV."
)
# One thread and the system's allocator, so that the child's limit on memory means what it says.
_ENVIRONMENT = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "ARROW_IO_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def read_parquet(data: bytes, limits: Limits) -> Reading:
    """Flat columns of a Parquet file; the index is the record's number, the first being 1."""
    try:
        child = subprocess.run(
            [sys.executable, "-m", "ui.tables.child", json.dumps(dataclasses.asdict(limits))],
            input=data,
            capture_output=True,
            check=True,
            cwd=_ROOT,
            env={**os.environ, **_ENVIRONMENT},
            timeout=_SECONDS,
        )
    except (subprocess.SubprocessError, OSError):
        raise UploadError(_DAMAGED) from None
    said, _, content = child.stdout.partition(b"\n")
    answer = json.loads(said)
    if "refused" in answer:
        raise UploadError(answer["refused"])
    return as_reading(pa.ipc.open_stream(content).read_all(), answer["left_out"], limits)


def unpack(data: bytes, limits: Limits) -> tuple[Any, list[str]]:
    """An Arrow table of the flat columns as numbers, booleans and texts, and the other columns.

    Raises
    ------
    UploadError
        If the file is damaged, or larger than allowed by its footer or as it is decoded.
    """
    try:
        return _unpack(pa.BufferReader(data), limits)
    except UploadError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError):
        raise UploadError(_DAMAGED) from None


def as_reading(table: Any, left_out: list[str], limits: Limits) -> Reading:
    """The reading of a table that `unpack` returned."""
    names, notes = column_names(table.column_names)
    if left_out:
        shown = ", ".join(quoted(name) for name in left_out[:5])
        others = f" and {len(left_out) - 5:,} more columns" if len(left_out) > 5 else ""
        notes.append(f"Left out, being neither numbers, texts nor dates: {shown}{others}.")
    frame = table.rename_columns(names).to_pandas()
    frame.index = pd.RangeIndex(1, len(frame) + 1)
    return Reading(finish(frame, limits, notes), "parquet", tuple(notes))


def _unpack(source: Any, limits: Limits) -> tuple[Any, list[str]]:
    schema = pq.read_schema(source)
    if len(set(schema.names)) < len(schema.names):
        raise UploadError("The Parquet file has two columns of one name; rename one of them.")
    flat = [field.name for field in schema if _is_flat(field.type)]
    if not flat:
        raise UploadError("The Parquet file has no column of numbers or texts; add one.")
    limits.check_columns(len(flat))
    source.seek(0)
    footer = pq.read_metadata(source)
    limits.check_cells(footer.num_rows * len(flat))
    columns = [column for column in _stored(footer) if column.path_in_schema in flat]
    _check_unpacked(sum(column.total_uncompressed_size for column in columns), limits)
    coded = {c.path_in_schema for c in columns if _DICTIONARY.intersection(c.encodings)}
    coded &= {field.name for field in schema if _is_text(field.type)}
    source.seek(0)
    file = pq.ParquetFile(source, read_dictionary=coded, arrow_extensions_enabled=False)

    chunks: dict[str, list[Any]] = {name: [] for name in flat}
    rows = unpacked = 0
    for batch in file.iter_batches(_BATCH, columns=flat, use_threads=False):
        rows += batch.num_rows
        limits.check_cells(rows * len(flat))
        for name in flat:
            column = batch.column(name)
            # A dictionary may hold one long text that a million rows point to, so the decoded
            # size is added up before anything is decoded.
            if types.is_dictionary(column.type) and _is_text(column.type):
                lengths = pc.binary_length(column.dictionary)
                unpacked += pc.sum(pc.take(lengths, column.indices)).as_py() or 0
            else:
                unpacked += column.nbytes
            _check_unpacked(unpacked, limits)
            chunks[name].append(_simple(column))
    if not rows:
        return pa.table({name: pa.array([], pa.large_string()) for name in flat}), []
    table = pa.table({name: pa.chunked_array(parts) for name, parts in chunks.items()})
    return table, [name for name in schema.names if name not in chunks]


def _stored(footer: Any) -> Iterator[Any]:
    """What the footer says of each column of each row group."""
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        yield from (group.column(place) for place in range(footer.num_columns))


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
