"""The frames of 9P2000.L: bytes to requests, and replies to bytes.

Source: the protocol description of diod (9P2000.L) and section 5 of the Plan 9 manual (9P2000). A frame is
size[4] type[1] tag[2] and the fields of its type, little-endian.
"""

from __future__ import annotations

import errno
import struct
from typing import Final, NamedTuple

NO_TAG: Final = 0xFFFF
NO_FID: Final = 0xFFFF_FFFF
HEADER: Final = 7  # bytes of size, type and tag
MOST_NAMES: Final = 16  # of one walk
LERROR: Final = 7
_SIZES: Final = {"1": struct.Struct("<B"), "2": struct.Struct("<H"), "4": struct.Struct("<I"), "8": struct.Struct("<Q")}
_HEAD: Final = struct.Struct("<IBH")
_QID: Final = struct.Struct("<BIQ")

FieldValue = int | str | bytes | tuple[str, ...]

# type → name, and its fields as "name:kind". Kinds: a number of so many bytes; s: a string, size[2] first; n: names,
# count[2] first; d: data, count[4] first. A field with "?" may be left out at the end. The reply's type is one more.
_TABLE: Final[dict[int, tuple[str, str]]] = {
    8: ("statfs", "fid:4"),
    12: ("lopen", "fid:4 flags:4"),
    14: ("lcreate", "fid:4 name:s flags:4 mode:4 gid:4"),
    16: ("symlink", "fid:4 name:s target:s gid:4"),
    18: ("mknod", "fid:4 name:s mode:4 major:4 minor:4 gid:4"),
    20: ("rename", "fid:4 dfid:4 name:s"),
    22: ("readlink", "fid:4"),
    24: ("getattr", "fid:4 mask:8"),
    26: (
        "setattr",
        "fid:4 valid:4 mode:4 uid:4 gid:4 size:8 atime_s:8 atime_ns:8 mtime_s:8 mtime_ns:8",
    ),
    30: ("xattrwalk", "fid:4 newfid:4 name:s"),
    32: ("xattrcreate", "fid:4 name:s size:8 flags:4"),
    40: ("readdir", "fid:4 offset:8 count:4"),
    50: ("fsync", "fid:4 datasync:4?"),
    52: ("lock", "fid:4 kind:1 flags:4 start:8 length:8 process:4 client:s"),
    54: ("getlock", "fid:4 kind:1 start:8 length:8 process:4 client:s"),
    70: ("link", "dfid:4 fid:4 name:s"),
    72: ("mkdir", "fid:4 name:s mode:4 gid:4"),
    74: ("renameat", "fid:4 name:s newfid:4 newname:s"),
    76: ("unlinkat", "fid:4 name:s flags:4"),
    100: ("version", "msize:4 version:s"),
    102: ("auth", "afid:4 uname:s aname:s uid:4?"),
    104: ("attach", "fid:4 afid:4 uname:s aname:s uid:4?"),
    108: ("flush", "oldtag:2"),
    110: ("walk", "fid:4 newfid:4 names:n"),
    116: ("read", "fid:4 offset:8 count:4"),
    118: ("write", "fid:4 offset:8 data:d"),
    120: ("clunk", "fid:4"),
    122: ("remove", "fid:4"),
}


class FrameField(NamedTuple):
    name: str
    kind: str
    optional: bool = False


REQUESTS: Final = {
    type: (
        name,
        tuple(
            FrameField(field, kind.rstrip("?"), kind.endswith("?"))
            for field, _, kind in (word.partition(":") for word in fields.split())
        ),
    )
    for type, (name, fields) in _TABLE.items()
}


class MalformedRequest(Exception):
    """A frame that is no request; the peer gets `number` as the error of `tag`."""

    def __init__(self, tag: int, number: int, text: str) -> None:
        super().__init__(text)
        self.tag, self.number = tag, number


