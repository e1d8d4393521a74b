"""Disks that break on purpose: at the nth durable boundary, or with an error of the operating system."""

from __future__ import annotations

import os
from collections.abc import Collection

from worldfs.base.disk import Disk

WRITING = frozenset({"write", "append", "fsync", "fsync_dir", "rename", "mkdir"})  # a full disk still deletes names


class SimulatedCrash(BaseException):
    """The process died here. Not an `Exception`, so that no code cleans up after it."""


class CountingDisk(Disk):
    """Records every durable boundary as (name, path)."""

    def __init__(self) -> None:
        super().__init__(self._note)
        self.seen: list[tuple[str, str]] = []

    def _note(self, name: str, path: str) -> None:
        self.seen.append((name, path))


class CrashingDisk(CountingDisk):
    """Dies before boundary `n` (from 1), and stays dead. `torn`: a write or append there leaves its first half."""

    def __init__(self, n: int, *, torn: bool = False) -> None:
        super().__init__()
        self.n, self.torn = n, torn

    def _note(self, name: str, path: str) -> None:
        super()._note(name, path)
        if len(self.seen) >= self.n:
            raise SimulatedCrash(f"before {name} of {path} (boundary {len(self.seen)})")

    def write(self, fd: int, data: bytes, path: str) -> None:
        self._tear(fd, data)
        super().write(fd, data, path)

    def append(self, fd: int, data: bytes, path: str) -> None:
        self._tear(fd, data)
        super().append(fd, data, path)

    def _tear(self, fd: int, data: bytes) -> None:
        if self.torn and len(self.seen) + 1 == self.n:
            os.write(fd, data[: len(data) // 2])


class FailingDisk(CountingDisk):
    """Answers `number` (errno.ENOSPC, errno.EROFS …) at the named boundaries while `broken`."""

    def __init__(self, number: int, at: Collection[str] = WRITING) -> None:
        super().__init__()
        self.number, self.at, self.broken = number, at, True

    def _note(self, name: str, path: str) -> None:
        super()._note(name, path)
        if self.broken and name in self.at:
            raise OSError(self.number, os.strerror(self.number), path)

    def write(self, fd: int, data: bytes, path: str) -> None:
        self._half(fd, data, "write")
        super().write(fd, data, path)

    def append(self, fd: int, data: bytes, path: str) -> None:
        self._half(fd, data, "append")
        super().append(fd, data, path)

    def _half(self, fd: int, data: bytes, name: str) -> None:
        if self.broken and name in self.at:  # a full disk writes as much as fits
            os.write(fd, data[: len(data) // 2])
