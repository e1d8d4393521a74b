"""`paos serve`: the home's tree over a WebSocket, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .call import Call

if TYPE_CHECKING:
    from worldfs.doors.acheron.serving import Started, Where
    from worldfs.world.world import World


def run(call: Call) -> int:
    """Exit 0 when asked to stop. Raises `Busy` when somebody serves this home, or listens on this port."""
    import asyncio
    from pathlib import Path

    _needed()
    from worldfs.doors.acheron.serving import alone, serve
    from worldfs.ground.clock import SystemClock
    from worldfs.ground.errors import NotFound
    from worldfs.world.realm import Realm

    where, clock = where_of(call), SystemClock()
    where.context()  # a wrong certificate is told before anything is made
    home = call.home.path
    if not home.is_dir():
        raise NotFound("no home here", path=str(home), op="serve", fix=f"make one with: {call.name} onboard")
    with alone(home, clock), Realm.open(home, clock=clock, agents=Path(call.agents)) as realm:

        async def life() -> None:
            stop, loop = asyncio.Event(), asyncio.get_running_loop()

            def ask(number: signal.Signals) -> None:
                stop.set()
                loop.remove_signal_handler(number)  # whoever asks again insists

            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, ask, number)
            await serve(realm, where, stop, lambda started: greet(call, started))

        asyncio.run(life())
    call.voice.say("stopped serving", {"event": "serve", "state": "stopped"})
    return 0


@contextmanager
def beside(call: Call, world: World) -> Iterator[None]:
    """Serve a world that this process runs, for as long as the block lasts."""
    from pathlib import Path

    _needed()
    from worldfs.doors.acheron.serving import Beside, alone
    from worldfs.ground.clock import SystemClock
    from worldfs.world.realm import Realm

    where, clock, home = where_of(call), SystemClock(), call.home.path
    with (
        alone(home, clock),
        Realm.open(home, world=world, clock=clock, agents=Path(call.agents)) as realm,
        Beside(realm, where) as server,
    ):
        greet(call, server.started)
        yield


def where_of(call: Call) -> Where:
    """What the options say about where to listen; a warning where tokens would cross a network in clear."""
    from worldfs.doors.acheron.serving import Where
    from worldfs.ground.errors import BadInput

    for name in ("port", "metrics_port"):
        if call[name] is not None and call[name] > 65_535:
            raise BadInput(f"no port: {call[name]}", op="serve", expected="0 to 65535", code="USAGE")
    where = Where(
        host=call["host"],
        port=call["port"],
        metrics_port=call["metrics_port"],
        certificate=call["tls_cert"] or "",
        key=call["tls_key"] or "",
    )
    if where.bare:
        call.voice.aside(
            f"paos: warning: {where.host} is not this machine alone, and without --tls-cert tokens cross the network "
            "in clear"
        )
    return where


def greet(call: Call, started: Started) -> None:
    health = "" if started.metrics_port is None else f"; health on port {started.metrics_port}"
    call.voice.say(
        f"serving {call.home.path} at {started.url}{health}; tokens in {started.tokens}; Ctrl-C stops it",
        {
            "event": "serve",
            "state": "started",
            "url": started.url,
            "host": started.host,
            "port": started.port,
            "metrics_port": started.metrics_port,
            "tokens": started.tokens,
        },
    )


def _needed() -> None:
    """Raises `Missing`: the extra that brings the socket."""
    from importlib.util import find_spec

    from worldfs.ground.errors import Missing

    for module in ("websockets", "msgspec", "prometheus_client"):
        if find_spec(module) is None:
            raise Missing(f"{module} is not installed", op="serve", fix="pip install 'worldfs[serve]'")
