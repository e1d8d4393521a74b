"""A function of a constraint file: closures that are run with a budget, and the cost that comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from worldfs.base.messages import coded

from .allowed_functions import ConstraintError, Value

BUDGET = 5_000  # steps of one evaluation
CALLS = 8  # functions of a file within one another


class CallFrame:
    """One call: its names, and what is left of the evaluation's budget."""

    __slots__ = ("depth", "line", "names", "purse")

    def __init__(self, names: dict[str, Value], purse: list[int], depth: int) -> None:
        self.names, self.purse, self.depth, self.line = names, purse, depth, 0


Expression = Callable[[CallFrame], Value]
Statement = Callable[[CallFrame], Value]  # None: go on; else one of the signals below


@dataclass(frozen=True, slots=True)
class ReturnSignal:
    value: Value


BREAK, CONTINUE = object(), object()


@dataclass(frozen=True, slots=True)
class ConstraintFunction:
    """A function of a file. `source`: its own lines, unchanged."""

    name: str
    file: str
    line: int
    source: str
    parameters: tuple[str, ...]
    body: tuple[Statement, ...]
    friends: Mapping[str, ConstraintFunction]  # of the same file; filled while it is read

    def cost(self, arguments: Sequence[Value], given: Mapping[str, Value], purse: list[int] | None = None) -> float:
        """The number it returns; NaN where it divides by zero. `given`: functions that the runtime provides.

        `purse`: the steps that it may take; what it took is gone from it afterwards.
        Raises `ConstraintError` with the line for anything that is no cost.
        """
        purse = purse if purse is not None else [BUDGET]
        with np.errstate(all="ignore"):
            value = self.call(arguments, given, purse, 0)
            if isinstance(value, bool | np.bool_):
                self._broken(self.line, "a truth value", "a cost: a number, at most 0 where it is satisfied")
            if isinstance(value, list | tuple) and len(value) == 1:
                value = value[0]
            if isinstance(value, list | tuple):
                self._broken(self.line, f"{self.name} returns a {type(value).__name__}", "one number")
            array = np.asarray(value if value is not None else "nothing")
            if array.size != 1 or array.dtype.kind not in "fiu":
                what = "nothing" if value is None else f"values of shape {array.shape}"
                self._broken(self.line, f"{self.name} returns {what}", "one number")
            return float(array.ravel()[0])

    def call(self, arguments: Sequence[Value], given: Mapping[str, Value], purse: list[int], depth: int) -> Value:
        if depth > CALLS:
            self._broken(self.line, "functions that call each other without end", f"at most {CALLS} deep")
        if len(arguments) != len(self.parameters):
            found = f"{self.name} takes {len(self.parameters)} arguments"
            self._broken(self.line, found, f"{len(arguments)}: (end_effector, keypoints)" if not depth else "")
        frame = CallFrame({**given, **dict(zip(self.parameters, arguments, strict=True))}, purse, depth)
        try:
            for step in self.body:
                signal = step(frame)
                if signal is not None:
                    return signal.value if isinstance(signal, ReturnSignal) else None
        except (ZeroDivisionError, OverflowError, np.linalg.LinAlgError):
            return float("nan")
        except ConstraintError as broken:
            if broken.path:
                raise
            self._broken(frame.line or self.line, broken.found, broken.expected)
        except (TypeError, ValueError, IndexError, AttributeError, RecursionError, MemoryError) as error:
            self._broken(frame.line or self.line, f"{type(error).__name__}: {str(error)[:160]}", "")
        return None

    def _broken(self, line: int, found: str, expected: str) -> NoReturn:
        raise ConstraintError(
            found, path=f"{self.file}:{line}", expected=expected, fix=coded("plugin.rekep_correct_constraint")
        )


def spend_budget(frame: CallFrame, steps: int = 1) -> None:
    """Raises `ConstraintError` when the budget of the evaluation is used up."""
    frame.purse[0] -= steps
    if frame.purse[0] < 0:
        raise ConstraintError(coded("plugin.rekep_many_steps", n=BUDGET), expected=coded("plugin.rekep_soon_computed"))
