"""JSON as the served tree writes it (no spaces, keys in the order given, no newline at the end), and how it is read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from .errors import BadInput
from .messages import coded

T = TypeVar("T")
DEPTH_MOST: Final = 200
"""Containers in containers. Each version of Python refuses another depth: 3.11 fewer than 1,000, 3.13 about 10,000."""
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def compact_json(value: object) -> bytes:
    # Half a surrogate pair becomes the escape that JSON has for it.
    return _encode(value).encode("utf-8", "backslashreplace")


def parse_json(
    data: str | bytes | bytearray,
    *,
    object_pairs_hook: Callable[[list[tuple[str, object]]], object] | None = None,
    parse_float: Callable[[str], object] | None = None,
    parse_constant: Callable[[str], object] | None = None,
) -> Any:
    """The value, with the hooks of `json.loads`. Raises `ValueError`, also for what nests deeper than `DEPTH_MOST`, and
    `NoNumber` for an integer of more digits than Python reads."""
    read = partial(
        json.loads, data, object_pairs_hook=object_pairs_hook, parse_float=parse_float, parse_constant=parse_constant
    )
    try:
        value = in_our_words(read)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if nests_deeper(data, value, DEPTH_MOST):
        raise ValueError("nested too deep")
    return value


class NoNumber(ValueError):
    """A number that is none, or that is too large."""


def in_our_words(read: Callable[..., T]) -> T:
    """What `read`, a `json.loads`, gives. Raises `NoNumber` for an integer of more digits than Python reads: its own
    error advises to change a limit of the interpreter."""
    try:
        return read()
    except ValueError as error:
        if type(error) is ValueError:  # Python's own, or of a hook
            read(parse_int=whole_number)
        raise


def whole_number(digits: str) -> int:
    """As `int`, but with our own words for what has too many digits. Raises `NoNumber`."""
    most = sys.get_int_max_str_digits()
    if most and len(digits.lstrip("-")) > most:
        raise NoNumber(f"a number of {len(digits.lstrip('-'))} digits; at most {most} are read")
    return int(digits)


def nests_deeper(data: str | bytes | bytearray, value: object, most: int) -> bool:
    """Whether `value`, which was read from the JSON text `data`, has more than `most` levels of containers."""
    return brackets(data) > most and depth(value) > most


def brackets(data: str | bytes | bytearray) -> int:
    """How many brackets a JSON text opens, those in strings included: it has no more levels of containers."""
    return data.count("[") + data.count("{") if isinstance(data, str) else data.count(b"[") + data.count(b"{")


def depth(value: object) -> int:
    """How deep containers are nested; a scalar has depth 0. Does not recurse."""
    level, deep = [value] if isinstance(value, dict | list) else [], 0
    while level:
        deep += 1
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, dict | list)
        ]
    return deep


class KeyTwice(ValueError):
    """A mapping in whose text `key` stands more than once."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key[:80]!r} is written twice")
        self.key = key[:80]

    def refusal(self, *, path: str = "", op: str = "", actor: str = "", code: str = "") -> BadInput:
        said, once, fix = coded("file.key_twice", key=self.key), coded("file.each_once"), coded("file.leave_one")
        return BadInput(said, path=path, op=op, actor=actor, expected=once, fix=fix, code=code)


def repeated_name(pairs: Sequence[tuple[str, object]]) -> str:
    """The first name that stands twice, of pairs of which one does."""
    names = [name for name, _ in pairs]
    return next(name for name in names if names.count(name) > 1)


def each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """For `json.loads(object_pairs_hook=…)`, where it must be clear what was meant. Raises `KeyTwice`."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise KeyTwice(repeated_name(pairs))
    return made
