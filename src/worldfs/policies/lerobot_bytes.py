"""LeRobot's messages as bytes, without LeRobot: its protobuf fields, and pickles that name its classes.

What is sent are pickles that LeRobot's server reads as its own classes (lerobot.async_inference.helpers): a class by
name, and its members. Pickling needs no class here, since a pickle has only its name.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping

PIECE = 2 * 1024 * 1024  # lerobot.transport.utils.CHUNK_SIZE
BEGIN, MIDDLE, END = 1, 2, 3  # transport.TransferState
HELPERS = "lerobot.async_inference.helpers"  # 0.4 and later; 0.3: lerobot.scripts.server.helpers


def as_instance(module: str, name: str, members: Mapping[str, object]) -> bytes:
    """The pickle of an instance of a plain dataclass `module.name`. Protocol 3: `cls.__new__(cls)`, then its dict."""
    inner = pickle.dumps(dict(members), 3)[2:-1]  # without PROTO and STOP
    return b"\x80\x03c" + module.encode() + b"\n" + name.encode() + b"\n)\x81" + inner + b"b."


def pieces(data: bytes) -> Iterator[bytes]:
    """Observation messages {transfer_state = 1, data = 2}, as LeRobot's send_bytes_in_chunks cuts them."""
    for start in range(0, len(data), PIECE):
        part = data[start : start + PIECE]
        state = END if start + PIECE >= len(data) else BEGIN if start == 0 else MIDDLE
        yield b"\x08" + bytes((state,)) + _bytes_field(2, part)


def setup(data: bytes) -> bytes:
    """PolicySetup {data = 1}."""
    return _bytes_field(1, data)


def read_actions(message: bytes) -> bytes:
    """The data (field 1) of an Actions message; b"" for the empty one. ValueError for what is no message."""
    at, found = 0, b""
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 0:
            _, at = _varint(message, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            size, at = _varint(message, at)
            if at + size > len(message):
                raise ValueError("a field ends after the message")
            if tag >> 3 == 1:
                found = message[at : at + size]
            at += size
        else:
            raise ValueError(f"wire type {kind}")
    if at > len(message):
        raise ValueError("a field ends after the message")
    return found


def _bytes_field(number: int, data: bytes) -> bytes:
    size, head = len(data), bytearray((number << 3 | 2,))
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    head.append(size)
    return bytes(head) + data


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    raise ValueError("a number does not end")
