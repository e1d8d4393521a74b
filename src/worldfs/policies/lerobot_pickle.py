"""A safe reader of LeRobot's pickles: timed actions, numbers and tensors; nothing is ever imported or called for them.

CVE-2026-25874: `pickle.loads` of what a policy server answers runs whatever it names. Here a name means one of the few
things of `_allowed`, each of our own making; every other is refused. A tensor's storage is a pickle in a pickle
(torch.storage._load_from_bytes, which torch reads without limits): its old file form is read here, by the same rule.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NoReturn

import numpy as np

from .pickle_reader import ARRAYS, Buildable, PickleReader, ReadBudget, UnsafePickle
from .policy_client import Array
from .policy_errors import printable

_MAGIC: Final = 0x1950A86A20F9469CFC6C  # torch.serialization.MAGIC_NUMBER
_PROTOCOL: Final = 1001
_MODULES: Final = ("lerobot.async_inference.helpers", "lerobot.scripts.server.helpers")
_STORAGES: Final = {
    "FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2", "LongStorage": "<i8", "IntStorage": "<i4",
    "ShortStorage": "<i2", "CharStorage": "|i1", "ByteStorage": "|u1", "BoolStorage": "|b1", "UntypedStorage": "|u1",
}  # fmt: skip
_DTYPES: Final = {
    "float32": "<f4", "float64": "<f8", "float16": "<f2", "int64": "<i8", "int32": "<i4", "int16": "<i2",
    "int8": "|i1", "uint8": "|u1", "bool": "|b1",
}  # fmt: skip


class TimedAction(Buildable):
    """lerobot's TimedAction: `timestamp`, `timestep`, `action`; its members come by BUILD."""

    action: object = None
    timestep: object = 0

    def build(self, state: object) -> None:
        if isinstance(state, dict):
            self.action, self.timestep = state.get("action"), state.get("timestep", 0)


@dataclass(frozen=True, slots=True)
class _Typed:
    """A storage of torch: numbers in a row."""

    data: Array


def load_actions(data: bytes) -> list[Array]:
    """A list of timed actions, in the order of their steps. Raises `UnsafePickle` for anything else; runs nothing."""
    budget = ReadBudget()
    try:
        said = PickleReader(data, _allowed(budget), budget).load()
    except UnsafePickle:
        raise
    except Exception as error:  # a foreign pickle can fail in any way that a constructor here knows
        raise UnsafePickle(f"{type(error).__name__}: {printable(str(error), 200)}") from None
    if not isinstance(said, list) or not all(isinstance(item, TimedAction) for item in said):
        raise UnsafePickle(f"a {type(said).__name__}, and no list of timed actions")
    found = []
    for item in sorted(said, key=_step):
        action = item.action.array if isinstance(item.action, _NumpyArray) else item.action
        if not isinstance(action, np.ndarray):
            raise UnsafePickle(f"an action that is a {type(action).__name__}")
        found.append(action)
    if sum(action.nbytes for action in found) > ARRAYS:  # one array may be every action
        raise UnsafePickle(f"actions of more than {ARRAYS} bytes")
    return found


def _step(item: TimedAction) -> int:
    return item.timestep if isinstance(item.timestep, int) else 0


def _tensor(budget: ReadBudget, storage: object, offset: object, size: object, stride: object, *_: object) -> Array:
    """torch._utils._rebuild_tensor_v2."""
    if not isinstance(storage, _Typed):
        raise UnsafePickle("a tensor without storage")
    data = storage.data
    if not isinstance(size, tuple) or not isinstance(stride, tuple) or not len(size) == len(stride) <= 4:
        raise UnsafePickle("a tensor without sides")
    first, *rest = (_up_to(data.size, number) for number in (offset, *size, *stride))
    sides, steps = rest[: len(size)], rest[len(size) :]
    last, count = first + sum((n - 1) * step for n, step in zip(sides, steps, strict=True)), math.prod(sides)
    if (count and not 0 <= last < data.size) or count > data.size:
        raise UnsafePickle("a tensor that lies outside its storage")
    width = data.itemsize
    budget.take_arrays(count * width)
    view = np.lib.stride_tricks.as_strided(data[first:], sides, tuple(step * width for step in steps))
    return view.copy()


def _up_to(most: int, number: object) -> int:
    if type(number) is int and 0 <= number <= most:
        return number
    raise UnsafePickle("a tensor that lies outside its storage")


