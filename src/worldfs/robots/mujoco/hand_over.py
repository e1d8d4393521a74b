"""Handing over: one arm holds a thing out to another, which takes it; each judges what it measures on its own side.

Two orders of two robots, `hand_over` and `take_over`, in threads of their own. Neither tells the other anything: each
goes by what it measures of the world, so the same orders make the same motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from worldfs.base.meeting_points import HEIGHTS, POINTS, meeting_points
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Order, Outcome, Thing
from worldfs.base.order_parameters import OBJECT
from worldfs.robots import rotations

from . import actions, geometry, panda, params, support
from .action_evidence import ActionEvidence, plan_failure, rounded
from .arm import GRIP_FIELD, Arm, AttemptResult, collision_finding, unreachable_finding
from .array_types import Array
from .body_limits import first_beyond
from .collision import CollisionChecker, contacts, pair
from .grip_slip import SLIP, grip_slip, slipping
from .motion_control import CLOSE
from .object_placement import STILL, WATCHED
from .path_planner import plan_path
from .shared_motion import Leg, plan_motion

LEVEL = 1.45  # rad off straight down that the giver's hand points
FACING = 0.9  # rad that the giver's hand may point beside the receiver
AWAY = 0.12  # m
MET = 0.05  # m from a point of an order that the thing may be held out
DEPTH = 0.025  # m from the thing's far end that the receiver's pads take it
ASKEW = 0.7  # cosine to the way out: a thing's own axis beyond that lies crosswise
END = 0.015  # m from the end of what lies crosswise
SLANT = math.radians(20)  # of what the pads press on: beside its axis they squeeze a can out (seen from 30 degrees on)
PADS = 0.026  # m between the tool points of two hands that hold a thing the same way
POLL = 0.1  # s
FIRM = 4  # looks in a row
GRIPPED = 2.0  # N of each of the receiver's pads, from which the giver lets go
PATIENCE = 60.0  # s of simulated time that one waits for the other


@dataclass(frozen=True, slots=True)
class OfferPlan:
    thing: str
    receiver: str
    route: list[Array]


@dataclass(frozen=True, slots=True)
class TakePlan:
    """Joint route to before the thing, and the joint line to it."""

    thing: str
    giver: str
    route: list[Array]
    ahead: list[Array]
    opening: float


def _waited(arm: Arm, so: Callable[[], bool], seconds: float, ended: Callable[[], bool] = lambda: False) -> bool:
    """Whether it came to be so, looked at `FIRM` times in a row, before the time was up, or the other's order was."""
    seen = over = 0
    for _ in range(round(seconds / POLL)):
        seen = seen + 1 if so() else 0
        over = over + 1 if ended() else 0
        if seen >= FIRM or (over >= FIRM and not seen):
            return seen >= FIRM
        arm.wait(POLL)
    return False


class _PartnerOrder:
    """The order of another robot about a thing, as the reserved space has it: begun, and over."""

    def __init__(self, arm: Arm, robot: str, id: str) -> None:
        self._arm, self._robot, self._id = arm, robot, id
        self._begun = self.at_work()

    def at_work(self) -> bool:
        return self._id in self._arm.reserved.handled_now(self._robot)

    def over(self) -> bool:
        at_work = self.at_work()
        self._begun = self._begun or at_work
        return self._begun and not at_work


# --- the giver ---


def receiver_of(arm: Arm, order: Order) -> str | Finding:
    """The other robot that an order names."""
    named = order.params.get("to")
    others = sorted(arm.rig.others)
    if isinstance(named, str) and named in arm.rig.others:
        return named
    known = coded("common.either_of", names=others) if others else coded("handover.another")
    return params.invalid_param(order, "to", known, named, coded("handover.name_robot"))


