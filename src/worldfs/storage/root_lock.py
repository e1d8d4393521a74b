"""One kernel per root: a lock that the operating system releases when its holder dies, however it dies."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import struct
import sys
from types import TracebackType
from typing import Final, Self

from worldfs.base.clock import Clock, SystemClock, stamp
from worldfs.base.durable import Disk, Root
from worldfs.base.errors import Busy

from .revision import PRIVATE_DIR

KEY: Final = f"{PRIVATE_DIR}/kernel.lock"
RELEASE_S: Final = 0.05  # a change feed reports the close of a lock file up to so long before the lock is free
_FLOCK: Final = "hhqqi0q"  # struct flock: type, whence, start, length, pid (asm-generic/fcntl.h)


class RootLock:
    """Held from `acquire` to `release` or the death of the process and of all that it forked.

    The lock file's content names the holder: {pid, host, command, started_at, purpose}. It stays when the lock is
    gone; only the lock itself counts. Where the system has them these are open-file-description locks, which can be
    tested without being taken.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        purpose: str,
        *,
        clock: Clock | None = None,
        disk: Disk | None = None,
        key: str = KEY,
    ) -> None:
        self._root, self.purpose, self._disk, self._key = os.fspath(root), purpose, disk, key
        self._clock = clock or SystemClock()
        self._fd = -1
        self._content: dict[str, object] = {}

    def acquire(self) -> Self:
        """Take it or raise `Busy`, naming the holding process, its command and since when it holds it."""
        home = Root(self._root, self._disk)
        fd = home.lock_file(self._key)
        try:
            if not _take(fd):
                raise Busy(_who(_read(fd)), path=self._root, op=self.purpose, fix=_way_out(_read(fd)))
            self._content = {
                "pid": os.getpid(),
                "host": os.uname().nodename,
                "command": " ".join(sys.orig_argv),
                "started_at": stamp(self._clock.now()),
                "purpose": self.purpose,
            }
            home.sign(fd, json.dumps(self._content).encode() + b"\n", self._key)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return self

    def note(self, **more: str) -> None:
        """Add fields to the file of a held lock."""
        self._content |= more
        Root(self._root, self._disk).sign(self._fd, json.dumps(self._content).encode() + b"\n", self._key)

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self if self._fd >= 0 else self.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.release()


def lock_holder(root: str | os.PathLike[str], key: str = KEY) -> dict[str, object] | None:
    """The holder of the root's lock now, or None; the lock is not touched."""
    home = Root(root)
    place = home.locate(key)
    fd = None if place is None else home.open(place)
    if fd is None:
        return None
    try:
        return _read(fd) if _held(fd) else None
    finally:
        os.close(fd)


def _take(fd: int) -> bool:
    try:
        if hasattr(fcntl, "F_OFD_SETLK"):
            fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        else:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


def _held(fd: int) -> bool:
    if hasattr(fcntl, "F_OFD_GETLK"):
        answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        return bool(struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(fd, fcntl.LOCK_UN)
    return False


def _read(fd: int) -> dict[str, object]:
    try:
        content = json.loads(os.pread(fd, 1 << 16, 0))
    except ValueError:  # taken just now, its content not yet written
        return {}
    return content if isinstance(content, dict) else {}


def _who(lock_holder: dict[str, object]) -> str:
    if not lock_holder:
        return "already in use by another process"
    return (
        f"already in use by process {lock_holder.get('pid')} on {lock_holder.get('host')} "
        f"since {lock_holder.get('started_at')}: {lock_holder.get('command')}"
    )


def _way_out(lock_holder: dict[str, object]) -> str:
    return f"use that one, or stop it: kill {lock_holder['pid']}" if lock_holder.get("pid") else "try again"
