"""The blocking API: the same methods, for programs without an event loop.

    with blocking.connect("ws://127.0.0.1:18790", agent="alice") as world:
        print(world.read("/meta/protocol.json"))

A thread of its own runs the loop; the methods may be called from any thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from types import TracebackType
from typing import Self, TypedDict, TypeVar, Unpack

from worldfs.tree.verb_values import Stat, Written

from . import connection, remote_jobs
from . import remote_world as far
from .remote_types import BoundSession, JobResult, Json, PushFrame, RemoteToolResult, RetryPolicy, WatchEvent
from .remote_walk import Trouble

T = TypeVar("T")


class ConnectOptions(TypedDict, total=False):
    """As `connection.connect` explains them."""

    token: str | None
    agent: str
    project: str
    project_token: str | None
    session_key: str
    new_agent: bool
    model: bool
    timeout: float
    retry: RetryPolicy
    keepalive_s: float


class ReadOptions(TypedDict, total=False):
    """As `RemoteWorld.read` explains them."""

    offset: int
    count: int | None
    wait: float | None
    timeout: float | None


class WriteOptions(TypedDict, total=False):
    """As `RemoteWorld.write` explains them."""

    offset: int
    correlation: str
    split: bool | None
    replace: bool | None
    create: bool


class WatchOptions(TypedDict, total=False):
    """As `RemoteWorld.watch` explains them."""

    kind: str
    since: str | int
    timeout: float


class _LoopThread:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="paos-remote", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Run a coroutine and return its result; a Ctrl-C here cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def end(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5)
            self._loop.close()


class BlockingJob:
    """`worldfs.client.RemoteJob`, blocking."""

    def __init__(self, loop: _LoopThread, job: remote_jobs.RemoteJob) -> None:
        self._loop, self._job = loop, job
        self.id, self.path = job.id, job.path

    def state(self) -> str:
        return self._loop.run(self._job.state())

    def result(self, timeout: float | None = None) -> JobResult:
        return self._loop.run(self._job.result(timeout))

    def log(self) -> list[Json]:
        return self._loop.run(self._job.log())

    def progress(self) -> Iterator[Json]:
        return _each(self._loop, self._job.progress())

    def cancel(self) -> None:
        self._loop.run(self._job.cancel())


class BlockingWorld:
    """`worldfs.client.RemoteWorld`, blocking; see there for each method."""

    def __init__(self, loop: _LoopThread, world: far.RemoteWorld) -> None:
        self._loop, self._world = loop, world

    @property
    def bound(self) -> BoundSession:
        return self._world.bound

    def read(self, path: str, **more: Unpack[ReadOptions]) -> bytes:
        return self._loop.run(self._world.read(path, **more))

    def list(self, path: str = "/") -> list[str]:
        return self._loop.run(self._world.list(path))

    def entries(self, path: str = "/") -> Sequence[Stat]:
        return self._loop.run(self._world.entries(path))

    def mkdir(self, path: str) -> None:
        self._loop.run(self._world.mkdir(path))

    def remove(self, path: str) -> None:
        self._loop.run(self._world.remove(path))

    def rename(self, old: str, new: str) -> None:
        self._loop.run(self._world.rename(old, new))

    def truncate(self, path: str, size: int = 0) -> None:
        self._loop.run(self._world.truncate(path, size))

    def stat(self, path: str) -> Stat:
        return self._loop.run(self._world.stat(path))

    def exists(self, path: str) -> bool:
        return self._loop.run(self._world.exists(path))

    def write(self, path: str, data: bytes | str, **more: Unpack[WriteOptions]) -> Written:
        return self._loop.run(self._world.write(path, data, **more))

    def walk(
        self, path: str = "/", *, depth: int | None = None, trouble: Trouble | None = None
    ) -> Iterator[tuple[Stat, tuple[str, ...]]]:
        return _each(self._loop, self._world.walk(path, depth=depth, trouble=trouble))

    def watch(self, *paths: str, **more: Unpack[WatchOptions]) -> Iterator[WatchEvent]:
        return _each(self._loop, self._world.watch(*paths, **more))

    def wait(
        self, path: str, until: Callable[[bytes], bool] | str = "", *, timeout: float | None = None
    ) -> bytes | None:
        return self._loop.run(self._world.wait(path, until, timeout=timeout))

    def each(self, path: str) -> Iterator[bytes]:
        return _each(self._loop, self._world.each(path))

    def pushes(self) -> Iterator[PushFrame]:
        return _each(self._loop, self._world.pushes())

    def chat(self, text: str, *, correlation: str = "") -> BlockingJob:
        return BlockingJob(self._loop, self._loop.run(self._world.chat(text, correlation=correlation)))

    def job(self, id: str) -> BlockingJob:
        return BlockingJob(self._loop, self._world.job(id))

    def invoke(
        self, path: str, tool: str = "", args: Json | None = None, *, timeout: float = 300.0
    ) -> RemoteToolResult:
        return self._loop.run(self._world.invoke(path, tool, args, timeout=timeout))

    def control(self, op: str, payload: Json | None = None, *, correlation: str = "") -> Json:
        return self._loop.run(self._world.control(op, payload, correlation=correlation))

    def close(self) -> None:
        """Closes the connection and ends the thread."""
        try:
            self._loop.run(self._world.close())
        finally:
            self._loop.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _each(loop: _LoopThread, found: AsyncIterator[T]) -> Iterator[T]:
    async def step() -> T:
        return await anext(found)

    async def end() -> None:
        if isinstance(found, AsyncGenerator):
            await found.aclose()

    try:
        while True:
            try:
                yield loop.run(step())
            except StopAsyncIteration:
                return
    finally:
        loop.run(end())


def connect(url: str, **more: Unpack[ConnectOptions]) -> BlockingWorld:
    """As `worldfs.client.connect`, with its options."""
    loop = _LoopThread()

    async def begin() -> far.RemoteWorld:
        return await connection.connect(url, **more)

    try:
        return BlockingWorld(loop, loop.run(begin()))
    except BaseException:
        loop.end()
        raise
