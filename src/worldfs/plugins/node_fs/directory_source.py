"""A directory of this machine as an export source: nothing outside it can be reached, links included."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, TypeVar

from worldfs.base.dir_reader import DirEntryRef, DirFd
from worldfs.base.disk import Disk

from .export_source import ExportFile, FileAttr, FsCapacity, Invalidation, SourceCapabilities, attr_of
from .export_watcher import ExportWatcher
from .file_names import check, check_target, is_valid_name
from .fs_errors import FsError
from .node_ids import LIMIT, NodeIdEntry, NodeIdTable, key_of
from .open_file import OpenFile
from .sandboxed_dir import FILE, PATH_ONLY, SandboxedDir

LINKS: Final = 40  # links followed in one path, as Linux does
MODES: Final = 0o777  # permission bits that a peer may set: never set-user-id
USER: Final = "user."  # the only attributes that are exported: others control this machine
XATTR_MAX: Final = 65_536

T = TypeVar("T")


class DirectorySource:
    """See `ExportSource`. `index`: the export's number at its server, part of every node id."""

    kind = "linux"

    def __init__(
        self,
        name: str,
        path: str,
        *,
        ro: bool = False,
        index: int = 0,
        desc: str = "",
        disk: Disk | None = None,
        limit: int = LIMIT,
    ) -> None:
        self.name, self.ro = name, ro
        self.label, self.desc = f"{self.kind}:{name}", desc or path
        self.disk = disk or Disk()
        self.sandbox = SandboxedDir(path)
        self.ids = NodeIdTable(index, os.fstat(self.sandbox.top.fd), limit)
        self.root = self.ids.root.id
        self.watch = ExportWatcher(self)
        self.caps = SourceCapabilities(self.watch.able, True, True, hasattr(os, "setxattr"), True, True)

    # -- finding ---------------------------------------------------------------------------------------------------

    def walk(self, node: int, names: Sequence[str]) -> list[FileAttr]:
        entry = self._entry(node)
        found = []
        for name in names:
            check(name)
            entry, folder = self._folder(entry.id)
            info = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
            if stat.S_ISLNK(info.st_mode):
                entry, info = self._follow((*folder.path.split("/"), name) if folder.path else (name,))
            else:
                entry = self.ids.record(entry, name, info)
            found.append(_attr(entry.id, info))
        return found

    def getattr(self, node: int) -> FileAttr:
        entry, fd, _ = self._open(node, PATH_ONLY)
        try:
            return _attr(entry.id, os.fstat(fd))
        finally:
            os.close(fd)

    def names(self, node: int) -> list[str]:
        _, folder = self._folder(node)
        return sorted(name for name in folder.names() if is_valid_name(name))

    def listing(self, node: int, names: Sequence[str]) -> tuple[list[tuple[str, FileAttr]], int]:
        entry, folder = self._folder(node)
        found = []
        for name in names:
            with suppress(FileNotFoundError):  # removed since the names were read
                attr = self._listed(entry, folder, name)
                if attr is not None:
                    found.append((name, attr))
        return found, os.fstat(folder.fd).st_ctime_ns

    def _listed(self, entry: NodeIdEntry, folder: DirFd, name: str) -> FileAttr | None:
        if name == ".":
            return attr_of(entry.id, os.fstat(folder.fd))
        if name == "..":
            above = entry.places[-1][0] if entry.places else entry
            with suppress(FsError):
                return self.getattr(above.id)
            return attr_of(entry.id, os.fstat(folder.fd))
        info = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            with suppress(FsError, OSError):  # a dangling link, or one that leads outside: the link itself is returned
                target, told = self._follow((*folder.path.split("/"), name) if folder.path else (name,))
                return attr_of(target.id, told)
        return attr_of(self.ids.record(entry, name, info).id, info)

    def _follow(self, path: tuple[str, ...]) -> tuple[NodeIdEntry, os.stat_result]:
        """Resolve a path with links inside the root: `..` is resolved by path, never by the disk."""
        todo = list(reversed(path))
        trail: list[tuple[NodeIdEntry, str, os.stat_result]] = []
        links = 0
        while todo:
            name = todo.pop()
            if name in ("", "."):
                continue
            if name == "..":
                if not trail:
                    raise FsError(errno.EACCES, "link leaves the export")
                if not stat.S_ISDIR(trail.pop()[2].st_mode):
                    raise FsError(errno.ENOTDIR)
                continue
            folder = self.sandbox.folder(tuple(step[1] for step in trail))
            info = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
            if not stat.S_ISLNK(info.st_mode):
                entry = self.ids.record(trail[-1][0] if trail else self.ids.root, name, info)
                trail.append((entry, name, info))
                continue
            links += 1
            target = os.readlink(name, dir_fd=folder.fd)
            if target.startswith("/"):
                raise FsError(errno.EACCES, "link leaves the export")
            if links > LINKS:
                raise FsError(errno.ENOENT)
            todo += reversed(target.split("/"))
        if not trail:
            return self.ids.root, os.fstat(self.sandbox.top.fd)
        return trail[-1][0], trail[-1][2]

    def _entry(self, node: int) -> NodeIdEntry:
        entry = self.ids.find(node)
        if entry is None:
            raise FsError(errno.ENOENT)
        return entry

    def _open(self, node: int, flags: int) -> tuple[NodeIdEntry, int, tuple[str, ...]]:
        """Open the file of this id, wherever it now is; never another file at its old path."""
        entry = self._entry(node)
        for path in self.ids.paths(entry):
            try:
                fd = self.sandbox.open(path, flags)
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                    continue
                raise
            if key_of(os.fstat(fd)) == entry.key:
                return entry, fd, path
            os.close(fd)
        raise FsError(errno.ENOENT)

    def _folder(self, node: int) -> tuple[NodeIdEntry, DirFd]:
        """Open a directory. Listeners are notified of its changes from now on."""
        entry, fd, path = self._open(node, FILE | os.O_RDONLY)
        folder = DirFd(fd, "/".join(path))
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            raise FsError(errno.ENOTDIR)
        self.watch.watch_directory(entry.id, fd)
        return entry, folder

    def _writable(self, node: int) -> tuple[NodeIdEntry, DirFd]:
        self._check_rw()
        return self._folder(node)

    def _check_rw(self) -> None:
        if self.ro:
            raise FsError(errno.EROFS)

    # -- content ---------------------------------------------------------------------------------------------------

    def open(self, node: int, read: bool, write: bool) -> tuple[ExportFile, int]:
        if write:
            self._check_rw()
        _, fd, path = self._open(node, FILE | _access(read, write))
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            os.close(fd)
            raise FsError(errno.EISDIR) if stat.S_ISDIR(info.st_mode) else FsError(errno.EACCES)
        return OpenFile(fd, self.disk, "/".join(path)), info.st_ctime_ns

    def create(self, node: int, name: str, mode: int, read: bool, write: bool) -> tuple[FileAttr, ExportFile]:
        check(name)
        entry, folder = self._writable(node)
        flags = FILE | os.O_EXCL | _access(read, write)
        fd = self.disk.create(folder.fd, name, f"{folder.path}/{name}", flags, mode & MODES)
        info = os.fstat(fd)
        child = self.ids.record(entry, name, info)
        self.disk.fsync_dir(folder.fd, folder.path)
        self._changed(entry)
        return _attr(child.id, info), OpenFile(fd, self.disk, f"{folder.path}/{name}")

    def truncate(self, node: int, size: int) -> None:
        self._check_rw()
        file, _ = self.open(node, False, True)
        assert isinstance(file, OpenFile)
        try:
            file.truncate(size)
        finally:
            file.close()
        self._changed(self._entry(node), directory=False)

    # -- names -----------------------------------------------------------------------------------------------------

    def unlink(self, node: int, name: str) -> None:
        check(name)
        entry, folder = self._writable(node)
        if stat.S_ISDIR(os.stat(name, dir_fd=folder.fd, follow_symlinks=False).st_mode):
            raise FsError(errno.EISDIR)
        self.disk.unlink(folder.fd, name, f"{folder.path}/{name}")
        self._sync_names(entry, folder, gone=name)

    def mkdir(self, node: int, name: str) -> None:
        check(name)
        entry, folder = self._writable(node)
        self.disk.mkdir(folder.fd, name, f"{folder.path}/{name}", 0o755)
        self._sync_names(entry, folder)

    def rmdir(self, node: int, name: str) -> None:
        check(name)
        entry, folder = self._writable(node)
        os.rmdir(name, dir_fd=folder.fd)
        self._sync_names(entry, folder, gone=name)

    def symlink(self, node: int, name: str, target: str) -> None:
        check(name)
        entry, folder = self._writable(node)
        check_target(target, len(folder.path.split("/")) if folder.path else 0)
        os.symlink(target, name, dir_fd=folder.fd)
        self._sync_names(entry, folder)

    def rename(self, old_parent: int, old_name: str, new_parent: int, new_name: str) -> None:
        check(old_name)
        check(new_name)
        old, source = self._writable(old_parent)
        new, target = self._writable(new_parent)
        self.disk.rename(
            DirEntryRef(source, old_name, f"{source.path}/{old_name}"),
            DirEntryRef(target, new_name, f"{target.path}/{new_name}"),
            "over",
        )
        self._lost(self.ids.rename((old, old_name), (new, new_name)))
        self._sync_names(new, target)
        if old is not new:
            self._sync_names(old, source)

    def _sync_names(self, entry: NodeIdEntry, folder: DirFd, gone: str = "") -> None:
        """Make a change of names durable, then notify."""
        if gone:
            self._lost(self.ids.remove(entry, gone))
        self.disk.fsync_dir(folder.fd, folder.path)
        self._changed(entry)

    # -- attributes ------------------------------------------------------------------------------------------------

    def setxattr(self, node: int, name: str, value: bytes, flags: int) -> None:
        self._check_rw()
        if not name.startswith(USER):
            raise FsError(errno.EACCES, "only attributes in user. are kept")
        if len(value) > XATTR_MAX:
            raise FsError(errno.E2BIG)
        self._with(node, lambda fd: os.setxattr(fd, _xattr(name), value, flags & 3))
        self._changed(self._entry(node), directory=False)

    def getxattr(self, node: int, name: str) -> bytes:
        if not name.startswith(USER):
            self._entry(node)
            raise FsError(errno.ENODATA)
        return self._with(node, lambda fd: os.getxattr(fd, _xattr(name)))

    def listxattr(self, node: int) -> list[str]:
        return sorted(name for name in self._with(node, os.listxattr) if name.startswith(USER) and name.isprintable())

    def removexattr(self, node: int, name: str) -> None:
        self._check_rw()
        if not name.startswith(USER):
            raise FsError(errno.EACCES, "only attributes in user. are kept")
        self._with(node, lambda fd: os.removexattr(fd, _xattr(name)))
        self._changed(self._entry(node), directory=False)

    def _with(self, node: int, act: Callable[[int], T]) -> T:
        _, fd, _ = self._open(node, FILE | os.O_RDONLY)
        try:
            return act(fd)
        finally:
            os.close(fd)

    def statfs(self, node: int) -> FsCapacity:
        _, fd, _ = self._open(node, PATH_ONLY)
        try:
            info = os.fstatvfs(fd)
        finally:
            os.close(fd)
        return FsCapacity(
            info.f_bsize,
            info.f_frsize,
            info.f_blocks,
            info.f_bfree,
            info.f_bavail,
            info.f_files,
            info.f_ffree,
            info.f_favail,
            info.f_namemax,
        )

    # -- changes ---------------------------------------------------------------------------------------------------

    def listen(self, callback: Callable[[Invalidation], None]) -> Callable[[], None]:
        return self.watch.listen(callback)

    def _changed(self, entry: NodeIdEntry, *, directory: bool = True) -> None:
        """Notify of our own change, where inotify does not."""
        if not self.watch.running:
            self.watch.notify(Invalidation(entry.id, directory))

    def _lost(self, entry: NodeIdEntry | None) -> None:
        """Notify of a removed file here: when inotify reports the removed name, its file id is no longer known."""
        if entry is not None:
            self.watch.notify(Invalidation(entry.id, False))

    def close(self) -> None:
        self.watch.stop()


def _attr(id: int, info: os.stat_result) -> FileAttr:
    attr = attr_of(id, info)
    if attr is None:
        raise FsError(errno.ENOENT)
    return attr


def _access(read: bool, write: bool) -> int:
    return (os.O_RDWR if read else os.O_WRONLY) if write else os.O_RDONLY


def _xattr(name: str) -> str:
    if "\0" in name or not 0 < len(name.encode("utf-8", "replace")) <= 255:
        raise FsError(errno.EINVAL, "invalid attribute name")
    return name
