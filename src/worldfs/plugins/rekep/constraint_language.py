"""The language of constraint files: a small part of Python, parsed by `ast` and run by this package's closures.

Nothing is passed to exec, eval or compile. What is not in the tables does not exist: imports, attributes, loops without
an end and names with underscores before them are refused when the text is read, with line and reason; what takes too
long or grows too large is refused while it is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from worldfs.base.messages import coded

from .allowed_functions import ConstraintError, Value
from .constraint_function import ConstraintFunction
from .constraint_grammar import NODES, WRITE, refuse
from .function_compiler import FunctionCompiler

TEXT = 64 * 1024  # characters of one file
LINES = 2_000  # of one file: Python's parser takes its time for each statement, and lets no other thread run
FUNCTIONS = 64  # of one file


def read(text: str, file: str, given: Sequence[str] = ()) -> tuple[dict[str, ConstraintFunction], dict[str, Value]]:
    """The functions of a constraint file, and its assignments of plain values, by name.

    `given`: names of functions that the runtime provides. Raises `ConstraintError`: file, line, found, expected.
    """
    if len(text) > TEXT:
        raise ConstraintError(
            f"{len(text)} characters",
            path=file,
            expected=coded("common.at_most", n=TEXT),
            fix=coded("plugin.rekep_write_less"),
        )
    if (lines := text.count("\n") + text.count(";")) > LINES:
        raise ConstraintError(
            coded("plugin.rekep_lines", n=lines),
            path=file,
            expected=coded("common.at_most", n=LINES),
            fix=coded("plugin.rekep_write_less"),
        )
    if "\0" in text:
        raise ConstraintError(coded("plugin.rekep_nul"), path=file, expected="text")
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ConstraintError(
            coded("plugin.rekep_no_python", why=error.msg),
            path=f"{file}:{error.lineno or 1}",
            expected=coded("plugin.rekep_cost_functions"),
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ConstraintError(
            coded("plugin.rekep_too_deep", kind=type(error).__name__), path=f"{file}:1", expected=WRITE
        ) from None
    found: dict[str, ConstraintFunction] = {}
    values: dict[str, Value] = {}
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if len(names) > FUNCTIONS:
        raise ConstraintError(
            f"{len(names)} functions",
            path=file,
            expected=coded("common.at_most", n=FUNCTIONS),
            fix=coded("plugin.rekep_write_less"),
        )
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            if node.name in found:
                raise ConstraintError(
                    coded("plugin.rekep_second_time", name=node.name),
                    path=f"{file}:{node.lineno}",
                    expected=coded("plugin.rekep_once"),
                )
            compiler = FunctionCompiler(file, frozenset(names), frozenset(given))
            try:
                found[node.name] = compiler.function(node, text, found)
            except RecursionError:
                refuse(file, node, WRITE, "a function that nests too deep")
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = _literal(node.value, file)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            refuse(file, node, "functions, and plain values with names")
    return found, values


def _literal(node: ast.expr, file: str) -> Value:
    if sum(1 for _ in ast.walk(node)) > NODES:
        refuse(file, node, "a short plain value")
    try:
        return ast.literal_eval(node)  # a reader of constants: it calls nothing
    except (ValueError, TypeError, RecursionError, MemoryError):
        refuse(file, node, "a plain value: a number or a list of numbers")
