"""The nudge: a walled-in thing, or a neighbour of it, pushed a little so that the thing can be grasped."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from worldfs.base.json_values import as_list
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Order, Outcome
from worldfs.base.order_parameters import OBJECT

from . import grasp, params, push
from .action_evidence import ActionEvidence, plan_failure, seen_before
from .arm import Arm, AttemptResult
from .array_types import Array
from .imagined_arm import imagined
from .push_goal import PushGoal, goal_of
from .shared_motion import Leg, plan_motion

NEAR = 0.06  # m between outlines: farther, and a thing keeps no finger out
DISTANCES = (0.04, 0.08)  # m
WAYS = (2, 6, 1, 7, 0, 3, 5, 4)  # eighths of a turn off straight away: past the other first, where fingers have room


@dataclass(frozen=True, slots=True)
class NudgePlan:
    """`thing` is to become graspable by a push of itself or of a neighbour."""

    thing: str
    push: push.PushPlan


def legs(planned: NudgePlan) -> list[Leg]:
    return push.legs(planned.push)


def plan_nudge(arm: Arm, order: Order) -> NudgePlan | Finding:
    id = params.thing(arm.rig, order, OBJECT, objects=True)
    if isinstance(id, Finding):
        return id
    held = arm.rig.held()
    if held is not None:
        found, fix = coded("robot.holds", id=held), coded("robot.place_first", id=held)
        return Finding("HOLDING", "ENVIRONMENT.md robots[].holding", coded("robot.empty_gripper"), found, fix, order.id)
    grasped = grasp.plan(arm, id, order.id)
    if not isinstance(grasped, Finding):
        found, fix = coded("handling.graspable", id=id), coded("handling.pick_it")
        return Finding("CRITIC_REFUSED", "ACTION.md params", coded("handling.walled_in"), found, fix, order.id)
    leave = {str(one) for one in as_list(order.params.get("leave"))}
    for goal in _goals(arm, id, neighbours(arm, id), leave):
        if isinstance(planned := push.plan(arm, goal, order.id), Finding):
            continue
        end = goal.start + np.array([*goal.way, 0.0]) * goal.distance
        if not isinstance(grasp.plan(imagined(arm, {goal.thing: end}), id), Finding):
            return NudgePlan(id, planned)
    found, fix = coded("handling.no_nudge", id=id), coded("handling.clear_round_it")
    return Finding("CRITIC_REFUSED", grasped.field, coded("handling.walled_in"), found, fix, order.id)


def neighbours(arm: Arm, id: str) -> list[str]:
    """The objects beside a thing, the nearest first."""
    rig = arm.rig
    found = []
    for other in rig.objects:
        apart = np.abs(rig.position(other) - rig.position(id)) - rig.half(other) - rig.half(id)
        if other != id and float(np.max(apart)) < NEAR:
            found.append((float(np.max(apart)), other))
    return [other for _, other in sorted(found)]


def _goals(arm: Arm, id: str, near: list[str], leave: set[str]) -> Iterator[PushGoal]:
    """Pushes to try, the shortest first: each neighbour past the thing or away from it, then the thing itself."""
    for distance in DISTANCES:
        for pushed, other in (*((one, id) for one in near), *((id, one) for one in near[:1])):
            if pushed in leave:
                continue
            away = (arm.rig.position(pushed) - arm.rig.position(other))[:2]
            start = math.atan2(away[1], away[0])
            for k in WAYS:
                goal = goal_of(arm, pushed, _unit(start + k * math.pi / 4), distance)
                if not isinstance(goal, Finding):
                    yield goal


def _unit(angle: float) -> Array:
    return np.array([math.cos(angle), math.sin(angle)])


def nudge(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
    if unseen := seen_before(arm, order, OBJECT):
        return plan_failure(unseen, action_evidence.close())
    planned = plan_motion(arm, lambda: plan_nudge(arm.planning, order), legs)
    if isinstance(planned, Finding):
        return plan_failure(planned, action_evidence.close())
    goal = planned.push.goal
    action_evidence.meant.add(goal.thing)
    action_evidence.more["pushed"] = goal.thing
    done = push.carry_out(arm, planned.push)
    return push.finished(freed(arm, planned.thing, goal) if done.ok else done, goal, action_evidence)


def freed(arm: Arm, id: str, goal: PushGoal) -> AttemptResult:
    """The predicate beside that of the push: a grasp of the thing can be planned now, which could not be before."""
    found = grasp.plan(arm, id)
    along = float((arm.rig.position(goal.thing) - goal.start)[:2] @ goal.way)
    if isinstance(found, Finding):
        said = coded("handling.still_walled_in", id=id, pushed=goal.thing, why=found.found)
        return AttemptResult(False, "NOT_GRASPABLE", said, abs(along - goal.distance))
    return AttemptResult(
        True, "", coded("handling.nudged", id=id, pushed=goal.thing, mm=along * 1000), abs(along - goal.distance)
    )
