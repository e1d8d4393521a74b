"""The Foxglove messages of a flight log, as Protocol Buffers: Foxglove, Lichtblick and Rerun know them by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

# Message → its fields: name, number, type; a type in brackets is repeated. Numbers as in Foxglove's own .proto files.
_FIELDS: Final[dict[str, list[tuple[str, int, str]]]] = {
    "Vector3": [("x", 1, "double"), ("y", 2, "double"), ("z", 3, "double")],
    "Point3": [("x", 1, "double"), ("y", 2, "double"), ("z", 3, "double")],
    "Quaternion": [("x", 1, "double"), ("y", 2, "double"), ("z", 3, "double"), ("w", 4, "double")],
    "Color": [("r", 1, "double"), ("g", 2, "double"), ("b", 3, "double"), ("a", 4, "double")],
    "Pose": [("position", 1, "Vector3"), ("orientation", 2, "Quaternion")],
    "KeyValuePair": [("key", 1, "string"), ("value", 2, "string")],
    "CubePrimitive": [("pose", 1, "Pose"), ("size", 2, "Vector3"), ("color", 3, "Color")],
    "SpherePrimitive": [("pose", 1, "Pose"), ("size", 2, "Vector3"), ("color", 3, "Color")],
    "CylinderPrimitive": [
        ("pose", 1, "Pose"), ("size", 2, "Vector3"), ("bottom_scale", 3, "double"), ("top_scale", 4, "double"),
        ("color", 5, "Color"),
    ],
    "TriangleListPrimitive": [
        ("pose", 1, "Pose"), ("points", 2, "[Point3]"), ("color", 3, "Color"), ("colors", 4, "[Color]"),
        ("indices", 5, "[fixed32]"),
    ],
    "SceneEntity": [
        ("timestamp", 1, "Timestamp"), ("frame_id", 2, "string"), ("id", 3, "string"), ("lifetime", 4, "Duration"),
        ("frame_locked", 5, "bool"), ("metadata", 6, "[KeyValuePair]"), ("cubes", 8, "[CubePrimitive]"),
        ("spheres", 9, "[SpherePrimitive]"), ("cylinders", 10, "[CylinderPrimitive]"),
        ("triangles", 12, "[TriangleListPrimitive]"),
    ],
    "SceneUpdate": [("entities", 2, "[SceneEntity]")],
    "FrameTransform": [
        ("timestamp", 1, "Timestamp"), ("parent_frame_id", 2, "string"), ("child_frame_id", 3, "string"),
        ("translation", 4, "Vector3"), ("rotation", 5, "Quaternion"),
    ],
    "FrameTransforms": [("transforms", 1, "[FrameTransform]")],
    "CompressedImage": [
        ("timestamp", 1, "Timestamp"), ("data", 2, "bytes"), ("format", 3, "string"), ("frame_id", 4, "string"),
    ],
}  # fmt: skip
_GOOGLE: Final = {"Timestamp", "Duration"}


class FoxgloveMessage(Protocol):
    """A message as protobuf made it."""

    DESCRIPTOR: Descriptor

    def SerializeToString(self) -> bytes: ...  # protobuf's own name


def build(name: str, **values: object) -> FoxgloveMessage:
    """A message of that name, its members as protobuf takes them."""
    return _classes()[name](**values)


@cache
def file_set() -> bytes:
    """The FileDescriptorSet that MCAP keeps as the schema of each of them."""
    from google.protobuf import descriptor_pb2, duration_pb2, timestamp_pb2

    found = descriptor_pb2.FileDescriptorSet()
    for module in (timestamp_pb2, duration_pb2):
        module.DESCRIPTOR.CopyToProto(found.file.add())
    found.file.add().CopyFrom(_file())
    return bytes(found.SerializeToString(deterministic=True))


def _file() -> FileDescriptorProto:
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name="worldfs/foxglove.proto", package="foxglove", syntax="proto3")
    file.dependency.extend([f"google/protobuf/{name.lower()}.proto" for name in sorted(_GOOGLE)])
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for member, number, kind in fields:
            field = message.field.add(name=member, number=number)
            plain = kind.strip("[]")
            field.label = field.LABEL_REPEATED if kind != plain else field.LABEL_OPTIONAL
            if plain[0].isupper():
                field.type = field.TYPE_MESSAGE
                field.type_name = f".google.protobuf.{plain}" if plain in _GOOGLE else f".foxglove.{plain}"
            else:
                field.type = getattr(field, f"TYPE_{plain.upper()}")
    return file


@cache
def _classes() -> dict[str, Callable[..., FoxgloveMessage]]:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(file_set())
    for file in files.file:
        pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"foxglove.{name}")) for name in _FIELDS}
