"""Placing relative to a thing: so much free space from it on one side, judged by the space that is measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Order, Outcome
from worldfs.base.moved_others import MOVED_OTHERS
from worldfs.base.order_parameters import SUPPORT
from worldfs.base.standard_operations import PLACE_BESIDE
from worldfs.robots import rotations

from . import actions, grasp, object_placement, params, support
from .action_evidence import ActionEvidence, plan_failure, rounded
from .arm import Arm, AttemptResult
from .array_types import Array
from .shared_motion import plan_motion

LEAST, MOST = 0.005, 0.5  # m of free space that may be asked
OFF = 0.010  # m that the space, and the place across it, may be off; of a wide one:
OFF_SHARE = 0.15  # of it
STAYS = 0.005  # m that the other thing may move meanwhile
# as the robot sees them, like the planner's: front is towards its base
SIDES = {"left": (0.0, 1.0), "right": (0.0, -1.0), "front": (-1.0, 0.0), "behind": (1.0, 0.0)}


@dataclass(frozen=True, slots=True)
class RelativePlacement:
    """`thing` on one side of `other`, with `gap` (m) of free space along `way` (a unit vector in the plane)."""

    thing: str
    other: str
    side: str
    way: Array
    gap: float
    at: Array  # where `other` stood (3, m)

    @property
    def off(self) -> float:
        return max(OFF, OFF_SHARE * self.gap)


def beside_goal(arm: Arm, order: Order) -> RelativePlacement | Finding:
    held = actions.held_thing(arm, order)
    return held if isinstance(held, Finding) else relative_to(arm, order, held)


def relative_to(arm: Arm, order: Order, held: str) -> RelativePlacement | Finding:
    other = params.thing(arm.rig, order, (PLACE_BESIDE.parameters[0].name, *SUPPORT), objects=True)
    if isinstance(other, Finding):
        return other
    if other == held:
        return params.invalid_param(order, "target", coded("robot.param_other"), other, coded("robot.name_place"))
    side = str(order.params.get("side", "")).strip().lower()
    if side not in SIDES:
        given = order.params.get("side")
        return params.invalid_param(order, "side", coded("handling.side"), given, coded("handling.give_side"))
    asked = order.params.get("distance")
    if isinstance(asked, bool) or not isinstance(asked, int | float) or not LEAST <= asked <= MOST:
        return params.invalid_param(order, "distance", coded("handling.gap"), asked, coded("handling.give_gap"))
    way = np.asarray((arm.view.base_rotation @ np.array([*SIDES[side], 0.0]))[:2])
    return RelativePlacement(held, other, side, way, float(asked), arm.rig.position(other))


def plan_beside(arm: Arm, order: Order) -> object_placement.PlacementPlan | Finding:
    goal = beside_goal(arm, order)
    return goal if isinstance(goal, Finding) else plan(arm, goal, order.id)


def plan(arm: Arm, goal: RelativePlacement, job: str = "") -> object_placement.PlacementPlan | Finding:
    """The place follows from how the thing will be turned there: each turn of the gripper has a place of its own."""
    first: Finding | None = None
    for turned in object_placement.plain_turns(arm):
        centre = _centre(arm, goal, turned)
        found = object_placement.goal_at(arm, goal.thing, centre, job)
        if not isinstance(found, Finding):
            planned = object_placement.plan(arm, goal.thing, found, job, turns=[turned])
            if not isinstance(planned, Finding):
                return planned
            found = planned
        first = first or found
    assert first is not None
    return first


def _centre(arm: Arm, goal: RelativePlacement, turned: Array) -> Array:
    _, rotation = arm.view.tcp_pose()
    lies = turned @ rotation.T @ arm.rig.rotation(goal.thing)
    away = _extent(arm, goal.other, goal.way, arm.rig.rotation(goal.other)) + goal.gap
    away += _extent(arm, goal.thing, goal.way, lies)
    foot = arm.rig.position(goal.other)[2] - arm.rig.half(goal.other)[2]
    return np.array([*(arm.rig.position(goal.other)[:2] + goal.way * away), foot])


def _extent(arm: Arm, id: str, way: Array, rotation: Array) -> float:
    """Half of what a thing so turned takes up that way (m)."""
    thing = arm.rig.things[id]
    turn = rotations.about_z(-math.atan2(way[1], way[0]))
    return float(rotations.half_extents(thing.shape, thing.size, turn @ rotation)[0])


def space(arm: Arm, goal: RelativePlacement) -> tuple[float, float]:
    """The free space between the two along the way, and how far the thing is off the way (m)."""
    rig = arm.rig
    apart = (rig.position(goal.thing) - rig.position(goal.other))[:2]
    taken = sum(_extent(arm, id, goal.way, rig.rotation(id)) for id in (goal.thing, goal.other))
    return float(apart @ goal.way) - taken, abs(float(apart[0] * goal.way[1] - apart[1] * goal.way[0]))


def stands_beside(arm: Arm, goal: RelativePlacement, place: object_placement.PlacementGoal, axis: int) -> AttemptResult:
    """The predicate: set down as any thing is, the other one where it was, and the space between them as asked."""
    found = object_placement.at_goal(arm, goal.thing, place, axis)
    if not found.ok:
        return found
    moved = float(np.linalg.norm(arm.rig.position(goal.other) - goal.at))
    if moved > STAYS:
        said = coded("handling.reference_moved", other=goal.other, mm=moved * 1000)
        return AttemptResult(False, MOVED_OTHERS, said, found.distance)
    gap, across = space(arm, goal)
    off = max(abs(gap - goal.gap), across)
    words = {"id": goal.thing, "other": goal.other, "side": goal.side, "mm": gap * 1000, "want": goal.gap * 1000}
    if off > goal.off:
        said = coded("handling.beside_off", **words, across=across * 1000, limit=goal.off * 1000)
        return AttemptResult(False, "NOT_AT_GOAL", said, off)
    return AttemptResult(True, "", coded("handling.beside", **words), off)


def place_beside(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
    if arm.look_round is not None and (unseen := arm.look_round()):
        return plan_failure(replace(unseen, job=order.id), action_evidence.close())
    goal, true = beside_goal(arm.planning, order), beside_goal(arm, order)
    if isinstance(goal, Finding):
        return plan_failure(goal, action_evidence.close())
    assert isinstance(true, RelativePlacement)  # the same order of the same thing, measured where it is
    axis = support.upright_axis(arm.rig, goal.thing)
    while True:
        planned = plan_motion(arm, lambda: plan(arm.planning, goal, order.id), object_placement.legs)
        if isinstance(planned, Finding):
            return plan_failure(planned, action_evidence.close())
        object_placement.carry_out(arm, planned, axis)
        done = stands_beside(arm, true, planned.goal, axis)
        if done.ok or done.code not in actions.AGAIN or action_evidence.attempts >= actions.ATTEMPTS:
            break
        action_evidence.attempts += 1
        picked = actions.regrasp(arm, goal.thing, order.id)
        if isinstance(picked, Finding) or not grasp.carry_out(arm, picked).ok:
            break
    action_evidence.distance = done.distance
    gap, across = space(arm, true)
    action_evidence.more["space"] = dict(
        zip(("gap_m", "across_m", "asked_m"), rounded([gap, across, goal.gap]), strict=True)
    )
    if not done.ok:
        return Outcome.failure(Cause.ERROR, done.code, done.message, evidence=action_evidence.close())
    return Outcome.success(done.message, **action_evidence.close())
