"""The functions of a constraint file: pure functions of numbers and small arrays, by name; no others exist for it.

Each call has a bounded cost: how many arguments a function takes is checked when the text is read, the size of its
arguments when it is called, and the size of what three arrays and more would make together before it is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

Value = Any  # a number, a truth value, a small array, or a list or tuple of these: values of a foreign program
Constant = float | None

ELEMENTS = 512  # of one array
ITEMS = 256  # of one list
LARGEST = 10**15  # of a whole number
DIGITS = 15  # of a rounding


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
        # An empty array can have any length along its other axes, and a sum over the empty one would be as long.
        size = value.size or math.prod(side or 1 for side in value.shape)
        if size <= ELEMENTS and value.dtype.kind in "fiub":
            return value
        what = (
            coded("plugin.rekep_array_size", n=size)
            if size > ELEMENTS
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


def count_numbers(value: Value, most: int = 4 * ELEMENTS) -> int:
    """Numbers and lists in a value, nested ones and all; stops past `most`: a list can hold itself many times over."""
    if isinstance(value, np.ndarray):
        return int(value.size)
    if not isinstance(value, list | tuple):
        return 1
    total = 0
    ahead: list[Value] = [value]
    while ahead and total + len(ahead) <= most:
        item = ahead.pop()
        total += item.size if isinstance(item, np.ndarray) else 1
        if isinstance(item, list | tuple):
            ahead.extend(item)
    return total + len(ahead)


def few_numbers(*values: Value) -> int:
    """How many numbers one operation works on. Raises `ConstraintError` for too many."""
    count = sum(map(count_numbers, values))
    if count > 4 * ITEMS:
        raise ConstraintError(
            coded("plugin.rekep_large_call"), expected=coded("plugin.rekep_most_numbers", n=4 * ITEMS)
        )
    return count


def checked_index(holder: Value, index: Value) -> Value:
    """`index` if what it selects of `holder` is small. Raises `ConstraintError`."""
    if isinstance(index, int | slice) or not isinstance(holder, np.ndarray):
        return index
    few_numbers(index)
    parts = index if isinstance(index, tuple) else (index,)
    chosen = [np.asarray(part) for part in parts if isinstance(part, list | tuple | np.ndarray)]
    if chosen:
        # The arrays of an index are broadcast together; every axis without one stays.
        each = [(np.count_nonzero(part),) if part.dtype.kind == "b" else part.shape for part in chosen]
        _small(math.prod(np.broadcast_shapes(*each)) * holder.size, ELEMENTS * ELEMENTS)
    return index


class ListedFunction(NamedTuple):
    """A function that a constraint may call: with `least` to `most` arguments by position, and those named."""

    call: Callable[..., Value]
    least: int
    most: int
    names: frozenset[str] = frozenset()


def _small(size: int, most: int = ELEMENTS) -> None:
    if size > most:
        raise ConstraintError(
            coded("plugin.rekep_array_size", n=size), expected=coded("plugin.rekep_most_elements", n=most)
        )


def _sized(make: Callable[..., Value]) -> Callable[..., Value]:
    """For functions whose argument is a shape: checked before memory is allocated."""

    def made(shape: Value) -> Value:
        sides = shape if isinstance(shape, list | tuple) else (shape,)
        if not all(isinstance(side, int | np.integer) and 0 <= side <= ELEMENTS for side in sides) or len(sides) > 4:
            raise ConstraintError(
                coded("plugin.rekep_array_shape"), expected=coded("plugin.rekep_most_elements", n=ELEMENTS)
            )
        _small(math.prod(int(side) or 1 for side in sides))
        return make(shape)

    return made


def _square(sides: Value) -> Value:
    return _sized(lambda shape: np.eye(*shape))([sides, sides])


def _together(call: Callable[..., Value]) -> Callable[..., Value]:
    """For functions of three arrays and more: the size that they have together is checked before it is computed."""

    def checked(*values: Value, **named: Value) -> Value:
        shape = np.broadcast_shapes(*(np.shape(value) for value in (*values, *named.values())))
        _small(math.prod(side or 1 for side in shape))
        return call(*values, **named)

    return checked


def _few(number: Value) -> int:
    """Decimals, or how often: numpy and Python count them one by one."""
    if not isinstance(number, int | np.integer) or not -DIGITS <= number <= DIGITS:
        raise ConstraintError(
            coded("plugin.rekep_large_count"), expected=coded("plugin.rekep_whole_range", least=-DIGITS, most=DIGITS)
        )
    return int(number)


def _rounded(call: Callable[..., Value]) -> Callable[..., Value]:
    return lambda value, *digits: call(value, *map(_few, digits))


def _of_some(call: Callable[..., Value]) -> Callable[..., Value]:
    """For means of all kinds: that of nothing is no number, of which numpy would also warn."""
    return lambda values, *rest, **named: call(values, *rest, **named) if np.size(values) else math.nan


def _differences(values: Value, times: Value = 1, axis: Value = -1) -> Value:
    return np.diff(values, _few(times), axis)


def _total(items: Value, start: Value = 0) -> Value:
    """Python's `sum`, which adds arrays of any shape: each sum on the way is checked."""
    for item in items:
        start = check_value(start + item)
    return start


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
    _small(math.prod(side or 1 for side in np.broadcast_shapes(np.shape(low), np.shape(high))) * number)
    return np.linspace(low, high, number)


