"""Opening and closing: a fixture's knob taken and led along its joint, judged by how far the joint then stands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product

import mujoco
import numpy as np

from worldfs.base.already_so import ALREADY_SO
from worldfs.base.measured_facts import fact, facts
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Order, Outcome, Thing
from worldfs.base.moved_others import MOVED_OTHERS
from worldfs.base.order_parameters import OBJECT
from worldfs.robots import displacements, rotations

from . import fixture_model, geometry, params, removal_trial, support
from .action_evidence import ActionEvidence, object_poses, plan_failure
from .arm import Arm, AttemptResult, collision_finding, covered_finding, unreachable_finding
from .array_types import Array
from .collision import CollisionChecker, Pair, contacts, depth_limits, pair
from .fixture_model import CHEST, CLOSED, OPEN
from .motion_control import CLOSE
from .object_placement import SPIN, STILL, WATCHED
from .path_planner import first_way
from .rig import TOUCH_DEPTH
from .shared_motion import Leg, plan_motion
from .vessel_model import GRAINS

ABOVE = 0.10  # m over the knob, from where the fingers come down and whereto they rise
LOWEST = 0.04  # m: the same under an upper bound
TILTS = (0.0, 0.3, 0.6)  # rad that the hand leans back from the fixture
STEP = 0.01  # m of the knob's way between two waypoints
OPENING = 0.022  # m a finger, round the knob
SPEED = 0.10  # m/s
SHORT = 0.004  # m or rad: not drawn against the joint's end
ATTEMPTS = 2  # the second from where it stands then
AGAIN = ("GRASP_MISSED", "NOT_OPEN", "NOT_CLOSED")
NOT_THERE = {OPEN: "NOT_OPEN", CLOSED: "NOT_CLOSED"}


@dataclass(frozen=True, slots=True)
class FixtureGoal:
    """`thing` is to be open or closed (`state`), its joint at `value` (m or rad); `contents`: what was in it."""

    thing: str
    state: str
    value: float
    contents: tuple[str, ...]
    others: dict[str, displacements.ObjectPose]  # every other object, before
    began: float  # s of the world's time


@dataclass(frozen=True, slots=True)
class FixturePlan:
    """Joint route to above the knob, joint lines down to it, along with it, and up; `length` of the knob's way (m)."""

    goal: FixtureGoal
    route: list[Array]
    down: list[Array]
    along: list[Array]
    up: list[Array]
    length: float


def legs(planned: FixturePlan) -> list[Leg]:
    return [([*planned.route, *planned.down, *planned.along, *planned.up], None)]


# --- what is asked ---


def fixture_goal(arm: Arm, order: Order, state: str) -> FixtureGoal | Finding:
    """What an order asks for, or why it cannot be: said before anything moves."""
    id = params.thing(arm.rig, order, OBJECT, objects=False)
    if isinstance(id, Finding):
        return id
    rig = arm.rig
    if id not in rig.fixtures:
        there = sorted(rig.fixtures) or coded("robot.nothing")
        fix = coded("fixture.name_one", known=there)
        return params.refused("fixture.opens", coded("fixture.fixed", id=id), fix, order.id)
    if (held := rig.held()) is not None:
        found, fix = coded("robot.holds", id=held), coded("robot.place_first", id=held)
        return Finding("HOLDING", "ENVIRONMENT.md robots[].holding", coded("robot.empty_gripper"), found, fix, order.id)
    piece, now = rig.things[id], rig.opening(id)
    if rig.knows_opening(id) and fixture_model.state(piece, now) == state:
        found = coded("fixture.already", id=id, state=_word(state))
        refused = params.refused("fixture.not_yet", found, coded("fixture.leave_it"), order.id)
        return replace(refused, code=ALREADY_SO, condition=facts(fact(id, "status", state)))
    if above := _on_part(arm, id):
        return covered_finding(arm, id, above, order.id)
    value = fixture_model.travel(piece) - SHORT if state == OPEN else 0.0
    inside = tuple(rig.contents(id))
    others = {other: pose for other, pose in object_poses(rig).items() if other not in inside}
    return FixtureGoal(id, state, value, inside, others, float(arm.simulation.data.time))


