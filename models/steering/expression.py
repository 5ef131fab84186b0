"""A reward typed by the visitor: arithmetic over the statistics of an image.

The text is never given to Python. ``simpleeval`` walks its syntax tree, and of that only numbers,
names, arithmetic, comparisons, ``and``, ``or``, ``not``, ``a if b else c`` and calls of a few
functions are let through: no attributes, no indices, no strings. All numbers are floats, so that
no power can grow into a number of a million digits.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import simpleeval  # type: ignore[import-untyped]

from models.checks import Float
from models.steering.classifiers import load_classifiers, log_probabilities
from models.steering.digits import CLASSES
from models.steering.statistics import STATISTICS, Statistic
from models.torchrun import torch

LONGEST = 200
_LARGEST = 10**9

FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
}
_ALLOWED = (
    ast.Expr, ast.Constant, ast.Name, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp,
    ast.Call,
)  # fmt: skip
_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.UAdd, ast.Not, ast.Lt, ast.LtE,
    ast.Gt, ast.GtE, ast.Eq, ast.NotEq,
)  # fmt: skip


def _probability(digit: int) -> Statistic:
    def of(images: torch.Tensor) -> torch.Tensor:
        return log_probabilities(load_classifiers()[0], images)[:, digit].exp()

    return of


NAMES: Mapping[str, Statistic] = STATISTICS | {f"p{d}": _probability(d) for d in range(CLASSES)}
_GLUE = (ast.And, ast.Or, ast.Expression, ast.Load)


class Expression:
    """A checked expression; called with images (k, 1, h, w) it returns float64 rewards (k,).

    Where it has no value for an image, as the logarithm of 0, that reward is NaN.
    """

    differentiable = False

    def __init__(self, text: str) -> None:
        """Check the text.

        Raises
        ------
        ValueError
            If it is empty or too long, is no expression, or uses something that is not allowed.
        """
        self.text = text.strip()
        if not 0 < len(self.text) <= LONGEST:
            raise ValueError(
                f"The expression has {len(self.text)} characters, but must have 1 to {LONGEST}."
            )
        try:
            tree = ast.parse(self.text, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError(
                f"{self.text!r} is no expression: write arithmetic, such as left - right."
            ) from None
        self.names = _names(tree)
        self._evaluator = _evaluator()
        self._parsed: Any = ast.Expr(tree.body)

    def __call__(self, images: torch.Tensor) -> Float:
        """Return the rewards (k,) of images (k, 1, h, w)."""
        columns = [NAMES[name](images).double().tolist() for name in self.names]
        rows = zip(*columns, strict=True) if columns else [()] * len(images)
        return np.array([self._value(row) for row in rows])

    def _value(self, row: tuple[float, ...]) -> float:
        self._evaluator.names = dict(zip(self.names, row, strict=True))
        try:
            return float(self._evaluator.eval(self.text, previously_parsed=self._parsed))
        except (ArithmeticError, ValueError, TypeError, simpleeval.InvalidExpression):
            # TypeError: a negative number's root is complex, which no float is made of.
            return math.nan


def _evaluator() -> Any:
    evaluator = simpleeval.SimpleEval(functions=dict(FUNCTIONS))
    evaluator.nodes = {kind: do for kind, do in evaluator.nodes.items() if kind in _ALLOWED}
    evaluator.nodes[ast.Constant] = lambda node: float(node.value)
    evaluator.operators = {
        kind: do for kind, do in evaluator.operators.items() if kind in _OPERATORS
    }
    return evaluator


def _names(tree: ast.Expression) -> tuple[str, ...]:
    """Return the statistics that an expression uses, after a check of everything in it."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in calls:
        _check_call(call)
    functions = {id(call.func) for call in calls}
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            _check_number(node.value)
        elif isinstance(node, ast.Name) and id(node) not in functions:
            if node.id not in NAMES:
                raise ValueError(
                    f"{node.id!r} is not known: there are {', '.join(STATISTICS)}, p0 to p9."
                )
            names.add(node.id)
        elif not isinstance(node, (*_ALLOWED, *_OPERATORS, *_GLUE)):
            raise ValueError(
                f"The expression uses {type(node).__name__}, which is not allowed: write "
                "arithmetic over the statistics."
            )
    return tuple(sorted(names))


def _check_call(call: ast.Call) -> None:
    if not isinstance(call.func, ast.Name) or call.func.id not in FUNCTIONS:
        raise ValueError(
            f"{ast.unparse(call.func)} cannot be called: there are {', '.join(FUNCTIONS)}."
        )
    name, several = call.func.id, call.func.id in ("min", "max")
    if call.keywords or (len(call.args) < 2 if several else len(call.args) != 1):
        raise ValueError(f"{name} takes {'two or more numbers' if several else 'one number'}.")


def _check_number(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number, and only numbers may be written.")
    if abs(value) > _LARGEST:
        raise ValueError(f"{value:.3g} is too large: numbers up to {_LARGEST:g} may be written.")
