"""What a plug-in's code raises: an `Exception` to its caller, with a text that can be shown."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Final, TypeVar

from .errors import UserError
from .messages import coded

T = TypeVar("T")

OURS: Final = "worldfs"
TEXT_MOST: Final = 2_000  # characters of what an error says


class PluginFault(UserError):
    """A plug-in raised what its callers do not know: an exit of the process, a storage error, an error without text."""

    code = "PLUGIN_FAULT"


def contained(call: Callable[[], T], where: str) -> T:
    """The call's result. What it raises that is no `Exception` becomes a `PluginFault`; a person's Ctrl-C does not."""
    try:
        return call()
    except Exception:
        raise
    except BaseException as error:
        if is_ours(error) or (isinstance(error, KeyboardInterrupt) and _pressed()):
            raise
        raise fault(error, where) from error


def error_text(error: BaseException) -> str:
    """What an error says, cut; of one that cannot be asked, nothing."""
    return (said_by(error) or "")[:TEXT_MOST].encode("utf-8", "replace").decode()


def error_line(error: BaseException) -> str:
    """Its class and what it says."""
    return f"{type(error).__name__}: {error_text(error)}"


def said_by(error: BaseException) -> str | None:
    try:
        return str.__str__(str(error))
    except BaseException:  # whatever its `__str__` raises
        return None


def fault(error: BaseException, where: str) -> PluginFault:
    found = coded("plugin.raises", name=type(error).__name__, said=error_text(error))
    return PluginFault(found, path=where, expected=coded("plugin.an_answer"), fix=coded("plugin.correct"))


def is_ours(plugin: object) -> bool:
    """Whether it is this package's: it answers what its ports declare, or that is our bug."""
    kind = plugin if isinstance(plugin, type | FunctionType) else type(plugin)
    return kind.__module__.partition(".")[0] == OURS


def _pressed() -> bool:
    """Whether a KeyboardInterrupt in this thread may be a person's: that of our own handlers is a `CtrlC`."""
    ours = threading.current_thread() is threading.main_thread()
    return ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler
