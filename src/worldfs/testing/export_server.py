"""Exports over a real WebSocket on a loopback port, for tests of the node FS protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from .waiting import PATIENCE_S

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

    from worldfs.formats.wire.frames import Frame
    from worldfs.plugins.node_fs.export_source import ExportSource
    from worldfs.plugins.node_fs.fs_client import FsClient

TOKEN: Final = "secret-0123456789abcdef0123456789abcdef"  # noqa: S105 - guards nothing but a test
T = TypeVar("T")


@asynccontextmanager
async def websocket_server(
    handler: Callable[[ServerConnection], Awaitable[None]], host: str = "127.0.0.1"
) -> AsyncIterator[str]:
    """A WebSocket server with this handler; its URL without a path."""
    from websockets.asyncio.server import serve

    from worldfs.plugins.node_fs.fs_server import FRAME_MAX

    async with serve(handler, host, 0, max_size=FRAME_MAX, compression=None) as server:
        yield "ws://{}:{}".format(*next(iter(server.sockets)).getsockname()[:2])


@asynccontextmanager
async def exporting_server(*sources: ExportSource, token: str = TOKEN) -> AsyncIterator[str]:
    """The URL of a server of these exports."""
    from worldfs.plugins.node_fs.fs_server import FsServer

    server = FsServer(sources, token)
    try:
        async with websocket_server(server.serve) as url:
            yield url
    finally:
        server.close()


@asynccontextmanager
async def connected_client(
    *sources: ExportSource, push: Callable[[Frame], None] | None = None
) -> AsyncIterator[FsClient]:
    """A client after its hello to a server of these exports; it subscribes to changes if `push` is given."""
    from worldfs.plugins.node_fs.fs_client import FsClient

    async with (
        exporting_server(*sources) as url,
        await FsClient.connect(url, TOKEN, subscribe=push is not None, push=push) as client,
    ):
        yield client


def run(work: Coroutine[object, object, T], limit: float = PATIENCE_S) -> T:
    """Carry out a test's coroutine, for no longer than `limit` s."""

    async def within() -> T:
        async with asyncio.timeout(limit):
            return await work

    return asyncio.run(within())
