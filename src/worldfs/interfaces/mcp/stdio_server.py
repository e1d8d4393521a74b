"""`paos mcp`: the server over stdio, from the first byte to the end of stdin."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING

import worldfs
from worldfs.base.clock import Clock
from worldfs.base.ending_signals import hear_ending_signals

from .server_identity import INSTRUCTIONS, NAME, TITLE
from .thin_start import LineReader, initialize_answer

if TYPE_CHECKING:
    from .actor_tree import ActorTree
    from .stdio_transport import Wire

Actor = Callable[[], AbstractAsyncContextManager["ActorTree"]]


def serve_stdio(actor: Actor, clock: Clock) -> None:
    """Until stdin ends, or SIGTERM. What writes to stdout meanwhile goes to stderr."""
    incoming, outgoing = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    reader = LineReader(incoming)
    try:
        first = reader.line()
    except (EOFError, OSError):
        return
    answer = initialize_answer(first, NAME, TITLE, worldfs.__version__, INSTRUCTIONS) if first else None
    if answer is not None:
        os.write(outgoing, answer[1])

    from .stdio_transport import LineWriter, Wire  # only now: this loads the SDK, and takes a second or two

    wire = Wire(reader, LineWriter(outgoing), first, None if answer is None else answer[0])
    with suppress(asyncio.CancelledError):
        asyncio.run(_serve(actor, clock, wire))


async def _serve(actor: Actor, clock: Clock, wire: Wire) -> None:
    from .protocol_server import protocol_server
    from .stdio_transport import stdio_streams
    from .tool_service import ToolService

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    hear_ending_signals(loop, task.cancel)
    async with actor() as tree:
        service = ToolService(tree, clock)
        server = protocol_server(lambda ctx: service)
        async with stdio_streams(wire) as (read, write):
            await server.run(read, write, server.create_initialization_options())
