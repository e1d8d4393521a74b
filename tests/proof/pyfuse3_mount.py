"""The operator's tree of a home, mounted by pyfuse3: HOME MOUNTPOINT. An oracle for our own server of the kernel's
protocol: it asks the same POSIX view, and what lies between that view and the kernel is pyfuse3's and libfuse's.

Nothing is kept: names and attributes hold for no time, and each read reaches the view.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path

import pyfuse3
import pyfuse3.asyncio

from worldfs.base.clock import SystemClock
from worldfs.base.errors import WorldError
from worldfs.interfaces.posix.namespace_files import home_files
from worldfs.interfaces.posix.open_files import PosixFile, StagedFile
from worldfs.interfaces.posix.posix_entry import PosixEntry
from worldfs.interfaces.posix.posix_errors import errno_of
from worldfs.interfaces.posix.posix_files import PosixFiles


def _with_errno(operation: Callable) -> Callable:
    @wraps(operation)
    async def answered(*words):
        try:
            return await operation(*words)
        except pyfuse3.FUSEError:
            raise
        except (WorldError, OSError) as error:
            raise pyfuse3.FUSEError(errno_of(error) if isinstance(error, WorldError) else error.errno) from None

    return answered


class TreeOperations(pyfuse3.Operations):
    """A number is given to each path at one revision, and none is ever taken back."""

    supports_dot_lookup = False
    enable_writeback_cache = False

    def __init__(self, files: PosixFiles, root: PosixEntry) -> None:
        super().__init__()
        self.files = files
        self.entries: dict[int, PosixEntry] = {pyfuse3.ROOT_INODE: root}
        self.paths: dict[int, str] = {pyfuse3.ROOT_INODE: "/"}
        self.numbers: dict[int, int] = {}
        self.open_files: dict[int, tuple[int, PosixFile]] = {}
        self.listings: dict[int, list[tuple[str, bool]]] = {}
        self.last = pyfuse3.ROOT_INODE

    def _below(self, number: int, name: bytes) -> str:
        return f"{self.paths[number].rstrip('/')}/{os.fsdecode(name)}"

    def _number(self, entry: PosixEntry) -> int:
        if entry.id not in self.numbers:
            self.last += 1
            self.numbers[entry.id] = self.last
        number = self.numbers[entry.id]
        self.entries[number], self.paths[number] = entry, entry.path
        return number

    def _attributes(self, number: int) -> pyfuse3.EntryAttributes:
        entry, found = self.entries[number], pyfuse3.EntryAttributes()
        size = entry.size if entry.scratch is None else len(entry.scratch.data)
        written = [file.size for at, file in self.open_files.values() if at == number and isinstance(file, StagedFile)]
        found.st_ino, found.st_mode, found.st_nlink = number, entry.mode, 2 if entry.directory else 1
        found.st_size = written[-1] if written else size
        found.st_uid, found.st_gid, found.st_blksize = os.getuid(), os.getgid(), 4096
        found.st_blocks = (found.st_size + 511) // 512
        moment = entry.mtime_ns if entry.scratch is None else entry.scratch.mtime_ns
        found.st_mtime_ns = found.st_atime_ns = found.st_ctime_ns = moment
        found.entry_timeout = found.attr_timeout = 0
        return found

    async def _found(self, path: str) -> pyfuse3.EntryAttributes:
        return self._attributes(self._number(await self.files.look(path)))

    def _opened(self, number: int, file: PosixFile) -> pyfuse3.FileInfo:
        handle = max(self.open_files, default=0) + 1
        self.open_files[handle] = number, file
        return pyfuse3.FileInfo(fh=handle, direct_io=True)

    @_with_errno
    async def lookup(self, parent, name, ctx):
        return await self._found(self._below(parent, name))

    @_with_errno
    async def getattr(self, number, ctx):
        entry = self.entries[number]
        if not entry.directory and entry.direct and all(at != number for at, _ in self.open_files.values()):
            self.entries[number] = await self.files.look(self.paths[number])
        return self._attributes(number)

    @_with_errno
    async def setattr(self, number, attributes, fields, handle, ctx):
        path = self.paths[number]
        if fields.update_size:
            if handle is not None:
                await self.open_files[handle][1].truncate(attributes.st_size)
            else:
                await self.files.truncate(path, attributes.st_size)
                self.entries[number] = await self.files.look(path)
        if fields.update_mtime:
            await self.files.touch(path, attributes.st_mtime_ns)
            if self.entries[number].writable:
                self.entries[number].mtime_ns = attributes.st_mtime_ns
        return self._attributes(number)

    @_with_errno
    async def readlink(self, number, ctx):
        scratch = self.entries[number].scratch
        if scratch is None or not self.entries[number].link:
            raise OSError(errno.EINVAL, "no link")
        return bytes(scratch.data)

    @_with_errno
    async def access(self, number, mode, ctx):
        entry = self.entries[number]
        refused = not entry.directory and (mode & os.X_OK or (mode & os.W_OK and not entry.writable))
        if refused:
            raise OSError(errno.EACCES, "not permitted")
        return True

    # -- names --------------------------------------------------------------------------------------------------------

    @_with_errno
    async def mkdir(self, parent, name, mode, ctx):
        return self._attributes(self._number(await self.files.mkdir(self._below(parent, name))))

    @_with_errno
    async def symlink(self, parent, name, target, ctx):
        return self._attributes(self._number(await self.files.symlink(self._below(parent, name), target)))

    @_with_errno
    async def mknod(self, parent, name, mode, device, ctx):
        raise OSError(errno.EPERM, "no devices")

    @_with_errno
    async def link(self, number, parent, name, ctx):
        raise OSError(errno.EPERM, "no links")

    @_with_errno
    async def unlink(self, parent, name, ctx):
        await self.files.remove(self._below(parent, name))

    @_with_errno
    async def rmdir(self, parent, name, ctx):
        await self.files.remove(self._below(parent, name), directory=True)

    @_with_errno
    async def rename(self, parent, name, target, new_name, flags, ctx):
        if flags & ~pyfuse3.RENAME_NOREPLACE:
            raise OSError(errno.EINVAL, "unknown flags")
        old, new = self._below(parent, name), self._below(target, new_name)
        await self.files.rename(old, new, replace=not flags)
        for number, path in self.paths.items():
            if path == old or path.startswith(f"{old}/"):
                self.paths[number] = new + path[len(old) :]

    # -- open files ---------------------------------------------------------------------------------------------------

    @_with_errno
    async def open(self, number, flags, ctx):
        return self._opened(number, await self.files.open(self.paths[number], flags, self.entries[number]))

    @_with_errno
    async def create(self, parent, name, mode, flags, ctx):
        entry, file = await self.files.create(self._below(parent, name), flags)
        number = self._number(entry)
        return self._opened(number, file), self._attributes(number)

    @_with_errno
    async def read(self, handle, offset, size):
        return await self.open_files[handle][1].read(offset, size)

    @_with_errno
    async def write(self, handle, offset, data):
        return await self.open_files[handle][1].write(offset, data)

    @_with_errno
    async def flush(self, handle):
        await self.open_files[handle][1].flush()

    @_with_errno
    async def fsync(self, handle, only_data):
        await self.open_files[handle][1].flush()

    @_with_errno
    async def release(self, handle):
        number, file = self.open_files.pop(handle)
        await self.files.close_file(self.paths[number], file)

    # -- directories --------------------------------------------------------------------------------------------------

    @_with_errno
    async def opendir(self, number, ctx):
        handle = max(self.listings, default=0) + 1
        self.listings[handle] = await self.files.list(self.paths[number])
        return handle * 2**20 + number

    @_with_errno
    async def readdir(self, handle, offset, token):
        handle, number = divmod(handle, 2**20)
        for at, (name, _) in enumerate(self.listings[handle][offset:], offset + 1):
            try:
                found = await self._found(self._below(number, os.fsencode(name)))
            except WorldError:
                continue  # it has gone since
            if not pyfuse3.readdir_reply(token, os.fsencode(name), found, at):
                return

    @_with_errno
    async def releasedir(self, handle):
        del self.listings[handle // 2**20]

    @_with_errno
    async def fsyncdir(self, handle, only_data):
        return

    @_with_errno
    async def statfs(self, ctx):
        found = pyfuse3.StatvfsData()
        found.f_bsize = found.f_frsize = 4096
        found.f_blocks, found.f_bfree, found.f_bavail = 1 << 30, 1 << 29, 1 << 29
        found.f_files, found.f_ffree, found.f_favail, found.f_namemax = 1 << 20, 1 << 19, 1 << 19, 255
        return found

    @_with_errno
    async def getxattr(self, number, name, ctx):
        found = await self.files.attributes(self.paths[number])
        value = found.get(os.fsdecode(name)) if name.startswith(b"user.paos.") else None
        if value is None:
            raise OSError(errno.ENODATA, "no such attribute")
        return value

    @_with_errno
    async def listxattr(self, number, ctx):
        return [name.encode() for name in await self.files.attributes(self.paths[number])]


async def serve(home: Path, directory: str) -> None:
    clock = SystemClock()
    async with home_files(home, home / "agents", "operator", "", clock) as tree:
        files = PosixFiles(tree, clock)
        operations = TreeOperations(files, await files.look("/"))
        pyfuse3.init(operations, directory, {"fsname=oracle"})
        print("mounted", flush=True)
        try:
            await pyfuse3.main()
        finally:
            pyfuse3.close()


if __name__ == "__main__":
    pyfuse3.asyncio.enable()
    asyncio.run(serve(Path(sys.argv[1]), sys.argv[2]))
