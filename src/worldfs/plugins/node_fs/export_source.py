"""The types of the node FS protocol, and the protocol class of an export's files.

Everything here blocks and is called in threads. Errors: `FsError`, or an `OSError` (fs_errors.py converts it).
Source: acheron §7.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

FILE, DIRECTORY, LINK = 1, 2, 3
MAX_READ: Final = 1 << 20  # bytes of one read or write
SHARED, EXCLUSIVE, UNLOCK = "shared", "exclusive", "unlock"


class FileAttr(NamedTuple):
    """`k` FILE, DIRECTORY or LINK; `m` mode; `n` links; times in ns; `gen` changes whenever the file does."""

    id: int
    k: int
    m: int
    n: int
    u: int
    g: int
    sz: int
    at: int
    mt: int
    ct: int
    gen: int


class SourceCapabilities(NamedTuple):
    native_watch: bool
    case_sensitive: bool
    symlink: bool
    xattr: bool
    locks: bool
    statfs: bool


class FsCapacity(NamedTuple):
    """Capacity of a file system; units as in statvfs(3)."""

    bsize: int = 4096
    frsize: int = 4096
    blocks: int = 0
    bfree: int = 0
    bavail: int = 0
    files: int = 0
    ffree: int = 0
    favail: int = 0
    namemax: int = 255


class Invalidation(NamedTuple):
    """A node whose cached attributes or content a client must drop."""

    node: int
    directory: bool
    gen: int | None = None


class ExportFile(Protocol):
    """An open file. Calls on one file never overlap."""

    def read(self, offset: int, size: int) -> tuple[bytes, bool]:
        """At most `size` bytes, and whether they reach the end."""
        ...

    def write(self, offset: int, data: bytes) -> None: ...

    def lock(self, kind: str) -> bool:
        """SHARED, EXCLUSIVE or UNLOCK, without waiting; False: another holder has it."""
        ...

    def close(self) -> None:
        """The written data are durable when it returns."""
        ...


class ExportSource(Protocol):
    """The files of one export; nodes are named by id."""

    name: str
    kind: str  # linux | namespace
    label: str  # source_id
    desc: str
    ro: bool
    root: int
    caps: SourceCapabilities

    def walk(self, node: int, names: Sequence[str]) -> list[FileAttr]:
        """The attributes of each step; links are followed while they stay inside."""
        ...

    def getattr(self, node: int) -> FileAttr: ...
    def names(self, node: int) -> list[str]:
        """Sorted, without `.` and `..`; only names that a frame can carry."""
        ...

    def listing(self, node: int, names: Sequence[str]) -> tuple[list[tuple[str, FileAttr]], int]:
        """The entries of those of these names that exist (also `.` and `..`), and the directory's generation."""
        ...

    def open(self, node: int, read: bool, write: bool) -> tuple[ExportFile, int]:
        """The file and its generation."""
        ...

    def create(self, node: int, name: str, mode: int, read: bool, write: bool) -> tuple[FileAttr, ExportFile]: ...
    def truncate(self, node: int, size: int) -> None: ...
    def unlink(self, node: int, name: str) -> None: ...
    def mkdir(self, node: int, name: str) -> None: ...
    def rmdir(self, node: int, name: str) -> None: ...
    def symlink(self, node: int, name: str, target: str) -> None: ...
    def rename(self, old_parent: int, old_name: str, new_parent: int, new_name: str) -> None: ...
    def setxattr(self, node: int, name: str, value: bytes, flags: int) -> None: ...
    def getxattr(self, node: int, name: str) -> bytes: ...
    def listxattr(self, node: int) -> list[str]: ...
    def removexattr(self, node: int, name: str) -> None: ...
    def statfs(self, node: int) -> FsCapacity: ...

    def listen(self, callback: Callable[[Invalidation], None]) -> Callable[[], None]:
        """Call `callback` for each change, from any thread, until the returned function is called."""
        ...

    def close(self) -> None: ...


def attr_of(id: int, info: os.stat_result) -> FileAttr | None:
    """The attributes; None for a FIFO, a socket, a device."""
    kind = {stat.S_IFREG: FILE, stat.S_IFDIR: DIRECTORY, stat.S_IFLNK: LINK}.get(stat.S_IFMT(info.st_mode))
    if kind is None:
        return None
    return FileAttr(
        id,
        kind,
        info.st_mode,
        info.st_nlink,
        info.st_uid,
        info.st_gid,
        info.st_size,
        info.st_atime_ns,
        info.st_mtime_ns,
        info.st_ctime_ns,
        info.st_ctime_ns,
    )
