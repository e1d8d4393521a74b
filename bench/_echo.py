"""A bare echo server on the WebSocket library that we serve with: a message comes, one of a given size goes back.

The path says the size of the answer: ws://HOST:PORT/180. Prints its port; ends with its standard input.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress


async def main() -> None:
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.exceptions import ConnectionClosed

    async def answer(socket: ServerConnection) -> None:
        assert socket.request is not None
        text = "x" * int(socket.request.path.strip("/"))
        with suppress(ConnectionClosed):  # who measures hangs up without a goodbye
            async for _ in socket:
                await socket.send(text)

    async with serve(answer, "127.0.0.1", 0, compression=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
