"""What a plug-in answers, parsed by the declared type: exact types, finite numbers, bounded sizes, no cycles.

A port is a `Protocol`, and what its methods return is declared there. `parse(hint, value, where)` gives a value of
exactly that type, made of values of Python's own types, or raises `WrongValue`. Rules:

- `bool` is True or False and nothing else; where a field is a `Flag`, as Gymnasium documents it, also `numpy.bool_`.
- A number is an `int`, a `float` or a number of numpy, and finite; a truth value is no number.
- A list is a list, a tuple, a set, a generator or an array of numpy; a mapping has texts as its keys, each once.
- A text is a `str` that UTF-8 can express. Of a subclass of `str`, `int`, `float`, `list` or `dict`, the content is
  taken by the base class's own methods: what the subclass overrides is never called.
- A field may be marked: as `UNBOUNDED`, `UNKNOWN` or `UNREAD`, or with a function that says what is wrong with it.
- An object of ours, such as an `Outcome`, is exactly of its class. Each of its fields is parsed; then its `rule` holds.
- `object` is whatever JSON can express.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import is_dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path, PurePath
from types import AsyncGeneratorType, CoroutineType, GeneratorType, MappingProxyType, ModuleType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Final,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from .errors import UserError
from .messages import CodedText, coded

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

TEXT_MOST: Final = 1 << 20  # characters of one text
SHORT_MOST: Final = 200  # characters of a key
ITEMS_MOST: Final = 200_000  # values in one answer, inner ones and characters by the hundred included
NUMBERS_MOST: Final = 1 << 26  # of one array: a picture of 8K has 2^25 bytes of each colour
DEPTH_MOST: Final = 32
WHOLE_MOST: Final = 1 << 63

NUMPY_TOO: Final = "numpy.bool_ too"
UNBOUNDED: Final = "infinite too"  # of numbers and arrays: no bound
UNKNOWN: Final = "infinite and NaN too"  # of numbers and arrays: NaN is what was not measured
UNREAD: Final = "nobody reads it"
Flag = Annotated[bool, NUMPY_TOO]  # a truth value as Gymnasium documents it


class WrongValue(UserError):
    """A plug-in answered with a value that its port does not have. `path` names the plug-in and the field."""

    code = "PLUGIN_VALUE"


class WrongField(NamedTuple):
    """A field of an object that does not agree with the others."""

    field: str
    found: str
    expected: str


class _Wrong(Exception):
    """Found and expected, and where, from the inner to the outer."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found)
        self.found, self.expected = found, expected
        self.way: list[str] = []

    def within(self, part: str) -> _Wrong:
        self.way.append(part)
        return self


class _Left:
    """How many more values one answer may have, and how much deeper they may be nested."""

    __slots__ = ("depth", "items")

    def __init__(self) -> None:
        self.items, self.depth = ITEMS_MOST, DEPTH_MOST

    def take(self, count: int) -> None:
        self.items -= count
        if self.items < 0:
            raise _Wrong(coded("plugin.too_many"), coded("plugin.at_most_values", n=ITEMS_MOST))

    def __enter__(self) -> None:
        self.depth -= 1
        if self.depth < 0:
            raise _Wrong(coded("plugin.too_deep"), coded("plugin.at_most_deep", n=DEPTH_MOST))

    def __exit__(self, *error: object) -> None:
        self.depth += 1


Parser: TypeAlias = "Callable[[object, _Left], object]"


def parse(hint: object, value: object, where: str) -> object:
    """`value` as what `hint` declares, made of Python's own types. `where` names the plug-in and its method.

    Raises `WrongValue`.
    """
    try:
        return parser_of(hint)(value, _Left())
    except _Wrong as wrong:
        raise _refused(wrong, where) from None
    except (RecursionError, MemoryError, AttributeError, TypeError, ValueError, OverflowError) as error:
        # of a field that an object never got, or of a value that no parser has thought of
        raise _refused(_Wrong(type(error).__name__, type_text(hint)), where) from None


