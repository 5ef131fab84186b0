"""Export votes as CSV, JSON Lines or JSON, in the layouts that ``importers`` reads back.

A cell that a spreadsheet would take for a formula is prefixed with an apostrophe.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from typing import Any, Literal

from models.arena.votelog import A_WON, B_WON, BOTH_BAD, TIE, VoteLog
from models.checks import check_choice

Layout = Literal["lmarena", "copilot"]
_WINNERS = {A_WON: "model_a", B_WON: "model_b", TIE: "tie", BOTH_BAD: "both_bad"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(text: str) -> str:
    """Return the text so that no spreadsheet runs it.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("gpt-4o")
    ("'=1+1", 'gpt-4o')
    """
    return "'" + text if text.startswith(_FORMULA) else text


def to_csv(log: VoteLog, layout: Layout = "lmarena") -> Iterator[str]:
    r"""Yield the lines of a CSV file, each with its \r\n.

    Raises
    ------
    ValueError
        If the layout is unknown, or is Copilot Arena's although there are ties.
    """
    _check(log, layout)
    names = ["model_a", "model_b", "acceptedIndex" if layout == "copilot" else "winner"]
    names += ["userId" if layout == "copilot" else "judge", "language"]
    names.append("timestamp" if layout == "copilot" else "tstamp")
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(names)
    for a, b, outcome, voter, group, seconds in _rows(log):
        said = _accepted(outcome) if layout == "copilot" else _WINNERS[outcome]
        when = "" if math.isnan(seconds) else seconds
        writer.writerow([safe_cell(a), safe_cell(b), said, voter, safe_cell(group), when])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    if buffer.tell():
        yield buffer.getvalue()


def to_jsonl(log: VoteLog, layout: Layout = "lmarena") -> Iterator[str]:
    r"""Yield one JSON object a line, each with its \n; raises as :func:`to_csv`."""
    _check(log, layout)
    for a, b, outcome, voter, group, seconds in _rows(log):
        record: dict[str, Any]
        if layout == "copilot":
            record = {
                "acceptedIndex": _accepted(outcome),
                "completionItems": [{"model": a}, {"model": b}],
            }
            known = {"userId": voter, "fileType": group, "timestamp": seconds}
        else:
            record = {"model_a": a, "model_b": b, "winner": _WINNERS[outcome]}
            known = {"judge": voter, "language": group, "tstamp": seconds}
        record |= {
            name: value
            for name, value in known.items()
            if value != "" and not (isinstance(value, float) and math.isnan(value))
        }
        yield json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def to_json(log: VoteLog, layout: Layout = "lmarena") -> Iterator[str]:
    """Yield the pieces of one JSON array; raises as :func:`to_csv`."""
    opening = "[\n"
    for line in to_jsonl(log, layout):
        yield opening + line.rstrip("\n")
        opening = ",\n"
    yield "\n]\n" if opening == ",\n" else "[]\n"


def _check(log: VoteLog, layout: str) -> None:
    check_choice(layout, Layout, "layout")
    ties = int(((log.outcome == TIE) | (log.outcome == BOTH_BAD)).sum())
    if layout == "copilot" and ties:
        raise ValueError(
            f"{ties:,} votes are ties, which Copilot Arena's layout cannot say: choose LMArena's."
        )


def _accepted(outcome: int) -> int:
    return 0 if outcome == A_WON else 1


def _rows(log: VoteLog) -> Iterator[tuple[str, str, int, str, str, float]]:
    columns = (log.a, log.b, log.outcome, log.voter, log.group, log.seconds)
    for start in range(0, log.n, 10_000):
        part = [column[start : start + 10_000].tolist() for column in columns]
        for a, b, outcome, voter, group, seconds in zip(*part, strict=True):
            yield (
                log.models[a],
                log.models[b],
                outcome,
                f"voter {voter + 1}" if voter >= 0 else "",
                log.groups[group] if group >= 0 else "",
                seconds,
            )
