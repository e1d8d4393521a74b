"""Fields of config.json, read by key; a value of the wrong kind is refused with the key as the operator writes it."""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Any, TypeVar

from worldfs.base.errors import BadInput
from worldfs.base.messages import CodedText, coded

Json = dict[str, Any]
PATH = "config.json"
LONGEST_S = 366 * 86400.0


_KINDS = {
    dict: "file.object", list: "file.list", str: "file.text", bool: "file.true_or_false", NoneType: "common.nothing",
}  # fmt: skip


T = TypeVar("T")
Refusals = list[BadInput]


def read_or_refuse(refused: Refusals, read: Callable[[], T], default: T) -> T:
    """What a part of the file says; a part that cannot be used is refused by name, and the rest goes on without it."""
    try:
        return read()
    except BadInput as error:
        refused.append(error)
        return default


def kind_of(value: object) -> CodedText:
    """The kind of a value of JSON, and not the value, which may be a secret."""
    return coded(_KINDS.get(type(value), "file.number"))


def mapping(document: Json, key: str, where: str = "") -> Json:
    value = document.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise bad_field(where or key, kind_of(value), coded("file.object"))
    return value


def text(document: Json, key: str, where: str, default: str = "") -> str:
    value = document.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise bad_field(where, kind_of(value), coded("config.quoted"))
    if "\0" in value or not _encodable(value):
        raise bad_field(where, repr(value)[:80], coded("config.file_text"))
    return value.strip() or default


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return True


def bad_field(where: str, found: str, expected: str) -> BadInput:
    return BadInput(
        coded("file.at", where=where, found=found),
        path=PATH,
        op="read",
        expected=expected,
        fix=coded("file.correct_config", where=where),
    )


def seconds(document: Json, key: str, where: str, default: float) -> float:
    """A number of seconds, more than 0."""
    value = document.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST_S:
        raise bad_field(where, f"{value!r:.40}", coded("config.seconds"))
    return float(value)
