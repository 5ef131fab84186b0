"""One column of a visitor's table as float64: strict by default, forgiving on request.

Strict means that a cell must be a plain number such as ``-1.5e3``. With ``clean=True`` the
thousands separators, decimal commas, percent signs and currency symbols that people type are
understood too, as long as the whole column can be read in one way only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ui.tables.limits import UploadError, quoted

# Keyed by the decimal mark. A group of three digits never follows a leading zero: 0,123 is 0.123.
_PLAIN = {
    ".": r"^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$",
    ",": r"^[-+]?(\d+(,\d*)?|,\d+)([eE][-+]?\d+)?$",
}
# Spaces of three widths and two apostrophes group digits in either style.
_SPACE = r"\s\x{a0}\x{202f}"
_GROUP_MARKS = {".": rf"[,{_SPACE}'\x{{2019}}]", ",": rf"[.{_SPACE}'\x{{2019}}]"}
_GROUPED = {
    mark: rf"^[-+]?[1-9]\d{{0,2}}({_GROUP_MARKS[mark]}\d{{3}})+([{mark}]\d*)?$" for mark in ".,"
}
_PERCENT = r"[%\x{ff05}]$"
_INFINITE = r"(?i)^[-+]?inf(inity)?$"
_NAN = r"(?i)^[-+]?nan$"
_MISSING = r"(?i)^(#?n/?a|null|none|missing|[-\x{2013}\x{2014}?.]+)$"


@dataclass(frozen=True)
class Numbers:
    """A column as numbers.

    Attributes
    ----------
    values
        float64, shape (rows,); NaN where the cell was blank.
    cleaned
        Cells that only cleaning could read.
    blank
        Cells without a number (blank, or the text "nan").
    """

    values: npt.NDArray[np.float64]
    cleaned: int = 0
    blank: int = 0


def numbers(
    frame: pd.DataFrame,
    column: str,
    *,
    clean: bool = False,
    blank_ok: bool = False,
    infinite_ok: bool = False,
    decimal: str = ".",
) -> Numbers:
    """Convert one column to float64.

    Parameters
    ----------
    frame
        A table whose index holds the row numbers that a person sees in the file.
    column
        Its name; text, number and boolean columns are accepted.
    clean
        Also read ``1,234``, ``1.234,5``, ``12 %`` (as 0.12) and ``€5``; ``n/a`` counts as blank.
    blank_ok
        Give NaN for a blank cell or for the text "nan" instead of refusing it.
    infinite_ok
        Let ``inf`` and numbers beyond float64 pass as infinities.
    decimal
        The decimal mark of the file, "." or ",", as `Table.decimal` has it.

    Raises
    ------
    UploadError
        Naming the first cell and row that cannot be used, and how many more there are.
    """
    if column not in frame.columns:
        known = ", ".join(quoted(name) for name in list(frame.columns)[:8])
        raise UploadError(f"There is no column {quoted(column)}; the file has {known}.")
    series = frame[column]
    if pd.api.types.is_numeric_dtype(series.dtype):
        values, cleaned = series.to_numpy(dtype=np.float64, na_value=np.nan), 0
    else:
        values, cleaned, bad = _parse(_arrow(series), decimal, clean=clean)
        if bad.any():
            if clean:
                raise UploadError(
                    f"{_where(series, bad)}, which cannot be read as a number together with "
                    "the other cells; correct the cell or choose another column."
                )
            # Where not even cleaning helps, this names the cell that stands in the way.
            numbers(
                frame,
                column,
                clean=True,
                blank_ok=blank_ok,
                infinite_ok=infinite_ok,
                decimal=decimal,
            )
            raise UploadError(
                f"{_where(series, bad)}, which is not a plain number; switch on cleaning to read "
                "such cells, or correct the file.",
                cleanable=True,
            )
    blank = np.isnan(values)
    if not blank_ok and blank.any():
        raise UploadError(
            f"{_where(series, blank)}, but every row needs a number here; "
            "fill in the cell or remove the row."
        )
    infinite = np.isinf(values)
    if not infinite_ok and infinite.any():
        raise UploadError(
            f"{_where(series, infinite)}, but only finite numbers can be used; "
            "correct the cell or remove the row."
        )
    return Numbers(values, cleaned, int(np.count_nonzero(blank)))


def _parse(
    cells: Any, decimal: str, *, clean: bool
) -> tuple[npt.NDArray[np.float64], int, npt.NDArray[np.bool_]]:
    """Numbers of text cells (NaN where blank), how many needed cleaning, which are unreadable."""
    cells = pc.utf8_trim_whitespace(cells)
    tokens = _undecorate(cells) if clean else cells
    blank = pc.or_(pc.equal(tokens, ""), _match(tokens, _NAN))
    if clean:
        blank = pc.or_(blank, _match(tokens, _MISSING))
    infinite = _match(tokens, _INFINITE)
    free = pc.or_(blank, infinite)
    mark = _decimal_mark(tokens, free, decimal, clean=clean)
    good = _readable(tokens, mark, clean=clean)
    bad = _mask(pc.invert(pc.or_(good, free)))
    if clean:
        tokens = pc.replace_substring_regex(tokens, _GROUP_MARKS[mark], "")
    if mark == ",":
        tokens = pc.replace_substring(tokens, ",", ".")
    values = pc.cast(pc.if_else(good, tokens, None), pa.float64()).to_numpy(zero_copy_only=False)
    if pc.any(infinite).as_py():
        negative = _mask(pc.starts_with(tokens, "-"))
        values = np.where(_mask(infinite), np.where(negative, -np.inf, np.inf), values)
    if not clean:
        return values, 0, bad
    values = np.where(_mask(_match(cells, _PERCENT)), values / 100.0, values)
    strict = _decimal_mark(cells, free, decimal, clean=False)
    plain = pc.or_(_match(cells, _PLAIN[strict]), _match(cells, _INFINITE))
    plain = pc.or_(plain, pc.or_(pc.equal(cells, ""), _match(cells, _NAN)))
    return values, int(np.count_nonzero(~_mask(plain))), bad


def _readable(tokens: Any, mark: str, *, clean: bool) -> Any:
    plain = _match(tokens, _PLAIN[mark])
    return pc.or_(plain, _match(tokens, _GROUPED[mark])) if clean else plain


def _decimal_mark(tokens: Any, free: Any, decimal: str, *, clean: bool) -> str:
    """The mark by which the column is read; the file's own unless the column speaks against it."""
    other = "," if decimal == "." else "."
    if not clean:
        if decimal == "." or pc.any(pc.match_substring(tokens, ",")).as_py():
            return decimal
        # No comma in the column. 1.234 may be a thousand and more in such a file; 1.5 cannot.
        dotted = pc.match_substring(tokens, ".")
        grouped = pc.or_(pc.invert(dotted), _match(tokens, _GROUPED[","]))
        return "," if pc.all(pc.or_(grouped, free)).as_py() else "."
    if pc.all(pc.or_(_readable(tokens, decimal, clean=True), free)).as_py():
        return decimal
    fits = pc.all(pc.or_(_readable(tokens, other, clean=True), free)).as_py()
    # A cell such as 1.234 that is plain by the file's mark must not change its meaning because
    # another cell holds 1,5: that column is a mixture, and is refused.
    changed = pc.and_(_match(tokens, _PLAIN[decimal]), pc.match_substring(tokens, decimal))
    return other if fits and not pc.any(changed).as_py() else decimal


