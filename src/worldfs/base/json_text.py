"""JSON as the served tree writes it (no spaces, keys in the order given, no newline at the end), and how it is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from .errors import BadInput
from .messages import coded

_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def compact_json(value: object) -> bytes:
    # Half a surrogate pair becomes the escape that JSON has for it.
    return _encode(value).encode("utf-8", "backslashreplace")


def parse_json(data: str | bytes) -> Any:
    """The value. Raises `ValueError`, also for what is nested too deep: `json.loads` raises `RecursionError` then."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deep") from None


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
