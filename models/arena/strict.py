r"""Our repair of the overlap rules: whole lines first, and nothing eaten by coincidence.

An overlap with the code around the cursor is taken away only if it is a whole line but for blanks,
or at least three characters that are not blank and end at a token's boundary. Lines are compared
without their indentation, and an answer that lost the indentation gets it back.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from models.arena.infill import START_TAGS, STOP_TOKENS
from models.arena.postprocess import MAX_LINES, unix, unwrapped

LEAST_CHARACTERS = 3
# Longer repetitions are not looked for, so that hostile answers take time in proportion.
_MOST_CHARACTERS, _MOST_LINES = 1000, 100
_CLOSERS = re.compile(r"[)\]}>;,]+")


def strict(
    raw: str,
    prefix: str,
    suffix: str,
    *,
    overlap: bool = True,
    max_lines: int = MAX_LINES,
    start_tags: Sequence[str] = START_TAGS,
    stop_tokens: Sequence[str] = STOP_TOKENS,
) -> str:
    r"""Turn a raw answer into the text for the cursor.

    The arguments are those of ``postprocess.faithful``; at most ``max_lines`` lines of the result
    are kept, counted after the overlaps are gone.

    Examples
    --------
    >>> strict("<CODE>print(sum(x))</CODE>", "print(", ")\n")
    'sum(x)'
    """
    text = unwrapped(unix(raw), start_tags)
    ends = [text.index(token) for token in stop_tokens if token in text]
    text = text[: min(ends)] if ends else text
    if not text.strip():
        return ""
    prefix, suffix = unix(prefix), unix(suffix)
    if overlap:
        text = _continue_after(text.strip("\n"), prefix)
        text = _stop_before(text, prefix, suffix)
    return "\n".join(text.split("\n")[:max_lines])


def _continue_after(answer: str, prefix: str) -> str:
    """Take the repeated end of the prefix from the answer's front."""
    *before, current = prefix.split("\n")
    lines = answer.split("\n")
    repeated = _repeated_lines(before, lines)
    start = current.lstrip()
    if repeated is None and not start:
        return _aligned(lines, current, indent(lines[0]), lines[0])
    skip = repeated or 0
    if not start:
        above = [line for line in before if line.strip()][-skip:]
        lost = len(indent(above[0])) - len(indent(lines[0]))
        rest = lines[skip:]
        if not rest:
            return ""
        if lost > 0:
            rest = [_moved(line, lost) for line in rest]
        return _aligned(rest, current, indent(rest[0]), rest[0])
    for here in (skip, 0):
        if here < len(lines) and lines[here].lstrip().startswith(start):
            first = lines[here].lstrip()[len(start) :]
            return _aligned([first, *lines[here + 1 :]], current, indent(lines[here]), first)
    taken = _partial(current, lines[0])
    return "\n".join([lines[0][taken:], *lines[1:]])


def _repeated_lines(before: list[str], lines: list[str]) -> int | None:
    """How many of the answer's first lines repeat the last lines before the cursor's."""
    above = [line.strip() for line in before if line.strip()]
    ours = [line.strip() for line in lines]
    for k in range(min(len(above), len(ours), _MOST_LINES), 0, -1):
        if above[-k:] == ours[:k]:
            return k
    return None


def _aligned(lines: list[str], current: str, own: str, first: str) -> str:
    """Join the lines at the cursor; shift those below if the answer lost the indentation.

    ``own`` is the indentation that the answer gave to the cursor's line. If some line below stands
    further left than the cursor's line, the answer counted from the left margin.
    """
    wanted, below = indent(current), lines[1:]
    lost = len(wanted) - len(own)
    if lost > 0 and any(line.strip() and len(indent(line)) < len(wanted) for line in below):
        below = [_moved(line, lost) for line in below]
    if not current.strip():
        first = first.removeprefix(wanted) if first.startswith(wanted) else first.lstrip()
    return "\n".join([first, *below])


