r"""From a model's raw answer to the text inserted at the cursor, as the released server does it.

The steps, numbered as below, are followed with their known defects: (4) tokens are tried in the
order of the list, not of the text; (5) backslash n inside a string literal becomes a line end;
(6a) one coincidental character at the cursor is eaten; (6c) a rightful closing bracket is eaten
when the suffix ends with the same one; (6) a repeated line with other indentation is not known.
``strict`` repairs them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from models.arena.infill import START_TAGS, STOP_TOKENS

MAX_LINES = 5

_LANGUAGES = re.split(
    " ",
    "bash c c# c++ clojure cpp cs csharp css cuda dart dockerfile elixir elm erlang fortran go "
    "golang graphql groovy haskell html java javascript js json jsx julia kotlin kt latex less lua "
    "makefile markdown matlab md ocaml pascal perl php plaintext powershell python py r rb react "
    "ruby rust rs sass scala scss sh shell solidity sql svelte swift tex toml ts tsx txt "
    "typescript vb vue xml yaml yml zig",
)
_FENCE = re.compile(rf"```(?:{'|'.join(map(re.escape, _LANGUAGES))})[ \t]*\r?\n", re.IGNORECASE)


def faithful(
    raw: str,
    prefix: str = "",
    suffix: str = "",
    *,
    overlap: bool = True,
    max_lines: int = MAX_LINES,
    start_tags: Sequence[str] = START_TAGS,
    stop_tokens: Sequence[str] = STOP_TOKENS,
) -> str:
    r"""Apply the released server's rules, defects included.

    Parameters
    ----------
    raw : the model's answer
    prefix, suffix : code around the cursor
    overlap : step 6, for models that were asked to repeat the lines at the cursor
    max_lines : one more line than this is kept of the raw answer
    start_tags, stop_tokens : tried in this order

    Examples
    --------
    >>> faithful("<CODE>print(sum(x))</CODE>", "print(", ")\n")
    'sum(x'
    """
    text = "\n".join(raw.split("\n")[: max_lines + 1])  # 1
    text = unwrapped(text, start_tags)  # 2, 3
    stop = next((token for token in stop_tokens if token in text), None)  # 4
    if stop is not None:
        text = text[: text.index(stop)]
    text = text.replace("\\n", "\n")  # 5
    return _without_overlap(text, prefix, suffix) if overlap else text  # 6


def unwrapped(text: str, start_tags: Sequence[str] = START_TAGS) -> str:
    """Cut all up to the first start tag found, and a Markdown fence with a language's name."""
    tag = next((tag for tag in start_tags if tag in text), None)
    if tag is not None:
        text = text[text.index(tag) + len(tag) :]
    opening = _FENCE.search(text)
    if opening:
        text = text[opening.end() :]
        closing = text.rfind("```")
        if closing >= 0:
            text = text[:closing].removesuffix("\n")
    return text


def _without_overlap(answer: str, prefix: str, suffix: str) -> str:
    # The released server cuts for (6d) what normalising the suffix's line ends took away; here the
    # answer's are normalised as well, so that there is nothing to make up for.
    answer = unix(answer).rstrip("\n")
    prefix, suffix = unix(prefix), unix(suffix).rstrip("\n")
    answer = answer[longest_overlap(prefix, answer) :]  # 6a
    answer = answer[: len(answer) - longest_overlap(answer, suffix)]  # 6b
    return answer[: len(answer) - longest_common_end(answer, suffix)]  # 6c


def unix(text: str) -> str:
    r"""Return the text with every line end as \n."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def longest_overlap(first: str, second: str) -> int:
    """Length of the longest string that ends ``first`` and starts ``second``.

    Examples
    --------
    >>> longest_overlap("abcab", "abx"), longest_overlap("xxx", "xxxx")
    (2, 3)
    """
    # Morris and Pratt's failure function, as both texts may be long; None matches no character.
    size = min(len(first), len(second))
    joined = [*second[:size], None, *first[len(first) - size :]]
    border = [0] * len(joined)
    for i in range(1, len(joined)):
        k = border[i - 1]
        while k and joined[i] != joined[k]:
            k = border[k - 1]
        border[i] = k + (joined[i] == joined[k])
    return border[-1] if size else 0


def longest_common_end(first: str, second: str) -> int:
    """Length of the longest string that ends both."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    same = takewhile(lambda pair: pair[0] == pair[1], pairs)
    return sum(1 for _ in same)
