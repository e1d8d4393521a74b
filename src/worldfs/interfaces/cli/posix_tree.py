"""The tree that a mount and the in-process shell are made of, as the command line names it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput, NotFound
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


def posix_tree(context: CommandContext, *, offline: bool = False) -> AbstractAsyncContextManager[FileTree]:
    """Opened on the event loop that enters it. `offline`: a served tree can be read while its server is away."""
    if context["connect"]:
        from worldfs.interfaces.posix.remote_files import remote_files

        from .server_tree import server_login

        url, login = context["connect"], server_login(context)
        served = remote_files(url, **login)
        whose = (login["token"], login["agent"], login["project"], login["project_token"])
        return _with_copies(context, served, url, *whose) if offline else served
    if offline:
        raise BadInput(
            coded("command.offline_local"), op="mount", expected=coded("command.offline_needs"), code="USAGE"
        )
    from worldfs.base.clock import SystemClock
    from worldfs.interfaces.posix.namespace_files import home_files

    agents = Path(context.agents)
    agent, program = context["agent"] or "", bool(context.session_agent)
    return home_files(context.home.path, agents, context.actor, agent, SystemClock(), program=program)


def _with_copies(
    context: CommandContext, served: AbstractAsyncContextManager[FileTree], *whose: str
) -> AbstractAsyncContextManager[FileTree]:
    from worldfs.base.clock import SystemClock
    from worldfs.interfaces.posix.offline_files import offline_files
    from worldfs.interfaces.posix.read_copies import directory_of

    return offline_files(served, directory_of(context.environ, *whose), SystemClock())
