"""Secrets marked out of what is about to be written: known kinds of keys, passwords in addresses and assignments.

One cheap search of every text decides whether any kind is tried at all. A secret becomes `[redacted:KIND]`; nothing
else is touched, and a text without secrets comes back as the same object.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from worldfs.base.errors import BadInput

from .secret_kinds import (
    GUARDED,
    HINTS,
    KINDS,
    PASSWORD_VALUE,
    PLAIN,
    SECRET_NAME,
    SECRET_VALUE,
    WIDE,
    SecretKind,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


@lru_cache(1000)
def _says(key: str) -> tuple[str, str]:
    """(the end of a member's name that says `secret`, which kind it says); empty for other names."""
    name = _compiled(SECRET_NAME).search(key)
    return ("", "") if name is None else (name[0], "password" if name["password"] else "secret")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def may_hold_secret(lower: str) -> bool:
    """May a text, in small letters, hold a secret? Plain searches of plain words: faster than one pattern of them, and
    most of them are not made: what has no `_` has no word with one."""
    has = lower.__contains__
    for sign, hints in GUARDED:
        if sign in lower and any(map(has, hints)):
            return True
    return any(map(has, PLAIN)) or (not lower.isascii() and any(map(has, WIDE)))


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without secrets, and the kinds that were found."""
    kinds = _likely(text.lower())
    return _marked(text, kinds) if kinds else (text, ())


def redact_bytes(data: bytes) -> bytes:
    """A UTF-8 text without secrets, JSON still JSON; the same object when there is none, or when it is no text."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    if "\\u" in text and text.lstrip("\ufeff \t\r\n").startswith("{"):
        data, text = _without_escapes(data, text)
    new, found = redact(text)
    return new.encode() if found else data


def redact_value(value: T) -> T:
    """A JSON value whose strings hold no secrets; the same object when none did. Keys stay as they are."""
    strings: list[str] = []
    _gather(value, strings)
    kinds = _likely("\n".join(strings).lower())
    if not kinds:
        return value
    named = any(kind.name in ("secret", "password") for kind in kinds)
    return _walk(value, kinds, named)  # type: ignore[no-any-return]  # the same shape, other strings


def _likely(lower: str) -> list[SecretKind]:
    """The kinds that a text, in small letters, hints at."""
    if not may_hold_secret(lower):
        return []
    met = [hint for hint in HINTS if hint in lower]
    near = (kind for kind in KINDS if any(part in hint for hint in kind.hints for part in met))
    return [kind for kind in near if any(hint in lower for hint in kind.hints)]


def _marked(text: str, kinds: Sequence[SecretKind]) -> tuple[str, tuple[str, ...]]:
    lower, found = text.lower(), []
    for kind in kinds:
        if any(hint in lower for hint in kind.hints):
            pattern = _compiled(kind.pattern)
            mark = f"[redacted:{kind.name}]"
            new, count = pattern.subn(rf"\g<kept>{mark}" if pattern.groups else mark, text)
            if count:
                text = new
                found.append(kind.name)
    return text, tuple(dict.fromkeys(found))


def _without_escapes(data: bytes, text: str) -> tuple[bytes, str]:
    """A JSON file whose secrets, or the words before them, may be written as escapes: its values are looked at."""

    from .jsonfile import load, render

    try:
        value = load(data, "")
    except BadInput:
        return data, text
    clean = redact_value(value)
    if clean is value:
        return data, text
    data = render(clean, data, old=value)
    return data, data.decode()


def _gather(value: Any, into: list[str]) -> None:
    kind = type(value)
    if kind is str:
        into.append(value)
    elif kind is dict:
        for key, item in value.items():
            if type(key) is str:
                into.append(key)
            if type(item) is str:
                into.append(item)
            else:
                _gather(item, into)
    elif kind is list or kind is tuple:
        for item in value:
            _gather(item, into)


def _walk(value: Any, kinds: Sequence[SecretKind], named: bool) -> Any:
    kind = type(value)
    if kind is str:
        return _marked(value, kinds)[0]
    if kind is dict:
        new = {key: _member(key, item, kinds, named) for key, item in value.items()}
        return new if any(new[key] is not item for key, item in value.items()) else value
    if kind is list or kind is tuple:
        items = [_walk(item, kinds, named) for item in value]
        return kind(items) if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def _member(key: Any, item: Any, kinds: Sequence[SecretKind], named: bool) -> Any:
    """A value whose key says that it is a secret is one if it looks like one, or as far as it does."""
    if not named or type(item) is not str or type(key) is not str:
        return _walk(item, kinds, named)
    clean: str = _marked(item, kinds)[0]
    name, kind = _says(key) if clean is item else ("", "")
    if not name:
        return clean
    if _compiled(PASSWORD_VALUE if kind == "password" else SECRET_VALUE).match(item):
        return f"[redacted:{kind}]"
    text = _marked(f"{name}={item}", kinds)[0]
    return text.removeprefix(f"{name}=") if text != f"{name}={item}" else item
