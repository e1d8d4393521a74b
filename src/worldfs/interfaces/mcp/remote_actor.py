"""The tree of an actor behind a socket: the verbs of the client of a served world."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from worldfs.access.binding import Binding
from worldfs.base.errors import MissingRequirement, NotFound
from worldfs.base.messages import coded
from worldfs.client.connection import connect
from worldfs.client.remote_types import RetryPolicy
from worldfs.client.remote_watch import changes
from worldfs.client.remote_world import RemoteWorld
from worldfs.tree.verb_values import Content, Stat, Written

from .actor_tree import Changes


class RemoteActorTree:
    """`world` is connected. A wait borrows a connection of its own."""

    def __init__(self, world: RemoteWorld) -> None:
        self._world = world

    @property
    def binding(self) -> Binding:
        bound = self._world.bound
        return Binding(bound.role, bound.agent, bound.project)

    async def stat(self, path: str) -> Stat:
        return await self._world.stat(path)

    async def entries(self, path: str) -> Sequence[Stat]:
        return await self._world.entries(path)

    async def read(self, path: str) -> Content:
        return Content(await self._world.read(path, wait=0))

    async def write(self, path: str, data: bytes, *, expect: str = "") -> Written:
        if expect:
            raise MissingRequirement(coded("mcp.no_revisions"), path=path, op="write", fix=coded("mcp.no_expect"))
        try:
            return await self._world.write(path, data)
        except NotFound:
            return await self._world.write(path, data, create=True)

    def changes(self, path: str) -> Changes:
        return changes(self._world, path)


@asynccontextmanager
async def remote_actor(
    url: str, token: str, *, agent: str = "", project: str = "", project_token: str = ""
) -> AsyncIterator[RemoteActorTree]:
    """A lost connection is made again for the next read; a write that may have arrived is never repeated."""
    connecting = connect(
        url, token=token, agent=agent, project=project, project_token=project_token, retry=RetryPolicy()
    )
    async with connecting as world:
        yield RemoteActorTree(world)
