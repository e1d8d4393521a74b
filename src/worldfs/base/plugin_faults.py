"""What a plug-in's code raises: an `Exception` to its caller, with a text that can be shown."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FunctionType, MethodType, NoneType
from typing import Final, TypeVar

from .errors import UserError
from .forked_child import end_forked
from .messages import coded

T = TypeVar("T")

OURS: Final = "worldfs"
_PLAIN: Final = (str, int, float, bool, bytes, NoneType)
RECURSION_LEAST: Final = sys.getrecursionlimit()  # before any plug-in is loaded
TEXT_MOST: Final = 2_000  # characters of what an error says


class PluginFault(UserError):
    """A plug-in raised what its callers do not know: an exit of the process, a storage error, an error without text."""

    code = "PLUGIN_FAULT"


def contained(call: Callable[[], T], where: str) -> T:
    """The call's result. What it raises that is no `Exception` becomes a `PluginFault`; a person's Ctrl-C does not. A
    child that it forks does not come back, and a lower limit of recursion does not stay."""
    process = os.getpid()
    try:
        _keep_recursion_limit()  # a call in another thread may have lowered it
        try:
            return call()
        finally:
            end_forked(process)
            _keep_recursion_limit()
    except Exception:
        raise
    except BaseException as error:
        if is_ours(error) or (isinstance(error, KeyboardInterrupt) and _pressed()):
            raise
        raise fault(error, where) from error


def _keep_recursion_limit() -> None:
    """It is one for all threads: a plug-in may raise it for good, and lower it for its own call."""
    if sys.getrecursionlimit() < RECURSION_LEAST:
        sys.setrecursionlimit(RECURSION_LEAST)


def error_text(error: BaseException) -> str:
    """What an error says, cut; of one that cannot be asked, nothing."""
    return (said_by(error) or "")[:TEXT_MOST].encode("utf-8", "replace").decode()


def error_line(error: BaseException) -> str:
    """Its class and what it says."""
    return f"{type(error).__name__}: {error_text(error)}"


def said_by(error: BaseException) -> str | None:
    """What it says; None: nothing can be said. No `__str__` of a package is called: it may hang, or raise anything."""
    try:
        if speaks_plainly(error):
            return str.__str__(str(error))
        parts = BaseException.__getattribute__(error, "args")
        return ", ".join(str(part) if type(part) in _PLAIN else f"<{type(part).__name__}>" for part in parts)
    except BaseException:  # whatever its attributes raise
        return None


def speaks_plainly(error: BaseException) -> bool:
    """Whether Python, its library or this package makes its text, from values that have no text of their own making."""
    kind = next(one for one in type(error).__mro__ if "__str__" in vars(one))
    ours = kind.__module__.partition(".")[0]
    if ours not in (OURS, "builtins", *sys.stdlib_module_names):
        return False
    return ours == OURS or all(type(part) in _PLAIN for part in BaseException.__getattribute__(error, "args"))


def fault(error: BaseException, where: str) -> PluginFault:
    found = coded("plugin.raises", name=type(error).__name__, said=error_text(error))
    return PluginFault(found, path=where, expected=coded("plugin.an_answer"), fix=coded("plugin.correct"))


def is_ours(plugin: object) -> bool:
    """Whether it is this package's: it answers what its ports declare, or that is our bug."""
    return module_and_name(plugin)[0].partition(".")[0] == OURS


def module_and_name(plugin: object) -> tuple[str, str]:
    """Of a class, of a function, or of an object's class. Nothing is asked of it: `isinstance` asks an object for its
    class, and a class may have a class of its own."""
    made = plugin.__func__ if type(plugin) is MethodType else plugin
    if type(made) is FunctionType:
        found = made.__module__, made.__qualname__
    else:
        kind = made if issubclass(type(made), type) else type(made)
        found = vars(type)["__module__"].__get__(kind), vars(type)["__qualname__"].__get__(kind)
    module, name = (text if type(text) is str else "?" for text in found)
    return module, name


def _pressed() -> bool:
    """Whether a KeyboardInterrupt in this thread may be a person's: that of our own handlers is a `CtrlC`."""
    ours = threading.current_thread() is threading.main_thread()
    return ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler
