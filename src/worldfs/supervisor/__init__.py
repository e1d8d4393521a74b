"""Any command line as the work of a session: started durably, watched, ended with all that it started."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .command_request import AgentStatePort, CommandRequest, SessionResult, ShellHooks
    from .orphans import OrphanedSession, kill_orphans
    from .runner import run
    from .stop_request import StopRequest

__all__ = [
    "AgentStatePort",
    "CommandRequest",
    "OrphanedSession",
    "SessionResult",
    "ShellHooks",
    "StopRequest",
    "kill_orphans",
    "run",
]

_HOME = {
    "CommandRequest": "command_request",
    "SessionResult": "command_request",
    "ShellHooks": "command_request",
    "OrphanedSession": "orphans",
    "AgentStatePort": "command_request",
    "StopRequest": "stop_request",
    "kill_orphans": "orphans",
    "run": "runner",
}


def __getattr__(name: str) -> object:  # the supervisor's process loads its own module and nothing else
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOME[name]}", __name__), name)
