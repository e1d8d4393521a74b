"""The geometry of a world: each body of the model with its shapes, as JSON values that a page can draw."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypedDict

import mujoco
import numpy as np

from . import panda
from .array_types import Array, Native
from .fixture_model import FIXTURES
from .quadruped.quadruped_model import TRUNK
from .scene_layout import SceneLayout

HIDDEN: Final = 3  # geoms of this group and above are not for the eye
_NAMES: Final = {
    mujoco.mjtGeom.mjGEOM_PLANE: "plane",
    mujoco.mjtGeom.mjGEOM_SPHERE: "sphere",
    mujoco.mjtGeom.mjGEOM_CAPSULE: "capsule",
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: "ellipsoid",
    mujoco.mjtGeom.mjGEOM_CYLINDER: "cylinder",
    mujoco.mjtGeom.mjGEOM_BOX: "box",
    mujoco.mjtGeom.mjGEOM_MESH: "mesh",
}


JsonList = list[dict[str, object]]


class WorldGeometry(TypedDict):
    """The values of geometry.json, less its revision."""

    middle: list[float]
    floor: float
    robots: JsonList
    bodies: JsonList
    meshes: JsonList


@dataclass(frozen=True, slots=True)
class BodyLabel:
    """What a body of the model belongs to. `kind`: robot | object | furniture; `name`: as people call it."""

    id: str
    kind: str
    name: str = ""


def labels_of(plan: SceneLayout, model: Native) -> dict[int, BodyLabel]:
    """The labels of a layout's bodies; those of the world itself have none."""
    found: dict[int, BodyLabel] = {}
    roots = {f"{place.prefix}link0": place.robot_id for place in plan.arms}
    for one in plan.carriers:
        roots[f"{one.prefix}base"] = one.robot_id
    for walking in plan.quadrupeds:
        roots[f"{walking.prefix}{TRUNK}"] = walking.robot_id
    things = [(f"object{i}", "object", t) for i, t in enumerate(plan.objects)]
    things += [(f"furniture{i}", "furniture", t) for i, t in enumerate(plan.furniture)]
    for name, kind, thing in things:
        found[model.body(name).id] = BodyLabel(thing.id, kind, thing.name)
        if thing.shape in FIXTURES:
            found[model.body(name.replace("furniture", "part")).id] = BodyLabel(thing.id, kind, thing.name)
    for name, robot_id in roots.items():
        root = model.body(name).id
        for body in range(root, model.nbody):
            if body == root or _below(model, body, root):
                found[body] = BodyLabel(robot_id, "robot")
    return found


def _below(model: Native, body: int, root: int) -> bool:
    while body:
        body = int(model.body_parentid[body])
        if body == root:
            return True
    return False


def bodies(model: Native, labels: Mapping[int, BodyLabel]) -> JsonList:
    """In the order of their indices. Sizes as MuJoCo has them: half lengths (m); a capsule's radius, half length."""
    geoms: dict[int, JsonList] = {}
    for i in range(model.ngeom):
        name = _NAMES.get(mujoco.mjtGeom(int(model.geom_type[i])))
        if name is not None and model.geom_group[i] < HIDDEN:
            geoms.setdefault(int(model.geom_bodyid[i]), []).append(_geom(model, i, name))
    found: JsonList = []
    for body in range(model.nbody):
        label = labels.get(body)
        about: dict[str, object] = (
            {} if label is None else {"id": label.id, "kind": label.kind, "name": label.name or label.id}
        )
        found.append({**about, "geoms": geoms.get(body, [])})
    return found


def meshes(model: Native) -> JsonList:
    """Vertices (f32 x y z) and faces (u32, three a triangle) as base64; a model of primitives has none."""
    found: JsonList = []
    for i in range(model.nmesh):
        first, count = int(model.mesh_vertadr[i]), int(model.mesh_vertnum[i])
        face, faces = int(model.mesh_faceadr[i]), int(model.mesh_facenum[i])
        found.append(
            {
                "vertices": _packed(model.mesh_vert[first : first + count], "<f4"),
                "faces": _packed(model.mesh_face[face : face + faces], "<u4"),
            }
        )
    return found


def robots(plan: SceneLayout, model: Native) -> JsonList:
    """Each robot with its base (x y z roll pitch yaw), and how far an arm reaches about its shoulder (m)."""
    found: JsonList = []
    for place in plan.arms:
        shoulder = [*place.base[:2], place.base[2] + panda.DH_D[0]]
        tool = model.body(f"{place.prefix}hand").id
        found.append(
            {"id": place.robot_id, "kind": "arm", "base": _round(place.base), "reach_m": panda.MAX_REACH,
             "shoulder": _round(shoulder), "tool": tool}
        )  # fmt: skip
    for one in plan.carriers:
        found.append({"id": one.robot_id, "kind": "carrier", "base": _round(one.base)})
    for walking in plan.quadrupeds:
        found.append({"id": walking.robot_id, "kind": "quadruped", "base": _round(walking.base)})
    return found


def _geom(model: Native, i: int, name: str) -> dict[str, object]:
    material = int(model.geom_matid[i])
    geom: dict[str, object] = {
        "type": name,
        "size": _round(model.geom_size[i]),
        "rgba": _round(_colour(model, i, material), 3),
    }
    pos, quat = _round(model.geom_pos[i]), _round(model.geom_quat[i], 5)
    if any(pos):
        geom["pos"] = pos
    if quat != [1, 0, 0, 0]:
        geom["quat"] = quat
    if material >= 0:
        geom["material"] = model.material(material).name
    if name == "mesh":
        geom["mesh"] = int(model.geom_dataid[i])
    return geom


def _colour(model: Native, i: int, material: int) -> Array:
    """A geom's own colour, else its material's: MuJoCo's rule."""
    own = np.asarray(model.geom_rgba[i])
    if material >= 0 and np.allclose(own, [0.5, 0.5, 0.5, 1]):
        return np.asarray(model.mat_rgba[material])
    return own


def _round(values: object, digits: int = 4) -> list[float]:
    return [v + 0.0 for v in np.round(np.asarray(values, dtype=float), digits).tolist()]


def _packed(values: Array, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode()
