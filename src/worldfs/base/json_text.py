"""JSON as the served tree writes it (no spaces, keys in the order given, no newline at the end), and how it is read."""

from __future__ import annotations

import json
from typing import Any, Final

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
