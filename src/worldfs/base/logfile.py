"""A file of lines that many processes add to: kept open, added to at the end, noticed when another program replaced it.

No lock here: a caller that appends or cuts holds the lock of the file's directory (agents/agent_directory.py).
"""

from __future__ import annotations

import errno
import os
from typing import Final

from .dir_reader import READ, DirFd, path_error
from .durable import Root
from .errors import NotFound
from .messages import coded
from .syscalls import open_for_writing, start_writeback

_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
CHUNK: Final = 1 << 16


class LogFile:
    """`path` below `root`; opened at the first `refresh`. `inode`, `size`: of the last `refresh`; 0: no file."""

    def __init__(self, root: Root, path: str) -> None:
        self.root, self.path = root, path
        self._name = path.rpartition("/")[2]
        self.inode = self.size = self.mtime = 0
        self._fd = -1
        self._folder: DirFd | None = None
        self._reads_only = False
        self._named = False  # its name may not be durable yet

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self.inode = self.size = self.mtime = 0
        self._named = False

    def refresh(self) -> bool:
        """What is at the path now; True if it is the file that we saw last and it only grew (or is as it was)."""
        try:
            if self._folder is None:
                place = self.root.locate(self.path)
                if place is None:
                    return self._gone()
                self._folder = place.folder
            try:
                info = os.stat(self._name, dir_fd=self._folder.fd, follow_symlinks=False)
            except FileNotFoundError:
                return self._gone()
            same = info.st_ino == self.inode and self._fd >= 0 and info.st_size >= self.size
            if info.st_ino != self.inode or self._fd < 0:
                self.close()
                place = self.root.locate(self.path)
                self.root.status(place, "read") if place else None  # links and odd files are refused
                self._fd = self._opened(self._folder)
                info = os.fstat(self._fd)
            self.inode, self.size, self.mtime = info.st_ino, info.st_size, info.st_mtime_ns
            return same
        except OSError as error:
            raise path_error(error, self.path, "read") from error

    def _opened(self, folder: DirFd) -> int:
        """For adding to it; for reading only, where the disk or its rights allow no more."""
        self._reads_only = False
        try:
            return open_for_writing(self._name, _FLAGS, folder.fd)
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
                raise
            self._reads_only = True
            return os.open(self._name, READ, dir_fd=folder.fd)

    def _gone(self) -> bool:
        was = self._fd >= 0
        self.close()
        return not was

    def read(self, start: int, size: int) -> bytes:
        """At most `size` bytes from `start`; fewer only at the end. `refresh` first."""
        if self._fd < 0:
            return b""
        try:
            parts = []
            while size > 0 and (part := os.pread(self._fd, min(size, 1 << 20), start)):
                parts.append(part)
                start += len(part)
                size -= len(part)
            return parts[0] if len(parts) == 1 else b"".join(parts)
        except OSError as error:
            raise path_error(error, self.path, "read") from error

    def append(self, data: bytes, *, durable: bool = True) -> None:
        """Whole or not at all as long as this process lives; with `durable`, content and name."""
        try:
            self.write(data)
            if durable:
                self.sync()
        except OSError as error:
            raise path_error(error, self.path, "append") from error

    def write(self, data: bytes) -> None:
        """Add to the end without waiting for the disk; `sync` follows. `dated` asks for its time afterwards."""
        try:
            if self._fd < 0:
                self._create()
            elif self._reads_only and self._folder is not None:
                os.close(os.open(self._name, _FLAGS, dir_fd=self._folder.fd))  # raises the error
                self.close()
                self.refresh()
            try:
                self.root.disk.append(self._fd, data, self.path)
            except OSError:
                self.root.disk.truncate(self._fd, self.size, self.path)
                raise
            self.size += len(data)
        except OSError as error:
            raise path_error(error, self.path, "append") from error

    def dated(self) -> None:
        """Length and time of the file as our last write left it: what distinguishes a foreign change from ours."""
        try:
            info = os.fstat(self._fd)
        except OSError as error:
            raise path_error(error, self.path, "append") from error
        self.size, self.mtime = info.st_size, info.st_mtime_ns

    def begin_sync(self) -> None:
        """The disk may begin with what was written; only `sync` says that it is done."""
        start_writeback(self._fd)

    def sync(self) -> None:
        """What was appended so far is durable when this returns. Needs no lock."""
        try:
            self.root.disk.fsync(self._fd, self.path, data_only=True)
            self.root.disk.appends += 1
            if not self._named:
                self.root.sync(self.root.ensure_parent(self.path))
                self._named = True
        except OSError as error:
            raise path_error(error, self.path, "sync") from error

    def cut(self, size: int, *, durable: bool = True) -> None:
        """Drop everything from `size` on: a torn tail, which the caller has kept elsewhere."""
        if self._fd < 0:
            raise NotFound(coded("tree.no_file"), path=self.path, op="cut")
        try:
            self.root.disk.truncate(self._fd, size, self.path)
            if durable:
                self.root.disk.fsync(self._fd, self.path, data_only=True)
            info = os.fstat(self._fd)
            self.size, self.mtime = info.st_size, info.st_mtime_ns
        except OSError as error:
            raise path_error(error, self.path, "cut") from error

    def _create(self) -> None:
        place = self.root.ensure_parent(self.path)
        self._folder = place.folder
        self._fd = self.root.disk.create(place.folder.fd, place.name, self.path, _FLAGS)
        info = os.fstat(self._fd)
        self.inode, self.size = info.st_ino, info.st_size
