"""Validation of a payload's fields: a missing one is `missing_field`, a wrong one `invalid_payload`.

Limits are ours where acheron §3 names none; they bound the state that one request can create.
"""

from __future__ import annotations

import re
from typing import Final

from worldfs.formats.wire.frames import Json

from .plane_error import PlaneError

ID_MAX: Final = 128
AGENT_MAX: Final = 64
NAME_MAX: Final = 128
VISION_MAX: Final = 1024
PATH_MAX: Final = 1024
URL_MAX: Final = 2048
LABELS_MAX: Final = 64
MONTH_MS: Final = 30 * 24 * 3_600_000  # the longest duration
_ID: Final = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_EXPORT: Final = re.compile(r"[A-Za-z0-9._:-]+", re.ASCII)
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_CONTROL_TEXT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")  # tab, line ends allowed


def invalid() -> PlaneError:
    return PlaneError("invalid_payload")


def is_id(value: object, limit: int = ID_MAX) -> bool:
    """Whether it is an identifier of the protocol; `.` and `..` are not."""
    return (
        isinstance(value, str) and len(value) <= limit and _ID.fullmatch(value) is not None and value.strip(".") != ""
    )


def required_text(payload: Json, key: str) -> str:
    """A non-empty string."""
    value = payload.get(key)
    if value is None or value == "":
        raise PlaneError("missing_field")
    if not isinstance(value, str):
        raise invalid()
    return value


def optional(payload: Json, key: str) -> str | None:
    value = payload.get(key)
    if value is not None and not isinstance(value, str):
        raise invalid()
    return value


def identifier(payload: Json, key: str, limit: int = ID_MAX) -> str:
    value = required_text(payload, key)
    if not is_id(value, limit):
        raise invalid()
    return value


def line(value: object, limit: int, *, empty: bool = False) -> str:
    """One line of display text without control characters."""
    if not isinstance(value, str) or len(value) > limit or (not value and not empty) or _CONTROL.search(value):
        raise invalid()
    return value


def text(value: object, limit: int) -> str:
    """Display text of several lines; terminal escapes and the like are refused. `limit` in UTF-8 bytes."""
    if not isinstance(value, str) or len(value) > limit or _CONTROL_TEXT.search(value):
        raise invalid()
    if len(value.encode()) > limit:
        raise invalid()
    return value


def milliseconds(payload: Json, key: str, default: int) -> int:
    """A duration above zero; longer ones are cut to a month."""
    value = payload.get(key, default)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise invalid()
    return min(value, MONTH_MS)


def limit_of(payload: Json, key: str, default: int, most: int) -> int:
    """A count: zero or more, cut to `most`."""
    value = payload.get(key, default)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise invalid()
    return min(value, most)


def flag(payload: Json, key: str, default: bool) -> bool:
    value = payload.get(key, default)
    if not isinstance(value, bool):
        raise invalid()
    return value


def url(payload: Json) -> str | None:
    """`fs_url`: empty or a WebSocket address; the server will connect to it, so nothing else is accepted."""
    value = optional(payload, "fs_url")
    if value is None or value == "":
        return value
    line(value, URL_MAX)
    if not value.startswith(("ws://", "wss://")) or " " in value:
        raise invalid()
    return value


def platform(payload: Json, before: tuple[str, str, str]) -> tuple[str, str, str]:
    """`{"os","arch","runtime_kind"}`; omitted fields stay."""
    value = payload.get("platform")
    if value is None:
        return before
    if not isinstance(value, dict):
        raise invalid()
    got = []
    for key, known in zip(("os", "arch", "runtime_kind"), before, strict=True):
        given = value.get(key)
        got.append(known if given is None else line(given, ID_MAX))
    return got[0], got[1], got[2]


def labels(payload: Json, before: dict[str, str]) -> dict[str, str]:
    """`{str: str}`; replaces all labels when given."""
    value = payload.get("labels")
    if value is None:
        return before
    if not isinstance(value, dict) or len(value) > LABELS_MAX:
        raise invalid()
    return {line(key, ID_MAX): line(given, PATH_MAX, empty=True) for key, given in value.items()}


def export_name(payload: Json) -> str:
    value = required_text(payload, "export_name")
    if len(value) > ID_MAX or _EXPORT.fullmatch(value) is None or not value.strip("."):
        raise invalid()
    return value


def mount_path(payload: Json) -> str:
    """Absolute and plain: `docs/api/` is `/docs/api`. Components `.` and `..` are refused."""
    value = line(required_text(payload, "mount_path"), PATH_MAX)
    parts = [part for part in value.split("/") if part]
    if any(part in (".", "..") for part in parts):
        raise invalid()
    return "/" + "/".join(parts)


def absolute(value: object) -> str:
    """A path of the tree as manifests name it: absolute, no empty, `.` or `..` component, no control character."""
    path = line(value, PATH_MAX)
    if path[0] != "/" or any(part in ("", ".", "..") for part in path[1:].removesuffix("/").split("/")):
        raise invalid()
    return path
