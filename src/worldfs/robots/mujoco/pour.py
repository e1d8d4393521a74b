"""Pouring: a vessel taken from the side, tipped over another, and set back; judged by counting the grains."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Order, Outcome
from worldfs.base.moved_others import MOVED_OTHERS
from worldfs.base.order_parameters import OBJECT, SUPPORT
from worldfs.robots import displacements, rotations

from . import actions, geometry, grasp, object_placement, panda, params, support, vessel_model
from .action_evidence import ActionEvidence, object_poses, plan_failure
from .arm import Arm, AttemptResult, collision_finding, unreachable_finding
from .array_types import Array
from .body_limits import TOOL
from .collision import contacts, persisting
from .shared_motion import Leg, plan_motion

SIDEWAYS = (1.5, 1.35)  # rad off straight down: the mouth is free then
YAWS = (0.0, 0.4, -0.4, 0.8, -0.8, 1.2, -1.2)  # rad off straight away from the base
TIPPED = 2.2  # rad that the vessel is tipped at most
TIP_STEP = 0.08  # rad between two waypoints
CARRY_STEP = 0.03  # m
JUMP = 0.35  # rad of any joint from one waypoint to the next: more, and the elbow turns over
CLEAR = 0.02  # m between the lowest point of the vessel and the rim below
BEFORE = 0.02  # m that the lip stays before the middle: grains fly on
HIGH = 0.06  # m higher than needed, while it is carried
FULL = 0.8  # rad that it may be tipped before anything runs
TIP_S, RUN_S, EMPTY_S, RIGHT_S = 1.2, 5.0, 0.6, 2.0  # s: so far, then slowly, then held, and back
LEANS = 0.35  # rad that it may lean once it is held: more, and grains fall out too early
POURED = 0.9  # share of the grains that must be in the target


@dataclass(frozen=True, slots=True)
class PourGoal:
    """All grains of `source` are to be in `target`. `held`: how many there are now, in each."""

    source: str
    target: str
    start: Array  # where the source stands (3, m)
    grains: int
    before: int  # in the target
    others: dict[str, displacements.ObjectPose]
    began: float  # s of the world's time


@dataclass(frozen=True, slots=True)
class PourPlan:
    """The hand's way from where it holds the vessel: joint lines to beside the target, and through the tipping."""

    carry: list[Array]
    tip: list[Array]
    length: float  # m of the carry


def legs(planned: PourPlan) -> list[Leg]:
    return [([*planned.carry, *planned.tip], None)]


# --- what is asked ---


def pour_goal(arm: Arm, order: Order) -> PourGoal | Finding:
    """What an order asks for, or why it cannot be: said before anything moves."""
    rig = arm.rig
    source = params.thing(rig, order, OBJECT[:3], objects=True)
    if isinstance(source, Finding):
        return source
    target = params.thing(rig, order, SUPPORT, objects=False)
    if isinstance(target, Finding):
        return target
    if target == source:
        return params.invalid_param(order, "target", coded("robot.param_other"), target, coded("pour.name_vessel"))
    if source not in rig.vessels:
        return params.refused("pour.vessel", coded("pour.no_vessel", id=source), coded("pour.name_vessel"), order.id)
    if target not in rig.vessels and rig.things[target].shape != "basket":
        return params.refused("pour.vessel", coded("pour.no_vessel", id=target), coded("pour.name_vessel"), order.id)
    counted = rig.grains_in(source)
    if not counted:
        return params.refused("pour.full", coded("pour.empty", id=source), coded("pour.fill"), order.id)
    before = rig.grains_in(target)
    if target in rig.vessels:
        if not support.flat(rig, target) or support.upright_axis(rig, target) != 2:
            return params.refused("pour.stands", coded("pour.lies", id=target), coded("pour.upright"), order.id)
        room = vessel_model.capacity(rig.things[target])
        if before + counted > room:
            found = coded("pour.too_much", n=counted, id=target, there=before, room=room)
            return params.refused("pour.room", found, coded("pour.less"), order.id)
    began = float(arm.simulation.data.time)
    return PourGoal(source, target, rig.position(source), counted, before, object_poses(rig), began)


