"""JSON values compared and measured: equality, finite numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

Repeated = list[tuple[dict[str, Any], str]]  # mappings in whose text a key stands twice, each with that key
_NEVER = object()  # stands for "there is no such member": equal to nothing


def same(a: Any, b: Any) -> bool:
    """Equal as JSON: 1 is 1.0, true is not 1, NaN is NaN, key order means nothing."""
    if a is b:
        return True
    kind = type(a)
    if kind is str:
        return bool(a == b)
    if kind is dict:
        if type(b) is not dict or len(a) != len(b):
            return False
        return all(same(value, b.get(key, _NEVER)) for key, value in a.items())
    if kind is list:
        return type(b) is list and len(a) == len(b) and all(map(same, a, b))
    if kind is bool or type(b) is bool:
        return False
    if kind is float and type(b) is float and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)


def repeated_key(value: Any, repeated: Repeated) -> tuple[str, str] | None:
    """The pointer below `value` of a mapping in which a key is written twice, and that key; None: there is none."""
    twice = next((key for one, key in repeated if one is value), None)
    if twice is not None:
        return "", twice
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in inner:
        if isinstance(item, dict | list) and (found := repeated_key(item, repeated)) is not None:
            return f"/{name}{found[0]}", found[1]
    return None


def not_finite(value: Any) -> str | None:
    """The pointer of the first NaN or Infinity in the value, or None."""
    try:
        json.dumps(value, allow_nan=False)  # one pass in C; only a bad value is walked
    except ValueError:
        return _not_finite(value, "")
    return None


def _not_finite(value: Any, pointer: str) -> str | None:
    if isinstance(value, float):
        return None if math.isfinite(value) else pointer
    inner: Iterator[tuple[Any, Any]]
    if isinstance(value, dict):
        inner = iter(value.items())
    elif isinstance(value, list):
        inner = enumerate(value)
    else:
        return None
    for key, item in inner:
        found = _not_finite(item, f"{pointer}/{key}")
        if found is not None:
            return found
    return None


def plain(value: Any, digits: int | None = None) -> Any:
    """Only what JSON has: no tuples, no arrays, null for what is no finite number; floats rounded to `digits`."""
    if isinstance(value, dict):
        return {str(key): plain(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, digits) for item in value]
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return float(value) if digits is None else round(float(value), digits) + 0.0  # + 0.0 turns -0.0 into 0.0
    if isinstance(value, str):
        return str(value)
    return plain(value.tolist(), digits) if hasattr(value, "tolist") else str(value)
