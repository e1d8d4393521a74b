"""One node's tunnel to this server."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from typing import Final

from websockets.exceptions import ConnectionClosed

from worldfs.formats.wire.frames import ACHERON, BadFrame, Frame, Json, write

from .fs_client import FsCalls
from .fs_errors import FsError, invalid
from .fs_rpc_client import FsRpcClient
from .fs_server import ANSWER, ASK, PROTO, PROTOCOL, WebSocketConnection, check_hello, check_token, refusal

PUSH: Final = "acheron.e_fs_"
GREETING: Final = 10.0  # s for a node's greeting, and for any client's authentication


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
                return await answer_hello(
                    self.wire, frame.tag, {"protocol": PROTOCOL, "proto": PROTO, "node_id": self.node}
                )
            await refuse(self.wire, frame.tag, failed)
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


async def answer_hello(wire: WebSocketConnection, tag: int | None, payload: Json) -> None:
    value: Json = {"channel": ACHERON, "type": ANSWER + "hello"}
    if tag is not None:
        value["tag"] = tag
    await wire.send(write({**value, "ok": True, "payload": payload}), text=True)


async def refuse(wire: WebSocketConnection, tag: int | None, error: FsError) -> None:
    await wire.send(write(refusal(tag, error)), text=True)
