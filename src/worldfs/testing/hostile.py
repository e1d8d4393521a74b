"""Hostile values in every field of every document of a workspace, one at a time."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

Field = tuple[str | int, ...]  # keys and indices from the root of a document; of prose: the number of a passage

DEEP: Final[object] = json.loads("[" * 90 + "]" * 90)
VALUES: Final[tuple[object, ...]] = (
    "", " ", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "C:\\x", "~", "x\0y", "x\ny", "x\r\ty", "\u202e",
    "\ud800", "\udfff\ud800",
    "x" * 5000, "苹果", "苹" * 200, "con", "-rf", "| a | b |", "```", "{", "NaN", "1e999", "null", "%s%n", "$HOME", "*",
    0, -1, 1, 2**31, -(2**63), 2**64, 10**400, 0.5, -0.0, 5e-324, 1e308, -1e308, math.nan, math.inf, -math.inf,
    True, False, None, [], {}, [[]], [None], [{}], {"": ""}, {"..": ".."}, [math.nan], ["../x"], [1e308] * 3,
    ["\ud800"], [10**400] * 6, DEEP, {"a": DEEP}, "x" * 200_000,
)  # fmt: skip
_PASSAGE = re.compile(r"[^\s|*#:`,\[\]()-]+(?: [^\s|*#:`,\[\]()-]+)*")


def fields(value: object, at: Field = ()) -> Iterator[Field]:
    """Every member and element of a JSON value, the root first."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from fields(item, (*at, key))


def _within(value: Any, at: Field) -> Any:
    """The object or list that holds the field."""
    for key in at[:-1]:
        value = value[key]
    return value


def replaced(value: object, at: Field, hostile: object) -> object:
    """A copy of the value with `hostile` in one field."""
    if not at:
        return hostile
    after = copy.deepcopy(value)
    inner = _within(after, at)
    inner[at[-1]] = hostile
    return after


def renamed(value: object, at: Field, hostile: str) -> object:
    """A copy of the value in which one member has another name."""
    after = copy.deepcopy(value)
    inner = _within(after, at)
    if isinstance(inner, dict):
        inner[hostile] = inner.pop(at[-1])
    return after


def doubled(value: object, at: Field) -> object:
    """A copy of the value in which one element of a list is repeated."""
    after = copy.deepcopy(value)
    inner = _within(after, at)
    if isinstance(inner, list) and isinstance(at[-1], int):
        inner.insert(at[-1], copy.deepcopy(inner[at[-1]]))
    return after


def passages(text: str) -> list[tuple[int, int]]:
    """The spans of words of a page in prose and tables, which an editor could change."""
    return [found.span() for found in _PASSAGE.finditer(text)]


def spelled(value: object) -> bytes:
    """A hostile value as text: as a program would print it, not necessarily UTF-8."""
    text = value if isinstance(value, str) else json.dumps(value) if _small(value) else "9" * 400
    return text.encode("utf-8", "surrogatepass")


def document(value: object, *, fenced: bool = True) -> bytes:
    """A JSON value as a document; NaN, Infinity and halves of surrogate pairs as JSON programs write them."""
    text = json.dumps(value)
    return (f"# Page\n\n```json\n{text}\n```\n" if fenced else text).encode()


def _small(value: object) -> bool:
    return not isinstance(value, int) or abs(value) < 10**400
