"""A log of block writes: the writes to a disk, in order, with its flushes; and the disks that a power cut may leave.

The format is that of Linux's dm-log-writes (drivers/md/dm-log-writes.c, Documentation/admin-guide/device-mapper/
log-writes.rst), which QEMU's block driver `blklogwrites` writes too. Numbers are little endian; a sector of the log is
as long as its first block says; an entry is one sector, its data follow.

A disk may lose, and reorder, everything that was not flushed: a flush makes durable what was written before
it, a write with FUA itself. One block of 4,096 bytes is written whole or not at all.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

MAGIC: Final = 0x6A736677736872
BLOCK: Final = 4096
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
_SUPER: Final = struct.Struct("<QQQI")  # magic, version, number of entries, bytes of a sector
_ENTRY: Final = struct.Struct("<QQQQ")  # sector of the disk, number of sectors, flags, bytes of a mark's text

Blocks = dict[int, bytes]
"""A disk: its blocks by number; zeros where there is none."""


class BlockLogEntry(NamedTuple):
    """`data`: where in the log the data begin. `at`, `size`: where they belong on the disk, in bytes."""

    at: int
    size: int
    flags: int
    data: int


class BlockLog:
    """A log that may still grow. `entries`: those that were read; `follow` reads on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[BlockLogEntry] = []
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        magic, version, _, self._sector = _SUPER.unpack(os.pread(self._fd, _SUPER.size, 0))
        if magic != MAGIC or version != 1:
            os.close(self._fd)
            raise ValueError(f"{path}: found {magic:#x}, version {version}; expected a log of block writes, version 1")
        self._next = self._sector

    def close(self) -> None:
        os.close(self._fd)

    def follow(self) -> int:
        """Read what was added; the number of entries now. An entry of zeros is the end."""
        while len(head := os.pread(self._fd, _ENTRY.size, self._next)) == _ENTRY.size and any(head):
            sector, count, flags, _ = _ENTRY.unpack(head)
            data = self._next + self._sector
            self.entries.append(BlockLogEntry(sector * self._sector, count * self._sector, flags, data))
            self._next = data + (0 if flags & DISCARD else count * self._sector)
        return len(self.entries)

    def data(self, entry: BlockLogEntry) -> bytes:
        """What was written; zeros for a discard."""
        if entry.flags & DISCARD:
            return bytes(entry.size)
        found = os.pread(self._fd, entry.size, entry.data)
        if len(found) != entry.size:
            raise ValueError(f"{self.path}: the log ends within an entry, at byte {entry.data}")
        return found


class PowerCutDisk(NamedTuple):
    """A possible disk after a power cut behind the first `after` entries."""

    after: int
    blocks: Blocks
    note: str


class Write(NamedTuple):
    """A part of one block, which a disk writes whole or not at all."""

    block: int
    at: int  # within the block
    data: bytes


def replay(log: BlockLog, begin: int = 0, *, lots: int = 2, seed: int = 0) -> Iterator[PowerCutDisk]:
    """The disks after each entry from number `begin` on: all writes, only the flushed ones, and `lots` with
    a random part of the rest. They share their blocks, and must not be changed."""
    sure: Blocks = {}
    open_: list[Write] = []
    for after, entry in enumerate((None, *log.entries)):
        if entry is not None:
            if entry.flags & FLUSH:
                sure = put(sure, open_)
                open_ = []
            parts = split(entry.at, log.data(entry)) if entry.size else []
            if entry.flags & FUA:
                sure = put(sure, parts)
            open_ += parts
        if after < begin:
            continue
        yield PowerCutDisk(after, put(sure, open_), "all that was written")
        if not open_:
            continue
        yield PowerCutDisk(after, sure, f"without {len(open_)} writes that were not flushed")
        rng = random.Random(f"{seed} {after}")  # noqa: S311  # the same at every run
        for _ in range(lots):
            share = rng.choice((0.2, 0.5, 0.8))
            lot = [write for write in open_ if rng.random() < share]
            yield PowerCutDisk(
                after, put(sure, lot), f"with {len(lot)} of {len(open_)} writes that were not flushed, by lot"
            )


def split(at: int, data: bytes) -> list[Write]:
    """A write, block by block."""
    parts = []
    done = 0
    while done < len(data):
        block, offset = divmod(at + done, BLOCK)
        size = min(BLOCK - offset, len(data) - done)
        parts.append(Write(block, offset, data[done : done + size]))
        done += size
    return parts


def put(blocks: Blocks, writes: Sequence[Write]) -> Blocks:
    """The disk after these writes, in their order."""
    if not writes:
        return blocks
    after = dict(blocks)
    for block, at, data in writes:
        old = after.get(block, _ZEROS)
        after[block] = data if len(data) == BLOCK else old[:at] + data + old[at + len(data) :]
    return after


def write_image(blocks: Blocks, path: Path, size: int) -> None:
    """The disk as a file of `size` bytes, with holes where it is zeros."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(fd, 0)
        os.ftruncate(fd, size)
        for number, data in blocks.items():
            if data != _ZEROS:
                os.pwrite(fd, data, number * BLOCK)
    finally:
        os.close(fd)


_ZEROS: Final = bytes(BLOCK)
