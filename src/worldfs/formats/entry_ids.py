"""Ids of entries: which are safe as a file name, and the id of an entry without one (workspace D22, D24)."""

from __future__ import annotations

import json
from typing import Any

from worldfs.base.messages import coded
from worldfs.base.model import Json

MAX_LENGTH = 200  # bytes of UTF-8; a job's directory carries the id, and file names end at 255

# what worldfs writes back into an entry: no part of the order
TRANSIENT = frozenset(("status", "result", "error", "started_at", "completed_at", "message"))


def unsafe(id: str) -> str:
    """Why an id cannot be a name in a directory, or "" if it can."""
    if not id:
        return coded("file.id_empty")
    if "/" in id or "\\" in id:
        return coded("file.id_path")
    if id.startswith("."):
        return coded("file.id_dot")
    if not id.isprintable():
        return coded("file.id_unprintable")
    if id != id.strip():
        return coded("file.id_space")
    if len(id.encode()) > MAX_LENGTH:
        return coded("file.id_long", n=MAX_LENGTH)
    return ""


def told(entry: Json, key: str = "id") -> str:
    """The id that an entry of ENVIRONMENT.md tells: a whole number as its text, its name where it has no id; "" for
    one that has neither."""
    return text(entry.get(key)) or text(entry.get("name"))


def text(value: Any) -> str:
    """A text, or a whole number as one; "" for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.strip() else ""


def of_entry(entry: Json, prefix: str = "") -> str:
    """The id of an entry without one: 12 hex digits of what it orders, so that the same text gives the same id."""
    ordered = {key: value for key, value in entry.items() if key not in TRANSIENT}
    return prefix + digest(ordered)[:12]


def digest(value: Any) -> str:
    """SHA-256 of a JSON value: key order and the spelling of numbers (1, 1.0, 1e0) do not matter."""
    import hashlib  # loads OpenSSL, which a reader of a page does not need

    text = json.dumps(_canonical(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
