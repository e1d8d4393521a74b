"""The scene of `paos view`: geometry.json as a MuJoCo model whose bodies stand where the frames of poses say."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.json_values import as_list, as_objects, as_text
from worldfs.base.messages import coded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BODIES_MOST = 20_000  # a server may say what it likes
MESH_MOST = 64 * 1024 * 1024  # signs of base64
_TYPES = {
    name: getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}")
    for name in ("plane", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
}


class ViewedScene:
    """The model, its data, and which mocap body is which body of the geometry."""

    def __init__(self, geometry: Mapping[str, object]) -> None:
        """Raises `BadInput` for what no scene can be made of."""
        try:
            self.model = _model(geometry)
        except (ValueError, KeyError, TypeError, mujoco.FatalError) as error:
            raise BadInput(coded("top.no_scene", why=str(error)), op="view") from error
        self.revision = geometry.get("revision")
        self.data = mujoco.MjData(self.model)
        self._mocap = {
            int(self.model.body(i).name.removeprefix("b")): int(self.model.body_mocapid[i])
            for i in range(1, self.model.nbody)
        }
        mujoco.mj_forward(self.model, self.data)

    def place(self, poses: Mapping[int, Sequence[float]]) -> None:
        """Bodies by index: x y z (m), w x y z. Of an index that is not in the geometry nothing is done."""
        for index, pose in poses.items():
            if (at := self._mocap.get(index)) is not None and np.isfinite(pose).all():
                self.data.mocap_pos[at], self.data.mocap_quat[at] = pose[:3], pose[3:]
        mujoco.mj_forward(self.model, self.data)


def _model(geometry: Mapping[str, object]) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    spec.worldbody.add_light(pos=[0.5, -1.5, 3], dir=[0, 0.4, -1], castshadow=True)
    bodies = as_objects(geometry.get("bodies"))
    if not 0 < len(bodies) <= BODIES_MOST:
        raise ValueError(f"{len(bodies)} bodies")
    for n, mesh in enumerate(as_objects(geometry.get("meshes"))):
        asset = spec.add_mesh(name=f"m{n}")
        asset.uservert = _numbers(mesh["vertices"], "<f4").astype(float).tolist()
        asset.userface = _numbers(mesh["faces"], "<u4").astype(int).tolist()
    for n, body in enumerate(bodies):
        made = spec.worldbody.add_body(name=f"b{n}", mocap=True)
        for geom in as_objects(body.get("geoms")):
            _add_geom(made, geom)
    return spec.compile()


def _add_geom(body: mujoco.MjsBody, geom: Mapping[str, object]) -> None:
    kind = as_text(geom.get("type"))
    made = body.add_geom(type=_TYPES[kind], contype=0, conaffinity=0, rgba=_vector(geom["rgba"], 4))
    made.pos, made.quat = _vector(geom.get("pos", [0, 0, 0]), 3), _vector(geom.get("quat", [1, 0, 0, 0]), 4)
    if kind == "mesh":
        made.meshname = f"m{int(str(geom['mesh']))}"
    else:
        made.size = _vector(geom["size"], 3)


def _vector(value: object, length: int) -> list[float]:
    found = [float(str(part)) for part in as_list(value)]
    if len(found) != length or not np.isfinite(found).all():
        raise ValueError(f"{length} numbers are expected")
    return found


def _numbers(value: object, kind: str) -> NDArray[np.generic]:
    text = as_text(value)
    if len(text) > MESH_MOST:
        raise ValueError("a mesh that is too large")
    return np.frombuffer(base64.b64decode(text, validate=True), kind)
