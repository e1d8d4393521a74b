"""`paos serve`: the home's tree over a WebSocket, until Ctrl-C or SIGTERM."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.clock import SystemClock
from worldfs.base.ending_signals import hear_ending_signals
from worldfs.base.errors import BadInput, NotFound
from worldfs.base.extras import require
from worldfs.base.messages import coded

from .command_context import CommandContext
from .page_address import note_address, page_address

if TYPE_CHECKING:
    from worldfs.interfaces.acheron.http_mounts import MountedApplication, Opener
    from worldfs.interfaces.acheron.serve_realm import Beside, ListenOptions, ServerStarted
    from worldfs.interfaces.acheron.server import Server
    from worldfs.interfaces.acheron.websocket_transport import Pages
    from worldfs.world.world import World


def run(context: CommandContext) -> int:
    """Exit 0 when asked to stop. Raises `Busy` when another process serves this home, or listens on this port."""
    import asyncio

    from worldfs.interfaces.acheron.serve_realm import serve, serve_lease
    from worldfs.world.served_world import ServedWorld

    where, beside, clock = listen_options(context), listeners_beside(context), SystemClock()
    where.context()  # a wrong certificate is reported before anything is made
    home = context.home.path
    if not home.is_dir():
        fix = coded("command.make_it", name=context.name)
        raise NotFound(coded("command.no_home"), path=str(home), op="serve", fix=fix)
    with serve_lease(home, clock), ServedWorld.open(home, clock=clock, agents=Path(context.agents)) as realm:

        async def life() -> None:
            stop, loop = asyncio.Event(), asyncio.get_running_loop()

            hear_ending_signals(loop, stop.set)
            await serve(
                realm,
                where,
                stop,
                lambda started: announce(context, started),
                applications(),
                beside=beside,
                site=site(),
            )

        asyncio.run(life())
    context.output.report(coded("command.stopped_serving"), {"event": "serve", "state": "stopped"})
    return 0


@contextmanager
def serve_beside(context: CommandContext, world: World) -> Iterator[None]:
    """Serve a world that this process runs, for as long as the block lasts."""

    from worldfs.interfaces.acheron.serve_realm import BackgroundServer, serve_lease
    from worldfs.world.served_world import ServedWorld

    where, beside, clock, home = listen_options(context), listeners_beside(context), SystemClock(), context.home.path
    with (
        serve_lease(home, clock),
        ServedWorld.open(home, world=world, clock=clock, agents=Path(context.agents)) as realm,
        BackgroundServer(realm, where, applications(), beside, site()) as server,
    ):
        announce(context, server.started)
        yield


def listen_options(context: CommandContext) -> ListenOptions:
    """The listen options; a warning where tokens would cross a network in clear."""
    from worldfs.interfaces.acheron.serve_realm import ListenOptions

    check_ports(context)
    where = ListenOptions(
        host=context["host"],
        port=context["port"],
        metrics_port=context["metrics_port"],
        certificate=context["tls_cert"] or "",
        key=context["tls_key"] or "",
    )
    if where.bare:
        context.output.notice(coded("command.in_clear", host=where.host))
    return where


def check_ports(context: CommandContext) -> None:
    """Raises `BadInput` for an address that cannot be one, before anything starts."""
    for name in ("port", "metrics_port"):
        if context[name] is not None and context[name] > 65_535:
            found = coded("command.no_port", port=context[name])
            raise BadInput(found, op="serve", expected=coded("command.ports"), code="USAGE")
    if not context["host"].strip():  # asyncio would listen on every interface
        raise BadInput(coded("command.no_host"), op="serve", expected=coded("command.hosts"), code="USAGE")


def listeners_beside(context: CommandContext) -> Beside:
    """The 9P listener, if one was asked for. Raises `BadInput` for an address that is not on this machine."""
    if not context["serve_9p"]:
        return ()
    from worldfs.interfaces.ninep.ninep_listener import NinePListener, parse_address

    address = parse_address(context["serve_9p"])
    return (lambda server: NinePListener(server, address),)


def announce(context: CommandContext, started: ServerStarted) -> None:
    facts = {"home": context.home.path, "url": started.url, "tokens": started.tokens}
    said = coded("command.serving", **facts)
    if started.metrics_port is not None:
        said = coded("command.serving_health", **facts, port=started.metrics_port)
    context.output.report(
        said,
        {
            "event": "serve",
            "state": "started",
            "url": started.url,
            "host": started.host,
            "port": started.port,
            "metrics_port": started.metrics_port,
            "tokens": started.tokens,
            **({"9p": started.beside[0]} if started.beside else {}),
        },
    )
    note_address(context.home.path, started)
    context.output.line(coded("command.page_at", url=page_address(started), name=context.name_elsewhere))
    for address in started.beside:
        context.output.line(coded("command.serving_9p", address=address))


def site() -> Pages:
    """The page's files."""
    from worldfs.interfaces.web.static_site import StaticSite

    return StaticSite().page


def applications() -> dict[str, Opener]:
    """The HTTP applications of the served port; each is loaded when it is asked for, and says what is not installed."""
    return {"/mcp": _open_mcp}


async def _open_mcp(server: Server) -> MountedApplication:
    require("mcp", op="serve")
    found = await server.thread(lambda: import_module("worldfs.interfaces.mcp.http_application"))
    opened: MountedApplication = await found.open_application(server)
    return opened
