"""The write-ahead log of the plane: a snapshot's rows, then one fsynced line per change; compacted when it has doubled.

    plane.jsonl   first line {"plane":1,"seq":…}, then lines of records, then lines of changes; 0600, one writer
    lock          held by the process that writes

Each line is eight hexadecimal digits of CRC-32, a space, JSON. A line with a wrong checksum was never
acknowledged (a crash), or was lost by the disk: the bytes from there on are backed up in `torn`, every good line after
it still counts, because a line holds whole records, and the log is rewritten.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

import msgspec

from worldfs.base.durable import Disk, Root
from worldfs.base.errors import BadInput, Busy, StorageError, WorldError
from worldfs.base.logfile import LogFile
from worldfs.base.messages import as_plain, coded

from .plane_records import AuditEntry
from .plane_state import TABLES, PlaneState, StateChange

NAME: Final = "plane.jsonl"
FORMAT: Final = 1
GROWTH: Final = 1 << 20  # bytes of changes that never cause a compaction
_ENCODER: Final = msgspec.json.Encoder(enc_hook=as_plain)


class _Head(msgspec.Struct):
    plane: int
    seq: int
    counts: dict[str, int]


class _LogLine(msgspec.Struct):
    """Any line after the head: a record of the snapshot, an audit line of it, or a change."""

    row: tuple[str, str, msgspec.Raw] | None = None
    audit: AuditEntry | None = None
    seq: int = 0
    puts: list[tuple[str, str, msgspec.Raw]] = []
    counts: dict[str, int] = {}


class WriteAheadLog:
    """Opens, repairs and writes the log. Not thread-safe: the plane holds its writing lock."""

    def __init__(self, path: Path, disk: Disk | None = None, *, writes: bool = True) -> None:
        """Raises `Busy` if another process writes it. `writes` False: reads, repairs nothing."""
        Root.build(path, 0o700)
        self.root = Root(path, disk)
        self.writes = writes
        self._lock = -1
        self._base = 0  # bytes of the snapshot
        self._dirty = False  # unsynced lines
        self._broken = False
        if writes:
            self._lock = self.root.lock_file("lock")
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._lock)
                self._lock = -1
                owner = (self.root.read("lock") or b"").decode("ascii", "replace").strip() or "another process"
                raise Busy(coded("access.plane_owner", owner=owner), path=str(path), op="open") from None
            self.root.sign(self._lock, f"process {os.getpid()}\n".encode(), "lock")
        self.log = LogFile(self.root, NAME)

    def close(self) -> None:
        if self._dirty:
            self.log.sync()
        self.log.close()
        self.root.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def load(self, state: PlaneState) -> bool:
        """Fill an empty state; False if there is no log yet. `BadInput` for a foreign or a newer log."""
        data = self.root.read(NAME)
        if not data:
            return False
        replay = _replay(data, state)
        self._base = replay.base
        if self.writes:
            self.log.refresh()
            if replay.bad >= 0:
                self.root.replace("torn", data[replay.bad :], private=True)
                self.rewrite(state)
        return True

    def append(self, change: StateChange) -> None:
        """Append a change, durable when it returns; on an error it is truncated again."""
        if self._broken:
            raise StorageError(coded("access.log_broken"), path=NAME, op="append", fix=coded("access.see_disk"))
        size = self.log.size
        try:
            self.log.append(_line(change))
            self._dirty = False
        except WorldError:
            try:
                self.log.cut(size)
            except WorldError:
                self._broken = True  # until it is rewritten: the tail is unknown
            raise

    def append_unsynced(self, audit: AuditEntry) -> None:
        """Append an audit line of a refusal. It is not acknowledged, so no fsync."""
        if not self._broken:
            self.log.write(_line({"audit": audit}))
            self._dirty = True

    @property
    def needs_repair(self) -> bool:
        """Whether the log's tail is unknown; `rewrite` repairs it."""
        return self._broken

    @property
    def needs_compaction(self) -> bool:
        """Whether the changes are as large as the snapshot."""
        return self.log.size > 2 * self._base + GROWTH

    def rewrite(self, state: PlaneState) -> None:
        """Replace the log by the current state, atomically."""
        lines = [_line(_Head(FORMAT, state.seq, state.counts))]
        lines += [_line({"row": row}) for row in state.rows()]
        lines += [_line({"audit": audit}) for audit in state.audit]
        data = b"".join(lines)
        try:
            # a power cut leaves the old log or the new one, and the next durable line waits for the rename, too
            self.root.replace(NAME, data, private=True, durable=False)
            self._base, self._dirty, self._broken = len(data), False, False
        finally:
            self.log.refresh()  # the rename may have happened before the error


def _line(value: object) -> bytes:
    data = _ENCODER.encode(value)
    return b"%08x %b\n" % (crc32(data), data)


class _Replay(NamedTuple):
    base: int  # bytes of the snapshot
    bad: int  # where the first bad line begins; -1: none


def _replay(data: bytes, state: PlaneState) -> _Replay:
    at, base, bad, decoder = 0, 0, -1, msgspec.json.Decoder(_LogLine)
    while at < len(data):
        stop = data.find(b"\n", at)
        body = data[at + 9 : stop] if stop >= 0 else b""
        good = stop >= 0 and data[at : at + 9] == b"%08x " % crc32(body)
        if not at:
            if not good:
                raise BadInput(coded("access.no_log"), path=NAME, fix=coded("access.put_back"))
            _begin(msgspec.json.decode(body, type=_Head), state)
        elif not good:
            bad = at if bad < 0 else bad
        else:
            line = decoder.decode(body)
            base = base or (at if line.seq else 0)
            _take(line, state)
        if stop < 0:
            break
        at = stop + 1
    return _Replay(base or len(data), bad)


def _begin(head: _Head, state: PlaneState) -> None:
    if head.plane > FORMAT:
        raise BadInput(
            coded("access.log_format", format=head.plane),
            path=NAME,
            expected=coded("common.at_most", n=FORMAT),
            fix=coded("access.that_version"),
        )
    state.seq = head.seq
    state.counts.update(head.counts)


def _take(line: _LogLine, state: PlaneState) -> None:
    if line.row is not None:
        table, key, raw = line.row
        state.apply(StateChange(state.seq, [(table, key, _record(table, raw))]))
    elif line.seq > state.seq:
        puts: list[tuple[str, str, object]] = [(table, key, _record(table, raw)) for table, key, raw in line.puts]
        state.apply(StateChange(line.seq, puts, line.counts, line.audit))
    elif line.audit is not None:
        state.audit.append(line.audit)


def _record(table: str, raw: msgspec.Raw) -> object:
    return None if bytes(raw) == b"null" else msgspec.json.decode(raw, type=TABLES[table])
