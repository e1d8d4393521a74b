"""What the benches of the socket connect to, in a process of its own: `python -m bench._served HOME` or `… echo`.

A real realm over the real server. A line "begin" on standard input begins a job of agent alice in proj-1 and says its
id, "end" ends it: somebody may wait for that. `echo` is the bare library, saying what it heard.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from pathlib import Path
from typing import Any


async def serve(home: Path) -> None:
    from worldfs.doors.acheron.server import Server
    from worldfs.doors.acheron.tokens import Tokens
    from worldfs.ground.model import Outcome
    from worldfs.tree.binding import ADMIN, Binding
    from worldfs.world.realm import Realm

    realm, over = Realm.open(home), threading.Semaphore(0)

    def carry(run: Any) -> Outcome:
        over.acquire()
        return Outcome.success("done")

    realm.services.calls.carry("bench", carry)
    server = Server(realm, Tokens.open(home))
    say(await server.start(port=0))

    def told() -> None:
        for line in sys.stdin:
            if line.strip() == "begin":
                say(realm.services.calls.submit(Binding(ADMIN, "alice", "proj-1"), "bench", "wait", {}))
            else:
                over.release()

    threading.Thread(target=told, daemon=True).start()
    await asyncio.Future()


async def echo() -> None:
    from websockets.asyncio.server import ServerConnection
    from websockets.asyncio.server import serve as listen

    logging.disable(logging.CRITICAL)  # a client that just goes is no news here

    async def answer(socket: ServerConnection) -> None:
        async for message in socket:
            await socket.send(message)

    async with listen(answer, "127.0.0.1", 0, compression=None) as server:
        say(server.sockets[0].getsockname()[1])
        await asyncio.Future()


def say(word: object) -> None:
    print(word, flush=True)


if __name__ == "__main__":
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8_192, hard), hard))
    asyncio.run(echo() if sys.argv[1] == "echo" else serve(Path(sys.argv[1])))