def _word(state: str) -> str:
    return coded("fixture.open" if state == OPEN else "fixture.closed")


def _on_part(arm: Arm, id: str) -> list[str]:
    """The objects that lie on its moving part, not in it, and what lies on those."""
    rig = arm.rig
    resting = [one for one in rig.objects if support.on_part(rig, one, id)]
    return list(dict.fromkeys([*resting, *(rider for one in resting for rider in removal_trial.held_up(rig, one))]))


# --- the way there ---


class _PartChecker(CollisionChecker):
    """Poses of the arm with the fixture's part, and what is in it, where the hand leads it."""

    def __init__(self, arm: Arm, goal: FixtureGoal) -> None:
        super().__init__(arm.rig, opening=OPENING, limits=arm.limits)
        self.piece, self.joint = arm.rig.things[goal.thing], arm.rig.fixtures[goal.thing]
        self.start = arm.rig.opening(goal.thing)
        self._inside = {arm.rig.qpos[id]: arm.rig.position(id) for id in goal.contents}
        inside = {arm.rig.body[id] for id in goal.contents}
        drawn = inside if self.piece.shape != CHEST else set()
        self._moving = {self.joint.body, *drawn}
        self._together = {self.joint.body, *inside} if drawn else set(inside)  # a lid comes down on what is in a chest

    def met(self, q: Array, value: float) -> dict[Pair, float]:
        """What the arm, the part or what is in it runs into (pairs, depths in m); the fingers may be at the knob."""
        data, rig = self.data, self.rig
        data.qpos[self.joint.qpos] = value
        if self.piece.shape != CHEST:
            way = -rotations.matrix(self.piece.orientation)[:, 0] * (value - self.start)
            for at, position in self._inside.items():
                data.qpos[at : at + 3] = position + way
        self._pose(q)
        mujoco.mj_collision(self.model, data)
        found = self.outside({})
        shoved = depth_limits(data.contact.frame)
        for i in np.nonzero(data.contact.dist < 0.0)[0]:
            geoms = data.contact.geom[i].tolist()
            names = {self._owner[g] for g in geoms}
            swept = self.piece.shape != CHEST and not names.isdisjoint(rig.body)  # a lid may press on what is below it
            if data.contact.dist[i] >= -(shoved[i] if swept else TOUCH_DEPTH):
                continue
            if GRAINS in names or (self.joint.knob in geoms and "robot" in names):
                continue
            bodies = {int(rig.geom_body[g]) for g in geoms}
            if ("robot" in names or bodies & self._moving) and not bodies <= self._together:
                one, other = sorted(self._owner[g] for g in geoms)
                found[one, other] = max(found.get((one, other), 0.0), -float(data.contact.dist[i]))
        return found


def plan(arm: Arm, goal: FixtureGoal, job: str = "") -> FixturePlan | Finding:
    """A way to lead the knob to where the joint stands as asked, or why there is none. Moves nothing."""
    piece, now = arm.rig.things[goal.thing], arm.rig.opening(goal.thing)
    points = _knob_points(piece, now, goal.value)
    why, solved = "", False
    yaw = math.atan2(*rotations.matrix(piece.orientation)[[1, 0], 0])

    def plans() -> Iterator[tuple[FixturePlan, CollisionChecker, Array]]:
        nonlocal why, solved
        for tilt, turn in product(TILTS, (0.0, math.pi)):
            found = _line(arm, goal, points, rotations.hand_rotation(yaw + turn, tilt * math.cos(turn)))
            solved = solved or found is not None
            if isinstance(found, str):
                why = why or found
            elif found is not None:
                yield found, arm.collision_checker(opening=OPENING), found.down[0]

    if (reached := first_way(plans(), arm.view.joints(), via=(arm.ready,), over=arm.solver)) is not None:
        return replace(reached[0], route=reached[1])
    if not solved:
        return unreachable_finding(arm, goal.thing, points[0], coded("fixture.no_joints"), job)
    return collision_finding(
        coded("fixture.way", id=goal.thing, at=points[0], why=why or coded("robot.no_free_way_to_it")), job
    )


