"""CSV logs of votes: any usual delimiter, fields over several lines, broken records named."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping

from models.arena import streams
from models.arena.fields import GROUPS, PAIR, QUESTION, TIMES, VOTERS, accepted, seconds, winner
from models.arena.votelog import Collector

_DELIMITERS = ",;\t|"


def read_csv(lines: Iterator[str], collector: Collector) -> None:
    """Read a table with a header into the collector.

    Raises
    ------
    ValueError
        If the columns needed are missing, or a record does not end.
    """
    header, delimiter = _header(next(lines, ""))
    place = {name: i for i, name in reversed(list(enumerate(header)))}
    a, b = place["model_a"], place["model_b"]
    by_winner = "acceptedindex" not in place
    outcome_at = place["winner" if by_winner else "acceptedindex"]
    outcome_of = winner if by_winner else accepted
    voter_at, time_at, group_at = (_present(place, names) for names in (VOTERS, TIMES, GROUPS))
    pair_at, question_at = place.get(PAIR), place.get(QUESTION)
    known: dict[str, int] = {}
    # Python's own bound is 128 kB, less than some files of code; a longer record is an error below.
    csv.field_size_limit(max(csv.field_size_limit(), streams.MOST_CHARACTERS))
    reader = csv.reader(lines, delimiter=delimiter)
    cut: tuple[int, int] | None = None  # line and fields of a record that may go on in the next
    begins = 2
    try:
        for row in reader:
            line, begins = begins, reader.line_num + 2
            if not row:
                continue
            if cut is not None:
                _report_cut(collector, *cut, len(header), continued=not row[0].strip())
                cut = None
            collector.records += 1
            if len(row) < len(header):
                cut = (line, len(row))
                continue
            if len(row) > len(header) and any(field.strip() for field in row[len(header) :]):
                reason = f"has {len(row)} fields instead of {len(header)}"
                collector.skip(line, reason, "another number of fields")
                continue
            said = row[outcome_at]
            outcome = known.get(said)
            if outcome is None:
                try:
                    outcome = outcome_of(said)
                except ValueError as error:
                    collector.skip(line, str(error), "no readable outcome")
                    continue
                if len(known) < 1000:
                    known[said] = outcome
            voter = row[voter_at].strip() if voter_at is not None else ""
            key = ""
            if pair_at is not None and row[pair_at]:
                key = f"{row[pair_at]}\0{voter}"
            elif question_at is not None:
                key = row[question_at]
            collector.add(
                line,
                row[a],
                row[b],
                outcome,
                voter,
                row[group_at].strip()[:100] if group_at is not None else "",
                seconds(row[time_at]) if time_at is not None else math.nan,
                key,
            )
    except csv.Error:
        raise ValueError(
            f"The record that begins in line {begins} is longer than "
            f"{streams.MOST_CHARACTERS:,} characters: a quotation mark may be missing."
        ) from None
    if cut is not None:
        _report_cut(collector, *cut, len(header), continued=False)


def _report_cut(
    collector: Collector, line: int, fields: int, wanted: int, *, continued: bool
) -> None:
    reason = f"has {fields} field{'s' * (fields != 1)} instead of {wanted}"
    if continued:
        reason += "; its rest seems to stand in the next record, which has an empty first field"
    collector.skip(line, reason, "another number of fields")


def _header(line: str) -> tuple[list[str], str]:
    """Column names in lower case, and the delimiter that makes sense of them."""
    for delimiter in _DELIMITERS:
        names = [name.strip().casefold() for name in next(csv.reader([line], delimiter=delimiter))]
        if {"model_a", "model_b"} <= set(names) and {"acceptedindex", "winner"} & set(names):
            return names, delimiter
    shown = ", ".join(name[:40] for name in line.strip().split(",")[:8])
    raise ValueError(
        "The first line must name the columns model_a, model_b and either acceptedIndex or winner, "
        f"but holds: {shown[:200]}."
    )


def _present(place: Mapping[str, int], names: Iterable[str]) -> int | None:
    return next((place[name] for name in names if name in place), None)
