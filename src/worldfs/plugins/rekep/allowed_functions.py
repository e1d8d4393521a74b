"""The functions of a constraint file: pure functions of numbers and small arrays, by name; no others exist for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

Value = Any  # a number, a truth value, a small array, or a list or tuple of these: values of a foreign program

ELEMENTS = 512  # of one array
ITEMS = 256  # of one list
LARGEST = 10**15  # of a whole number


class ConstraintError(BadInput):
    """A constraint that cannot be evaluated: the line is in `path`."""


def check_value(value: Value) -> Value:
    """`value` if a constraint may hold it. Raises `ConstraintError` for what is too large or of a foreign kind."""
    kind = type(value)
    if kind is float or kind is bool or value is None:
        return value
    if kind is int:
        if -LARGEST <= value <= LARGEST:
            return value
        raise ConstraintError(coded("plugin.rekep_large_number"), expected=coded("plugin.rekep_world_numbers"))
    if isinstance(value, np.generic):
        if value.dtype.kind in "fiub":
            return value
        raise ConstraintError(
            coded("plugin.rekep_number_type", dtype=value.dtype), expected=coded("plugin.rekep_real_numbers")
        )
    if kind is np.ndarray:
        if value.size <= ELEMENTS and value.dtype.kind in "fiub":
            return value
        what = (
            coded("plugin.rekep_array_size", n=value.size)
            if value.size > ELEMENTS
            else coded("session.array_of", dtype=value.dtype)
        )
        raise ConstraintError(what, expected=coded("plugin.rekep_most_real", n=ELEMENTS))
    if kind is list or kind is tuple:
        if len(value) <= ITEMS:
            return value
        raise ConstraintError(
            coded("plugin.rekep_list_of", n=len(value)), expected=coded("plugin.rekep_most_items", n=ITEMS)
        )
    raise ConstraintError(coded("plugin.a_kind", kind=kind.__name__), expected=coded("plugin.rekep_numbers_arrays"))


def count_numbers(value: Value, left: int = 4 * ELEMENTS) -> int:
    """Numbers in a value, nested lists and all; stops past `left`, since a list can hold itself many times over."""
    if isinstance(value, np.ndarray):
        return int(value.size)
    if not isinstance(value, list | tuple):
        return 1
    total = 1
    for item in value:
        total += count_numbers(item, left - total)
        if total > left:
            break
    return total


def _sized(make: Callable[..., Value]) -> Callable[..., Value]:
    """For functions whose first argument is a shape: checked before memory is allocated."""

    def made(shape: Value, *rest: Value) -> Value:
        sides = shape if isinstance(shape, list | tuple) else (shape,)
        if not all(isinstance(side, int | np.integer) and 0 <= side <= ELEMENTS for side in sides) or len(sides) > 4:
            raise ConstraintError(
                coded("plugin.rekep_array_shape"), expected=coded("plugin.rekep_most_elements", n=ELEMENTS)
            )
        if math.prod(int(side) for side in sides) > ELEMENTS:
            raise ConstraintError(
                coded("plugin.rekep_array_shape"), expected=coded("plugin.rekep_most_elements", n=ELEMENTS)
            )
        return make(shape, *rest)

    return made


def _range(*ends: Value) -> Value:
    found = range(*(int(end) if isinstance(end, np.integer) else end for end in ends))
    if len(found) > ITEMS:
        raise ConstraintError(
            coded("plugin.rekep_range_of", n=len(found)), expected=coded("plugin.rekep_most_rounds", n=ITEMS)
        )
    return list(found)


def _spread(low: Value, high: Value, number: Value = 50) -> Value:
    if not isinstance(number, int) or not 0 < number <= ITEMS:
        raise ConstraintError(coded("plugin.rekep_many_points"), expected=coded("common.at_most", n=ITEMS))
    return np.linspace(low, high, number)


def _steps(*ends: Value) -> Value:
    if not 1 <= len(ends) <= 3 or not all(isinstance(end, int | float | np.number) for end in ends):
        raise ConstraintError(coded("plugin.rekep_that_arange"), expected=coded("plugin.rekep_one_to_three"))
    low, high, step = {1: (0, ends[0], 1), 2: (*ends[:2], 1)}.get(len(ends)) or ends
    if step == 0 or not abs((high - low) / step) <= ITEMS:
        raise ConstraintError(coded("plugin.rekep_that_arange"), expected=coded("plugin.rekep_most_numbers", n=ITEMS))
    return np.arange(low, high, step)


def _array(value: Value) -> Value:
    return np.array(value, dtype=float)


_PLAIN = """
abs absolute add all allclose any arccos arcsin arctan arctan2 argmax argmin argsort atleast_1d atleast_2d
average ceil clip concatenate copysign cos cosh cross cumsum deg2rad degrees diff divide dot equal exp fabs
floor fmax fmin greater hstack hypot inner isclose isfinite isinf isnan less linalg.det linalg.inv linalg.norm
log log10 log1p log2 logical_and logical_not logical_or matmul max maximum mean median min minimum mod
multiply nan_to_num negative norm ones_like outer power prod ptp rad2deg radians reciprocal round sign sin
sinh sort sqrt square squeeze stack std subtract sum tan tanh trace transpose var vstack where zeros_like
ravel
""".split()  # noqa: SIM905 # a table to be read


def _numpy() -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name in _PLAIN:
        owner: Any = np.linalg if name.startswith("linalg.") else np
        function = getattr(owner, name.removeprefix("linalg."), None)
        if function is not None:
            found[name] = function
    found |= {"array": _array, "asarray": _array, "zeros": _sized(np.zeros), "ones": _sized(np.ones)}
    found |= {"eye": _sized(np.eye), "identity": _sized(np.eye), "linspace": _spread, "arange": _steps}
    return found | {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None}


# Of `math`, numpy's own: they give NaN where math raises.
_MATH: Final = {
    "acos": np.arccos, "asin": np.arcsin, "atan": np.arctan, "atan2": np.arctan2, "ceil": np.ceil, "cos": np.cos,
    "degrees": np.degrees, "dist": lambda a, b: np.linalg.norm(np.subtract(a, b)), "exp": np.exp, "fabs": np.fabs,
    "floor": np.floor, "hypot": np.hypot, "inf": math.inf, "isfinite": np.isfinite, "isnan": np.isnan, "log": np.log,
    "nan": math.nan, "pi": math.pi, "e": math.e, "radians": np.radians, "sin": np.sin, "sqrt": np.sqrt, "tan": np.tan,
}  # fmt: skip
MODULES: Final[Mapping[str, Mapping[str, Value]]] = {"np": _numpy(), "numpy": _numpy(), "math": _MATH}
BUILTINS: Final[Mapping[str, Value]] = {
    "abs": abs, "all": all, "any": any, "bool": bool, "enumerate": lambda items: list(enumerate(items)),
    "float": float, "int": int, "len": len, "list": list, "max": max, "min": min, "range": _range, "round": round,
    "sorted": sorted, "sum": sum, "tuple": tuple, "zip": lambda *items: list(zip(*items, strict=False)),
}  # fmt: skip
METHODS: Final = frozenset((
    "all", "any", "argmax", "argmin", "clip", "copy", "dot", "flatten", "max", "mean", "min", "prod", "ravel", "round",
    "std", "sum", "transpose",
))  # fmt: skip
PROPERTIES: Final = frozenset(("T", "shape", "size", "ndim"))
KEYWORDS: Final = frozenset(("axis", "ord", "keepdims", "a_min", "a_max", "default", "start", "atol", "rtol"))