class NinePRequest(NamedTuple):
    type: int
    name: str
    tag: int
    fields: dict[str, FieldValue]

    def number(self, name: str, default: int = 0) -> int:
        value = self.fields.get(name, default)
        assert isinstance(value, int)
        return value

    def text(self, name: str) -> str:
        value = self.fields[name]
        assert isinstance(value, str)
        return value

    def names(self) -> tuple[str, ...]:
        value = self.fields["names"]
        assert isinstance(value, tuple)
        return value

    def data(self) -> bytes:
        value = self.fields["data"]
        assert isinstance(value, bytes)
        return value


def decode(frame: bytes) -> NinePRequest:
    """A whole frame, its size included. Raises `MalformedRequest`, and nothing else."""
    if len(frame) < HEADER:
        raise MalformedRequest(NO_TAG, errno.EPROTO, f"a frame of {len(frame)} bytes has no header")
    _, type, tag = _HEAD.unpack_from(frame)
    row = REQUESTS.get(type)
    if row is None:
        raise MalformedRequest(tag, errno.EOPNOTSUPP, f"unknown request type {type}")
    reader = _FieldReader(frame, tag)
    fields = {
        field.name: reader.take(field.kind) for field in row[1] if not (field.optional and reader.at == len(frame))
    }
    if reader.at != len(frame):
        raise MalformedRequest(tag, errno.EPROTO, f"{len(frame) - reader.at} bytes after the end of a {row[0]}")
    return NinePRequest(type, row[0], tag, fields)


def encode(request: NinePRequest) -> bytes:
    """The bytes of a request, as a client sends them."""
    parts: list[bytes] = []
    for field in REQUESTS[request.type][1]:
        if field.name in request.fields:
            parts.append(_encoded(field.kind, request.fields[field.name]))
    return frame(request.type, request.tag, b"".join(parts))


def frame(type: int, tag: int, body: bytes = b"") -> bytes:
    return _HEAD.pack(HEADER + len(body), type, tag) + body


def error_frame(tag: int, number: int) -> bytes:
    return frame(LERROR, tag, _SIZES["4"].pack(number))


def qid(directory: bool, version: int, path: int) -> bytes:
    return _QID.pack(0x80 if directory else 0, version & 0xFFFF_FFFF, path)


def text_field(text: str) -> bytes:
    return _encoded("s", text)


def data_field(data: bytes) -> bytes:
    return _encoded("d", data)


def numbers(kinds: str, *values: int) -> bytes:
    """Numbers, each with so many bytes: `numbers("48", 1, 2)`."""
    return b"".join(_SIZES[kind].pack(value) for kind, value in zip(kinds, values, strict=True))


def _encoded(kind: str, value: FieldValue) -> bytes:
    match kind, value:
        case "s", str():
            raw = value.encode("utf-8", "surrogateescape")
            return _SIZES["2"].pack(len(raw)) + raw
        case "d", bytes():
            return _SIZES["4"].pack(len(value)) + value
        case "n", tuple():
            return _SIZES["2"].pack(len(value)) + b"".join(_encoded("s", name) for name in value)
        case _, int():
            return _SIZES[kind].pack(value)
    raise TypeError(f"{value!r} is no field of kind {kind}")


class _FieldReader:
    """Reads fields one after another; never past the end of the frame."""

    def __init__(self, frame: bytes, tag: int) -> None:
        self._frame, self._tag = frame, tag
        self.at = HEADER

    def take(self, kind: str) -> FieldValue:
        match kind:
            case "s":
                return self._bytes(self._number("2")).decode("utf-8", "surrogateescape")
            case "d":
                return self._bytes(self._number("4"))
            case "n":
                count = self._number("2")
                if count > MOST_NAMES:
                    raise MalformedRequest(self._tag, errno.EINVAL, f"a walk of {count} names; at most {MOST_NAMES}")
                return tuple(self._bytes(self._number("2")).decode("utf-8", "surrogateescape") for _ in range(count))
        return self._number(kind)

    def _number(self, kind: str) -> int:
        size = _SIZES[kind]
        return int(size.unpack(self._bytes(size.size))[0])

    def _bytes(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self._frame):
            raise MalformedRequest(self._tag, errno.EPROTO, "the frame ends inside a field")
        found = self._frame[self.at : end]
        self.at = end
        return found
