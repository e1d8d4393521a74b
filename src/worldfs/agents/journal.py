"""The journal of an agent: the record of what happened, and of what was committed. One line an entry, numbered.

    journal.jsonl                  the live segment: fsynced before a call returns
    .paos/journal/<first>.jsonl    sealed segments, named by their first number
    .paos/journal.jsonl            a shadow of the live segment, never fsynced: what foreign edits are undone from
    .paos/journal.mark             what the live segment looked like after our last append, a checksum of the shadow:
                                   neither surely survives a power cut, but together they show whether they did

Lines that were there before us have no number and stay as they are. A whole line that another process adds at the end
is taken over and numbered; any other foreign change is set aside and undone.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from json.encoder import c_make_encoder as _make  # type: ignore[attr-defined]  # what `dumps` builds at each call
from json.encoder import encode_basestring as _quote
from typing import Final, NamedTuple
from zlib import crc32

from worldfs.base.dir_reader import DirEntryRef
from worldfs.base.errors import UserError
from worldfs.base.json_text import parse_json
from worldfs.base.logfile import LogFile
from worldfs.base.model import Json
from worldfs.formats.agent.redact import may_hold_secret, redact_value
from worldfs.storage.revision import PRIVATE_DIR

from .agent_directory import AgentDirectory

NAME: Final = "journal.jsonl"
SHADOW: Final = f"{PRIVATE_DIR}/journal.jsonl"
MARK: Final = f"{PRIVATE_DIR}/journal.mark"
SEALED: Final = f"{PRIVATE_DIR}/journal"
LIMIT: Final = 8 << 20  # bytes of the live segment
LINE_MAX: Final = 4 << 20  # bytes of one line
MANY: Final = 20_000  # entries held in memory at most by `since`
_CHUNK: Final = 1 << 16
_RESERVED: Final = ("ts", "event", "seq")


class _SegmentState(NamedTuple):
    """The live segment as our last append left it."""

    inode: int = 0
    size: int = 0
    mtime: int = 0
    seq: int = 0
    first: int = 0  # number of its first numbered line, 0: none yet
    crc: int = 0  # CRC-32 of the shadow
    boot: int = 0  # of the machine: after another one, size and mtime may be there without the bytes


class Journal:
    """Appends need no care of the caller; reading takes no lock and sees whole lines only."""

    def __init__(self, agent_dir: AgentDirectory, *, limit: int = LIMIT) -> None:
        self.agent_dir = agent_dir
        self.live = LogFile(agent_dir.root, NAME)
        self.shadow = LogFile(agent_dir.root, SHADOW)
        self.limit = limit
        self.seen = _SegmentState()
        self._mark_fd = -1
        self._boot = -1

    def close(self) -> None:
        self.live.close()
        self.shadow.close()
        if self._mark_fd >= 0:
            os.close(self._mark_fd)
            self._mark_fd = -1

    # -- writing ----------------------------------------------------------------------------------------------------

    def append(self, event: str, fields: Json | None = None, *, durable: bool = True) -> int:
        """One entry; its number. Durable when it returns."""
        return self.append_many([{"event": event, **(fields or {})}], durable=durable)

    def append_many(self, entries: Sequence[Json], *, durable: bool = True) -> int:
        """Entries in their order, as one write; the number of the last. `ts` is set where it is missing."""
        with self.agent_dir.locked():
            return self.add(entries, durable=durable)

    def add(self, entries: Sequence[Json], *, durable: bool = True) -> int:
        """As `append_many`. Call inside `locked`."""
        self._ready()
        now, seq = self.agent_dir.now(), self.seen.seq
        lines = [encode_entry(entry, seq, now) for seq, entry in enumerate(entries, seq + 1)]
        self._write(lines[0] if len(lines) == 1 else b"".join(lines), len(lines), durable)
        return self.seen.seq

    def sync(self) -> None:
        """What any caller added without waiting is durable when this returns. Call inside `locked`."""
        if not self.live.inode:
            self._ready()
        if self.live.inode:
            self.live.sync()

    def pruned(self) -> bool:
        """Are entries gone from its beginning?"""
        return next((seq for seq, _ in self.lines()), 1) > 1

    def seq(self) -> int:
        """The number of the last entry. Call inside `locked`."""
        self._ready()
        return self.seen.seq

    def reconcile(self) -> None:
        """Take over or undo what other programs did to the file. Call inside `locked`."""
        self._ready()

    def seal(self) -> None:
        """Begin a new segment; the old one is complete and never written again."""
        with self.agent_dir.locked():
            self._ready()
            self.rotate()

    def sync_shadow(self) -> None:
        """Make the shadow durable: an agent with plain file tools is about to edit files beside us."""
        with self.agent_dir.locked():
            self._ready()
            for path in (SHADOW, MARK):
                self.agent_dir.root.flush(path)

    def drop_line(self, raw: bytes) -> None:
        """Take a line that is no entry out of the live segment; it is set aside. For the doctor."""
        with self.agent_dir.locked():
            self._ready()
            text = self.live.read(0, self.live.size)
            if (line_ := raw + b"\n") not in text or parse(raw) is not None:
                return
            self.agent_dir.set_aside(NAME, line_, "a line that is no entry")
            text = text.replace(line_, b"", 1)
            self.drop_second_name()
            self.agent_dir.root.replace(NAME, text)
            self.live.refresh()
            self.replace_shadow(text)
            self.save_mark(self.seen.seq, self.seen.first, crc32(text))

    def _write(self, data: bytes, count: int, durable: bool) -> None:
        if self.seen.size and self.seen.size + len(data) > self.limit:
            self.rotate()
            # the rotation's own entry took a number
            data = _renumbered(data, self.seen.seq)
        seen, live = self.seen, self.live
        live.write(data)
        live.begin_sync()  # the disk is at work while we go on
        live.dated()
        self.shadow.write(data)
        self.save_mark(seen.seq + count, seen.first or seen.seq + 1, crc32(data, seen.crc))
        if durable:
            live.sync()

    def save_mark(self, seq: int, first: int, crc: int) -> None:
        """The live segment as it is now ends with `seq`; the shadow is the same bytes, and this their checksum."""
        live = self.live
        boot = self._boot if self._boot >= 0 else self._booted()
        self.seen = seen = _SegmentState(live.inode, live.size, live.mtime, seq, first, crc, boot)
        if self._mark_fd < 0:
            self._mark_fd = self.agent_dir.root.lock_file(MARK)
        self.agent_dir.disk.patch(self._mark_fd, b"%020d %020d %020d %020d %020d %010d %010d\n" % seen, 0, MARK)

    def rotate(self) -> None:
        """The live segment gets a second name among the sealed ones, then a new one takes its place in one rename."""
        agent_dir, seen = self.agent_dir, self.seen
        old = agent_dir.root.locate(NAME)
        if old is None or not seen.size:
            return
        for turn in itertools.count():
            name = f"{seen.first:016d}.{f'{turn}.' if turn else ''}jsonl"
            place = agent_dir.root.ensure_parent(f"{SEALED}/{name}")
            there = agent_dir.root.lstat(place)
            if there is None:
                agent_dir.root.link(old, place)
            elif there.st_ino != self.live.inode:  # the same: a crash came between the two steps of a rotation
                continue
            break
        self.live.sync()
        agent_dir.root.sync(place)
        entry: Json = {"ts": agent_dir.now(), "event": "journal_rotated", "segment": name}
        data = encode_entry(entry, seen.seq + 1)
        agent_dir.root.replace(NAME, data)
        self.live.refresh()
        self.replace_shadow(data)
        self.save_mark(seen.seq + 1, seen.seq + 1, crc32(data))

    def drop_second_name(self) -> None:
        """Take the second name from a live segment whose rotation a crash cut off: it is about to be replaced, and
        what is replaced must not be left behind among the sealed ones. Durable."""
        root = self.agent_dir.root
        for name in self.agent_dir.store.list(SEALED):
            place = root.locate(f"{SEALED}/{name}")
            info = None if place is None else root.lstat(place)
            if place is not None and info is not None and info.st_ino == self.live.inode:
                root.remove(f"{SEALED}/{name}")

    def replace_shadow(self, data: bytes) -> None:
        self.shadow.refresh()
        if self.shadow.inode:
            self.shadow.cut(0, durable=False)
        self.shadow.write(data)

    # -- looking ----------------------------------------------------------------------------------------------------

    def _ready(self) -> None:
        """Bring `_seen` up to date: the file is unchanged, or foreign changes have been repaired."""
        live = self.live
        try:
            live.refresh()
        except UserError:
            if not self.agent_dir.clear_odd_file(NAME):
                raise
            live.close()
            live.refresh()
        seen = self.seen
        if live.inode == seen.inode and live.size == seen.size and live.mtime == seen.mtime and live.inode:
            return
        seen = self.marked()
        same = live.inode == seen.inode and live.size == seen.size and live.mtime == seen.mtime and live.inode
        if same and seen.boot == self._booted():
            self.seen = seen
            self.shadow.refresh()
            return
        from .journal_repair import repair

        self.shadow.refresh()
        repair(self)

    def _booted(self) -> int:
        if self._boot < 0:
            self._boot = 0
            with suppress(OSError, ValueError), open("/proc/sys/kernel/random/boot_id", "rb") as file:
                self._boot = int(file.read(8), 16)
        return self._boot

    def marked(self) -> _SegmentState:
        if self._mark_fd < 0:
            self._mark_fd = self.agent_dir.root.lock_file(MARK)
        try:
            return _SegmentState(*map(int, os.pread(self._mark_fd, 200, 0).split()))
        except (ValueError, TypeError):
            return _SegmentState()

    # -- reading ----------------------------------------------------------------------------------------------------

    def tail(self, count: int, *, numbered: bool = False) -> list[Json]:
        """The last `count` entries, oldest first; lines that are no JSON objects are passed over."""
        found: list[Json] = []
        for name in (None, *reversed(self.segments())):
            with self.opened(name) as log:
                for raw in _backwards(log):
                    entry = parse(raw)
                    if entry is not None and (not numbered or sequence_of(entry) is not None):
                        found.append(entry)
                        if len(found) == count:
                            return found[::-1]
        return found[::-1]

    def lines(self, after: int = 0) -> Iterator[tuple[int, Json]]:
        """(number, entry) of every numbered entry after `after`, in order; memory stays as it is, whatever the size."""
        last = after
        segments = self.segments()
        firsts = [int(name.partition(".")[0]) for name in segments]
        begin = max((i for i, first in enumerate(firsts) if first <= after + 1), default=0)
        for name in (*segments[begin:], None):
            for entry in self._entries(name):
                seq = sequence_of(entry)
                if seq is not None and seq > last:
                    yield seq, entry
                    last = seq

    def since(self, after: int) -> Iterator[tuple[int, Json]]:
        """As `lines`, but from the end backwards first: costs what is new, not what the live segment holds."""
        found: list[tuple[int, Json]] = []
        with self.opened(None) as log:
            for raw in _backwards(log):
                entry = parse(raw)
                seq = None if entry is None else sequence_of(entry)
                if entry is None or seq is None:
                    continue
                if seq <= after:
                    yield from reversed(found)
                    return
                found.append((seq, entry))
                if len(found) >= MANY or seq == after + 1:
                    break
        if found and found[-1][0] == after + 1:
            yield from reversed(found)
        else:
            yield from self.lines(after)

    def find(self, wanted: Callable[[Json], bool], until: Callable[[Json], bool]) -> Json | None:
        """The newest entry that is `wanted`; the search ends with the entry that `until` names."""
        for name in (None, *reversed(self.segments())):
            with self.opened(name) as log:
                for raw in _backwards(log):
                    entry = parse(raw)
                    if entry is not None and wanted(entry):
                        return entry
                    if entry is not None and until(entry):
                        return None
        return None

    def all_entries(self) -> Iterator[Json]:
        """Every entry that parses, those without a number too, oldest first."""
        for name in (*self.segments(), None):
            yield from self._entries(name)

    def _entries(self, name: str | None) -> Iterator[Json]:
        with self.opened(name) as log:
            for raw in _forwards(log):
                entry = parse(raw)
                if entry is not None:
                    yield entry

    def opened(self, name: str | None) -> _LogReader:
        """A sealed segment by its name, or the live one, for one reading."""
        log = LogFile(self.agent_dir.root, NAME if name is None else f"{SEALED}/{name}")
        log.refresh()
        return _LogReader(log)

    def segments(self) -> list[str]:
        """Sealed segments, oldest first. One that is the live file under a second name is not sealed yet."""
        root, live = self.agent_dir.root, self._live_inode()
        found = []
        for name in self.agent_dir.store.list(SEALED):
            place = root.locate(f"{SEALED}/{name}")
            info = None if place is None else root.lstat(place)
            if info is not None and info.st_ino != live and name.partition(".")[0].isdecimal():
                found.append(name)
        return found

    def _size(self, name: str) -> int:
        place = self.agent_dir.root.locate(f"{SEALED}/{name}")
        info = None if place is None else self.agent_dir.root.lstat(place)
        return 0 if info is None else info.st_size

    def _live_inode(self) -> int:
        place: DirEntryRef | None = self.agent_dir.root.locate(NAME)
        info = None if place is None else self.agent_dir.root.lstat(place)
        return 0 if info is None else info.st_ino


class _LogReader:
    """A log file opened for one reading."""

    def __init__(self, log: LogFile) -> None:
        self.log = log

    def __enter__(self) -> LogFile:
        return self.log

    def __exit__(self, *error: object) -> None:
        self.log.close()


def encode_entry(entry: Json, seq: int, now: str = "") -> bytes:
    """One line as the specification writes them, the number last, secrets marked out; `now`, where it has no time."""
    if "seq" in entry:
        entry = {key: value for key, value in entry.items() if key != "seq"}
    text = _encoded(entry)
    if may_hold_secret(text.lower()):
        text = _encoded(redact_value(entry))
    if now and "ts" not in entry:
        text = f'{{"ts":"{now}",{text[1:]}' if entry else f'{{"ts":"{now}"}}'
    text = f'{text[:-1]},"seq":{seq}}}\n' if len(text) > 2 else f'{{"seq":{seq}}}\n'
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can say and UTF-8 cannot
        return json.dumps({**entry, "seq": seq}, separators=(",", ":"), default=str).encode() + b"\n"


_PARTS: Final = _make and _make(None, str, _quote, None, ":", ",", False, False, True)


def _encoded(entry: Json) -> str:
    """As `json.dumps` with these settings, without making its encoder at each call."""
    if _PARTS is None:  # not CPython
        return json.dumps(entry, ensure_ascii=False, separators=(",", ":"), default=str)
    return "".join(_PARTS(entry, 0))


def parse(raw: bytes) -> Json | None:
    """The entry of a line, or None if it holds no JSON object."""
    try:
        value = parse_json(raw)
    except ValueError:
        return None
    return value if type(value) is dict else None


def sequence_of(entry: Json) -> int | None:
    seq = entry.get("seq")
    return seq if type(seq) is int and seq > 0 else None


def _renumbered(data: bytes, seq: int) -> bytes:
    lines = []
    for raw in data.splitlines():
        seq += 1
        lines.append(encode_entry(parse(raw) or {}, seq))
    return b"".join(lines)


def _forwards(log: LogFile) -> Iterator[bytes]:
    """Whole lines; what is longer than LINE_MAX is passed over, a torn end left out."""
    at, line = 0, _LineParts()
    while at < log.size:
        chunk = log.read(at, _CHUNK)
        if not chunk:
            return
        at += len(chunk)
        head, *whole = chunk.split(b"\n")
        line.add(head)
        if whole:
            yield from (raw for raw in (line.take(), *whole[:-1]) if raw)
            line.add(whole[-1])


def _backwards(log: LogFile) -> Iterator[bytes]:
    """Whole lines from the end; what is longer than LINE_MAX is passed over, a torn end left out."""
    at, line, torn = log.size, _LineParts(), True
    while at > 0:
        size = min(_CHUNK, at)
        at -= size
        head, *whole = log.read(at, size).split(b"\n")
        if whole:
            line.add(whole[-1])
            last = line.take(backwards=True)
            yield from (raw for raw in (b"" if torn else last, *reversed(whole[:-1])) if raw)
            torn = False
        line.add(head)
    if not torn and (raw := line.take(backwards=True)):
        yield raw


class _LineParts:
    """The parts of a line of which more is to be read, joined once: each step costs what is new in it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= LINE_MAX:
            self._parts.append(part)

    def take(self, *, backwards: bool = False) -> bytes:
        """The line; nothing where it was too long."""
        parts, whole = self._parts, self._size <= LINE_MAX
        self._parts, self._size = [], 0
        return b"".join(reversed(parts) if backwards else parts) if whole else b""
