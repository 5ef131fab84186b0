"""Validators shared by every paper: a wrong value becomes one sentence a visitor can act on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]


def check_alpha(alpha: object, name: str = "alpha") -> float:
    """Return the error level ``alpha`` as a float in (0, 1).

    Raises
    ------
    ValueError
        If it is no number strictly between 0 and 1; percentages and confidence levels are
        recognised and the likely intended value is named.
    """
    text = str(alpha).strip()
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        raise ValueError(
            f"{name} is {text!r}, but must be a number strictly between 0 and 1, such as 0.05."
        ) from None
    percent = text.endswith("%")
    if 0.0 < value < 1.0 and not percent:
        return value
    meant = 0.05
    if (percent or value > 1.0) and 0.0 < value < 100.0:
        meant = value / 100 if value < 50 else 1 - value / 100
    raise ValueError(
        f"{name} is {text}, but must lie strictly between 0 and 1: did you mean {meant:.4g}?"
    )


def check_unit_open(value: float, name: str) -> float:
    """Return ``value`` if it lies strictly between 0 and 1.

    Raises
    ------
    ValueError
        Otherwise, with the value and the allowed range.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} is {value!r}, but must be a number strictly between 0 and 1."
        ) from None
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} is {number:g}, but must lie strictly between 0 and 1.")
    return number


def check_sample(values: npt.ArrayLike, name: str, *, minimum: int = 2) -> Float:
    """Return ``values`` as a finite float64 vector of at least ``minimum`` entries.

    Raises
    ------
    ValueError
        If it is not one-dimensional, too short, or holds something that is no finite number (the
        first such position is named, counted from 0).
    """
    try:
        x = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} holds {_first_text(values)}, which is not a number.") from None
    if x.ndim != 1:
        raise ValueError(f"{name} has shape {x.shape}, but must be one-dimensional.")
    if x.size < minimum:
        raise ValueError(f"{name} has {x.size} values, but at least {minimum} are needed.")
    finite = np.isfinite(x)
    if not finite.all():
        where = int(np.argmin(finite))
        raise ValueError(f"{name} holds {x[where]} at position {where}; all values must be finite.")
    return x


def _first_text(values: npt.ArrayLike) -> str:
    for where, value in enumerate(np.ravel(np.asarray(values, dtype=object))):
        try:
            float(value)
        except (TypeError, ValueError):
            return f"{value!r} at position {where}"
    return "rows of unequal length"


def check_same_length(
    first: npt.NDArray[np.generic], second: npt.NDArray[np.generic], names: Sequence[str]
) -> None:
    """Raise ValueError naming both lengths unless the two arrays have the same length."""
    if first.shape[0] != second.shape[0]:
        raise ValueError(
            f"{names[0]} and {names[1]} must pair up row by row, but have {first.shape[0]} and "
            f"{second.shape[0]} values."
        )


def check_choice(value: str, choices: Any, name: str) -> None:
    """Raise ValueError naming the choices unless ``value`` is one of a ``Literal`` type's."""
    if value not in get_args(choices):
        raise ValueError(f"The {name} is {value!r}, but must be one of {get_args(choices)}.")