def _storage(budget: ReadBudget, data: object) -> _Typed:
    """torch.storage._load_from_bytes: the file that torch.save wrote before there were zips."""
    if not isinstance(data, bytes):
        raise UnsafePickle("a storage that is no bytes")
    reader = PickleReader(data, _INNER, budget, _storage_key)
    if reader.load() != _MAGIC or reader.load() != _PROTOCOL:
        raise UnsafePickle("a storage in a form that is not known")
    reader.load()  # what machine wrote it: little-endian, as every one that runs torch
    key, names = reader.load(), reader.load()
    if not isinstance(key, tuple) or type(names) is not list or [*map(type, names)] != [str] or names[0] != key[2]:
        raise UnsafePickle("a storage that holds something else")
    kind = np.dtype(key[1])
    (count,) = struct.unpack("<q", reader.take(8))
    # The figure counts elements, or bytes where the storage has no type.
    if count < 0 or count * kind.itemsize != len(data) - reader.at:
        raise UnsafePickle("a storage whose size differs from its declaration")
    return _Typed(np.frombuffer(data, kind, offset=reader.at))


def _storage_key(key: object) -> object:
    """("storage", kind, name, device, …)"""
    if isinstance(key, tuple) and len(key) >= 5 and all(isinstance(part, str) for part in key[:3]):
        kind = key[1]
        if key[0] == "storage" and kind in _STORAGES.values():
            return key
    raise UnsafePickle("it holds a persistent object that is no storage")


def _typed(wrap_storage: object = None, dtype: object = None, *_: object) -> _Typed:
    """torch.storage.TypedStorage over an untyped one."""
    if not isinstance(wrap_storage, _Typed) or not isinstance(dtype, str) or dtype not in _DTYPES.values():
        raise UnsafePickle("a storage without type")
    return _Typed(wrap_storage.data.view(np.dtype(dtype)))


class _NumpyArray(Buildable):
    """numpy's _reconstruct: an array whose contents come by BUILD, and only in the plain form: numbers, no objects."""

    def __init__(self, *_: object) -> None:
        self.array: Array = np.zeros(0)

    def build(self, state: object) -> None:
        _, shape, kind, fortran, data = state if isinstance(state, tuple) and len(state) == 5 else (None,) * 5
        if not isinstance(kind, _Dtype) or not isinstance(data, bytes) or not isinstance(shape, tuple):
            raise UnsafePickle("an array of objects")
        self.array = np.frombuffer(data, kind.order + kind.letters).reshape(shape, order="F" if fortran else "C")


class _Dtype(Buildable):
    """numpy.dtype, called with letters; of its state only the order of bytes is taken."""

    def __init__(self, type_code: object, *_: object) -> None:
        if not isinstance(type_code, str) or len(type_code) > 4 or np.dtype(type_code).kind not in "biuf":
            raise UnsafePickle(f"numbers of type {printable(type_code, 20) if isinstance(type_code, str) else '?'}")
        self.letters, self.order = type_code.lstrip("<>|="), "<"

    def build(self, state: object) -> None:
        if isinstance(state, tuple) and len(state) > 1 and state[1] in ("<", ">"):
            self.order = state[1]


def _nothing(*_: object) -> dict[str, object]:
    """collections.OrderedDict, a tensor's hooks: none are kept."""
    return {}


def _never(*_: object, **__: object) -> NoReturn:
    raise UnsafePickle("numpy.ndarray is no function here")


def _device(*_: object) -> str:
    return "cpu"


_INNER: Final[Mapping[tuple[str, str], object]] = {
    (module, name): kind for module in ("torch", "torch.storage") for name, kind in _STORAGES.items()
}
_NUMPY: Final = ("numpy._core.multiarray", "numpy.core.multiarray")
_PLAIN: Final[Mapping[tuple[str, str], object]] = {
    **{(module, "TimedAction"): TimedAction for module in _MODULES},
    **{(module, "_reconstruct"): _NumpyArray for module in _NUMPY},
    **{("torch", name): kind for name, kind in _DTYPES.items()},
    ("torch.storage", "TypedStorage"): _typed,
    ("torch.serialization", "_get_layout"): _never,
    ("torch", "device"): _device,
    ("collections", "OrderedDict"): _nothing,
    ("numpy", "ndarray"): _never,
    ("numpy", "dtype"): _Dtype,
}


def _allowed(budget: ReadBudget) -> Mapping[tuple[str, str], object]:
    return {
        **_PLAIN,
        ("torch._utils", "_rebuild_tensor_v2"): partial(_tensor, budget),
        ("torch.storage", "_load_from_bytes"): partial(_storage, budget),
    }
