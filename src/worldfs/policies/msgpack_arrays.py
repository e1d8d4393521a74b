"""Arrays in msgpack as openpi writes them: maps whose keys are BIN (openpi-client 0.1.2, msgpack_numpy)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from worldfs.base.messages import coded

from .arrays import KINDS, MOST_VALUES, array_of, plain_dtype
from .policy_client import PolicyError

LONGEST: Final = 1 << 16  # items of one list or map


def pack(value: object) -> bytes:
    """Raises `PolicyError` (POLICY_CLIENT) for what the protocol cannot carry."""
    import msgpack

    try:
        return bytes(msgpack.packb(value, default=_as_map))
    except (TypeError, ValueError, OverflowError) as error:
        raise PolicyError(
            coded("session.unsendable", why=str(error)), expected=coded("session.sendable"),
            fix=coded("session.send_numbers"), code="POLICY_CLIENT",
        ) from None  # fmt: skip


def unpack(data: bytes) -> object:
    """Raises `PolicyError` (POLICY_PROTOCOL) for what is no msgpack, or an array that does not fit."""
    import msgpack

    try:
        return read_msgpack(data, _as_array)
    except (ValueError, TypeError, msgpack.UnpackException, RecursionError) as error:
        raise PolicyError(
            coded("session.no_msgpack", why=str(error)), expected=coded("session.msgpack_map"), code="POLICY_PROTOCOL",
            fix=coded("session.see_protocol"),
        ) from None  # fmt: skip


def read_msgpack(data: bytes, hook: Callable[[dict[object, object]], object], *, strict_map_key: bool = True) -> object:
    """As `msgpack.unpackb` with an object hook. Raises `ValueError` past `MOST_VALUES`: an empty list is one byte."""
    import msgpack

    left = MOST_VALUES

    def counted(items: list[object]) -> list[object]:
        nonlocal left
        left -= 1 + len(items)
        if left < 0:
            raise ValueError(f"more than {MOST_VALUES} values")
        return items

    def hooked(value: dict[object, object]) -> object:
        counted(list(value))
        return hook(value)

    longest = min(LONGEST, len(data))  # of one list or map: the unpacker makes room for as many as its head says
    return msgpack.unpackb(
        data, object_hook=hooked, list_hook=counted, strict_map_key=strict_map_key, max_array_len=longest,
        max_map_len=longest,
    )  # fmt: skip


def _as_map(value: object) -> dict[bytes, object]:
    if isinstance(value, np.ndarray) and value.dtype.kind in KINDS + "SU":
        return {
            b"__ndarray__": True, b"data": value.tobytes(), b"dtype": value.dtype.str, b"shape": value.shape
        }  # fmt: skip
    if isinstance(value, np.generic) and value.dtype.kind in KINDS:
        return {b"__npgeneric__": True, b"data": value.item(), b"dtype": value.dtype.str}
    raise TypeError(f"{type(value).__name__} {getattr(value, 'dtype', '')}")


def _as_array(value: dict[object, object]) -> object:
    if b"__ndarray__" in value:
        return array_of(value.get(b"data"), value.get(b"dtype"), value.get(b"shape"))
    if b"__npgeneric__" in value:
        kind, data = plain_dtype(value.get(b"dtype")), value.get(b"data")
        if not isinstance(data, bool | int | float):
            raise ValueError("no scalar number")
        return kind.type(data)
    return value
