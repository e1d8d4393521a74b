"""The pose frame: where the bodies of a scene are, as bytes that a page can read without a library.

Little-endian. Head: number u32, revision u32 (of the geometry that the indices belong to), simulated time f64 (s) and
count u16; then `count` rows of 22 bytes: index u16, position 3 × f32 (m), orientation 4 × i16 (w x y z, in 1/32767).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

HEAD: Final = struct.Struct("<IIdH")
ROW: Final = struct.Struct("<H3f4h")
TURN: Final = 32767

PoseRow = tuple[int, Sequence[float]]  # the body's index; x y z (m), w x y z


class PoseFrame(NamedTuple):
    """A frame, decoded: `poses` by the body's index."""

    number: int
    revision: int
    time: float
    poses: dict[int, tuple[float, ...]]


def encode_frame(number: int, revision: int, time: float, rows: Iterable[PoseRow]) -> bytes:
    body = [
        ROW.pack(index, *map(float, pose[:3]), *(round(TURN * max(-1.0, min(1.0, float(v)))) for v in pose[3:7]))
        for index, pose in rows
    ]
    return HEAD.pack(number, revision, time, len(body)) + b"".join(body)


def decode_frame(data: bytes) -> PoseFrame:
    """Raises `ValueError` for what is no whole frame."""
    if len(data) < HEAD.size or len(data) != HEAD.size + HEAD.unpack_from(data)[3] * ROW.size:
        raise ValueError(f"{len(data)} bytes are no frame")
    number, revision, time, _ = HEAD.unpack_from(data)
    rows = ROW.iter_unpack(data[HEAD.size :])
    return PoseFrame(number, revision, time, {i: (x, y, z, *(v / TURN for v in q)) for i, x, y, z, *q in rows})


def frame_number(data: bytes) -> tuple[int, int]:
    """Number and revision of a frame; (0, 0) for none."""
    return HEAD.unpack_from(data)[:2] if len(data) >= HEAD.size else (0, 0)
