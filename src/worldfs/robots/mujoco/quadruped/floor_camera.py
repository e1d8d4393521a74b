"""The floor of a world in which quadrupeds walk: how far it is drawn, and the camera that sees them from above."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from worldfs.robots.floor_footprint import footprint
from worldfs.robots.mujoco import geometry
from worldfs.robots.mujoco.array_types import Array, Native
from worldfs.robots.mujoco.floor_grid import FARTHEST, ROUND

if TYPE_CHECKING:
    from worldfs.robots.mujoco.scene_layout import SceneLayout

TALL: Final = 1.0  # m more of the floor in the picture where arms stand on tables
CAMERA: Final = "overview"


def add(spec: Native, plan: SceneLayout) -> None:
    """Into a model that has its floor, and is not compiled yet."""
    starts = [one.base[:2] for one in plan.quadrupeds]
    boxes = [box for thing in plan.furniture if (box := footprint(thing))]
    near = [(box.x, box.y) for box in boxes if min(box.gap((x, y)) for x, y in starts) < FARTHEST]
    others = [one.base[:2] for one in plan.arms] + [one.base[:2] for one in plan.carriers]
    corners = np.array([*starts, *near, *others])
    wide = float(np.ptp(corners, axis=0).max()) + (TALL if plan.arms else 0.0)
    middle, span = (corners.min(0) + corners.max(0)) / 2, max(2.0, wide)
    floor = spec.geom("floor")
    floor.pos, floor.size = [*middle, plan.floor], [FARTHEST + ROUND, FARTHEST + ROUND, 0.1]
    spec.visual.map.zfar = 60.0
    eye = np.array([middle[0], middle[1] - 0.62 * span, plan.floor + 0.95 * span])
    look = np.array([*middle, plan.floor]) - eye
    look /= np.linalg.norm(look)
    right = np.array([1.0, 0.0, 0.0])
    axes: Array = np.stack([right, np.cross(right, look), -look], axis=1)
    spec.worldbody.add_camera(name=CAMERA, pos=list(eye), fovy=50, quat=list(geometry.quat_of(axes)))
