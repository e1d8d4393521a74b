"""The lease on a disk: a file lock that the operating system releases when its holder dies, however it dies."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import struct
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from worldfs.base.clock import Clock, SystemClock
from worldfs.base.dir_reader import DirFd, path_error
from worldfs.base.durable import Disk, Root
from worldfs.base.errors import Busy, StorageError, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded

from .lease import KERNEL_LEASE, LEASE_LOST, busy, this_holder

if TYPE_CHECKING:
    from datetime import datetime

_FLOCK: Final = "hhqqi0q"  # struct flock: type, whence, start, length, pid (asm-generic/fcntl.h)


class RootLock:
    """The `Lease` of a disk store. A holder is dead when its process and all that it forked are.

    The lock file's content names the holder. Where the system has them these are open-file-description locks, which
    can be tested without being taken.
    """

    epoch = 0

    def __init__(
        self,
        root: str | os.PathLike[str],
        purpose: str,
        *,
        clock: Clock | None = None,
        disk: Disk | None = None,
        key: str = KERNEL_LEASE,
    ) -> None:
        self._root, self.purpose, self._disk, self._key = os.fspath(root), purpose, disk, key
        self._clock = clock or SystemClock()
        self._fd = -1
        self._folder: DirFd | None = None  # in which it is held
        self._content: dict[str, object] = {}

    def acquire(self) -> Self:
        home = Root(self._root, self._disk)
        self._fd = self._lock(home, this_holder(self.purpose, self._clock) | {"root": os.path.realpath(self._root)})
        self._folder = home.folder("")
        return self

    def keep(self) -> None:
        if self._fd < 0 or self._folder is None:
            return
        try:
            here = _status(self._root)
            if here is None or not os.path.samestat(here, os.fstat(self._folder.fd)):
                raise self._lost(coded("tree.replaced"))
            file = _status(os.path.join(self._root, self._key))
            if file is not None and os.path.samestat(file, os.fstat(self._fd)):
                return
            fd = self._lock(Root(self._root, self._disk), self._content)
        except Busy as error:
            raise self._lost(error.found) from None
        except OSError:
            return  # of the system: what is there is not known
        except WorldError as error:
            if error.code == LEASE_LOST:
                raise
            return
        kept, self._fd = self._fd, fd
        os.close(kept)

    def _lock(self, home: Root, content: dict[str, object]) -> int:
        fd = home.lock_file(self._key)
        try:
            if not _take(fd):
                raise busy(_read(fd), path=self._root, purpose=self.purpose)
            self._content = content
            home.sign(fd, json.dumps(self._content).encode() + b"\n", self._key)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _lost(self, found: str) -> StorageError:
        return StorageError(
            found, path=self._root, op=self.purpose, expected=coded("tree.opened_directory"),
            fix=coded("tree.serve_again"), code=LEASE_LOST,
        )  # fmt: skip

    @property
    def descriptor(self) -> int:
        """Of the lock file, −1 before it is taken: the lock lasts as long as any copy of it is open."""
        return self._fd

    def note(self, **more: str) -> None:
        self._content |= more
        Root(self._root, self._disk).sign(self._fd, json.dumps(self._content).encode() + b"\n", self._key)

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd, self._folder = -1, None

    def holder(self) -> dict[str, object] | None:
        home = Root(self._root)
        try:
            place = home.locate(self._key)
            fd = None if place is None else home.open(place)
        except OSError as error:
            raise path_error(error, self._key, "lock") from error
        if fd is None:
            return None
        try:
            return _read(fd) if _held(fd) else None
        finally:
            os.close(fd)

    def heard(self) -> datetime | None:
        """Of a holder that lives: now."""
        return self._clock.now() if self.holder() is not None else None

    def __enter__(self) -> Self:
        return self if self._fd >= 0 else self.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.release()


def _status(path: str) -> os.stat_result | None:
    """None: nothing is there."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


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
        content = parse_json(os.pread(fd, 1 << 16, 0))
    except ValueError:  # taken just now, its content not yet written
        return {}
    return content if isinstance(content, dict) else {}
