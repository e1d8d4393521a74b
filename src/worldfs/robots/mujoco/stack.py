"""The tower: things set on one another, judged level by level by what carries what."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from worldfs.base import compound_orders
from worldfs.base.footprint import is_round_above
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Json, Order, Outcome
from worldfs.base.standard_operations import PICK_UP, STACK

from . import actions, imagined_steps, object_placement, params, support
from .action_evidence import ActionEvidence, plan_failure
from .arm import Arm, AttemptResult
from .object_placement import STILL, WATCHED

MOST = 6  # levels: higher than any arm of ours reaches
IDS = STACK.parameters[0].name


def levels(arm: Arm, order: Order) -> list[str] | Finding:
    """The ids from below up, or why they make no tower."""
    ids = compound_orders.levels(order.params)
    if not 2 <= len(ids) <= MOST or len(set(ids)) != len(ids):
        given = order.params.get(IDS)
        return params.invalid_param(order, IDS, coded("handling.levels"), given, coded("handling.give_levels"))
    for id in ids:
        if isinstance(found := params.thing(arm.rig, replace(order, params={IDS: id}), (IDS,), objects=True), Finding):
            return found
    for id in ids[:-1]:
        if is_round_above(object_placement.as_it_lies(arm.rig, id)):
            found_text, fix = coded("handling.ball_below", id=id), coded("handling.ball_on_top")
            return params.invalid_param(
                order, IDS, coded("handling.no_ball_below"), found_text, fix, code="CRITIC_REFUSED"
            )
    for low, up in pairwise(ids):
        if (narrow := actions.unsteady(arm, order, IDS, up, low)) is not None:
            return narrow
    return ids


def left(arm: Arm, ids: list[str]) -> list[tuple[str, str]]:
    """(upper, lower) of the levels that are still to be set, from the first that is not so."""
    steps = list(pairwise(ids))
    done = next((n for n, (low, up) in enumerate(steps) if not support.carried(arm.rig, up, low)), len(steps))
    return [(up, low) for low, up in steps[done:]]


def plan_stack(arm: Arm, order: Order) -> Finding | Arm | None:
    """Why one of its levels cannot be set, each planned where the one before it leaves the world; else the arm once
    the tower stands, None where that is not known before it is built."""
    ids = levels(arm, order)
    if isinstance(ids, Finding):
        return ids
    then: Arm | None = arm
    for up, low in left(arm, ids):
        for op, given in compound_orders.set_on(up, low):
            if then is None:
                return None
            plan = actions.plan_pick if op == PICK_UP.name else actions.plan_place
            found = plan(then, replace(order, op=op, params=given))
            if isinstance(found, Finding):
                said = coded("handling.level_failed", n=ids.index(up) + 1, id=up, said=found.found)
                return replace(found, found=said, condition=())
            then = imagined_steps.after(then, op, found)
    return then


def stack(arm: Arm, order: Order, action_evidence: ActionEvidence) -> Outcome:
    if arm.look_round is not None and (unseen := arm.look_round()):
        return plan_failure(replace(unseen, job=order.id), action_evidence.close())
    ids = levels(arm.planning, order)
    if isinstance(ids, Finding):
        return plan_failure(ids, action_evidence.close())
    action_evidence.meant |= set(ids)
    arm.reserved.handle(arm.robot_id, ids)
    steps: list[Json] = []
    action_evidence.more["sequence"] = steps
    for up, low in left(arm.planning, ids):
        for op, given in compound_orders.set_on(up, low):
            act = actions.pick_up if op == PICK_UP.name else actions.attempt_place
            done = act(arm, replace(order, op=op, params=given), ActionEvidence(arm, up))
            steps.append({"op": op, "params": given, "ok": done.ok, "message": done.message})
            if not done.ok:
                said = coded("handling.level_failed", n=ids.index(up) + 1, id=up, said=done.message)
                return Outcome.failure(
                    done.cause or Cause.ERROR, done.code, said, evidence=action_evidence.close(), findings=done.findings
                )
    found = tower(arm, ids)
    if not found.ok:
        return Outcome.failure(Cause.ERROR, found.code, found.message, evidence=action_evidence.close())
    return Outcome.success(found.message, **action_evidence.close())


def tower(arm: Arm, ids: list[str]) -> AttemptResult:
    """The predicate: every level let go of, at rest, squarely on the one below and carried by nothing else; the lowest
    by no other level."""
    rig = arm.rig
    before = {id: rig.position(id) for id in ids}
    arm.mover.wait(WATCHED)
    for n, id in enumerate(ids):
        under = rig.touching(id)
        if "robot" in under:
            return AttemptResult(False, "NOT_RELEASED", coded("robot.still_touches", id=id))
        speed = max(rig.speed(id), float(np.linalg.norm(rig.position(id) - before[id])) / WATCHED)
        if speed > STILL:
            return AttemptResult(False, "NOT_AT_REST", coded("robot.still_moves", id=id, speed=speed, spin=0.0))
        by = support.shares(rig, id)
        right = support.carried(rig, id, ids[n - 1]) if n else bool(by) and not by.keys() & set(ids)
        if not right:
            on = ids[n - 1] if n else coded("robot.nothing")
            said = coded("handling.level_wrong", n=n + 1, id=id, on=on, by=support.format_shares(by))
            return AttemptResult(False, "NOT_SUPPORTED", said)
        if not support.flat(rig, id):
            tilt = np.degrees(support.lean(rig, id, support.upright_axis(rig, id)))
            return AttemptResult(False, "NOT_UPRIGHT", coded("handling.fell_over", id=id, degrees=float(tilt)))
    return AttemptResult(True, "", coded("handling.tower", n=len(ids), ids=ids))
