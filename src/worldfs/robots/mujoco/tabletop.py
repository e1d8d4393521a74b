"""The tabletop: a layout as one running world, with every arm of it in a free pose and everything at rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from types import MappingProxyType
from typing import Final

import mujoco
import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Json, Profile, RobotState
from worldfs.robots import rotations

from . import fixture_model, geometry, motion_plan, panda
from .arm import Arm
from .array_types import Array
from .body_limits import OUTSIDE, BodyLimits
from .carrier import Carrier
from .collision import CollisionChecker
from .ik import HIGH, HOME, LOW, IKSolver
from .model_builder import TIMESTEP, build
from .motion_control import CLOSE, MotionController
from .motion_loop import CHECK_EVERY, MotionLoop
from .pacing import Pacing
from .quadruped.quadruped import Quadruped
from .quadruped.walker import STAND_UP
from .reserved_space import ReservedSpace
from .rig import BodyRig, Rig
from .scene_layout import LABEL_FLOOR, SceneLayout
from .scene_observation import arm_state
from .simulation import Simulation
from .touch_log import TouchLog

NO_PROFILES: Final[Mapping[str, Profile]] = MappingProxyType({})
SETTLE = 0.3  # s in which the world comes to rest when it is built
UNSETTLED = 6.0  # s more at most, while a thing still falls, tips, slides or rolls
RESTS = (0.01, 0.05)  # m/s and rad/s
AHEAD, LOW_HANDS = 0.42, (0.4, 0.3, 0.24, 0.19, 0.15, 0.12, 0.085, 0.06)  # m, of the tool point from the base
AHEAD_SHARE = 0.8  # of the reach, where that is less
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
    """One simulation, and its bodies by the ids of their robots; each is driven from one thread at a time."""

    def __init__(self, plan: SceneLayout, profiles: Mapping[str, Profile] = NO_PROFILES) -> None:
        """`profiles`: of the robots whose arms are to begin within their workspace bounds."""
        self.plan, self.simulation = plan, Simulation(build(plan).compile())
        self.reserved = ReservedSpace()
        self._arms: dict[str, Arm] = {}
        for place in plan.arms:
            rig = Rig(plan, self.simulation, place)
            limits = BodyLimits(
                RobotState(place.robot_id, place.base), profiles.get(place.robot_id, Profile()), arm=True
            )
            self._arms[place.robot_id] = Arm(
                rig, IKSolver(place.base), MotionController(rig), limits, reserved=self.reserved
            )
        self._carriers = {
            one.robot_id: Carrier(self.plan, self.simulation, one, self.reserved) for one in plan.carriers
        }
        self._quadrupeds = {
            one.robot_id: Quadruped(self.plan, self.simulation, one, self.reserved) for one in plan.quadrupeds
        }
        self._stand_up()
        if len(self.robots) > 1:
            self.simulation.touches = self._touch_log()

    def arm(self, robot_id: str) -> Arm:
        """Raises `BadInput` for a robot that has no arm here."""
        if robot_id not in self._arms:
            raise BadInput(
                coded("robot.no_arm", id=robot_id), op="open", expected=coded("common.either_of", names=[*self._arms])
            )
        return self._arms[robot_id]

    @property
    def robots(self) -> list[str]:
        return [*self._arms, *self._carriers, *self._quadrupeds]

    def carrier(self, robot_id: str) -> Carrier:
        """Raises `BadInput` for a robot that has no carrier here."""
        if robot_id not in self._carriers:
            expected = coded("common.either_of", names=[*self._carriers])
            raise BadInput(coded("robot.no_carrier", id=robot_id), op="open", expected=expected)
        return self._carriers[robot_id]

    def quadruped(self, robot_id: str) -> Quadruped:
        """Raises `BadInput` for a robot that has no quadruped here."""
        if robot_id not in self._quadrupeds:
            expected = coded("common.either_of", names=[*self._quadrupeds])
            raise BadInput(coded("robot.no_quadruped", id=robot_id), op="open", expected=expected)
        return self._quadrupeds[robot_id]

    def pace(self, pacing: Pacing | None) -> None:
        """From now on the world keeps to a clock; None: it goes on as fast as it can."""
        self.simulation.pacing = pacing
        every = CHECK_EVERY if pacing is None else pacing.steps_between_checks(CHECK_EVERY, TIMESTEP)
        movers: list[MotionLoop] = [arm.mover for arm in self._arms.values()]
        for mover in (*movers, *(carrier.mover for carrier in self._carriers.values())):
            mover.check_every = every

    def plans(self) -> dict[str, list[Json]]:
        """What each arm is about to do, and the space that each robot keeps for itself."""
        ghosts = [ghost for arm in self._arms.values() if (ghost := motion_plan.ghost(arm))]
        return {"robots": ghosts, "reserved": motion_plan.reserved(self.reserved)}

    def _touch_log(self) -> TouchLog:
        """No body may touch another, and a carrier or a quadruped no furniture that it does not pass over or under; an
        arm may touch a tray, as it may a basket."""
        plan, model = self.plan, self.simulation.model
        rig = BodyRig(plan, self.simulation, "")
        sides: dict[str, list[int]] = {}
        for geom, owner in enumerate(rig.geom_owner):
            sides.setdefault(owner, []).append(geom)
        arms, bases = list(rig.arms), list(rig.carriers)
        trays = [view.tray.id for view in rig.carriers.values()]
        fixed = [thing.id for thing in plan.furniture if thing.shape != "region"]
        walking = list(rig.quadrupeds)
        apart = [
            *combinations((*arms, *bases, *walking), 2),
            *product((*bases, *trays), fixed),
            *product(walking, trays),
        ]
        for body in self._quadrupeds.values():
            apart += [(body.robot_id, thing.id) for thing in plan.furniture if body.floor.stands(thing)]
        apart += [(tray, base) for tray, base in product(trays, bases) if rig.carriers[base].tray.id != tray]
        apart += combinations(trays, 2)
        del sides[LABEL_FLOOR]
        return TouchLog(model, {name: geoms for name, geoms in sides.items() if name not in rig.body}, apart)

    def _stand_up(self) -> None:
        """Puts each arm where an earlier observation left it, else into a free pose; the world comes to rest."""
        arms, data = list(self._arms.values()), self.simulation.data
        fixture_model.put_openings(self.plan.furniture, self.simulation.model, data)
        for arm in arms:
            q = READY[1] if arm.others else panda.HOME  # stretched out, two that face each other would meet
            data.qpos[arm.view.joint_qpos], data.qpos[arm.view.finger_qpos] = q, panda.STROKE
        for quadruped in self._quadrupeds.values():
            quadruped.put()
        mujoco.mj_forward(self.simulation.model, data)
        for arm in arms:
            _place(arm)
        mujoco.mj_forward(self.simulation.model, data)
        for _ in range(1 + round(UNSETTLED / SETTLE)):
            if arms:
                arms[0].mover.wait(SETTLE)
            elif not self._quadrupeds:
                self.simulation.advance("", round(SETTLE / TIMESTEP))
            if self._is_settled():
                break
        for quadruped in self._quadrupeds.values():
            for _ in range(1 + round(UNSETTLED / STAND_UP)):
                quadruped.walker.settle()
                if self._is_settled():
                    break

    def _is_settled(self) -> bool:
        model, speeds = self.simulation.model, self.simulation.data.qvel
        starts = [int(model.joint(f"free{i}").dofadr[0]) for i in range(len(self.plan.objects))]
        slow, still = RESTS
        return all(
            np.linalg.norm(speeds[at : at + 3]) < slow and np.linalg.norm(speeds[at + 3 : at + 6]) < still
            for at in starts
        )


def _place(arm: Arm) -> None:
    arm.ready = _free_pose(arm)
    q, finger = arm.ready, panda.STROKE
    robot = arm.rig.placement.robot
    before = arm_state(robot)
    if before is not None:
        opening = before[1]
        # what is held touches the pads; anything else that touches means the file was edited since
        hits = arm.collision_checker(opening=opening).hits(before[0])
        held = robot.holding if robot is not None else None
        if not [met for met in hits if held not in met and not any(one.startswith(OUTSIDE) for one in met)]:
            q, finger = before
    data = arm.simulation.data
    data.qpos[arm.view.joint_qpos], data.ctrl[arm.view.servos] = q, q
    data.qpos[arm.view.finger_qpos] = finger
    holding = robot.holding if robot else None
    arm.view.grip(CLOSE if holding in arm.rig.body and finger < panda.STROKE else finger)


def _free_pose(arm: Arm) -> Array:
    checker, known = arm.collision_checker(opening=panda.STROKE), (*READY[1:], READY[0]) if arm.others else READY
    for pose in (*map(np.array, known), *_low_poses(arm)):
        if checker.free(pose):
            return pose
    if arm.limits.bounded:  # no pose is within the bounds: the arm begins beyond them, and goes no farther
        checker = CollisionChecker(arm.rig, opening=panda.STROKE)
        free = next((pose for pose in map(np.array, known) if checker.free(pose)), None)
        if free is not None:
            return free
    rng = np.random.default_rng(3)
    for _ in range(300):
        q = rng.uniform(LOW, HIGH)
        if checker.free(q):
            return np.asarray(q)
    return HOME.copy()


def _low_poses(arm: Arm) -> Iterator[Array]:
    """Poses of a hand that points down ahead, lower and lower, for a workspace that the usual ones are not in."""
    if arm.limits.bounded:
        reach = arm.limits.profile.max_reach
        near = AHEAD if reach is None else min(AHEAD, AHEAD_SHARE * reach)
        for height in LOW_HANDS:
            ahead = arm.view.base + arm.view.base_rotation @ np.array([near, 0.0, height])
            pose = arm.solver.solve(HOME, ahead, rotations.hand_rotation(geometry.to_rpy(arm.view.base_rotation)[2]))
            if pose is not None:
                yield pose
