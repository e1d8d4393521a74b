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

from worldfs.formats.wire.frames import ACHERON, BadFrame, Frame, Json, read, write

from . import reply_parsing
from .fs_client import FsCalls
from .fs_errors import FsError, Unreachable, invalid
from .fs_rpc_client import LIMIT, FsRpcClient
from .fs_server import ANSWER, ASK, PROTO, PROTOCOL, WebSocketConnection, check_hello, check_token, refusal
from .remote_fs import RemoteFs

PUSH: Final = "acheron.e_fs_"
IN_FLIGHT_MAX: Final = 32  # requests of one client at once
LOCKING: Final = 64  # and its waiting locks
HANDLES: Final = 256  # of one client
GREETING: Final = 10.0  # s for a node's greeting, and for any client's authentication
PATIENCE: Final = 2.0
ALIVE: Final = 20.0  # s between two liveness checks of a silent node, and for its answer


_LOG: Final = logging.getLogger("worldfs.plugins.node_fs")


class NodeSecretPort(Protocol):
    """The port that checks the secrets of nodes (the control plane)."""

    def node_secret_valid(self, node_id: str, secret: str) -> bool: ...


class Tunnel:
    """One node's connection. `greeting`: the node's answer to our hello."""

    def __init__(
        self, node: str, secret: str, wire: WebSocketConnection, on_malformed: Callable[[str, str], None]
    ) -> None:
        self.node, self.secret, self.wire = node, secret, wire
        self.rpc = FsRpcClient(wire, self._on_push, self._on_request)
        self.calls = FsCalls(self.rpc, lambda words: on_malformed(node, words))
        self.greeting: Json = {}
        self.ready = asyncio.Event()
        self.listeners: set[Callable[[Frame], None]] = set()  # of the node's changes
        self.wakes: set[asyncio.Event] = set()  # set at each change of the node, and when the connection has ended
        self._again: set[asyncio.Task[None]] = set()

    def _on_push(self, frame: Frame) -> None:
        if frame.type.startswith(PUSH):
            for ear in tuple(self.listeners):
                ear(frame)
            self.wake()

    def wake(self) -> None:
        for event in self.wakes:
            event.set()

    def _on_request(self, frame: Frame) -> None:
        """The only request of a node is another hello with the same identity."""
        task = asyncio.ensure_future(self._greeted_again(frame))
        self._again.add(task)
        task.add_done_callback(self._again.discard)

    async def _greeted_again(self, frame: Frame) -> None:
        asked, failed = check_greeting(frame)
        if failed is None and asked.get("node_id") != self.node:
            failed = FsError(errno.EACCES, "node_id mismatch for active tunnel")
        elif failed is None and not same(asked.get("node_secret"), self.secret):
            failed = FsError(errno.EACCES, "NodeAuthFailed")
        try:
            if failed is None:
                return await _answer(self.wire, frame.tag, {"protocol": PROTOCOL, "proto": PROTO, "node_id": self.node})
            await _refuse(self.wire, frame.tag, failed)
            await self.close(failed.message)
        except ConnectionClosed:
            pass

    async def close(self, reason: str) -> None:
        self.rpc.fail()
        await self.wire.close(1000, reason)


def check_greeting(frame: Frame) -> tuple[Json, FsError | None]:
    """The node and secret of a hello, or the error."""
    if frame.channel != ACHERON or frame.type != ASK + "hello":
        return {}, invalid("acheron.t_fs_hello must be negotiated first")
    try:
        asked = frame.body()
    except BadFrame as error:
        return {}, invalid(str(error))
    return asked, check_hello(asked)


def same(given: object, expected: str) -> bool:
    return check_token(given, expected) is None


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
            await _refuse(wire, error.tag, invalid(str(error)))
            return None
        asked, failed = check_greeting(frame)
        node, secret = asked.get("node_id"), asked.get("node_secret")
        if failed is None and not self.secret_valid(node, secret):
            failed = FsError(errno.EACCES, "NodeAuthFailed")
        if failed is not None:
            await _refuse(wire, frame.tag, failed)
            return None
        assert isinstance(node, str) and isinstance(secret, str)
        payload = {"protocol": PROTOCOL, "proto": PROTO, "node_id": node}
        await _answer(wire, frame.tag, payload)
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
        client = _Client(self, wire, node)
        try:
            await client.run()
        except ConnectionClosed:
            pass
        finally:
            await client.end()


