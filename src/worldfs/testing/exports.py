"""Exports over a real WebSocket on a loopback port, for tests of whatever speaks the node FS protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .waiting import PATIENCE_S

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

    from worldfs.exports.client import FsClient
    from worldfs.exports.source import Source
    from worldfs.wire.frames import Frame

TOKEN: Final = "secret-0123456789abcdef0123456789abcdef"  # noqa: S105 - guards nothing but a test
T = TypeVar("T")


@asynccontextmanager
async def listening(
    handler: Callable[[ServerConnection], Awaitable[None]], host: str = "127.0.0.1"
) -> AsyncIterator[str]:
    """A WebSocket server with this handler; its URL without a path."""
    from websockets.asyncio.server import serve

    from worldfs.exports.serving import FRAME_MAX

    async with serve(handler, host, 0, max_size=FRAME_MAX, compression=None) as server:
        yield "ws://{}:{}".format(*next(iter(server.sockets)).getsockname()[:2])


@asynccontextmanager
async def exported(*sources: Source, token: str = TOKEN) -> AsyncIterator[str]:
    """The URL of a server of these exports."""
    from worldfs.exports.serving import FsServer

    server = FsServer(sources, token)
    try:
        async with listening(server.serve) as url:
            yield url
    finally:
        server.close()


@asynccontextmanager
async def reached(*sources: Source, push: Callable[[Frame], None] | None = None) -> AsyncIterator[FsClient]:
    """A client that said hello to a server of these exports; it hears of changes if there is a `push`."""
    from worldfs.exports.client import FsClient

    async with (
        exported(*sources) as url,
        await FsClient.connect(url, TOKEN, subscribe=push is not None, push=push) as client,
    ):
        yield client


def run(work: Coroutine[Any, Any, T], limit: float = PATIENCE_S) -> T:
    """Carry out a test's coroutine, for no longer than `limit` s."""

    async def within() -> T:
        async with asyncio.timeout(limit):
            return await work

    return asyncio.run(within())
