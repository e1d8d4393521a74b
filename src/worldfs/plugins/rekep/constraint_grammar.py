"""The grammar of constraint files as tables: operators, refused syntax with its message, small steps of a run."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Final, NoReturn

import numpy as np

from worldfs.base.messages import coded

from .allowed_functions import ITEMS, ConstraintError, Value, check_value, count_numbers
from .constraint_function import CallFrame, ConstraintFunction, Statement, spend_budget

NODES = 2_000  # of one function
DEPTH = 40  # of one expression
WRITE: Final = "write a cost of numbers and arrays: arithmetic, comparisons, np.* functions, for over a range"


_WHY: Final[dict[type[ast.AST], str]] = {
    ast.Import: "an import", ast.ImportFrom: "an import", ast.While: "a while loop, which may have no end",
    ast.Lambda: "a lambda", ast.ClassDef: "a class", ast.With: "a with block", ast.Try: "a try block",
    ast.Global: "a global name", ast.Nonlocal: "a nonlocal name", ast.Delete: "a del", ast.Raise: "a raise",
    ast.Yield: "a yield", ast.Await: "an await", ast.JoinedStr: "a formatted text", ast.Starred: "a star",
    ast.FunctionDef: "a function within a function", ast.AsyncFunctionDef: "an async function",
    ast.NamedExpr: "an assignment within an expression", ast.Dict: "a dictionary", ast.Set: "a set",
    ast.Match: "a match", ast.Assert: "an assert",
}  # fmt: skip


def refuse(file: str, node: ast.AST, expected: str = WRITE, found: str = "") -> NoReturn:
    line = getattr(node, "lineno", 1)
    what = found or _WHY.get(type(node), f"a {type(node).__name__}")
    raise ConstraintError(what, path=f"{file}:{line}", expected=expected, fix=coded("plugin.rekep_only_compute"))


BINARY: Final[dict[type[ast.operator], Callable[[Value, Value], Value]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
}  # fmt: skip
UNARY: Final[dict[type[ast.unaryop], Callable[[Value], Value]]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_,
}  # fmt: skip
COMPARE: Final[dict[type[ast.cmpop], Callable[[Value, Value], Value]]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip


def combine(kind: type[ast.operator], frame: CallFrame, left: Value, right: Value) -> Value:
    """Arithmetic on numbers and arrays; lists only add, since a list times a number can be of any length."""
    if isinstance(left, list | tuple) or isinstance(right, list | tuple):
        both = isinstance(left, list | tuple) and isinstance(right, list | tuple)
        if kind is ast.Add and both:
            return check_value([*left, *right])
        if both or kind is ast.MatMult or not (isinstance(left, np.ndarray) or isinstance(right, np.ndarray)):
            raise ConstraintError(coded("plugin.rekep_list_arithmetic"), expected="np.array([…])")
        if count_numbers(left) + count_numbers(right) > 4 * ITEMS:
            raise ConstraintError(coded("plugin.rekep_long_list"), expected=coded("plugin.rekep_short_list"))
    if kind is ast.Pow and isinstance(left, int) and isinstance(right, int) and not -64 <= right <= 64:
        raise ConstraintError(coded("plugin.rekep_large_power"), expected=coded("plugin.rekep_small_power"))
    found = check_value(BINARY[kind](left, right))
    if isinstance(found, np.ndarray):
        spend_budget(frame, found.size // 32)
    return found


def bound_function(friends: Mapping[str, ConstraintFunction], name: str, frame: CallFrame) -> Callable[..., Value]:
    lent = {key: value for key, value in frame.names.items() if callable(value)}
    return lambda *values: friends[name].call(values, lent, frame.purse, frame.depth + 1)


def run_block(body: tuple[Statement, ...], frame: CallFrame) -> Value:
    for step in body:
        signal = step(frame)
        if signal is not None:
            return signal
    return None


def items_of(value: Value) -> Value:
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        return value
    raise ConstraintError(
        coded("plugin.rekep_loop_over", kind=type(value).__name__), expected=coded("plugin.rekep_iterables")
    )


def indexed(value: Value) -> Value:
    if isinstance(value, list | tuple | np.ndarray):
        return value
    raise ConstraintError(
        coded("plugin.rekep_index_into", kind=type(value).__name__), expected=coded("plugin.rekep_an_array")
    )


def loaded(target: ast.expr) -> ast.expr:
    """The same expression, read instead of written."""
    match target:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Subscript(value=value, slice=index):
            return ast.copy_location(ast.Subscript(value, index, ast.Load()), target)
    return target
