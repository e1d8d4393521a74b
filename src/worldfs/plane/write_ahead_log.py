"""The log of the plane on disk: a snapshot's rows, then one fsynced line a change; made again when it has doubled.

    plane.jsonl   first line {"plane":1,"seq":…}, then lines of records, then lines of changes; 0600, one writer
    lock          held by the process that writes

Each line is eight hexadecimal digits of CRC-32, a space, JSON. A line that does not agree with its digits was never
acknowledged (a crash), or the disk lost it: what stands from there on is set aside in `torn`, every good line after it
still counts, because a line holds whole records, and the log is made again.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any, Final, NamedTuple
from zlib import crc32

import msgspec

from worldfs.ground.durable import Disk, Root
from worldfs.ground.errors import BadInput, Busy, StorageError, WorldError
from worldfs.ground.logfile import LogFile

from .plane_records import AuditEntry
from .plane_state import TABLES, PlaneState, StateChange

NAME: Final = "plane.jsonl"
FORMAT: Final = 1
GROWTH: Final = 1 << 20  # bytes of changes that are always allowed before the log is made again
_ENCODER: Final = msgspec.json.Encoder()


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
        """Raises `Busy` if another process writes it. `writes` False: reads what is there, repairs nothing."""
        Root.build(path, 0o700)
        self.root = Root(path, disk)
        self.writes = writes
        self._lock = -1
        self._base = 0  # bytes of the snapshot
        self._dirty = False  # lines that no fsync followed
        self._broken = False
        if writes:
            self._lock = self.root.lock_file("lock")
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._lock)
                self._lock = -1
                owner = (self.root.read("lock") or b"").decode("ascii", "replace").strip() or "another process"
                raise Busy(f"the control plane is written by {owner}", path=str(path), op="open") from None
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
        """Fill an empty state; False if there is no log yet. `BadInput` for what is no log of ours, or a newer one."""
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
        """Durable when it returns; what could not be made so is taken back."""
        if self._broken:
            raise StorageError("the log could not be mended", path=NAME, op="append", fix="see what the disk says")
        size = self.log.size
        try:
            self.log.append(_line(change))
            self._dirty = False
        except WorldError:
            try:
                self.log.cut(size)
            except WorldError:
                self._broken = True  # until it has been made again: the tail is not what we know
            raise

    def note(self, audit: AuditEntry) -> None:
        """An audit line of something refused: nobody is told that it is kept, so no fsync."""
        if not self._broken:
            self.log.write(_line({"audit": audit}))
            self._dirty = True

    @property
    def broken(self) -> bool:
        """Whether the log's tail is not what we know; `rewrite` mends it."""
        return self._broken

    @property
    def grown(self) -> bool:
        """Whether the changes weigh as much as the snapshot below them."""
        return self.log.size > 2 * self._base + GROWTH

    def rewrite(self, state: PlaneState) -> None:
        """Put the present state in place of the log: whole or not at all."""
        lines = [_line(_Head(FORMAT, state.seq, state.counts))]
        lines += [_line({"row": row}) for row in state.rows()]
        lines += [_line({"audit": audit}) for audit in state.audit]
        data = b"".join(lines)
        try:
            # a power cut leaves the one log or the other, and the next line that is durable waits for the name, too
            self.root.replace(NAME, data, private=True, durable=False)
            self._base, self._dirty, self._broken = len(data), False, False
        finally:
            self.log.refresh()  # it may have been put in place before something failed


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
                raise BadInput("no log of the control plane", path=NAME, fix="put the file back, or move it away")
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
        raise BadInput(f"a log of format {head.plane}", path=NAME, expected=f"at most {FORMAT}", fix="use that version")
    state.seq = head.seq
    state.counts.update(head.counts)


def _take(line: _LogLine, state: PlaneState) -> None:
    if line.row is not None:
        table, key, raw = line.row
        state.apply(StateChange(state.seq, [(table, key, _record(table, raw))]))
    elif line.seq > state.seq:
        puts: list[tuple[str, str, Any]] = [(table, key, _record(table, raw)) for table, key, raw in line.puts]
        state.apply(StateChange(line.seq, puts, line.counts, line.audit))
    elif line.audit is not None:
        state.audit.append(line.audit)


def _record(table: str, raw: msgspec.Raw) -> object:
    return None if bytes(raw) == b"null" else msgspec.json.decode(raw, type=TABLES[table])