def _steps(*ends: Value) -> Value:
    if not all(isinstance(end, int | float | np.number) for end in ends):
        raise ConstraintError(coded("plugin.rekep_that_arange"), expected=coded("plugin.rekep_one_to_three"))
    low, high, step = {1: (0, ends[0], 1), 2: (*ends[:2], 1)}.get(len(ends)) or ends
    if step == 0 or not abs((high - low) / step) <= ITEMS:
        raise ConstraintError(coded("plugin.rekep_that_arange"), expected=coded("plugin.rekep_most_numbers", n=ITEMS))
    return np.arange(low, high, step)


def _array(value: Value) -> Value:
    return np.array(value, dtype=float)


_ALONG: Final = frozenset(("axis",))
_KEPT: Final = frozenset(("axis", "keepdims"))
# Arguments by position, at least and at most; arguments by name; the functions of numpy that take them.
_NUMPY: Final = (
    (1, 1, "", """
        abs absolute arccos arcsin arctan atleast_1d atleast_2d ceil cos cosh deg2rad degrees exp fabs floor hstack
        isfinite isinf isnan linalg.det linalg.inv log log10 log1p log2 logical_not nan_to_num negative ones_like
        rad2deg radians ravel reciprocal sign sin sinh sqrt square tan tanh trace vstack zeros_like
    """),
    (2, 2, "", """
        add arctan2 copysign divide dot equal fmax fmin greater hypot inner less logical_and logical_or matmul maximum
        minimum mod multiply outer power subtract
    """),
    (2, 2, "axis", "cross"),
    (1, 2, "axis", "argmax argmin argsort concatenate cumsum sort squeeze stack transpose"),
    (1, 2, "axis keepdims", "all any max min prod ptp sum"),
    (1, 4, "ord axis keepdims", "linalg.norm"),
)  # fmt: skip
_MEANS: Final[Mapping[str, Callable[..., Value]]] = {"mean": np.mean, "median": np.median, "std": np.std, "var": np.var}
_CHECKED: Final[Mapping[str, ListedFunction]] = {
    **{name: ListedFunction(_of_some(call), 1, 2, _KEPT) for name, call in _MEANS.items()},
    "average": ListedFunction(_of_some(np.average), 1, 3, _ALONG),
    "array": ListedFunction(_array, 1, 1), "asarray": ListedFunction(_array, 1, 1),
    "zeros": ListedFunction(_sized(np.zeros), 1, 1), "ones": ListedFunction(_sized(np.ones), 1, 1),
    "eye": ListedFunction(_square, 1, 1), "identity": ListedFunction(_square, 1, 1),
    "linspace": ListedFunction(_spread, 2, 3), "arange": ListedFunction(_steps, 1, 3),
    "round": ListedFunction(_rounded(np.round), 1, 2), "diff": ListedFunction(_differences, 1, 3, _ALONG),
    "where": ListedFunction(_together(np.where), 1, 3),
    "clip": ListedFunction(_together(np.clip), 1, 3, frozenset(("a_min", "a_max"))),
    "isclose": ListedFunction(_together(np.isclose), 2, 4, frozenset(("atol", "rtol"))),
    "allclose": ListedFunction(_together(np.allclose), 2, 4, frozenset(("atol", "rtol"))),
}  # fmt: skip


