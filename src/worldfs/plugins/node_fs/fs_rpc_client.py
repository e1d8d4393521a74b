"""One connection to a server of the node FS protocol: requests by tag, replies in any order, pushes to a callback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from websockets.exceptions import ConnectionClosed

from worldfs.formats.wire.frames import ACHERON, U32, BadFrame, Frame, Json, read, write

from . import reply_parsing
from .fs_errors import MalformedReply, Unreachable
from .fs_server import ANSWER, ASK, WebSocketConnection

LIMIT: Final = 45.0  # s for a reply
_OPENED: Final = (ANSWER + "open", ANSWER + "create")
Push = Callable[[Frame], None]


class FsRpcClient:
    """Used in one event loop. Replies arrive only while `run` is running."""

    def __init__(self, wire: WebSocketConnection, push: Push | None = None, on_request: Push | None = None) -> None:
        """`push` receives pushes, `on_request` the requests of the other end; both are called in the loop."""
        self._wire, self._push, self._on_request = wire, push, on_request
        self._waiting: dict[int, asyncio.Future[Frame]] = {}
        self._tag = 0
        self.closed = False

    async def run(self) -> None:
        """Read until the connection ends; then every pending request fails."""
        try:
            while True:
                raw = await self._wire.recv()
                try:
                    self._take(read(raw))
                except BadFrame as bad:
                    self._malformed(bad)
        except ConnectionClosed:
            pass
        finally:
            self.fail()

    def fail(self, why: str = "") -> None:
        self.closed = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(Unreachable(why) if why else Unreachable())
        self._waiting.clear()

    def _take(self, frame: Frame) -> None:
        if frame.type.startswith(ASK):
            if self._on_request is not None:
                self._on_request(frame)
            return
        if frame.tag is None:
            if self._push is not None:
                self._push(frame)
            return
        future = self._waiting.pop(frame.tag, None)
        if future is not None and not future.done():
            future.set_result(frame)
        else:
            self.release(frame)

    def _malformed(self, bad: BadFrame) -> None:
        """A malformed frame: fails its request if it has a tag; else that request times out."""
        future = self._waiting.pop(bad.tag, None) if bad.tag is not None else None
        if future is not None and not future.done():
            future.set_exception(MalformedReply(f"a message that is no frame ({bad})"))

    def release(self, frame: Frame) -> None:
        """Close a handle that was opened for a request that no longer waits."""
        h = reply_parsing.opened_handle(frame) if frame.type in _OPENED else None
        if h is not None:
            self.release_handle(h)

    def release_handle(self, h: int) -> None:
        if not self.closed:
            task = asyncio.ensure_future(self.ask(Frame(ACHERON, ASK + "close", h=h)))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def ask(self, frame: Frame, limit: float = LIMIT) -> Frame:
        """The reply, error or not, with the tag of the request. Raises `Unreachable`."""
        if self.closed:
            raise Unreachable
        mine, tag = frame.tag, self._free()
        frame.tag = tag
        future: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self._waiting[tag] = future
        try:
            async with asyncio.timeout(limit):
                await self._wire.send(write(frame), text=True)
                reply = await future
        except TimeoutError:
            raise Unreachable(f"no reply in {limit:g} s") from None
        except ConnectionClosed:
            raise Unreachable from None
        finally:
            if self._waiting.get(tag) is future:
                del self._waiting[tag]
            if not future.cancel() and not future.cancelled():
                future.exception()  # it may have failed while the request was being sent, before it was awaited
        reply.tag = mine
        return reply

    async def call(
        self, op: str, *, node: int | None = None, h: int | None = None, limit: float = LIMIT, **args: object
    ) -> Json:
        """The payload of the reply. Raises `FsError` with the peer's errno."""
        return await self.send(op, args, node=node, h=h, limit=limit)

    async def send(
        self,
        op: str,
        args: Mapping[str, object],
        *,
        node: int | None = None,
        h: int | None = None,
        limit: float = LIMIT,
    ) -> Json:
        """As `call`."""
        reply = await self.ask(Frame(ACHERON, ASK + op, node=node, h=h, payload=msgspec.Raw(write(args))), limit)
        if reply.type == ANSWER + op:
            return reply_parsing.body(reply)
        raise reply_parsing.error(reply)

    def _free(self) -> int:
        while True:
            self._tag = self._tag % U32 + 1
            if self._tag not in self._waiting:
                return self._tag
