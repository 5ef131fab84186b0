"""Part 8 of a page, "Your data": template, sample, upload, choice of columns, and the checks.

The table that a visitor brings stays in that visitor's session state, never in a cache that
others share. It outlives a change of page, and is parsed once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy.typing as npt
import pandas as pd
import streamlit as st

from ui.report import csv_bytes
from ui.tables import EXTENSIONS, Limits, Numbers, Table, UploadError, numbers, read_table, texts


@dataclass(frozen=True)
class Column:
    """A column that a page can use.

    Attributes
    ----------
    role
        Its name in the page's code, and the key in `Mapped`.
    label, help
        What the visitor reads at the select box.
    required
        Whether nothing can be computed without it.
    guesses
        Names under which it is looked for in the file, best first; the role comes before them.
    kind
        "number" for `Mapped.values`, "text" for `Mapped.texts`.
    blank_ok
        Let blank cells pass, as NaN or "", for the page to interpret.
    infinite_ok
        Let infinite numbers pass, for the page to drop and count.
    """

    role: str
    label: str
    help: str
    required: bool
    guesses: tuple[str, ...]
    kind: Literal["number", "text"]
    blank_ok: bool = False
    infinite_ok: bool = False


@dataclass(frozen=True)
class Mapped:
    """A visitor's table with its columns assigned; optional columns not chosen are absent.

    Attributes
    ----------
    values
        Number columns by role, each of shape (rows,).
    texts
        Text columns by role, each of shape (rows,), dtype object.
    table
        The table itself; its index holds the row numbers to name in messages.
    """

    values: dict[str, Numbers]
    texts: dict[str, npt.NDArray[Any]]
    table: Table


def guess_columns(columns: Sequence[Column], names: Sequence[str]) -> dict[str, str | None]:
    """For each role the column of that name, if any; no column is proposed twice."""
    chosen: dict[str, str | None] = {}
    for column in columns:
        wanted = [_bare(guess) for guess in (column.role, *column.guesses)]
        free = {_bare(name): name for name in reversed(names) if name not in chosen.values()}
        chosen[column.role] = next((free[guess] for guess in wanted if guess in free), None)
    return chosen


def assign(
    table: Table,
    columns: Sequence[Column],
    chosen: Mapping[str, str | None],
    *,
    clean: bool = False,
) -> Mapped:
    """Convert the chosen columns.

    Raises
    ------
    UploadError
        If a required column is not chosen, one column is chosen twice, or a cell cannot be used.
    """
    roles: dict[str, Column] = {}
    for column in columns:
        name = chosen.get(column.role)
        if name is None:
            if column.required:
                raise UploadError(
                    f'No column is chosen for "{column.label}"; the file has '
                    f"{', '.join(table.frame.columns[:8])}."
                )
        elif name in roles:
            raise UploadError(
                f'Column "{name}" is chosen both for "{roles[name].label}" and for '
                f'"{column.label}"; choose another column for one of them.'
            )
        else:
            roles[name] = column
    return Mapped(
        {
            column.role: numbers(
                table.frame,
                name,
                clean=clean,
                blank_ok=column.blank_ok,
                infinite_ok=column.infinite_ok,
                decimal=table.decimal,
            )
            for name, column in roles.items()
            if column.kind == "number"
        },
        {
            column.role: texts(table.frame, name, blank_ok=column.blank_ok)
            for name, column in roles.items()
            if column.kind == "text"
        },
        table,
    )


def upload_table(
    slug: str,
    columns: tuple[Column, ...],
    *,
    template: pd.DataFrame,
    sample: tuple[str, bytes] | None = None,
) -> Mapped | None:
    """Draw the upload; return the visitor's columns, or None while there are none to use.

    Parameters
    ----------
    slug
        The page's slug, with which every key begins.
    columns
        What the page can use; roles are unique.
    template
        A few rows that show the expected columns.
    sample
        File name and bytes of a data set to try.
    """
    limits = Limits.from_env()
    with st.container(horizontal=True):
        st.download_button(
            "Template",
            csv_bytes(template),
            f"{slug}_template.csv",
            "text/csv",
            key=f"{slug}_upload_template",
            icon=":material/download:",
            on_click="ignore",
        )
        if sample is not None:
            st.download_button(
                "Sample",
                sample[1],
                sample[0],
                key=f"{slug}_upload_sample",
                icon=":material/download:",
                on_click="ignore",
            )
            st.button(
                "Try the sample",
                key=f"{slug}_upload_try",
                icon=":material/play_arrow:",
                on_click=_take,
                args=(slug, columns, *sample),
            )
    st.file_uploader(
        "Your table",
        type=list(EXTENSIONS),
        key=f"{slug}_upload",
        max_upload_size=limits.megabytes,
        on_change=_take_uploaded,
        args=(slug, columns),
    )
    st.caption(
        "CSV, TSV, text with semicolons and decimal commas, Parquet, JSON lines or XLSX; at most "
        f"{limits.size} and {limits.max_cells:,} cells (XLSX: {limits.max_sheet_cells:,}). The "
        "table stays in the memory of this session and is gone when the session ends."
    )
    if error := st.session_state.get(f"{slug}_upload_error"):
        st.error(plain(error))
    table: Table | None = st.session_state.get(f"{slug}_upload_table")
    if table is None:
        return None
    _describe(slug, table, columns)
    return _mapped(slug, table, columns)


def plain(text: str) -> str:
    """Text that Streamlit's Markdown shows as it is, whatever a visitor's file holds."""
    return re.sub(r"([\\`*_\[\]$~]|:(?=[A-Za-z]))", r"\\\1", text)


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _take_uploaded(slug: str, columns: tuple[Column, ...]) -> None:
    file = st.session_state[f"{slug}_upload"]
    if file is None:
        _forget(slug, columns)
    else:
        _take(slug, columns, file.name, file.getvalue())


def _take(slug: str, columns: tuple[Column, ...], name: str, data: bytes) -> None:
    _forget(slug, columns)
    try:
        table = read_table(data, name)
    except UploadError as error:
        st.session_state[f"{slug}_upload_error"] = str(error)
        return
    st.session_state[f"{slug}_upload_table"] = table
    st.session_state[f"{slug}_upload_chosen"] = guess_columns(columns, list(table.frame.columns))


def _forget(slug: str, columns: tuple[Column, ...]) -> None:
    parts = ("table", "error", "chosen", "results", "clean", "cleaning")
    for name in (*(f"upload_{part}" for part in parts), *(f"map_{c.role}" for c in columns)):
        st.session_state.pop(f"{slug}_{name}", None)


def _describe(slug: str, table: Table, columns: tuple[Column, ...]) -> None:
    rows, width = table.frame.shape
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"In use: **{plain(table.name)}**, {rows:,} rows and {width:,} columns.")
        st.button(
            "Remove the table",
            key=f"{slug}_upload_remove",
            type="tertiary",
            icon=":material/close:",
            on_click=_forget,
            args=(slug, columns),
        )
    for note in table.notes:
        st.caption(plain(note))
    with st.expander("First rows"):
        st.dataframe(
            table.frame.head(8), key=f"{slug}_upload_head", alt="First rows of the table in use"
        )


def _mapped(slug: str, table: Table, columns: tuple[Column, ...]) -> Mapped | None:
    # What the visitor chose is kept beside the widgets, whose own state ends with the page.
    chosen: dict[str, str | None] = st.session_state[f"{slug}_upload_chosen"]
    for slot, column in zip(st.columns(len(columns)), columns, strict=True):
        key = f"{slug}_map_{column.role}"
        if key not in st.session_state:
            st.session_state[key] = chosen[column.role]
        chosen[column.role] = slot.selectbox(
            column.label if column.required else f"{column.label} (optional)",
            list(table.frame.columns),
            index=None,
            key=key,
            help=column.help,
            placeholder="Choose a column" if column.required else "None",
        )
    result = _result(slug, table, columns, chosen, clean=False)
    if isinstance(result, UploadError) and result.cleanable:
        clean = st.toggle(
            "Clean numbers like 1,234 or 12 %",
            st.session_state.get(f"{slug}_upload_cleaning", False),
            key=f"{slug}_upload_clean",
            help="Reads 1,234 and 1 234 as one thousand two hundred and thirty-four, 12 % as 0.12, "
            "€5 as 5, a decimal comma where the column leaves no doubt, and n/a as blank.",
        )
        st.session_state[f"{slug}_upload_cleaning"] = clean
        if clean:
            result = _result(slug, table, columns, chosen, clean=True)
    if isinstance(result, UploadError):
        st.error(plain(str(result)))
        return None
    for role, column_numbers in result.values.items():
        counts = {"cleaned": column_numbers.cleaned, "blank": column_numbers.blank}
        told = [
            f"{count:,} cell{'s' if count > 1 else ''} {what}"
            for what, count in counts.items()
            if count
        ]
        if told:
            st.caption(plain(f'Column "{chosen[role]}": {", ".join(told)}.'))
    return result


def _result(
    slug: str,
    table: Table,
    columns: tuple[Column, ...],
    chosen: Mapping[str, str | None],
    *,
    clean: bool,
) -> Mapped | UploadError:
    """The assigned columns or what is wrong with them, computed once for a choice of columns."""
    choice = tuple(chosen.items())
    made_for, results = st.session_state.get(f"{slug}_upload_results", (None, {}))
    if made_for != choice:
        results = {}
        st.session_state[f"{slug}_upload_results"] = (choice, results)
    if clean not in results:
        try:
            results[clean] = assign(table, columns, chosen, clean=clean)
        except UploadError as error:
            results[clean] = UploadError(str(error), cleanable=error.cleanable)
    found: Mapped | UploadError = results[clean]
    return found
