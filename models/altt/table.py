"""A visitor's CSV of losses: every fault has a sentence that names the line, the column, the value.

*Wide*: one column a candidate, one row a sample, names in the first line; a column may end early.
*Long*: columns ``candidate`` and ``loss``, optionally ``round`` or ``order``; else the file's order
counts. A candidate's k-th test uses its k-th loss. No row is dropped in silence: leaving out losses
would break the promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.altt.cells import Cells, is_number, numbers, parse, unit
from models.altt.config import MOST_CANDIDATES

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]

_CANDIDATE, _LOSS, _ORDER = "candidate", "loss", ("round", "order")


@dataclass(frozen=True)
class LossTable:
    """Validated losses.

    Attributes
    ----------
    names : one a candidate, all different
    losses : one array a candidate, float64 in [0, 1], shape (n_i,), in order of use
    notes : sentences that the visitor should read before the run
    """

    names: tuple[str, ...]
    losses: tuple[Float, ...]
    notes: tuple[str, ...] = ()

    @property
    def available(self) -> tuple[int, ...]:
        """The number of losses of each candidate."""
        return tuple(len(column) for column in self.losses)

    def source(self) -> TableSource:
        """Return the losses as a ``Source`` that starts at the top."""
        return TableSource(self)


class TableSource:
    """The losses of a table, each used once; a candidate without any left leaves the race."""

    def __init__(self, table: LossTable) -> None:
        self._table = table
        self._available = np.asarray(table.available)
        self._used = np.zeros(len(table.names), dtype=np.int64)

    def usable(self) -> Bool | None:
        """Return which candidates have losses left, shape (N,)."""
        return np.asarray(self._used < self._available, dtype=np.bool_)

    def draw(self, candidates: Index) -> Float:
        """Return the next loss of each candidate, shape (K, 1)."""
        losses = [[self._table.losses[i][self._used[i]]] for i in candidates]
        self._used[candidates] += 1
        return np.asarray(losses, dtype=np.float64)


def read_losses(
    data: bytes | str,
    *,
    form: str = "auto",
    rewards: bool = False,
    bounds: tuple[float, float] | None = None,
) -> LossTable:
    """Read a CSV of losses.

    Parameters
    ----------
    data : the file; comma, semicolon or tab separated, decimal point or comma, with or without BOM
    form : "wide", "long", or "auto": long if there are columns candidate and loss
    rewards : the values are rewards; the loss is one minus the (scaled) value
    bounds : the smallest and largest value *possible*, mapped to 0 and 1; never the sample's own

    Raises
    ------
    ValueError
        One sentence for the first fault found.
    """
    if form not in ("auto", "wide", "long"):
        raise ValueError(f"The form is {form!r}, but must be auto, wide or long.")
    if bounds is not None and not (np.isfinite(bounds).all() and bounds[0] < bounds[1]):
        raise ValueError(
            f"The bounds are {bounds[0]:g} and {bounds[1]:g}, but the first must be smaller, and "
            "both finite."
        )
    cells = parse(data)
    lower = [name.lower() for name in cells.header]
    is_long = _CANDIDATE in lower and _LOSS in lower
    if form == "long" and not is_long:
        raise ValueError(
            f"The long form needs the columns candidate and loss, but the file has "
            f"{', '.join(cells.header)}."
        )
    if form == "long" or (form == "auto" and is_long):
        return _long(cells, lower, rewards, bounds)
    return _wide(cells, rewards, bounds)


def _wide(cells: Cells, rewards: bool, bounds: tuple[float, float] | None) -> LossTable:
    _check_count(len(cells.header))
    losses = []
    for j, name in enumerate(cells.header):
        texts = [row[j].strip() if j < len(row) else "" for row in cells.rows]
        length = len(texts)
        while length and not texts[length - 1]:
            length -= 1
        if "" in texts[:length]:
            raise ValueError(
                f"Line {cells.lines[texts.index('')]} of the file has no value in column {name!r}, "
                "but later lines have one: a column may end early, but may have no holes."
            )
        if not length:
            raise ValueError(f"Column {name!r} has no losses: remove it or fill it.")
        values = numbers(texts[:length], name, cells.lines)
        if length > 2 and (np.diff(values) == 1.0).all():
            raise ValueError(
                f"Column {name!r} counts the rows ({values[0]:g}, {values[1]:g}, {values[2]:g}, "
                "...): remove it."
            )
        losses.append(unit(values, name, cells.lines, rewards, bounds))
    return LossTable(cells.header, tuple(losses), tuple(_notes(cells.header, losses)))


def _long(
    cells: Cells, lower: list[str], rewards: bool, bounds: tuple[float, float] | None
) -> LossTable:
    who, what = lower.index(_CANDIDATE), lower.index(_LOSS)
    order = next((lower.index(name) for name in _ORDER if name in lower), None)
    width = len(cells.header)
    table = [[cell.strip() for cell in row] + [""] * (width - len(row)) for row in cells.rows]
    for row, line in zip(table, cells.lines, strict=True):
        if not row[who]:
            raise ValueError(f"Line {line} of the file names no candidate.")
    filled = [k for k, row in enumerate(table) if row[what]]
    if not filled:
        raise ValueError(f"Column {cells.header[what]!r} has no losses: fill it.")
    lines = [cells.lines[k] for k in filled]
    values = numbers([table[k][what] for k in filled], cells.header[what], lines)
    values = unit(values, cells.header[what], lines, rewards, bounds)
    names = tuple(dict.fromkeys(row[who] for row in table))
    _check_count(len(names))
    number = {name: i for i, name in enumerate(names)}
    candidate = np.asarray([number[table[k][who]] for k in filled], dtype=np.intp)
    if order is not None:
        rounds = numbers([table[k][order] for k in filled], cells.header[order], lines)
        sequence = np.argsort(rounds, kind="stable")
        candidate, values = candidate[sequence], values[sequence]
    by_candidate = values[np.argsort(candidate, kind="stable")]
    ends = np.cumsum(np.bincount(candidate, minlength=len(names)))
    losses = np.split(by_candidate, ends[:-1])
    notes = _notes(names, losses)
    if len(filled) < len(table):
        notes.append(f"{len(table) - len(filled)} lines have no loss and count as not tested.")
    spare = [cells.header[j] for j in range(width) if j not in (who, what, order)]
    if spare:
        notes.append(f"Not used: column {', '.join(spare)}.")
    return LossTable(names, tuple(losses), tuple(notes))


def _check_count(count: int) -> None:
    if count > MOST_CANDIDATES:
        raise ValueError(
            f"The file has {count:,} candidates, but at most {MOST_CANDIDATES:,} are taken: choose "
            "among them before looking at their losses."
        )


def _notes(names: Sequence[str], losses: Sequence[Float]) -> list[str]:
    notes = []
    if all(is_number(name) for name in names):
        notes.append(
            f"The first line is read as names ({', '.join(names[:3])}): if it is a row of losses, "
            "put a line of names above it."
        )
    lengths = sorted({len(column) for column in losses})
    if len(lengths) > 1:
        shortest = min(range(len(names)), key=lambda i: len(losses[i]))
        notes.append(
            f"The candidates have between {lengths[0]} and {lengths[-1]} losses; "
            f"{names[shortest]!r} has the fewest. One that runs out leaves the race."
        )
    constant = [
        name for name, x in zip(names, losses, strict=True) if x.size > 2 and np.ptp(x) == 0
    ]
    if constant:
        notes.append(
            f"All losses are equal for {', '.join(constant[:3])}"
            f"{' and others' if len(constant) > 3 else ''}: check that this is a column of losses."
        )
    return notes
