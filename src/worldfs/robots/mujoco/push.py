"""The push: a thing slid over what it stands on by a straight motion of the fingers, judged by how far it went."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from worldfs.base import pushing
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Order, Outcome
from worldfs.base.order_parameters import OBJECT
from worldfs.robots import rotations

from . import geometry, panda, support
from .action_evidence import ActionEvidence, plan_failure, rounded, seen_before
from .arm import Arm, AttemptResult, collision_finding, unreachable_finding
from .array_types import Array
from .body_limits import TOOL
from .collision import OFF_PATH, Allowed, CollisionChecker, contacts, pair
from .path_planner import first_way
from .push_goal import LEAST, PushGoal, as_it_is, goal_of, push_goal, pushed
from .shared_motion import Leg, plan_motion

ABOVE = 0.10  # m over the table, from where the fingers come down
LOWEST = 0.03  # m: the same under an upper bound
LOW = 0.013  # m of the tool point over the support: the lower the push, the less it can tip over
PAD = 0.0105  # m from the tool point to the front of the fingers
BEHIND = pushing.BEHIND - PAD  # m between the fingers and the thing before it
TIP = 0.009  # m from the tool point down to the tips
STEADY = 0.6  # of a thing's half length: pushed no higher than that, it slides rather than tips over
PALM_ROOM = panda.TCP - panda.PALM - 0.008  # m over the tool point that a thing may reach up to under the palm
PALM_AHEAD = 0.0195  # m that the palm reaches farther ahead than the fingers, PALM_OVER their tips
PALM_OVER = 0.0464
LEAN = 0.06  # rad that the hand leans back more than it needs to keep its palm off a tall thing
STEEPER = (0.0, 0.2, 0.4)  # rad, where that cannot be reached
FORK = 0.010  # m a finger: wider, and the corner of a box comes too deep between the fingers
SPEED = 0.09  # m/s
STEP = 0.01  # m between two waypoints
SPARE_STEPS = 5  # into which what the hand may go beyond the planned end is divided
FINISHES = 3  # further pushes by what was measured to be left
DONE = 0.002  # m left that are left
SEEN_FINISHES = 1  # the same by pictures, each from above again
SEEN_LEFT = 0.6  # of what it may be off


@dataclass(frozen=True, slots=True)
class PushPlan:
    """Joint route to above the place behind the thing, joint lines down and ahead; `rotation` of the gripper.

    `spare`: a joint line on from the end of `ahead`, at even steps over `room` m: the hand goes no farther.
    """

    goal: PushGoal
    route: list[Array]
    down: list[Array]
    ahead: list[Array]
    rotation: Array
    opening: float
    end: Array  # m, world frame: the tool point at the end of the line ahead
    length: float  # m of the line ahead
    spare: list[Array]
    room: float
    rise: float  # m of the line down, and of the way up


def legs(planned: PushPlan) -> list[Leg]:
    return [([*planned.route, *planned.down, *planned.ahead, *planned.spare], None)]


# --- the way there ---


def plan(arm: Arm, goal: PushGoal, job: str = "") -> PushPlan | Finding:
    """A push from behind the thing, or why there is none. Moves nothing."""
    why: str = ""
    solved = False

    def plans() -> Iterator[tuple[PushPlan, CollisionChecker, Array]]:
        nonlocal why, solved
        for opening, tilt, yaw in _hands(arm, goal):
            found = _line(arm, goal, rotations.hand_rotation(yaw, tilt), opening)
            solved = solved or found is not None
            if isinstance(found, str):
                why = why or found
            elif found is not None:
                yield found, arm.collision_checker(opening=found.opening), found.down[0]

    if (reached := first_way(plans(), arm.view.joints(), via=(arm.ready,), over=arm.solver)) is not None:
        return replace(reached[0], route=reached[1])
    if not solved:
        return unreachable_finding(arm, goal.thing, goal.start, coded("handling.no_joints_push"), job)
    return collision_finding(
        coded("handling.push", id=goal.thing, at=goal.start, why=why or coded("robot.no_free_way_to_it")), job
    )


def _hands(arm: Arm, goal: PushGoal) -> Iterator[tuple[float, float, float]]:
    """(half opening, tilt, yaw) of the gripper: its closing axis across the way, its palm back from a tall thing; shut
    where a fork has no room."""
    yaw = math.atan2(goal.way[1], goal.way[0])
    least = 0.0
    if not _under_palm(arm, goal):
        least = math.atan((PALM_AHEAD + _between(arm, goal)) / PALM_OVER) + LEAN
    for opening in (_fork(arm, goal), 0.0):
        for more in STEEPER:
            yield opening, least + more, yaw
            yield opening, -least - more, yaw + math.pi


def _low(arm: Arm, goal: PushGoal) -> float:
    """How high over the support the tool point goes (m): low, but so that the palm passes over the thing."""
    steady = TIP + STEADY * _extent(arm, goal.thing, goal.way)[0]
    wanted = 2 * float(arm.rig.half(goal.thing)[2]) - PALM_ROOM
    return max(LOW, wanted) if wanted <= steady else LOW


def _under_palm(arm: Arm, goal: PushGoal) -> bool:
    return 2 * float(arm.rig.half(goal.thing)[2]) - _low(arm, goal) <= PALM_ROOM + 1e-9


def _fork(arm: Arm, goal: PushGoal) -> float:
    """Half the width between the fingers (m): two points of contact keep a thing on its line."""
    across = _extent(arm, goal.thing, goal.way)[1]
    return min(0.6 * across, panda.STROKE) if _round(arm, goal.thing) else min(0.6 * across, FORK)


def _between(arm: Arm, goal: PushGoal) -> float:
    """How deep the thing may come between the fingers (m)."""
    opening, radius = _fork(arm, goal), _extent(arm, goal.thing, goal.way)[1]
    return radius - math.sqrt(radius**2 - opening**2) if _round(arm, goal.thing) else opening


def _round(arm: Arm, id: str) -> bool:
    return arm.rig.things[id].shape == "cylinder" and support.upright_axis(arm.rig, id) == 2


def _extent(arm: Arm, id: str, way: Array) -> tuple[float, float]:
    """Half of the thing's extent along the way and across it (m)."""
    thing, turn = arm.rig.things[id], math.atan2(way[1], way[0])
    half = rotations.half_extents(thing.shape, thing.size, rotations.about_z(-turn) @ arm.rig.rotation(id))
    return float(half[0]), float(half[1])