def _knob_points(piece: Thing, now: float, then: float) -> Array:
    """The knob's middle on its way (n × 3, m), the joint moving evenly."""
    rough = [fixture_model.knob(piece, now + (then - now) * k / 8) for k in range(9)]
    length = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(rough))
    n = max(2, math.ceil(length / STEP) + 1)
    return np.array([fixture_model.knob(piece, float(value)) for value in np.linspace(now, then, n)])


def _line(arm: Arm, goal: FixtureGoal, points: Array, rotation: Array) -> FixturePlan | str | None:
    """The hand's way for one rotation; why it is not free; None where no joints reach it."""
    now = arm.rig.opening(goal.thing)
    first, last = points[0], points[-1]
    rise = geometry.up(arm.limits.lowered(ABOVE, first, last, least=LOWEST))
    for start in (arm.view.joints(), arm.ready):
        above = arm.solver.near(start, first + rise, rotation)
        if above is not None:
            break
    if above is None:
        return None
    down = arm.solver.line(above, np.linspace(first + rise, first, 11)[1:], rotation)
    if isinstance(down, int):
        return None
    along = arm.solver.line(down[-1], points[1:], rotation)
    if isinstance(along, int):
        return None
    up = arm.solver.line(along[-1], np.linspace(last, last + rise, 11)[1:], rotation)
    if isinstance(up, int):
        return None
    checker = _PartChecker(arm, goal)
    values = np.linspace(now, goal.value, len(points))[1:]
    poses = [(q, now) for q in (above, *down)]
    poses += list(zip(along, values.tolist(), strict=True)) + [(q, goal.value) for q in up]
    for q, value in poses:
        if hits := checker.met(q, value):
            return coded("robot.on_the_way", hits=contacts(hits))
    others = arm.collision_checker(opening=OPENING)  # what the other bodies of this world keep for themselves
    if arm.others and (hits := others.along([above, *along], allowed={pair("robot", goal.thing)})):
        return coded("robot.on_the_way", hits=contacts(hits))
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    return FixturePlan(goal, [], [above, *down], [down[-1], *along], [along[-1], *up], length)


# --- the motion, and its measure ---


def carry_out(arm: Arm, planned: FixturePlan) -> AttemptResult:
    """Takes the knob, leads it, lets go and rises; success by `stands`."""
    mover, goal = arm.mover, planned.goal
    mover.grip(OPENING)
    mover.wait(0.2)
    mover.follow(planned.route)
    mover.line(planned.down, ABOVE)
    mover.grip(CLOSE)
    mover.wait(0.4)
    fingers = _fingers(arm, goal.thing)
    if fingers < 2:
        mover.grip(OPENING)
        mover.wait(0.2)
        mover.line(planned.down[::-1], ABOVE)
        return AttemptResult(False, "GRASP_MISSED", coded("fixture.missed", id=goal.thing, n=fingers))
    mover.line(planned.along, planned.length, speed=SPEED)
    mover.grip(OPENING)
    mover.wait(0.4)
    mover.line(planned.up, ABOVE)
    return stands(arm, goal)


def _fingers(arm: Arm, id: str) -> int:
    """How many fingers touch its knob."""
    knob, touched = arm.rig.fixtures[id].knob, set()
    for a, b in arm.simulation.data.contact.geom.tolist():
        if knob in (a, b):
            touched.add(int(arm.rig.geom_body[b if a == knob else a]))
    return len(touched & set(arm.view.fingers))


