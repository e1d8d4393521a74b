"""The tree of an actor in this process, as a `FileTree`: nodes of its namespace, and waits on the change feed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from worldfs.access.binding import Binding, binding_of_role
from worldfs.base.clock import Clock
from worldfs.namespace.waiters import Waiters
from worldfs.storage.plain_files import PlainFiles
from worldfs.tree.verb_values import Stat, Wait, Written
from worldfs.world.served_world import ServedWorld
from worldfs.world.world import PROJECT

from .file_tree import FileLook

if TYPE_CHECKING:
    from worldfs.namespace.connection_tree import ConnectionTree
    from worldfs.namespace.node import Node
    from worldfs.tree.change_feed import ChangeFeed

T = TypeVar("T")
THREADS: Final = 8
SETTLED_S: Final = 0.05  # two writes within a tick of the system's clock may look alike: so young a file is read again
LOOK_S: Final = 30.0  # of one wait: a change that was missed is found then


class _SharedLook:
    """One task that looks for several readers."""

    def __init__(self, task: asyncio.Task[bytes]) -> None:
        self.task, self.count = task, 0


class NamespaceFiles:
    """A `FileTree`. Nodes that ask a disk are asked in a thread of `threads`, light ones on the loop."""

    eager = True

    def __init__(self, tree: ConnectionTree, feed: ChangeFeed, threads: Executor, clock: Clock) -> None:
        self._tree, self._feed, self._threads, self._clock = tree, feed, threads, clock
        self._looking: dict[str, _SharedLook] = {}
        self._waiters = Waiters(feed, asyncio.get_running_loop())

    async def look(self, path: str) -> FileLook:
        if self._tree.light(path):
            node = self._tree.walk(path)
            if node.light:
                return self._look(node)
        return await self._thread(lambda: self._look(self._tree.walk(path)))

    async def names(self, path: str) -> Sequence[tuple[str, bool]]:
        return await self._thread(lambda: self._tree.walk(path).children())

    async def entries(self, path: str) -> Sequence[Stat]:
        return await self._thread(lambda: self._tree.walk(path).entries(sized=False))

    async def read(self, path: str) -> tuple[bytes, str]:
        content = await self._thread(lambda: self._tree.walk(path).read())
        return content.data, content.revision

    async def read_when_ready(self, path: str) -> bytes:
        node = await self._thread(lambda: self._tree.walk(path))
        wait = node.wait()
        if wait is None and node.blocking:
            return await self._until_written(path)
        while wait is not None and not await self._waiters.wait(wait):
            if await self._thread(node.peek) is None:
                break  # its time limit is part of what it says
            wait = node.wait()
        return (await self.read(path))[0]

    async def ready(self, path: str) -> bool:
        node = await self._thread(lambda: self._tree.walk(path))
        wait = node.wait()
        if wait is None and node.blocking and not node.delivers:
            return bool((await self.read(path))[0])
        return wait is None or wait.ready()

    async def write(self, path: str, data: bytes) -> Written:
        return await self._write(lambda: self._tree.target(path).write(data))

    async def replace(self, path: str, data: bytes) -> Written:
        return await self._write(lambda: self._tree.target(path).replace(data))

    async def may_create(self, path: str) -> bool:
        above, name = _parent(path)
        made = await self._thread(lambda: self._tree.walk(above).create(name))
        return not made.promised

    async def mkdir(self, path: str) -> None:
        above, name = _parent(path)
        await self._thread(lambda: self._tree.walk(above).create(name, directory=True))

    async def remove(self, path: str) -> None:
        above, name = _parent(path)
        await self._thread(lambda: self._tree.walk(above).remove(name))

    async def rename(self, old: str, new: str) -> None:
        (above, name), (there, other) = _parent(old), _parent(new)
        await self._thread(lambda: self._tree.walk(above).rename(name, self._tree.walk(there), other))

    async def touch(self, path: str, mtime_ms: int) -> None:
        await self._thread(lambda: self._tree.walk(path).touch(mtime_ms))

    @asynccontextmanager
    async def changes(self, path: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        seen = self._feed.seq

        async def until_next() -> None:
            nonlocal seen
            await self._changed_since(seen)
            seen = self._feed.seq

        yield until_next

    def stale(self, path: str) -> str:
        return ""

    async def close(self) -> None:
        self._waiters.close()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _look(self, node: Node) -> FileLook:
        if node.directory:
            return self._directory(node)
        if node.source is not None:
            return self._stored(node)
        wait = node.wait()
        waiting = wait is not None and not wait.ready()
        content = None if waiting else node.peek()
        if content is not None:
            stat = node.stat(sized=False)
            waits = wait is not None or (node.blocking and not content.data)
            return FileLook(stat._replace(size=len(content.data)), content.data, waits)
        if node.blocking:
            return FileLook(node.stat(sized=False), None, True)
        return FileLook(node.stat())

    def _stored(self, node: Node) -> FileLook:
        """A stored file is unchanged for as long as the system's file is, and the actor sees the same."""
        shared = self._tree.shared
        place = _place(node)
        token, state = _token(place), shared.state()
        stat = node.stat()
        if not token or self._clock.now().timestamp() - token[0] / 1e9 < SETTLED_S:
            return FileLook(stat)
        return FileLook(stat, unchanged=lambda: shared.state() is state and _token(place) == token)

    def _directory(self, node: Node) -> FileLook:
        """One of the layout is there for as long as the actor sees the same, any other as long as the system's is."""
        shared, state = self._tree.shared, node.state
        stat = node.stat()
        if state is not None:
            return FileLook(stat, unchanged=lambda: shared.state() is state)
        state, place = shared.state(), _place(node)
        token = _token(place)[2:3]  # not its time: names in it come and go
        if not token:
            return FileLook(stat)
        return FileLook(stat, unchanged=lambda: shared.state() is state and _token(place)[2:3] == token)

    async def _changed_since(self, seq: int) -> None:
        """Not by a path: what is below a link is published under another name, a job under the status."""
        await self._waiters.wait(Wait((), lambda: self._feed.seq != seq, LOOK_S))

    async def _until_written(self, path: str) -> bytes:
        """The bytes of a file that is empty until its job has ended. However many readers: one looks."""
        looking = self._looking.get(path)
        if looking is None:
            looking = self._looking[path] = _SharedLook(asyncio.ensure_future(self._look_until_written(path)))
        looking.count += 1
        try:
            return await asyncio.shield(looking.task)
        finally:
            looking.count -= 1
            if not looking.count:
                looking.task.cancel()
                if self._looking.get(path) is looking:
                    del self._looking[path]

    async def _look_until_written(self, path: str) -> bytes:
        while True:
            before = self._feed.seq
            data, _ = await self.read(path)
            if data:
                return data
            await self._changed_since(before)

    async def _write(self, work: Callable[[], Written]) -> Written:
        written = await self._thread(work)
        if written.until is not None and not written.until.ready():
            with suppress(asyncio.CancelledError):  # the change has happened
                await self._waiters.wait(written.until)
        return written

    async def _thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _place(node: Node) -> str:
    """The system's file or directory behind a stored one; "" where there is none."""
    store, key = node.source or (None, "")
    return f"{store.directory}/{key}" if isinstance(store, PlainFiles) else ""


