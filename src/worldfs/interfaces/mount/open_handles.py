"""The open files of a mount: OPEN, CREATE, READ, WRITE, FLUSH, RELEASE and POLL."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import WorldError
from worldfs.interfaces.posix.open_files import PosixFile, StagedFile

from . import fuse_protocol as fuse
from .fuse_protocol import Opcode

if TYPE_CHECKING:
    from .fuse_server import FuseServer
    from .node_table import MountedNode

HANDLES_MOST: Final = 65_536


class OpenHandle:
    __slots__ = ("file", "node", "polls")

    def __init__(self, node: MountedNode, file: PosixFile) -> None:
        self.node, self.file = node, file
        self.polls: dict[int, asyncio.Task[None]] = {}


class OpenHandles:
    """By the number that the kernel was given."""

    def __init__(self, server: FuseServer) -> None:
        self._server = server
        self._open: dict[int, OpenHandle] = {}
        self._last = 0
        self.operations: dict[int, Callable[[int, memoryview], Coroutine[object, object, bytes]]] = {
            Opcode.OPEN: self._on_open,
            Opcode.CREATE: self._create,
            Opcode.READ: self._read,
            Opcode.WRITE: self._write,
            Opcode.FLUSH: self._flush,
            Opcode.FSYNC: self._flush,
            Opcode.RELEASE: self._release,
            Opcode.POLL: self._poll,
        }

    def __len__(self) -> int:
        return len(self._open)

    def revision_size(self, number: int) -> int | None:
        """The size of the revision that an open file reads; None: it reads none."""
        file = self._open[number].file
        return None if file.direct else file.size

    async def truncate(self, number: int, size: int) -> None:
        await self._open[number].file.truncate(size)

    async def _on_open(self, number: int, body: memoryview) -> bytes:
        node = self._server.nodes[number]
        flags = fuse.OPEN_IN.unpack_from(body)[0]
        file = await self._server.files.open(node.path, flags, node.entry)
        return self._opened(node, file)

    async def _create(self, number: int, body: memoryview) -> bytes:
        flags = fuse.CREATE_IN.unpack_from(body)[0]
        path = self._server.below(number, bytes(body[16:-1]))
        entry, file = await self._server.files.create(path, flags)
        reply = self._server.entry_reply(entry)
        return reply + self._opened(self._server.nodes.of(entry), file)

    def _opened(self, node: MountedNode, file: PosixFile) -> bytes:
        if len(self._open) >= HANDLES_MOST:
            raise OSError(errno.ENFILE, "too many open files")
        self._last += 1
        self._open[self._last] = OpenHandle(node, file)
        node.handles += 1
        if isinstance(file, StagedFile):
            node.written.append(file)
            node.packed = b""
        flags = fuse.OPEN_DIRECT_IO if file.direct else fuse.OPEN_KEEP_CACHE | fuse.OPEN_NO_FLUSH
        return fuse.OPEN_OUT.pack(self._last, flags, 0)

    async def _read(self, number: int, body: memoryview) -> bytes:
        found = fuse.READ_IN.unpack_from(body)
        return await self._open[found[0]].file.read(found[1], found[2])

    async def _write(self, number: int, body: memoryview) -> bytes:
        found = fuse.READ_IN.unpack_from(body)
        data = bytes(body[40 : 40 + found[2]])
        return fuse.WRITE_OUT.pack(await self._open[found[0]].file.write(found[1], data), 0)

    def before_flush(self, process: int, body: memoryview) -> None:
        """A writer that was killed looks like one that closes: what it left half is not committed."""
        handle = self._open.get(fuse.HANDLE_IN.unpack_from(body)[0])
        if handle is not None and isinstance(handle.file, StagedFile) and was_killed(process):
            handle.file.abandoned = True

    async def _flush(self, number: int, body: memoryview) -> bytes:
        await self._open[fuse.HANDLE_IN.unpack_from(body)[0]].file.flush()
        return b""

    async def _release(self, number: int, body: memoryview) -> bytes:
        handle = self._open.pop(fuse.HANDLE_IN.unpack_from(body)[0])
        for task in handle.polls.values():
            task.cancel()
        try:
            await self._server.files.close_file(handle.node.path, handle.file)
        finally:
            handle.node.handles -= 1
            if isinstance(handle.file, StagedFile):
                handle.node.written.remove(handle.file)
            handle.node.packed = b""
            self._server.nodes.drop(handle.node)
        return b""

    # -- poll ---------------------------------------------------------------------------------------------------------

    async def _poll(self, number: int, body: memoryview) -> bytes:
        handle_number, wanted, flags, _ = fuse.POLL_IN_STRUCT.unpack_from(body)
        handle = self._open[handle_number]
        if await handle.file.ready():
            return fuse.PAIR_IN.pack(fuse.POLL_IN | fuse.POLL_OUT, 0)
        if flags & fuse.POLL_SCHEDULE_NOTIFY and wanted not in handle.polls:
            handle.polls[wanted] = asyncio.ensure_future(self._notify(handle, wanted))
        return fuse.PAIR_IN.pack(fuse.POLL_OUT, 0)

    async def _notify(self, handle: OpenHandle, wanted: int) -> None:
        """Tell the kernel once that it shall ask again."""
        try:
            async with self._server.files.tree.changes(handle.node.path) as until_next:
                while not await handle.file.ready():
                    await until_next()
        except WorldError:
            pass  # the next request says what is wrong
        finally:
            handle.polls.pop(wanted, None)
            self._server.channel.notify_poll(wanted)


def was_killed(process: int) -> bool:
    """Whether a process is ending by a signal (proc(5), stat: the last field is the exit status)."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(file.read().split()[-1]) & 0x7F != 0
    except (OSError, ValueError):
        return False