def stands(arm: Arm, goal: FixtureGoal) -> AttemptResult:
    """The predicate: let go of, its joint at rest and where it was to be, what was in it still there, nothing else
    moved."""
    rig, id = arm.rig, goal.thing
    before = rig.opening(id)
    arm.mover.wait(WATCHED)
    now, piece = rig.opening(id), rig.things[id]
    off = abs(now - goal.value)
    if pair("robot", id) in {(c.one, c.other) for c in rig.contacts()}:
        return AttemptResult(False, "NOT_RELEASED", coded("robot.still_touches", id=id), off)
    rate = max(abs(now - before) / WATCHED, abs(float(arm.simulation.data.qvel[rig.fixtures[id].dof])))
    if rate > (SPIN if piece.shape == CHEST else STILL):
        return AttemptResult(False, "NOT_AT_REST", coded("fixture.moves", id=id, rate=rate), off)
    words = {"id": id, "now": amount(piece, now), "least": amount(piece, _limit(piece, goal.state))}
    if fixture_model.state(piece, now) != goal.state:
        said = coded("fixture.not_open" if goal.state == OPEN else "fixture.not_closed", **words)
        return AttemptResult(False, NOT_THERE[goal.state], said, off)
    if lost := sorted(set(goal.contents) - set(rig.contents(id))):
        return AttemptResult(False, "CONTENTS_LOST", coded("fixture.lost", id=id, others=lost), off)
    meant = {*goal.contents, *arm.reserved.handled_by_others(arm.robot_id, goal.began)}
    if others := displacements.displacements(goal.others, object_poses(rig), meant):
        return AttemptResult(False, MOVED_OTHERS, displacements.displacement_text(others), off)
    return AttemptResult(True, "", coded("fixture.stands", id=id, state=_word(goal.state), now=words["now"]), off)


def _limit(piece: Thing, state: str) -> float:
    return fixture_model.WIDE * fixture_model.travel(piece) if state == OPEN else fixture_model.SHUT[piece.shape]


def amount(piece: Thing, opening: float) -> str:
    """So far open, in the joint's own unit."""
    if piece.shape == CHEST:
        return coded("fixture.degrees", n=math.degrees(opening))
    return coded("fixture.millimetres", n=opening * 1000)


# --- the operations ---


def _review(state: str) -> Callable[[Arm, Order], FixturePlan | Finding]:
    def planned(arm: Arm, order: Order) -> FixturePlan | Finding:
        goal = fixture_goal(arm, order, state)
        return goal if isinstance(goal, Finding) else plan(arm, goal, order.id)

    return planned


def _act(state: str) -> Callable[[Arm, Order, ActionEvidence], Outcome]:
    def act(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
        id = params.thing(arm.rig, order, OBJECT, objects=False)
        if arm.look_at is not None and id in arm.rig.fixtures and (unseen := arm.look_at(str(id), order.id)):
            return plan_failure(unseen, action_evidence.close())
        goal = fixture_goal(arm.planning, order, state)
        if isinstance(goal, Finding):
            return plan_failure(goal, action_evidence.close())
        return _led(arm, goal, order.id, action_evidence)

    return act


def _as_it_is(arm: Arm, goal: FixtureGoal) -> FixtureGoal:
    """The same goal with what is truly in it and about it now: what is measured begins there, whatever was seen."""
    inside = tuple(arm.rig.contents(goal.thing))
    others = {other: pose for other, pose in object_poses(arm.rig).items() if other not in inside}
    return replace(goal, contents=inside, others=others)


def _led(arm: Arm, goal: FixtureGoal, job: str, action_evidence: ActionEvidence) -> Outcome:
    true = _as_it_is(arm, goal)
    action_evidence.meant |= set(true.contents)
    before = arm.rig.opening(goal.thing)
    while True:
        planned = plan_motion(arm, lambda: plan(arm.planning, goal, job), legs)
        if isinstance(planned, Finding):
            return plan_failure(planned, action_evidence.close())
        done = carry_out(arm, replace(planned, goal=true))
        if done.ok or done.code not in AGAIN or action_evidence.attempts >= ATTEMPTS:
            break
        if arm.look_at is not None and (unseen := arm.look_at(goal.thing, job)):
            return plan_failure(unseen, action_evidence.close())
        action_evidence.attempts += 1
    action_evidence.distance = done.distance
    now = arm.rig.opening(goal.thing)
    piece = arm.rig.things[goal.thing]
    limit = _limit(piece, goal.state)
    action_evidence.more["opening"] = {
        "id": goal.thing,
        "was": fixture_model.state(piece, before),
        "before": round(before, 4),
        "after": round(now, 4),
        "limit": round(limit, 4),
    }
    if not done.ok:
        return Outcome.failure(Cause.ERROR, done.code, done.message, evidence=action_evidence.close())
    return Outcome.success(done.message, **action_evidence.close())


plan_open, open_fixture = _review(OPEN), _act(OPEN)
plan_close, close_fixture = _review(CLOSED), _act(CLOSED)
