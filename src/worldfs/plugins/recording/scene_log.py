"""The scene in a log: shapes once, where each body is in each frame, and pictures, as Foxglove's messages."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from worldfs.base.json_values import as_objects
from worldfs.base.model import Json
from worldfs.robots.targets.target_adapter import Array

from .foxglove_messages import FoxgloveMessage, build

WORLD: Final = "world"  # the frame that everything stands in
QUALITY: Final = 85  # of the pictures (JPEG)


def frame_names(geometry: Json) -> list[str]:
    """The coordinate frame of each body, in the order of the geometry."""
    return [f"{index}:{body.get('id', WORLD)}" for index, body in enumerate(as_objects(geometry["bodies"]))]


def transforms(names: Sequence[str], poses: Array, at_ns: int) -> FoxgloveMessage:
    """Where the bodies are: x y z (m), w x y z each."""
    found = []
    for name, (x, y, z, w, i, j, k) in zip(names, poses.astype(float).tolist(), strict=True):
        found.append(
            build(
                "FrameTransform", timestamp=_time(at_ns), parent_frame_id=WORLD, child_frame_id=name,
                translation=build("Vector3", x=x, y=y, z=z), rotation=build("Quaternion", x=i, y=j, z=k, w=w),
            )
        )  # fmt: skip
    return build("FrameTransforms", transforms=found)


def scene_update(geometry: Json, at_ns: int) -> FoxgloveMessage:
    """Every body with its shapes, in its own frame; it moves as the transforms say."""
    meshes = as_objects(geometry.get("meshes", []))
    bodies = zip(frame_names(geometry), as_objects(geometry["bodies"]), strict=True)
    return build("SceneUpdate", entities=[_entity(name, body, meshes, at_ns) for name, body in bodies if body["geoms"]])


def picture(camera: str, rgb: Array, at_ns: int) -> FoxgloveMessage:
    """One picture of a camera (H × W × 3, uint8)."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(rgb).save(out, format="JPEG", quality=QUALITY)
    return build(
        "CompressedImage", timestamp=_time(at_ns), frame_id=f"camera/{camera}", data=out.getvalue(), format="jpeg"
    )


def _entity(name: str, body: Json, meshes: Sequence[Json], at_ns: int) -> FoxgloveMessage:
    shapes: dict[str, list[FoxgloveMessage]] = {"cubes": [], "spheres": [], "cylinders": [], "triangles": []}
    for geom in as_objects(body["geoms"]):
        _add_shape(shapes, geom, meshes)
    known = [build("KeyValuePair", key=key, value=str(body[key])) for key in ("id", "name", "kind") if key in body]
    return build(
        "SceneEntity", timestamp=_time(at_ns), frame_id=name, id=name, frame_locked=True, metadata=known, **shapes
    )


def _add_shape(shapes: dict[str, list[FoxgloveMessage]], geom: Json, meshes: Sequence[Json]) -> None:
    """Sizes are MuJoCo's half lengths here, and whole ones there."""
    a, b, c = _numbers(geom["size"])
    about = {"pose": _pose(geom), "color": _colour(geom)}
    match geom["type"]:
        case "sphere":
            shapes["spheres"].append(build("SpherePrimitive", size=_size(a, a, a), **about))
        case "ellipsoid":
            shapes["spheres"].append(build("SpherePrimitive", size=_size(a, b, c), **about))
        case "cylinder":
            shapes["cylinders"].append(_cylinder(a, b, about))
        case "capsule":
            shapes["cylinders"].append(_cylinder(a, b, about))
            shapes["spheres"] += [
                build("SpherePrimitive", size=_size(a, a, a), pose=_pose(geom, along=end), color=about["color"])
                for end in (-b, b)
            ]
        case "mesh":
            shapes["triangles"].append(_triangles(meshes[int(str(geom["mesh"]))], about))
        case "plane":
            shapes["cubes"].append(build("CubePrimitive", size=_size(a or 10, b or 10, 0.0005), **about))
        case _:
            shapes["cubes"].append(build("CubePrimitive", size=_size(a, b, c), **about))


def _cylinder(radius: float, half: float, about: Mapping[str, FoxgloveMessage]) -> FoxgloveMessage:
    return build("CylinderPrimitive", size=_size(radius, radius, half), bottom_scale=1.0, top_scale=1.0, **about)


def _triangles(mesh: Json, about: Mapping[str, FoxgloveMessage]) -> FoxgloveMessage:
    points = np.frombuffer(base64.b64decode(str(mesh["vertices"])), "<f4").reshape(-1, 3).astype(float).tolist()
    faces = np.frombuffer(base64.b64decode(str(mesh["faces"])), "<u4").tolist()
    corners = [build("Point3", x=x, y=y, z=z) for x, y, z in points]
    return build("TriangleListPrimitive", points=corners, indices=faces, **about)


def _pose(geom: Json, along: float = 0.0) -> FoxgloveMessage:
    """A shape's pose in its body; `along`: so far along its own z."""
    x, y, z = _numbers(geom.get("pos", (0, 0, 0)))
    w, i, j, k = _numbers(geom.get("quat", (1, 0, 0, 0)))
    x, y, z = x + along * 2 * (i * k + w * j), y + along * 2 * (j * k - w * i), z + along * (1 - 2 * (i * i + j * j))
    return build("Pose", position=build("Vector3", x=x, y=y, z=z), orientation=build("Quaternion", x=i, y=j, z=k, w=w))


def _size(a: float, b: float, c: float) -> FoxgloveMessage:
    return build("Vector3", x=2 * a, y=2 * b, z=2 * c)


def _colour(geom: Json) -> FoxgloveMessage:
    r, g, b, a = _numbers(geom["rgba"])
    return build("Color", r=r, g=g, b=b, a=a)


def _numbers(values: object) -> list[float]:
    return [float(v) for v in values]  # type: ignore[attr-defined]  # lists of numbers, as the geometry has them


def _time(at_ns: int) -> dict[str, int]:
    return {"seconds": at_ns // 10**9, "nanos": at_ns % 10**9}
