"""Wiping: a sponge pressed over a marked area in strokes, judged by the share of the area that it touched."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Order, Outcome, Thing
from worldfs.base.moved_others import MOVED_OTHERS
from worldfs.base.name_parts import is_called
from worldfs.base.order_parameters import OBJECT, SUPPORT
from worldfs.base.standard_operations import WIPERS
from worldfs.robots import displacements, rotations

from . import actions, geometry, grasp, object_placement, panda, params, support
from .action_evidence import ActionEvidence, object_poses, plan_failure, seen_before
from .arm import Arm, AttemptResult, collision_finding, unreachable_finding
from .array_types import Array
from .body_limits import TOOL
from .collision import OFF_PATH, contacts, pair
from .path_planner import plan_path
from .scene_layout import covers
from .shared_motion import Leg, plan_motion

SPOT = 0.01  # m between two spots of an area
LAP = 0.8  # of the sponge's width from one stroke to the next
PRESS = 0.002  # m that the hand goes lower than the sponge can
LOWER = 0.0005  # m more from one end of a stroke to the next: a sponge that is pressed slips up in the fingers
OVER = 0.006  # m that the sponge goes beyond the edge
ABOVE = 0.06  # m over the area, while the sponge is carried
LOWEST = 0.03  # m: the same under an upper bound
STEP = 0.02  # m between two waypoints
SPEED = 0.12  # m/s
LOOK = 5  # steps of the world between two looks at what is touched
EDGE = 0.002  # m of the sponge's edge that is not counted
WIPED = 0.9  # share of the spots that must have been touched


@dataclass(frozen=True, slots=True)
class WipeGoal:
    """All of `area`, which is on `on`, is to be touched by `sponge`."""

    sponge: str
    area: str
    on: str
    start: Array  # where the sponge lies (3, m)
    spots: Array  # n × 2, m
    others: dict[str, displacements.ObjectPose]
    began: float  # s of the world's time
    in_hand: bool  # the sponge is held already, and stays in the hand


@dataclass(frozen=True, slots=True)
class WipePlan:
    """Joint lines over to the area, down, each stroke, up, and back to where the sponge was lifted."""

    over: list[Array]
    strokes: list[list[Array]]
    lengths: list[float]  # m, of the way over, then of each stroke
    back: list[Array]


def legs(planned: WipePlan) -> list[Leg]:
    return [([*planned.over, *(q for stroke in planned.strokes for q in stroke), *planned.back], None)]


# --- what is asked ---


def wipe_goal(arm: Arm, order: Order) -> WipeGoal | Finding:
    """What an order asks for, or why it cannot be: said before anything moves."""
    rig = arm.rig
    sponge = params.thing(rig, order, OBJECT[:3], objects=True)
    if isinstance(sponge, Finding):
        return sponge
    named = params.thing(rig, order, SUPPORT, objects=False)
    if isinstance(named, Finding):
        return named
    if not wipes(rig.things[sponge]):
        return params.refused("wipe.sponge", coded("wipe.no_sponge", id=sponge), coded("wipe.name_sponge"), order.id)
    areas = [piece.id for piece in rig.furniture if piece.shape == "region" and named in (piece.id, _under(arm, piece))]
    if len(areas) != 1:
        found = coded("wipe.areas", id=named, n=len(areas))
        return params.refused("wipe.area", found, coded("wipe.name_area"), order.id)
    piece = rig.things[areas[0]]
    on = _under(arm, piece)
    if not on:
        return params.refused("wipe.area", coded("wipe.hangs", id=piece.id), coded("wipe.name_area"), order.id)
    if there := [id for id in rig.objects if id != sponge and _stands_in(arm, id, piece)]:
        return params.refused(
            "wipe.free", coded("wipe.taken", id=piece.id, others=there), coded("wipe.clear"), order.id
        )
    began, in_hand = float(arm.simulation.data.time), rig.held() == sponge
    return WipeGoal(sponge, piece.id, on, rig.position(sponge), spots(piece), object_poses(rig), began, in_hand)


def wipes(thing: Thing) -> bool:
    """Whether it is a flat thing to wipe with."""
    return thing.shape == "box" and is_called(thing, WIPERS)


def _under(arm: Arm, area: Thing) -> str:
    """The table that an area is on; "" for none."""
    x, y, z = area.position
    tables = [t for t in arm.rig.plan.furniture if t.shape == "table" and covers(t, x, y)]
    return next((t.id for t in tables if abs(t.position[2] - z) < 0.02), "")


def _stands_in(arm: Arm, id: str, area: Thing) -> bool:
    own = rotations.matrix(area.orientation).T @ (arm.rig.position(id) - np.array(area.position))
    half = arm.rig.half(id)
    return bool(np.all(np.abs(own[:2]) < np.array(area.size[:2]) / 2 + half[:2])) and own[2] - half[2] < ABOVE


def spots(area: Thing) -> Array:
    """A grid over an area (n × 2, m)."""
    axes = [np.linspace(-s / 2, s / 2, max(2, math.ceil(s / SPOT)) + 1) for s in area.size[:2]]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    turn = rotations.matrix(area.orientation)[:2, :2]
    return np.asarray(grid @ turn.T + np.array(area.position[:2]))


# --- the way ---


def plan_wipe(arm: Arm, order: Order) -> grasp.GraspPlan | WipePlan | Finding:
    """The grasp; the strokes are planned once the sponge is held. That they can be reached is said here."""
    goal = wipe_goal(arm, order)
    if isinstance(goal, Finding):
        return goal
    if goal.in_hand:
        return plan_strokes(arm, goal, order.id)
    return _plan_grasp(arm, goal, order)


def _plan_grasp(arm: Arm, goal: WipeGoal, order: Order) -> grasp.GraspPlan | Finding:
    if isinstance(free := actions.plan_pick(arm, order), Finding):
        return free

    def unsuited(planned: grasp.GraspPlan) -> str:
        position, rotation = arm.solver.pose(planned.up[-1])
        middle = goal.start + geometry.up(planned.lift)
        turned = arm.rig.rotation(goal.sponge)
        reached = any(
            _strokes(arm, goal, planned.up[-1], (position, rotation), (middle, turned), yaw) for yaw in _yaws(arm, goal)
        )
        return "" if reached else coded("wipe.no_joints", id=goal.area)

    middle = np.array(arm.rig.things[goal.area].position)
    if arm.reach(middle) > panda.MAX_REACH:
        return unreachable_finding(arm, goal.area, middle, coded("wipe.no_joints", id=goal.area), order.id)
    return grasp.plan(arm, goal.sponge, order.id, tilts=(0.0,), unsuited=unsuited)


def _yaws(arm: Arm, goal: WipeGoal) -> list[float]:
    """Turns of the sponge that lay it along the area, in the world."""
    ahead = rotations.matrix(arm.rig.things[goal.area].orientation)[:, 0]
    along = math.atan2(ahead[1], ahead[0])
    return [along + k * math.pi / 2 for k in range(4)]


def _corners(area: Thing, half: Array) -> list[Array]:
    """Where the sponge's middle turns (m, in the area's own frame), `half` its extents there: to and fro."""
    room = np.maximum(np.array(area.size[:2]) / 2 - half + OVER, 0.0)
    rows = max(1, math.ceil(2 * room[1] / (LAP * 2 * half[1])) + 1) if room[1] > 0 else 1
    found = []
    for n, y in enumerate(np.linspace(-room[1], room[1], rows) if rows > 1 else [0.0]):
        side = 1.0 if n % 2 else -1.0
        found += [np.array([side * room[0], y]), np.array([-side * room[0], y])]
    return found


def _strokes(  # noqa: PLR0917  # how the sponge is held, and how it is to be laid
    arm: Arm, goal: WipeGoal, start: Array, hand: tuple[Array, Array], sponge: tuple[Array, Array], yaw: float
) -> WipePlan | None:
    """The joints over to the area, through every stroke; None where they fail. `hand`, `sponge`: poses when held."""
    area, thing = arm.rig.things[goal.area], arm.rig.things[goal.sponge]
    now = math.atan2(float(sponge[1][1, 0]), float(sponge[1][0, 0]))
    turn = rotations.about_z(yaw - now)
    frame = rotations.matrix(area.orientation)
    half = rotations.half_extents("box", thing.size, frame.T @ turn @ sponge[1])
    rotation, offset = turn @ hand[1], turn @ (hand[0] - sponge[0])
    top = arm.rig.things[goal.on].position[2]
    corners = [frame @ np.array([*at, 0.0]) + np.array(area.position) for at in _corners(area, half[:2])]
    deep = [PRESS + n * LOWER for n in range(len(corners))]
    low = [np.array([*at[:2], top + half[2] - d]) + offset for at, d in zip(corners, deep, strict=True)]
    rise = arm.limits.lowered(ABOVE, *low, least=LOWEST)
    high = low[0] + geometry.up(rise)
    if not all(arm.limits.holds(TOOL, at) and arm.limits.holds(goal.sponge, at - offset) for at in (*low, high)):
        return None
    first = arm.solver.near(start, high, rotation)
    first = arm.solver.solve(start, high, rotation) if first is None else first
    if first is None:
        return None
    q, strokes, lengths, at = first, [], [float(np.linalg.norm(high - hand[0]))], high
    for point in [*low, low[-1] + geometry.up(rise)]:
        length = float(np.linalg.norm(point - at))
        if length < 1e-4:
            continue
        line = arm.solver.line(q, np.linspace(at, point, max(2, math.ceil(length / STEP) + 1))[1:], rotation)
        if isinstance(line, int):
            return None
        strokes.append([q, *line])
        lengths.append(length)
        q, at = line[-1], point
    return WipePlan([start, first], strokes, lengths, [q, start])


def plan_strokes(arm: Arm, goal: WipeGoal, job: str) -> WipePlan | Finding:
    rig = arm.rig
    checker = arm.collision_checker(held=goal.sponge)
    why, solved = "", False
    held = rig.position(goal.sponge), rig.rotation(goal.sponge)
    for yaw in _yaws(arm, goal):
        planned = _strokes(arm, goal, arm.view.joints(), arm.view.tcp_pose(), held, yaw)
        if planned is None:
            continue
        solved = True
        hits = checker.along(planned.over[1:])
        for stroke in planned.strokes:
            hits = hits or checker.along(stroke, allowed={pair(goal.sponge, goal.on)}, margin=OFF_PATH)
        if hits:
            why = why or coded("robot.on_the_way", hits=contacts(hits))
            continue
        over, back = (
            plan_path(checker, way[0], way[1], via=(arm.ready,), over=arm.solver)
            for way in (planned.over, planned.back)
        )
        if over is not None and back is not None:
            return replace(planned, over=over, back=back)
        why = why or coded("robot.no_free_way_to_it")
    if not solved:
        at = np.array(rig.things[goal.area].position)
        return unreachable_finding(arm, goal.area, at, coded("wipe.no_joints", id=goal.area), job)
    return collision_finding(coded("wipe.way", id=goal.area, why=why), job)


# --- the motion, and its measure ---


class TouchedSpots:
    """Which spots of an area the held sponge has touched, by its contact with what the area is on."""

    def __init__(self, arm: Arm, goal: WipeGoal) -> None:
        self.arm, self.goal = arm, goal
        self.touched = np.zeros(len(goal.spots), dtype=bool)
        self._body = arm.rig.body[goal.sponge]

    @property
    def share(self) -> float:
        return float(self.touched.mean())

    def look(self) -> None:
        rig, goal = self.arm.rig, self.goal
        if rig.held() != goal.sponge or goal.on not in rig.touching(goal.sponge):
            return
        if support.lean(rig, goal.sponge, support.upright_axis(rig, goal.sponge)) > 0.1:
            return  # on its edge
        thing, turned = rig.things[goal.sponge], rig.rotation(goal.sponge)
        own = np.hstack([goal.spots - rig.position(goal.sponge)[:2], np.zeros((len(goal.spots), 1))]) @ turned
        flat = [i for i in range(3) if i != support.upright_axis(rig, goal.sponge)]
        half = np.array(thing.size)[flat] / 2 - EDGE
        self.touched |= np.all(np.abs(own[:, flat]) <= half, axis=1)


def wipe(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
    if unseen := seen_before(arm, order, OBJECT[:3]):
        return plan_failure(unseen, action_evidence.close())
    goal = wipe_goal(arm.planning, order)
    if isinstance(goal, Finding):
        return plan_failure(goal, action_evidence.close())
    goal = _as_it_is(arm, goal)
    touched = TouchedSpots(arm, goal)
    planned: grasp.GraspPlan | None = None
    if not goal.in_hand:
        found = plan_motion(arm, lambda: _plan_grasp(arm.planning, goal, order), grasp.legs)
        if isinstance(found, Finding):
            return plan_failure(found, action_evidence.close())
        planned = found
        taken = grasp.carry_out(arm, planned)
        if not taken.ok:
            return _ended(touched, taken, action_evidence)
    strokes = plan_motion(arm, lambda: plan_strokes(arm.planning, goal, order.id), legs)
    if not isinstance(strokes, Finding):
        carry_out(arm, strokes, touched)
    if planned is not None:
        _set_back(arm, planned)
    if isinstance(strokes, Finding):
        return plan_failure(strokes, action_evidence.close())
    return _ended(touched, wiped(arm, goal, touched), action_evidence)


def _as_it_is(arm: Arm, goal: WipeGoal) -> WipeGoal:
    """The same goal from where everything truly is now: what is measured begins there, whatever was seen."""
    return replace(goal, start=arm.rig.position(goal.sponge), others=object_poses(arm.rig))


def carry_out(arm: Arm, planned: WipePlan, touched: TouchedSpots) -> None:
    mover = arm.mover
    mover.follow(planned.over)
    before = mover.watch, mover.watch_every
    mover.watch, mover.watch_every = _both(arm, touched.look)
    try:
        for stroke, length in zip(planned.strokes, planned.lengths[1:], strict=True):
            mover.line(stroke, length, speed=SPEED)
    finally:
        mover.watch, mover.watch_every = before
    mover.follow([arm.view.joints(), *planned.back[1:]])


def _both(arm: Arm, look: Callable[[], None]) -> tuple[Callable[[], None], int]:
    """A watch for the time being, beside the one that there is: a film goes on."""
    mover = arm.mover
    other, every = mover.watch, mover.watch_every
    if other is None:
        return look, LOOK
    step = math.gcd(every, LOOK)

    def watch() -> None:
        if mover.steps % every == 0:
            other()
        if mover.steps % LOOK == 0:
            look()

    return watch, step


def _set_back(arm: Arm, planned: grasp.GraspPlan) -> None:
    mover = arm.mover
    mover.line(planned.up[::-1], planned.lift)
    mover.grip(planned.opening)
    mover.wait(0.3)
    mover.line(planned.down[::-1], grasp.APPROACH)
    mover.quiet(planned.thing)


def _ended(touched: TouchedSpots, done: AttemptResult, action_evidence: ActionEvidence) -> Outcome:
    action_evidence.distance = done.distance
    action_evidence.more["wiped"] = {
        "area": touched.goal.area,
        "spots": len(touched.touched),
        "touched": int(touched.touched.sum()),
        "share": round(touched.share, 3),
        "limit": WIPED,
    }
    if not done.ok:
        return Outcome.failure(Cause.ERROR, done.code, done.message, evidence=action_evidence.close())
    return Outcome.success(done.message, **action_evidence.close())


def wiped(arm: Arm, goal: WipeGoal, touched: TouchedSpots) -> AttemptResult:
    """The predicate: nine of ten spots touched, the sponge back where it lay and let go of, or still in the hand that
    had it, nothing else moved."""
    rig, id = arm.rig, goal.sponge
    arm.mover.wait(object_placement.WATCHED)
    off = float(np.linalg.norm(rig.position(id) - goal.start))
    words = {"area": goal.area, "percent": 100 * touched.share, "id": id}
    if touched.share < WIPED:
        return AttemptResult(False, "NOT_WIPED", coded("wipe.missed", least=100 * WIPED, **words), off)
    if goal.in_hand:
        if rig.held() != id:
            return AttemptResult(False, "OBJECT_LOST", coded("robot.lost_carrying", id=id, at=rig.position(id)), off)
    elif "robot" in rig.touching(id):
        return AttemptResult(False, "NOT_RELEASED", coded("robot.still_touches", id=id), off)
    elif off > object_placement.TOLERANCE:
        said = coded("robot.rests_off", id=id, at=rig.position(id), mm=off * 1000)
        return AttemptResult(False, "NOT_AT_GOAL", said, off)
    meant = {id, *arm.reserved.handled_by_others(arm.robot_id, goal.began)}
    if others := displacements.displacements(goal.others, object_poses(rig), meant):
        return AttemptResult(False, MOVED_OTHERS, displacements.displacement_text(others), off)
    return AttemptResult(True, "", coded("wipe.done", **words), off)
