"""A safe reader of LeRobot's pickles: timed actions, numbers and tensors; nothing is ever imported or called for them.

CVE-2026-25874: `pickle.loads` of what a policy server answers runs whatever it names. Here a name means one of the few
things of `_ALLOWED`, each of our own making; every other is refused. A tensor's storage is a pickle in a pickle
(torch.storage._load_from_bytes, which torch reads without limits): its old file form is read here, by the same rule.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

import numpy as np

from .policy_client import Array

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


class UnsafePickle(pickle.UnpicklingError):
    """A pickle with a name that is not allowed, or something else than actions."""


class TimedAction:
    """lerobot's TimedAction: `timestamp`, `timestep`, `action`; its members come by BUILD."""

    action: object = None
    timestep: object = 0


@dataclass(frozen=True, slots=True)
class _Typed:
    """A storage of torch: numbers in a row."""

    data: Array


def load_actions(data: bytes) -> list[Array]:
    """A list of timed actions, in the order of their steps. Raises `UnsafePickle` for anything else; runs nothing."""
    try:
        said = _SafeUnpickler(io.BytesIO(data), _ALLOWED).load()
    except UnsafePickle:
        raise
    except Exception as error:  # a foreign pickle can fail in any way that a constructor here or the reader knows
        raise UnsafePickle(f"{type(error).__name__}: {error}") from None
    if not isinstance(said, list) or not all(isinstance(item, TimedAction) for item in said):
        raise UnsafePickle(f"a {type(said).__name__}, and no list of timed actions")
    found = []
    for item in sorted(said, key=_step):
        action = item.action.array if isinstance(item.action, _NumpyArray) else item.action
        if not isinstance(action, np.ndarray):
            raise UnsafePickle(f"an action that is a {type(action).__name__}")
        found.append(action)
    return found


class _SafeUnpickler(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, allowed: Mapping[tuple[str, str], object], storages: bool = False) -> None:
        super().__init__(stream)
        self._allowed, self._storages = allowed, storages

    def find_class(self, module: str, name: str) -> object:
        try:
            return self._allowed[module, name]
        except KeyError:
            raise UnsafePickle(f"it names {module}.{name}, which is not on the list of what may be read") from None

    def persistent_load(self, key: object) -> object:
        if self._storages and isinstance(key, tuple) and len(key) >= 5 and key[0] == "storage":
            return key
        raise UnsafePickle("it holds a persistent object")


def _step(item: TimedAction) -> int:
    return item.timestep if isinstance(item.timestep, int) else 0


def _tensor(storage: object, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: object) -> Array:
    """torch._utils._rebuild_tensor_v2."""
    if not isinstance(storage, _Typed):
        raise UnsafePickle("a tensor without storage")
    data = storage.data
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    small = len(size) <= 4 and all(type(n) is int and 0 <= n <= data.size for n in (*size, *stride, offset))
    if not small or (0 not in size and not 0 <= last < data.size) or np.prod(size, dtype=object) > data.size:
        raise UnsafePickle("a tensor that lies outside its storage")
    width = data.itemsize
    view = np.lib.stride_tricks.as_strided(data[offset:], size, tuple(step * width for step in stride))
    return view.copy()


def _storage(data: bytes) -> _Typed:
    """torch.storage._load_from_bytes: the file that torch.save wrote before there were zips."""
    stream = io.BytesIO(data)

    def load(storages: bool = False) -> object:
        return _SafeUnpickler(stream, _INNER, storages).load()

    if load() != _MAGIC or load() != _PROTOCOL:
        raise UnsafePickle("a storage in a form that is not known")
    load()  # what machine wrote it: little-endian, as every one that runs torch
    key = load(storages=True)
    keys = load()
    if not isinstance(key, tuple) or not isinstance(key[1], str) or keys != [key[2]]:
        raise UnsafePickle("a storage that holds something else")
    kind = np.dtype(key[1])
    (count,) = struct.unpack("<q", stream.read(8))
    rest = stream.read()
    # The figure counts elements, or bytes where the storage has no type.
    if count < 0 or count * kind.itemsize != len(rest):
        raise UnsafePickle("a storage whose size differs from its declaration")
    return _Typed(np.frombuffer(rest, kind))


def _typed(wrap_storage: object = None, dtype: object = None, **_: object) -> _Typed:
    """torch.storage.TypedStorage over an untyped one."""
    if not isinstance(wrap_storage, _Typed) or not isinstance(dtype, str):
        raise UnsafePickle("a storage without type")
    return _Typed(wrap_storage.data.view(np.dtype(dtype)))


class _NumpyArray:
    """numpy's _reconstruct: an array whose contents come by BUILD, and only in the plain form: numbers, no objects."""

    def __init__(self, *_: object) -> None:
        self.array: Array = np.zeros(0)

    def __setstate__(self, state: object) -> None:
        _, shape, kind, fortran, data = state if isinstance(state, tuple) and len(state) == 5 else (None,) * 5
        if not isinstance(kind, _Dtype) or not isinstance(data, bytes):
            raise UnsafePickle("an array of objects")
        self.array = np.frombuffer(data, kind.order + kind.letters).reshape(shape, order="F" if fortran else "C")


class _Dtype:
    """numpy.dtype, called with letters; of its state only the order of bytes is taken."""

    def __init__(self, type_code: object, *_: object) -> None:
        if not isinstance(type_code, str) or np.dtype(type_code).kind not in "biuf":
            raise UnsafePickle(f"numbers of type {type_code!r}")
        self.letters, self.order = type_code.lstrip("<>|="), "<"

    def __setstate__(self, state: object) -> None:
        if isinstance(state, tuple) and state[1] in ("<", ">"):
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
_CALLS: Final[Mapping[tuple[str, str], object]] = {
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch.storage", "_load_from_bytes"): _storage,
    ("torch.storage", "TypedStorage"): _typed,
    ("torch.serialization", "_get_layout"): _never,
    ("torch", "device"): _device,
    ("collections", "OrderedDict"): _nothing,
    ("numpy", "ndarray"): _never,
    ("numpy", "dtype"): _Dtype,
}
_ALLOWED: Final[Mapping[tuple[str, str], object]] = {
    **{(module, "TimedAction"): TimedAction for module in _MODULES},
    **{(module, "_reconstruct"): _NumpyArray for module in _NUMPY},
    **{("torch", name): kind for name, kind in _DTYPES.items()},
    **_CALLS,
}
