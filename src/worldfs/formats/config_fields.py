"""Fields of config.json, read by key; a value of the wrong kind is refused with the key as the operator writes it."""

from __future__ import annotations

import math
from typing import Any

from worldfs.ground.errors import BadInput

Json = dict[str, Any]
PATH = "config.json"


def mapping(document: Json, key: str, where: str = "") -> Json:
    value = document.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise bad(where or key, f"a {type(value).__name__}", "an object {…}")
    return value


def text(document: Json, key: str, where: str, default: str = "") -> str:
    value = document.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise bad(where, f"a {type(value).__name__}", "text in quotes")
    return value.strip() or default


def bad(where: str, found: str, expected: str) -> BadInput:
    return BadInput(f"{where}: {found}", path=PATH, op="read", expected=expected, fix=f"mend {where} in config.json")


def seconds(document: Json, key: str, where: str, default: float) -> float:
    """A number of seconds, more than 0."""
    value = document.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value > 0):
        raise bad(where, repr(value), "a number of seconds, more than 0")
    return float(value)
