"""Cut code into tokens: line ends with their indentation, blanks, words, numbers, signs."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\n[ \t]*|[ \t]+|[^\W\d]\w*|\d+|[^\w\s]|\s")


def cut(text: str) -> list[str]:
    r"""Return the tokens of a text, which join to it.

    Examples
    --------
    >>> cut("if x1:\n    y = 20")
    ['if', ' ', 'x1', ':', '\n    ', 'y', ' ', '=', ' ', '20']
    """
    return _TOKEN.findall(text)
