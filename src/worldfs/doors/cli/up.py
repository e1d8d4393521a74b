"""`paos up`: the kernel and the bodies, and a line for each event."""

from __future__ import annotations

import signal
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

from .call import Call
from .signals import stop_on
from .watch import Reporter

if TYPE_CHECKING:
    from worldfs.world.world import World


def run(call: Call) -> int:
    """Exit 0 when asked to stop, or idle with --until-idle. Raises `Busy` when another kernel holds the workspace."""
    stop = threading.Event()
    with ExitStack() as stack:
        world = stack.enter_context(call.open(serve=True))

        def ask() -> None:
            stop.set()
            world.wake()

        stack.enter_context(stop_on(ask, signal.SIGINT, signal.SIGTERM))
        _greet(call, world)
        # The reporter sees what any other process would see, through a world of its own: it can tell nothing else.
        stack.enter_context(Reporter(call))
        world.run(until_idle=call["until_idle"], stop=stop)
    call.voice.say("kernel stopped", {"event": "kernel", "state": "stopped"})
    return 0


def _greet(call: Call, world: World) -> None:
    status = world.status()
    nodes = ", ".join(f"{node.get('id')} ({node.get('driver')})" for node in status.get("nodes", ())) or "no robots"
    call.voice.say(
        f"kernel running on {status.get('workspace')}: {nodes}" + ("" if call["until_idle"] else "; Ctrl-C stops it"),
        {"event": "kernel", "state": "started", "workspace": status.get("workspace"), "nodes": status.get("nodes", [])},
    )
