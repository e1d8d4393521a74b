"""The nodes that hold a tunnel to this server, and the requests to them: of their clients and of our own tree.

A node opens its tunnel at /v2/node and serves its exports over it; a client at /v2/fs/node/<id> talks to it as if
directly. Source: acheron §7 ("Tunnel"), acheron D24, D25, D44.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from websockets.exceptions import ConnectionClosed

from worldfs.formats.wire.frames import BadFrame, read

from .fs_errors import FsError, Unreachable, invalid
from .fs_rpc_client import LIMIT
from .fs_server import PROTO, PROTOCOL, WebSocketConnection
from .node_tunnel import GREETING, Tunnel, answer_hello, check_greeting, refuse
from .remote_fs import RemoteFs
from .tunnel_client import TunnelClient

PATIENCE: Final = 2.0
ALIVE: Final = 20.0  # s between two liveness checks of a silent node, and for its answer


_LOG: Final = logging.getLogger("worldfs.plugins.node_fs")


class NodeSecretPort(Protocol):
    """The port that checks the secrets of nodes (the control plane)."""

    def node_secret_valid(self, node_id: str, secret: str) -> bool: ...


class TunnelHub:
    """Made and used in one event loop; `mounted`, `nodes` and what they return may be used in any thread.

    `changed`: called in the loop with a node's id when its tunnel opens or closes, or its exports change.
    """

    def __init__(
        self,
        secrets: NodeSecretPort,
        changed: Callable[[str], None] | None = None,
        *,
        limit: float = LIMIT,
        patience: float = PATIENCE,
    ) -> None:
        """`limit`: s for an answer; `patience`: s after which a request of the tree counts as unanswered."""
        self._secrets, self._changed, self.limit, self.patience = secrets, changed, limit, patience
        self.loop = asyncio.get_running_loop()
        self._tunnels: dict[str, Tunnel] = {}
        self._remotes: dict[str, RemoteFs] = {}
        self.malformed = 0  # malformed answers of nodes, and listings with dropped names
        self._odd_nodes: set[str] = set()

    # -- for the tree ----------------------------------------------------------------------------------------------

    def mounted(self, node: str) -> RemoteFs | None:
        """The node's exports, while its tunnel is open."""
        tunnel = self.tunnel(node)
        if tunnel is None or not self._secrets.node_secret_valid(node, tunnel.secret):
            return None
        found = self._remotes.get(node)
        if found is None:
            found = self._remotes.setdefault(node, RemoteFs(self, node))
        return found

    def nodes(self) -> list[str]:
        """Nodes whose tunnels are open."""
        return sorted(node for node, tunnel in list(self._tunnels.items()) if tunnel.ready.is_set())

    def tunnel(self, node: str) -> Tunnel | None:
        found = self._tunnels.get(node)
        return found if found is not None and found.ready.is_set() and not found.rpc.closed else None

    def require_tunnel(self, node: str) -> Tunnel:
        """The open tunnel with a valid secret, or `Unreachable`."""
        found = self.tunnel(node)
        if found is None or not self._secrets.node_secret_valid(node, found.secret):
            raise Unreachable
        return found

    async def drop(self, node: str, reason: str = "the node was deleted") -> None:
        """Close a node's tunnel: the node was deleted, or its secret is no longer valid."""
        found = self._tunnels.pop(node, None)
        self._remotes.pop(node, None)
        if found is not None:
            await found.close(reason)

    def close_revoked(self) -> None:
        """Close the tunnels whose secret is no longer valid. From any thread; cheap enough for every change of
        nodes."""
        for node, tunnel in list(self._tunnels.items()):
            if not self._secrets.node_secret_valid(node, tunnel.secret):
                with suppress(RuntimeError):  # the loop has ended
                    asyncio.run_coroutine_threadsafe(self.drop(node), self.loop)

    async def close(self) -> None:
        for node in list(self._tunnels):
            await self.drop(node, "the server stops")

    # -- /v2/node --------------------------------------------------------------------------------------------------

    async def serve_tunnel(self, wire: WebSocketConnection) -> None:
        """Serve a node's connection until it ends. A newer one of the same node replaces it."""
        try:
            tunnel = await self._admit(wire)
            if tunnel is None:
                return await wire.close()
            tunnel.listeners.add(lambda frame: self._notify(tunnel.node))
            older = self._tunnels.get(tunnel.node)
            self._tunnels[tunnel.node] = tunnel
            if older is not None:
                await older.close("a newer tunnel has taken its place")
            greeting = asyncio.create_task(self._greet(tunnel))
            try:
                await tunnel.rpc.run()
            finally:
                greeting.cancel()
                tunnel.wake()
                if self._tunnels.get(tunnel.node) is tunnel:
                    del self._tunnels[tunnel.node]
                    self._notify(tunnel.node)
        except ConnectionClosed:
            pass

    async def _admit(self, wire: WebSocketConnection) -> Tunnel | None:
        try:
            async with asyncio.timeout(GREETING):
                frame = read(await wire.recv())
        except TimeoutError:
            return None
        except BadFrame as error:
            await refuse(wire, error.tag, invalid(str(error)))
            return None
        asked, failed = check_greeting(frame)
        node, secret = asked.get("node_id"), asked.get("node_secret")
        if failed is None and not self.secret_valid(node, secret):
            failed = FsError(errno.EACCES, "NodeAuthFailed")
        if failed is not None:
            await refuse(wire, frame.tag, failed)
            return None
        assert isinstance(node, str) and isinstance(secret, str)
        payload = {"protocol": PROTOCOL, "proto": PROTO, "node_id": node}
        await answer_hello(wire, frame.tag, payload)
        return Tunnel(node, secret, wire, self._count_malformed)

    async def _greet(self, tunnel: Tunnel) -> None:
        """Say hello to the node and subscribe to its changes; then it is mounted. Then check that it stays alive."""
        try:
            tunnel.greeting = await tunnel.calls.hello(tunnel.secret, subscribe=True, limit=GREETING)
        except FsError as error:
            return await tunnel.close(f"no greeting: {error.message}"[:100])
        tunnel.ready.set()
        self._notify(tunnel.node)
        while True:  # a machine that lost its power sends no close frame
            await asyncio.sleep(ALIVE)
            try:
                await tunnel.rpc.call("exports", limit=ALIVE)
            except FsError as error:
                return await tunnel.close(error.message[:100])

    def _notify(self, node: str) -> None:
        if self._changed is not None:
            self._changed(node)

    def _count_malformed(self, node: str, words: str) -> None:
        """Count each time, log once for each node: a node must not fill the log."""
        self.malformed += 1
        if node not in self._odd_nodes:
            self._odd_nodes.add(node)
            _LOG.warning("node %s: %s (logged once; counted in worldfs_node_odd_answers_total)", node, words)

    def secret_valid(self, node: object, secret: object) -> bool:
        return (
            isinstance(node, str)
            and isinstance(secret, str)
            and bool(secret)
            and self._secrets.node_secret_valid(node, secret)
        )

    # -- /v2/fs/node/<id> ------------------------------------------------------------------------------------------

    async def serve_client(self, wire: WebSocketConnection, node: str) -> None:
        """Serve a client of a node until it ends; it authenticates with the node's secret."""
        client = TunnelClient(self, wire, node)
        try:
            await client.run()
        except ConnectionClosed:
            pass
        finally:
            await client.end()
