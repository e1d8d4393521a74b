"""Subscriptions of files: one task a file, woken by the change feed, that tells when the content is another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from worldfs.base.errors import BadInput, WorldError
from worldfs.base.messages import coded

from .actor_tree import ActorTree
from .file_resources import path_of
from .large_content import revision_of

SUBSCRIPTIONS_MOST: Final = 64  # of one connection
SUBSCRIPTIONS_OF_TOKEN: Final = 512  # of all connections of one token
_LOOK_S: Final = 3_600.0  # of one wait; a change wakes it

Told = Callable[[str], Awaitable[None]]


class SubscriptionCount:
    """How many the connections of one token have together."""

    def __init__(self) -> None:
        self.now = 0


class ResourceSubscriptions:
    """Of one connection. `tell` is given the URI of a file that changed; `count` is that of the connection's token."""

    def __init__(self, tree: ActorTree, tell: Told, count: SubscriptionCount) -> None:
        self._tree, self._tell, self._count = tree, tell, count
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def add(self, uri: str) -> None:
        """Changes count from the return of this. Raises `WorldError` for what the actor cannot read."""
        path = path_of(uri)
        await self._tree.stat(path)
        if uri in self._tasks:
            return
        for there, most, whose in (
            (len(self._tasks), SUBSCRIPTIONS_MOST, "mcp.of_connection"),
            (self._count.now, SUBSCRIPTIONS_OF_TOKEN, "mcp.of_token"),
        ):
            if there >= most:
                raise BadInput(
                    coded("mcp.subscriptions"), op="subscribe", expected=coded(whose, n=most), code="TOO_MANY"
                )
        self._count.now += 1
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = self._tasks[uri] = asyncio.create_task(self._watch(uri, path, begun))
        task.add_done_callback(lambda done: self._ended(uri, done))
        await begun

    def remove(self, uri: str) -> None:
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, uri: str, path: str, begun: asyncio.Future[None]) -> None:
        try:
            async with self._tree.changes(path) as until_next:
                known = await self._revision(path)
                begun.set_result(None)
                while True:
                    await until_next(_LOOK_S)
                    now = await self._revision(path)
                    if now != known:
                        known = now
                        await self._tell(uri)
        except Exception as error:
            if not begun.done():
                begun.set_exception(error)

    async def _revision(self, path: str) -> str:
        """ "" where the actor no longer sees it: it is told once, and reads that it is gone."""
        with suppress(WorldError):
            return await revision_of(await self._tree.read(path))
        return ""

    def _ended(self, uri: str, task: asyncio.Task[None]) -> None:
        self._count.now -= 1
        if self._tasks.get(uri) is task:
            del self._tasks[uri]
