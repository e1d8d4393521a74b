"""Values of JSON as types: what is of another type reads as the default."""

from __future__ import annotations

import math

from .model import Json


def as_object(value: object) -> Json:
    """The mapping; {} for anything else."""
    return value if isinstance(value, dict) else {}


def as_objects(value: object) -> list[Json]:
    """The mappings of a list, in its order; [] for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list | tuple) else []


def as_list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def as_floats(value: object) -> list[float]:
    """The numbers of a list."""
    return [as_float(item) for item in as_list(value)]


def as_text(value: object, default: str = "") -> str:
    return value if isinstance(value, str) else default


def as_int(value: object, default: int = 0) -> int:
    """A whole number, also one that is written with a point; a truth value is none."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole and not isinstance(value, bool) and isinstance(value, int | float) else default


def as_float(value: object, default: float = 0.0) -> float:
    """A number; infinite where a whole number is too large for a float."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return default
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
