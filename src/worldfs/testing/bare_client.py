"""Bare clients of a served tree, for tests of the server: frames in, frames out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from websockets.asyncio.client import ClientConnection, connect

from worldfs.access.binding import ADMIN

from .served_tree import ServedRealm
from .waiting import PATIENCE_S

Reply = dict[str, object]


class BareClient:
    """One connection. `ask` sends a frame and returns the next one; replies of deferred requests are found with
    `reply_to`."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._tag = 0
        self._id = 0
        self._held: list[Reply] = []

    async def send(self, **frame: object) -> None:
        await self.socket.send(json.dumps(frame))

    async def receive(self, seconds: float = PATIENCE_S) -> Reply:
        async with asyncio.timeout(seconds):
            reply: Reply = json.loads(await self.socket.recv())
        return reply

    async def reply_to(self, tag: int, seconds: float = PATIENCE_S) -> Reply:
        """The reply to a tag; frames before it are kept."""
        while True:
            for reply in self._held:
                if reply.get("tag") == tag:
                    self._held.remove(reply)
                    return reply
            self._held.append(await self.receive(seconds))

    async def post(self, op: str, **fields: object) -> int:
        """Send `acheron.t_<op>`; returns its tag."""
        self._tag += 1
        await self.send(channel="acheron", type=f"acheron.t_{op}", tag=self._tag, **fields)
        return self._tag

    async def ask(self, op: str, **fields: object) -> Reply:
        return await self.reply_to(await self.post(op, **fields))

    async def control(self, op: str, payload: object = None, **fields: object) -> Reply:
        self._id += 1
        id = f"c{self._id}"
        payload = {} if payload is None else payload
        await self.send(**{"channel": "control", "type": f"control.{op}", "id": id, "payload": payload, **fields})
        return await self.receive()

    async def greet(self) -> None:
        """version, connect, t_version, t_attach as fid 1."""
        await self.control("version", {"protocol": "unified-v2"})
        await self.control("connect")
        await self.ask("version", msize=1_048_576, version="acheron-1")
        await self.ask("attach", fid=1)

    async def walk(self, path: str, fid: int) -> Reply:
        return await self.ask("walk", fid=1, newfid=fid, path=[part for part in path.split("/") if part])

    async def closed(self, seconds: float = PATIENCE_S) -> int:
        """The code with which the server closed the connection; frames before it are dropped."""
        async with asyncio.timeout(seconds):
            await self.socket.wait_closed()
        return self.socket.close_code or 0


class _Listening(Protocol):
    port: int


class LocalServer:
    """A server on a port of this machine, and its realm."""

    def __init__(self, realm: ServedRealm, server: _Listening) -> None:
        self.realm, self.server = realm, server  # the server is above this module in the layers, so it is imported here

    @property
    def tree(self) -> object:
        return self.realm.tree

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.server.port}"

    def token(self, role: str = ADMIN) -> str:
        kept = json.loads((self.realm.home / "auth_tokens.json").read_text())
        return str(kept[f"{role}_token"])

    @asynccontextmanager
    async def connect(
        self, token: str | None = None, *, path: str = "/", greet: bool = True
    ) -> AsyncIterator[BareClient]:
        """A connection; by default an admin's, with the handshake done."""
        headers = {"Authorization": f"Bearer {self.token() if token is None else token}"}
        async with connect(
            self.url + path, additional_headers=headers, compression=None, max_size=8 << 20, ping_interval=None
        ) as socket:
            client = BareClient(socket)
            if greet:
                await client.greet()
            yield client
