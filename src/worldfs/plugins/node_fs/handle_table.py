"""The open handles and unfinished listings of one connection, both bounded."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from .export_source import ExportFile, ExportSource
from .fs_errors import FsError
from .node_ids import SHIFT

HANDLES: Final = 1_024
LISTINGS: Final = 32


class FileHandle:
    """An open file of a connection. `turn`: requests on one handle are carried out in order."""

    __slots__ = ("file", "rd", "turn", "wr")

    def __init__(self, file: ExportFile, rd: bool, wr: bool) -> None:
        self.file, self.rd, self.wr = file, rd, wr
        self.turn = asyncio.Lock()


class HandleTable:
    """Its methods are called in many threads at once."""

    def __init__(self, sources: Sequence[ExportSource], handles: int = HANDLES) -> None:
        self.sources = sources
        self._limit = handles
        self._lock = threading.Lock()
        self._handles: dict[int, FileHandle] = {}
        self._next = 0
        self._listings: OrderedDict[int, list[str]] = OrderedDict()
        self._closed = False

    def source(self, node: int) -> ExportSource:
        """The export of a node id, or `FsError` 2."""
        index = (node >> SHIFT) - 1
        if not 0 <= index < len(self.sources):
            raise FsError(errno.ENOENT)
        return self.sources[index]

    def check_capacity(self) -> None:
        """`FsError` 24 when no handle is left; called before a file is opened or created."""
        with self._lock:
            if len(self._handles) >= self._limit:
                raise FsError(errno.EMFILE, "too many open handles")

    def add(self, handle: FileHandle) -> int:
        with self._lock:
            if not self._closed:
                self._next += 1
                self._handles[self._next] = handle
                return self._next
        handle.file.close()  # the connection ended while the file was being opened
        raise FsError(errno.EBADF, "unknown handle")

    def handle(self, h: int | None) -> FileHandle:
        with self._lock:
            found = None if h is None else self._handles.get(h)
        if found is None:
            raise FsError(errno.EBADF, "unknown handle")
        return found

    def pop(self, h: int | None) -> FileHandle:
        """Remove and return the handle; the caller closes it."""
        found = self.handle(h)
        with self._lock:
            if h is None or self._handles.pop(h, None) is None:
                raise FsError(errno.EBADF, "unknown handle")
        return found

    def listing(self, node: int, cookie: int) -> list[str]:
        """The names of a directory as they were at cookie 0, so that pages of one listing fit together."""
        if cookie:
            with self._lock:
                kept = self._listings.get(node)
            if kept is not None:
                return kept
        names = [".", "..", *self.source(node).names(node)]
        with self._lock:
            self._listings[node] = names
            self._listings.move_to_end(node)
            while len(self._listings) > LISTINGS:
                self._listings.popitem(last=False)
        return names

    def end_listing(self, node: int) -> None:
        """The last page was sent."""
        with self._lock:
            self._listings.pop(node, None)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            left = list(self._handles.values())
            self._handles.clear()
            self._listings.clear()
        for handle in left:
            with suppress(OSError, FsError):
                handle.file.close()