def plan_offer(arm: Arm, order: Order) -> OfferPlan | Finding:
    held = actions.held_thing(arm, order)
    if isinstance(held, Finding):
        return held
    receiver = receiver_of(arm, order)
    if isinstance(receiver, Finding):
        return receiver
    full = next((id for id in arm.rig.objects if arm.rig.holder(id) == receiver), None)
    if full is not None:
        found = coded("robot.holds_it", robot=receiver, id=full)
        fix = coded("robot.let_place", robot=receiver)
        return Finding("CRITIC_REFUSED", "ACTION.md params.to", coded("handover.free_hand"), found, fix, order.id)
    points = _allowed(order)
    return points if isinstance(points, Finding) else _offered(arm, held, receiver, points, order.id)


def _allowed(order: Order) -> list[Array] | Finding:
    """The points (m, world frame) at which an order allows the two to meet; [] where it leaves that to the robots."""
    given = order.params.get(POINTS)
    if given is None:
        return []
    points = [params.vector(one) for one in given] if isinstance(given, list | tuple) else []
    found = [one[:3] for one in points if one is not None]
    if not found or len(found) != len(points):
        return params.invalid_param(order, POINTS, coded("handover.points"), given, coded("handover.give_points"))
    return found


def _offered(arm: Arm, held: str, receiver: str, points: Sequence[Array], job: str) -> OfferPlan | Finding:
    """A way to hold it out between the bases, level, towards the other."""
    checker = arm.collision_checker(held=held)
    position, rotation = arm.view.tcp_pose()
    offset = rotation.T @ (arm.rig.position(held) - position)
    base, other = arm.view.base, arm.rig.others[receiver].base
    yaw = math.atan2(*(other - base)[[1, 0]])
    why, middle = "", (base + other) / 2
    lower = arm.limits.heights(HEIGHTS[-1:], middle, least=0.0) if arm.limits.bounded else []
    for at in points or map(np.array, meeting_points(base.tolist(), other.tolist(), (*HEIGHTS, *lower))):
        if not arm.limits.holds(held, at):
            continue
        for turned in (
            rotations.hand_rotation(yaw, LEVEL),
            rotations.hand_rotation(yaw + math.pi, -LEVEL),
        ):
            q = arm.solver.solve(arm.view.joints(), at - turned @ offset, turned)
            if q is None:
                continue
            if hits := checker.hits(q):
                why = why or coded("robot.at_goal", hits=contacts(hits))
                continue
            way = plan_path(checker, arm.view.joints(), q, via=(arm.ready,), over=arm.solver)
            if way is not None:
                return OfferPlan(held, receiver, way)
            why = why or coded("robot.no_free_way")
    if not why:
        return unreachable_finding(arm, receiver, middle, coded("handover.no_joints"), job)
    return collision_finding(coded("handover.way", id=held, robot=receiver, why=why), job)


