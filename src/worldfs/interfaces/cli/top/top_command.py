"""`paos top`: the world full-screen in this terminal, until `q`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.extras import require
from worldfs.base.messages import coded
from worldfs.interfaces.cli.exits import DONE

if TYPE_CHECKING:
    from worldfs.interfaces.cli.command_context import CommandContext


def run(context: CommandContext) -> int:
    _needed(context)
    from .top_app import TopApp
    from .top_source import HomeSource

    with context.open() as world:
        source = HomeSource(world, context.actor, context.agents, context.actor_name)
        try:
            TopApp(source, str(context.workspace), context.language).run()
        finally:
            source.close()
    return DONE


def remote(context: CommandContext) -> int:
    import asyncio

    _needed(context)
    asyncio.run(_remote(context))
    return DONE


async def _remote(context: CommandContext) -> None:
    from worldfs.client import connection
    from worldfs.interfaces.cli.server_tree import connect_options

    from .top_app import TopApp
    from .top_source import ServedSource

    url = context["connect"]
    async with connection.connect(url, **connect_options(context)) as world:
        await TopApp(ServedSource(world), url, context.language).run_async()


def _needed(context: CommandContext) -> None:
    """Raises `MissingRequirement`, naming the extra, and `BadInput` where there is no terminal."""
    require("top", op="top")
    if context.output.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput(coded("top.no_terminal"), op="top", fix=coded("top.instead"), code="USAGE")