def parsed(kind: type[T], value: object, where: str) -> T:
    """As `parse`, of a class."""
    return cast("T", parse(kind, value, where))


def is_true(value: object, where: str) -> bool:
    """A truth value as Gymnasium documents it: True, False, or `numpy.bool_`. Raises `WrongValue`."""
    return cast("bool", parse(Flag, value, where))


def _refused(wrong: _Wrong, where: str) -> WrongValue:
    way = "".join(reversed(wrong.way)).removeprefix(".")
    way = way if len(way) <= SHORT_MOST else f"{way[:SHORT_MOST]}…"
    return WrongValue(
        wrong.found, path=f"{where} {way}".strip(), expected=wrong.expected, fix=coded("plugin.correct"), op="parse"
    )


def found_text(value: object) -> str:
    """A value in a few words, without a call of its own methods."""
    kind = type(value)
    if value is None or kind is bool:
        return str(value)
    if kind is int:
        return str(value) if abs(cast("int", value)) < WHOLE_MOST else coded("plugin.huge_number")
    if kind is float:
        return repr(value)
    if kind is str:
        return repr(cast("str", value)[:60].encode("utf-8", "backslashreplace").decode())
    name = type.__dict__["__name__"].__get__(kind)
    return coded("plugin.value_of", kind=name if type(name) is str else "?")


def type_text(hint: object) -> str:
    """A declared type as people read it."""
    if isinstance(hint, type) and get_origin(hint) is None:
        return hint.__name__
    return str(hint).replace("typing.", "").replace("collections.abc.", "").rpartition("worldfs.")[2]


# -- of Python's own types ---------------------------------------------------------------------------------------------


def _truth(value: object, left: _Left) -> object:
    if value is True or value is False:
        return value
    raise _Wrong(found_text(value), coded("plugin.true_or_false"))


def _numpy() -> ModuleType | None:
    """The library, if anything has loaded it: else no value is one of its own."""
    return sys.modules.get("numpy")


def _flag(value: object, left: _Left) -> object:
    numpy = _numpy()
    if numpy is not None and type(value) is numpy.bool_:
        return bool(value)
    return _truth(value, left)


def _scalar(value: object) -> object:
    """A number of numpy as one of Python; anything else as it is."""
    numpy = _numpy()
    if numpy is not None and issubclass(type(value), numpy.number):
        return numpy.number.item(value)
    return value


def _number(value: object) -> float:
    value = _scalar(value)
    kind = type(value)
    if kind is float:
        return cast("float", value)
    if issubclass(kind, float):
        return float.__float__(cast("float", value))
    if issubclass(kind, int) and kind is not bool:
        try:
            return int.__float__(cast("int", value))
        except OverflowError:
            raise _Wrong(coded("plugin.huge_number"), coded("plugin.finite_number")) from None
    raise _Wrong(found_text(value), coded("plugin.finite_number"))


def _any_float(value: object, left: _Left) -> float:
    return _number(value)


def _unbounded(value: object, left: _Left) -> float:
    number = _number(value)
    if math.isnan(number):
        raise _Wrong(repr(number), coded("plugin.a_number"))
    return number


def _float(value: object, left: _Left) -> float:
    number = _number(value)
    if not math.isfinite(number):
        raise _Wrong(repr(number), coded("plugin.finite_number"))
    return number


def _whole(value: object, left: _Left) -> int:
    value = _scalar(value)
    kind = type(value)
    if not issubclass(kind, int) or kind is bool:
        raise _Wrong(found_text(value), coded("plugin.whole_number"))
    number = int.__int__(cast("int", value))
    if not -WHOLE_MOST <= number < WHOLE_MOST:
        raise _Wrong(coded("plugin.huge_number"), coded("plugin.whole_number"))
    return number


def _text(value: object, left: _Left) -> str:
    kind = type(value)
    if kind is CodedText:
        coded_text = cast("CodedText", value)
        args = _mapping(parser_of(object))(coded_text.args, left)
        return CodedText(_plain_text(value, left), _plain_text(coded_text.code, left), cast("dict[str, object]", args))
    return _plain_text(value, left)


