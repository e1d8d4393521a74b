"""Arrays on a wire: what is taken from one, and how JSON carries them.

In JSON: a (nested) list of numbers, `{"__numpy__": base64 of the bytes in C order, "dtype": "<f4", "shape": [2, 3]}` as
OpenVLA and json-numpy write it, or `{"__png__": base64 of a PNG}` for a picture.
"""

from __future__ import annotations

import binascii
import json
import math
import reprlib
from collections.abc import Mapping
from io import BytesIO
from typing import Any, NoReturn

import numpy as np

from worldfs.base.json_text import each_key_once, parse_json
from worldfs.base.messages import coded

from .policy_client import Array, PolicyError

KINDS = "biuf"  # bool, integers, floats; never objects, records or complex numbers
SHORT = 64  # numbers that a list carries more readably than base64
MOST_PIXELS = 16_000_000
# Values of one message, where an array or a picture is one. A value of one byte takes up to 72 in memory.
MOST_VALUES = 1_000_000
_LONGEST_DTYPE = 8  # characters


def array_of(data: object, dtype: object, shape: object, where: str = "array") -> Array:
    """Bytes in C order as an array of its own. Raises `PolicyError` (POLICY_PROTOCOL) if they do not fit together."""
    try:
        kind = plain_dtype(dtype)
        given = list(shape) if isinstance(shape, list | tuple) else [None]
        sizes = [size for size in given if type(size) is int and size >= 0]
        if len(sizes) != len(given) or len(sizes) > 8:
            raise ValueError("no array of numbers")
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError("no bytes")
        found_array: Array = np.frombuffer(data, kind).reshape(sizes).copy()
        return found_array
    except (TypeError, ValueError, AttributeError, UnicodeDecodeError) as error:
        found = coded("session.bad_array", where=where, dtype=_brief(dtype), shape=_brief(shape), why=str(error))
    raise PolicyError(
        found, expected=coded("session.fitting_bytes"), code="POLICY_PROTOCOL",
        fix=coded("session.write_bytes"),
    )  # fmt: skip


def plain_dtype(dtype: object) -> np.dtype[Any]:
    """The dtype of numbers that a peer names. Raises `ValueError` for any other: numpy reads long names of records."""
    name = dtype.decode("ascii") if isinstance(dtype, bytes) else str(dtype) if isinstance(dtype, str) else ""
    kind = np.dtype(name) if 0 < len(name) <= _LONGEST_DTYPE else None
    if kind is None or kind.kind not in KINDS:
        raise ValueError("no array of numbers")
    return kind


def npy_array(data: bytes) -> Array:
    """The array of an .npy file of numbers, an array of its own. Raises `ValueError` for anything else.

    `np.load` allocates what the header says before it reads on.
    """
    stream = BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"an .npy file of version {version}")
    shape, fortran, kind = read(stream)
    rest = len(data) - stream.tell()
    if kind.kind not in KINDS or math.prod(shape) * kind.itemsize != rest:
        raise ValueError(f"an array of type {kind.kind} and shape {_brief(shape)} in {rest} bytes")
    flat = np.frombuffer(data, kind, offset=stream.tell())
    found: Array = flat.reshape(shape, order="F" if fortran else "C").copy()
    return found


def json_pieces(value: object, *, png: bool = False) -> list[bytes]:
    """JSON with arrays in it, assembled from bytes: `json.dumps` would scan each of a picture's characters.

    A short row of numbers is a list, a picture a PNG if wanted, any other array a map. To be joined once with its
    surroundings: a picture is large enough for a difference.
    """
    if isinstance(value, np.ndarray):
        return _array_written(value, png=png)
    if not isinstance(value, Mapping):
        return [json.dumps(value).encode()]
    parts = [b"{"]
    for name, part in value.items():
        parts += (b"," if len(parts) > 1 else b"", json.dumps(str(name)).encode(), b":", *json_pieces(part, png=png))
    return [*parts, b"}"]