def _undecorate(cells: Any) -> Any:
    """Cells without currency symbols and percent signs, and with a typewriter's minus sign."""
    cells = pc.replace_substring(cells, "\N{MINUS SIGN}", "-")
    cells = pc.replace_substring_regex(cells, rf"[{_SPACE}]*{_PERCENT}", "")
    cells = pc.replace_substring_regex(cells, rf"^([-+]?)[{_SPACE}]*\p{{Sc}}[{_SPACE}]*", r"\1")
    return pc.replace_substring_regex(cells, rf"[{_SPACE}]*\p{{Sc}}$", "")


def _where(series: pd.Series, mask: npt.NDArray[np.bool_]) -> str:
    """``Column "x" holds "1,234" in row 7 (and 3 more such cells)``."""
    first = int(np.argmax(mask))
    value = series.iloc[first]
    text = "" if pd.isna(value) else str(value).strip()
    more = int(np.count_nonzero(mask)) - 1
    others = f" (and {more:,} more such cell{'s' if more > 1 else ''})" if more else ""
    holds = f"holds {quoted(text)}" if text else "is blank"
    return f"Column {quoted(series.name)} {holds} in row {series.index[first]:,}{others}"


def _arrow(series: pd.Series) -> Any:
    cells = pa.array(series.astype("str"), type=pa.large_string())
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    return pc.fill_null(cells, "")


def _match(cells: Any, pattern: str) -> Any:
    return pc.match_substring_regex(cells, pattern)


def _mask(booleans: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(booleans.to_numpy(zero_copy_only=False), dtype=np.bool_)
