"""Where `paos top` looks: a home on this disk, or a served world."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from worldfs.base.agent_names import list_agents
from worldfs.base.errors import WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.interfaces.cli.home_tree import HomeTree
from worldfs.runtime.grace import CONFIRM_S
from worldfs.runtime.stop_by_files import stop_by_files
from worldfs.runtime.stop_report import RobotStop
from worldfs.storage.open_store import open_store
from worldfs.world.store_notifier import StoreNotifier
from worldfs.world.workspace_notifier import STATUS

from .top_rows import AgentFacts, Status

if TYPE_CHECKING:
    from worldfs.client.remote_world import RemoteWorld
    from worldfs.storage.store_interface import Store
    from worldfs.world.world import World

LOOK_S = 30.0  # s
T = TypeVar("T")


class TopSource(Protocol):
    """All methods raise `WorldError`."""

    async def status(self) -> Status: ...
    async def names(self, path: str) -> Sequence[str]:
        """The last components of the names in a directory."""
        ...

    async def read(self, path: str) -> bytes: ...
    async def stop(self, robot: str | None) -> Sequence[RobotStop]:
        """Stop one robot, or every one; what is known of them."""
        ...

    async def resume(self, robot: str) -> None: ...
    def changes(self) -> AsyncIterator[None]:
        """Yields once the world is watched, and then whenever anything changed; it ends with the source."""
        ...


async def agents(source: TopSource) -> list[AgentFacts]:
    """The agents that the role or the token may see; of one that cannot be read, the name."""
    try:
        names = sorted({*await source.names("/agents")} - {"self", "mother"})
    except WorldError:  # none, or none that this role may see
        return []
    return [await _agent(source, name) for name in names if "." not in name]


async def _agent(source: TopSource, name: str) -> AgentFacts:
    place = f"/agents/{name}"
    report, session = [await _object(source, f"{place}/{file}.json") for file in ("report", "session")]
    messages: Sequence[str] = ()
    with suppress(WorldError):
        messages = [one for one in await source.names(f"{place}/inbox") if one.endswith(".json") and one[0] != "."]
    return AgentFacts(name, report, session, len({*messages} - {"SCHEMA.json", "CAPS.json"}))


async def _object(source: TopSource, path: str) -> dict[str, object]:
    try:
        return as_object(parse_json(await source.read(path)))
    except (WorldError, ValueError):  # shown as an agent that says nothing
        return {}


class HomeSource:
    """The home of `context.open()`. Verbs run in a thread of their own, a stop in another: it waits for none."""

    def __init__(self, world: World, role: str, agents: str, name: str = "") -> None:
        """`agents`: the state root of agents, which need not be there. `name`: the actor's."""
        self._world, self._role, self._agents, self._name = world, role, agents, name
        self._tree = HomeTree(world, role, name)
        self._reads, self._orders = ThreadPoolExecutor(1, "paos-top"), ThreadPoolExecutor(1, "paos-top-stop")

    async def status(self) -> Status:
        return await self._run(self._reads, self._world.status)

    async def names(self, path: str) -> Sequence[str]:
        found = await self._run(self._reads, lambda: [*self._tree.names(path)])
        return [one.rstrip("/").rpartition("/")[2] for one in found]

    async def read(self, path: str) -> bytes:
        return await self._run(self._reads, lambda: self._tree.read(self._tree.path_of(path)))

    async def stop(self, robot: str | None) -> Sequence[RobotStop]:
        stop = partial(self._world.stop, robot, self._role, name=self._name, confirm_s=CONFIRM_S)
        return (await self._run(self._orders, stop)).robots

    async def resume(self, robot: str) -> None:
        await self._run(self._orders, lambda: self._world.resume(robot, self._role, name=self._name))

    async def changes(self) -> AsyncIterator[None]:
        """Every publication of the world's feed, and every change of the agents' directories."""
        changed, loop = asyncio.Event(), asyncio.get_running_loop()

        def wake(seq: int = 0, topics: tuple[str, ...] = ()) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(changed.set)

        end = self._world.feed.listen(wake)
        agents = _AgentWatch(self._agents, wake)
        try:
            await self._run(self._reads, self._world.changes.start)
            yield None
            while True:
                await self._run(self._reads, agents.renew)
                await changed.wait()
                changed.clear()
                yield None
        finally:
            end()
            agents.close()

    def close(self) -> None:
        for pool in (self._reads, self._orders):
            pool.shutdown(wait=True, cancel_futures=True)

    async def _run(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, work)


class _AgentWatch:
    """Watches the directories of the agents that there are."""

    def __init__(self, root: str, wake: Callable[[], None]) -> None:
        self._root, self._wake = root, wake
        self._store: Store | None = None
        self._names: list[str] | None = None
        self._end: Callable[[], None] = lambda: None

    def renew(self) -> None:
        """Watch the agents that came; those that went are watched no more."""
        names = list_agents(self._root)
        if not os.path.isdir(self._root) or names == self._names:
            return
        self._end()
        self._names, self._store = names, self._store or open_store("disk", self._root)
        watch = self._store.watch("", *names, *(f"{name}/inbox" for name in names))
        self._end = StoreNotifier(watch, lambda changes: self._wake()).close
        self._wake()  # what changed between the listing and the watch

    def close(self) -> None:
        self._end()
        if self._store is not None:
            self._store.close()


class ServedSource:
    """A served world, with the rights of the token."""

    def __init__(self, world: RemoteWorld) -> None:
        self._world = world

    async def status(self) -> Status:
        return as_object(parse_json(await self._world.read(STATUS, wait=0)))

    async def names(self, path: str) -> Sequence[str]:
        return await self._world.list(path)

    async def read(self, path: str) -> bytes:
        return await self._world.read(path, wait=0)

    async def stop(self, robot: str | None) -> Sequence[RobotStop]:
        robots = [robot] if robot is not None else await self._robots()
        return await stop_by_files(robots, self._world.write, self.read)

    async def resume(self, robot: str) -> None:
        await self._world.write(f"/nodes/{robot}/resume", b"resume\n")

    async def changes(self) -> AsyncIterator[None]:
        """Whatever the server publishes to this token, and twice a minute: it hears of no foreign edit of an agent.
        Changes that come faster than they are shown are one."""
        from worldfs.client.remote_watch import changes

        async with changes(self._world, "/") as until_next:
            changed = asyncio.Event()

            async def listen() -> None:
                try:
                    while True:
                        await until_next(LOOK_S)
                        changed.set()
                finally:
                    changed.set()  # the connection is lost: the waiter finds out why

            listener = asyncio.create_task(listen())
            try:
                while not listener.done():
                    yield None
                    await changed.wait()
                    changed.clear()
                await listener
            finally:
                listener.cancel()

    async def _robots(self) -> Sequence[str]:
        return [id for id in await self._world.list("/nodes") if await self._world.exists(f"/nodes/{id}/stop")]
