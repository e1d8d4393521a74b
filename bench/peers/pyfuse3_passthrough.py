"""A directory of plain files served by pyfuse3, with nothing cached: SOURCE MOUNTPOINT."""

from __future__ import annotations

import errno
import os
import sys

import pyfuse3  # type: ignore[import-not-found]
import trio  # type: ignore[import-not-found]


class Files(pyfuse3.Operations):  # type: ignore[misc]
    """One level of files: a number for each name."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source, self.names = source, {pyfuse3.ROOT_INODE: b"."}

    def _attributes(self, number: int) -> pyfuse3.EntryAttributes:
        try:
            found = os.lstat(os.path.join(os.fsencode(self.source), self.names[number]))
        except OSError as error:
            raise pyfuse3.FUSEError(error.errno) from None
        entry = pyfuse3.EntryAttributes()
        for name in ("st_mode", "st_nlink", "st_uid", "st_gid", "st_size", "st_mtime_ns", "st_atime_ns", "st_ctime_ns"):
            setattr(entry, name, getattr(found, name))
        entry.st_ino, entry.entry_timeout, entry.attr_timeout = number, 0, 0
        return entry

    async def lookup(self, parent: int, name: bytes, ctx: object = None) -> pyfuse3.EntryAttributes:
        number = next((number for number, known in self.names.items() if known == name), len(self.names) + 1)
        self.names[number] = name
        return self._attributes(number)

    async def getattr(self, number: int, ctx: object = None) -> pyfuse3.EntryAttributes:
        return self._attributes(number)

    async def open(self, number: int, flags: int, ctx: object) -> pyfuse3.FileInfo:
        fd = os.open(os.path.join(os.fsencode(self.source), self.names[number]), os.O_RDONLY)
        return pyfuse3.FileInfo(fh=fd, direct_io=True)

    async def read(self, fd: int, offset: int, size: int) -> bytes:
        return os.pread(fd, size, offset)

    async def release(self, fd: int) -> None:
        os.close(fd)

    async def opendir(self, number: int, ctx: object) -> int:
        return number

    async def readdir(self, number: int, offset: int, token: object) -> None:
        raise pyfuse3.FUSEError(errno.ENOSYS)


if __name__ == "__main__":
    options = {*pyfuse3.default_options, "fsname=bench"} - {"default_permissions"}
    pyfuse3.init(Files(sys.argv[1]), sys.argv[2], options)
    trio.run(pyfuse3.main)
    pyfuse3.close()