def _numpy() -> dict[str, ListedFunction | Constant]:
    found: dict[str, ListedFunction | Constant] = dict(_CHECKED)
    for least, most, names, functions in _NUMPY:
        for name in functions.split():
            owner: Any = np.linalg if name.startswith("linalg.") else np
            call = getattr(owner, name.removeprefix("linalg."))
            found[name] = ListedFunction(call, least, most, frozenset(names.split()))
    return found | {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None}


def _math() -> dict[str, ListedFunction | Constant]:
    """Of `math`, numpy's own: they give NaN where math raises."""
    ones: dict[str, Callable[..., Value]] = {
        "acos": np.arccos, "asin": np.arcsin, "atan": np.arctan, "ceil": np.ceil, "cos": np.cos, "degrees": np.degrees,
        "exp": np.exp, "fabs": np.fabs, "floor": np.floor, "isfinite": np.isfinite, "isnan": np.isnan, "log": np.log,
        "radians": np.radians, "sin": np.sin, "sqrt": np.sqrt, "tan": np.tan,
    }  # fmt: skip
    twos: dict[str, Callable[..., Value]] = {
        "atan2": np.arctan2,
        "dist": lambda a, b: np.linalg.norm(np.subtract(a, b)),
        "hypot": np.hypot,
    }
    return {
        **{name: ListedFunction(call, 1, 1) for name, call in ones.items()},
        **{name: ListedFunction(call, 2, 2) for name, call in twos.items()},
        "inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e,
    }  # fmt: skip


_MANY: Final = 64  # arguments of a function that takes any number
MODULES: Final[Mapping[str, Mapping[str, ListedFunction | Constant]]] = {
    "np": _numpy(), "numpy": _numpy(), "math": _math()
}  # fmt: skip
_ONES: Final[Mapping[str, Callable[..., Value]]] = {
    "abs": abs, "all": all, "any": any, "bool": bool, "enumerate": lambda items: list(enumerate(items)), "len": len,
    "float": float, "int": int, "list": list, "sorted": sorted, "tuple": tuple,
}  # fmt: skip
BUILTINS: Final[Mapping[str, ListedFunction]] = {
    **{name: ListedFunction(call, 1, 1) for name, call in _ONES.items()},
    "max": ListedFunction(max, 1, _MANY, frozenset(("default",))),
    "min": ListedFunction(min, 1, _MANY, frozenset(("default",))),
    "range": ListedFunction(_range, 1, 3),
    "round": ListedFunction(_rounded(round), 1, 2),
    "sum": ListedFunction(_total, 1, 2, frozenset(("start",))),
    "zip": ListedFunction(lambda *items: list(zip(*items, strict=False)), 1, _MANY),
}  # fmt: skip
METHODS: Final[Mapping[str, ListedFunction]] = {  # of an array, which is their first argument
    **{name: ListedFunction(getattr(np.ndarray, name), 0, 0) for name in ("copy", "flatten", "ravel")},
    **{name: ListedFunction(getattr(np.ndarray, name), 0, 1, _ALONG) for name in ("argmax", "argmin")},
    **{name: ListedFunction(getattr(np.ndarray, name), 0, 1, _KEPT) for name in (
        "all", "any", "max", "min", "prod", "sum",
    )},
    "mean": ListedFunction(_of_some(np.ndarray.mean), 0, 1, _KEPT),
    "std": ListedFunction(_of_some(np.ndarray.std), 0, 1, _KEPT),
    "clip": ListedFunction(_together(np.ndarray.clip), 1, 2),
    "dot": ListedFunction(np.ndarray.dot, 1, 1),
    "round": ListedFunction(_rounded(np.ndarray.round), 0, 1),
    "transpose": ListedFunction(np.ndarray.transpose, 0, 4),
}  # fmt: skip
PROPERTIES: Final = frozenset(("T", "shape", "size", "ndim"))
