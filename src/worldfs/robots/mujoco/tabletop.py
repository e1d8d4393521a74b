"""The tabletop: a layout as one running world, with every arm of it in a free pose and everything at rest."""

from __future__ import annotations

import mujoco
import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

from . import panda
from .arm import Arm
from .array_types import Array
from .ik import HIGH, HOME, LOW, IKSolver
from .model_builder import build
from .motion_control import CLOSE, MotionController
from .rig import Rig
from .scene_layout import SceneLayout
from .scene_observation import arm_state
from .simulation import Simulation

SETTLE = 0.3  # s that the world comes to rest in when it is built
READY = (  # poses tried in turn until one is free of collision: home, folded, upright, turned away
    panda.HOME,
    (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785),
    (0.0, -1.2, 0.0, -2.6, 0.0, 1.8, 0.785),
    (0.0, -0.5, 0.0, -2.9, 0.0, 2.6, 0.785),
    (1.57, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785),
    (-1.57, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785),
    (0.0, 0.0, 0.0, -0.5, 0.0, 0.9, 0.785),
    (2.6, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785),
)


class Tabletop:
    """One simulation, and its arms by the ids of their robots; each arm is driven from one thread at a time."""

    def __init__(self, plan: SceneLayout) -> None:
        self.plan, self.simulation = plan, Simulation(build(plan).compile())
        self._arms: dict[str, Arm] = {}
        for place in plan.arms:
            rig = Rig(plan, self.simulation, place)
            self._arms[place.robot_id] = Arm(rig, IKSolver(place.base), MotionController(rig))
        self._stand_up()

    def arm(self, robot_id: str) -> Arm:
        """Raises `BadInput` for a robot that has no arm here."""
        if robot_id not in self._arms:
            raise BadInput(
                coded("robot.no_arm", id=robot_id), op="open", expected=coded("common.either_of", names=[*self._arms])
            )
        return self._arms[robot_id]

    def _stand_up(self) -> None:
        """Puts each arm where an earlier observation left it, else into a free pose; the world comes to rest."""
        arms, data = list(self._arms.values()), self.simulation.data
        for arm in arms:
            data.qpos[arm.view.joint_qpos], data.qpos[arm.view.finger_qpos] = panda.HOME, panda.STROKE
        mujoco.mj_forward(self.simulation.model, data)
        for arm in arms:
            _place(arm)
        mujoco.mj_forward(self.simulation.model, data)
        arms[0].mover.wait(SETTLE)


def _place(arm: Arm) -> None:
    arm.ready = _free_pose(arm)
    q, finger = arm.ready, panda.STROKE
    robot = arm.rig.placement.robot
    before = arm_state(robot)
    if before is not None:
        opening = before[1]
        # what is held touches the pads; anything else that touches means the file was edited since
        hits = arm.collision_checker(opening=opening).hits(before[0])
        if not [pair for pair in hits if robot is None or robot.holding not in pair]:
            q, finger = before
    data = arm.simulation.data
    data.qpos[arm.view.joint_qpos], data.ctrl[arm.view.servos] = q, q
    data.qpos[arm.view.finger_qpos] = finger
    holding = robot.holding if robot else None
    arm.view.grip(CLOSE if holding in arm.rig.body and finger < panda.STROKE else finger)


def _free_pose(arm: Arm) -> Array:
    checker = arm.collision_checker(opening=panda.STROKE)
    for pose in READY:
        if checker.free(np.array(pose)):
            return np.array(pose)
    rng = np.random.default_rng(3)
    for _ in range(300):
        q = rng.uniform(LOW, HIGH)
        if checker.free(q):
            return np.asarray(q)
    return HOME.copy()
