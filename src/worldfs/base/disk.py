"""The disk itself: every change that the product makes to one, a method each; counted, and breakable by tests.

Places are an open directory and a name in it. `path` is for people and tests: relative to the root that is written.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from typing import Final, Literal

from . import syscalls
from .dir_reader import DirEntryRef

STAMP: Final = "user.paos"
"""The extended attribute that `Disk.stamp` writes."""

How = Literal["over", "new", "swap"]
"""Rename over what is there, only if nothing is there, or exchange both."""


class Disk:
    """`boundary(name, path)` is called before each change takes effect; it may raise.

    Names: create, write, append, patch, reserve, truncate, stamp, chmod, chown, fsync, rename, link, unlink, mkdir,
    fsync_dir.
    """

    def __init__(self, boundary: Callable[[str, str], None] | None = None) -> None:
        self.boundary = boundary
        self.replaces = 0  # files put in place durably
        self.appends = 0  # durable additions
        self.exchange = True  # until the kernel or the file system says that it cannot
        self.noreplace = True  # same
        self.stamps = hasattr(os, "setxattr")  # until the file system says that it keeps none

    @property
    def commits(self) -> int:
        """Durable writes so far: what benchmarks compare with as many bare write + fsync + rename + fsync(dir)."""
        return self.replaces + self.appends

    # -- the content of files --------------------------------------------------------------------------------------

    def create(self, fd: int, name: str, path: str, flags: int, mode: int = 0o644) -> int:
        """Open a child of the directory `fd`, made if it is not there; the new descriptor."""
        if self.boundary:
            self.boundary("create", path)
        return os.open(name, flags | os.O_CREAT, mode, dir_fd=fd)

    def write(self, fd: int, data: bytes, path: str) -> None:
        if self.boundary:
            self.boundary("write", path)
        _write(fd, data)

    def append(self, fd: int, data: bytes, path: str) -> None:
        """As `write`, on a descriptor opened for appending."""
        if self.boundary:
            self.boundary("append", path)
        _write(fd, data)

    def patch(self, fd: int, data: bytes, at: int, path: str) -> None:
        """Overwrite in place, from offset `at`."""
        if self.boundary:
            self.boundary("patch", path)
        os.pwrite(fd, data, at)

    def reserve(self, fd: int, size: int, path: str) -> None:
        """Keep room for `size` more bytes at the end of a file, whose length stays; nothing where that cannot be."""
        if self.boundary:
            self.boundary("reserve", path)
        syscalls.reserve_space(fd, os.fstat(fd).st_size, size)

    def truncate(self, fd: int, size: int, path: str) -> None:
        if self.boundary:
            self.boundary("truncate", path)
        os.ftruncate(fd, size)

    def stamp(self, fd: int, value: bytes, path: str) -> None:
        """Note something about a file beside its content, durable with it; nothing where `stamps` is or becomes False.

        It is gone when another process replaces the file, and stays when it writes into it.
        """
        if not self.stamps:
            return
        if self.boundary:
            self.boundary("stamp", path)
        try:
            os.setxattr(fd, STAMP, value)
        except OSError as error:
            if error.errno not in (errno.ENOTSUP, errno.ENOSYS, errno.EPERM):
                raise
            self.stamps = False

    def chmod(self, fd: int, mode: int, path: str) -> None:
        if self.boundary:
            self.boundary("chmod", path)
        os.fchmod(fd, mode)

    def chown(self, fd: int, user: int, group: int, path: str) -> None:
        if self.boundary:
            self.boundary("chown", path)
        os.fchown(fd, user, group)

    def utime(self, fd: int, path: str, mtime_ns: int) -> None:
        """The time of last change; that of the last reading becomes the same."""
        if self.boundary:
            self.boundary("utime", path)
        os.utime(fd, ns=(mtime_ns, mtime_ns))

    def fsync(self, fd: int, path: str, *, data_only: bool = False) -> None:
        if self.boundary:
            self.boundary("fsync", path)
        (os.fdatasync if data_only else os.fsync)(fd)

    # -- names -----------------------------------------------------------------------------------------------------

    def mkdir(self, fd: int, name: str, path: str, mode: int) -> None:
        if self.boundary:
            self.boundary("mkdir", path)
        os.mkdir(name, mode, dir_fd=fd)

    def rmdir(self, fd: int, name: str, path: str) -> None:
        if self.boundary:
            self.boundary("rmdir", path)
        os.rmdir(name, dir_fd=fd)

    def unlink(self, fd: int, name: str, path: str) -> None:
        if self.boundary:
            self.boundary("unlink", path)
        os.unlink(name, dir_fd=fd)

    def link(self, source: DirEntryRef, target: DirEntryRef) -> None:
        """A second name for a file."""
        if self.boundary:
            self.boundary("link", target.path)
        _link(source, target)

    def rename(self, source: DirEntryRef, target: DirEntryRef, how: How) -> None:
        """`swap` raises `OSError` ENOSYS where it cannot be had; `new` then makes a second name and drops the first."""
        if self.boundary:
            self.boundary("rename", target.path)
        if how == "over":
            os.rename(source.name, target.name, src_dir_fd=source.folder.fd, dst_dir_fd=target.folder.fd)
        elif how == "swap":
            self._flagged(source, target, syscalls.EXCHANGE)
        else:
            try:
                self._flagged(source, target, syscalls.NOREPLACE)
            except OSError as error:
                if error.errno != errno.ENOSYS:
                    raise
                _rename_new(source, target)

    def fsync_dir(self, fd: int, path: str) -> None:
        if self.boundary:
            self.boundary("fsync_dir", path)
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EROFS):  # file systems that keep no directories to sync
                raise

    def _flagged(self, source: DirEntryRef, target: DirEntryRef, flag: int) -> None:
        which = "exchange" if flag == syscalls.EXCHANGE else "noreplace"
        if getattr(self, which):
            try:
                return syscalls.renameat2(source.folder.fd, source.name, target.folder.fd, target.name, flag)
            except OSError as error:
                if error.errno not in syscalls.UNSUPPORTED:
                    raise
                setattr(self, which, False)
        raise OSError(errno.ENOSYS, f"no {which} rename here")


def _write(fd: int, data: bytes) -> None:
    done = os.write(fd, data)
    while done < len(data):  # a full disk takes what fits, and the next write says so
        done += os.write(fd, memoryview(data)[done:])


def _link(source: DirEntryRef, target: DirEntryRef) -> None:
    fds = {"src_dir_fd": source.folder.fd, "dst_dir_fd": target.folder.fd}
    os.link(source.name, target.name, follow_symlinks=False, **fds)


def _rename_new(source: DirEntryRef, target: DirEntryRef) -> None:
    """Create-only rename without the system's help: exact for files; for directories there is a small window."""
    if not stat.S_ISDIR(os.stat(source.name, dir_fd=source.folder.fd, follow_symlinks=False).st_mode):
        _link(source, target)
        os.unlink(source.name, dir_fd=source.folder.fd)
        return
    try:
        os.stat(target.name, dir_fd=target.folder.fd, follow_symlinks=False)
    except FileNotFoundError:
        return os.rename(source.name, target.name, src_dir_fd=source.folder.fd, dst_dir_fd=target.folder.fd)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target.path)
