"""The tree that a mount and the in-process shell are made of, as the command line names it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import NotFound
from worldfs.base.messages import coded

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from worldfs.interfaces.posix.file_tree import FileTree

    from .command_context import CommandContext


def require_home(context: CommandContext) -> Path:
    """The home on this disk. Raises `NotFound` if there is none."""
    home = context.home.path
    if not home.is_dir():
        fix = coded("command.make_it", name=context.name)
        raise NotFound(coded("command.no_home"), path=str(home), op=context["command"], fix=fix)
    return home


def posix_tree(context: CommandContext) -> AbstractAsyncContextManager[FileTree]:
    """Opened on the event loop that enters it."""
    if context["connect"]:
        from worldfs.client import address
        from worldfs.interfaces.posix.remote_files import remote_files

        from .server_tree import server_token

        return remote_files(
            context["connect"],
            server_token(context),
            agent=context["agent"] or "",
            project=context["project"] or "",
            project_token=context.environ.get(address.PROJECT_TOKEN, ""),
        )
    from worldfs.base.clock import SystemClock
    from worldfs.interfaces.posix.namespace_files import home_files

    agents = Path(context.agents)
    return home_files(context.home.path, agents, context.actor, context["agent"] or "", SystemClock())