class _Client:
    """One connection of a client: its handles are its own, and are closed with it."""

    def __init__(self, hub: TunnelHub, wire: WebSocketConnection, node: str) -> None:
        self._hub, self._wire, self._node = hub, wire, node
        self._handles: dict[int, Tunnel] = {}
        self._slots, self._locks = asyncio.Semaphore(IN_FLIGHT_MAX), asyncio.Semaphore(LOCKING)
        self._tasks: set[asyncio.Task[None]] = set()
        self._greeted = self._subscribed = False
        self._listened_tunnel: Tunnel | None = None
        self._secret = ""

    async def run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(None if self._greeted else GREETING):
                    frame = read(await self._wire.recv())
            except TimeoutError:
                return await self._wire.close(1008, "no hello")
            except BadFrame as error:
                await _refuse(self._wire, error.tag, invalid(str(error)))
                if self._greeted:
                    continue
                return await self._wire.close()
            if frame.type == ASK + "hello" or not self._greeted:
                failed = self._hello(frame)
                if failed is not None:
                    await _refuse(self._wire, frame.tag, failed)
                    return await self._wire.close()
                await _answer(self._wire, frame.tag, self._hub.require_tunnel(self._node).greeting)
            elif frame.tag is None or not frame.type.startswith(ASK):
                word = "missing request tag" if frame.tag is None else "unsupported operation"
                await _refuse(self._wire, frame.tag, invalid(word))
            else:
                slots = self._locks if frame.type == ASK + "lock" else self._slots
                await slots.acquire()
                task = asyncio.create_task(self._forward(frame))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                task.add_done_callback(_releasing(slots))

    def _hello(self, frame: Frame) -> FsError | None:
        asked, failed = check_greeting(frame)
        if failed is not None:
            return failed
        secret = asked.get("auth_token")
        if not self._hub.secret_valid(self._node, secret):
            return FsError(errno.EACCES, "NodeAuthFailed" if secret else "AuthMissing")
        try:
            self._hub.require_tunnel(self._node)
        except Unreachable as error:
            return error
        self._greeted, self._subscribed = True, asked.get("subscribe_invalidations") is True
        self._secret = str(secret)
        self._current_tunnel()
        return None

    def _current_tunnel(self) -> Tunnel:
        """The node's current tunnel, with a listener if this client subscribed to changes."""
        if not self._hub.secret_valid(self._node, self._secret):
            raise FsError(errno.EACCES, "NodeAuthFailed")
        tunnel = self._hub.require_tunnel(self._node)
        if self._listened_tunnel is not tunnel:
            if self._listened_tunnel is not None:
                self._listened_tunnel.listeners.discard(self._push)
            self._listened_tunnel = tunnel
        (tunnel.listeners.add if self._subscribed else tunnel.listeners.discard)(self._push)
        return tunnel

    def _push(self, frame: Frame) -> None:
        if len(self._tasks) < 4 * IN_FLIGHT_MAX:  # a client that does not read gets no more pushes
            task = asyncio.create_task(self._send(frame))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _forward(self, frame: Frame) -> None:
        tag, op = frame.tag, frame.type.removeprefix(ASK)
        try:
            try:
                tunnel = self._current_tunnel()
                if frame.h is not None and self._handles.get(frame.h) is not tunnel:
                    raise FsError(errno.EBADF, "unknown handle")
                if op in ("open", "create") and len(self._handles) >= HANDLES:
                    raise FsError(errno.EMFILE, "too many open handles")
                opened = asyncio.ensure_future(tunnel.rpc.ask(frame, self._hub.limit))
                try:
                    reply = await asyncio.shield(opened)
                except asyncio.CancelledError:
                    opened.add_done_callback(lambda done: _release_opened(tunnel, done))
                    raise
            except FsError as error:
                return await _refuse(self._wire, tag, error)
            if reply.type in (ANSWER + "open", ANSWER + "create"):
                h = reply_parsing.opened_handle(reply)
                if h is not None:
                    self._handles[h] = tunnel
            elif reply.type == ANSWER + "close" and frame.h is not None:
                self._handles.pop(frame.h, None)
            await self._send(reply)
        except ConnectionClosed:
            pass

    async def _send(self, frame: Frame) -> None:
        with suppress(ConnectionClosed):
            await self._wire.send(write(frame), text=True)

    async def end(self) -> None:
        if self._listened_tunnel is not None:
            self._listened_tunnel.listeners.discard(self._push)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for h, tunnel in self._handles.items():
            tunnel.rpc.release_handle(h)


def _releasing(slots: asyncio.Semaphore) -> Callable[[asyncio.Task[None]], None]:
    return lambda _: slots.release()


def _release_opened(tunnel: Tunnel, done: asyncio.Future[Frame]) -> None:
    """The reply came after its client had gone: close the handle that it opened."""
    if not done.cancelled() and done.exception() is None:
        tunnel.rpc.release(done.result())


async def _answer(wire: WebSocketConnection, tag: int | None, payload: Json) -> None:
    value: Json = {"channel": ACHERON, "type": ANSWER + "hello"}
    if tag is not None:
        value["tag"] = tag
    await wire.send(write({**value, "ok": True, "payload": payload}), text=True)


async def _refuse(wire: WebSocketConnection, tag: int | None, error: FsError) -> None:
    await wire.send(write(refusal(tag, error)), text=True)
