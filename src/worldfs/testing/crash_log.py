"""The operations of a program on a directory, in order: recorded by a `Disk`, or read from a trace.

Paths are relative to the directory that is watched. An entry is logged after it took effect, one at a time.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, NamedTuple

from worldfs.base.dir_reader import DirEntryRef
from worldfs.base.disk import STAMP, Disk, How

Kind = Literal[
    "create", "mkdir", "write", "truncate", "stamp", "link", "rename", "swap", "unlink", "sync", "sync_dir", "ack"
]
Sync = Literal["fsync", "fdatasync", "fsync_dir"]
SYNCS: Final[tuple[Sync, ...]] = ("fsync", "fdatasync", "fsync_dir")


class DiskOp(NamedTuple):
    """One change, or an acknowledgement (`path` is then what was acknowledged).

    write: `data` at offset `at`. truncate: to `at` bytes. stamp: with `data`. link, rename, swap: `path` to `other`.
    """

    kind: Kind
    path: str
    other: str = ""
    at: int = 0
    data: bytes = b""

    def __str__(self) -> str:
        more = f" → {self.other}" if self.other else ""
        size = f" {len(self.data)} bytes at {self.at}" if self.kind == "write" else ""
        return f"{self.kind} {self.path}{more}{size}"


class Snapshot(NamedTuple):
    """The content of a directory: `folders` parents first; `files`: content by path; `hard_links`: second names;
    `stamps`: attributes of files."""

    folders: tuple[str, ...]
    files: dict[str, bytes]
    hard_links: dict[str, str]
    stamps: dict[str, bytes]


def snapshot(root: Path) -> Snapshot:
    """A snapshot of a directory; symbolic links and special files are omitted, as the product never makes them."""
    folders: list[str] = []
    files: dict[str, bytes] = {}
    twins: dict[str, str] = {}
    stamps: dict[str, bytes] = {}
    inodes: dict[int, str] = {}
    todo = [""]
    while todo:
        above = todo.pop()
        with os.scandir(root / above) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                path = f"{above}/{entry.name}" if above else entry.name
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                    todo.append(path)
                elif entry.is_file(follow_symlinks=False):
                    first = inodes.setdefault(entry.inode(), path)
                    if first == path:
                        files[path] = Path(entry.path).read_bytes()
                        with suppress(OSError):
                            stamps[path] = os.getxattr(entry.path, STAMP)
                    else:
                        twins[path] = first
    return Snapshot(tuple(sorted(folders)), files, twins, stamps)


class Recorder(Disk):
    """A disk that records the operations below `root`; everything that was there before is durable.

    `without`: kinds of fsync that are left out, as by a lying disk or a missing call.
    """

    def __init__(
        self, root: str | os.PathLike[str], *, without: Collection[Sync] = (), ops: Iterable[DiskOp] = ()
    ) -> None:
        super().__init__()
        self.root = os.path.realpath(root)
        self.start = snapshot(Path(self.root))
        self.without = frozenset(without)
        self.ops = list(ops)
        self._one = threading.RLock()

    def ack(self, label: str) -> None:
        """Record that this step was acknowledged."""
        with self._one:
            self.ops.append(DiskOp("ack", label))

    # -- the content of files --------------------------------------------------------------------------------------

    def create(self, fd: int, name: str, path: str, flags: int, mode: int = 0o644) -> int:
        with self._one:
            try:
                size = os.stat(name, dir_fd=fd, follow_symlinks=False).st_size
            except FileNotFoundError:
                size = -1
            made = super().create(fd, name, path, flags, mode)
            if size < 0:
                self._log("create", self._child(fd, name))
            elif size and flags & os.O_TRUNC:
                self._log("truncate", self._child(fd, name))
            return made

    def write(self, fd: int, data: bytes, path: str) -> None:
        with self._one:
            end = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_APPEND
            at = os.fstat(fd).st_size if end else os.lseek(fd, 0, os.SEEK_CUR)
            super().write(fd, data, path)
            self._log("write", self._name(fd), at=at, data=bytes(data))

    def append(self, fd: int, data: bytes, path: str) -> None:
        with self._one:
            at = os.fstat(fd).st_size
            super().append(fd, data, path)
            self._log("write", self._name(fd), at=at, data=bytes(data))

    def patch(self, fd: int, data: bytes, at: int, path: str) -> None:
        with self._one:
            super().patch(fd, data, at, path)
            self._log("write", self._name(fd), at=at, data=bytes(data))

    def truncate(self, fd: int, size: int, path: str) -> None:
        with self._one:
            super().truncate(fd, size, path)
            self._log("truncate", self._name(fd), at=size)

    def stamp(self, fd: int, value: bytes, path: str) -> None:
        with self._one:
            super().stamp(fd, value, path)
            if self.stamps:
                self._log("stamp", self._name(fd), data=value)

    def fsync(self, fd: int, path: str, *, data_only: bool = False) -> None:
        if ("fdatasync" if data_only else "fsync") in self.without:
            return
        with self._one:
            super().fsync(fd, path, data_only=data_only)
            self._log("sync", self._name(fd))

    # -- names -----------------------------------------------------------------------------------------------------

    def mkdir(self, fd: int, name: str, path: str, mode: int) -> None:
        with self._one:
            super().mkdir(fd, name, path, mode)
            self._log("mkdir", self._child(fd, name))

    def unlink(self, fd: int, name: str, path: str) -> None:
        with self._one:
            super().unlink(fd, name, path)
            self._log("unlink", self._child(fd, name))

    def link(self, source: DirEntryRef, target: DirEntryRef) -> None:
        with self._one:
            super().link(source, target)
            self._log("link", self._at(source), self._at(target))

    def rename(self, source: DirEntryRef, target: DirEntryRef, how: How) -> None:
        with self._one:
            super().rename(source, target, how)
            self._log("swap" if how == "swap" else "rename", self._at(source), self._at(target))

    def fsync_dir(self, fd: int, path: str) -> None:
        if "fsync_dir" in self.without:
            return
        with self._one:
            super().fsync_dir(fd, path)
            self._log("sync_dir", self._name(fd))

    # -- inside ----------------------------------------------------------------------------------------------------

    def _log(self, kind: Kind, path: str | None, other: str | None = "", *, at: int = 0, data: bytes = b"") -> None:
        if path is not None and other is not None and (data or kind != "write"):
            self.ops.append(DiskOp(kind, path, other, at, data))

    def _name(self, fd: int) -> str | None:
        """The path of an open file or directory; None: it is deleted, or outside `root`."""
        return inside(self.root, os.readlink(f"/proc/self/fd/{fd}"))

    def _child(self, fd: int, name: str) -> str | None:
        above = self._name(fd)
        return above and f"{above}/{name}" if above != "" else name

    def _at(self, place: DirEntryRef) -> str | None:
        return self._child(place.folder.fd, place.name)


def inside(root: str, path: str) -> str | None:
    """`path` relative to `root`, "" for the root itself; None when it is outside or deleted."""
    if path == root:
        return ""
    if not path.startswith(f"{root}/") or path.endswith(" (deleted)"):
        return None
    return path[len(root) + 1 :]
