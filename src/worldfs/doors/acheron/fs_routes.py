"""The paths of node file systems: /v2/fs, /v2/node, /v2/fs/node/<id> (the reference page on Acheron, section 1.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from websockets.exceptions import ConnectionClosedOK

from worldfs.exports.hub import Hub

from .fs_own import own_exports
from .line import Route
from .talk import Talk, conversation

if TYPE_CHECKING:
    from .server import Server

NODES: Final = "/v2/fs/node/"


class TalkWire:
    """A conversation in the shape of a WebSocket connection (exports.serving.Wire)."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    async def recv(self) -> bytes:
        message = await self._talk.next()
        if message is None:
            raise ConnectionClosedOK(None, None)
        return message

    async def send(self, message: bytes, *, text: bool | None = None) -> None:
        if not self._talk.line.open:
            raise ConnectionClosedOK(None, None)
        await self._talk.send(message)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        self._talk.close(code, reason)


def tunnels(server: Server) -> Route:
    """/v2/node. The hub is made here: one a server."""
    realm = server.realm

    def changed(node: str) -> None:
        realm.feed.publish(f"/nodes/{node}/fs")

    def heard(seq: int, topics: tuple[str, ...]) -> None:
        if any(topic == "/nodes" or (topic.startswith("/nodes/") and topic.count("/") == 2) for topic in topics):
            hub.sweep()  # a node may have been deleted

    hub = Hub(realm.plane, changed)
    realm.hub = hub
    realm.feed.listen(heard)

    async def hold(talk: Talk) -> None:
        await hub.serve_tunnel(TalkWire(talk))

    return conversation(hold)


def clients(server: Server) -> Route:
    """/v2/fs/node/<id>."""

    async def hold(talk: Talk) -> None:
        hub = server.realm.hub
        assert isinstance(hub, Hub)
        await hub.serve_client(TalkWire(talk), talk.path.partition("?")[0].removeprefix(NODES))

    return conversation(hold)


def own(server: Server) -> Route:
    """/v2/fs: what this server itself exports, if that is configured (decision D48)."""
    served = own_exports(server.realm.home)

    async def hold(talk: Talk) -> None:
        await served.serve(TalkWire(talk))

    return conversation(hold)


FS_ROUTES: Final[tuple[tuple[str, Callable[[Server], Route]], ...]] = (
    ("/v2/node", tunnels),
    (NODES, clients),
    ("/v2/fs", own),
)
