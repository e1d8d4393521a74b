"""Wrong values of every declared type: what a port must refuse, so that a package can try its own.

`wrong_values(hint, right)` gives, by name, values that `parse(hint, …)` refuses: of another type, not finite, cyclic,
too large, too deep, of a class that lies. Of a class of ours there is one for each wrong value of each of its fields.
`faults()` gives what code can raise instead of answering.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Final, NamedTuple, NoReturn, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from worldfs.base.errors import BadInput, StorageError
from worldfs.base.plugin_values import DEPTH_MOST, NUMPY_TOO, TEXT_MOST, UNBOUNDED, UNKNOWN, UNREAD, is_array

Make: TypeAlias = "Callable[[], object]"


class Lie(NamedTuple):
    """One wrong value: its name, and what makes it (or raises)."""

    name: str
    make: Make


class Trap:
    """An object of a class whose every method exits the process, and that does so when it is asked for its class."""

    __module__ = "a_package"  # what is of this one is believed

    def _exit(self, *args: object, **more: object) -> NoReturn:
        raise SystemExit(0)

    __bool__ = __eq__ = __len__ = __iter__ = __hash__ = __str__ = __repr__ = __float__ = __int__ = __index__ = _exit
    __getattribute__ = __getattr__ = __format__ = __contains__ = __getitem__ = __array__ = _exit


class CtrlCTrap(Trap):
    """The same with the exception of a Ctrl-C."""

    __module__ = "a_package"

    def _exit(self, *args: object, **more: object) -> NoReturn:
        raise KeyboardInterrupt

    __getattribute__ = __getattr__ = _exit


class OddMeta(type):
    """The class of a class that exits the process when it is asked for anything."""

    def __getattribute__(cls, name: str) -> NoReturn:
        raise SystemExit(0)


class OfOddMeta(metaclass=OddMeta):
    """An object of such a class."""

    __module__ = "a_package"


class OddClass:
    """An object that exits the process when it is asked for its class, and for nothing else; its module is no text."""

    __module__ = property(lambda self: 7)

    @property  # type: ignore[misc]  # so
    def __class__(self) -> NoReturn:  # type: ignore[override]  # so
        raise SystemExit(0)


class Unspeakable(Exception):
    """An error that cannot be shown."""

    def __str__(self) -> str:
        raise SystemExit(0)


class OneOfMany(str):
    """A key that is equal to no other one of the same letters."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


def cyclic() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


def deep(levels: int = DEPTH_MOST + 1) -> object:
    value: object = 0
    for _ in range(levels):
        value = [value]
    return value


def doubled() -> object:
    """2^64 values in 65 lists."""
    value: object = [0]
    for _ in range(64):
        value = [value, value]
    return value


def raised(error: BaseException) -> Make:
    def raise_it() -> NoReturn:
        raise error

    return raise_it


def faults() -> Iterator[Lie]:
    errors = (
        RuntimeError("odd"), SystemExit(0), KeyboardInterrupt(), GeneratorExit(), MemoryError(), RecursionError("deep"),
        StorageError("the disk is full"), Unspeakable(), BaseException("base"), RuntimeError("x" * 1_000_000),
        BadInput(cast("str", 7)), StopIteration(), AssertionError(), TimeoutError("late"), BrokenPipeError(32, "gone"),
        OSError(28, "No space left on device"),
    )  # fmt: skip
    for error in errors:
        yield Lie(f"raises {type(error).__name__}", raised(error))


def made_wrong() -> Iterator[Lie]:
    """What a factory can give instead of an object of its port."""
    values: dict[str, Make] = {
        "True": lambda: True, "a trap": Trap, "a trap of Ctrl-C": CtrlCTrap, "of an odd class": OddClass,
        "of a class of an odd class": OfOddMeta, "a class": lambda: OfOddMeta,
        "a generator": lambda: (one for one in "ab"),
    }  # fmt: skip
    yield from (Lie(f"makes {name}", make) for name, make in values.items())


