"""A server of one mount: each request of the kernel becomes a call of the actor's POSIX view, and its answer a reply.

Requests that wait are tasks; INTERRUPT cancels those that only look, never one that changes something.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine
from typing import Final

from worldfs.base.errors import WorldError
from worldfs.interfaces.posix.posix_entry import PosixEntry
from worldfs.interfaces.posix.posix_errors import errno_of
from worldfs.interfaces.posix.posix_files import PosixFiles
from worldfs.namespace.suspended_coroutine import SuspendedCoroutine, start_eagerly

from . import fuse_protocol as fuse
from .directory_handles import DirectoryHandles
from .fuse_channel import FuseChannel
from .fuse_protocol import Opcode
from .node_table import MountedNode, NodeTable
from .open_handles import OpenHandles

Answer = Coroutine[object, object, bytes]
Operation = Callable[["FuseServer", int, memoryview], Answer]

LASTING_S: Final = 3600  # of attributes of a revision, which never changes
_LOG: Final = logging.getLogger(__name__)
_LOOKS: Final = frozenset({Opcode.LOOKUP, Opcode.GETATTR, Opcode.OPEN, Opcode.READ, Opcode.OPENDIR, Opcode.READDIR})
_CHANGES: Final = frozenset(
    {Opcode.OPEN, Opcode.CREATE, Opcode.MKDIR, Opcode.UNLINK, Opcode.RMDIR, Opcode.RENAME, Opcode.RENAME2}
)
_NOTED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.EINVAL})  # what a person asks about


class FuseServer:
    """Serves one mount until the kernel lets it go, or `close`."""

    def __init__(self, files: PosixFiles, root: PosixEntry, fd: int, *, uid: int, gid: int) -> None:
        self.files, self.nodes = files, NodeTable(root)
        self.handles, self.directories = OpenHandles(self), DirectoryHandles(self)
        self.ended = asyncio.Event()
        self._uid, self._gid = uid, gid
        self._running: dict[int, tuple[int, asyncio.Task[bytes]]] = {}
        self.channel = FuseChannel(fd, self._receive, self._on_end)
        self._operations: dict[int, Callable[[int, memoryview], Answer]] = {
            Opcode.LOOKUP: self._lookup,
            Opcode.GETATTR: self._getattr,
            Opcode.SETATTR: self._setattr,
            Opcode.READLINK: self._readlink,
            Opcode.SYMLINK: self._symlink,
            Opcode.MKDIR: self._mkdir,
            Opcode.UNLINK: self._unlink,
            Opcode.RMDIR: self._rmdir,
            Opcode.RENAME: self._rename,
            Opcode.RENAME2: self._rename2,
            Opcode.STATFS: self._statfs,
            Opcode.ACCESS: self._access,
            Opcode.GETXATTR: self._getxattr,
            Opcode.LISTXATTR: self._listxattr,
            Opcode.MKNOD: self._refused,
            Opcode.LINK: self._refused,
            **self.handles.operations,
            **self.directories.operations,
        }

    def close(self) -> None:
        self.channel.close()

    @property
    def waiting(self) -> int:
        """Requests that are not answered yet."""
        return len(self._running)

    # -- requests -----------------------------------------------------------------------------------------------------

    def _receive(self, opcode: int, unique: int, number: int, process: int, body: memoryview) -> None:
        if opcode == Opcode.LOOKUP and self._lookup_now(unique, number, body):
            return
        if opcode == Opcode.FLUSH:
            self.handles.before_flush(process, body)
        operation = self._operations.get(opcode)
        if operation is None:
            self._other(opcode, unique, number, body)
            return
        if not self.files.tree.eager:
            later = operation(number, memoryview(bytes(body)))  # the buffer is used again before it begins
            self._wait_for(opcode, unique, later)
            return
        try:
            answer = start_eagerly(operation(number, body))
        except Exception as error:
            self.channel.fail(unique, self._errno(error, opcode))
            return
        if not isinstance(answer, SuspendedCoroutine):
            self.channel.reply(unique, answer)
            return
        self._wait_for(opcode, unique, answer)

    def _wait_for(self, opcode: int, unique: int, answer: Awaitable[bytes]) -> None:
        """Reply when a request that waits is over. Also one that is interrupted before its task has begun is answered:
        its process cannot end before."""
        task = asyncio.ensure_future(_rest(answer))
        self._running[unique] = opcode, task

        def over(task: asyncio.Task[bytes]) -> None:
            del self._running[unique]
            if task.cancelled():
                if isinstance(answer, SuspendedCoroutine | Coroutine):
                    answer.close()
                self.channel.fail(unique, errno.EINTR)
            elif (error := task.exception()) is not None:
                self.channel.fail(unique, self._errno(error, opcode))
            else:
                self.channel.reply(unique, task.result())

        task.add_done_callback(over)

    def _other(self, opcode: int, unique: int, number: int, body: memoryview) -> None:
        if opcode == Opcode.FORGET:
            self.nodes.forget(number, fuse.FORGET_IN.unpack_from(body)[0])
        elif opcode == Opcode.BATCH_FORGET:
            count = fuse.BATCH_FORGET_IN.unpack_from(body)[0]
            for index in range(count):
                self.nodes.forget(*fuse.FORGET_ONE.unpack_from(body, 8 + 16 * index))
        elif opcode == Opcode.INTERRUPT:
            kind, task = self._running.get(fuse.INTERRUPT_IN.unpack_from(body)[0], (0, None))
            if task is not None and kind in _LOOKS:
                task.cancel()
        elif opcode == Opcode.INIT:
            self._init(unique, body)
        else:
            self.channel.fail(unique, errno.ENOSYS)

    def _init(self, unique: int, body: memoryview) -> None:
        major, minor, readahead, flags = fuse.INIT_IN.unpack_from(body)
        if major < fuse.MAJOR:
            self.channel.fail(unique, errno.EPROTO)
            return
        spoken = min(minor, fuse.MINOR) if major == fuse.MAJOR else fuse.MINOR  # a larger major asks again
        self.channel.reply(
            unique,
            fuse.INIT_OUT.pack(
                fuse.MAJOR, spoken, readahead, flags & fuse.WANTED, 64, 48, fuse.MAX_WRITE, 1, fuse.MAX_PAGES, 0, 0, 0
            ),
        )

    def _on_end(self) -> None:
        for _, task in self._running.values():
            task.cancel()
        self.ended.set()

    def _errno(self, error: BaseException, opcode: int) -> int:
        if isinstance(error, KeyError):
            return errno.ESTALE  # a number that is not known: the kernel asks again
        if isinstance(error, OSError) and error.errno:
            return error.errno
        if not isinstance(error, WorldError | asyncio.CancelledError):
            _LOG.error("a request of the mount failed", exc_info=error)
        number = errno_of(error)
        if number in _NOTED and opcode in _CHANGES and isinstance(error, WorldError):
            self.files.errors.add(error)
        return number

    # -- replies ------------------------------------------------------------------------------------------------------

    def entry_reply(self, entry: PosixEntry) -> bytes:
        """A `fuse_entry_out`, which counts as one look-up. The name holds for no time: the next walk asks again."""
        node = self.nodes.of(entry)
        node.lookups += 1
        if not node.packed:
            lasting = _lasting(node)
            packed = fuse.ENTRY.pack(node.number, 0, 0, lasting, 0, 0) + self._attributes(node)
            if not lasting:
                return packed
            node.packed = packed
        return node.packed

    def attributes_reply(self, node: MountedNode, read: int | None = None) -> bytes:
        """A `fuse_attr_out`. `read`: the size of the revision that the asker has open."""
        return fuse.ATTRIBUTES_OUT.pack(_lasting(node), 0, 0) + self._attributes(node, read)

    def _attributes(self, node: MountedNode, read: int | None = None) -> bytes:
        entry = node.entry
        size = entry.size
        if entry.scratch is not None:
            size, entry.mtime_ns = len(entry.scratch.data), entry.scratch.mtime_ns
        elif read is not None:
            size = read
        elif node.written:
            size = node.written[-1].size
        seconds, rest = divmod(entry.mtime_ns, 1_000_000_000)
        links = 2 if entry.directory else 1
        return fuse.ATTRIBUTES.pack(
            entry.id, size, (size + 511) // 512, seconds, seconds, seconds, rest, rest, rest,
            entry.mode, links, self._uid, self._gid, 0, 4096, 0,
        )  # fmt: skip

    def below(self, number: int, name: bytes) -> str:
        """The path of a name in a directory."""
        above = self.nodes[number].path
        text = os.fsdecode(name)
        return f"/{text}" if above == "/" else f"{above}/{text}"

    # -- looking ------------------------------------------------------------------------------------------------------

    def _lookup_now(self, unique: int, number: int, body: memoryview) -> bool:
        """Answer from what is known and still true: the path of nearly every request."""
        path = self.below(number, bytes(body[:-1]))
        known = self.files.look_now(path)
        if known is None:
            return False
        self.channel.reply(unique, self.entry_reply(known))
        return True

    async def _lookup(self, number: int, body: memoryview) -> bytes:
        return self.entry_reply(await self.files.look(self.below(number, bytes(body[:-1]))))

    async def _getattr(self, number: int, body: memoryview) -> bytes:
        node = self.nodes[number]
        if node.entry.waits or (not node.entry.directory and node.entry.direct and not node.handles):
            node.entry = await self.files.look(node.path)
        flags, _, handle = fuse.GETATTR_IN.unpack_from(body)
        read = self.handles.revision_size(handle) if node.written and flags & fuse.GETATTR_HANDLE else None
        return self.attributes_reply(node, read)

    async def _setattr(self, number: int, body: memoryview) -> bytes:
        node = self.nodes[number]
        found = fuse.SETATTR_IN.unpack_from(body)
        valid, handle, size, mtime, nanoseconds = found[0], found[2], found[3], found[6], found[9]
        if valid & fuse.SET_SIZE:
            if valid & fuse.SET_HANDLE:
                await self.handles.truncate(handle, size)
            else:
                await self.files.truncate(node.path, size)
                node.entry = await self.files.look(node.path)
        if valid & fuse.SET_MTIME:
            now = valid & fuse.SET_MTIME_NOW
            moment = self.files.scratch.now_ns() if now else mtime * 1_000_000_000 + nanoseconds
            await self.files.touch(node.path, moment)
            if node.entry.writable:
                node.entry.mtime_ns = moment
        node.packed = b""
        return self.attributes_reply(node)

    async def _readlink(self, number: int, body: memoryview) -> bytes:
        scratch = self.nodes[number].entry.scratch
        assert scratch is not None  # the kernel asks this of links only, and each is a scratch name
        return bytes(scratch.data)

    async def _access(self, number: int, body: memoryview) -> bytes:
        entry = self.nodes[number].entry
        mask = fuse.PAIR_IN.unpack_from(body)[0]
        if not entry.directory and (mask & os.X_OK or (mask & os.W_OK and not entry.writable)):
            raise PermissionError(errno.EACCES, "not permitted")
        return b""

    async def _statfs(self, number: int, body: memoryview) -> bytes:
        return fuse.STATFS_OUT.pack(1 << 30, 1 << 29, 1 << 29, 1 << 20, 1 << 19, 4096, 255, 4096, 0)

    # -- names --------------------------------------------------------------------------------------------------------

    async def _mkdir(self, number: int, body: memoryview) -> bytes:
        return self.entry_reply(await self.files.mkdir(self.below(number, bytes(body[8:-1]))))

    async def _symlink(self, number: int, body: memoryview) -> bytes:
        name, target, _ = bytes(body).split(b"\0", 2)
        return self.entry_reply(await self.files.symlink(self.below(number, name), target))

    async def _unlink(self, number: int, body: memoryview) -> bytes:
        await self.files.remove(self.below(number, bytes(body[:-1])))
        return b""

    async def _rmdir(self, number: int, body: memoryview) -> bytes:
        await self.files.remove(self.below(number, bytes(body[:-1])), directory=True)
        return b""

    async def _rename(self, number: int, body: memoryview) -> bytes:
        return await self._move(number, fuse.RENAME_IN.unpack_from(body)[0], bytes(body[8:]), 0)

    async def _rename2(self, number: int, body: memoryview) -> bytes:
        target, flags, _ = fuse.RENAME2_IN.unpack_from(body)
        return await self._move(number, target, bytes(body[16:]), flags)

    async def _move(self, number: int, target: int, names: bytes, flags: int) -> bytes:
        if flags & ~fuse.RENAME_NOREPLACE:
            raise OSError(errno.EINVAL, "unknown flags")
        old_name, new_name, _ = names.split(b"\0", 2)
        old, new = self.below(number, old_name), self.below(target, new_name)
        await self.files.rename(old, new, replace=not flags & fuse.RENAME_NOREPLACE)
        self.nodes.moved(old, new)
        return b""

    async def _refused(self, number: int, body: memoryview) -> bytes:
        raise PermissionError(errno.EPERM, "no links and no devices")

    # -- extended attributes ------------------------------------------------------------------------------------------

    async def _getxattr(self, number: int, body: memoryview) -> bytes:
        size = fuse.PAIR_IN.unpack_from(body)[0]
        name = bytes(body[8:-1]).decode("utf-8", "replace")
        if not name.startswith("user.paos."):
            raise OSError(errno.ENODATA, "no such attribute")
        value = (await self.files.attributes(self.nodes[number].path)).get(name)
        if value is None:
            raise OSError(errno.ENODATA, "no such attribute")
        return _sized(value, size)

    async def _listxattr(self, number: int, body: memoryview) -> bytes:
        size = fuse.PAIR_IN.unpack_from(body)[0]
        names = await self.files.attributes(self.nodes[number].path)
        return _sized(b"".join(name.encode() + b"\0" for name in names), size)


def _lasting(node: MountedNode) -> int:
    """For how many seconds the kernel may keep the attributes of a node: for none while a program writes it."""
    entry = node.entry
    return LASTING_S if entry.directory or not (entry.direct or entry.scratch or node.written) else 0


async def _rest(answer: Awaitable[bytes]) -> bytes:
    return await answer


def _sized(value: bytes, size: int) -> bytes:
    """The value of an extended attribute, or its size where that is asked."""
    if not size:
        return fuse.PAIR_IN.pack(len(value), 0)
    if len(value) > size:
        raise OSError(errno.ERANGE, "too small")
    return value
