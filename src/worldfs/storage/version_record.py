"""The bytes of a log of versions: a line that names the version, and its content; checked by a sum.

    <time> <revision> <what> <length> <sum>\\n<content>\\n

Time in ns since 1970 and sum in hexadecimal digits; `what` is how the content is kept: `z` compressed, `r` as it was,
`=` as an earlier record of the file has it, whose place is named; `-` not at all; `d`: the file was removed. The last
one of a file is `e`: the log goes on in another.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final, NamedTuple
from zlib import compress, crc32, decompress

from .revision import of

PLAIN, PACKED, SAME, LEFT_OUT, REMOVED, END = "r", "z", "=", "-", "d", "e"
LARGEST: Final = 1 << 20  # bytes; of a longer content only the revision is kept
_NONE: Final = "-" * 16
_SHORT: Final = 64  # bytes that are not worth compressing
_HEAD_MOST: Final = 80


class VersionRecord(NamedTuple):
    """A version as it stands in a log; the content is at `start`, `length` bytes."""

    at_ns: int
    revision: str  # "": the file was removed
    what: str
    start: int
    length: int

    def content(self, kept: bytes) -> bytes | None:
        """The bytes of the version, of what is kept of it; None: nothing is, or not that."""
        if self.what in (LEFT_OUT, REMOVED):
            return None
        data = decompress(kept) if self.what == PACKED else kept
        return data if of(data) == self.revision else None


def encode_version(at_ns: int, revision: str, data: bytes | None, same: VersionRecord | None = None) -> bytes:
    """`revision` "": removed. `data` None: the content is not known any more. `same`: a record with that content."""
    what, kept = (LEFT_OUT if revision else REMOVED), b""
    if same is not None:
        what, kept = SAME, f"{same.start:x} {same.length:x} {same.what}".encode()
    elif revision and data is not None and len(data) <= LARGEST:
        what, kept = PLAIN, data
        if len(data) > _SHORT and len(packed := compress(data, 1)) < len(data):
            what, kept = PACKED, packed
    return _encode(at_ns, revision, what, kept)


def encode_end(at_ns: int) -> bytes:
    """The record after which a file has no other."""
    return _encode(at_ns, "", END, b"")


def _encode(at_ns: int, revision: str, what: str, kept: bytes) -> bytes:
    head = f"{at_ns:016x} {revision or _NONE} {what} {len(kept):x}"
    return f"{head} {crc32(kept, crc32(head.encode())):08x}\n".encode() + kept + b"\n"


class SegmentIndex:
    """The records of one file, as far as it was scanned. Its times never go back: a log begins another file then."""

    def __init__(self) -> None:
        self.records: list[VersionRecord] = []
        self.times: list[int] = []
        self.contents: dict[str, VersionRecord] = {}  # by revision
        self.end = 0  # of the last whole record
        self.closed = False  # the log goes on in another file
        self.size = 0  # of the file when it was last looked at: more than `end`, if its end is torn

    def scan(self, data: bytes, base: int = 0) -> None:
        """Take in what follows `end`; `data` begins at `base`. Ends at the first record that is not whole."""
        place = self.end - base
        while (found := _record(data, place, base)) is not None:
            record, place = found
            if record.what == END:
                self.closed = True
                break
            self.records.append(record)
            self.times.append(record.at_ns)
            if record.what in (PLAIN, PACKED):
                self.contents[record.revision] = record
        self.end = base + place

    def at(self, at_ns: int) -> VersionRecord | None:
        """The last version at or before a time."""
        index = bisect_right(self.times, at_ns)
        return self.records[index - 1] if index else None


def _record(data: bytes, place: int, base: int) -> tuple[VersionRecord, int] | None:
    line = data.find(b"\n", place, place + _HEAD_MOST)
    if line < 0:
        return None
    words = data[place:line].split(b" ")
    try:
        revision, what = words[1].decode("ascii"), words[2].decode("ascii")
        at, length = int(words[0], 16), int(words[3], 16)
        end = line + 1 + length
        sound = int(words[4], 16) == crc32(data[line + 1 : end], crc32(b" ".join(words[:4])))
    except (ValueError, IndexError):
        return None
    if not sound or data[end : end + 1] != b"\n":
        return None
    start, next_ = base + line + 1, end + 1
    if what == SAME:
        words = data[line + 1 : end].split(b" ")
        start, length, what = int(words[0], 16), int(words[1], 16), words[2].decode("ascii")
    return VersionRecord(at, "" if revision == _NONE else revision, what, start, length), next_
