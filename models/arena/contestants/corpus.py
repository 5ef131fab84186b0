"""The Python standard library as a corpus: whole, as installed, and a part of it that is shipped.

The tiny transformer is trained on the whole library of the interpreter that trains it. The n-gram
model and the retrieval model read the shipped part at run time, so that they answer alike under
every Python.
"""

from __future__ import annotations

import json
import lzma
import sysconfig
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FILE = Path(__file__).resolve().parents[3] / "assets" / "arena" / "library.json.xz"

# Tests, vendored and generated code, and tables of characters teach nothing about writing code.
_LEFT_OUT = {
    "__pycache__",
    "encodings",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "pydoc_data",
    "site-packages",
    "test",
    "tests",
    "turtledemo",
}
# fmt: off
SHIPPED = (
    "abc", "argparse", "ast", "asyncio/base_events", "asyncio/queues", "asyncio/streams",
    "asyncio/tasks", "base64", "bisect", "calendar", "cmd", "collections/__init__", "configparser",
    "contextlib", "copy", "csv", "dataclasses", "datetime", "difflib", "email/message", "enum",
    "fileinput", "fnmatch", "fractions", "ftplib", "functools", "getpass", "glob", "gzip",
    "hashlib", "heapq", "hmac", "html/parser", "http/client", "http/cookies", "http/server",
    "inspect", "ipaddress", "json/decoder", "json/encoder", "linecache", "logging/__init__",
    "logging/handlers", "mailbox", "numbers", "operator", "pathlib", "pprint", "queue", "random",
    "reprlib", "sched", "shelve", "shlex", "shutil", "socketserver", "statistics", "string",
    "subprocess", "tarfile", "tempfile", "textwrap", "threading", "timeit", "tokenize", "traceback",
    "unittest/case", "unittest/mock", "urllib/parse", "urllib/request", "uuid", "weakref",
    "xml/etree/ElementTree", "zipfile",
)
# fmt: on


@dataclass(frozen=True)
class Source:
    """A source file by its path in the library, without the ending."""

    name: str
    text: str


def installed() -> tuple[Source, ...]:
    """Read the library of the running interpreter, sorted by name."""
    root = Path(sysconfig.get_paths()["stdlib"])
    found = []
    for file in root.rglob("*.py"):
        path = file.relative_to(root)
        if _LEFT_OUT.isdisjoint(path.parts) and not path.name.startswith("_sysconfigdata"):
            name = path.with_suffix("").as_posix()
            found.append(Source(name, file.read_text(encoding="utf-8", errors="replace")))
    return tuple(sorted(found, key=lambda source: source.name))


@lru_cache(maxsize=1)
def shipped() -> tuple[Source, ...]:
    """Read the modules that are shipped, in the order of ``SHIPPED``."""
    files = json.loads(lzma.decompress(FILE.read_bytes()))["files"]
    return tuple(Source(name, files[name]) for name in SHIPPED)
