"""A bare echo server on the half of the WebSocket library that we serve with: its protocol, without tasks and queues.

A message comes, one of a given size goes back. The path says the size: ws://HOST:PORT/180. Prints its port; ends with
its standard input.
"""

from __future__ import annotations

import asyncio
import sys
from typing import cast

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol


class Echo(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self._protocol = ServerProtocol()
        self._text = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        protocol = self._protocol
        protocol.receive_data(data)
        for event in protocol.events_received():
            if isinstance(event, Request):
                protocol.send_response(protocol.accept(event))
                self._text = b"x" * int(event.path.strip("/"))
            elif isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                protocol.send_text(self._text)
        for piece in protocol.data_to_send():
            if piece:
                self._transport.write(piece)
            else:
                self._transport.close()


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
