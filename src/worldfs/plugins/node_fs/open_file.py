"""An open file of a directory: reads and writes at offsets, an advisory lock, durable when it is closed."""

from __future__ import annotations

import errno
import fcntl
import os

from worldfs.base.disk import Disk

from .export_source import EXCLUSIVE, SHARED, UNLOCK
from .fs_errors import FsError

LOCKS = {SHARED: fcntl.LOCK_SH, EXCLUSIVE: fcntl.LOCK_EX, UNLOCK: fcntl.LOCK_UN}


class OpenFile:
    """See `ExportFile`. `path` is for tests that count or fail disk operations."""

    def __init__(self, fd: int, disk: Disk, path: str) -> None:
        self._fd, self._disk, self._path = fd, disk, path
        self._dirty = False

    def read(self, offset: int, size: int) -> tuple[bytes, bool]:
        data = os.pread(self._fd, size, offset)
        return data, offset + len(data) >= os.fstat(self._fd).st_size

    def write(self, offset: int, data: bytes) -> None:
        self._dirty = True
        view = memoryview(data)
        while view:
            done = os.pwrite(self._fd, view, offset)
            view, offset = view[done:], offset + done

    def truncate(self, size: int) -> None:
        self._dirty = True
        self._disk.truncate(self._fd, size, self._path)

    def lock(self, kind: str) -> bool:
        try:
            fcntl.flock(self._fd, LOCKS[kind] | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        if self._fd < 0:
            raise FsError(errno.EBADF, "unknown handle")
        fd, self._fd = self._fd, -1
        try:
            if self._dirty:
                self._disk.fsync(fd, self._path)
        finally:
            os.close(fd)
