"""The cover: geoms of a body as spheres that hold them, so that nearness is a matter of distances alone."""

from __future__ import annotations

import math
from collections.abc import Iterable

import mujoco
import numpy as np

from .array_types import Array, Native

LONGEST = 12  # spheres along one geom


class BodyCover:
    """Spheres over geoms of a model that collide: where each is in its geom's frame (m), and its radius (m)."""

    def __init__(self, model: Native, bodies: Iterable[int]) -> None:
        wanted, self._geoms = set(bodies), []
        local: list[tuple[float, float, float]] = []
        radii: list[float] = []
        for geom in range(model.ngeom):
            if int(model.geom_bodyid[geom]) in wanted and (model.geom_contype[geom] or model.geom_conaffinity[geom]):
                axis, half, across = _spindle(int(model.geom_type[geom]), [float(v) for v in model.geom_size[geom]])
                count = min(LONGEST, max(1, math.ceil(half / max(across, 1e-3))))
                apart = half / count  # each sphere holds the part of the geom within `apart` of its own middle
                for k in range(count):
                    at = [0.0, 0.0, 0.0]
                    at[axis] = -half + (2 * k + 1) * apart
                    self._geoms.append(geom)
                    local.append((at[0], at[1], at[2]))
                    radii.append(math.hypot(across, apart))
        self._at = np.array(local).reshape(-1, 3)
        self.radii = np.array(radii)

    def spheres(self, data: Native) -> Array:
        """Centre and radius of each (n × 4, m) in a state whose kinematics are computed."""
        turns = data.geom_xmat[self._geoms].reshape(-1, 3, 3)
        centres = data.geom_xpos[self._geoms] + np.einsum("nij,nj->ni", turns, self._at)
        return np.column_stack([centres, self.radii])


def _spindle(kind: int, size: list[float]) -> tuple[int, float, float]:
    """A geom's longest axis (0, 1, 2), its half length, and the half width of all across it (m)."""
    types = mujoco.mjtGeom
    if kind == types.mjGEOM_SPHERE:
        return 2, 1e-6, size[0]
    if kind == types.mjGEOM_CAPSULE:
        return 2, size[1] + size[0] * 0.5, size[0]
    if kind == types.mjGEOM_CYLINDER:
        return 2, size[1], size[0]
    axis = int(np.argmax(size))
    return axis, size[axis], math.hypot(*(s for i, s in enumerate(size) if i != axis))
