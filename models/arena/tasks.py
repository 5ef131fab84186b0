"""Forty places in code at which something is missing: what voters are asked about.

Written for this project. A task is a piece of a file, cut at the cursor. The files stand in
``assets/arena/tasks``, one a language: each task begins with a line of its head, ``id | title |
tag``, and the cursor is where the sign ``‸`` stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, cast, get_args

Language = Literal["Python", "JavaScript", "HTML", "SQL", "C"]
Tag = Literal["algorithm", "data wrangling", "front-end", "back-end", "tests", "docs"]

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "arena" / "tasks"
HEAD = "%% "
CURSOR = "‸"
_FILES: dict[str, Language] = {
    "python.txt": "Python",
    "javascript.txt": "JavaScript",
    "html.txt": "HTML",
    "sql.txt": "SQL",
    "c.txt": "C",
}


@dataclass(frozen=True)
class Task:
    """A cursor in a piece of code.

    Attributes
    ----------
    id : short and unique, letters, digits and hyphens
    title : what is to be written, in a few words
    prefix, suffix : the code before and after the cursor; the suffix may be empty
    """

    id: str
    title: str
    language: Language
    tag: Tag
    prefix: str
    suffix: str


def parse(text: str, language: Language) -> tuple[Task, ...]:
    """Read the tasks of one file.

    Raises
    ------
    ValueError
        If a head has not three parts, a tag is unknown, or a task has not exactly one cursor.
    """
    found = []
    for part in ("\n" + text).split("\n" + HEAD)[1:]:
        head, _, code = part.partition("\n")
        fields = [field.strip() for field in head.split("|")]
        if len(fields) != 3 or fields[2] not in get_args(Tag):
            raise ValueError(f"The head {head!r} is not: id | title | one of {get_args(Tag)}.")
        if code.count(CURSOR) != 1:
            raise ValueError(
                f"Task {fields[0]} has {code.count(CURSOR)} cursors, but must have exactly one."
            )
        prefix, suffix = code.rstrip("\n").split(CURSOR)
        suffix = suffix + "\n" if suffix.strip() else ""
        found.append(Task(fields[0], fields[1], language, cast("Tag", fields[2]), prefix, suffix))
    return tuple(found)


@lru_cache(maxsize=1)
def _all() -> tuple[Task, ...]:
    tasks: list[Task] = []
    for name, language in _FILES.items():
        tasks += parse((FOLDER / name).read_text(encoding="utf-8"), language)
    return tuple(tasks)


TASKS: tuple[Task, ...] = _all()


def task(task_id: str) -> Task:
    """Return the task of this id; raises ValueError if there is none."""
    for one in TASKS:
        if one.id == task_id:
            return one
    raise ValueError(f"There is no task {task_id!r}; there are {TASKS[0].id} to {TASKS[-1].id}.")
