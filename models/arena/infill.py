"""Fill-in-the-middle for chat models: the prompt, and how much of the file goes into it.

A chat model writes snippets; it does not continue at a cursor. So it is asked to begin with the
line that the cursor stands on and to end with the line that follows; ``postprocess`` then takes the
overlaps away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from models.checks import check_choice

Order = Literal["PSM", "SPM", "mask"]
START_TAGS = ("<CODE>\n", "<CODE>")
STOP_TOKENS = ("</CODE>", "<SUFFIX>", "</SUFFIX>", "<PREFIX>", "</PREFIX>")
MASK = "<MASK>"

# As released: 8192 tokens of context, three quarters of them before the cursor.
PREFIX_TOKENS = 6144
SUFFIX_TOKENS = 2048

_SYSTEM = """\
You complete code at a cursor. You see the code before the cursor and the code after it.
Write what belongs between them, and nothing else: no explanation, no Markdown.
Begin your answer with the last line before the cursor, repeated in full with its indentation, and \
end it with the first line after the cursor, if there is one. Put the answer between <CODE> and \
</CODE>."""

EXAMPLES = (
    (
        "def area(radius):\n    return math.pi",
        "\n\nprint(area(2))\n",
        "    return math.pi * radius ** 2\n\nprint(area(2))",
    ),
    (
        "for (const user of users) {\n  if (",
        ") {\n    greet(user);\n  }\n}\n",
        "  if (user.active) {",
    ),
)


@dataclass(frozen=True)
class Prompt:
    """What a chat endpoint is sent."""

    system: str
    user: str


def prompt(prefix: str, suffix: str, order: Order = "PSM") -> Prompt:
    """Ask a chat model for the code between ``prefix`` and ``suffix``, after two worked examples.

    Parameters
    ----------
    prefix, suffix : code before and after the cursor, usually from :func:`context`
    order : "PSM" shows the prefix first, "SPM" the suffix first, "mask" both with a mark between
    """
    check_choice(order, Order, "order")
    parts = [
        f"{_shown(before, after, order)}\n<CODE>\n{answer}\n</CODE>"
        for before, after, answer in EXAMPLES
    ]
    return Prompt(_SYSTEM, "\n\n".join([*parts, _shown(prefix, suffix, order)]))


def turns(prefix: str, suffix: str, order: Order = "PSM") -> list[tuple[str, str]]:
    """Ask the same as a conversation, (role, text): the examples are turns that were answered.

    The last turn, the assistant's, is begun with a start tag and the last line before the cursor
    that is not blank. A small model needs that, for otherwise it writes tags for ever.
    """
    check_choice(order, Order, "order")
    said = [("system", _SYSTEM)]
    for before, after, answer in EXAMPLES:
        said += [("user", _shown(before, after, order))]
        said += [("assistant", f"<CODE>\n{answer}\n</CODE>")]
    above = len(prefix.rstrip())
    begun = START_TAGS[0] + prefix[prefix.rfind("\n", 0, above) + 1 :]
    return [*said, ("user", _shown(prefix, suffix, order)), ("assistant", begun)]


def _shown(prefix: str, suffix: str, order: Order) -> str:
    if order == "mask":
        return f"{prefix}{MASK}{suffix}"
    before, after = f"<PREFIX>{prefix}</PREFIX>", f"<SUFFIX>{suffix}</SUFFIX>"
    return f"{before}\n{after}" if order == "PSM" else f"{after}\n{before}"


def pieces(text: str) -> list[str]:
    """Cut a text into rough tokens (a word of up to eight letters, a blank run, a sign)."""
    return re.findall(r"\w{1,8}|\s+|[^\w\s]", text)


def context(
    prefix: str,
    suffix: str,
    *,
    split: Callable[[str], Sequence[str]] = pieces,
    prefix_tokens: int = PREFIX_TOKENS,
    suffix_tokens: int = SUFFIX_TOKENS,
) -> tuple[str, str]:
    """Shorten both sides to what the model is sent, the text nearest to the cursor.

    Both stay whole while they fit together. ``split`` cuts a text into tokens that join to it.
    """
    before, after = split(prefix), split(suffix)
    if len(before) + len(after) <= prefix_tokens + suffix_tokens:
        return prefix, suffix
    return "".join(before[-prefix_tokens:]), "".join(after[:suffix_tokens])
