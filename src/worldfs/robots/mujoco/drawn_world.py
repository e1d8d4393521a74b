"""The drawn world: one simulation as viewers see it, or what a scene would look like without one that runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import mujoco
import numpy as np

from worldfs.base.json_values import as_float
from worldfs.base.model import Json, Scene

from . import fixture_model, panda, scene_geometry
from .array_types import Array, Native
from .model_builder import build
from .quadruped import quadruped_model
from .quadruped.gait import HEIGHT, STANDING
from .quadruped.quadruped_view import QuadrupedView
from .scene_geometry import WorldGeometry
from .scene_layout import SceneLayout, layout
from .scene_observation import arm_state
from .simulation import Simulation

Plans = Callable[[], dict[str, list[Json]]]


class DrawnWorld:
    """`plans`: what its robots are about to do (`robots`, `reserved`).

    Its poses are read in the thread that steps, or at rest.
    """

    def __init__(
        self,
        plan: SceneLayout,
        simulation: Simulation,
        plans: Plans = dict,
    ) -> None:
        self.plan, self.simulation, self.plans = plan, simulation, plans
        self._labels = scene_geometry.labels_of(plan, simulation.model)

    @property
    def size(self) -> int:
        """How many bodies it has."""
        return int(self.simulation.model.nbody)

    @cached_property
    def geometry(self) -> WorldGeometry:
        model, plan = self.simulation.model, self.plan
        return {
            "middle": [round(v, 4) for v in plan.middle],
            "floor": round(float(plan.floor), 4),
            "robots": scene_geometry.robots(plan, model),
            "bodies": scene_geometry.bodies(model, self._labels),
            "meshes": scene_geometry.meshes(model),
        }

    def poses(self) -> Array:
        """Position (m) and orientation (w x y z) of each body (n × 7)."""
        data = self.simulation.data
        return np.hstack([data.xpos, data.xquat])

    def contacts(self) -> list[Json]:
        """Each contact point: who, where (m), how deep (m), the force (N) and its direction in the world."""
        model, data = self.simulation.model, self.simulation.data
        found, force = [], np.zeros(6)
        for i in range(data.ncon):
            contact = data.contact[i]
            sides = [self._labels.get(int(model.geom_bodyid[g])) for g in contact.geom]
            if sides[0] == sides[1] or all(side is None or side.kind == "furniture" for side in sides):
                continue
            mujoco.mj_contactForce(model, data, i, force)
            frame = np.asarray(contact.frame).reshape(3, 3)
            found.append(
                {
                    "between": ["floor" if side is None else side.id for side in sides],
                    "point": np.round(contact.pos, 4).tolist(),
                    "depth_m": round(-float(contact.dist), 5),
                    "force_n": np.round(force[:3] @ frame, 3).tolist(),
                }
            )
        return found


def of_scene(scene: Scene, arms: Sequence[str], carriers: Sequence[str], quadrupeds: Sequence[str] = ()) -> DrawnWorld:
    """A world as a document says that it is: nothing is stepped, the arms and legs are as their joint angles say."""
    plan = layout(scene, *arms, carriers=carriers, quadrupeds=quadrupeds)
    simulation = Simulation(build(plan).compile())
    _pose_arms(plan, simulation.model, simulation.data)
    _pose_quadrupeds(plan, simulation)
    fixture_model.put_openings(plan.furniture, simulation.model, simulation.data)
    mujoco.mj_forward(simulation.model, simulation.data)
    return DrawnWorld(plan, simulation)


def _pose_arms(plan: SceneLayout, model: Native, data: Native) -> None:
    for place in plan.arms:
        joints, finger = arm_state(place.robot) or (panda.HOME, panda.STROKE)
        for name, value in zip((*panda.JOINTS, *panda.FINGER_JOINTS), (*joints, finger, finger), strict=True):
            data.qpos[int(model.joint(place.prefix + name).qposadr[0])] = value


def _pose_quadrupeds(plan: SceneLayout, simulation: Simulation) -> None:
    for one in plan.quadrupeds:
        told = one.robot.joint_state if one.robot else {}
        measured = [as_float(told.get(name), math.nan) for name in quadruped_model.JOINTS]
        pose, joints = (*one.base[:2], one.base[2] + HEIGHT, *one.base[3:]), STANDING
        if one.robot and len(one.robot.pose) >= 6 and all(map(math.isfinite, measured)):
            pose, joints = one.robot.pose, measured  # as it was seen, lying or standing
        QuadrupedView(simulation, one.prefix).put(pose, joints)
