"""One connection: requests go out with a tag or an id, replies come back in any order, pushes go to a listener.

Tags begin at 1 and skip 0 and tags in use. A request that its caller cancels is flushed: the server
drops it, and its tag is free again when the flush is answered (as in 9P), so no late reply meets a new request.
Source: acheron §1.3, 2 and 8.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput, NotPermitted, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.formats.wire import frames
from worldfs.formats.wire.frames import ACHERON, CONTROL, Frame

from .remote_errors import ConnectionLost, RequestTimeout, refusal
from .remote_types import Json, PushFrame

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.exceptions import ConnectionClosed

    from .address import Address

Reply = asyncio.Future[Frame]
LARGEST = 8 * 2**20  # a server's frame: reads up to 4 MiB, and the base64 of them


class RpcClient:
    """Open it with `open_rpc_client`. Every method may be called by many tasks of one loop at a time."""

    def __init__(self, socket: ClientConnection, on_push: Callable[[PushFrame], None]) -> None:
        self._socket = socket
        self._on_push = on_push
        self._tags = itertools.count(1)
        self._ids = itertools.count(1)
        self._tagged: dict[int, Reply] = {}
        self._dropped: set[int] = set()  # tags whose flush is not answered yet
        self._called: dict[str, Reply] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._gone: WorldError | None = None
        self._reader = asyncio.create_task(self._read())

    @property
    def alive(self) -> bool:
        return self._gone is None

    @property
    def waiting(self) -> int:
        """Requests that were sent and not answered yet."""
        return len(self._tagged) + len(self._called)

    async def post(self, op: str, fields: Json) -> tuple[int, Reply]:
        """Send an Acheron request; its tag, and the reply to come. Raises `ConnectionLost` (nothing was carried
        out)."""
        self._check()
        tag = next(self._tags) & frames.U32
        while not tag or tag in self._tagged:
            tag = next(self._tags) & frames.U32
        reply: Reply = asyncio.get_running_loop().create_future()
        reply.add_done_callback(_consume_error)
        self._tagged[tag] = reply
        try:
            await self._send({"channel": ACHERON, "type": f"acheron.t_{op}", "tag": tag, **fields})
        except BaseException:
            self._tagged.pop(tag, None)
            raise
        return tag, reply

    async def ask(self, op: str, fields: Json, *, path: str = "", timeout: float | None = None) -> Json:
        """A request and its payload. `timeout` in seconds, None: no timeout. Raises the answered error."""
        tag, reply = await self.post(op, fields)
        return await self.answer(tag, reply, op, path=path, timeout=timeout)

    async def answer(self, tag: int, reply: Reply, op: str, *, path: str = "", timeout: float | None = None) -> Json:
        """The payload of a posted request. Cancelled or timed out, it is flushed."""
        try:
            frame = await _within(reply, timeout)
        except TimeoutError:
            self.flush(tag)
            raise RequestTimeout(coded("access.no_answer", s=timeout), path=path, op=op) from None
        except asyncio.CancelledError:
            self.flush(tag)
            raise
        return _payload(frame, path, op)

    async def control(self, op: str, payload: Json, more: Json, timeout: float | None = None) -> Json:
        """A control operation and its payload. It always carries an id, so mutations are allowed."""
        self._check()
        id = str(more.get("id") or f"c{next(self._ids)}")
        if id in self._called:
            raise BadInput(coded("access.id_awaited", id=id), op=op, fix=coded("access.own_id"))
        reply: Reply = asyncio.get_running_loop().create_future()
        reply.add_done_callback(_consume_error)
        self._called[id] = reply
        try:
            await self._send({"channel": CONTROL, "type": f"control.{op}", **more, "id": id, "payload": payload})
            return _payload(await _within(reply, timeout), "", op)
        except TimeoutError:
            raise RequestTimeout(coded("access.no_answer", s=timeout), op=op) from None
        finally:
            self._called.pop(id, None)

    def run_in_background(self, work: Coroutine[object, object, None]) -> None:
        """Run a coroutine that no caller awaits; the reference keeps it from being garbage-collected."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        """Close the connection; pending requests fail with `ConnectionLost`."""
        self._lose(ConnectionLost(coded("access.closed_here")))
        await self._socket.close()
        self._reader.cancel()
        await asyncio.gather(self._reader, *self._background, return_exceptions=True)

    def _check(self) -> None:
        if isinstance(self._gone, ConnectionLost):
            raise ConnectionLost(self._gone.found)  # an exception of its own: nothing of this request was sent
        if self._gone is not None:
            raise self._gone

    def flush(self, tag: int) -> None:
        """Have the server drop a request; nothing if it was answered, or is being dropped."""
        if self._gone is None and tag in self._tagged and tag not in self._dropped:
            self._dropped.add(tag)
            self.run_in_background(self._flushed(tag))

    async def _flushed(self, tag: int) -> None:
        try:
            await self.ask("flush", {"oldtag": tag})
        except WorldError:
            pass  # a server without flush, or a lost connection: there is nothing to undo
        finally:
            self._tagged.pop(tag, None)
            self._dropped.discard(tag)

    async def _send(self, frame: Json) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            await self._socket.send(frames.write(frame), text=True)
        except ConnectionClosed as closed:
            await asyncio.wait((self._reader,))  # the last frame may name the reason: a refused token
            self._lose(ConnectionLost(_why(closed)))
            self._check()

    async def _read(self) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            while True:
                self._sort(await self._socket.recv(decode=False))
        except ConnectionClosed as closed:
            self._lose(ConnectionLost(_why(closed)))
        except Exception as error:
            # The reader has ended: every pending request must fail.
            self._lose(ConnectionLost(f"{type(error).__name__}: {error}"))
            await self._socket.close()

    def _sort(self, text: bytes) -> None:
        try:
            frame = frames.read(text)
        except frames.BadFrame:
            return self._legacy(text)
        if frame.channel == ACHERON:
            if frame.tag is not None:
                _settle(self._tagged.pop(frame.tag, None), frame)
            elif frame.ok is None:
                self._on_push(PushFrame(frame.type, frame.body()))
            return None
        if frame.id is not None and frame.id in self._called:
            _settle(self._called.pop(frame.id), frame)
        elif frame.error is not None or frame.type == "control.error":
            self._untagged_error(frame)
        else:
            self._on_push(PushFrame(frame.type, frame.body()))
        return None

    def _untagged_error(self, frame: Frame) -> None:
        """An error without a tag or id (`invalid_envelope`): it answers the oldest pending request."""
        if self._called:
            _settle(self._called.pop(next(iter(self._called))), frame)
        elif self._tagged:
            _settle(self._tagged.pop(next(iter(self._tagged))), frame)

    def _legacy(self, text: bytes) -> None:
        """Frames of before the envelope: a refused token, and debug events."""
        try:
            found = parse_json(text)
        except ValueError:
            return
        if not isinstance(found, dict):
            return
        if found.get("type") == "error":
            refused = refusal(found, op="connect")
            if found.get("code") == "provider_auth_failed":
                fix = coded("access.right_token")
                refused = NotPermitted(refused.found, op="connect", fix=fix, code=refused.code)
            self._lose(refused)
        elif found.get("type") == "debug.event":
            payload = found.get("payload")
            self._on_push(PushFrame(str(found.get("category", "")), payload if isinstance(payload, dict) else {}))

    def _lose(self, why: WorldError) -> None:
        if self._gone is None:
            self._gone = why
        for waiting in (*self._tagged.values(), *self._called.values()):
            if not waiting.done():
                waiting.set_exception(
                    ConnectionLost(self._gone.found, sent=True)
                    if isinstance(self._gone, ConnectionLost)
                    else self._gone
                )
        self._tagged.clear()


async def open_rpc_client(
    address: Address,
    token: str,
    on_push: Callable[[PushFrame], None],
    *,
    open_timeout: float,
    keepalive_s: float | None,
) -> RpcClient:
    """A connection before its handshake. Raises `ConnectionLost` where no server answers."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidHandshake

    try:
        socket = await connect(
            address.url,
            additional_headers={"Authorization": f"Bearer {token}"} if token else None,
            compression=None,
            max_size=LARGEST,
            open_timeout=open_timeout,
            ping_interval=keepalive_s,
            ping_timeout=keepalive_s,
            close_timeout=2,
            proxy=None if address.loopback else True,
        )
    except InvalidHandshake as error:
        raise ConnectionLost(coded("access.no_server", why=str(error)), path=address.url, op="connect") from None
    except TimeoutError:
        raise RequestTimeout(coded("access.no_answer", s=open_timeout), path=address.url, op="connect") from None
    except OSError as error:
        fix = coded("access.is_served")
        raise ConnectionLost(error.strerror or str(error), path=address.url, op="connect", fix=fix) from None
    return RpcClient(socket, on_push)


async def _within(reply: Reply, timeout: float | None) -> Frame:
    if timeout is None:
        return await reply
    async with asyncio.timeout(timeout):
        return await reply


def _payload(frame: Frame, path: str, op: str) -> Json:
    if frame.error is not None or frame.ok is False:
        raise refusal(frame.error, path=path, op=op)
    try:
        return frame.body()
    except frames.BadFrame as bad:
        raise WorldError(coded("access.no_payload", bad=str(bad)), path=path, op=op) from None


def _settle(reply: Reply | None, frame: Frame) -> None:
    if reply is not None and not reply.done():
        reply.set_result(frame)


def _consume_error(reply: Reply) -> None:
    """Mark an error as retrieved, so that asyncio does not log it."""
    if not reply.cancelled():
        reply.exception()


def _why(closed: ConnectionClosed) -> str:
    said = closed.rcvd or closed.sent
    if said is None:
        return coded("access.lost")
    return coded("access.ended_with", why=f"{said.code} {said.reason}".strip())
