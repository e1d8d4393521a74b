"""A directory whose opened paths stay inside it: no component follows a link, one system call where possible."""

from __future__ import annotations

import errno
import os
from typing import Final

from worldfs.base import syscalls
from worldfs.base.dir_reader import FOLDER, DirFd, path_error

FILE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC  # a FIFO must not block
PATH_ONLY: Final = (
    getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK) | os.O_NOFOLLOW | os.O_CLOEXEC
)  # for stat, not to read
LONG: Final = 1_000  # characters; a longer path is walked by component, a system call takes 4,095 bytes
_DENIED: Final = (errno.ENOSYS, errno.EPERM, errno.EINVAL)  # no openat2 here; some sandboxes return EPERM


class SandboxedDir:
    """Usable from many threads."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self.top = DirFd(os.open(path, FOLDER & ~os.O_NOFOLLOW), "")
        except OSError as error:
            raise path_error(error, path, "export") from error
        self._whole = True  # openat2 works, as far as we know

    def open(self, path: tuple[str, ...], flags: int) -> int:
        """A descriptor. `OSError` ELOOP at a link (but `PATH_ONLY` opens a link in the last component)."""
        if not path:
            return os.open(".", (flags & ~os.O_NOFOLLOW) | os.O_CLOEXEC, dir_fd=self.top.fd)
        whole = "/".join(path)
        if self._whole and len(whole) <= LONG:
            try:
                return syscalls.open_beneath(self.top.fd, whole, flags)
            except OSError as error:
                if error.errno not in _DENIED:
                    raise
                self._whole = error.errno != errno.ENOSYS
        return self._by_component(path, flags)

    def folder(self, path: tuple[str, ...]) -> DirFd:
        return DirFd(self.open(path, FOLDER), "/".join(path))

    def _by_component(self, path: tuple[str, ...], flags: int) -> int:
        fd = self.top.fd
        try:
            for part in path[:-1]:
                step = os.open(part, PATH_ONLY | os.O_DIRECTORY, dir_fd=fd)
                if fd != self.top.fd:
                    os.close(fd)
                fd = step
            return os.open(path[-1], flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        finally:
            if fd != self.top.fd:
                os.close(fd)