def plan_pour(arm: Arm, order: Order) -> grasp.GraspPlan | Finding:
    """The grasp; the tipping is planned once the vessel is held. That it can be reached is said here."""
    goal = pour_goal(arm, order)
    if isinstance(goal, Finding):
        return goal
    if isinstance(free := actions.plan_pick(arm, order), Finding) and free.code == "HOLDING":
        return free
    return _taken(arm, goal, order.id)


def _taken(arm: Arm, goal: PourGoal, job: str) -> grasp.GraspPlan | Finding:
    """A grasp from the side from which the hand can also carry the vessel to the target and tip it there."""

    def unsuited(planned: grasp.GraspPlan) -> str:
        held = HeldVessel.predicted(arm, goal, planned)
        reached = any(_way(arm, goal, held, yaw) for yaw in _yaws(arm, goal))
        return "" if reached else coded("pour.no_joints", target=goal.target)

    if arm.reach(middle := _middle(arm, goal)) > panda.MAX_REACH:
        return unreachable_finding(arm, goal.target, middle, coded("pour.no_joints", target=goal.target), job)
    return grasp.plan(arm, goal.source, job, tilts=SIDEWAYS, unsuited=unsuited)


# --- the way ---


@dataclass(frozen=True, slots=True)
class HeldVessel:
    """How the hand holds a vessel: joints, tool point, the way that the tool points, how far it leans (negative where
    its own x axis points back), and the vessel's middle in its frame."""

    joints: Array
    position: Array
    yaw: float
    tilt: float
    offset: Array

    @staticmethod
    def of(joints: Array, position: Array, rotation: Array, middle: Array) -> HeldVessel:
        yaw = math.atan2(float(rotation[1, 2]), float(rotation[0, 2]))
        tilt = math.atan2(float(rotation[2, 0]), -float(rotation[2, 2]))
        return HeldVessel(joints, position, yaw, tilt, rotation.T @ (middle - position))

    @staticmethod
    def predicted(arm: Arm, goal: PourGoal, planned: grasp.GraspPlan) -> HeldVessel:
        position, rotation = arm.solver.pose(planned.up[-1])
        return HeldVessel.of(planned.up[-1], position, rotation, goal.start + geometry.up(planned.lift))

    @staticmethod
    def now(arm: Arm, id: str) -> HeldVessel:
        return HeldVessel.of(arm.view.joints(), *arm.view.tcp_pose(), arm.rig.position(id))


def _middle(arm: Arm, goal: PourGoal) -> Array:
    """The middle of the target's rim (3, m)."""
    rig = arm.rig
    if goal.target in rig.body:
        return rig.position(goal.target) + geometry.up(float(rig.half(goal.target)[2]))
    piece = rig.things[goal.target]
    return np.array(piece.position) + geometry.up(piece.size[2] / 2)


def _yaws(arm: Arm, goal: PourGoal) -> Iterator[float]:
    away = (_middle(arm, goal) - arm.view.base)[:2]
    toward = math.atan2(away[1], away[0])
    yield from (toward + turn for turn in YAWS)


def _hand(yaw: float, tilt: float, tipped: float) -> Array:
    """The tool points out at `yaw` and leans as it holds the vessel, less by what is tipped. Negative `tilt`: its own
    x axis points back."""
    if tilt < 0:
        return rotations.hand_rotation(yaw + math.pi, tilt + tipped)
    return rotations.hand_rotation(yaw, tilt - tipped)