def hand_over(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
    planned = plan_motion(arm, lambda: plan_offer(arm, order), lambda found: [(found.route, found.thing)])
    if isinstance(planned, Finding):
        return plan_failure(planned, action_evidence.close())
    done = carry_out_offer(arm, planned)
    return _ended(arm, planned.thing, done, action_evidence)


def carry_out_offer(arm: Arm, planned: OfferPlan) -> AttemptResult:
    rig, id, receiver = arm.rig, planned.thing, planned.receiver
    arm.mover.follow(planned.route, settle=0.4)
    if rig.held() != id:
        return AttemptResult(False, "OBJECT_LOST", coded("robot.lost_on_way", id=id))
    arm.reserved.release(arm.robot_id)  # it stands; where it stands the other sees
    taking = _PartnerOrder(arm, receiver, id)
    if not _waited(arm, lambda: rig.pressed_by(id, receiver) >= GRIPPED, PATIENCE, taking.over):
        if rig.held() != id:
            return AttemptResult(False, "OBJECT_LOST", coded("robot.lost_on_way", id=id))
        return AttemptResult(False, "NOT_TAKEN", coded("handover.not_taken", id=id, robot=receiver))
    arm.mover.grip(panda.STROKE)
    arm.wait(0.5)
    _back(arm)
    return handed(arm, id, receiver)


def _back(arm: Arm) -> None:
    position, rotation = arm.view.tcp_pose()
    away = position - rotation[:, 2] * AWAY
    points = np.linspace(position, away, 13)[1:]
    found = arm.solver.line(arm.view.joints(), points[: first_beyond(arm.limits, points)], rotation)
    if not isinstance(found, int) and found:
        arm.mover.line([arm.view.joints(), *found], AWAY)


def handed(arm: Arm, id: str, receiver: str) -> AttemptResult:
    """The giver's predicate: it touches the thing no more, and the other holds and carries it."""
    rig = arm.rig
    arm.wait(WATCHED)
    if "robot" in rig.touching(id):
        return AttemptResult(False, "NOT_RELEASED", coded("robot.still_touches", id=id))
    if rig.holder(id) != receiver or not support.carried(rig, id, receiver):
        by = support.format_shares(support.shares(rig, id))
        return AttemptResult(False, "OBJECT_LOST", coded("handover.dropped", id=id, robot=receiver, by=by))
    return AttemptResult(True, "", coded("handover.given", id=id, robot=receiver))


# --- the receiver ---


def review_take(arm: Arm, order: Order) -> Finding | None:
    """Why it cannot be tried; whether the thing will be held out shows only later."""
    id = params.thing(arm.rig, order, OBJECT, objects=True)
    if isinstance(id, Finding):
        return id
    if (held := arm.rig.held()) is not None:
        found, fix = coded("robot.holds", id=held), coded("robot.place_first", id=held)
        return Finding("HOLDING", "ENVIRONMENT.md robots[].holding", coded("robot.empty_gripper"), found, fix, order.id)
    if isinstance(points := _allowed(order), Finding):
        return points
    if not arm.rig.others:
        found, fix = coded("handover.alone"), coded("handover.name_robot")
        return Finding("CRITIC_REFUSED", "ACTION.md params", coded("handover.another"), found, fix, order.id)
    return None


def offered(arm: Arm, id: str) -> bool:
    """Whether another robot, by an order about it, holds it out to this one: arrived, still, level, towards it."""
    rig = arm.rig
    giver = rig.holder(id)
    if giver is None or rig.speed(id) > STILL or giver in arm.reserved.of_others(arm.robot_id):
        return False
    if not _PartnerOrder(arm, giver, id).at_work():
        return False
    view = rig.others[giver]
    position, rotation = view.tcp_pose()
    toward = arm.view.base + geometry.up(float(position[2] - arm.view.base[2])) - position
    toward /= max(float(np.linalg.norm(toward)), 1e-6)
    return float(rotation[:, 2] @ toward) > math.cos(FACING) and float(np.max(np.abs(view.speeds()))) < 0.02


def plan_take(arm: Arm, id: str, job: str = "") -> TakePlan | Finding:
    """A grasp from the other side: across the giver's fingers, else beyond them."""
    rig = arm.rig
    giver = rig.holder(id)
    if giver is None:
        found = coded("handover.not_offered", id=id)
        return Finding("NOT_OFFERED", "ACTION.md params", coded("handover.offer"), found, coded("handover.give"), job)
    tool, turned = rig.others[giver].tcp_pose()
    out, closing = turned[:, 2], turned[:, 1]
    frame = np.stack([closing, np.cross(out, closing), out], axis=1)
    thing = rig.things[id]
    reach = rotations.half_extents(thing.shape, thing.size, frame.T @ rig.rotation(id))
    centre, turn = rig.position(id), rig.rotation(id)
    why, solved = "", False
    sides = [(frame[:, 1], 2 * float(reach[1])), (closing, 2 * float(reach[0]))]
    narrow = [(axis, width) for axis, width in sides if width <= panda.MAX_GRIP]
    for at, (axis, width) in product(_places(thing, centre, turn, out, float(reach[2])), narrow):
        across = at - tool - closing * float((at - tool) @ closing)
        if axis is closing and float(np.linalg.norm(across)) < PADS:
            continue
        if geometry.pad_slant(thing.shape, thing.size, turn, at - centre, axis) > SLANT:
            why = why or coded("handover.pressed_out", id=id)
            continue
        for side in (1.0, -1.0):
            rotation = np.stack([np.cross(side * axis, -out), side * axis, -out], axis=1)
            one = _towards(arm, id, giver, at, rotation, min(panda.STROKE, width / 2 + 0.012))
            if isinstance(one, TakePlan):
                return one
            solved, why = solved or one is not None, one or why
    if not narrow:
        found = coded("robot.too_wide", id=id, width=min(width for _, width in sides))
        limit = coded("robot.grip_limit", limit=panda.MAX_GRIP)
        return Finding("CRITIC_REFUSED", GRIP_FIELD, limit, found, coded("handover.turn_it"), job)
    if not solved and not why:
        return unreachable_finding(arm, id, centre, coded("handover.no_grasp"), job)
    return collision_finding(coded("robot.pick_up", id=id, at=centre, why=why), job)


def _places(thing: Thing, centre: Array, rotation: Array, out: Array, reach: float) -> Iterator[Array]:
    """Where the pads may take it: near the end that reaches farthest out, else near the ends of what lies crosswise."""
    axes = {"sphere": out[:, None], "cylinder": rotation[:, 2:]}.get(thing.shape, rotation)
    shares, half = out @ axes, np.array(thing.size)[-axes.shape[1] :] / 2
    most = int(np.argmax(np.abs(shares)))
    askew = thing.shape != "sphere" and abs(float(shares[most])) < ASKEW
    yield centre + (out if askew else axes[:, most] / shares[most]) * max(reach - DEPTH, 0.0)
    for axis, share, long in zip(axes.T, shares.tolist(), half.tolist(), strict=True):
        if abs(share) < ASKEW and long > END:
            yield from (centre + axis * side * (long - END) for side in (1.0, -1.0))


def _towards(  # noqa: PLR0917  # a grasp, taken apart
    arm: Arm, id: str, giver: str, at: Array, rotation: Array, opening: float
) -> TakePlan | str | None:
    """The way to one grasp; why it is not free; None where no joints reach it."""
    before = at - rotation[:, 2] * AWAY
    for start in (arm.view.joints(), arm.ready):
        first = arm.solver.solve(start, before, rotation)
        if first is not None:
            break
    if first is None:
        return None
    ahead = arm.solver.line(first, np.linspace(before, at, 13)[1:], rotation)
    if isinstance(ahead, int):
        return None
    # by contact alone: the hands come nearer than bodies may
    near = CollisionChecker(arm.rig, opening=opening, limits=arm.limits)
    if hits := near.along([first, *ahead], allowed={pair("robot", id)}):
        return coded("robot.on_the_way", hits=contacts(hits))
    way = plan_path(arm.collision_checker(opening=opening), arm.view.joints(), first, via=(arm.ready,), over=arm.solver)
    if way is None:
        return coded("robot.no_free_way_to_it")
    return TakePlan(id, giver, way, [first, *ahead], opening)


def take_legs(planned: TakePlan) -> list[Leg]:
    return [([*planned.route, *planned.ahead], None)]


def take_over(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
    if (refused := review_take(arm, order)) is not None:
        return plan_failure(refused, action_evidence.close())
    id = params.thing(arm.rig, order, OBJECT, objects=True)
    assert not isinstance(id, Finding)
    if not _waited(arm, lambda: offered(arm, id), PATIENCE):
        return _ended(
            arm, id, AttemptResult(False, "NOT_OFFERED", coded("handover.not_offered", id=id)), action_evidence
        )
    points, at = _allowed(order), arm.rig.position(id)
    if not isinstance(points, Finding) and points and min(float(np.linalg.norm(at - one)) for one in points) > MET:
        elsewhere = AttemptResult(False, "NOT_OFFERED", coded("handover.elsewhere", id=id, at=at))
        return _ended(arm, id, elsewhere, action_evidence)
    planned = plan_motion(arm, lambda: plan_take(arm, id, order.id), take_legs)
    if isinstance(planned, Finding):
        return plan_failure(planned, action_evidence.close())
    return _ended(arm, id, carry_out_take(arm, planned), action_evidence)


def carry_out_take(arm: Arm, planned: TakePlan) -> AttemptResult:
    rig, mover, id = arm.rig, arm.mover, planned.thing
    giving = _PartnerOrder(arm, planned.giver, id)
    mover.grip(planned.opening)
    mover.wait(0.1)
    mover.follow(planned.route)
    mover.line(planned.ahead, AWAY)
    if not giving.at_work():  # it was stopped meanwhile, and keeps what it holds
        mover.line(planned.ahead[::-1], AWAY)
        return AttemptResult(False, "NOT_OFFERED", coded("handover.not_offered", id=id))
    mover.grip(CLOSE)
    mover.wait(0.6)
    if rig.fingers_on(id) < 2:
        said = coded("robot.grasp_missed", m=rig.view.opening(), id=id, touched=sorted(rig.touching(id)))
        _let_go(arm, planned)
        return AttemptResult(False, "GRASP_MISSED", said)
    given = _waited(arm, lambda: planned.giver not in rig.touching(id), PATIENCE, lambda: not giving.at_work())
    if not given and not giving.at_work() and rig.holder(id) == planned.giver:  # stopped, and it keeps it
        _let_go(arm, planned)
        return AttemptResult(False, "NOT_GIVEN", coded("handover.not_given", id=id, robot=planned.giver))
    arm.wait(1.5)  # the giver goes back
    return holds_alone(arm, id)


def _let_go(arm: Arm, planned: TakePlan) -> None:
    arm.mover.grip(panda.STROKE)
    arm.mover.wait(0.3)
    arm.mover.line(planned.ahead[::-1], AWAY)


def holds_alone(arm: Arm, id: str) -> AttemptResult:
    """The receiver's predicate: the thing is between its fingers, it alone carries it, and it is still."""
    rig = arm.rig
    before = rig.position(id)
    arm.wait(WATCHED)
    speed = max(rig.speed(id), float(np.linalg.norm(rig.position(id) - before)) / WATCHED)
    if rig.fingers_on(id) < 2:
        by = support.format_shares(support.shares(rig, id))
        return AttemptResult(False, "OBJECT_LOST", coded("handover.dropped", id=id, robot=arm.robot_id, by=by))
    if others := sorted(support.touched_from_outside(rig, id)):
        return AttemptResult(False, "NOT_ALONE", coded("handover.not_alone", id=id, others=others))
    if not support.carried(rig, id, "robot"):
        by = support.format_shares(support.shares(rig, id))
        return AttemptResult(False, "NOT_CARRIED", coded("robot.not_carried", id=id, by=by))
    if speed > STILL:
        return AttemptResult(False, "NOT_AT_REST", coded("robot.still_moves", id=id, speed=speed, spin=0.0))
    if (slips := grip_slip(arm, id)) > SLIP:
        return AttemptResult(False, "NOT_FIRM", slipping(arm, id, slips))
    return AttemptResult(True, "", coded("handover.taken", id=id, at=rig.position(id)))


def _ended(arm: Arm, id: str, done: AttemptResult, action_evidence: ActionEvidence) -> Outcome:
    rig = arm.rig
    action_evidence.more["held_by"] = arm.robot_id if rig.held() == id else rig.holder(id)
    action_evidence.more["at"] = rounded(rig.position(id))
    if not done.ok:
        return Outcome.failure(Cause.ERROR, done.code, done.message, evidence=action_evidence.close())
    return Outcome.success(done.message, **action_evidence.close())
