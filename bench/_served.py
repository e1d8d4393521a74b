"""What the benches of the socket connect to, in a process of its own: `python -m bench._served HOME` or `… echo`.

A real realm over the real server; only its jobs are ours, so that one can be open until it is told to end: a line
"end" on standard input ends it, "begin" opens it again. `echo` is the bare library, saying what it heard.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
from pathlib import Path
from typing import Any

JOB = "job-1"


class Jobs:
    """One job, open or ended."""

    def __init__(self) -> None:
        self.open = True

    def ids(self) -> list[str]:
        return [JOB]

    def has(self, job: str) -> bool:
        return job == JOB

    def file(self, job: str, name: str) -> bytes:
        return json.dumps({"state": "running" if self.open else "done"}).encode() if name == "status" else b"text"

    def wait(self, job: str) -> Any:
        from worldfs.tree.leaf import Wait

        return Wait((f"/agents/alice/jobs/{JOB}",), lambda: not self.open, 600.0) if self.open else None


async def serve(home: Path) -> None:
    from worldfs.doors.acheron.server import Server
    from worldfs.doors.acheron.tokens import Tokens
    from worldfs.world.quiet import Quiet
    from worldfs.world.realm import Realm

    realm, jobs = Realm.open(home), Jobs()

    class Acts(Quiet):
        def __init__(self, sight: Any) -> None:
            super().__init__(sight)
            self.jobs = jobs  # type: ignore[assignment]  # the same methods, one job

    realm.acts = Acts
    server = Server(realm, Tokens.open(home))
    say(await server.start(port=0))

    def told() -> None:
        for line in sys.stdin:
            jobs.open = line.strip() == "begin"
            realm.feed.publish(f"/agents/alice/jobs/{JOB}")

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


def say(port: int) -> None:
    print(port, flush=True)


if __name__ == "__main__":
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8_192, hard), hard))
    asyncio.run(echo() if sys.argv[1] == "echo" else serve(Path(sys.argv[1])))
