"""A pickle as data: the opcodes of plain values, and calls of what a table names; nothing is imported.

Python's own reader allocates what an opcode asks for before it reads on: nine bytes can take 3 GiB, and a tuple that
holds itself many times over takes for ever to be hashed. Here every size is compared with the bytes that are left, a
key is a text or a number, and the operations and the bytes of arrays are counted. The opcodes are those of the
standard library's pickletools, protocols 2 to 5.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from .policy_errors import printable

OPERATIONS = 200_000  # opcodes of one answer: a chunk of 100 actions has some 10,000
ARRAYS = 64 * 1024 * 1024  # bytes of all arrays of one answer
INTEGER = 16  # bytes of a whole number


class UnsafePickle(ValueError):
    """A pickle that names what is not allowed, asks for too much, or is none."""


@dataclass(slots=True)
class ReadBudget:
    """What an answer, with all pickles within it, may still take."""

    operations: int = OPERATIONS
    arrays: int = ARRAYS

    def take_arrays(self, size: int) -> None:
        self.arrays -= size
        if self.arrays < 0:
            raise UnsafePickle(f"arrays of more than {ARRAYS} bytes")


class Buildable:
    """An object whose members come after it."""

    def build(self, state: object) -> None:
        """Takes the members, which are any values. Raises `UnsafePickle`."""
        raise NotImplementedError


class PickleReader:
    """Reads one pickle after another from `data`; `at` is where the next one begins.

    `allowed`: by module and name, a value, or a callable that a pickle may call. `persistent`: what a persistent id
    stands for; None: there are none.
    """

    def __init__(
        self,
        data: bytes,
        allowed: Mapping[tuple[str, str], object],
        budget: ReadBudget,
        persistent: Callable[[object], object] | None = None,
    ) -> None:
        self.data, self.at = data, 0
        self._allowed, self._budget, self._persistent = allowed, budget, persistent
        self._stack: list[object] = []
        self._marks: list[int] = []  # places on the stack at which the items of a list, tuple or dictionary begin
        self._memo: dict[int, object] = {}

    def load(self) -> object:
        """Raises `UnsafePickle` for anything but data and allowed calls."""
        self._stack, self._marks, self._memo = [], [], {}
        try:
            return self._run()
        except (IndexError, KeyError, struct.error):
            raise UnsafePickle("it ends too early, or takes what is not there") from None

    def _run(self) -> object:
        data, at, stack, marks, memo = self.data, self.at, self._stack, self._marks, self._memo
        most = self._budget.operations
        for count in range(most):
            code = data[at]
            at += 1
            # Two of three operations of a chunk of actions are among these.
            if code == _MEMOIZE:
                memo[len(memo)] = stack[-1]
            elif code == _BINGET:
                stack.append(memo[data[at]])
                at += 1
            elif code == _BININT1:
                stack.append(data[at])
                at += 1
            elif code == _MARK:
                marks.append(len(stack))
            elif code == _TUPLE1:
                stack[-1] = (stack[-1],)
            elif code == _STOP:
                self.at = at
                self._budget.operations -= count
                return stack.pop()
            else:
                step = _STEPS.get(code)
                if step is None:
                    raise UnsafePickle(f"the opcode {code:#04x}, which no action needs")
                self.at = at
                step(self)
                at = self.at
        raise UnsafePickle(f"more than {OPERATIONS} operations")

    # -- bytes -------------------------------------------------------------------------------------------------------

    def take(self, size: int) -> bytes:
        """The next `size` bytes, which must be there."""
        start = self.at
        if not 0 <= size <= len(self.data) - start:
            raise UnsafePickle(f"a length of {size} with {len(self.data) - start} bytes left")
        self.at = start + size
        return self.data[start : self.at]

    def _number(self, form: struct.Struct) -> int:
        (found,) = form.unpack_from(self.data, self.at)
        self.at += form.size
        return int(found)

    def _line(self) -> str:
        end = self.data.index(b"\n", self.at)
        found = self.data[self.at : end].decode("ascii")
        self.at = end + 1
        return found

    # -- the stack ---------------------------------------------------------------------------------------------------

    def _items(self) -> list[object]:
        """The items above the last mark, which goes as well."""
        start = self._marks.pop()
        found = self._stack[start:]
        del self._stack[start:]
        return found

    def _named(self, module: object, name: object) -> object:
        if not isinstance(module, str) or not isinstance(name, str):
            raise UnsafePickle("a name that is no text")
        try:
            return self._allowed[module, name]
        except KeyError:
            word = printable(f"{module}.{name}", 80)
            raise UnsafePickle(f"it names {word}, which is not on the list of what may be read") from None

    # -- operations --------------------------------------------------------------------------------------------------

    def _frame(self) -> None:
        size = self._number(_U64)
        if size > len(self.data) - self.at:
            raise UnsafePickle(f"a frame of {size} bytes with {len(self.data) - self.at} left")

    def _push_integer(self) -> None:
        size = self.data[self.at]
        self.at += 1
        if size > INTEGER:
            raise UnsafePickle(f"a whole number of {size} bytes")
        self._stack.append(int.from_bytes(self.take(size), "little", signed=True))

    def _push_float(self) -> None:
        self._stack.append(_F64.unpack_from(self.data, self.at)[0])
        self.at += 8

    def _extend(self, items: list[object]) -> None:
        found = self._stack[-1]
        if type(found) is not list:
            raise UnsafePickle("an item of what is no list")
        found.extend(items)

    def _put(self, items: list[object]) -> None:
        found = self._stack[-1]
        if type(found) is not dict or len(items) % 2:
            raise UnsafePickle("a member of what is no dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str | int):  # of what else can be hashed, some takes for ever
                raise UnsafePickle(f"a key that is a {type(key).__name__}")
            found[key] = value

    def _global(self) -> None:
        module = self._line()
        self._stack.append(self._named(module, self._line()))

    def _stack_global(self) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        self._stack.append(self._named(module, name))

    def _call(self) -> None:
        """REDUCE and NEWOBJ: what may be called is one of ours, and counts what it makes."""
        given, what = self._stack.pop(), self._stack.pop()
        if type(given) is not tuple or not callable(what):
            raise UnsafePickle(f"a call of a {type(what).__name__}")
        self._stack.append(what(*given))

    def _build(self) -> None:
        state = self._stack.pop()
        made = self._stack[-1]
        if not isinstance(made, Buildable):
            raise UnsafePickle(f"members of a {type(made).__name__}")
        made.build(state)

    def _persistent_id(self) -> None:
        if self._persistent is None:
            raise UnsafePickle("it holds a persistent object")
        self._stack.append(self._persistent(self._stack.pop()))

    def _remember(self, place: int) -> None:
        self._memo[place] = self._stack[-1]


_U8, _U16, _U32, _U64 = (struct.Struct(form) for form in ("<B", "<H", "<I", "<Q"))
_I32, _F64 = struct.Struct("<i"), struct.Struct(">d")
_STOP, _MARK, _MEMOIZE, _BINGET, _BININT1, _TUPLE1 = ord("."), ord("("), 0x94, ord("h"), ord("K"), 0x85
_Step = Callable[[PickleReader], object]


def _constant(value: object) -> _Step:
    return lambda reader: reader._stack.append(value)


def _whole(form: struct.Struct) -> _Step:
    return lambda reader: reader._stack.append(reader._number(form))


def _text(form: struct.Struct) -> _Step:
    return lambda reader: reader._stack.append(reader.take(reader._number(form)).decode("utf-8", "surrogatepass"))


def _raw(form: struct.Struct) -> _Step:
    return lambda reader: reader._stack.append(reader.take(reader._number(form)))


def _tuple_of(count: int) -> _Step:
    return lambda reader: reader._stack.append(tuple([reader._stack.pop() for _ in range(count)][::-1]))


_STEPS: Final[Mapping[int, _Step]] = {
    0x80: lambda reader: reader.take(1), 0x95: PickleReader._frame,
    ord("0"): lambda reader: reader._stack.pop(), ord("1"): lambda reader: reader._items(),
    ord("N"): _constant(None), 0x88: _constant(True), 0x89: _constant(False),
    ord("J"): _whole(_I32), ord("M"): _whole(_U16), 0x8A: PickleReader._push_integer,
    ord("G"): PickleReader._push_float,
    ord("X"): _text(_U32), 0x8C: _text(_U8), 0x8D: _text(_U64),
    ord("B"): _raw(_U32), ord("C"): _raw(_U8), 0x8E: _raw(_U64),
    ord("]"): lambda reader: reader._stack.append([]), ord("}"): lambda reader: reader._stack.append({}),
    ord(")"): _constant(()), ord("t"): lambda reader: reader._stack.append(tuple(reader._items())),
    0x86: _tuple_of(2), 0x87: _tuple_of(3),
    ord("a"): lambda reader: reader._extend([reader._stack.pop()]),
    ord("e"): lambda reader: reader._extend(reader._items()),
    ord("s"): lambda reader: reader._put([reader._stack.pop(), reader._stack.pop()][::-1]),
    ord("u"): lambda reader: reader._put(reader._items()),
    ord("c"): PickleReader._global, 0x93: PickleReader._stack_global,
    ord("R"): PickleReader._call, 0x81: PickleReader._call, ord("b"): PickleReader._build,
    ord("Q"): PickleReader._persistent_id,
    ord("j"): lambda reader: reader._stack.append(reader._memo[reader._number(_U32)]),
    ord("q"): lambda reader: reader._remember(reader._number(_U8)),
    ord("r"): lambda reader: reader._remember(reader._number(_U32)),
}  # fmt: skip