def _poses(arm: Arm, goal: PourGoal, held: HeldVessel, yaw: float) -> list[tuple[Array, Array]]:
    """Hand poses while the vessel is tipped away from the hand, its lip over the target's middle all the time."""
    thing, rim = arm.rig.things[goal.source], _middle(arm, goal)
    radius, high = thing.size[0] / 2, thing.size[2] / 2
    ahead = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    found = []
    for tipped in np.linspace(0.0, TIPPED, math.ceil(TIPPED / TIP_STEP) + 1).tolist():
        s, c = math.sin(tipped), math.cos(tipped)
        lip = high * s + radius * c
        centre = rim - ahead * (lip + BEFORE) + geometry.up(CLEAR + high * abs(c) + radius * abs(s))
        rotation = _hand(yaw, held.tilt, tipped)
        found.append((centre - rotation @ held.offset, rotation))
    return found


def _chain(arm: Arm, start: Array, poses: list[tuple[Array, Array]]) -> list[Array] | None:
    """Joint angles through hand poses, each from the last; None where they fail."""
    q, path = start, list[Array]()
    for position, rotation in poses:
        found = arm.solver.near(q, position, rotation)
        if found is None or float(np.max(np.abs(found - q))) > JUMP:
            return None
        q = found
        path.append(q)
    return path


def _way(arm: Arm, goal: PourGoal, held: HeldVessel, yaw: float) -> PourPlan | None:
    """The joints that carry the vessel over and tip it towards `yaw`; None where they fail."""
    poses = _poses(arm, goal, held, yaw)
    top = arm.limits.lowered(HIGH, poses[0][0], poses[0][0] + poses[0][1] @ held.offset, least=0.0)
    between = _carried(held, poses[0][0], yaw, top)
    if not all(
        arm.limits.holds(TOOL, at) and arm.limits.holds(goal.source, at + turned @ held.offset)
        for at, turned in (*between, *poses)
    ):
        return None
    carry = _chain(arm, held.joints, between)
    tip = None if carry is None else _chain(arm, carry[-1], poses)
    if carry is None or tip is None:
        return None
    length = float(np.linalg.norm(np.diff([held.position, *(p for p, _ in between)], axis=0), axis=1).sum())
    return PourPlan([held.joints, *carry, tip[0]], tip, max(length, 0.1))


def plan_tipping(arm: Arm, goal: PourGoal, job: str) -> PourPlan | Finding:
    """From where the vessel is held now, over and round; the vessel stands as long as it is carried."""
    held, checker = HeldVessel.now(arm, goal.source), arm.collision_checker(held=goal.source)
    allowed, why, solved = persisting(checker.hits(arm.view.joints())), "", False
    for yaw in _yaws(arm, goal):
        planned = _way(arm, goal, held, yaw)
        if planned is None:
            continue
        solved = True
        if not (hits := checker.along([*planned.carry, *planned.tip], allowed=allowed)):
            return planned
        why = why or coded("robot.on_the_way", hits=contacts(hits))
    if not solved:
        said = coded("pour.no_joints", target=goal.target)
        return unreachable_finding(arm, goal.target, _middle(arm, goal), said, job)
    return collision_finding(coded("pour.way", id=goal.source, target=goal.target, why=why), job)


def _carried(held: HeldVessel, end: Array, then: float, higher: float) -> list[tuple[Array, Array]]:
    """Up, across and down again, turning on the way, the hand leaning as it does."""
    start, turn = held.position, math.remainder(then - held.yaw, 2 * math.pi)
    top = max(float(start[2]), float(end[2]) + higher)
    corners = [(start, 0.0), (np.array([*start[:2], top]), 0.0), (np.array([*end[:2], top]), 1.0), (end, 1.0)]
    found = []
    for (one, a), (other, b) in pairwise(corners):
        n = max(1, math.ceil(float(np.linalg.norm(other - one)) / CARRY_STEP), math.ceil(abs(turn * (b - a)) / 0.15))
        for k in range(1, n + 1):
            share = k / n
            rotation = _hand(held.yaw + turn * (a + (b - a) * share), held.tilt, 0.0)
            found.append((one + (other - one) * share, rotation))
    return found


# --- the motion, and its measure ---


