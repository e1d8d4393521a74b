"""ONNX files written directly: enough of the protobuf format for a small network (onnx.ai, onnx.proto, IR version 9).

A graph is a list of nodes over named tensors; constants are arrays, and what the file says of itself is text by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from .policy_client import Array

IR, OPSET = 9, 19  # the first in which words can be compared
_TYPES: Final = {"float32": 1, "uint8": 2, "int64": 7, "string": 8, "float64": 11}
_FLOAT, _INT, _INTS = 1, 2, 7  # kinds of attribute


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """One operation: `kind` as ONNX calls it, names of what goes in and comes out, attributes int, float or ints."""

    kind: str
    takes: tuple[str, ...]
    gives: str
    attributes: Mapping[str, int | float | tuple[int, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class OnnxGraph:
    """Grows by `op` and `constant`, which give the name of their result."""

    ops: list[OnnxNode] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)

    def op(self, kind: str, *takes: str, gives: str = "", **attributes: int | float | tuple[int, ...]) -> str:
        name = gives or f"{kind.lower()}_{len(self.ops)}"
        self.ops.append(OnnxNode(kind, takes, name, attributes))
        return name

    def constant(self, values: Array) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants[name] = values
        return name


def model(
    graph: OnnxGraph,
    inputs: Mapping[str, tuple[int, ...]],
    outputs: Mapping[str, tuple[int, ...]],
    about: Mapping[str, str],
    kinds: Mapping[str, str] | None = None,
) -> bytes:
    """The file. `inputs`, `outputs`: name → shape; float32, but for the inputs that `kinds` gives another type."""
    body = b"".join(_part(1, _op(op)) for op in graph.ops)
    body += _part(2, b"policy")
    body += b"".join(_part(5, _tensor(name, values)) for name, values in graph.constants.items())
    body += b"".join(
        _part(11, _value(name, shape, (kinds or {}).get(name, "float32"))) for name, shape in inputs.items()
    )
    body += b"".join(_part(12, _value(name, shape, "float32")) for name, shape in outputs.items())
    props = b"".join(_part(14, _part(1, key.encode()) + _part(2, text.encode())) for key, text in about.items())
    return _number(1, IR) + _part(2, b"worldfs") + _part(7, body) + _part(8, _part(1, b"") + _number(2, OPSET)) + props


def _op(op: OnnxNode) -> bytes:
    parts = [_part(1, name.encode()) for name in op.takes]
    parts += [_part(2, op.gives.encode()), _part(3, op.gives.encode()), _part(4, op.kind.encode())]
    return b"".join(parts) + b"".join(_part(5, _attribute(name, value)) for name, value in op.attributes.items())


def _attribute(name: str, value: int | float | tuple[int, ...]) -> bytes:
    attributes = _part(1, name.encode())
    if isinstance(value, tuple):
        return attributes + b"".join(_number(8, one) for one in value) + _number(20, _INTS)
    if isinstance(value, int):
        return attributes + _number(3, value) + _number(20, _INT)
    return attributes + _key(2, 5) + np.float32(value).tobytes() + _number(20, _FLOAT)


def _tensor(name: str, values: Array) -> bytes:
    dims = b"".join(_number(1, size) for size in values.shape)
    if values.dtype == object:  # words
        words = b"".join(_part(6, str(word).encode()) for word in values.ravel())
        return dims + _number(2, _TYPES["string"]) + words + _part(8, name.encode())
    raw = np.ascontiguousarray(values).tobytes()
    return dims + _number(2, _TYPES[str(values.dtype)]) + _part(8, name.encode()) + _part(9, raw)


def _value(name: str, shape: Sequence[int], kind: str) -> bytes:
    dims = b"".join(_part(1, _number(1, size)) for size in shape)
    return _part(1, name.encode()) + _part(2, _part(1, _number(1, _TYPES[kind]) + _part(2, dims)))


# -- protobuf: a key is the field's number and the form of its value; lengths and whole numbers are varints -----------


def _key(field_number: int, form: int) -> bytes:
    return _varint(field_number << 3 | form)


def _number(field_number: int, value: int) -> bytes:
    return _key(field_number, 0) + _varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def _part(field_number: int, data: bytes) -> bytes:
    return _key(field_number, 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
