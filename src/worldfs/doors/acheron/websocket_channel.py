"""A connection as a coroutine sees it: messages to go through, and a way to send. For paths that are not hot."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from .websocket_transport import FrameReceiver, Route, WebSocketTransport

MANY: Final = 64  # messages not yet taken: from here on the peer waits
_LOG: Final = logging.getLogger("worldfs.acheron")


class WebSocketChannel:
    """One connection given to a coroutine. `path` with its query; `authorization` is the upgrade's header or ""."""

    def __init__(self, line: WebSocketTransport, path: str, authorization: str) -> None:
        self.line, self.path, self.authorization = line, path, authorization
        self._messages: deque[bytes] = deque()
        self._over = False
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self.task: asyncio.Task[None] | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Messages until the connection is over; what came before the end is still given."""
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
            self.line.resume()
        return message

    async def send(self, message: bytes) -> None:
        """As soon as the peer has taken enough of what was sent before."""
        await self._room.wait()
        self.line.send(message)
        if self.line.full:
            self._room.clear()

    def push(self, message: bytes) -> None:
        """At once, whatever the peer has taken; one that takes nothing is dropped by the line."""
        self.line.send(message)

    def close(self, code: int = 1000, reason: str = "") -> None:
        self.line.close(code, reason)

    # -- Receiver --------------------------------------------------------------------------------------------------

    def heard(self, message: bytes) -> None:
        self._messages.append(message)
        self._news.set()
        if len(self._messages) == MANY:
            self.line.pause()

    def roomy(self) -> None:
        self._room.set()

    def gone(self) -> None:
        self._over = True
        self._news.set()
        self._room.set()


def coroutine_route(hold: Callable[[WebSocketChannel], Awaitable[None]]) -> Route:
    """A route whose connections are coroutines: when one ends, its connection is closed."""

    def begin(line: WebSocketTransport, path: str, authorization: str) -> FrameReceiver:
        talk = WebSocketChannel(line, path, authorization)

        async def run() -> None:
            try:
                await hold(talk)
            except asyncio.CancelledError:
                raise
            except Exception:
                _LOG.exception("a conversation on %s broke", path.partition("?")[0])
                line.close(1011, "internal error")
            else:
                line.close()

        talk.task = asyncio.get_running_loop().create_task(run())
        return talk

    return begin
