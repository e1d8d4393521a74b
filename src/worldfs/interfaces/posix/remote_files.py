"""The tree of an actor behind a socket, as a `FileTree`: the verbs of the client of a served world."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from worldfs.client.connection import connect
from worldfs.client.remote_tree import is_control
from worldfs.client.remote_types import RetryPolicy
from worldfs.client.remote_watch import changes
from worldfs.tree.verb_values import WAITING_SIZE, Stat, Written

from .file_tree import FileLook

if TYPE_CHECKING:
    from worldfs.client.remote_world import RemoteWorld

WHOLE: Final = 1 << 20  # bytes up to which a file is read when it is looked at
CUT_S: Final = 5.0  # s without an answer after which a request fails
RETRY: Final = RetryPolicy(attempts=4, first_s=0.1, most_s=1.0)  # a cut connection fails a request after about 1 s
LOOK_S: Final = 30.0  # of one wait: a change that was missed is found then


class RemoteFiles:
    """A `FileTree`. `world` is connected and reconnects by itself; a write that may have arrived is not repeated."""

    eager = False  # its requests have time limits, which belong to a task

    def __init__(self, world: RemoteWorld) -> None:
        self._world = world

    async def look(self, path: str) -> FileLook:
        stat = await self._world.stat(path)
        if stat.directory:
            return FileLook(stat)
        if stat.size == WAITING_SIZE:
            return FileLook(stat._replace(size=0), None, True)
        if stat.size > WHOLE:
            return FileLook(stat._replace(revision=f"{stat.size} {stat.mtime_ms}"))
        data = await self._world.read(path, wait=0, timeout=CUT_S)
        return FileLook(stat._replace(size=len(data)), data)

    async def names(self, path: str) -> Sequence[tuple[str, bool]]:
        return [(stat.name, stat.directory) for stat in await self._world.entries(path)]

    async def entries(self, path: str) -> Sequence[Stat]:
        return await self._world.entries(path)

    async def read(self, path: str) -> tuple[bytes, str]:
        return await self._world.read(path, wait=0, timeout=CUT_S), ""

    async def read_when_ready(self, path: str) -> bytes:
        return await self._world.read(path)

    async def ready(self, path: str) -> bool:
        return (await self._world.stat(path)).size != WAITING_SIZE

    async def write(self, path: str, data: bytes) -> Written:
        return await self._world.write(path, data, replace=False, create=not is_control(path))

    async def replace(self, path: str, data: bytes) -> Written:
        return await self._world.write(path, data, replace=True, create=True)

    async def may_create(self, path: str) -> bool:
        await self._world.create(path)
        return await self._world.exists(path)

    async def mkdir(self, path: str) -> None:
        await self._world.mkdir(path)

    async def remove(self, path: str) -> None:
        await self._world.remove(path)

    async def rename(self, old: str, new: str) -> None:
        await self._world.rename(old, new)

    async def touch(self, path: str, mtime_ms: int) -> None:
        await self._world.stat(path)

    @asynccontextmanager
    async def changes(self, path: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        async with changes(self._world, path) as until_next:
            yield lambda: until_next(LOOK_S)

    def stale(self, path: str) -> str:
        return ""

    async def close(self) -> None:
        await self._world.close()


@asynccontextmanager
async def remote_files(
    url: str, token: str, *, agent: str = "", project: str = "", project_token: str = ""
) -> AsyncIterator[RemoteFiles]:
    """A cut server fails each request after a bound; the connection is made again for the next one."""
    connecting = connect(
        url, token=token, agent=agent, project=project, project_token=project_token, retry=RETRY, timeout=CUT_S
    )
    async with connecting as world:
        yield RemoteFiles(world)
