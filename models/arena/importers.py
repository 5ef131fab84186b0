"""Import logs of votes: CSV, JSON Lines and JSON, plain or gzipped, in bounded memory.

Three layouts are recognised by their fields:

- Copilot Arena's examples: ``model_a, model_b, acceptedIndex`` (0 is the top one), code columns
  ignored;
- Copilot Arena's outcomes: ``completionItems`` (two, each with ``model``) and ``acceptedIndex``;
- LMArena's preferences: ``model_a, model_b, winner`` (model_a, model_b, tie, both_bad, or "tie
  (bothbad)").

Optional: who voted (``userId``, ``judge``), when (``timestamp``, ``tstamp``), on what
(``language``, ``fileType``), and an identifier that may occur once (``pairId`` for each voter,
``question_id``).
Broken records are left out and named; the whole ones are kept.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

from models.arena import streams
from models.arena.fields import (
    GROUPS,
    PAIR,
    QUESTION,
    TIMES,
    VOTERS,
    accepted,
    as_text,
    first_text,
    seconds,
    two_models,
    winner,
)
from models.arena.table_import import read_csv
from models.arena.votelog import Collector, TooManyModels, VoteLog


def read_votes(source: IO[bytes] | bytes, *, most_bytes: int = streams.MOST_BYTES) -> VoteLog:
    """Read a log of votes, whatever its layout.

    Parameters
    ----------
    source : a binary stream or its bytes
    most_bytes : bound on the size, before and after unpacking

    Raises
    ------
    ValueError
        In one sentence, if the file as a whole cannot be used: empty, too large, not text, without
        the columns needed, broken JSON, or without a single whole vote.
    """
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    collector = Collector()
    with streams.readable_errors():
        text = streams.open_text(stream, most_bytes)
        start = _first_sign(text)
    try:
        if start == "[":
            _read_objects(_array(streams.chunks(text)), collector)
        elif start == "{":
            _read_objects(_json_lines(streams.lines(text), collector), collector)
        else:
            read_csv(streams.lines(text), collector)
    except TooManyModels as error:
        raise ValueError(str(error)) from None
    return collector.log()


def _first_sign(text: io.TextIOWrapper) -> str:
    """Return the first sign that is not blank, and leave the stream at the start."""
    buffer: Any = text.buffer
    head = buffer.peek(4096)[:4096].decode("utf-8-sig", errors="ignore").lstrip()
    return str(head[:1])


def _json_lines(lines: Iterator[str], collector: Collector) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            collector.records += 1
            collector.skip(number, "is not JSON")


def _array(pieces: Iterator[str]) -> Iterator[tuple[int, Any]]:
    """Yield the records of one JSON array, decoded one at a time, each with its line."""
    decoder, buffer, at, line = json.JSONDecoder(), "", 0, 1
    number, opened = 0, False
    for piece in pieces:
        buffer = buffer[at:] + piece
        at = 0
        if len(buffer) > streams.MOST_CHARACTERS:
            raise ValueError(
                f"Record {number + 1} is longer than {streams.MOST_CHARACTERS:,} characters, or "
                "is broken."
            )
        while True:
            skipped = at
            while at < len(buffer) and (buffer[at] in " \t\r\n," or not opened):
                opened = opened or buffer[at] == "["
                at += 1
            line += buffer.count("\n", skipped, at)
            if at == len(buffer):
                break
            if buffer[at] == "]":
                return
            if buffer[at] != "{":
                raise ValueError(f"Record {number + 1} of the JSON array is not an object.")
            try:
                record, end = decoder.raw_decode(buffer, at)
            except (ValueError, RecursionError):
                break  # cut by the piece's end, or broken; the next piece will tell
            number += 1
            yield line, record
            line += buffer.count("\n", at, end)
            at = end
    raise ValueError(
        f"Record {number + 1} of the JSON array is broken or cut short (line {line}): check it "
        "for a missing quotation mark, brace or bracket."
    )


def _read_objects(records: Iterable[tuple[int, Any]], collector: Collector) -> None:
    for line, record in records:
        collector.records += 1
        if not isinstance(record, dict):
            collector.skip(line, "is not an object")
            continue
        fields = {str(name).casefold(): value for name, value in record.items()}
        try:
            model_a, model_b = two_models(fields)
            if "acceptedindex" in fields:
                outcome = accepted(as_text(fields["acceptedindex"]))
            else:
                outcome = winner(as_text(fields.get("winner")))
        except ValueError as error:
            collector.skip(line, str(error))
            continue
        voter = first_text(fields, VOTERS)
        pair = as_text(fields.get(PAIR))
        collector.add(
            line,
            model_a,
            model_b,
            outcome,
            voter,
            first_text(fields, GROUPS)[:100],
            seconds(first_text(fields, TIMES)),
            f"{pair}\0{voter}" if pair else as_text(fields.get(QUESTION)),
        )
