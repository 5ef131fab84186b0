"""Where a continuation ends that would go on for ever: with the block the cursor stands in."""

from __future__ import annotations

from models.arena.strict import indent


def block(text: str, prefix: str, suffix: str) -> str:
    r"""Return the part of a continuation that belongs at the cursor.

    It ends before a line that stands further left than the cursor's line, before a line that
    repeats the first line after the cursor, and with its line if code follows on the same line.

    Examples
    --------
    >>> block("return 1\n\ndef g():", "def f():\n    ", "")
    'return 1'
    """
    here = prefix.rpartition("\n")[2]
    depth = len(indent(here))
    rest, *after = suffix.split("\n")
    first, *lines = text.split("\n")
    if rest.strip():
        return first
    following = next((line.strip() for line in after if line.strip()), None)
    kept = [first]
    for line in lines:
        if line.strip() and (len(indent(line)) < depth or line.strip() == following):
            break
        kept.append(line)
    return "\n".join(kept).rstrip()
