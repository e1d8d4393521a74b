"""The client of a served world.

Paths are those of the served tree ("/agents/self/jobs"). Times given to methods are seconds. Refusals are our
exceptions, with the server's own code in `.code`: `NotFound` (enoent, agent_not_found …), `NotPermitted` (eperm,
forbidden …), `BadInput` (invalid, eisdir, enotdir …), `Busy`, `Conflict`; `TimedOut`, and `ConnectionLost` for the
connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypeVar

from worldfs.base.errors import BadInput, MissingRequirement, NotFound
from worldfs.base.messages import coded
from worldfs.tree.verb_values import Stat, Written

from .address import Address
from .handshake import BindingRequest, perform_handshake
from .remote_errors import ConnectionLost
from .remote_tree import RemoteFile, RemoteTree, is_control
from .remote_types import NEVER_RETRY, BoundSession, Json, PushFrame, RemoteToolResult, RetryPolicy, WatchEvent
from .rpc_client import open_rpc_client

if TYPE_CHECKING:
    from .remote_jobs import RemoteJob
    from .remote_walk import Trouble

T = TypeVar("T")
TIMEOUT_S: Final = 30.0
_PUSHES: Final = 1024  # pushes kept for a slow listener; the oldest are dropped
_AT_ONCE: Final = 64  # requests of one walk in flight
_SPARE: Final = 4  # idle connections for watches that are kept


class RemoteWorld:
    """Made by `connect`. Any number of tasks of one loop may use it at the same time; one connection serves them all.

    A watch or a wait borrows a connection of its own, because a server keeps one event selector per connection.
    """

    def __init__(
        self,
        address: Address,
        token: str,
        binding: BindingRequest,
        *,
        timeout: float,
        retry: RetryPolicy,
        keepalive_s: float,
    ) -> None:
        self.address, self.timeout, self.retry = address, timeout, retry
        self._token, self._binding, self._keepalive_s = token, binding, keepalive_s
        self._tree: RemoteTree | None = None
        self._making = asyncio.Lock()
        self._spare: list[RemoteTree] = []
        self._lent: set[RemoteTree] = set()
        self._pushes: asyncio.Queue[PushFrame] = asyncio.Queue(_PUSHES)
        self._closed = False
        self.pushes_dropped = 0

    @property
    def bound(self) -> BoundSession:
        """The role, agent and project that this connection has."""
        if self._tree is None:
            raise ConnectionLost(coded("access.not_connected"), path=self.address.url, op="connect")
        return self._tree.bound

    # --- the tree

    async def read(
        self,
        path: str,
        *,
        offset: int = 0,
        count: int | None = None,
        wait: float | None = None,
        timeout: float | None = None,
    ) -> bytes:
        """The bytes of a file, all of them or `count` from `offset`.

        Blocking files (a job's status.json and result.txt, events/next.json) answer on a change. `wait`
        overrides how long the server lets them block, 0 means not at all; `timeout` is the client's (None: no timeout).
        """

        async def once(tree: RemoteTree) -> bytes:
            return await tree.read(path, offset=offset, count=count, wait=wait, timeout=timeout, directory=False)

        return await self._retried(once)

    async def list(self, path: str = "/") -> list[str]:
        """The names in a directory, in the server's order (our server: by bytes). Raises `BadInput` (enotdir)."""

        async def once(tree: RemoteTree) -> bytes:
            return await tree.read(path, offset=0, count=None, wait=None, timeout=self.timeout, directory=True)

        text = (await self._retried(once)).decode("utf-8", "surrogateescape")
        return text.split("\n") if text else []

    async def entries(self, path: str = "/") -> Sequence[Stat]:
        """The entries of a directory: one request to our own server, else one stat per name."""
        from .remote_walk import list_directory

        return await list_directory(self, path, asyncio.Semaphore(_AT_ONCE))

    async def bulk_entries(self, path: str) -> Sequence[Stat] | None:
        """`entries` in one request; None where the server lacks the extension."""

        async def once(tree: RemoteTree) -> Sequence[Stat] | None:
            return await tree.entries(path, self.timeout) if "stats" in tree.extensions else None

        return await self._retried(once)

    async def stat(self, path: str) -> Stat:
        """The entry at a path; never waits."""
        return await self._retried(lambda tree: tree.stat(path, self.timeout))

    async def exists(self, path: str) -> bool:
        try:
            await self.stat(path)
        except NotFound:
            return False
        return True

    async def walk(
        self, path: str = "/", *, depth: int | None = None, at_once: int = _AT_ONCE, trouble: Trouble | None = None
    ) -> AsyncIterator[tuple[Stat, tuple[str, ...]]]:
        """Every entry at and below `path`, parents first, with the names in it (none for a file).

        `depth` levels below `path` are entered, None: all; `at_once` requests are under way at a time. What goes away
        during the walk is left out. `trouble`: is given a directory that cannot be listed, and why; else that raises.
        """
        from .remote_walk import walk

        async for found in walk(self, path, depth, at_once, trouble):
            yield found

    async def write(
        self,
        path: str,
        data: bytes | str,
        *,
        offset: int = 0,
        correlation: str = "",
        split: bool | None = None,
        replace: bool | None = None,
        create: bool = False,
    ) -> Written:
        """Write into a file; durable when it returns. A Control acts on exactly these bytes.

        Without `offset` the data become a plain file's whole content, at once; at an `offset`, and with
        `replace=False`, what lies before and behind them stays. Data larger than a frame (about 785,000 bytes) go in
        several frames for a plain file; a Control (anything below a directory `control`) refuses them with `BadInput`.
        `split` overrides that rule. `create`: a missing file is created. The protocol of the reference can
        neither replace nor create: with `replace=True` a write to its servers is refused where a file would keep a tail
        (`BadInput`, unsupported), and `NotFound` stays. Raises `ConnectionLost` with `sent` where the result is
        unknown.
        """
        body = data.encode() if isinstance(data, str) else data
        pieces = not is_control(path) if split is None else split
        tree = await self._connected()
        new = False
        stage = replace is None and not offset and not is_control(path) and "stage" in tree.extensions
        if (replace or create) and not is_control(path):
            try:
                there = await tree.stat(path, self.timeout)
            except NotFound as error:
                if not create:
                    raise
                new = _may_make(tree, error)
            else:
                stage = replace is not False and not offset and there.writable and "stage" in tree.extensions
                if replace and not stage:
                    _fits(there, len(body))
        return await tree.write(
            path,
            body,
            offset=offset,
            correlation=correlation,
            split=pieces,
            timeout=self.timeout,
            create=new,
            stage=stage or (new and pieces),
        )

    async def create(self, path: str, *, directory: bool = False) -> None:
        """Ask for a new file: there at once, empty, or with its first write, as the tree has it. Raises as `mkdir`."""
        tree = await self._connected()
        _may_make(tree, NotFound(coded("tree.no_such_directory"), path=path, op="mkdir"))
        await tree.create(path, self.timeout, directory=directory)

    async def mkdir(self, path: str) -> None:
        """Create a directory, where allowed. Raises `NotPermitted`, `Exists`, `MissingRequirement`."""
        await self.create(path, directory=True)

    async def remove(self, path: str) -> None:
        """Remove a file, or an empty directory. Raises `NotFound`, `NotPermitted`, and `MissingRequirement` where a
        server cannot."""
        await (await self._require_extension("remove", path)).remove(path, self.timeout)

    async def rename(self, old: str, new: str) -> None:
        """Rename within one node's exports; `new` is replaced. Raises as `remove`."""
        await (await self._require_extension("rename", old)).rename(old, new, self.timeout)

    async def truncate(self, path: str, size: int = 0) -> None:
        """Cut a file to `size` bytes, or fill it with zeros; a Control stays as it is. Raises as `remove`."""
        await (await self._require_extension("setattr", path)).truncate(path, size, self.timeout)

    async def _require_extension(self, word: str, path: str) -> RemoteTree:
        """The connection to a server that has a protocol extension."""
        tree = await self._connected()
        if word not in tree.extensions:
            fix = coded("access.at_node")
            raise MissingRequirement(
                coded("access.unsupported", word=word), path=path, op=word, fix=fix, code="unsupported"
            )
        return tree

    async def open(self, path: str, mode: str = "r") -> RemoteFile:
        """Open a file to read consistent blocks; `async with await world.open(path) as file`. Mode r, w, rw.

        It is valid as long as the connection: after a reconnect it raises `ConnectionLost`.
        """
        return await (await self._connected()).open(path, mode, self.timeout)

    # --- events

    def watch(
        self, *paths: str, kind: str = "ends", since: str | int = "last", timeout: float = 60.0
    ) -> AsyncIterator[WatchEvent]:
        """Yields the events at `paths` until the iteration is ended.

        `kind` "ends": jobs that end, of the chat ("/agents/self/chat/control/input", the default) or of a job's
        status.json; "changes": any change at a path. `since`: "last" events that this connection has not received yet,
        "now", "start", or the number of an event (`WatchEvent.seq`) after which to begin. `timeout`: s of one read.
        """
        from .remote_watch import watch

        return watch(self, paths, kind, since, timeout)

    async def wait(
        self, path: str, until: Callable[[bytes], bool] | str = "", *, timeout: float | None = None
    ) -> bytes | None:
        """The bytes of `path` when they changed, or satisfy `until` (a text in them, or a test); None: timed out."""
        from .remote_watch import wait

        return await wait(self, path, until, timeout)

    def each(self, path: str) -> AsyncIterator[bytes]:
        """The bytes of `path`, at once and after each change, until the iteration is ended."""
        from .remote_watch import each

        return each(self, path)

    def pushes(self) -> AsyncIterator[PushFrame]:
        """The pushes of the server: after `control("node_service_watch")` or `control("debug_subscribe")`.

        1,024 are kept for a slow listener; dropped ones are counted in `pushes_dropped`.
        """
        return _drain(self._pushes)

    # --- agents and services

    async def chat(self, text: str, *, correlation: str = "") -> RemoteJob:
        """Send a message to the agent; returns the job that answers. Raises `BadInput` for a blank text."""
        from .remote_jobs import chat

        return await chat(self, text, correlation)

    def job(self, id: str) -> RemoteJob:
        """A job of this agent and project, by its id ("job-7")."""
        from .remote_jobs import RemoteJob

        return RemoteJob(self, id)

    async def invoke(
        self, path: str, tool: str = "", args: Json | None = None, *, timeout: float = 300.0
    ) -> RemoteToolResult:
        """Invoke a service's tool; returns its answer, also a failure. `path`: the service's directory or a control
        file."""
        from .remote_jobs import invoke

        return await invoke(self, path, tool, args or {}, timeout)

    async def control(self, op: str, payload: Json | None = None, *, correlation: str = "", **more: str) -> Json:
        """A control operation by its bare name ("node_list"). It carries an id, as mutations must; never retried."""
        fields: Json = {**more, "correlation_id": correlation} if correlation else dict(more)
        return await (await self._connected()).rpc.control(op, payload or {}, fields, self.timeout)

    # --- the connection

    async def close(self) -> None:
        self._closed = True
        trees = [tree for tree in (self._tree, *self._spare, *self._lent) if tree is not None]
        self._spare.clear()
        for tree in trees:
            await tree.rpc.close()

    @asynccontextmanager
    async def borrow_connection(self) -> AsyncIterator[RemoteTree]:
        """A connection for one watch, with the same binding. It returns to the pool if it is intact."""
        tree = self._spare.pop() if self._spare else await self._make(lambda push: None)
        self._lent.add(tree)
        try:
            yield tree
        except BaseException:
            # A read may still be in flight on it: it cannot be reused.
            await tree.rpc.close()
            raise
        finally:
            self._lent.discard(tree)
        if tree.rpc.alive and len(self._spare) < _SPARE and not self._closed:
            self._spare.append(tree)
        else:
            await tree.rpc.close()

    async def start(self) -> None:
        """Open the connection, once; `connect` calls it."""
        self._tree = await self._make(self._on_push)

    async def _make(self, on_push: Callable[[PushFrame], None]) -> RemoteTree:
        patience = self.timeout
        line = await open_rpc_client(
            self.address, self._token, on_push, open_timeout=patience, keepalive_s=self._keepalive_s
        )
        try:
            greeted = await perform_handshake(line, self._binding, patience)
        except BaseException:
            await line.close()
            raise
        return RemoteTree(line, greeted)

    async def _connected(self) -> RemoteTree:
        """The connection; a lost one is reopened as `retry` says."""
        if self._tree is not None and self._tree.rpc.alive:
            return self._tree
        if self._closed or self._tree is None:
            raise ConnectionLost(coded("access.closed_here"), path=self.address.url)
        async with self._making:
            if self._tree.rpc.alive:
                return self._tree
            pause = self.retry.first_s
            for left in range(self.retry.attempts - 1, -1, -1):
                try:
                    self._tree = await self._make(self._on_push)
                    return self._tree
                except (ConnectionLost, TimeoutError):
                    if not left:
                        raise
                await asyncio.sleep(pause)
                pause = min(pause * 2, self.retry.most_s)
        raise ConnectionLost(coded("access.ended"), path=self.address.url, op="connect")

    async def _retried(self, once: Callable[[RemoteTree], Awaitable[T]]) -> T:
        """Run a read-only operation: retried over a new connection, if `retry` allows one."""
        while True:
            tree = await self._connected()
            try:
                return await once(tree)
            except ConnectionLost:
                if self.retry == NEVER_RETRY or self._closed:
                    raise

    def _on_push(self, push: PushFrame) -> None:
        if self._pushes.full():
            self._pushes.get_nowait()
            self.pushes_dropped += 1
        self._pushes.put_nowait(push)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.close()


async def _drain(queue: asyncio.Queue[PushFrame]) -> AsyncIterator[PushFrame]:
    while True:
        yield await queue.get()


def _may_make(tree: RemoteTree, absent: NotFound) -> bool:
    """Raises the `NotFound` where the server cannot create files."""
    if "create" not in tree.extensions:
        absent.fix = coded("access.make_at_node")
        raise absent
    return True


def _fits(there: Stat, size: int) -> None:
    """Whether to check for a tail: a read-only file is refused by the server itself."""
    if there.writable and there.size > size:
        raise BadInput(
            coded("access.no_shorter", size=size, had=there.size),
            path=there.path,
            op="write",
            fix=coded("access.fill"),
            code="unsupported",
        )
