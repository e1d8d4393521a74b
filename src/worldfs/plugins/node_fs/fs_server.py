"""The server of the node FS protocol: one call of `serve` per connection, accepted or opened.

Requests of a connection run at once in a few threads; requests on one handle keep their order. Source:
acheron §1.1 and 7.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import platform
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol, TypeVar, TypeVarTuple

from websockets.exceptions import ConnectionClosed

from worldfs.access.credentials import secrets_equal
from worldfs.formats.wire.frames import ACHERON, BadFrame, Frame, Json, read, write

from .export_source import EXCLUSIVE, MAX_READ, SHARED, UNLOCK, ExportSource, Invalidation
from .fs_errors import FsError, from_os_error, invalid
from .fs_operations import IN_TURN, LOCK, OPS, FsRequest
from .handle_table import HANDLES, HandleTable

PROTOCOL: Final = "unified-v2-fs"
PROTO: Final = 2
ASK, ANSWER = "acheron.t_fs_", "acheron.r_fs_"
FRAME_MAX: Final = 4 << 20  # bytes of a frame on every /v2 endpoint (acheron D44)
IN_FLIGHT_MAX: Final = 32  # requests of one connection at once; the next is read when one is answered
LOCK_WAITERS_MAX: Final = 256  # waiting locks are not counted: the unlock must still be read
THREADS: Final = 8
COALESCE_S: Final = 0.02  # s that changes are collected, so that a busy file is notified once
INVALIDATIONS_MAX: Final = 4_096  # changes collected; beyond it, everything is stale
LOCK_STEPS: Final = (0.005, 0.5)  # s between two tries for a lock: doubled from the first to the second
LOCK_WAIT: Final = 40.0  # s; a tunnel gives up after 45, and a lock acquired later would have no holder

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
log = logging.getLogger(__name__)


class WebSocketConnection(Protocol):
    """A WebSocket connection, our own or that of the websockets library."""

    async def recv(self) -> str | bytes: ...
    async def send(self, message: bytes, *, text: bool | None = None) -> None: ...
    async def close(self, code: int = 1000, reason: str = "") -> None: ...


class FsServer:
    """The exports of this process. `token`: the secret that a hello must carry; "" refuses every hello.

    `patience`: s until the first hello; None where the other end (a server with our tunnel) has no deadline.
    """

    def __init__(
        self,
        sources: Sequence[ExportSource],
        token: str,
        *,
        name: str = "worldfs-node",
        version: str = "0",
        handles: int = HANDLES,
        patience: float | None = None,
    ) -> None:
        self.sources = tuple(sources)
        self.token = token
        self.handles, self.patience = handles, patience
        self.node = {"name": name, "os": platform.system().lower(), "ver": version}
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="fs")

    async def serve(self, wire: WebSocketConnection) -> None:
        """Serve until either side closes. Then every open handle of the connection is closed."""
        talk = _FsServerConnection(self, wire)
        try:
            await talk.run()
        except TimeoutError:
            await wire.close(1008, "no hello")
        except ConnectionClosed:
            pass
        finally:
            await talk.end()

    def close(self) -> None:
        for source in self.sources:
            source.close()
        self.threads.shutdown(wait=False, cancel_futures=True)

    def greeting(self) -> Json:
        caps = {
            "readdirp": True,
            "symlink": True,
            "xattr": True,
            "locks": True,
            "case_sensitive": True,
            "max_read": MAX_READ,
            "max_write": MAX_READ,
        }
        return {"protocol": PROTOCOL, "proto": PROTO, "node": self.node, "caps": caps}


class _FsServerConnection:
    """One connection."""

    def __init__(self, server: FsServer, wire: WebSocketConnection) -> None:
        self._server, self._wire = server, wire
        self._handles = HandleTable(server.sources, server.handles)
        self._loop = asyncio.get_running_loop()
        self._slots = asyncio.Semaphore(IN_FLIGHT_MAX)
        self._greeted = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Task[None]] = set()  # tasks that wait for a lock: cancelled when the connection ends
        self._stale: dict[tuple[int, bool], int | None] = {}
        self._notifier: asyncio.Task[None] | None = None
        self._unlisten: list[Callable[[], None]] = []

    async def run(self) -> None:
        while True:
            async with asyncio.timeout(None if self._greeted else self._server.patience):
                raw = await self._wire.recv()
            try:
                frame = read(raw)
            except BadFrame as error:
                await self._refuse(error.tag, invalid(str(error)))
                if self._greeted:
                    continue
                return await self._wire.close()
            op = frame.type.removeprefix(ASK)
            if frame.channel == ACHERON and op == "hello":
                failed = await self._in_thread(self._hello, frame)
                if failed is None:
                    await self._answer(frame, op, self._server.greeting())
                    continue
                await self._refuse(frame.tag, failed)
                return await self._wire.close()
            if not self._greeted:
                await self._refuse(frame.tag, invalid("acheron.t_fs_hello must be negotiated first"))
                return await self._wire.close()
            if op == LOCK:
                if len(self._waiting) < LOCK_WAITERS_MAX:
                    self._begin(self._execute(frame, op), self._waiting)
                else:
                    await self._refuse(frame.tag, FsError(errno.EAGAIN, "too many locks are waited for"))
                continue
            await self._slots.acquire()
            task = self._begin(self._execute(frame, op if op != frame.type else ""), self._tasks)
            task.add_done_callback(lambda _: self._slots.release())

    async def end(self) -> None:
        for stop in self._unlisten:
            await asyncio.to_thread(stop)
        if self._notifier is not None:
            self._notifier.cancel()
        for task in self._waiting:
            task.cancel()
        if self._tasks or self._waiting:  # a writing thread cannot be interrupted, only waited for
            await asyncio.gather(*self._tasks, *self._waiting, return_exceptions=True)
        await asyncio.to_thread(self._handles.close)  # not in our thread pool: the server may have shut it down

    # -- hello -----------------------------------------------------------------------------------------------------

    def _hello(self, frame: Frame) -> FsError | None:
        try:
            asked = frame.body()
        except BadFrame as error:
            return invalid(str(error))
        failed = check_hello(asked) or check_token(asked.get("auth_token"), self._server.token)
        if failed is not None:
            return failed
        self._greeted = True
        if asked.get("subscribe_invalidations") is True and not self._unlisten:
            self._unlisten = [source.listen(self._changed) for source in self._server.sources]
        return None

    # -- requests --------------------------------------------------------------------------------------------------

    def _begin(self, work: Coroutine[object, object, None], group: set[asyncio.Task[None]]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        group.add(task)
        task.add_done_callback(group.discard)
        return task

    async def _execute(self, frame: Frame, op: str) -> None:
        try:
            try:
                result = await self._result(frame, op)
            except FsError as error:
                await self._refuse(frame.tag, error)
            except OSError as error:
                await self._refuse(frame.tag, from_os_error(error))
            except ConnectionClosed:
                raise
            except Exception:
                log.exception("our bug in %s", frame.type)
                await self._refuse(frame.tag, FsError(errno.EIO, "internal error"))
            else:
                await self._answer(frame, op, result)
        except ConnectionClosed:
            pass  # the client has gone

    async def _result(self, frame: Frame, op: str) -> Json:
        if op == LOCK:
            return await self._lock(FsRequest(op, frame))
        run = OPS.get(op)
        if run is None:
            raise FsError(errno.ENOSYS, "unsupported operation")
        ask = FsRequest(op, frame)
        if op not in IN_TURN:
            return await self._in_thread(run, self._handles, ask)
        async with self._handles.handle(ask.h).turn:
            return await self._in_thread(run, self._handles, ask)

    async def _lock(self, ask: FsRequest) -> Json:
        """Waits by retrying, so that a waiting lock holds no thread."""
        kind = ask.text("kind")
        if kind not in (SHARED, EXCLUSIVE, UNLOCK):
            raise invalid("LOCK requires a.kind")
        pause, longest = LOCK_STEPS
        until = self._loop.time() + (LOCK_WAIT if ask.flag("wait") else 0)
        while True:
            handle = self._handles.handle(ask.h)
            async with handle.turn:
                if await self._in_thread(handle.file.lock, kind):
                    return {}
            if self._loop.time() >= until:
                raise FsError(errno.EAGAIN, "somebody else has the lock")
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest)

    async def _in_thread(self, work: Callable[[*Ts], T], *args: *Ts) -> T:
        return await self._loop.run_in_executor(self._server.threads, work, *args)

    async def _answer(self, frame: Frame, op: str, payload: Json) -> None:
        await self._send({"channel": ACHERON, "type": ANSWER + op, "tag": frame.tag, "ok": True, "payload": payload})

    async def _refuse(self, tag: int | None, error: FsError) -> None:
        await self._send(refusal(tag, error))

    async def _send(self, value: Json) -> None:
        if value.get("tag", 0) is None:
            del value["tag"]
        await self._wire.send(write(value), text=True)

    # -- changes ---------------------------------------------------------------------------------------------------

    def _changed(self, stale: Invalidation) -> None:
        """From any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._collect_change, stale)

    def _collect_change(self, stale: Invalidation) -> None:
        if len(self._stale) < INVALIDATIONS_MAX:
            self._stale[stale.node, stale.directory] = stale.gen
        else:
            self._stale = {(source.root, False): None for source in self._server.sources}
        if self._notifier is None or self._notifier.done():
            self._notifier = asyncio.create_task(self._send_changes())

    async def _send_changes(self) -> None:
        try:
            while self._stale:
                await asyncio.sleep(COALESCE_S)
                stale, self._stale = self._stale, {}
                for (node, directory), gen in stale.items():
                    await self._send(push(node, directory, gen))
        except ConnectionClosed:
            pass


def check_hello(asked: Json) -> FsError | None:
    if asked.get("protocol") != PROTOCOL or asked.get("proto") != PROTO:
        return invalid("ProtocolMismatch")
    return None


def check_token(given: object, expected: str) -> FsError | None:
    """Compared in constant time. An empty secret never matches."""
    if not isinstance(given, str) or not given:
        return FsError(errno.EACCES, "AuthMissing")
    if not secrets_equal(given, expected):
        return FsError(errno.EACCES, "AuthFailed")
    return None


def refusal(tag: int | None, error: FsError) -> Json:
    value: Json = {"channel": ACHERON, "type": "acheron.err_fs"}
    if tag is not None:
        value["tag"] = tag
    return {**value, "ok": False, "error": {"errno": error.number, "message": error.message}}


def push(node: int, directory: bool, gen: int | None) -> Json:
    if directory:
        return {"channel": ACHERON, "type": "acheron.e_fs_inval_dir", "payload": {"dir": node}}
    payload: Json = {"node": node, "what": "all"}
    if gen is not None:
        payload["gen"] = gen
    return {"channel": ACHERON, "type": "acheron.e_fs_inval", "payload": payload}
