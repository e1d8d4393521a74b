"""The open directories of a mount: a listing is frozen when it is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from worldfs.namespace.path_id import path_id

from . import fuse_protocol as fuse
from .fuse_protocol import Opcode

if TYPE_CHECKING:
    from .fuse_server import FuseServer

_DIRECTORY, _FILE = stat.S_IFDIR >> 12, stat.S_IFREG >> 12


class DirectoryHandles:
    def __init__(self, server: FuseServer) -> None:
        self._server = server
        self._open: dict[int, list[tuple[bytes, int, int]]] = {}  # name, id, kind
        self._last = 0
        self.operations: dict[int, Callable[[int, memoryview], Coroutine[object, object, bytes]]] = {
            Opcode.OPENDIR: self._opendir,
            Opcode.READDIR: self._readdir,
            Opcode.READDIRPLUS: self._readdir_plus,
            Opcode.RELEASEDIR: self._releasedir,
            Opcode.FSYNCDIR: self._fsyncdir,
        }

    async def _opendir(self, number: int, body: memoryview) -> bytes:
        self._last += 1
        handle = self._last
        path = self._server.nodes[number].path
        base = path.rstrip("/")
        found = [(b".", path_id(path), _DIRECTORY), (b"..", path_id(base.rpartition("/")[0] or "/"), _DIRECTORY)]
        for name, directory in await self._server.files.list(path):
            # The number of a file is that of its revision, which a listing does not ask for.
            found.append((os.fsencode(name), path_id(f"{base}/{name}"), _DIRECTORY if directory else _FILE))
        self._open[handle] = found
        return fuse.OPEN_OUT.pack(handle, 0, 0)

    async def _readdir(self, number: int, body: memoryview) -> bytes:
        handle, offset, size = fuse.READ_IN.unpack_from(body)[:3]
        pieces, used = [], 0
        entries = self._open[handle]
        for cookie in range(offset, len(entries)):
            name, id, kind = entries[cookie]
            piece = fuse.directory_entry(id, cookie + 1, name, kind)
            used += len(piece)
            if used > size:
                break
            pieces.append(piece)
        return b"".join(pieces)

    async def _readdir_plus(self, number: int, body: memoryview) -> bytes:
        """As READDIR, with the attributes of what is known and still true; the kernel looks the others up."""
        handle, offset, size = fuse.READ_IN.unpack_from(body)[:3]
        pieces, used = [], 0
        entries = self._open[handle]
        for cookie in range(offset, len(entries)):
            name, id, kind = entries[cookie]
            piece = fuse.directory_entry(id, cookie + 1, name, kind)
            used += 128 + len(piece)
            if used > size:
                break
            known = None if cookie < 2 else self._server.files.look_now(self._server.below(number, name))
            pieces.append(bytes(128) if known is None else self._server.entry_reply(known))
            pieces.append(piece)
        return b"".join(pieces)

    async def _releasedir(self, number: int, body: memoryview) -> bytes:
        self._open.pop(fuse.HANDLE_IN.unpack_from(body)[0], None)
        return b""

    async def _fsyncdir(self, number: int, body: memoryview) -> bytes:
        return b""