def _line(arm: Arm, goal: PushGoal, rotation: Array, opening: float) -> PushPlan | str | None:
    """The line of the fingers for one rotation of the gripper; why it is not free; None where no joints reach it."""
    rig, way = arm.rig, np.array([*goal.way, 0.0])
    along = _extent(arm, goal.thing, goal.way)[0]
    bottom = float(goal.start[2] - rig.half(goal.thing)[2])
    lean = abs(float(rotation[2, 0]))
    start = goal.start - way * (along + PAD + BEHIND)
    start[2] = bottom + _low(arm, goal) + PAD * lean  # the edge of a tilted pad is lower than its middle
    length = BEHIND + goal.distance
    rise = arm.limits.lowered(ABOVE, start, start + way * length, least=LOWEST)
    above = _solved(arm, start + geometry.up(rise), rotation)
    if above is None:
        return None
    down = arm.solver.line(above, np.linspace(start + geometry.up(rise), start, 11)[1:], rotation)
    if isinstance(down, int):
        return None
    n = math.ceil(length / STEP) + 1
    ahead = arm.solver.line(down[-1], np.linspace(start, start + way * length, n)[1:], rotation)
    if isinstance(ahead, int):
        return None
    checker = arm.collision_checker(opening=opening)
    hits = checker.along([above, *down], margin=OFF_PATH)
    if hits:
        return coded("handling.behind_it", hits=contacts(hits))
    allowed = {pair("robot", goal.thing)}
    if hits := checker.along([down[-1], *ahead], allowed=allowed, margin=OFF_PATH):
        return coded("robot.on_the_way", hits=contacts(hits))
    end, last = start + way * length, [down[-1], *ahead][-1]
    back = arm.solver.line(last, np.array([end - way * BEHIND, end - way * BEHIND + geometry.up(rise)]), rotation)
    if not isinstance(back, int) and (hits := checker.along([last, *back], allowed=allowed, margin=OFF_PATH)):
        return coded("robot.on_the_way", hits=contacts(hits))
    spare = _free_part(checker, last, _line_on(arm, last, end, way * goal.off, rotation), allowed)
    room = goal.off * len(spare) / SPARE_STEPS
    return PushPlan(goal, [], [above, *down], [down[-1], *ahead], rotation, opening, end, length, spare, room, rise)


def _line_on(arm: Arm, last: Array, end: Array, move: Array, rotation: Array) -> list[Array]:
    """Joints along a straight motion of the tool point from `end`, where they are `last`, as far as they reach."""
    points = np.linspace(end, end + move, SPARE_STEPS + 1)[1:]
    found = arm.solver.line(last, points, rotation)
    if isinstance(found, int):
        found = arm.solver.line(last, points[:found], rotation)
    return [] if isinstance(found, int) else found


def _free_part(checker: CollisionChecker, last: Array, path: list[Array], allowed: Allowed) -> list[Array]:
    """As much of a path on from `last` as is free."""
    free: list[Array] = []
    for q in path:
        if checker.along([last, q], allowed=allowed, margin=OFF_PATH):
            break
        free.append(q)
        last = q
    return free


