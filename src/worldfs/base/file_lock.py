"""A lock among threads and processes: a file that the system locks, behind a lock of this process."""

from __future__ import annotations

import fcntl
import os
import threading
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from .durable import Root


class FileLock:
    """Reentrant; used in a `with`. The system lets go of it when its process dies, however it dies.

    A forked child would share its parent's lock, so it opens the file for itself.
    """

    def __init__(self, root: Root, key: str, *, kept: bool = True) -> None:
        """`kept`: the file stays open while the lock is free."""
        self._root, self._key, self._kept = root, key, kept
        self.mutex = threading.RLock()
        self.depth = 0
        self.fd = -1
        self.opened = 0  # how often the file was opened
        self._pid = 0

    def acquire(self) -> bool:
        """Whether the system's lock was taken by this call, not by one around it."""
        self.mutex.acquire()
        try:
            first = not self.depth
            if first:
                fcntl.flock(self.fd if self._pid == os.getpid() else self._open(), fcntl.LOCK_EX)
            self.depth += 1
        except BaseException:
            self.mutex.release()
            raise
        return first

    def release(self) -> None:
        self.depth -= 1
        try:
            if not self.depth and self.fd >= 0:
                fcntl.flock(self.fd, fcntl.LOCK_UN)
                if not self._kept:
                    self.close()
        finally:
            self.mutex.release()

    def close(self) -> None:
        """Let go of the file. A caller whose threads may still use the lock holds `mutex`."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd, self._pid = -1, 0

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def _open(self) -> int:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        self.fd, self._pid = self._root.lock_file(self._key), os.getpid()
        self.opened += 1
        return self.fd