def _token(place: str) -> tuple[int, ...]:
    """It differs when the content of a file may; () for what is not there."""
    try:
        found = os.lstat(place)
    except (OSError, ValueError):
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns


def _parent(path: str) -> tuple[str, str]:
    above, _, name = path.rpartition("/")
    return above or "/", name


@asynccontextmanager
async def home_files(
    home: Path, agents: Path, role: str, agent: str, clock: Clock, *, program: bool = False
) -> AsyncIterator[NamespaceFiles]:
    """The tree of a home on this disk for one role, beside any other process that uses the home. `program`: no person
    uses it."""
    binding = binding_of_role(role, agent, PROJECT)
    binding = binding.of_model if program else binding
    with (
        ServedWorld.open(home, clock=clock, agents=agents, memory_only=True) as realm,
        ThreadPoolExecutor(THREADS, "posix") as threads,
    ):
        if agent:
            realm.ensure_agent(agent)
        async with realm_files(realm, binding, threads) as files:
            yield files


@asynccontextmanager
async def realm_files(realm: ServedWorld, binding: Binding, threads: Executor) -> AsyncIterator[NamespaceFiles]:
    """The tree of a binding of an open served world."""
    files = NamespaceFiles(realm.attach(binding), realm.feed, threads, realm.clock)
    if realm.world is not None:
        world = realm.world
        await asyncio.get_running_loop().run_in_executor(threads, world.changes.start)
    try:
        yield files
    finally:
        await files.close()
