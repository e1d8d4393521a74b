"""A client of a node, whose requests go through the node's tunnel (acheron §7, "Tunnel")."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from websockets.exceptions import ConnectionClosed

from worldfs.formats.wire.frames import BadFrame, Frame, read, write

from . import reply_parsing
from .fs_errors import FsError, Unreachable, invalid
from .fs_server import ANSWER, ASK, WebSocketConnection
from .node_tunnel import GREETING, Tunnel, answer_hello, check_greeting, refuse

if TYPE_CHECKING:
    from .tunnel_hub import TunnelHub

IN_FLIGHT_MAX: Final = 32  # requests of one client at once
LOCKING: Final = 64  # and its waiting locks
HANDLES: Final = 256  # of one client


class TunnelClient:
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
                await refuse(self._wire, error.tag, invalid(str(error)))
                if self._greeted:
                    continue
                return await self._wire.close()
            if frame.type == ASK + "hello" or not self._greeted:
                failed = self._hello(frame)
                if failed is not None:
                    await refuse(self._wire, frame.tag, failed)
                    return await self._wire.close()
                await answer_hello(self._wire, frame.tag, self._hub.require_tunnel(self._node).greeting)
            elif frame.tag is None or not frame.type.startswith(ASK):
                word = "missing request tag" if frame.tag is None else "unsupported operation"
                await refuse(self._wire, frame.tag, invalid(word))
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
                return await refuse(self._wire, tag, error)
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
