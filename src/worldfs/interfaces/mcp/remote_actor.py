"""The tree of an actor behind a socket: the verbs of the client of a served world."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from worldfs.access.binding import Binding
from worldfs.access.standing import actor_name
from worldfs.base.errors import MissingRequirement, NotFound
from worldfs.base.messages import coded
from worldfs.client.connection import PendingConnection, connect
from worldfs.client.remote_types import RetryPolicy
from worldfs.client.remote_watch import changes
from worldfs.client.remote_world import RemoteWorld
from worldfs.tree.path import parse
from worldfs.tree.verb_values import Content, Stat, Written

from .actor_tree import Changes


class RemoteActorTree:
    """`world` is connected as a model's. A wait borrows a connection of its own; `own` makes one of the person at the
    client."""

    def __init__(self, world: RemoteWorld, own: Callable[[], PendingConnection]) -> None:
        self._world, self._own = world, own

    @property
    def binding(self) -> Binding:
        bound = self._world.bound
        return Binding(bound.role, bound.agent, bound.project)

    @property
    def person(self) -> str:
        bound = self._world.bound
        return actor_name(bound.role, bound.agent, bound.person) if bound.person else ""

    async def real(self, path: str) -> str:
        path = parse(path)
        try:
            return (await self._world.stat(path)).real or path
        except NotFound:  # a file that its first write makes
            return path

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

    async def answer(self, path: str, data: bytes) -> None:
        async with self._own() as world:
            await world.write(path, data)

    def changes(self, path: str) -> Changes:
        return changes(self._world, path)


@asynccontextmanager
async def remote_actor(
    url: str, token: str, *, agent: str = "", project: str = "", project_token: str = ""
) -> AsyncIterator[RemoteActorTree]:
    """A lost connection is made again for the next read; a write that may have arrived is never repeated."""
    own = partial(connect, url, token=token, agent=agent, project=project, project_token=project_token)
    async with own(model=True, retry=RetryPolicy()) as world:
        yield RemoteActorTree(world, own)
