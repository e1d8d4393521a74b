"""Robots stopped by their `stop` files, for an interface that has a tree: each is told, then asked what is known."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from worldfs.base.errors import WorldError
from worldfs.base.messages.message_rendering import error_message

from .grace import CONFIRM_S, LOOK_S
from .stop_report import RobotStop, read_stop_file


async def stop_by_files(
    nodes: Iterable[str],
    write: Callable[[str, bytes], Awaitable[object]],
    read: Callable[[str], Awaitable[bytes]],
) -> list[RobotStop]:
    """All at once: a robot that cannot be told keeps no other from being stopped. In the order of `nodes`."""
    loop = asyncio.get_running_loop()

    async def stop(node: str) -> RobotStop:
        end, told = loop.time() + CONFIRM_S, False
        try:
            await write(f"/nodes/{node}/stop", b"stop\n")
            told = True
            while True:
                found = read_stop_file(node, await read(f"/nodes/{node}/stop"))
                if found.confirmed or loop.time() >= end:
                    return found
                await asyncio.sleep(LOOK_S)
        except WorldError as error:
            return RobotStop(node, False, error_message(error), told, told)

    return await asyncio.gather(*map(stop, nodes))
