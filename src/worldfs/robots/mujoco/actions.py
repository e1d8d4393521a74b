"""The three motions: move_to, pick_up, place; each reviewed on a copy of the state and measured when done."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from worldfs.base.drawers import with_drawn_part
from worldfs.base.footprint import gap, is_round_above, lying
from worldfs.base.json_values import as_list
from worldfs.base.measured_facts import NOTHING, fact, facts
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Order, Outcome
from worldfs.base.order_parameters import OBJECT, SUPPORT, thing_names
from worldfs.base.resting import STEADY, is_steady, slope
from worldfs.base.standard_operations import PICK_UP, PLACE_DOWN
from worldfs.robots import rotations

from . import geometry, grasp, object_placement, panda, params, support, withdrawal
from .action_evidence import ActionEvidence, plan_failure
from .arm import Arm, AttemptResult, collision_finding, unreachable_finding
from .array_types import Array
from .collision import OFF_PATH, CollisionChecker, contacts, persisting
from .path_planner import first_way
from .shared_motion import plan_motion

ARRIVED = 0.005  # m
TURNED = 0.05  # rad
STANDS = 0.1  # rad/s of any joint
ATTEMPTS = 2  # the second is the one automatic re-grasp
AGAIN = (
    "GRASP_MISSED",
    "OBJECT_LOST",
    "NOT_FIRM",
    "NOT_AT_GOAL",
    "NOT_IN_CONTAINER",
    "NOT_AT_REST",
    "NOT_SUPPORTED",
    "NOT_UPRIGHT",
)
LIMP = 0.45  # pace of a carry that follows a loss


@dataclass(frozen=True, slots=True)
class ReachPlan:
    route: list[Array]
    position: Array
    rotation: Array


# --- move_to ---


def plan_move(arm: Arm, order: Order) -> ReachPlan | Finding:
    target = params.point(order, ("target_pose", "target_position", "pose", "position"))
    if isinstance(target, Finding):
        return target
    if target is None:
        return params.invalid_param(
            order, "target_pose", coded("robot.param_pose"), dict(order.params), coded("robot.give_pose")
        )
    position = target[:3]
    _, present = arm.view.tcp_pose()
    if len(target) == 6:
        turns = [geometry.from_rpy(*target[3:])]
    elif len(target) == 7:
        turns = [rotations.matrix(target[3:])]
    elif len(target) == 3:
        # no rotation requested: the gripper points down, turned as little as possible, else outwards
        yaw = math.atan2(float(present[1, 0]), float(present[0, 0]))
        toward = math.atan2(*(position - arm.view.base)[[1, 0]])
        turns = [rotations.hand_rotation(yaw + k * math.pi / 4) for k in (0, 1, -1, 2, -2, 3, -3, 4)]
        turns += [
            rotations.hand_rotation(toward + k, math.copysign(t, math.cos(k)))
            for t in (0.5, 1.0, 1.5)
            for k in (0, math.pi)
        ]
    else:
        return params.invalid_param(
            order, "target_pose", coded("robot.param_length"), target.tolist(), coded("robot.give_length")
        )
    held = arm.rig.held()
    checker = arm.collision_checker(held=held)
    start = arm.view.joints()
    touched = persisting(checker.hits(start, margin=OFF_PATH))
    blocked: str = ""

    def poses() -> Iterator[tuple[Array, CollisionChecker, Array]]:
        nonlocal blocked
        for i, rotation in enumerate(turns):
            solve = arm.solver.solve if i == 0 else arm.solver.near
            q = solve(start, position, rotation)
            if q is None:
                continue
            hits = checker.hits(q, allowed=touched, margin=OFF_PATH)
            blocked = blocked or (coded("robot.at_goal", hits=contacts(hits)) if hits else coded("robot.no_free_way"))
            if not hits:
                yield rotation, checker, q

    if (reached := first_way(poses(), start, via=(arm.ready,), over=arm.solver)) is not None:
        return ReachPlan(reached[1], position, reached[0])
    if blocked:
        return collision_finding(coded("robot.move_to", at=position, why=blocked), order.id)
    why = coded("robot.no_joints_so") if len(target) > 3 else coded("robot.no_joints")
    return unreachable_finding(arm, "target_pose", position, why, order.id)


def move_to(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
    held = arm.rig.held()
    plan = plan_motion(arm, lambda: plan_move(arm.planning, order), lambda found: [(found.route, held)])
    if isinstance(plan, Finding):
        return plan_failure(plan, action_evidence.close())
    arm.mover.follow(plan.route, settle=0.25)
    position, rotation = arm.view.tcp_pose()
    off = float(np.linalg.norm(position - plan.position))
    turned = geometry.angle(plan.rotation.T @ rotation)
    action_evidence.distance = off
    action_evidence.more["turn_to_goal"] = round(turned, 4)
    if held is not None and arm.rig.held() != held:
        lost = coded("robot.lost_on_way", id=held)
        return Outcome.failure(Cause.ERROR, "OBJECT_LOST", lost, evidence=action_evidence.close())
    rate = float(np.max(np.abs(arm.view.speeds())))
    if rate > STANDS:
        found = coded("robot.arm_moves", rate=rate)
        return Outcome.failure(Cause.ERROR, "NOT_AT_REST", found, evidence=action_evidence.close())
    if off > ARRIVED or turned > TURNED:
        found = coded("robot.stopped_short", mm=off * 1000, rad=turned)
        return Outcome.failure(Cause.ERROR, "NOT_AT_GOAL", found, evidence=action_evidence.close())
    return Outcome.success(coded("robot.gripper_at", at=position, mm=off * 1000), **action_evidence.close())


# --- pick_up ---


def plan_pick(arm: Arm, order: Order) -> grasp.GraspPlan | Finding:
    id = params.thing(arm.rig, order, OBJECT, objects=True)
    if isinstance(id, Finding):
        return id
    held = arm.rig.held()
    if held is not None:
        return Finding(
            "HOLDING",
            "ENVIRONMENT.md robots[].holding",
            coded("robot.empty_gripper"),
            coded("robot.holds", id=held),
            coded("robot.place_first", id=held),
            order.id,
            condition=facts(fact(arm.rig.robot_id, "holding", held)),
        )
    if other := arm.rig.holder(id):
        return Finding(
            "CRITIC_REFUSED",
            "ENVIRONMENT.md robots[].holding",
            coded("robot.free_object"),
            coded("robot.holds_it", robot=other, id=id),
            coded("robot.let_place", robot=other),
            order.id,
            condition=facts(fact(other, "holding", id)),
        )
    return grasp.plan(arm, id, order.id)


def pick_up(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
    id = params.thing(arm.rig, order, OBJECT, objects=True)
    if arm.look_at is not None and isinstance(id, str) and (unseen := arm.look_at(id, order.id)):
        return plan_failure(unseen, action_evidence.close())
    planned = plan_motion(arm, lambda: plan_pick(arm.planning, order), grasp.legs)
    if isinstance(planned, Finding):
        return plan_failure(planned, action_evidence.close())
    done = attempt_grasp(arm, planned, action_evidence, order.id)
    if isinstance(done, Finding):
        return plan_failure(done, action_evidence.close())
    action_evidence.distance = done.distance
    if not done.ok:
        return Outcome.failure(Cause.ERROR, done.code, done.message, evidence=action_evidence.close())
    height, n = float(arm.rig.position(planned.thing)[2]), action_evidence.attempts
    found = (
        coded("robot.held_again", id=planned.thing, z=height, n=n)
        if n > 1
        else coded("robot.held_at", id=planned.thing, z=height)
    )
    return Outcome.success(found, **action_evidence.close())


def attempt_grasp(
    arm: Arm, planned: grasp.GraspPlan, action_evidence: ActionEvidence, job: str
) -> AttemptResult | Finding:
    """The grasp, and once more from where the thing lies if it was missed or lost."""
    while True:
        done = grasp.carry_out(arm, planned)
        if done.ok or done.code not in AGAIN or action_evidence.attempts >= ATTEMPTS:
            return done
        action_evidence.attempts += 1
        action_evidence.more["retries"] = [*as_list(action_evidence.more.get("retries")), done.message]
        again = regrasp(arm, planned.thing, job)
        if isinstance(again, Finding):
            return again
        planned = again


def regrasp(arm: Arm, id: str, job: str) -> grasp.GraspPlan | Finding:
    arm.mover.grip(panda.STROKE)
    arm.mover.quiet(id)
    if (stuck := withdrawal.begin(arm, PICK_UP.name, job, {})) is not None:
        return stuck
    if arm.look_at is not None and (unseen := arm.look_at(id, job)):
        return unseen
    return plan_motion(arm, lambda: grasp.plan(arm.planning, id, job), grasp.legs)


# --- place ---


def held_thing(arm: Arm, order: Order) -> str | Finding:
    """What the gripper holds; or that it holds nothing, or another thing than the order names."""
    if held := arm.rig.held():
        return _named_other(arm, order, held) or held
    return Finding(
        "NOT_HOLDING",
        "ENVIRONMENT.md robots[].holding",
        coded("robot.held_object"),
        coded("robot.holds_nothing"),
        coded("robot.pick_first"),
        order.id,
        condition=facts(fact(arm.rig.robot_id, "holding", NOTHING)),
    )


def _named_other(arm: Arm, order: Order, held: str) -> Finding | None:
    names = thing_names(PLACE_DOWN, order.params)
    if params.word(order.params, names) is None:
        return None
    named = params.thing(arm.rig, order, names, objects=True)
    if isinstance(named, Finding) or named == held:
        return named if isinstance(named, Finding) else None
    return Finding(
        "HOLDING",
        "ENVIRONMENT.md robots[].holding",
        named,
        coded("robot.holds", id=held),
        coded("robot.place_first", id=held),
        order.id,
        condition=facts(fact(arm.rig.robot_id, "holding", held)),
    )


def placement_goals(arm: Arm, order: Order) -> tuple[str, list[object_placement.PlacementGoal]] | Finding:
    held = held_thing(arm, order)
    if isinstance(held, Finding):
        return held
    at = params.point(order)
    if isinstance(at, Finding):
        return at
    if (into := params.word(order.params, SUPPORT)) is not None and into[1] in arm.rig.fixtures:
        found = object_placement.goal_on(arm, held, into[1], order.id, at)
        found = found if isinstance(found, Finding) else place_conflict(arm, order, held) or found
        return found if isinstance(found, Finding) else (held, found)
    conflict = place_conflict(arm, order, held)
    if conflict is not None:
        return conflict
    if at is not None:
        found = object_placement.goal_at(arm, held, at[:3], order.id, into[1] if into is not None else "")
        if isinstance(found, Finding):
            return found
        return _other_support(arm, order, held, found[0].on) or (held, found)
    keys: tuple[str, ...] = SUPPORT
    named = params.word(order.params, keys)
    if named is not None and named[1] == held:  # {target: what is held, location: where it goes}
        keys = tuple(k for k in keys if k != named[0])
    id = params.thing(arm.rig, order, (*keys, "target_position"), objects=False)
    if isinstance(id, Finding):
        return id
    if id == held:
        return params.invalid_param(order, keys[0], coded("robot.param_other"), id, coded("robot.name_place"))
    on = object_placement.goal_on(arm, held, id, order.id)
    return on if isinstance(on, Finding) else (held, on)


def place_conflict(arm: Arm, order: Order, held: str = "") -> Finding | None:
    """Why what an order names as the place is none, or not where its point is; `held`: what may be named as well."""
    named = params.word(order.params, SUPPORT)
    if named is None or named[1] == held:
        return None
    at, id = params.point(order), params.thing(arm.rig, order, (named[0],), objects=False)
    if isinstance(at, Finding) or isinstance(id, Finding):
        return (id if isinstance(id, Finding) else None) if at is not None else None
    support = object_placement.as_it_lies(arm.rig, id)
    if id in arm.rig.fixtures and arm.rig.knows_opening(id):
        support = with_drawn_part(replace(support, extra={"opening": arm.rig.opening(id)}))
    if is_round_above(support) and not support.is_container:
        return _refused_place(order, named[0], coded("critic.round.expected"), coded("critic.round.found", id=id))
    if (narrow := unsteady(arm, order, named[0], held, id)) is not None:
        return narrow
    if (
        at is not None
        and gap(replace(support, size=(), position=(*map(float, at[:3]),)), support) > object_placement.ASTRAY
    ):
        found = coded("critic.astray.found", point=[*map(float, at[:3])])
        fix = coded("critic.astray.fix")
        return _refused_place(order, named[0], coded("critic.astray.expected", id=id), found, fix)
    return None


def _other_support(arm: Arm, order: Order, held: str, on: str) -> Finding | None:
    """Why the thing must not come to rest on `on`, which is what is at the point of an order."""
    named = params.word(order.params, SUPPORT)
    if on in arm.rig.body and is_round_above(object_placement.as_it_lies(arm.rig, on)):
        return _refused_place(
            order, "target_position", coded("critic.round.expected"), coded("critic.round.found", id=on)
        )
    if (narrow := unsteady(arm, order, "target_position", held, on)) is not None:
        return narrow
    if named is None or named[1] == held:
        return None
    id = params.thing(arm.rig, order, (named[0],), objects=False)
    if isinstance(id, Finding) or id == on or arm.rig.things[id].shape == "region":
        return None
    expected = coded("critic.astray.expected", id=id)
    there = coded("robot.a_stand") if on in arm.rig.plan.added else on
    return _refused_place(order, named[0], expected, coded("robot.point_on", on=there), coded("critic.astray.fix"))


def unsteady(arm: Arm, order: Order, name: str, held: str, on: str) -> Finding | None:
    """Why a thing would fall from one that is too narrow for it, or whose top is tilted."""
    if held not in arm.rig.body or on not in arm.rig.things:
        return None
    thing, support = (object_placement.as_it_lies(arm.rig, id) for id in (held, on))
    if steep := slope(thing, support):
        expected = coded("critic.steep.expected", thing=held)
        found = coded("critic.steep.found", id=on, degrees=math.degrees(steep))
        return _refused_place(order, name, expected, found)
    if on not in arm.rig.body or is_steady(thing, support):
        return None
    expected = coded("critic.unsteady.expected", least=2000 * STEADY, thing=held)
    found = coded("critic.unsteady.found", id=on, mm=1000 * min(lying(support)[:2]), thing=held)
    return _refused_place(order, name, expected, found)


def _refused_place(order: Order, name: str, expected: str, found: str, fix: str = "") -> Finding:
    fix = fix or coded("critic.round.fix")
    return Finding("CRITIC_REFUSED", f"ACTION.md params.{name}", expected, found, fix, order.id)


def plan_place(arm: Arm, order: Order) -> object_placement.PlacementPlan | Finding:
    aimed = placement_goals(arm, order)
    if isinstance(aimed, Finding):
        return aimed
    return object_placement.plan(arm, *aimed, order.id)


def attempt_place(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
    planned = plan_motion(arm, lambda: plan_place(arm.planning, order), object_placement.legs)
    if isinstance(planned, Finding):
        return plan_failure(planned, action_evidence.close())
    axis = support.upright_axis(arm.rig, planned.thing)
    done = object_placement.carry_out(arm, planned, axis)
    if not done.ok and done.code in AGAIN:
        action_evidence.attempts += 1
        action_evidence.more["retries"] = [done.message]
        done = _again(arm, planned, order, action_evidence, axis) or done
    action_evidence.distance = done.distance
    id = planned.thing
    action_evidence.more["goal"] = {
        "position": [round(float(v), 4) for v in planned.goal.centre],
        "in" if planned.goal.inside else "on": planned.goal.on,
    }
    if not done.ok:
        return Outcome.failure(Cause.ERROR, done.code, done.message, evidence=action_evidence.close())
    at = arm.rig.position(id)
    found = (
        coded("robot.rests_in", id=id, at=at, on=planned.goal.on)
        if planned.goal.inside
        else coded("robot.rests_near", id=id, at=at, mm=done.distance * 1000)
    )
    return Outcome.success(found, **action_evidence.close())


def _again(
    arm: Arm, planned: object_placement.PlacementPlan, order: Order, action_evidence: ActionEvidence, axis: int
) -> AttemptResult | None:
    """One re-pick where the thing landed, then the same goal, slower; None: it cannot be taken again."""
    picked = regrasp(arm, planned.thing, order.id)
    if isinstance(picked, Finding) or not grasp.carry_out(arm, picked).ok:
        return None
    once_more = plan_motion(arm, lambda: plan_place(arm.planning, order), object_placement.legs)
    if isinstance(once_more, Finding):
        return None
    return object_placement.carry_out(arm, once_more, axis, pace=LIMP)
