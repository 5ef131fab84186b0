"""Timing in pairs, and the table that a bench prints."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line: the work, our figure, the peer's or the budget, and what follows.

    Attributes
    ----------
    equal : whether the values agree within the peer's resolution; None where there is no peer
    """

    work: str
    ours: str
    other: str
    outcome: str
    equal: bool | None = None


@dataclass(frozen=True)
class Pair:
    """CPU seconds of two ways of doing the same, run in turns."""

    ours: list[float]
    theirs: list[float]

    @property
    def ratio(self) -> str:
        """How many times faster ours is: median of the pairs, with their spread."""
        ratios = [b / a for a, b in zip(self.ours, self.theirs, strict=True)]
        return f"{statistics.median(ratios):.0f}× ({min(ratios):.0f} to {max(ratios):.0f})"


def in_turns(ours: Callable[[], object], theirs: Callable[[], object], repeats: int) -> Pair:
    """Time both by turns, after one warm-up of ours, in CPU seconds of this process."""
    ours()
    pair = Pair([], [])
    for _ in range(repeats):
        pair.ours.append(cpu(ours))
        pair.theirs.append(cpu(theirs))
    return pair


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def seconds(values: Sequence[float]) -> str:
    """Median with spread, in a unit that reads well."""
    middle = statistics.median(values)
    unit, scale = ("s", 1.0) if middle >= 1 else ("ms", 1000.0)
    low, high = scale * min(values), scale * max(values)
    return f"{scale * middle:.3g} {unit} ({low:.3g} to {high:.3g})"


def budget(work: str, figure: float, limit: float, unit: str) -> Row:
    """A row that says whether a budget is met."""
    met = "met" if figure < limit else "NOT MET"
    return Row(work, f"{figure:.3g} {unit}", f"budget {limit:g} {unit}", met)


def show(rows: Sequence[Row]) -> str:
    """Lay the rows out as one table in Markdown."""
    lines = ["| work | ours | peer or budget | outcome | values equal |", "|---|---|---|---|---|"]
    for row in rows:
        equal = "" if row.equal is None else ("yes" if row.equal else "NO")
        lines.append(f"| {row.work} | {row.ours} | {row.other} | {row.outcome} | {equal} |")
    return "\n".join(lines)
