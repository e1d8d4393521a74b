"""The disk of an agent whose state is shared by hosts: durable is what is on the engine too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.base.disk import Disk, How

if TYPE_CHECKING:
    from worldfs.base.dir_reader import DirEntryRef

    from .host_mirror import HostMirror


class MirroredDisk(Disk):
    """Each change is allowed by the mirror first, and noted by it; `fsync` returns when the engine has it."""

    def __init__(self, mirror: HostMirror) -> None:
        super().__init__()
        self.mirror = mirror

    def create(self, fd: int, name: str, path: str, flags: int, mode: int = 0o644) -> int:
        self.mirror.demand(path)
        made = super().create(fd, name, path, flags, mode)
        self.mirror.changed(path)
        return made

    def write(self, fd: int, data: bytes, path: str) -> None:
        self.mirror.demand(path)
        super().write(fd, data, path)
        self.mirror.changed(path)

    def append(self, fd: int, data: bytes, path: str) -> None:
        self.mirror.demand(path)
        super().append(fd, data, path)
        self.mirror.changed(path, grown=True)

    def patch(self, fd: int, data: bytes, at: int, path: str) -> None:
        self.mirror.demand(path)
        super().patch(fd, data, at, path)
        self.mirror.changed(path)

    def truncate(self, fd: int, size: int, path: str) -> None:
        self.mirror.demand(path)
        super().truncate(fd, size, path)
        self.mirror.changed(path)

    def unlink(self, fd: int, name: str, path: str) -> None:
        self.mirror.demand(path)
        super().unlink(fd, name, path)
        self.mirror.changed(path)

    def link(self, source: DirEntryRef, target: DirEntryRef) -> None:
        self.mirror.demand(target.path)
        super().link(source, target)
        self.mirror.changed(target.path)

    def rename(self, source: DirEntryRef, target: DirEntryRef, how: How) -> None:
        self.mirror.demand(target.path)
        self.mirror.demand(source.path)
        super().rename(source, target, how)
        self.mirror.changed(target.path)
        self.mirror.changed(source.path)

    def fsync(self, fd: int, path: str, *, data_only: bool = False) -> None:
        super().fsync(fd, path, data_only=data_only)
        self.mirror.push()

    def fsync_dir(self, fd: int, path: str) -> None:
        super().fsync_dir(fd, path)
        self.mirror.push()
