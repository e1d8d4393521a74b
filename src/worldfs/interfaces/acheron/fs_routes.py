"""The paths of node file systems: /v2/fs, /v2/node, /v2/fs/node/<id> (acheron §1.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from websockets.exceptions import ConnectionClosedOK

from worldfs.plugins.node_fs.tunnel_hub import TunnelHub

from .server_exports import own_exports
from .websocket_channel import WebSocketChannel, coroutine_route
from .websocket_transport import Route

if TYPE_CHECKING:
    from .server import Server

NODES: Final = "/v2/fs/node/"


class ChannelWire:
    """A `WebSocketChannel` as an `exports.fs_server.WebSocketConnection`."""

    def __init__(self, channel: WebSocketChannel) -> None:
        self._channel = channel

    async def recv(self) -> bytes:
        message = await self._channel.next()
        if message is None:
            raise ConnectionClosedOK(None, None)
        return message

    async def send(self, message: bytes, *, text: bool | None = None) -> None:
        if not self._channel.transport.open:
            raise ConnectionClosedOK(None, None)
        await self._channel.send(message)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        self._channel.close(code, reason)


def tunnels(server: Server) -> Route:
    """/v2/node. Creates the hub: one per server."""
    realm = server.realm

    def changed(node: str) -> None:
        realm.feed.publish(f"/nodes/{node}/fs")

    def heard(seq: int, topics: tuple[str, ...]) -> None:
        if any(topic == "/nodes" or (topic.startswith("/nodes/") and topic.count("/") == 2) for topic in topics):
            hub.close_revoked()  # a node may have been deleted

    hub = TunnelHub(realm.plane, changed)
    realm.hub = hub
    realm.feed.listen(heard)

    async def hold(talk: WebSocketChannel) -> None:
        await hub.serve_tunnel(ChannelWire(talk))

    return coroutine_route(hold)


def clients(server: Server) -> Route:
    """/v2/fs/node/<id>."""

    async def hold(talk: WebSocketChannel) -> None:
        hub = server.realm.hub
        assert isinstance(hub, TunnelHub)
        await hub.serve_client(ChannelWire(talk), talk.path.partition("?")[0].removeprefix(NODES))

    return coroutine_route(hold)


def own(server: Server) -> Route:
    """/v2/fs: the server's own exports, if configured (acheron D48)."""
    served = own_exports(server.realm.home)

    async def hold(talk: WebSocketChannel) -> None:
        await served.serve(ChannelWire(talk))

    return coroutine_route(hold)


FS_ROUTES: Final[tuple[tuple[str, Callable[[Server], Route]], ...]] = (
    ("/v2/node", tunnels),
    (NODES, clients),
    ("/v2/fs", own),
)
