"""Viewers of the scene as a page asks for it, without a browser: python -m … '{"port", "token", "viewers"}'

Says "ready" when each has its first frame; then, for each line until its input ends, how many frames they have had.
"""

from __future__ import annotations

import asyncio
import json
import sys

from ._wsload import Client

POSES = "/projects/main/scene/poses"
ASK = json.dumps({"channel": "acheron", "type": "acheron.t_read", "tag": 2, "fid": 2, "offset": 0,
                  "count": 524288, "wait_ms": 30000})  # fmt: skip


class Viewer:
    frames = 0

    async def watch(self, port: int, token: str) -> None:
        client = await (await Client.open(port, token)).greet()
        await client.walk(2, POSES)
        await client.ask({"channel": "acheron", "type": "acheron.t_open", "tag": 2, "fid": 2, "mode": "r"})
        while True:
            await client.say(ASK)
            self.frames += 1


async def main(port: int, token: str, viewers: int) -> None:
    all_of_them = [Viewer() for _ in range(viewers)]
    tasks = [asyncio.create_task(one.watch(port, token)) for one in all_of_them]
    while not all(one.frames for one in all_of_them):
        await asyncio.sleep(0.02)
        for task in tasks:
            if task.done():
                task.result()
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(sum(one.frames for one in all_of_them), flush=True)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    asyncio.run(main(given["port"], given["token"], given["viewers"]))