def wrong_values(hint: object, right: object = None) -> Iterator[Lie]:
    """`right`: a value of that type; needed for a class of ours, whose fields are made wrong one by one."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        yield from _marked(args[0], [mark for mark in args[1:] if isinstance(mark, str)], right)
    elif origin in (Union, UnionType):
        kinds = [one for one in args if one is not NoneType]
        kept = [lie for lie in wrong_values(kinds[0], right) if lie.name != "None"] if len(kinds) == 1 else []
        yield from kept
    elif hint in (None, NoneType):
        return
    else:
        if hint is not object:  # JSON has null
            yield Lie("None", lambda: None)
        yield Lie("a trap", Trap)
        yield from _of(hint, origin, args, right)


def _marked(hint: object, marks: Sequence[str], right: object) -> Iterator[Lie]:
    if UNREAD in marks:
        return
    allowed = {UNKNOWN: ("NaN", "infinite"), UNBOUNDED: ("infinite",), NUMPY_TOO: ("a bool of numpy",)}
    names = {name for mark in marks for name in allowed.get(mark, ())}
    yield from (lie for lie in wrong_values(hint, right) if lie.name not in names)


def _of(hint: object, origin: object, args: tuple[object, ...], right: object) -> Iterator[Lie]:
    if hint in _SCALARS:
        yield from _SCALARS[hint]()
    elif origin is tuple and args[-1:] != (Ellipsis,):
        yield from _scalars("a text", "too few")
    elif is_array(hint):
        yield from _arrays()
    elif origin in (tuple, list, frozenset, set) or getattr(origin, "__name__", "") in _LISTS:
        yield from _lists(args[0], right)
    elif origin is dict or getattr(origin, "__name__", "") == "Mapping":
        yield from _mappings(args[1], right)
    elif isinstance(hint, type) and issubclass(hint, Enum):
        yield from (Lie("a text", lambda: "because"), Lie("its word", lambda: str(next(iter(hint)).value)))
    elif is_dataclass(hint) or hasattr(hint, "_fields"):
        yield from _objects(cast("type", hint), right)


_LISTS: Final = ("Sequence", "Iterable", "Set")


def _scalars(*names: str) -> Iterator[Lie]:
    every: dict[str, Make] = {"a text": lambda: "no", "too few": tuple}
    yield from (Lie(name, every[name]) for name in names)


def _truths() -> Iterator[Lie]:
    values: dict[str, Make] = {
        "a text": lambda: "no", "1": lambda: 1, "NaN": lambda: math.nan, "a list": lambda: [False],
        "an array": lambda: np.array([False, True]), "an array of one": lambda: np.array([True]),
        "a bool of numpy": lambda: np.bool_(True),
    }  # fmt: skip
    yield from (Lie(name, make) for name, make in values.items())


def _numbers() -> Iterator[Lie]:
    values: dict[str, Make] = {
        "NaN": lambda: math.nan, "infinite": lambda: -math.inf, "huge": lambda: 10**400, "a text": lambda: "1",
        "True": lambda: True, "complex": lambda: 1j, "a list": lambda: [1.0],
    }  # fmt: skip
    yield from (Lie(name, make) for name, make in values.items())


def _wholes() -> Iterator[Lie]:
    values: dict[str, Make] = {"1.5": lambda: 1.5, "huge": lambda: 10**40, "a text": lambda: "1", "True": lambda: True}
    yield from (Lie(name, make) for name, make in values.items())


def _texts() -> Iterator[Lie]:
    values: dict[str, Make] = {
        "a number": lambda: 7, "bytes": lambda: b"text", "half a character": lambda: "\ud800\x1b]0;x\x07",
        "huge": lambda: "x" * (TEXT_MOST + 1), "a list": lambda: ["text"],
    }  # fmt: skip
    yield from (Lie(name, make) for name, make in values.items())


def _jsons() -> Iterator[Lie]:
    values: dict[str, Make] = {
        "an object": object, "a set of objects": lambda: {object()}, "cyclic": cyclic, "deep": deep,
        "very deep": lambda: deep(50_000), "doubled": doubled, "long": lambda: list(range(1_000_000)),
        "NaN inside": lambda: {"a": [0, {"b": math.nan}]}, "a key that is a number": lambda: {1: 2},
        "a key twice": lambda: {OneOfMany("a"): 1, OneOfMany("a"): 2}, "half a character": lambda: ["\ud83d"],
        "bytes": lambda: b"x", "a huge number": lambda: 10**400, "a type": lambda: int,
    }  # fmt: skip
    yield from (Lie(name, make) for name, make in values.items())


_SCALARS: Final[Mapping[object, Callable[[], Iterator[Lie]]]] = {
    bool: _truths, float: _numbers, int: _wholes, str: _texts, object: _jsons, bytes: lambda: _scalars("a text"),
}  # fmt: skip


def _arrays() -> Iterator[Lie]:
    values: dict[str, Make] = {
        "a list": lambda: [1.0], "a text": lambda: "1", "of texts": lambda: np.array(["a"]),
        "of objects": lambda: np.array([object()]), "complex": lambda: np.array([1j]),
        "NaN": lambda: np.array([math.nan, 0.0]), "infinite": lambda: np.array([math.inf]),
        "of many sides": lambda: np.zeros((1,) * 12),
    }  # fmt: skip
    yield from (Lie(name, make) for name, make in values.items())


def _lists(item: object, right: object) -> Iterator[Lie]:
    yield Lie("a text", lambda: "abc")
    yield Lie("a number", lambda: 7)
    yield Lie("a mapping", lambda: {"a": 1})
    inner = next(iter(right), None) if isinstance(right, list | tuple | frozenset | set) else None
    for lie in wrong_values(item, inner):
        yield Lie(f"[{lie.name}]", lambda lie=lie: [lie.make()])  # type: ignore[misc]  # the loop's value


def _mappings(item: object, right: object) -> Iterator[Lie]:
    yield Lie("a list", lambda: [("a", 1)])
    yield Lie("a text", lambda: "abc")
    inner = next(iter(right.values()), None) if isinstance(right, dict) else None
    good = copy.deepcopy(inner)
    yield Lie("a key that is a number", lambda: {1: good})
    yield Lie("a long key", lambda: {"k" * 10_000: good})
    for lie in wrong_values(item, inner):
        yield Lie(f"{{{lie.name}}}", lambda lie=lie: {"a": lie.make()})  # type: ignore[misc]  # the loop's value


def _objects(kind: type, right: object) -> Iterator[Lie]:
    yield Lie("True", lambda: True)
    yield Lie("a text", lambda: "succeeded")
    yield Lie("a mapping", lambda: {"ok": True, "success": True})
    if right is None:
        return
    if issubclass(kind, tuple):
        yield Lie("a bare tuple", lambda: tuple(cast("tuple[object, ...]", right)))
    else:
        yield Lie("half made", lambda: object.__new__(kind))
        yield Lie("of a subclass", lambda: _of_subclass(kind, right))
    for field, hint in get_type_hints(kind, include_extras=True).items():
        for lie in wrong_values(hint, getattr(right, field)):
            yield Lie(f"{field}: {lie.name}", lambda field=field, lie=lie: _with(right, field, lie.make()))  # type: ignore[misc]  # the loop's values


def _of_subclass(kind: type, right: object) -> object:
    class Mine(kind):  # type: ignore[misc]  # so
        pass

    made = object.__new__(Mine)
    for field in get_type_hints(kind):
        object.__setattr__(made, field, getattr(right, field))
    return made


def _with(right: object, field: str, value: object) -> object:
    """The same with that field, without a word of the class."""
    if isinstance(right, tuple):
        return cast("NamedTuple", right)._replace(**{field: value})
    made = copy.copy(right)
    object.__setattr__(made, field, value)
    return made
