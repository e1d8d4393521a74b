"""The goal of a push: what may be pushed which way, and the predicate that measures whether it was."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from worldfs.base import pushing
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Order
from worldfs.base.moved_others import MOVED_OTHERS
from worldfs.base.order_parameters import OBJECT
from worldfs.robots import displacements
from worldfs.robots.orientation import FLAT

from . import params, removal_trial, support
from .action_evidence import object_poses
from .arm import Arm, AttemptResult, collision_finding, covered_finding
from .array_types import Array
from .collision import contacts, depth_limits, pair
from .object_placement import SPIN, STILL, WATCHED
from .scene_layout import covers
from .vessel_model import GRAINS

LEAST, MOST = 0.01, 0.40  # m that a push may be long
STEP = 0.01  # m between two places that are looked at
ROLLS = math.cos(math.radians(20))  # of a lying cylinder's axis with the way: less, and it rolls
WAYS = {"left": (0.0, 1.0), "right": (0.0, -1.0), "forward": (1.0, 0.0), "backward": (-1.0, 0.0)}


@dataclass(frozen=True, slots=True)
class PushGoal:
    """Where a thing is to be pushed: from `start` (m) by `distance` (m) along the unit vector `way` in the plane."""

    thing: str
    start: Array
    way: Array
    distance: float
    support: str
    axis: int  # the thing's own axis that points up
    up: Array  # that axis in the world
    others: dict[str, displacements.ObjectPose]  # everything else, before
    began: float  # s of the world's time

    @property
    def off(self) -> float:
        """How far off its end it may come to rest (m)."""
        return pushing.tolerance(self.distance)


# --- what is asked ---


def direction(arm: Arm, order: Order) -> Array | Finding:
    """A unit vector in the plane of the world, from a word as the robot sees it, or from [x, y]."""
    given = order.params.get("direction")
    if isinstance(given, str) and given.strip().lower() in WAYS:
        ahead, side = WAYS[given.strip().lower()]
        return np.asarray((arm.view.base_rotation @ np.array([ahead, side, 0.0]))[:2])
    if isinstance(given, list | tuple) and len(given) == 2:
        numbers = [float(v) if isinstance(v, int | float) and math.isfinite(v) else math.nan for v in given]
        length = math.hypot(*numbers)
        if length > 1e-6:
            return np.array(numbers) / length
    return params.invalid_param(order, "direction", coded("handling.way"), given, coded("handling.give_way"))


def push_goal(arm: Arm, order: Order) -> PushGoal | Finding:
    """What an order asks for, or why no push can do it."""
    id = params.thing(arm.rig, order, OBJECT, objects=True)
    if isinstance(id, Finding):
        return id
    way = direction(arm, order)
    if isinstance(way, Finding):
        return way
    asked = order.params.get("distance")
    if isinstance(asked, bool) or not isinstance(asked, int | float) or not LEAST <= asked <= MOST:
        said = coded("handling.distance", least=LEAST, most=MOST)
        return params.invalid_param(order, "distance", said, asked, coded("handling.give_distance"))
    return goal_of(arm, id, way, float(asked), order.id)


def goal_of(arm: Arm, id: str, way: Array, distance: float, job: str = "") -> PushGoal | Finding:
    rig = arm.rig
    if (held := rig.held()) is not None:
        found, fix = coded("robot.holds", id=held), coded("robot.place_first", id=held)
        return params.refused("robot.empty_gripper", found, fix, job)
    if other := rig.holder(id):
        found, fix = coded("robot.holds_it", robot=other, id=id), coded("robot.let_place", robot=other)
        return params.refused("robot.free_object", found, fix, job)
    if above := removal_trial.held_up(rig, id):
        return covered_finding(arm, id, above, job)
    if rolls(arm, id, way):
        return params.refused("handling.slides", coded("handling.rolls", id=id), coded("handling.carry_instead"), job)
    half = rig.half(id)
    if (height := 2 * float(half[2])) < pushing.LOWEST:
        found = coded("handling.too_low", id=id, mm=height * 1000, least=pushing.LOWEST * 1000)
        return params.refused("handling.slides", found, coded("handling.carry_instead"), job)
    under = next((place for place in rig.things if _flat_top(arm, place) and support.carried(rig, id, place)), None)
    if under is None:
        by = support.format_shares(support.shares(rig, id))
        return params.refused(
            "handling.stands_flat", coded("handling.stands_on", id=id, by=by), coded("handling.carry_instead"), job
        )
    start = rig.position(id)
    end = start[:2] + way * distance
    if not covers(rig.things[under], float(end[0]), float(end[1]), -float(min(half[:2]))):
        found = coded("handling.pushed_off", id=id, at=[*end, start[2]], on=under)
        return params.refused("handling.stays_on", found, coded("handling.push_less"), job)
    if (beyond := arm.limits.refusal(id, np.array([*end, start[2]]))) is not None:
        return replace(beyond, job=job)
    if hits := blocked(arm, id, way, distance, under):
        found = coded("handling.push_meets", id=id, hits=contacts(hits))
        return collision_finding(found, job)
    others = {other: pose for other, pose in object_poses(rig).items() if other != id}
    began = float(arm.simulation.data.time)
    axis = support.upright_axis(rig, id)
    return PushGoal(id, start, way, distance, under, axis, rig.rotation(id)[:, axis], others, began)


def rolls(arm: Arm, id: str, way: Array) -> bool:
    """Whether a thing would roll that way rather than slide: it is unknown where it would stop."""
    thing, rotation = arm.rig.things[id], arm.rig.rotation(id)
    if thing.shape == "sphere":
        return True
    lies = thing.shape == "cylinder" and support.upright_axis(arm.rig, id) != 2
    return lies and abs(float(rotation[:2, 2] @ way)) < ROLLS


def _flat_top(arm: Arm, id: str) -> bool:
    piece = arm.rig.things[id]
    return id not in arm.rig.body and piece.shape in ("table", "box")


def blocked(arm: Arm, id: str, way: Array, distance: float, under: str) -> dict[tuple[str, str], float]:
    """What the thing itself would run into, as pairs and depths (m); its support and the robot left out."""
    rig, model = arm.rig, arm.simulation.model
    data = mujoco.MjData(model)
    data.qpos[:] = arm.simulation.data.qpos
    at, body = rig.qpos[id], rig.body[id]
    found: dict[tuple[str, str], float] = {}
    steps = max(2, math.ceil(distance / STEP))
    for k in range(1, steps + 1):
        data.qpos[at : at + 2] = rig.position(id)[:2] + way * distance * k / steps
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        touched = data.contact
        rows = zip(touched.geom.tolist(), -touched.dist, depth_limits(touched.frame), strict=True)
        for geoms, depth, limit in rows:
            bodies = [int(rig.geom_body[g]) for g in geoms]
            if body not in bodies or depth <= limit:
                continue
            other = rig.body_owner[bodies[1] if bodies[0] == body else bodies[0]]
            if other not in (under, "robot", GRAINS):  # grains are its content, or give way
                met = pair(id, other)
                found[met] = max(found.get(met, 0.0), float(depth))
        if found:
            break
    return found


# --- what is measured ---


def as_it_is(arm: Arm, goal: PushGoal) -> PushGoal:
    """The same goal from where everything truly is now: a plan from pictures begins where the thing was seen."""
    rig, id = arm.rig, goal.thing
    others = {other: pose for other, pose in object_poses(rig).items() if other != id}
    return replace(goal, start=rig.position(id), up=rig.rotation(id)[:, goal.axis], others=others)


def _tilt(arm: Arm, goal: PushGoal) -> float:
    """How far the thing leans from the way up that it stood (rad); a cube on another of its sides has been tipped."""
    lean = support.lean(arm.rig, goal.thing, goal.axis)
    if arm.rig.things[goal.thing].shape == "cylinder" and goal.axis != 2:
        return lean  # lying along the way it may have rolled
    return max(lean, math.acos(max(-1.0, min(1.0, float(arm.rig.rotation(goal.thing)[:, goal.axis] @ goal.up)))))


def pushed(arm: Arm, goal: PushGoal) -> AttemptResult:
    """The predicate: let go of, at rest, as far along the way as asked, on its line, the same way up, on the same
    support, and nothing else moved."""
    rig, id = arm.rig, goal.thing
    before = rig.position(id)
    arm.mover.wait(WATCHED)
    moved = (rig.position(id) - goal.start)[:2]
    along = float(moved @ goal.way)
    across = abs(float(moved[0] * goal.way[1] - moved[1] * goal.way[0]))
    short = abs(along - goal.distance)
    speed = max(rig.speed(id), float(np.linalg.norm(rig.position(id) - before)) / WATCHED)
    turning = float(np.linalg.norm(rig.simulation.data.qvel[rig.dof[id] + 3 : rig.dof[id] + 6]))
    if "robot" in rig.touching(id):
        return AttemptResult(False, "NOT_RELEASED", coded("robot.still_touches", id=id), short)
    if speed > STILL or turning > SPIN:
        return AttemptResult(False, "NOT_AT_REST", coded("robot.still_moves", id=id, speed=speed, spin=turning), short)
    tilt = _tilt(arm, goal)
    if tilt > FLAT:
        return AttemptResult(
            False, "NOT_UPRIGHT", coded("handling.fell_over", id=id, degrees=math.degrees(tilt)), short
        )
    if not support.carried(rig, id, goal.support):
        by = support.format_shares(support.shares(rig, id))
        said = coded("robot.carried_by", id=id, on=goal.support, by=by)
        return AttemptResult(False, "NOT_SUPPORTED", said, short)
    words = {"id": id, "mm": along * 1000, "want": goal.distance * 1000, "side": across * 1000}
    if math.hypot(short, across) > goal.off:
        said = coded("handling.pushed_off_goal", **words, limit=goal.off * 1000)
        return AttemptResult(False, "NOT_AT_GOAL", said, short)
    now = {other: pose for other, pose in object_poses(rig).items() if other != id}
    meant = arm.reserved.handled_by_others(arm.robot_id, goal.began)
    if others := displacements.displacements(goal.others, now, meant):
        return AttemptResult(False, MOVED_OTHERS, displacements.displacement_text(others), short)
    return AttemptResult(True, "", coded("handling.pushed", **words), short)
