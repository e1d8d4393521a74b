"""The tree of an actor in this process: the nodes of its namespace, and the change feed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from worldfs.access.binding import Binding
from worldfs.base.errors import BadInput, NotFound, UserError
from worldfs.base.messages import coded
from worldfs.namespace.node import LARGE, Node
from worldfs.storage.plain_files import PlainFiles
from worldfs.storage.store_interface import ANY
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.feed_reader import concerns
from worldfs.tree.verb_values import Content, Stat, Written
from worldfs.world.store_notifier import StoreNotifier
from worldfs.world.workspace_notifier import STATUS

if TYPE_CHECKING:
    from worldfs.namespace.connection_tree import ConnectionTree
    from worldfs.storage.store_interface import StoreWatch

T = TypeVar("T")


class NamespaceTree:
    """`tree` is the connection's own; a node that asks a disk is asked in a thread of `threads`. `own`: the binding and
    the tree of the person at the client."""

    def __init__(
        self,
        binding: Binding,
        tree: ConnectionTree,
        feed: ChangeFeed,
        threads: Executor | None,
        own: tuple[Binding, ConnectionTree] | None = None,
    ) -> None:
        self.binding = binding
        self._tree, self._feed, self._threads = tree, feed, threads
        bound, self._own = own or (binding, tree)
        self.person = bound.actor if bound.person and not bound.model else ""
        self._told = False

    async def real(self, path: str) -> str:
        parts, _ = await self._thread(lambda: self._tree.shared.real_path(path))
        return "/" + "/".join(parts)

    async def stat(self, path: str) -> Stat:
        return await self._ask(path, lambda node: node.stat())

    async def entries(self, path: str) -> Sequence[Stat]:
        return await self._ask(path, lambda node: node.entries())

    async def read(self, path: str) -> Content:
        """Raises `BadInput` for a stored file that is too large to be read whole."""

        def content(node: Node) -> Content:
            size = 0 if node.light else self._stored_size(path)
            if size > LARGE:
                raise BadInput(
                    coded("mcp.bytes", n=size),
                    path=path,
                    op="read",
                    expected=coded("mcp.bytes_most", n=LARGE),
                    code="TOO_LARGE",
                )
            return node.read()

        return await self._ask(path, content)

    async def write(self, path: str, data: bytes, *, expect: str = "") -> Written:
        """Runs to its end even if the caller is cancelled."""

        def work() -> Written:
            node = self._tree.target(path)
            return node.write(data, expect=expect or ANY) if expect else node.replace(data)

        return await self._thread(work)

    async def answer(self, path: str, data: bytes) -> None:
        await self._thread(lambda: self._own.target(path).write(data))

    @asynccontextmanager
    async def changes(self, path: str) -> AsyncIterator[Callable[[float], Awaitable[None]]]:
        loop, changed = asyncio.get_running_loop(), asyncio.Event()
        names = path, self._own_name(path)
        of_robots = path.startswith("/nodes/")  # their jobs change with the status, which alone is published

        def heard(seq: int, topics: tuple[str, ...]) -> None:
            if concerns(topics, names) or (STATUS in topics and of_robots):
                with suppress(RuntimeError):  # the loop is closed: the connection is over
                    loop.call_soon_threadsafe(changed.set)

        async def until_next(seconds: float) -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await changed.wait()
            changed.clear()

        if not self._told:
            self._told = True
            with suppress(NotFound):  # a reader of the status is also told of what other programs change
                await self.read(STATUS)
        end = self._feed.listen(heard)
        notifier: StoreNotifier | None = None
        try:
            watch = await self._thread(lambda: self._watch(path))
            notifier = None if watch is None else StoreNotifier(watch, lambda changes: heard(0, (path,)))
            yield until_next
        finally:
            end()
            if notifier is not None:
                loop.run_in_executor(self._threads, notifier.close)  # it waits for its thread

    def _stored_size(self, path: str) -> int:
        """Of a file that is on this disk as it is served; 0 for any other."""
        with suppress(UserError):
            store, key = self._tree.shared.source(path)
            info = store.info(key) if isinstance(store, PlainFiles) else None
            return 0 if info is None else info.size
        return 0

    def _watch(self, path: str) -> StoreWatch | None:
        """The watch of a stored file, or of a directory of such (an inbox); None for what is computed."""
        for file, directory in ((path, False), (f"{path}/*", True)):
            with suppress(UserError):
                store, key = self._tree.shared.source(file)
                return store.watch(key.rpartition("/")[0] if directory else key)
        return None

    def _own_name(self, path: str) -> str:
        """Changes below `self` are published under the agent's name."""
        head, _, rest = path.partition("/agents/self")
        return path if head else f"/agents/{self.binding.agent}{rest}"

    async def _ask(self, path: str, question: Callable[[Node], T]) -> T:
        """A walk that asks no disk may lead to a file that does."""
        if not self._tree.light(path):
            return await self._thread(lambda: question(self._tree.walk(path)))
        node = self._tree.walk(path)
        return question(node) if node.light else await self._thread(lambda: question(node))

    async def _thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)
