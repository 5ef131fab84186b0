"""The shipped table of real completions: every task, every contestant, with the time it took.

Generated once by ``scripts/build_arena_completions.py``; nothing is generated when it is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from models.arena.contestants.roster import CONTESTANTS, NAMES, Contestant
from models.checks import Float

__all__ = [
    "CONTESTANTS",
    "Completion",
    "Contestant",
    "completion",
    "infill_rates",
    "latencies",
    "pairs_for",
    "samples",
    "table",
]

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "arena"
FILE = ASSETS / "completions.jsonl"
RATES = ASSETS / "infill_rates.json"


@dataclass(frozen=True)
class Completion:
    """What a contestant wrote.

    Attributes
    ----------
    sample : 0, 1, ... for contestants that draw; others have sample 0 only
    raw : as the model wrote it
    text : as it is inserted at the cursor, at most five lines; "" if nothing is left
    latency_ms : > 0, measured on the machine that made the table, loading left out
    parses : whether the file is valid Python with it; None for other languages
    versions : of the packages that made it
    """

    task: str
    contestant: str
    sample: int
    seed: int
    settings: Mapping[str, Any]
    raw: str
    text: str
    latency_ms: float
    parses: bool | None
    versions: Mapping[str, str]


@lru_cache(maxsize=1)
def table() -> Mapping[tuple[str, str, int], Completion]:
    """Return all completions by task, contestant and sample."""
    found = {}
    with FILE.open(encoding="utf-8") as file:
        for line in file:
            one = Completion(**json.loads(line))
            found[one.task, one.contestant, one.sample] = one
    return MappingProxyType(found)


def completion(task_id: str, contestant: str, sample: int = 0) -> Completion | None:
    """Return one completion, or None if there is none.

    Contestants that never draw have one sample, which answers for every number.
    """
    found = table().get((task_id, contestant, sample))
    return table().get((task_id, contestant, 0)) if found is None else found


def samples(task_id: str, contestant: str) -> int:
    """Return how many completions of a task a contestant has."""
    return sum((task_id, contestant, k) in table() for k in range(len(table())))


@lru_cache(maxsize=1)
def _latencies() -> Mapping[str, Float]:
    found: dict[str, list[float]] = {name: [] for name in NAMES}
    for one in table().values():
        if one.text:
            found[one.contestant].append(one.latency_ms)
    out = {}
    for name, values in found.items():
        if values:
            out[name] = np.array(values)
            out[name].flags.writeable = False
    return MappingProxyType(out)


def latencies() -> dict[str, Float]:
    """Return each contestant's measured milliseconds, float64 (completions that are not empty,)."""
    return dict(_latencies())


def pairs_for(task_id: str) -> list[str]:
    """Return the contestants with a completion of a task that is not empty."""
    found = (completion(task_id, name) for name in NAMES)
    return [one.contestant for one in found if one is not None and one.text]


def infill_rates() -> dict[str, Any]:
    """Return the measured shares of well-formed infillings, as the script wrote them."""
    rates: dict[str, Any] = json.loads(RATES.read_text(encoding="utf-8"))
    return rates