def _stop_before(answer: str, prefix: str, suffix: str) -> str:
    """Take the repeated start of the suffix from the answer's back."""
    rest, *after = suffix.split("\n")
    current = prefix.rpartition("\n")[2]
    lines = answer.rstrip().split("\n")
    if rest.strip() and current.strip():
        return _stop_inside(lines, rest.rstrip(), after, prefix, suffix)
    following = [line.strip() for line in ([rest, *after]) if line.strip()]
    ours = [line.strip() for line in lines]
    for k in range(min(len(ours), len(following), _MOST_LINES), 0, -1):
        if ours[-k:] == following[:k] and _worth(ours[-k:], prefix, answer, suffix):
            lines = lines[:-k]
            break
    else:
        k = 0
    text = "\n".join(lines)
    if not (k and rest.strip()):  # blank lines before a repeated line are the answer's own
        text = text.rstrip("\n")
    if rest.strip() and text.strip():
        text += "\n" + current  # the rest of the line stays on a line of its own
    return text


def _stop_inside(lines: list[str], rest: str, after: list[str], prefix: str, suffix: str) -> str:
    """Take away the rest of the cursor's line, and the lines after it, where they are repeated."""
    following = [line.strip() for line in after if line.strip()]
    for k in range(min(len(lines), len(following) + 1, _MOST_LINES), 0, -1):
        last, tail = lines[-k].rstrip(), [line.strip() for line in lines[len(lines) - k + 1 :]]
        whole = rest if last.endswith(rest) else rest.strip()
        if tail != following[: k - 1] or not last.endswith(whole):
            continue
        if _worth([whole.strip(), *tail], prefix, "\n".join(lines), suffix):
            return "\n".join([*lines[:-k], last[: -len(whole)]])
    line = lines[-1]
    for size in range(min(len(line), len(rest), _MOST_CHARACTERS), LEAST_CHARACTERS - 1, -1):
        if line.endswith(rest[:size]) and _tokens(rest[:size], line[-size - 1 : -size], ""):
            return "\n".join([*lines[:-1], line[:-size]])
    return "\n".join(lines)


def _worth(repeated: list[str], prefix: str, answer: str, suffix: str) -> bool:
    """Whether a repetition may be cut: brackets alone only if that balances the whole better."""
    text = "".join(repeated)
    if not _CLOSERS.fullmatch(text):
        return True
    kept = _balance(prefix) + _balance(answer) + _balance(suffix)
    return abs(kept - _balance(text)) < abs(kept)


def _partial(current: str, line: str) -> int:
    """Length of a partial repetition of the cursor's line at the answer's start, or 0."""
    for size in range(min(len(current), len(line), _MOST_CHARACTERS), LEAST_CHARACTERS - 1, -1):
        text = line[:size]
        if current.endswith(text) and _tokens(
            text, current[-size - 1 : -size], line[size : size + 1]
        ):
            return size
    return 0


def _tokens(text: str, before: str, after: str) -> bool:
    """Whether ``text`` is at least three characters and cuts no word at either end."""
    word = re.compile(r"\w\w")
    cuts = word.fullmatch(before + text[:1]) or word.fullmatch(text[-1:] + after)
    return len("".join(text.split())) >= LEAST_CHARACTERS and not cuts


def _balance(text: str) -> int:
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def indent(line: str) -> str:
    """Return the blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def _moved(line: str, columns: int) -> str:
    return " " * columns + line if line.strip() else line


def well_formed(prefix: str, answer: str, suffix: str) -> bool:
    r"""Whether Python code is whole with the answer in it, and repeats no line at the cursor.

    Lines of fewer than three characters (brackets) may repeat.

    Examples
    --------
    >>> well_formed("print(", "sum(x", ")\n"), well_formed("print(", "sum(x)", ")\n")
    (False, True)
    """
    try:
        ast.parse(prefix + answer + suffix)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    inside = [line.strip() for line in answer.split("\n") if line.strip()]
    if not inside:
        return True
    above = [line.strip() for line in prefix.split("\n")[:-1] if line.strip()]
    below = [line.strip() for line in suffix.split("\n")[1:] if line.strip()]
    again = {inside[0]} & set(above[-1:]) | {inside[-1]} & set(below[:1])
    return not any(len(line) >= LEAST_CHARACTERS for line in again)
