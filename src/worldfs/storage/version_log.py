"""The versions of one key, in order: files of records below `.paos/versions/<key>/`, found by time.

    <number>-<time of its first record>-<length of the file before it>

A file is never changed but at its end, and the next one is begun when it is long, when its end is torn, or when the
clock has gone back. So a look-up lists the names, reads one file and bisects: its cost does not grow with the history.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final, NamedTuple

from worldfs.base.dir_reader import DirEntryRef
from worldfs.base.durable import Root
from worldfs.base.logfile import LogFile

from .version_record import SegmentIndex, VersionRecord, encode_end, encode_version

SEGMENT: Final = 1 << 17  # bytes
_KEPT: Final = 8  # files whose records stay in memory


class SegmentName(NamedTuple):
    number: int
    first_ns: int
    before: int  # length of the file before it, when this one was begun

    @property
    def name(self) -> str:
        return f"{self.number:08d}-{self.first_ns:016x}-{self.before:x}"


class Located(NamedTuple):
    """A version of a log, and where it is. `lost`: that place is damaged."""

    record: VersionRecord
    segment: SegmentName
    lost: bool = False


class VersionLog:
    """Usable from many threads. `append` is called with the store's lock held: one process adds at a time."""

    def __init__(self, root: Root, home: str) -> None:
        self._root, self.home = root, home
        self._mutex = threading.RLock()
        self._indexes: OrderedDict[SegmentName, SegmentIndex] = OrderedDict()
        self._file: LogFile | None = None  # the newest one
        self._newest: SegmentName | None = None

    def close(self) -> None:
        """Not while another thread writes to it: the number of a closed file may soon be another file's."""
        with self._mutex:
            if self._file is not None:
                self._file.close()
                self._file = None

    # -- reading ---------------------------------------------------------------------------------------------------

    def segments(self) -> list[SegmentName]:
        """Oldest first."""
        try:
            names = self._root.folder(self.home).names()
        except FileNotFoundError:
            return []
        return sorted(found for name in names if (found := _parse(name)) is not None)

    def last(self) -> VersionRecord | None:
        for segment in reversed(self.segments()):
            index = self._index(segment)
            if index.records:
                return index.records[-1]
        return None

    def at(self, at_ns: int) -> Located | None:
        """The version that was written last of those whose time is not after `at_ns`; None: there is none."""
        segments = self.segments()
        while segments:
            # The clock may have gone back: what was written later counts, from the earliest time that it has.
            earliest = [segment.first_ns for segment in segments]
            for turn in range(len(earliest) - 2, -1, -1):
                earliest[turn] = min(earliest[turn], earliest[turn + 1])
            place = bisect_right(earliest, at_ns)
            if not place:
                return None
            segment = segments[place - 1]
            index = self._index(segment)
            record = index.at(at_ns)
            if record is not None:
                lost = place < len(segments) and segments[place].before > index.end and record is index.records[-1]
                return Located(record, segment, lost)
            segments = segments[: place - 1]  # its first record is torn
        return None

    def newest_first(self) -> Iterator[Located]:
        for segment in reversed(self.segments()):
            for record in reversed(self._index(segment).records):
                yield Located(record, segment)

    def times_since(self, at_ns: int) -> set[int]:
        """The times of the versions written from the first one on that is not before `at_ns`, and of some before."""
        found: set[int] = set()
        for segment in reversed(self.segments()):
            found.update(self._index(segment).times)
            if segment.first_ns < at_ns:
                break
        return found

    def _index(self, segment: SegmentName) -> SegmentIndex:
        """The records of a file, with what was added since it was read last."""
        with self._mutex:
            index = self._indexes.pop(segment, None) or SegmentIndex()
            self._indexes[segment] = index
            while len(self._indexes) > _KEPT:
                self._indexes.popitem(last=False)
            fd = self._open(segment)
            if fd is None:
                return index
            try:
                index.size = os.fstat(fd).st_size
                if index.size > index.end:
                    index.scan(_read(fd, index.end, index.size), index.end)
            finally:
                os.close(fd)
            return index

    def content(self, found: Located) -> bytes | None:
        """The bytes of a version; None: they were not kept."""
        record, segment, lost = found
        if lost:
            return None
        if not record.length:
            return record.content(b"")
        fd = self._open(segment)
        if fd is None:  # dropped just now
            return None
        try:
            return record.content(_read(fd, record.start, record.start + record.length))
        finally:
            os.close(fd)

    def _open(self, segment: SegmentName) -> int | None:
        place = self._root.locate(f"{self.home}/{segment.name}")
        return None if place is None else self._root.open(place)

    # -- writing ---------------------------------------------------------------------------------------------------

    def tip(self, *, asked: bool = False) -> VersionRecord | None:
        """The last version, with the store's lock held: asks the disk for one file. `asked`: as for `append`."""
        with self._mutex:
            index = self._writing(asked=asked)
            return index.records[-1] if index is not None and index.records else self.last()

    def append(self, at_ns: int, revision: str, data: bytes | None, *, asked: bool = False) -> bool:
        """Add a version; not durable before `sync`. Returns whether a file was begun.

        `asked`: the caller has called `tip` since it took the store's lock, so no other process has added anything.
        """
        with self._mutex:
            index, newest = self._writing(asked=asked), self._newest
            begun = index is None or newest is None or self._file is None
            if index is not None and newest is not None and self._file is not None:
                torn, back = index.size > index.end, bool(index.times) and at_ns < index.times[-1]
                if begun := (torn or back or index.end >= SEGMENT):
                    if not torn:
                        self._file.append(encode_end(at_ns), durable=False)
                    self._file.sync()
                    newest = SegmentName(newest.number + 1, at_ns, index.end)
            if begun:
                index, newest = None, newest or SegmentName(1, at_ns, 0)
                self._create(newest)
                self._begin(newest)
            assert self._file is not None
            same = None if index is None else index.contents.get(revision)
            added = encode_version(at_ns, revision, data, same)
            self._file.append(added, durable=False)
            if index is not None:
                index.scan(added, index.end)
            return begun

    def _writing(self, *, asked: bool = False) -> SegmentIndex | None:
        """The newest file, open for adding to it, and its records; None: there is no file."""
        if self._newest is not None and self._file is not None:
            index = self._indexes.get(self._newest)
            same = (asked or self._file.refresh()) and self._file.inode
            if index is not None and same:
                index.size = self._file.size
                if index.size > index.end:
                    index.scan(self._file.read(index.end, index.size - index.end), index.end)
                if not index.closed and index.size == index.end:
                    return index
        segments = self.segments()
        if not segments:
            return None
        if segments[-1] != self._newest or self._file is None:
            self._begin(segments[-1])
        return self._index(segments[-1])

    def _create(self, segment: SegmentName) -> None:
        """An empty file, whose name `sync` makes durable."""
        path = f"{self.home}/{segment.name}"
        place = self._root.ensure_parent(path, durable=False)
        os.close(self._root.disk.create(place.folder.fd, place.name, path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW))

    def _begin(self, segment: SegmentName) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._newest = LogFile(self._root, f"{self.home}/{segment.name}"), segment
        self._file.refresh()

    def begin_sync(self) -> None:
        """The disk may begin with what was added; only `sync` says that it is done."""
        with self._mutex:
            if self._file is not None:
                self._file.begin_sync()

    def sync(self) -> None:
        """What was added so far is durable when it returns, whoever added it."""
        with self._mutex:
            if self._writing() is not None and self._file is not None:
                self._file.sync()

    def drop(self, segment: SegmentName) -> None:
        """Remove an old file; another process may have done it."""
        self._root.drop(DirEntryRef(self._root.folder(self.home), segment.name, f"{self.home}/{segment.name}"))


def _read(fd: int, start: int, end: int) -> bytes:
    parts = []
    while start < end and (part := os.pread(fd, end - start, start)):
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _parse(name: str) -> SegmentName | None:
    try:
        number, first, before = name.split("-")
        return SegmentName(int(number), int(first, 16), int(before, 16))
    except ValueError:
        return None