def pour(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
    goal = pour_goal(arm, order)
    if isinstance(goal, Finding):
        return plan_failure(goal, action_evidence.close())
    planned = plan_motion(arm, lambda: plan_pour(arm, order), grasp.legs)
    if isinstance(planned, Finding):
        return plan_failure(planned, action_evidence.close())
    taken = grasp.carry_out(arm, planned)
    tilt = support.lean(arm.rig, goal.source, 2)
    if taken.ok and tilt > LEANS:
        set_back(arm, planned)
        said = coded("handling.not_upright", id=goal.source, degrees=math.degrees(tilt))
        taken = AttemptResult(False, "NOT_UPRIGHT", said)
    if not taken.ok:
        return _ended(arm, goal, taken, action_evidence)
    tipping = plan_motion(arm, lambda: plan_tipping(arm, goal, order.id), legs)
    if isinstance(tipping, Finding):
        set_back(arm, planned)
        return plan_failure(tipping, action_evidence.close())
    tip(arm, tipping)
    set_back(arm, planned)
    return _ended(arm, goal, poured(arm, goal), action_evidence)


def tip(arm: Arm, planned: PourPlan) -> None:
    mover = arm.mover
    mover.line(planned.carry, planned.length, speed=0.12)
    runs = round(FULL / TIPPED * (len(planned.tip) - 1))
    mover.line(planned.tip[: runs + 1], 1.0, speed=1.5 / TIP_S)
    mover.line(planned.tip[runs:], 1.0, speed=1.5 / RUN_S)
    mover.wait(EMPTY_S)
    mover.line(planned.tip[::-1], 1.0, speed=1.5 / RIGHT_S)
    mover.line(planned.carry[::-1], planned.length)


def set_back(arm: Arm, planned: grasp.GraspPlan) -> None:
    """Where it was taken, and the hand away from it."""
    mover = arm.mover
    mover.line(planned.up[::-1], planned.lift)
    mover.grip(panda.STROKE)
    mover.wait(0.3)
    mover.line(planned.down[::-1], grasp.APPROACH)
    mover.quiet(planned.thing)


def _ended(arm: Arm, goal: PourGoal, done: AttemptResult, action_evidence: ActionEvidence) -> Outcome:
    there, left = arm.rig.grains_in(goal.target) - goal.before, arm.rig.grains_in(goal.source)
    action_evidence.distance = done.distance
    action_evidence.more["grains"] = {
        "asked": goal.grains,
        "poured": there,
        "left": left,
        "spilled": goal.grains - there - left,
    }
    if not done.ok:
        return Outcome.failure(Cause.ERROR, done.code, done.message, evidence=action_evidence.close())
    return Outcome.success(done.message, **action_evidence.close())


def poured(arm: Arm, goal: PourGoal) -> AttemptResult:
    """The predicate: nine of ten grains counted in the target, the vessel back where it stood, upright, let go of,
    and nothing else moved."""
    rig, id = arm.rig, goal.source
    arm.mover.wait(object_placement.WATCHED)
    there, left = rig.grains_in(goal.target) - goal.before, rig.grains_in(id)
    spilled = goal.grains - there - left
    words = {"n": goal.grains, "there": there, "target": goal.target, "left": left, "id": id, "spilled": spilled}
    off = float(np.linalg.norm(rig.position(id) - goal.start))
    if "robot" in rig.touching(id):
        return AttemptResult(False, "NOT_RELEASED", coded("robot.still_touches", id=id), off)
    if there < POURED * goal.grains:
        code = "NOT_POURED" if left > spilled else "SPILLED"
        return AttemptResult(False, code, coded("pour.short", **words), off)
    if support.upright_axis(rig, id) != 2 or not support.flat(rig, id) or off > object_placement.TOLERANCE:
        return AttemptResult(
            False, "NOT_AT_GOAL", coded("robot.rests_off", id=id, at=rig.position(id), mm=off * 1000), off
        )
    meant = {id, *arm.reserved.handled_by_others(arm.robot_id, goal.began)}
    if others := displacements.displacements(goal.others, object_poses(rig), meant):
        return AttemptResult(False, MOVED_OTHERS, displacements.displacement_text(others), off)
    return AttemptResult(True, "", coded("pour.done", **words), off)
