"""Any command line as the work of a session: started durably, watched, ended with all that it started."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .leftovers import Left, mop
    from .order import Command, Ended, Hooks, State
    from .runner import run
    from .stop import Stop

__all__ = ["Command", "Ended", "Hooks", "Left", "State", "Stop", "mop", "run"]

_HOME = {
    "Command": "order",
    "Ended": "order",
    "Hooks": "order",
    "Left": "leftovers",
    "State": "order",
    "Stop": "stop",
    "mop": "leftovers",
    "run": "runner",
}


def __getattr__(name: str) -> Any:  # the warden's process loads its own module and nothing else
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOME[name]}", __name__), name)
