"""Many tests at once: which hypotheses may be rejected with one error level for all of them.

Every rule takes p-values (or e-values) with the hypotheses along the last axis and returns a
boolean mask of the same shape, True where rejected. Equality rejects (``<=`` for p-values, ``>=``
for e-values), up to a relative 1e-9 for floating point.

==============  ======================  =====================================================
rule            keeps                   needs
==============  ======================  =====================================================
bonferroni      family-wise error       nothing
holm            family-wise error       nothing; rejects all that Bonferroni does and more
fixed_sequence  family-wise error       an order chosen before the data
bh              false discovery rate    independence or positive dependence
by              false discovery rate    nothing
e_bh            false discovery rate    nothing, given e-values
==============  ======================  =====================================================

References
----------
Holm (1979); Benjamini and Hochberg (1995); Benjamini and Yekutieli (2001); Wang and Ramdas (2022),
"False discovery rate control with e-values"; fixed sequences with several starts as in Learn then
test (arXiv 2110.01052, Section 3).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from models.checks import check_unit_open
from models.eprocess import EQUAL

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


def bonferroni(p: npt.ArrayLike, delta: float) -> Bool:
    """Reject where ``p <= delta / N``."""
    values = _check_p(p, delta)
    mask: Bool = values <= delta / values.shape[-1] * (1.0 + EQUAL)
    return mask


def holm(p: npt.ArrayLike, delta: float) -> Bool:
    """Holm's step-down rule: in ascending order, reject while ``p_(r) <= delta / (N - r)``."""
    values = _check_p(p, delta)
    n = values.shape[-1]
    ordered = np.sort(values, axis=-1)
    fails = ordered > delta / np.arange(n, 0, -1) * (1.0 + EQUAL)
    count = np.where(fails.any(axis=-1), np.argmax(fails, axis=-1), n)
    return _smallest(values, ordered, count)


def bh(p: npt.ArrayLike, delta: float) -> Bool:
    """Benjamini-Hochberg step-up: the ``k`` smallest, ``k`` largest with ``p_(k) <= delta k/N``."""
    values = _check_p(p, delta)
    n = values.shape[-1]
    ordered = np.sort(values, axis=-1)
    passes = ordered <= delta * np.arange(1, n + 1) / n * (1.0 + EQUAL)
    count = np.where(passes.any(axis=-1), n - np.argmax(passes[..., ::-1], axis=-1), 0)
    return _smallest(values, ordered, count)


def by(p: npt.ArrayLike, delta: float) -> Bool:
    """Benjamini-Yekutieli: ``bh`` with delta divided by the harmonic number ``1 + ... + 1/N``."""
    n = np.asarray(p).shape[-1]
    return bh(p, check_unit_open(delta, "delta") / float(np.sum(1.0 / np.arange(1, n + 1))))


def e_bh(e: npt.ArrayLike, delta: float) -> Bool:
    """e-BH: the ``k`` largest, ``k`` largest with ``e_(k) >= N / (delta k)``.

    Parameters
    ----------
    e : float >= 0, infinity allowed, shape (..., N)
    delta : float in (0, 1)
    """
    values = np.asarray(e, dtype=np.float64)
    if not (values >= 0.0).all():
        raise ValueError("Every e-value must be a number of at least 0.")
    with np.errstate(divide="ignore", over="ignore"):
        return bh(np.minimum(1.0 / values, 1.0), delta)


def fixed_sequence(p: npt.ArrayLike, delta: float, starts: Sequence[int] = (0,)) -> Bool:
    """Walk from each start while the p-value is within ``delta / len(starts)``; stop at a failure.

    Parameters
    ----------
    p : float in [0, 1], shape (N,), **in an order fixed before the data were seen**
    delta : float in (0, 1)
    starts : positions in [0, N), distinct; a walk goes on from the end to the beginning
    """
    values = _check_p(p, delta)
    n = values.size
    if values.ndim != 1 or not starts or any(not 0 <= s < n for s in starts):
        raise ValueError(
            f"The starts are {list(starts)}, but must be positions from 0 to {n - 1} in one list."
        )
    passes = values <= delta / len(starts) * (1.0 + EQUAL)
    rejected = np.zeros(n, dtype=np.bool_)
    for start in starts:
        walk = (start + np.arange(n)) % n
        length = n if passes.all() else int(np.argmin(passes[walk]))
        rejected[walk[:length]] = True
    return rejected


def adjusted_p(p: npt.ArrayLike, rule: str) -> Float:
    """Return the smallest delta at which ``rule`` would reject each hypothesis, at most 1.

    Parameters
    ----------
    p : float in [0, 1], shape (N,)
    rule : "bonferroni", "holm", "bh" or "by"
    """
    values = _check_p(p, 0.5)
    n = values.size
    if rule == "bonferroni":
        return np.minimum(values * n, 1.0)
    order = np.argsort(values, kind="stable")
    if rule == "holm":
        ordered = np.maximum.accumulate(values[order] * np.arange(n, 0, -1))
    elif rule in ("bh", "by"):
        scaled = values[order] * n / np.arange(1, n + 1)
        ordered = np.minimum.accumulate(scaled[::-1])[::-1]
        if rule == "by":
            ordered = ordered * np.sum(1.0 / np.arange(1, n + 1))
    else:
        raise ValueError(f"The rule is {rule!r}, but must be bonferroni, holm, bh or by.")
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(ordered, 1.0)
    return adjusted


def _smallest(values: Float, ordered: Float, count: npt.NDArray[np.intp]) -> Bool:
    """Mask the ``count`` smallest; ties at the cut pass the same test and are all included."""
    last = np.take_along_axis(ordered, np.maximum(count - 1, 0)[..., None], axis=-1)
    return (values <= last) & (count > 0)[..., None]


def _check_p(p: npt.ArrayLike, delta: float) -> Float:
    check_unit_open(delta, "delta")
    values = np.asarray(p, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ValueError("At least one p-value is needed.")
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError("Every p-value must be a number between 0 and 1.")
    return values
