"""The plan of an arm as viewers see it: where its bodies will be at the end of each leg, and where it will pass."""

from __future__ import annotations

import mujoco
import numpy as np

from worldfs.base.model import Json

from .arm import Arm
from .reserved_space import ReservedSpace

SPHERES = 80  # of the reserved space: enough to see where it is


def ghost(arm: Arm) -> Json:
    """Empty where the arm has no plan. `poses`: each end of a leg, as rows of body index, x y z (m), w x y z."""
    legs = arm.planned
    if not legs:
        return {}
    model, view = arm.simulation.model, arm.view
    data = mujoco.MjData(model)
    data.qpos[:] = arm.simulation.data.qpos
    poses: list[list[list[float]]] = []
    for path, _ in legs:
        data.qpos[view.joint_qpos] = path[-1]
        mujoco.mj_kinematics(model, data)
        rows = np.hstack([data.xpos, data.xquat]).round(4).tolist()
        poses.append([[body, *rows[body]] for body in sorted(view.bodies)])
    carried = [id for _, id in legs if id is not None]
    waypoints = [np.round(path[-1], 4).tolist() for path, _ in legs]
    return {"robot": arm.robot_id, "carries": carried[0] if carried else None, "joints": waypoints, "poses": poses}


def reserved(space: ReservedSpace) -> list[Json]:
    """The space that each robot keeps for itself: spheres (x y z r, m) and boxes (lowest, highest corner)."""
    found: list[Json] = []
    for robot_id, swept in space.of_others("").items():
        step = max(1, len(swept.spheres) // SPHERES)
        spheres, boxes = swept.spheres[::step].round(3).tolist(), swept.boxes.round(3).tolist()
        found.append({"robot": robot_id, "spheres": spheres, "boxes": boxes})
    return found
