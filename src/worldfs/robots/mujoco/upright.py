"""Setting upright: a lying thing grasped, turned by the gripper, and set down on its end; judged by its own axis."""

from __future__ import annotations

import math

import numpy as np

from worldfs.base.already_so import ALREADY_SO
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Order, Outcome
from worldfs.base.order_parameters import OBJECT
from worldfs.base.standard_operations import PICK_UP
from worldfs.robots import rotations
from worldfs.robots.orientation import FLAT

from . import actions, grasp, imagined_steps, object_placement, params, support
from .action_evidence import ActionEvidence, plan_failure, seen_before
from .arm import Arm, AttemptResult
from .array_types import Array
from .shared_motion import plan_motion

STANDING = 2  # the own axis that points up when a thing stands as its size is given: width, depth, height
YAWS = 16
ATTEMPTS = 2  # the second from where it lies then


def upright_subject(arm: Arm, order: Order) -> str | Finding:
    """The lying thing that an order names, or why there is nothing to set upright."""
    id = params.thing(arm.rig, order, OBJECT, objects=True)
    if isinstance(id, Finding):
        return id
    field = f"ENVIRONMENT.md objects / {id} / orientation"
    if arm.rig.things[id].shape == "sphere":
        found, fix = coded("handling.is_ball", id=id), coded("handling.nothing_to_turn")
        return Finding("CRITIC_REFUSED", field, coded("handling.has_axis"), found, fix, order.id)
    if support.lean(arm.rig, id, STANDING) <= FLAT:
        found = coded("handling.stands", id=id, mm=arm.rig.things[id].size[2] * 1000)
        return Finding(ALREADY_SO, field, coded("handling.lying"), found, coded("handling.nothing_to_turn"), order.id)
    return id


def plan_upright(arm: Arm, order: Order) -> grasp.GraspPlan | Finding:
    """The grasp, from which the turn is planned once the thing is held: only then is it known how it is held. That the
    limits leave no place for the turn is said here."""
    id = upright_subject(arm, order)
    planned = id if isinstance(id, Finding) else actions.plan_pick(arm, order)
    if isinstance(planned, Finding) or not arm.limits.bounded:
        return planned
    then = imagined_steps.after(arm, PICK_UP.name, planned)
    if then is None:
        return planned
    arm.limits.forget()
    turn = plan_turn(then, planned.thing, arm.rig.position(planned.thing), order.id)
    return turn if isinstance(turn, Finding) and arm.limits.met is not None else planned


def upright(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
    if unseen := seen_before(arm, order, OBJECT):
        return plan_failure(unseen, action_evidence.close())
    planned = plan_motion(arm, lambda: plan_upright(arm.planning, order), grasp.legs)
    if isinstance(planned, Finding):
        return plan_failure(planned, action_evidence.close())
    id = planned.thing
    start = arm.planning.rig.position(id)
    while True:
        done = _attempt(arm, planned, start, order.id)
        if isinstance(done, Finding):
            return plan_failure(done, action_evidence.close())
        if done.ok or done.code not in actions.AGAIN or action_evidence.attempts >= ATTEMPTS:
            break
        action_evidence.attempts += 1
        again = actions.regrasp(arm, id, order.id)
        if isinstance(again, Finding):
            break
        planned = again
    tilt = support.lean(arm.rig, id, STANDING)
    action_evidence.distance = done.distance
    action_evidence.more["lean_rad"] = round(tilt, 4)
    if not done.ok:
        return Outcome.failure(Cause.ERROR, done.code, done.message, evidence=action_evidence.close())
    said = coded("handling.upright", id=id, at=arm.rig.position(id), degrees=math.degrees(tilt))
    return Outcome.success(said, **action_evidence.close())


def _attempt(arm: Arm, planned: grasp.GraspPlan, start: Array, job: str) -> AttemptResult | Finding:
    taken = grasp.carry_out(arm, planned)
    if not taken.ok:
        return taken
    placing = plan_motion(arm, lambda: plan_turn(arm.planning, planned.thing, start, job), object_placement.legs)
    if isinstance(placing, Finding):
        _lay_down(arm, planned)
        return placing
    object_placement.carry_out(arm, placing, STANDING)
    return stands(arm, planned.thing, placing.goal)


def _lay_down(arm: Arm, planned: grasp.GraspPlan) -> None:
    """Back where it was taken: nothing is kept in the hand that was not asked for."""
    arm.mover.line(planned.up[::-1], planned.lift)
    arm.mover.grip(planned.opening)
    arm.mover.wait(0.3)
    arm.mover.line(planned.up, planned.lift)


def plan_turn(arm: Arm, held: str, start: Array, job: str) -> object_placement.PlacementPlan | Finding:
    """A place for the held thing on its end: where it lay, else the freest place round about."""
    rig = arm.rig
    height = _standing_half(arm, held)
    under = next((top for top in object_placement.surfaces(arm, float(start[0]), float(start[1]), held)), None)
    assert under is not None  # the floor is always there
    goals = [object_placement.PlacementGoal(np.array([start[0], start[1], under[0] + height]), under[1])]
    if under[1] in rig.things and under[1] not in rig.body:
        goals += list(object_placement.free_places(arm, held, rig.things[under[1]], height))
    found = object_placement.plan(arm, held, goals, job, turns=_turns(arm, held))
    if isinstance(found, Finding):
        return Finding(
            found.code, found.field, found.expected,
            coded("handling.no_way_up", id=held, why=found.found), found.fix, job,
        )  # fmt: skip
    return found


def _standing_half(arm: Arm, id: str) -> float:
    return float(arm.rig.things[id].size[2]) / 2


def _turns(arm: Arm, held: str) -> list[Array]:
    """Rotations of the gripper that stand the held thing on one of its ends, at every yaw."""
    _, rotation = arm.view.tcp_pose()
    axis = arm.rig.rotation(held)[:, STANDING]
    found: list[Array] = []
    for end in (1.0, -1.0):
        turn = _least_turn(end * axis, np.array([0.0, 0.0, 1.0]))
        found += [rotations.about_z(k * 2 * math.pi / YAWS) @ turn @ rotation for k in range(YAWS)]
    return found


def _least_turn(one: Array, other: Array) -> Array:
    """The rotation by the least angle that takes one unit vector to another."""
    across = np.cross(one, other)
    sine, cosine = float(np.linalg.norm(across)), float(one @ other)
    if sine < 1e-6:
        return np.eye(3) if cosine > 0 else rotations.axis_rotation((1.0, 0.0, 0.0), math.pi)
    return rotations.axis_rotation(across / sine, math.atan2(sine, cosine))


def stands(arm: Arm, id: str, goal: object_placement.PlacementGoal) -> AttemptResult:
    """The predicate: let go of, at rest, where it was to be, carried by what is under it, and its own axis upright."""
    found = object_placement.at_goal(arm, id, goal, STANDING)
    tilt = support.lean(arm.rig, id, STANDING)
    if found.code == "NOT_UPRIGHT" or (found.ok and tilt > FLAT):
        said = coded("handling.not_upright", id=id, degrees=math.degrees(tilt))
        return AttemptResult(False, "NOT_UPRIGHT", said, found.distance)
    return found
