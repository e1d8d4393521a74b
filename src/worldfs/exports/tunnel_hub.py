"""The nodes that hold a tunnel to this server, and what is asked of them: by clients of theirs and by our own tree.

A node opens its tunnel at /v2/node and serves its exports over it; a client at /v2/fs/node/<id> speaks with it as if
directly. Source: acheron §7 ("Tunnel"), acheron D24, D25, D44.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from websockets.exceptions import ConnectionClosed

from worldfs.wire.frames import ACHERON, BadFrame, Frame, Json, read, write

from . import reply_parsing
from .fs_client import FsCalls
from .fs_errors import FsError, Unreachable, invalid
from .fs_rpc_client import LIMIT, FsRpcClient
from .fs_server import ANSWER, ASK, PROTO, PROTOCOL, WebSocketConnection, check_hello, check_token, refusal

if TYPE_CHECKING:
    from .remote_fs import RemoteFs

PUSH: Final = "acheron.e_fs_"
IN_FLIGHT_MAX: Final = 32  # requests of one client at once
LOCKING: Final = 64  # and locks that it waits for
HANDLES: Final = 256  # of one client
GREETING: Final = 10.0  # s that a node may take to say what it can, and anybody to say who he is
PATIENCE: Final = 2.0
ALIVE: Final = 20.0  # s between two looks whether a silent node is still there, and for it to answer


_LOG: Final = logging.getLogger("worldfs.exports")


class NodeSecretPort(Protocol):
    """Who knows the nodes and their secrets (the control plane)."""

    def node_secret_valid(self, node_id: str, secret: str) -> bool: ...


class Tunnel:
    """One node's connection. `greeting`: what the node said of itself."""

    def __init__(self, node: str, secret: str, wire: WebSocketConnection, odd: Callable[[str, str], None]) -> None:
        self.node, self.secret, self.wire = node, secret, wire
        self.line = FsRpcClient(wire, self._pushed, self._asked)
        self.calls = FsCalls(self.line, lambda words: odd(node, words))
        self.greeting: Json = {}
        self.ready = asyncio.Event()
        self.ears: set[Callable[[Frame], None]] = set()  # of changes on the node
        self._again: set[asyncio.Task[None]] = set()

    def _pushed(self, frame: Frame) -> None:
        if frame.type.startswith(PUSH):
            for ear in tuple(self.ears):
                ear(frame)

    def _asked(self, frame: Frame) -> None:
        """A node asks nothing but to greet again, as itself."""
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
        self.line.fail()
        await self.wire.close(1000, reason)


