"""The node's client of the control channel: one handshake, then one operation after the other.

Source: acheron §1.3, 1.4 and 3; acheron D6 (an invite or a node's secret as Bearer).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from websockets.exceptions import ConnectionClosed, InvalidHandshake

from worldfs.base.json_text import parse_json
from worldfs.formats.wire.frames import CONTROL, BadFrame, Json, read, write

from .fs_server import FRAME_MAX

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

LIMIT: Final = 30.0  # s for a reply
PROTOCOL: Final = "unified-v2"


class ControlError(Exception):
    """The server refused: `code` as in acheron §3.1."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}" if message and message != code else code)
        self.code, self.message = code, message


class ControlConnectionLost(Exception):
    """The connection ended, or no reply came."""


class ControlClient:
    """A connection after its handshake. One request at a time; pushes are ignored."""

    def __init__(self, wire: ClientConnection) -> None:
        self._wire = wire
        self._count = 0
        self._turn = asyncio.Lock()

    @classmethod
    async def connect(cls, url: str, bearer: str) -> ControlClient:
        """`url`: ws://host:port. `OSError` when no server listens there."""
        from websockets.asyncio.client import connect

        try:
            wire = await connect(
                f"{url}/",
                additional_headers={"Authorization": f"Bearer {bearer}"},
                compression=None,
                max_size=FRAME_MAX,
                proxy=None,
            )
        except (InvalidHandshake, TimeoutError, ConnectionClosed) as error:
            raise ControlConnectionLost(str(error)) from None
        control = cls(wire)
        try:
            await control.call("version", {"protocol": PROTOCOL})
        except BaseException:
            await control.close()
            raise
        return control

    async def call(self, op: str, payload: Json) -> Json:
        """The payload of the reply. Raises `ControlError`, `ControlConnectionLost`."""
        async with self._turn:
            self._count += 1
            id = f"n{self._count}"
            frame = {"channel": CONTROL, "type": f"control.{op}", "id": id, "payload": payload}
            try:
                async with asyncio.timeout(LIMIT):
                    with suppress(ConnectionClosed):  # the server's last frame may still be unread
                        await self._wire.send(write(frame), text=True)
                    return await self._reply(id)
            except ConnectionClosed as error:
                raise ControlConnectionLost(str(error)) from None
            except TimeoutError:
                raise ControlConnectionLost(f"no reply to {op} in {LIMIT:g} s") from None

    async def _reply(self, id: str) -> Json:
        while True:
            raw = await self._wire.recv()
            try:
                frame = read(raw)
            except BadFrame:
                _turned_away(raw)
                continue
            if frame.error is not None and frame.id in (id, None):
                raise ControlError(str(frame.error.get("code", "")), str(frame.error.get("message", "")))
            if frame.id == id:
                try:
                    return frame.body()
                except BadFrame as bad:
                    raise ControlConnectionLost(f"the reply's payload is no object ({bad})") from None

    async def ended(self) -> None:
        """Wait until the connection ends."""
        await self._wire.wait_closed()

    async def close(self) -> None:
        await self._wire.close()


def _turned_away(raw: str | bytes) -> None:
    """The rejection frame of an unknown Bearer has the older shape."""
    try:
        value: object = parse_json(raw)
    except ValueError:
        return
    if isinstance(value, dict) and value.get("type") == "error":
        raise ControlError(str(value.get("code", "")), str(value.get("message", "")))