def _array_written(array: Array, *, png: bool) -> list[bytes]:
    if array.ndim == 1 and array.size <= SHORT and array.dtype.kind in "iuf" and np.isfinite(array).all():
        return [json.dumps(array.tolist()).encode()]
    if png and is_picture(array):
        return [b'{"__png__":"', binascii.b2a_base64(_png(array), newline=False), b'"}']
    frame = array_to_json(np.zeros(0, array.dtype)) | {"shape": list(array.shape)}  # as it would be, without contents
    rest = json.dumps({name: part for name, part in frame.items() if name != "__numpy__"}).encode()
    return [b'{"__numpy__":"', binascii.b2a_base64(np.ascontiguousarray(array).data, newline=False), b'",', rest[1:]]


def array_to_json(array: Array) -> dict[str, object]:
    """The form of OpenVLA and json-numpy."""
    if array.dtype.kind not in KINDS:
        raise PolicyError(
            coded("session.array_of", dtype=str(array.dtype)),
            expected="numbers",
            fix=coded("session.numbers_only"),
            code="POLICY_CLIENT",
        )
    return {"__numpy__": _base64(array.tobytes()), "dtype": array.dtype.str, "shape": list(array.shape)}


def array_from_json(value: object, where: str = "array") -> Array:
    """Any of the three forms, or a number. Raises `PolicyError` (POLICY_PROTOCOL)."""
    if isinstance(value, Mapping):
        if "__numpy__" in value:
            return array_of(_bytes(value["__numpy__"], where), value.get("dtype"), value.get("shape"), where)
        if "__png__" in value:
            return _pixels(_bytes(value["__png__"], where), where)
        raise _wrong(where, coded("session.map_of", names=[*map(str, list(value)[:5])] or coded("common.none")))
    if not isinstance(value, list | int | float | bool):
        raise _wrong(where, type(value).__name__)
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise _wrong(where, str(error)) from None
    if array.dtype.kind not in KINDS:
        raise _wrong(where, f"{array.dtype}")
    return array


def read_json(data: bytes, where: str = "the answer") -> object:
    """Strict JSON: no NaN, no infinity. Raises `PolicyError` (POLICY_PROTOCOL)."""
    try:
        if sum(map(data.count, (b",", b"[", b"{"))) > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES} values")
        return parse_json(data, parse_constant=_constant, object_pairs_hook=each_key_once)
    except ValueError as error:
        start = data[:60].decode("utf-8", "replace")
        raise PolicyError(
            coded("session.no_json", where=where, why=str(error), start=start),
            expected=coded("session.json"),
            code="POLICY_PROTOCOL",
            fix=coded("session.see_protocol"),
        ) from None


def is_picture(array: Array) -> bool:
    """uint8 (H, W, 3)."""
    return array.dtype == np.uint8 and array.ndim == 3 and array.shape[2] == 3 and 0 not in array.shape


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def _bytes(text: object, where: str) -> bytes:
    try:
        return binascii.a2b_base64(text, strict_mode=True)  # type: ignore[arg-type]  # a TypeError says it is no text
    except (ValueError, TypeError) as error:
        raise _wrong(where, coded("session.no_base64", why=str(error))) from None


def _png(array: Array) -> bytes:
    from PIL import Image

    stream = BytesIO()
    Image.fromarray(array).save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def _pixels(data: bytes, where: str) -> Array:
    from PIL import Image

    try:
        with Image.open(BytesIO(data), formats=("PNG",)) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise ValueError(f"{picture.width} × {picture.height} pixels")
            return np.asarray(picture.convert("RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise _wrong(where, coded("session.no_png", why=str(error))) from None


def _wrong(where: str, found: str) -> PolicyError:
    return PolicyError(
        f"{where}: {found}", expected=coded("session.array_forms"), code="POLICY_PROTOCOL",
        fix=coded("session.see_arrays"),
    )  # fmt: skip


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _brief(value: object) -> str:
    text = reprlib.repr(value)  # which stops soon, whatever the value holds
    return text if len(text) <= 40 else text[:39] + "…"
