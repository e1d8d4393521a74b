"""Calls into a plug-in: whatever its code raises, the caller gets an `Exception`; what it answers is parsed.

`checked` wraps an object that a package made: each method of the port is called so, and gives what the port declares.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from types import FunctionType
from typing import Final, TypeVar, cast, get_type_hints

from .errors import StorageError, WorldError
from .model import Job, Order, Profile, Scene
from .plugin_faults import OURS, TEXT_MOST, contained, fault, is_ours, module_and_name, said_by, speaks_plainly
from .plugin_values import parse

T = TypeVar("T")

_TEXTS: Final = ("found", "expected", "fix", "path", "op", "actor", "code")


def _sound(error: WorldError, where: str) -> WorldError:
    """An error of ours that a plug-in raised, with texts that can be shown."""
    own = next(kind for kind in type(error).__mro__ if kind.__module__.startswith(f"{OURS}."))
    try:
        texts = [str(parse(str, getattr(error, name), where)) for name in _TEXTS]
    except Exception:  # whatever its own class makes of them
        return fault(error, where)
    if own is type(error):
        return error
    found, expected, fix, path, op, actor, code = texts
    made: WorldError = own(found, expected=expected, fix=fix, path=path, op=op, actor=actor, code=code)
    return made


def plugin_name(plugin: object) -> str:
    """Module and class of what a package made, for messages."""
    if issubclass(type(plugin), CheckedPlugin):
        return cast("CheckedPlugin", plugin)._name
    return ".".join(module_and_name(plugin))


Heard = Callable[[str, tuple[object, ...], object], None]
"""The name of a method, its arguments, and what it has answered."""
Around = Callable[[str, Callable[[], object]], object]
"""The name of a method and a call of it: gives what the call answers, or raises to refuse it."""


class CheckedPlugin:
    """What a package made, behind its port. The members that the port declares are put into subclasses of this: no port
    has one that begins with an underscore."""

    __slots__ = ("_around", "_hear", "_name", "_plugin")

    def __init__(self, plugin: object, name: str, hear: Heard | None = None, around: Around | None = None) -> None:
        self._plugin, self._name, self._hear, self._around = plugin, name, hear, around

    def __repr__(self) -> str:
        return f"<{self._name}>"

    def _answer(self, field: str, hint: object, args: tuple[object, ...], more: dict[str, object]) -> object:
        """What a method answers, parsed; of ours, or of what is checked already, as it is."""
        if is_ours(self._plugin):
            return getattr(self._plugin, field)(*args, **more)
        where, lent = f"{self._name} {field}", [_lent(one) for one in args]
        lent_by_name = {key: _lent(one) for key, one in more.items()}
        return called(lambda: parse(hint, getattr(self._plugin, field)(*lent, **lent_by_name), where), where)


def called(call: Callable[[], T], where: str) -> T:
    """As `contained`, of a package's code: its callers know our errors, those of Python, and no storage error."""
    try:
        return contained(call, where)
    except StorageError as error:
        raise fault(error, where) from error
    except WorldError as error:
        raise _sound(error, where) from error.__cause__
    except Exception as error:
        said = said_by(error)
        if said is not None and len(said) < TEXT_MOST and speaks_plainly(error):
            raise
        raise fault(error, where) from None


def checked(plugin: T, port: type, *optional: type, hear: Heard | None = None, around: Around | None = None) -> T:
    """`plugin` behind `port`, and behind each interface of `optional` that it has. What is ours is given as it is.

    Each call is `contained`, lends copies of what is ours to change, and gives what the port declares: `WrongValue`
    for anything else. `hear` is told each answer, and `around` makes each call; those of ours, too.
    """
    if is_ours(plugin) and hear is None and around is None:
        return plugin
    name = plugin_name(plugin)
    has = called(lambda: tuple(one for one in optional if isinstance(plugin, one)), name)
    return cast("T", _checked_class((port, *has))(plugin, name, hear, around))


@lru_cache(maxsize=128)
def _checked_class(ports: tuple[type, ...]) -> type[CheckedPlugin]:
    members: dict[str, object] = {"__slots__": ()}
    for port in reversed(ports):
        for base in reversed([base for base in port.__mro__ if getattr(base, "_is_protocol", False)]):
            hints = get_type_hints(base, include_extras=True)
            members |= {field: property(_reads(field, hint)) for field, hint in hints.items()}
            members |= {
                field: made for field, value in vars(base).items() if (made := _member(field, value)) is not None
            }
    return type(f"Checked{ports[0].__name__}", (CheckedPlugin,), members)


def _member(field: str, declared: object) -> object:
    """The checked form of one member of a port; None for what is no part of it."""
    if field.startswith("_") and field != "__call__":
        return None
    if isinstance(declared, property):
        return property(_reads(field, get_type_hints(declared.fget, include_extras=True)["return"]))
    if isinstance(declared, FunctionType):
        return _calls(field, get_type_hints(declared, include_extras=True)["return"])
    return None


def _reads(field: str, hint: object) -> Callable[[CheckedPlugin], object]:
    def read(self: CheckedPlugin) -> object:
        where = f"{self._name} {field}"
        if is_ours(self._plugin):
            return getattr(self._plugin, field)
        return called(lambda: parse(hint, getattr(self._plugin, field), where), where)

    return read


def _calls(field: str, hint: object) -> Callable[..., object]:
    def call(self: CheckedPlugin, *args: object, **more: object) -> object:
        if self._around is None:
            value = self._answer(field, hint, args, more)
        else:
            value = self._around(field, lambda: self._answer(field, hint, args, more))
        if self._hear is not None:
            self._hear(field, args, value)
        return value

    call.__name__ = field
    return call


def _lent(value: object) -> object:
    """A copy of what a plug-in could change in place."""
    return deepcopy(value) if isinstance(value, _CHANGEABLE) else value


_CHANGEABLE: Final = (Order, Job, Scene, Profile, dict, list)
