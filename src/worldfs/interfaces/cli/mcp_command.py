"""`paos mcp`: the tree for a command-line agent, as tools and resources of the Model Context Protocol over stdio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.base.errors import NotFound
from worldfs.base.extras import require
from worldfs.base.messages import coded

from .command_context import CommandContext

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from worldfs.interfaces.mcp.actor_tree import ActorTree


def run(context: CommandContext) -> int:
    """Exit 0 when the client has closed stdin. It answers before anything heavy is loaded: clients do not wait."""
    require("mcp", op="mcp")
    from worldfs.base.clock import SystemClock
    from worldfs.interfaces.mcp.stdio_server import serve_stdio

    home = context.home.path
    if not context["connect"] and not home.is_dir():
        fix = coded("command.make_it", name=context.name)
        raise NotFound(coded("command.no_home"), path=str(home), op="mcp", fix=fix)
    serve_stdio(lambda: _connected(context) if context["connect"] else _local(context), SystemClock())
    return 0


def _local(context: CommandContext) -> AbstractAsyncContextManager[ActorTree]:
    from pathlib import Path

    from worldfs.base.clock import SystemClock
    from worldfs.interfaces.mcp.local_actor import local_actor

    return local_actor(context.home.path, Path(context.agents), context.actor, context["agent"] or "", SystemClock())


def _connected(context: CommandContext) -> AbstractAsyncContextManager[ActorTree]:
    from worldfs.interfaces.mcp.remote_actor import remote_actor

    from .server_tree import server_login

    return remote_actor(context["connect"], **server_login(context))