def check_greeting(frame: Frame) -> tuple[Json, FsError | None]:
    """What a hello says, and why it is none."""
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

    `changed`: called in the loop with a node's id when its tunnel comes or goes, or something in its exports changes.
    """

    def __init__(
        self,
        keeper: NodeSecretPort,
        changed: Callable[[str], None] | None = None,
        *,
        limit: float = LIMIT,
        patience: float = PATIENCE,
    ) -> None:
        """`limit`: s for an answer; `patience`: s after which a question of the tree counts as left unanswered."""
        self._keeper, self._changed, self.limit, self.patience = keeper, changed, limit, patience
        self.loop = asyncio.get_running_loop()
        self._tunnels: dict[str, Tunnel] = {}
        self._remotes: dict[str, RemoteFs] = {}
        self.odd = 0  # answers of nodes that the protocol does not allow, and listings with names that were dropped
        self._odd_nodes: set[str] = set()

    # -- for the tree ----------------------------------------------------------------------------------------------

    def mounted(self, node: str) -> RemoteFs | None:
        """The node's exports, while its tunnel is there."""
        tunnel = self.tunnel(node)
        if tunnel is None or not self._keeper.node_secret_valid(node, tunnel.secret):
            return None
        found = self._remotes.get(node)
        if found is None:
            from .remote_fs import RemoteFs

            found = self._remotes.setdefault(node, RemoteFs(self, node))
        return found

    def nodes(self) -> list[str]:
        """Nodes whose tunnels are open."""
        return sorted(node for node, tunnel in list(self._tunnels.items()) if tunnel.ready.is_set())

    def tunnel(self, node: str) -> Tunnel | None:
        found = self._tunnels.get(node)
        return found if found is not None and found.ready.is_set() and not found.line.closed else None

    def reach(self, node: str) -> Tunnel:
        """The tunnel, its secret still good, or `Unreachable`."""
        found = self.tunnel(node)
        if found is None or not self._keeper.node_secret_valid(node, found.secret):
            raise Unreachable
        return found

    async def drop(self, node: str, reason: str = "the node was deleted") -> None:
        """Close a node's tunnel: it was deleted, or its secret is no longer good."""
        found = self._tunnels.pop(node, None)
        self._remotes.pop(node, None)
        if found is not None:
            await found.close(reason)

    def sweep(self) -> None:
        """Close the tunnels whose secret is no longer good. From any thread; cheap enough for every change of nodes."""
        for node, tunnel in list(self._tunnels.items()):
            if not self._keeper.node_secret_valid(node, tunnel.secret):
                with suppress(RuntimeError):  # the loop has ended
                    asyncio.run_coroutine_threadsafe(self.drop(node), self.loop)

    async def close(self) -> None:
        for node in list(self._tunnels):
            await self.drop(node, "the server stops")

    # -- /v2/node --------------------------------------------------------------------------------------------------

    async def serve_tunnel(self, wire: WebSocketConnection) -> None:
        """A node's connection, until it ends. A newer one of the same node takes its place."""
        try:
            tunnel = await self._admit(wire)
            if tunnel is None:
                return await wire.close()
            tunnel.ears.add(lambda frame: self._tell(tunnel.node))
            older = self._tunnels.get(tunnel.node)
            self._tunnels[tunnel.node] = tunnel
            if older is not None:
                await older.close("a newer tunnel has taken its place")
            greeting = asyncio.create_task(self._greet(tunnel))
            try:
                await tunnel.line.run()
            finally:
                greeting.cancel()
                if self._tunnels.get(tunnel.node) is tunnel:
                    del self._tunnels[tunnel.node]
                    self._tell(tunnel.node)
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
        if failed is None and not self.known(node, secret):
            failed = FsError(errno.EACCES, "NodeAuthFailed")
        if failed is not None:
            await _refuse(wire, frame.tag, failed)
            return None
        assert isinstance(node, str) and isinstance(secret, str)
        payload = {"protocol": PROTOCOL, "proto": PROTO, "node_id": node}
        await _answer(wire, frame.tag, payload)
        return Tunnel(node, secret, wire, self._note)

    async def _greet(self, tunnel: Tunnel) -> None:
        """Ask what the node can, and to be told of changes; only then is it there. Then see that it stays."""
        try:
            tunnel.greeting = await tunnel.calls.hello(tunnel.secret, subscribe=True, limit=GREETING)
        except FsError as error:
            return await tunnel.close(f"no greeting: {error.message}"[:100])
        tunnel.ready.set()
        self._tell(tunnel.node)
        while True:  # a machine that lost its power says no goodbye
            await asyncio.sleep(ALIVE)
            try:
                await tunnel.line.call("exports", limit=ALIVE)
            except FsError as error:
                return await tunnel.close(error.message[:100])

    def _tell(self, node: str) -> None:
        if self._changed is not None:
            self._changed(node)

    def _note(self, node: str, words: str) -> None:
        """Counted each time, logged once for each node: a log is not a node's to fill."""
        self.odd += 1
        if node not in self._odd_nodes:
            self._odd_nodes.add(node)
            _LOG.warning("node %s: %s (told once; counted in worldfs_node_odd_answers_total)", node, words)

    def known(self, node: object, secret: object) -> bool:
        return (
            isinstance(node, str)
            and isinstance(secret, str)
            and bool(secret)
            and self._keeper.node_secret_valid(node, secret)
        )

    # -- /v2/fs/node/<id> ------------------------------------------------------------------------------------------

    async def serve_client(self, wire: WebSocketConnection, node: str) -> None:
        """A client of a node, until it goes; it proves itself with the node's secret."""
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
        self._greeted = self._hears = False
        self._heard: Tunnel | None = None
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
                await _answer(self._wire, frame.tag, self._hub.reach(self._node).greeting)
            elif frame.tag is None or not frame.type.startswith(ASK):
                word = "missing request tag" if frame.tag is None else "unsupported operation"
                await _refuse(self._wire, frame.tag, invalid(word))
            else:
                slots = self._locks if frame.type == ASK + "lock" else self._slots
                await slots.acquire()
                task = asyncio.create_task(self._pass(frame))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                task.add_done_callback(_releasing(slots))

    def _hello(self, frame: Frame) -> FsError | None:
        asked, failed = check_greeting(frame)
        if failed is not None:
            return failed
        secret = asked.get("auth_token")
        if not self._hub.known(self._node, secret):
            return FsError(errno.EACCES, "NodeAuthFailed" if secret else "AuthMissing")
        try:
            self._hub.reach(self._node)
        except Unreachable as error:
            return error
        self._greeted, self._hears = True, asked.get("subscribe_invalidations") is True
        self._secret = str(secret)
        self._attend()
        return None

    def _attend(self) -> Tunnel:
        """The node's present tunnel, listened to if this client wants to hear of changes."""
        if not self._hub.known(self._node, self._secret):
            raise FsError(errno.EACCES, "NodeAuthFailed")
        tunnel = self._hub.reach(self._node)
        if self._heard is not tunnel:
            if self._heard is not None:
                self._heard.ears.discard(self._push)
            self._heard = tunnel
        (tunnel.ears.add if self._hears else tunnel.ears.discard)(self._push)
        return tunnel

    def _push(self, frame: Frame) -> None:
        if len(self._tasks) < 4 * IN_FLIGHT_MAX:  # who does not read what he asked for is told no more
            task = asyncio.create_task(self._send(frame))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass(self, frame: Frame) -> None:
        tag, op = frame.tag, frame.type.removeprefix(ASK)
        try:
            try:
                tunnel = self._attend()
                if frame.h is not None and self._handles.get(frame.h) is not tunnel:
                    raise FsError(errno.EBADF, "unknown handle")
                if op in ("open", "create") and len(self._handles) >= HANDLES:
                    raise FsError(errno.EMFILE, "too many open handles")
                opened = asyncio.ensure_future(tunnel.line.ask(frame, self._hub.limit))
                try:
                    reply = await asyncio.shield(opened)
                except asyncio.CancelledError:
                    opened.add_done_callback(lambda done: _let_go(tunnel, done))
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
        if self._heard is not None:
            self._heard.ears.discard(self._push)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for h, tunnel in self._handles.items():
            tunnel.line.forget_handle(h)


def _releasing(slots: asyncio.Semaphore) -> Callable[[asyncio.Task[None]], None]:
    return lambda _: slots.release()


def _let_go(tunnel: Tunnel, done: asyncio.Future[Frame]) -> None:
    """The reply came for a client that had gone: what it opened is closed."""
    if not done.cancelled() and done.exception() is None:
        tunnel.line.forget(done.result())


async def _answer(wire: WebSocketConnection, tag: int | None, payload: Json) -> None:
    value: Json = {"channel": ACHERON, "type": ANSWER + "hello"}
    if tag is not None:
        value["tag"] = tag
    await wire.send(write({**value, "ok": True, "payload": payload}), text=True)


async def _refuse(wire: WebSocketConnection, tag: int | None, error: FsError) -> None:
    await wire.send(write(refusal(tag, error)), text=True)
