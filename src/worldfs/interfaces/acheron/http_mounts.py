"""HTTP applications beside the WebSocket side: a connection that asks for one of their paths is handed over to it.

An application is made when it is first asked for, in a thread, because loading one takes seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from .server import Server

PATH_MOST: Final = 8_192  # bytes up to the end of a request's path


class MountedApplication(Protocol):
    """An HTTP application of this server (`worldfs.interfaces.mcp.http_application.HttpApplication`)."""

    def connection(self) -> asyncio.Protocol:
        """The protocol of one connection, from its first byte on."""
        ...

    def drop_revoked(self) -> None:
        """End what tokens asked for that are no longer valid."""
        ...

    async def stop(self) -> None: ...


Opener = Callable[["Server"], Awaitable[MountedApplication]]


class HttpMounts:
    """By path. All on the loop."""

    def __init__(self, server: Server, openers: dict[str, Opener]) -> None:
        self._server, self._openers = server, openers
        self._opened: dict[str, asyncio.Task[MountedApplication]] = {}

    def concerned(self, start: bytes) -> str | None:
        """The mounted path of a request that begins with these bytes; "": none; None: more bytes are needed."""
        _, blank, rest = start.partition(b" ")
        if not blank:
            return None if len(start) < PATH_MOST and start.isalpha() else ""
        target, blank, _ = rest.partition(b" ")
        if not blank and b"\n" not in rest and len(start) < PATH_MOST:
            return None
        path = "/" + target.partition(b"?")[0].decode("latin-1").strip("/\r\n")
        return path if path in self._openers else ""

    async def connection(self, path: str) -> asyncio.Protocol:
        opened = self._opened.get(path)
        if opened is None or (opened.done() and (opened.cancelled() or opened.exception() is not None)):
            opened = self._opened[path] = asyncio.ensure_future(self._openers[path](self._server))
        return (await asyncio.shield(opened)).connection()

    def drop_revoked(self) -> None:
        for application in self._there():
            application.drop_revoked()

    async def stop(self) -> None:
        for opened in self._opened.values():
            if not opened.done():
                opened.cancel()
        for application in self._there():
            await application.stop()

    def _there(self) -> list[MountedApplication]:
        tasks = [task for task in self._opened.values() if task.done() and not task.cancelled()]
        return [task.result() for task in tasks if task.exception() is None]
