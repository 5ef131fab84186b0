"""The command behind ``make claims``: measure claims and write the ledger, entry by entry."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from models import claims
from models.claims import Entry, Measurement, Progress


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the claims asked for; returns 0, or 1 if some could not be measured.

    The ledger is written after each claim, so that an interrupted run keeps what it has. Entries
    of other papers stay; those of claims that no longer exist, or cannot be measured, go.
    """
    parser = argparse.ArgumentParser(
        prog="python -m models.claims",
        description="Measure the papers' claims on this machine and write the ledger.",
    )
    parser.add_argument("--scale", choices=get_args(claims.Scale), default="quick")
    parser.add_argument("--slug", help="measure this paper only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--to", type=Path, default=claims.LEDGER, help="the ledger's file")
    asked = parser.parse_args(arguments)
    try:
        papers = {asked.slug: claims.claims_of(asked.slug)} if asked.slug else claims.all_claims()
    except ValueError as error:
        parser.error(str(error))
    current = {f"{slug}/{c.id}" for slug, group in papers.items() for c in group if c.measure}
    ledger = {
        key: entry
        for key, entry in (claims.read_ledger(asked.to) if asked.to.exists() else {}).items()
        if key in current or (asked.slug and entry.slug != asked.slug)
    }
    claims.write_ledger(ledger, asked.to)
    try:
        for entry in claims.measure_all(asked.scale, asked.seed, papers, _show_progress):
            ledger[entry.key] = entry
            claims.write_ledger(ledger, asked.to)
            print(_line(entry), flush=True)
    except ExceptionGroup as group:
        for failure in group.exceptions:
            print(f"{failure} ({failure.__notes__[-1]})", file=sys.stderr)
        return 1
    return 0


def _show_progress(key: str) -> Progress:
    def show(done: int, total: int, seconds_left: float | None, partial: Measurement) -> None:
        if sys.stderr.isatty():
            left = "" if seconds_left is None else f", {seconds_left:.0f} s left"
            print(f"\r\033[K{key}: {done} of {total}{left}\r", end="", file=sys.stderr, flush=True)

    return show


def _line(entry: Entry) -> str:
    m = entry.measurement
    return f"{entry.key}: {m.value:.4g} [{m.low:.4g}, {m.high:.4g}], {m.trials} trials: {m.verdict}"