def _plain_text(value: object, left: _Left) -> str:
    if not issubclass(type(value), str):
        raise _Wrong(found_text(value), coded("plugin.a_text"))
    text = str.__str__(cast("str", value))
    if len(text) > TEXT_MOST:
        raise _Wrong(coded("plugin.n_characters", n=len(text)), coded("plugin.at_most_characters", n=TEXT_MOST))
    left.take(len(text) // 100)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            found = coded("runtime.half_character", code=f"U+{ord(text[error.start]):04X}")
            raise _Wrong(found, coded("plugin.a_text")) from None
    return text


def _key(value: object, left: _Left) -> str:
    text = _plain_text(value, left)
    if len(text) > SHORT_MOST:
        raise _Wrong(coded("plugin.n_characters", n=len(text)), coded("plugin.at_most_characters", n=SHORT_MOST))
    return text


def _bytes(value: object, left: _Left) -> bytes:
    if not issubclass(type(value), bytes):
        raise _Wrong(found_text(value), "bytes")
    data = bytes(memoryview(cast("bytes", value)))
    left.take(len(data) // 100)
    return data


def _path(value: object, left: _Left) -> Path:
    if not issubclass(type(value), PurePath):
        raise _Wrong(found_text(value), coded("plugin.a_path"))
    return Path(_plain_text(PurePath.__str__(cast("PurePath", value)), left))


_UNBEGUN: Final = (GeneratorType, AsyncGeneratorType)


def _none(value: object, left: _Left) -> None:
    """Anything but work that was not begun: an `async` method's coroutine, or a generator."""
    kind = type(value)
    if kind in _UNBEGUN or any("__await__" in vars(base) for base in kind.__mro__):
        if isinstance(value, CoroutineType):
            value.close()  # or Python warns of it
        raise _Wrong(found_text(value), coded("plugin.no_async"))


def _members(value: object) -> Iterator[object] | None:
    """The members of a list, by its base class's own iterator; None for what is none."""
    kind = type(value)
    for base in (tuple, list, frozenset, set):
        if issubclass(kind, base):
            return cast("Iterator[object]", base.__iter__(value))  # type: ignore[arg-type]  # just compared
    if kind is GeneratorType:
        return cast("Iterator[object]", value)
    numpy = _numpy()
    if numpy is not None and issubclass(kind, numpy.ndarray):
        listed = _numbers(value).tolist()
        if type(listed) is list:
            return iter(listed)
    return None


def _demanded(value: object) -> Iterator[object]:
    members = _members(value)
    if members is None:
        raise _Wrong(found_text(value), coded("plugin.a_list"))
    return members


def _listed(item: Parser, make: Callable[[Iterable[object]], object]) -> Parser:
    def parse_list(value: object, left: _Left) -> object:
        made: list[object] = []
        with left:
            for index, one in enumerate(_demanded(value)):
                left.take(1)
                try:
                    made.append(item(one, left))
                except _Wrong as wrong:
                    raise wrong.within(f"[{index}]") from None
        return make(made)

    return parse_list


def _fixed(items: Sequence[Parser]) -> Parser:
    def parse_tuple(value: object, left: _Left) -> object:
        found = [one for _, one in zip(range(len(items) + 1), _demanded(value), strict=False)]
        if len(found) != len(items):
            raise _Wrong(coded("plugin.n_values", n=len(found)), coded("plugin.n_values", n=len(items)))
        with left:
            return tuple(item(one, left) for item, one in zip(items, found, strict=True))

    return parse_tuple


def _mapping(item: Parser) -> Parser:
    def parse_mapping(value: object, left: _Left) -> object:
        if not issubclass(type(value), dict):
            value = _unlocked(value)
        made: dict[str, object] = {}
        with left:
            for name, one in dict.items(cast("dict[object, object]", value)):
                left.take(1)
                key = _key(name, left)
                if key in made:
                    raise _Wrong(coded("plugin.key_twice", key=key), coded("plugin.a_mapping"))
                try:
                    made[key] = item(one, left)
                except _Wrong as wrong:
                    raise wrong.within(f".{key}") from None
        return made

    return parse_mapping


def _unlocked(value: object) -> object:
    """The mapping behind a read-only view of one."""
    if type(value) is MappingProxyType:
        return MappingProxyType.copy(value)
    raise _Wrong(found_text(value), coded("plugin.a_mapping"))


def _json(value: object, left: _Left) -> object:
    """What JSON can express: arrays of numbers are lists."""
    value = _scalar(value)
    kind = type(value)
    if value is None or kind is bool:
        return value
    for base, read in ((str, _text), (float, _float), (int, _whole), (dict, _json_object)):
        if issubclass(kind, base):
            return read(value, left)
    if _members(value) is None:
        raise _Wrong(found_text(value), coded("plugin.json_value"))
    return _json_list(value, left)


_json_object: Final = _mapping(_json)
_json_list: Final = _listed(_json, list)


# -- of arrays, of our own classes, and by hint -----------------------------------------------------------------------


def _numbers(value: object) -> NDArray[np.generic]:
    """An array of numbers of numpy's own class, with its numbers not looked at."""
    numpy = _numpy()
    if numpy is None or not issubclass(type(value), numpy.ndarray):
        raise _Wrong(found_text(value), coded("plugin.an_array"))
    array: NDArray[np.generic] = numpy.ndarray.view(value, numpy.ndarray)
    if array.dtype.kind not in "biuf" or array.ndim > 8:
        raise _Wrong(coded("plugin.array_of", dtype=str(array.dtype)[:60], n=array.ndim), coded("plugin.an_array"))
    if array.size > NUMBERS_MOST:
        raise _Wrong(coded("plugin.n_values", n=array.size), coded("plugin.at_most_values", n=NUMBERS_MOST))
    return array


def _array(value: object, left: _Left) -> object:
    array, numpy = _numbers(value), _numpy()
    if numpy is not None and array.dtype.kind == "f" and not numpy.isfinite(array).all():
        raise _Wrong(coded("plugin.not_finite_array"), coded("plugin.finite_number"))
    return array


def _any_array(value: object, left: _Left) -> object:
    return _numbers(value)


def _unbounded_array(value: object, left: _Left) -> object:
    array, numpy = _numbers(value), _numpy()
    if numpy is not None and array.dtype.kind == "f" and numpy.isnan(array).any():
        raise _Wrong(coded("plugin.not_finite_array"), coded("plugin.a_number"))
    return array


def _unread(value: object, left: _Left) -> object:
    """A mapping that is not looked at: nothing comes of it."""
    return {}


def rule(kind: type[T]) -> Callable[[Callable[[T], WrongField | None]], Callable[[T], WrongField | None]]:
    """What must hold between the parsed fields of one of our classes: a function that says what does not."""

    def register(holds: Callable[[T], WrongField | None]) -> Callable[[T], WrongField | None]:
        _RULES[kind] = cast("Callable[[object], WrongField | None]", holds)
        return holds

    return register


_RULES: Final[dict[type, Callable[[object], WrongField | None]]] = {}


def _object(kind: type, args: Sequence[object] = ()) -> Parser:
    """Of a class of ours: exactly it, each field parsed, then its rule. `args`: of its type parameters."""
    given = dict(zip(getattr(kind, "__parameters__", ()), args, strict=False))
    hints = get_type_hints(kind, include_extras=True)
    parsers = {name: parser_of(given.get(hint, hint)) for name, hint in hints.items()}

    def parse_object(value: object, left: _Left) -> object:
        if type(value) is not kind:
            raise _Wrong(found_text(value), kind.__name__)
        made: dict[str, object] = {}
        with left:
            for name, parser in parsers.items():
                left.take(1)
                try:
                    made[name] = parser(getattr(value, name), left)
                except _Wrong as wrong:
                    raise wrong.within(f".{name}") from None
                except AttributeError:  # a field that it never got
                    raise _Wrong(coded("file.nothing"), kind.__name__).within(f".{name}") from None
        new: object = kind(**made)
        if (holds := _RULES.get(kind)) is not None and (broken := holds(new)) is not None:
            raise _Wrong(broken.found, broken.expected).within(f".{broken.field}")
        return new

    return parse_object


def _word(kind: type[Enum]) -> Parser:
    def parse_word(value: object, left: _Left) -> object:
        if type(value) is not kind:
            raise _Wrong(found_text(value), coded("common.one_of", names=[str(one) for one in kind]))
        return value

    return parse_word


def _either(parsers: Sequence[Parser], optional: bool) -> Parser:
    def parse_either(value: object, left: _Left) -> object:
        if value is None and optional:
            return None
        for parser in parsers[:-1]:
            try:
                return parser(value, left)
            except _Wrong:
                continue
        return parsers[-1](value, left)

    return parse_either


def _instance(kind: type) -> Parser:
    """Of a class that has no declared fields: an object of it, which is used as it is."""

    def parse_instance(value: object, left: _Left) -> object:
        if not issubclass(type(value), kind):
            raise _Wrong(found_text(value), kind.__name__)
        return value

    return parse_instance


_PARSERS: Final[Mapping[object, Parser]] = {
    bool: _truth, int: _whole, float: _float, str: _text, bytes: _bytes, object: _json, None: _none, NoneType: _none,
    Path: _path,
}  # fmt: skip
_LISTS: Final[Mapping[object, Callable[[Iterable[object]], object]]] = {
    Sequence: tuple, Iterable: tuple, tuple: tuple, list: list, frozenset: frozenset, set: frozenset,
    AbstractSet: frozenset,
}  # fmt: skip
_MARKED: Final[Mapping[tuple[str, bool], Parser]] = {  # mark, and whether it is of an array
    (NUMPY_TOO, False): _flag, (UNREAD, False): _unread,
    (UNBOUNDED, False): _unbounded, (UNBOUNDED, True): _unbounded_array,
    (UNKNOWN, False): _any_float, (UNKNOWN, True): _any_array,
}  # fmt: skip


def _checked(parser: Parser, holds: Callable[[object], WrongField | None]) -> Parser:
    def parse_checked(value: object, left: _Left) -> object:
        found = parser(value, left)
        if (broken := holds(found)) is not None:
            raise _Wrong(broken.found, broken.expected).within(f".{broken.field}")
        return found

    return parse_checked


@lru_cache(maxsize=512)
def parser_of(hint: object) -> Parser:
    """The parser of a declared type."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        parser, array = None, is_array(args[0])
        for mark in args[1:]:
            if isinstance(mark, str) and (mark, array) in _MARKED:
                parser = _MARKED[mark, array]
            elif callable(mark):
                parser = _checked(parser or parser_of(args[0]), mark)
        return parser or parser_of(args[0])
    if hint in _PARSERS:
        return _PARSERS[hint]
    if origin in (Union, UnionType):
        return _either([parser_of(one) for one in args if one is not NoneType], NoneType in args)
    if origin is tuple and args[-1:] != (Ellipsis,):
        return _fixed([parser_of(one) for one in args])
    if origin in _LISTS:
        return _listed(parser_of(args[0]), _LISTS[origin])
    if origin in (dict, Mapping):
        return _mapping(parser_of(args[1]))
    if is_array(hint):
        return _array
    if isinstance(origin, type) and hasattr(origin, "_fields"):
        return _object(origin, args)
    if isinstance(hint, type):
        if issubclass(hint, Enum):
            return _word(hint)
        if is_dataclass(hint) or (issubclass(hint, tuple) and hasattr(hint, "_fields")):
            return _object(hint)
        return _instance(hint)
    raise TypeError(f"no parser of {hint!r}")


def is_array(hint: object) -> bool:
    """Whether a declared type is numpy's array: since numpy 2.5 `NDArray` is a name of its own."""
    return getattr(get_origin(hint), "__name__", "") in ("ndarray", "NDArray")