def _solved(arm: Arm, position: Array, rotation: Array) -> Array | None:
    for start in (arm.view.joints(), arm.ready):
        if (found := arm.solver.near(start, position, rotation)) is not None:
            return found
    return None


# --- the motion, and its measure ---


def carry_out(arm: Arm, planned: PushPlan) -> AttemptResult:
    """The push, and by pictures another by what they show to be left; success by `pushed`, of the true world."""
    goal = as_it_is(arm, planned.goal)
    if arm.believed is None:
        _stroke(arm, planned)
        return pushed(arm, goal)
    for _ in range(SEEN_FINISHES + 1):
        _stroke(arm, planned)
        further = _left_by_pictures(arm, planned.goal)
        if further is None:
            break
        planned = replace(further, goal=replace(further.goal, start=planned.goal.start, distance=planned.goal.distance))
    return pushed(arm, goal)


def _left_by_pictures(arm: Arm, goal: PushGoal) -> PushPlan | None:
    """The push of what the front camera shows to be left; None where it is little, or not to be seen or pushed."""
    if arm.look_round is None or arm.look_round() is not None:
        return None
    seen = arm.planning
    left = goal.distance - float((seen.rig.position(goal.thing) - goal.start)[:2] @ goal.way)
    if left < SEEN_LEFT * goal.off:
        return None
    aimed = goal_of(seen, goal.thing, goal.way, max(left, LEAST))
    found = aimed if isinstance(aimed, Finding) else plan(seen, aimed)
    return None if isinstance(found, Finding) else found


def _stroke(arm: Arm, planned: PushPlan) -> None:
    """Comes down behind the thing, pushes, pushes what is measured to be left, and rises."""
    mover, goal = arm.mover, planned.goal
    mover.grip(planned.opening)
    mover.wait(0.1)
    mover.follow(planned.route)
    mover.line(planned.down, planned.rise)
    mover.line(planned.ahead, planned.length, speed=SPEED)
    for _ in range(0 if arm.believed else FINISHES):  # by pictures nobody sees it while the hand is before it
        left = goal.distance - float((arm.rig.position(goal.thing) - goal.start)[:2] @ goal.way)
        beyond = float((arm.view.tcp_pose()[0] - planned.end)[:2] @ goal.way)
        left = min(left, planned.room - beyond)
        if left <= DONE:
            break
        further = _straight(arm, np.array([*goal.way, 0.0]) * left, planned.rotation)
        if further is None:
            break
        mover.line(further, left, speed=SPEED)
    for back in (np.array([*goal.way, 0.0]) * -BEHIND, geometry.up(planned.rise)):
        away = _straight(arm, back, planned.rotation)
        if away is not None:
            mover.line(away, float(np.linalg.norm(back)))
    mover.quiet(goal.thing)


def _straight(arm: Arm, move: Array, rotation: Array) -> list[Array] | None:
    """Joints along a straight motion of the tool point from where it is; None where they fail, or would leave the
    bounds."""
    start, _ = arm.view.tcp_pose()
    if not arm.limits.holds(TOOL, start + move):
        return None
    n = max(2, math.ceil(float(np.linalg.norm(move)) / STEP) + 1)
    found = arm.solver.line(arm.view.joints(), np.linspace(start, start + move, n)[1:], rotation)
    return None if isinstance(found, int) else [arm.view.joints(), *found]


# --- the operation ---


def plan_push(arm: Arm, order: Order) -> PushPlan | Finding:
    goal = push_goal(arm, order)
    return goal if isinstance(goal, Finding) else plan(arm, goal, order.id)


def push(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
    if unseen := seen_before(arm, order, OBJECT):
        return plan_failure(unseen, action_evidence.close())
    planned = plan_motion(arm, lambda: plan_push(arm.planning, order), legs)
    if isinstance(planned, Finding):
        return plan_failure(planned, action_evidence.close())
    return finished(carry_out(arm, planned), planned.goal, action_evidence)


def finished(done: AttemptResult, goal: PushGoal, action_evidence: ActionEvidence) -> Outcome:
    """The outcome of a push with what was measured of it."""
    end = goal.start[:2] + goal.way * goal.distance
    action_evidence.distance = done.distance
    action_evidence.more["goal"] = {
        "id": goal.thing,
        "position": rounded(end),
        "way": rounded(goal.way),
        "distance": goal.distance,
    }
    action_evidence.more["limit_m"] = round(goal.off, 4)
    if not done.ok:
        return Outcome.failure(Cause.ERROR, done.code, done.message, evidence=action_evidence.close())
    return Outcome.success(done.message, **action_evidence.close())
