"""What the voter sees of two completions: a pair, one alone, or nothing.

Pairs that carry no information never become battles: both empty, one empty, or both alike.
"""

from __future__ import annotations

from typing import Literal

Shown = Literal["pair", "top alone", "bottom alone", "nothing"]


def shown(top: str, bottom: str) -> Shown:
    """Decide what two completions look like at the cursor; only a "pair" is a battle."""
    if not top and not bottom:
        return "nothing"
    if not bottom or top == bottom:
        return "top alone"
    return "pair" if top else "bottom alone"
