"""A connection for a coroutine: an asynchronous iterator of messages, and `send`. For paths that are not hot."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from .websocket_transport import FrameReceiver, Route, WebSocketTransport

MANY: Final = 64  # unread messages: beyond it, reading from the peer pauses
_LOG: Final = logging.getLogger("worldfs.acheron")


class WebSocketChannel:
    """One connection of a coroutine. `path` with its query; `authorization` is the upgrade's header or ""."""

    def __init__(self, transport: WebSocketTransport, path: str, authorization: str) -> None:
        self.transport, self.path, self.authorization = transport, path, authorization
        self._messages: deque[bytes] = deque()
        self._over = self._heard = False
        self._news = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self.task: asyncio.Task[None] | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Messages until the connection ends; those received before the end are still yielded."""
        while (message := await self.next()) is not None:
            yield message

    async def next(self) -> bytes | None:
        while not self._messages:
            if self._over:
                return None
            self._news.clear()
            await self._news.wait()
        message = self._messages.popleft()
        if len(self._messages) == MANY // 2:
            self.transport.resume()
        return message

    async def send(self, message: bytes) -> None:
        """Send once the peer has read enough of what was sent before."""
        await self._writable.wait()
        self.transport.send(message)
        if self.transport.congested:
            self._writable.clear()

    def push(self, message: bytes) -> None:
        """Send at once; a peer that does not read is dropped by the transport."""
        self.transport.send(message)

    def close(self, code: int = 1000, reason: str = "") -> None:
        self.transport.close(code, reason)

    # -- FrameReceiver --
    # ------------------------------------------------------------------------------------------------

    def on_message(self, message: bytes) -> None:
        if self._heard:  # these paths authenticate in the first message, and close a connection that fails
            self.transport.known()
        self._heard = True
        self._messages.append(message)
        self._news.set()
        if len(self._messages) == MANY:
            self.transport.pause()

    def on_drained(self) -> None:
        self._writable.set()

    def on_closed(self) -> None:
        self._over = True
        self._news.set()
        self._writable.set()


def coroutine_route(hold: Callable[[WebSocketChannel], Awaitable[None]]) -> Route:
    """A route whose connections are coroutines: when one ends, its connection is closed."""

    def begin(transport: WebSocketTransport, path: str, authorization: str) -> FrameReceiver:
        talk = WebSocketChannel(transport, path, authorization)

        async def run() -> None:
            try:
                await hold(talk)
            except asyncio.CancelledError:
                raise
            except Exception:
                _LOG.exception("a connection on %s failed", path.partition("?")[0])
                transport.close(1011, "internal error")
            else:
                transport.close()

        talk.task = asyncio.get_running_loop().create_task(run())
        return talk

    return begin
