"""How every operation begins: an empty hand withdraws upwards, open, from what stands between or beside its fingers.

Only then do fingers close, or the hand move sideways. So an operation need not ask where the hand was left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import Finding, Json
from worldfs.base.standard_operations import MOVE_TO, NAVIGATE

from . import geometry, panda
from .arm import Arm, collision_finding
from .array_types import Array
from .collision import CollisionChecker, contacts, persisting
from .imagined_arm import imagined
from .shared_motion import Leg, plan_motion

KEEP_FINGERS = frozenset((MOVE_TO.name, NAVIGATE.name, "home"))  # what moves the hand with its fingers as they are
REACHED = 0.15  # m from the tool point, all of the hand
APART = 0.005  # m a finger between two openings that are tried
RISE = 0.01  # m between two waypoints
CLEAR = 0.02  # m higher than where the hand is free
HIGHEST = 0.40  # m


@dataclass(frozen=True, slots=True)
class WithdrawalPlan:
    """The half opening (m) of the fingers, the joint line out, and how they are to be then."""

    opening: float
    out: list[Array]
    then: float

    @property
    def length(self) -> float:
        return RISE * (len(self.out) - 1)


def legs(planned: WithdrawalPlan) -> list[Leg]:
    return [(planned.out, None)]


def begin(arm: Arm, op: str, job: str, evidence: Json) -> Finding | None:
    """What every operation does first: nothing where the hand is free or holds something. `evidence` says how far it
    went. Why it cannot, and then nothing has moved."""
    if not _among_things(arm.planning):
        return None
    planned = plan_motion(arm, lambda: _plan(arm.planning, op, job), legs)
    if isinstance(planned, Finding):
        return planned
    arm.mover.grip(planned.opening)
    arm.mover.wait(0.3)
    arm.mover.line(planned.out, planned.length)
    if planned.then != planned.opening:
        arm.mover.grip(planned.then)
        arm.mover.wait(0.3)
    evidence["withdrew_m"] = round(planned.length, 3)
    return None


def begun(arm: Arm, op: str, job: str) -> Arm | Finding:
    """The arm as it will be when an operation has begun, for its review. Moves nothing."""
    if not _among_things(arm):
        return arm
    planned = _plan(arm, op, job)
    return planned if isinstance(planned, Finding) else imagined(arm, {}, planned.out[-1], planned.then)


def _openings(arm: Arm) -> list[float]:
    """The half openings (m) at which the hand must be free of things."""
    return [arm.view.opening() / 2, *np.arange(0.0, panda.STROKE, APART).tolist(), panda.STROKE]


def _among_things(arm: Arm) -> bool:
    if arm.rig.held() is not None or not any(_near(arm, id) for id in arm.rig.things):
        return False
    checker, joints = CollisionChecker(arm.rig), arm.view.joints()
    return any(checker.opened(opening).hits(joints) for opening in _openings(arm))


def _near(arm: Arm, id: str) -> bool:
    """Whether a thing may be in reach of the fingers: only then is it worth a look. A drawer or a lid may be open."""
    thing = arm.rig.things[id]
    if thing.shape in ("table", "region"):
        return False
    position = arm.rig.position(id) if id in arm.rig.body else np.array(thing.position)
    extent = float(np.linalg.norm(thing.size)) * (1.0 if id in arm.rig.fixtures else 0.5)
    return float(np.linalg.norm(position - arm.view.tcp_pose()[0])) < extent + REACHED


def _plan(arm: Arm, op: str, job: str) -> WithdrawalPlan | Finding:
    joints, openings = arm.view.joints(), _openings(arm)
    by_contact = CollisionChecker(arm.rig)
    opening = _widest(arm, by_contact)
    checker = arm.collision_checker(opening=opening)
    present = persisting(checker.hits(joints))
    position, rotation = arm.view.tcp_pose()
    met = next((hits for one in openings if (hits := by_contact.opened(one).hits(joints))), {})
    for way in (geometry.up(1.0), -rotation[:, 2]):
        if way[2] < 0.0:
            continue
        path, free_for = [joints], 0.0
        for n in range(1, round(HIGHEST / RISE) + 1):
            line = arm.solver.line(path[-1], np.array([position + way * (n * RISE)]), rotation)
            if isinstance(line, int) or (hits := checker.hits(line[0], allowed=present)):
                met = met if isinstance(line, int) else hits
                break
            path.append(line[0])
            if any(by_contact.opened(one).hits(line[0]) for one in openings):
                free_for = 0.0
                continue
            free_for += RISE
            if free_for > CLEAR:
                return WithdrawalPlan(opening, path, arm.view.opening() / 2 if op in KEEP_FINGERS else opening)
    return collision_finding(coded("robot.no_way_out", hits=contacts(met)), job)


def _widest(arm: Arm, checker: CollisionChecker) -> float:
    """As far as the fingers open where they are, without pressing more on anything (m a finger)."""
    joints, now = arm.view.joints(), arm.view.opening() / 2
    present, found = persisting(checker.opened(now).hits(joints)), now
    for opening in (*np.arange(now + APART, panda.STROKE, APART).tolist(), panda.STROKE):
        if checker.opened(opening).hits(joints, allowed=present):
            break
        found = opening
    return found
