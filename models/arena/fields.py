"""What the fields of a vote's record say, in each of the layouts that are read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from models.arena.votelog import A_WON, B_WON, BOTH_BAD, TIE

_WINNERS = {
    "model_a": A_WON,
    "model_b": B_WON,
    "tie": TIE,
    "both_bad": BOTH_BAD,
    "bothbad": BOTH_BAD,
    "both bad": BOTH_BAD,
    "tie (bothbad)": BOTH_BAD,
    "tie (both bad)": BOTH_BAD,
}
VOTERS = ("userid", "judge", "voter")
TIMES = ("timestamp", "tstamp")
GROUPS = ("language", "filetype", "file_type", "file type")
PAIR, QUESTION = "pairid", "question_id"
_MILLISECONDS = 1e11  # later than the year 5000, if it were seconds


def two_models(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Return the names of the top and the bottom model of a JSON record."""
    items = fields.get("completionitems")
    if items is None:
        return as_text(fields.get("model_a")), as_text(fields.get("model_b"))
    if (
        not isinstance(items, list)
        or len(items) != 2
        or not all(isinstance(item, dict) for item in items)
    ):
        raise ValueError("does not have two completionItems")
    return as_text(items[0].get("model")), as_text(items[1].get("model"))


def as_text(value: Any) -> str:
    """Return a scalar as text; "" for a missing or nested value."""
    return "" if value is None or isinstance(value, (dict, list)) else str(value)


def first_text(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return the first of these fields that is there, as text."""
    return next((as_text(fields[name]).strip() for name in names if name in fields), "")


def winner(text: str) -> int:
    """Return the outcome that LMArena's word stands for, or raise ValueError."""
    outcome = _WINNERS.get(text.strip().casefold())
    if outcome is None:
        raise ValueError(
            f"has the winner {text.strip()[:40]!r}, which is none of model_a, model_b, tie and "
            "both_bad"
        )
    return outcome


def accepted(text: str) -> int:
    """Return the outcome of Copilot Arena's index (0 is the top one), or raise ValueError."""
    word = text.strip().casefold()
    number = {"true": 1.0, "false": 0.0}.get(word)
    if number is None:
        try:
            number = float(word)
        except ValueError:
            number = math.nan
    if number not in (0.0, 1.0):
        raise ValueError(f"has the acceptedIndex {text.strip()[:40]!r}, which is neither 0 nor 1")
    return A_WON if number == 0 else B_WON


def seconds(text: str) -> float:
    """Return seconds since the epoch from a number (or milliseconds) or an ISO date; or NaN."""
    try:
        number = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            return math.nan
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(number):
        return math.nan
    return number / 1000 if abs(number) > _MILLISECONDS else number
