"""JSON values compared and measured: equality, depth, finite numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

_NEVER = object()  # stands for "there is no such member": equal to nothing


def depth(value: Any) -> int:
    """How many containers stand inside each other; a scalar has depth 0. Does not recurse."""
    level, deep = [value] if isinstance(value, dict | list) else [], 0
    while level:
        deep += 1
        below: list[Any] = []
        for container in level:
            inner = container.values() if isinstance(container, dict) else container
            below.extend(v for v in inner if isinstance(v, dict | list))
        level = below
    return deep


def same(a: Any, b: Any) -> bool:
    """Equal as JSON: 1 is 1.0, true is not 1, NaN is NaN, key order means nothing."""
    if a is b:
        return True
    if isinstance(a, dict):
        if not isinstance(b, dict) or len(a) != len(b):
            return False
        return all(same(value, b.get(key, _NEVER)) for key, value in a.items())
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, bool) or isinstance(b, bool):
        return False
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)


def not_finite(value: Any, pointer: str = "") -> str | None:
    """The pointer of the first NaN or Infinity in the value, or None."""
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
        if isinstance(item, float | dict | list):
            found = not_finite(item, f"{pointer}/{key}")
            if found is not None:
                return found
    return None
