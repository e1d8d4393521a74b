"""Whole-file operations on a POSIX view, as an interpreter of scripts asks for them: by path, from any thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import errno
import os
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Final, TypeVar

from worldfs.base.errors import NotFound
from worldfs.base.messages import coded
from worldfs.interfaces.posix.posix_entry import PosixEntry
from worldfs.interfaces.posix.posix_errors import refusal
from worldfs.interfaces.posix.posix_files import PosixFiles
from worldfs.interfaces.posix.whole_file import read_whole

from .tail_and_touch import READ_MOST

T = TypeVar("T")
DEPTH_MOST: Final = 64  # nested directories of one removal


class ShellFiles:
    """Its methods block, and are called in the interpreter's threads; the view lives on the event loop `loop`.

    `interrupt` ends what blocks, with `eintr`.
    """

    def __init__(self, files: PosixFiles, loop: asyncio.AbstractEventLoop) -> None:
        self._files, self._loop = files, loop
        self._lock = threading.Lock()
        self._running: set[Callable[[], bool]] = set()
        self.interrupted = False

    def interrupt(self) -> None:
        """End every call that blocks, and refuse those that begin until `resume`."""
        with self._lock:
            self.interrupted = True
            running = list(self._running)
        for cancel in running:
            cancel()

    def resume(self) -> None:
        self.interrupted = False

    # -- looking ------------------------------------------------------------------------------------------------------

    def look(self, path: str) -> PosixEntry:
        return self._call(self._files.look(path))

    def entries(self, path: str) -> list[tuple[str, PosixEntry]]:
        """What is in a directory, by name; what goes meanwhile is left out."""

        async def work() -> list[tuple[str, PosixEntry]]:
            found = []
            for name, _ in await self._files.list(path):
                with suppress(NotFound):
                    found.append((name, await self._files.look(f"{path.rstrip('/')}/{name}")))
            return found

        return self._call(work())

    # -- content ------------------------------------------------------------------------------------------------------

    def read(self, path: str) -> bytes:
        """The bytes of a file; one that waits is waited for."""
        return self._call(read_whole(self._files, path, READ_MOST))

    def write(self, path: str, data: bytes, *, append: bool = False) -> None:
        """As `>` and `>>` do. The change is durable when it returns."""
        flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)

        async def work() -> None:
            _, file = await self._files.create(path, flags)
            try:
                if data:
                    await file.write(0, data)
                await file.flush()
            finally:
                await self._files.close_file(path, file)

        self._call(work())

    # -- names --------------------------------------------------------------------------------------------------------

    def mkdir(self, path: str, *, parents: bool) -> None:
        async def work() -> None:
            made = ""
            for name in path.strip("/").split("/")[:-1] if parents else ():
                made += f"/{name}"
                if not await self._files.exists(made):
                    await self._files.mkdir(made)
            if not (parents and await self._files.exists(path)):
                await self._files.mkdir(path)

        self._call(work())

    def remove(self, path: str, *, recursive: bool) -> None:
        async def work(path: str, depth: int) -> None:
            entry = await self._files.look(path)
            if entry.directory and recursive and depth < DEPTH_MOST:
                for name, _ in await self._files.list(path):
                    await work(f"{path.rstrip('/')}/{name}", depth + 1)
            await self._files.remove(path, directory=entry.directory)

        self._call(work(path, 0))

    def rename(self, old: str, new: str) -> None:
        self._call(self._files.rename(old, new))

    def copy(self, path: str, new: str) -> None:
        self.write(new, self.read(path))

    def refuse_link(self, path: str) -> None:
        """The tree has no symbolic links; one of this shell alone would mislead."""
        raise refusal(errno.EPERM, coded("posix.no_links"), path)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _call(self, work: Coroutine[object, object, T]) -> T:
        with self._lock:
            if self.interrupted:
                work.close()
                raise refusal(errno.EINTR, coded("shell.interrupted"))
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._running.add(future.cancel)
        try:
            return future.result()
        except (concurrent.futures.CancelledError, asyncio.CancelledError):
            raise refusal(errno.EINTR, coded("shell.interrupted")) from None
        finally:
            with self._lock:
                self._running.discard(future.cancel)
