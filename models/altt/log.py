"""The log of a run: one line a loss, out as CSV or JSON and in again to resume.

Columns: ``round``, ``candidate`` (its name), ``loss`` (``loss_1``, ``loss_2``, ... for several
risks), and for the reader ``bet`` (likewise) and ``log10_wealth`` after the round. Numbers are
written so that reading them returns the same bits.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from models.altt.config import Config
from models.altt.race import Race
from models.betting import Bet


@dataclass(frozen=True)
class Line:
    """One loss, or one a risk, of one candidate, by index."""

    round: int
    candidate: int
    losses: tuple[float, ...]


def header(risks: int) -> list[str]:
    """Return the column names of a log with ``risks`` losses a line."""
    numbers = [""] if risks == 1 else [f"_{j + 1}" for j in range(risks)]
    losses, bets = [f"loss{k}" for k in numbers], [f"bet{k}" for k in numbers]
    return ["round", "candidate", *losses, *bets, "log10_wealth"]


def write_csv(race: Race, names: Sequence[str]) -> str:
    """Return the log as CSV text; lines end in a line feed on every system."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header(race.config.targets.size))
    for entry in race.log:
        numbers = [*entry.losses, *entry.bets, entry.log_wealth / math.log(10.0)]
        writer.writerow([entry.round, names[entry.candidate], *map(repr, numbers)])
    return text.getvalue()


def read_csv(text: str, names: Sequence[str], risks: int) -> list[Line]:
    """Read a log back; bets and wealth are recomputed, not trusted, and their columns ignored.

    Raises
    ------
    ValueError
        Naming the line at fault.
    """
    number = {name: i for i, name in enumerate(names)}
    columns = header(risks)[: 2 + risks]
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    if [cell.strip() for cell in next(reader, [])][: 2 + risks] != columns:
        raise ValueError(f"This is no log of this run: its first columns must be {columns}.")
    lines = []
    for row in reader:
        if not row:
            continue
        if len(row) < 2 + risks:
            raise ValueError(f"Line {reader.line_num} of the log is cut short.")
        if row[1] not in number:
            raise ValueError(
                f"Line {reader.line_num} of the log tests {row[1]!r}, which is no candidate of "
                "this run."
            )
        try:
            losses = tuple(float(cell) for cell in row[2 : 2 + risks])
            lines.append(Line(int(row[0]), number[row[1]], losses))
        except ValueError:
            raise ValueError(f"Line {reader.line_num} of the log holds no number.") from None
    return lines


def rounds(lines: Sequence[Line]) -> Iterator[tuple[list[int], list[tuple[float, ...]]]]:
    """Yield the candidates and losses of each round; rounds must be numbered 1, 2, ...

    Raises
    ------
    ValueError
        If a round is missing or out of order.
    """
    for expected, (number, group) in enumerate(groupby(lines, key=lambda line: line.round), 1):
        if number != expected:
            raise ValueError(f"The log goes to round {number} where round {expected} is due.")
        together = list(group)
        yield [line.candidate for line in together], [line.losses for line in together]


def resume(config: Config, lines: Sequence[Line], rng: np.random.Generator) -> Race:
    """Return the run that the log leaves off at; equal to one that was never interrupted.

    Parameters
    ----------
    config : the settings of the logged run; a larger budget is allowed
    lines : the log
    rng : seeded as for the logged run
    """
    race = Race(config, rng)
    for candidates, losses in rounds(lines):
        race.feed(candidates, losses)
    return race


def settings(config: Config, seed: int) -> dict[str, Any]:
    """Return the settings as plain data."""
    targets = config.targets.tolist()
    return {
        "alpha": targets[0] if len(targets) == 1 else targets,
        "delta": config.delta,
        "control": config.control,
        "acquisition": config.acquisition,
        "epsilon": config.epsilon,
        "bet": config.bet.rule,
        "truncation": config.bet.truncation,
        "amount": config.bet.amount,
        "budget": config.budget,
        "stop_at": config.stop_at,
        "released": config.released,
        "seed": seed,
    }


def config_of(data: dict[str, Any], n_candidates: int) -> Config:
    """Return the settings that ``settings`` wrote.

    Raises
    ------
    ValueError
        If a setting is missing or out of range.
    """
    try:
        alpha = data["alpha"]
        return Config(
            n_candidates,
            tuple(map(float, alpha)) if isinstance(alpha, list) else float(alpha),
            float(data["delta"]),
            data["control"],
            data["acquisition"],
            float(data["epsilon"]),
            Bet(data["bet"], float(data["truncation"]), data["amount"]),
            int(data["budget"]),
            data["stop_at"],
            bool(data["released"]),
        )
    except (KeyError, TypeError) as fault:
        raise ValueError(f"The settings are incomplete or of the wrong kind: {fault}.") from None


def write_json(race: Race, names: Sequence[str], seed: int) -> str:
    """Return settings, names and log as JSON, enough to resume from."""
    log = [[entry.round, entry.candidate, list(entry.losses)] for entry in race.log]
    data = {"settings": settings(race.config, seed), "names": list(names), "log": log}
    return json.dumps(data, ensure_ascii=False)


def resume_json(text: str) -> tuple[Race, tuple[str, ...], int]:
    """Return the run, the names and the seed that ``write_json`` wrote.

    Raises
    ------
    ValueError
        If the text is no such export.
    """
    try:
        data = json.loads(text)
        names = tuple(str(name) for name in data["names"])
        config = config_of(data["settings"], len(names))
        seed = int(data["settings"]["seed"])
        lines = [Line(int(r), int(i), tuple(map(float, x))) for r, i, x in data["log"]]
    except (json.JSONDecodeError, KeyError, TypeError):
        raise ValueError("This is no exported run: settings, names and log are expected.") from None
    return resume(config, lines, np.random.default_rng(seed)), names, seed
