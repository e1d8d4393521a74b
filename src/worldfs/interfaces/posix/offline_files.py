"""A served tree that stays readable while its server cannot be reached: what was read before, marked as stale.

Nothing is written meanwhile. What was never read is an error and no absence; what a directory was listed without is
not there.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

from worldfs.base.clock import Clock
from worldfs.base.errors import NotFound, WorldError
from worldfs.base.messages import coded
from worldfs.client.remote_errors import ConnectionLost, RequestTimeout
from worldfs.tree.verb_values import Stat, Written

from .file_tree import FileLook, FileTree
from .posix_errors import refusal
from .read_copies import ReadCopies, ReadCopy

T = TypeVar("T")
KNOWN_MOST: Final = 16_384
AGAIN_S: Final = 1.0  # between two questions whether the server is there again
_CUT: Final = (ConnectionLost, RequestTimeout)


class OfflineFiles:
    """A `FileTree` over another one, which is behind a socket."""

    eager = False

    def __init__(self, tree: FileTree, copies: ReadCopies, clock: Clock) -> None:
        self._tree, self._copies, self._clock = tree, copies, clock
        self._cut: WorldError | None = None
        self._cut_at = ""
        self._stale: dict[str, str] = {}  # since when what was served from a copy is known, by path
        self._back = asyncio.Event()
        self._asking: asyncio.Task[None] | None = None
        self._known: dict[str, int] = {}  # what of a path is on the disk already, by its hash

    def stale(self, path: str) -> str:
        if self._cut is None:
            return ""
        return self._cut_at if path == "/" else self._stale.get(path, "")

    async def look(self, path: str) -> FileLook:
        if self._cut is None:
            try:
                found = await self._asked(self._tree.look(path))
            except NotFound:
                await self._forget(path)
                raise
            if found is not None:
                await self._keep(path, found.stat, None if found.waits else found.data)
                return found
        copy = await self._copy(path)
        return FileLook(copy.stat, copy.data)

    async def names(self, path: str) -> Sequence[tuple[str, bool]]:
        if self._cut is None:
            names = await self._asked(self._tree.names(path))
            if names is not None:
                listed = tuple(f"{name}/" if directory else name for name, directory in names)
                await self._keep(path, Stat(True), None, listed)
                return names
        copy = await self._copy(path)
        if copy.names is None:
            raise self._lost(path)
        return [(name.rstrip("/"), name.endswith("/")) for name in copy.names]

    async def entries(self, path: str) -> Sequence[Stat]:
        return await self._now(lambda: self._tree.entries(path))

    async def read(self, path: str) -> tuple[bytes, str]:
        if self._cut is None:
            found = await self._asked(self._tree.read(path))
            if found is not None:
                return found
        copy = await self._copy(path)
        if copy.data is None:
            raise self._lost(path)
        return copy.data, copy.stat.revision

    async def read_when_ready(self, path: str) -> bytes:
        return await self._now(lambda: self._tree.read_when_ready(path))

    async def ready(self, path: str) -> bool:
        return await self._now(lambda: self._tree.ready(path))

    async def write(self, path: str, data: bytes) -> Written:
        return await self._now(lambda: self._tree.write(path, data))

    async def replace(self, path: str, data: bytes) -> Written:
        return await self._now(lambda: self._tree.replace(path, data))

    async def may_create(self, path: str) -> bool:
        return await self._now(lambda: self._tree.may_create(path))

    async def mkdir(self, path: str) -> None:
        await self._now(lambda: self._tree.mkdir(path))

    async def remove(self, path: str) -> None:
        await self._now(lambda: self._tree.remove(path))
        await self._forget(path)

    async def rename(self, old: str, new: str) -> None:
        await self._now(lambda: self._tree.rename(old, new))
        await self._forget(old)

    async def touch(self, path: str, mtime_ms: int) -> None:
        await self._now(lambda: self._tree.touch(path, mtime_ms))

    @asynccontextmanager
    async def changes(self, path: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        if self._cut is None:
            async with self._tree.changes(path) as until_next:
                yield until_next
        else:

            async def until_back() -> None:
                await self._back.wait()

            yield until_back

    async def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            with suppress(asyncio.CancelledError):
                await self._asking
        await self._tree.close()
        self._copies.close()

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _asked(self, answer: Awaitable[T]) -> T | None:
        """None: the server cannot be reached."""
        try:
            return await answer
        except _CUT as error:
            self._note_cut(error)
            return None

    async def _now(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What only the server can do."""
        if self._cut is not None:
            raise refusal(errno.EROFS, coded("posix.offline", time=self._cut_at))
        try:
            return await ask()
        except _CUT as error:
            self._note_cut(error)
            raise

    def _note_cut(self, error: WorldError) -> None:
        if self._cut is None:
            self._cut, self._cut_at = error, self._time()
            self._stale.clear()
            self._back.clear()
            self._asking = asyncio.ensure_future(self._until_back())

    async def _until_back(self) -> None:
        while True:
            await asyncio.sleep(AGAIN_S)
            try:
                await self._tree.look("/")
            except _CUT:
                continue
            except WorldError:  # it answers
                pass
            self._cut = None
            self._back.set()
            return

    async def _keep(self, path: str, stat: Stat, data: bytes | None, names: tuple[str, ...] | None = None) -> None:
        state = hash((stat, data, names))
        if self._known.get(path) == state or (stat.directory and names is None and path in self._known):
            return
        if len(self._known) >= KNOWN_MOST:
            self._known.clear()
        self._known[path] = state
        if stat.directory and names is None and await asyncio.to_thread(self._copies.get, path) is not None:
            return  # with its names
        with suppress(WorldError, OSError):  # a full disk: then there is no copy
            await asyncio.to_thread(self._copies.put, path, ReadCopy(stat, self._time(), data, names))

    async def _forget(self, path: str) -> None:
        self._known.pop(path, None)
        await asyncio.to_thread(self._copies.forget, path)

    async def _copy(self, path: str) -> ReadCopy:
        copy = await asyncio.to_thread(self._copies.get, path)
        if copy is not None:
            self._stale[path] = copy.read_at
            return copy
        above, _, name = path.rpartition("/")
        listed = await asyncio.to_thread(self._copies.get, above or "/")
        if listed is not None and listed.names is not None and not {name, f"{name}/"} & {*listed.names}:
            raise NotFound(coded("tree.no_file_or_directory"), path=path, op="walk")
        raise self._lost(path)

    def _lost(self, path: str) -> WorldError:
        return refusal(errno.EIO, coded("posix.not_read_before", time=self._cut_at), path, op="read")

    def _time(self) -> str:
        return f"{self._clock.now():%Y-%m-%dT%H:%M:%SZ}"


@asynccontextmanager
async def offline_files(
    served: AbstractAsyncContextManager[FileTree], directory: Path, clock: Clock
) -> AsyncIterator[OfflineFiles]:
    """A served tree with copies of what is read of it, in a directory of the reader's own."""
    async with served as tree:
        files = OfflineFiles(tree, await asyncio.to_thread(ReadCopies, directory), clock)
        try:
            yield files
        finally:
            await files.close()
