"""Viewers of the scene as a page asks for it, without a browser: python -m … '{"port", "token", "viewers"}'

Says "ready" when each has its first frame; then, for each line until its input ends, how many frames they have had.
"""

from __future__ import annotations

import asyncio
import json
import sys

from ._wsload import Client

POSES = "/projects/main/scene/poses"
REPEAT = 30  # replies to one read, as in the page
ASK = json.dumps({"channel": "acheron", "type": "acheron.t_read", "tag": 2, "fid": 2, "offset": 0,
                  "count": 524288, "wait_ms": 30000, "repeat": REPEAT})  # fmt: skip


class Viewer(Client):
    """Asks again after the last answer of a request."""

    frames = -1  # none: it does not watch yet

    async def watch(self) -> None:
        await self.greet(("repeat",))
        await self.walk(2, POSES)
        await self.ask({"channel": "acheron", "type": "acheron.t_open", "tag": 2, "fid": 2, "mode": "r"})
        self.frames = 0
        self.send(ASK)

    def _tell(self, message: bytes) -> None:
        if self.frames < 0:
            super()._tell(message)
            return
        if b'"ok":true' not in message:
            raise RuntimeError(message[:500])
        self.frames += 1
        if b'"more":true' not in message:
            self.send(ASK)


async def main(port: int, token: str, viewers: int) -> None:
    all_of_them = [await Viewer.open(port, token) for _ in range(viewers)]
    for one in all_of_them:
        await one.watch()
    while not all(one.frames > 0 for one in all_of_them):
        await asyncio.sleep(0.02)
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(sum(one.frames for one in all_of_them), flush=True)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    asyncio.run(main(given["port"], given["token"], given["viewers"]))
