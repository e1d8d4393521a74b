"""Scripts: named sequences without a model, and orders read from language; each step an order of this same body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np

from worldfs.base import compound_orders
from worldfs.base.compound_orders import SEQUENCES, Steps
from worldfs.base.driver import Interpreter
from worldfs.base.errors import UserError
from worldfs.base.measured_facts import fact, facts
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, Finding, Json, Operation, Order, Outcome, Parameter, Scene
from worldfs.base.standard_operations import EXECUTE_TEXT
from worldfs.base.workspace_bounds import LIMIT

from . import panda, params, support, withdrawal
from .action_evidence import ActionEvidence, plan_failure
from .arm import Arm
from .array_types import Array
from .body_limits import within_limits
from .collision import contacts
from .motion_control import CLOSE
from .path_planner import plan_path
from .shared_motion import plan_motion

AT_HOME = 0.02  # rad
WAVE = 0.35  # rad
SWUNG = 0.1  # rad that a joint may be behind at the end of a swing
PRESSED = 0.5  # N of each pad on what the gripper holds
STRATEGY = Operation(
    "strategy",
    "Scripted sequence: home, open_gripper, close_gripper, wave, pick_and_place, look_and_pick, steps",
    (
        Parameter("name", "string"),
        Parameter("object_id", "string", optional=True),
        Parameter("target", "string", optional=True),
        Parameter("target_position", "[x,y,z]", optional=True),
        Parameter("steps", "list", optional=True),
    ),
)

OF_ORDERS = (STRATEGY.name, EXECUTE_TEXT.name)  # each of their orders begins by itself
RunOrder = Callable[[Order, set[str]], Outcome]
"""Carries out an order of a sequence; the set takes the ids that the order is about."""


def name_of(order: Order) -> str:
    return compound_orders.script_name(order.params)


# --- movements that are no order of their own ---


def home(arm: Arm, action_evidence: ActionEvidence) -> Outcome:
    if stuck := withdrawal.begin(arm, "home", "", action_evidence.more):
        return plan_failure(stuck, action_evidence.close())
    way = plan_motion(arm, lambda: _way_home(arm.planning), lambda found: [(found, arm.rig.held())])
    if isinstance(way, Finding):
        return _no_way(way, action_evidence)
    arm.mover.follow(way, settle=0.25)
    off = float(np.max(np.abs(arm.view.joints() - arm.ready)))
    action_evidence.more["joint_error"] = round(off, 4)
    if off > AT_HOME:
        away = coded("robot.not_ready", rad=off)
        return Outcome.failure(Cause.ERROR, "NOT_AT_GOAL", away, evidence=action_evidence.close())
    return Outcome.success(coded("robot.ready"), **action_evidence.close())


def _no_way(found: Finding, action_evidence: ActionEvidence) -> Outcome:
    if found.code == LIMIT:
        return plan_failure(found, action_evidence.close())
    return Outcome.failure(Cause.ERROR, found.code, found.found, evidence=action_evidence.close())


def _way_home(arm: Arm) -> list[Array] | Finding:
    way = plan_path(arm.collision_checker(held=arm.rig.held()), arm.view.joints(), arm.ready, over=arm.solver)
    return way or Finding("NO_PATH", "", "", coded("robot.no_free_way_home"), "")


def falls(arm: Arm) -> Finding | None:
    """Why the fingers must not open here: what they hold is in no other hand and rests on nothing, and would fall."""
    rig = arm.rig
    held = rig.held()
    if held is None or rig.holder(held) is not None:
        return None
    below = sum(part for by, part in support.shares(rig, held).items() if by != "robot")
    if below > support.MOSTLY and support.flat(rig, held):
        return None
    return Finding(
        "HOLDING",
        "ENVIRONMENT.md robots[].holding",
        coded("robot.empty_gripper"),
        coded("robot.would_drop", id=held, at=rig.position(held)),
        coded("robot.place_first", id=held),
        "",
        condition=facts(fact(rig.robot_id, "holding", held)),
    )


def open_gripper(arm: Arm, action_evidence: ActionEvidence) -> Outcome:
    if (dropped := falls(arm)) is not None:
        return plan_failure(dropped, action_evidence.close())
    arm.mover.grip(panda.STROKE)
    arm.mover.wait(0.5)
    opening = arm.view.opening()
    if opening < 1.9 * panda.STROKE:
        found = coded("robot.fingers_expected", m=opening, want=2 * panda.STROKE)
        return Outcome.failure(Cause.ERROR, "BLOCKED", found, evidence=action_evidence.close())
    return Outcome.success(coded("robot.open", m=opening), **action_evidence.close())


def close_gripper(arm: Arm, action_evidence: ActionEvidence) -> Outcome:
    arm.mover.grip(CLOSE)
    arm.mover.wait(0.6)
    held, opening = arm.rig.held(), arm.view.opening()
    pressed = arm.rig.pressed(held) if held else 0.0
    action_evidence.more["grip_force_n"] = round(pressed, 2)
    if held is not None and pressed < PRESSED:
        found = coded("robot.fingers_loose", id=held, force=pressed, least=PRESSED)
        return Outcome.failure(Cause.ERROR, "BLOCKED", found, evidence=action_evidence.close())
    if held is None and opening > 0.004:
        found = coded("robot.fingers_empty", m=opening)
        return Outcome.failure(Cause.ERROR, "BLOCKED", found, evidence=action_evidence.close())
    found = coded("robot.holds", id=held) if held else coded("robot.closed")
    return Outcome.success(found, **action_evidence.close())


def wave(arm: Arm, action_evidence: ActionEvidence) -> Outcome:
    done = home(arm, action_evidence)
    if not done.ok:
        return done
    path = plan_motion(arm, lambda: _free_swings(arm.planning), lambda found: [(found, arm.rig.held())])
    if isinstance(path, Finding):
        return _no_way(path, action_evidence)
    worst = 0.0
    for start, end in pairwise(path):
        arm.mover.follow([start, end], settle=0.05)
        worst = max(worst, float(np.max(np.abs(arm.view.joints() - end))))
    action_evidence.more["swing_error"] = round(worst, 4)
    if worst > SWUNG:
        behind = coded("robot.swing_behind", rad=worst, limit=SWUNG)
        return Outcome.failure(Cause.ERROR, "NOT_AT_GOAL", behind, evidence=action_evidence.close())
    return home(arm, action_evidence)


def _free_swings(arm: Arm) -> list[Array] | Finding:
    sides = []
    for side in (WAVE, -WAVE):
        q = arm.ready.copy()
        q[4] += side
        q[6] += side
        sides.append(q)
    path = [arm.ready, *sides, *sides, arm.ready]
    hits = arm.collision_checker(held=arm.rig.held()).along(path)
    return Finding("CRITIC_REFUSED", "", "", coded("robot.no_space_to_wave", hits=contacts(hits)), "") if hits else path


def plan_movement(arm: Arm, name: str) -> Finding | None:
    """The limit that a movement would break, or that it would drop what is held; what else is in its way shows when it
    begins."""
    if name == "open_gripper":
        return falls(arm)
    if name not in ("home", "ready", "wave") or not arm.limits.bounded:
        return None
    for plan in (_way_home, _free_swings) if name == "wave" else (_way_home,):
        found = within_limits(arm.limits, partial(plan, arm))
        if isinstance(found, Finding) and found.code == LIMIT:
            return found
    return None


MOVEMENTS: dict[str, Callable[[Arm, ActionEvidence], Outcome]] = {
    "home": home,
    "ready": home,
    "open_gripper": open_gripper,
    "close_gripper": close_gripper,
    "wave": wave,
}


def move(arm: Arm, name: str, action_evidence: ActionEvidence) -> Outcome:
    """A movement, and whether what it held is still in the hand."""
    held = arm.rig.held()
    done = MOVEMENTS[name](arm, action_evidence)
    if not done.ok or held is None or name == "open_gripper" or arm.rig.held() == held:
        return done
    arm.mover.quiet(held)
    lost = coded("robot.lost_carrying", id=held, at=arm.rig.position(held))
    return Outcome.failure(Cause.ERROR, "OBJECT_LOST", lost, evidence=action_evidence.close())


# --- sequences of orders ---


def steps_of(order: Order) -> Steps | Finding:
    """The orders of a sequence, as (op, params); a finding when the order is incomplete."""
    name = name_of(order)
    if name == "steps":
        listed = compound_orders.listed_steps(order.params)
        if listed is None:
            given = order.params.get("steps")
            return params.invalid_param(order, "steps", coded("robot.param_steps"), given, coded("robot.give_steps"))
        return _read_steps(order, listed)
    row = SEQUENCES.get(name)
    if row is None:
        known = coded("common.either_of", names=[*MOVEMENTS, *SEQUENCES, "steps"])
        return params.invalid_param(order, "name", known, name or dict(order.params), coded("robot.name_strategy"))
    for need in row.needs:
        if not isinstance(order.params.get(need), str):
            fix = coded("robot.strategy_needs", name=name, need=need)
            return params.invalid_param(order, need, coded("robot.param_id"), order.params.get(need), fix)
    if name == "pick_and_place" and len(row.steps(order.params)[1][1]) == 0:
        return params.invalid_param(
            order, "target", coded("robot.param_place"), dict(order.params), coded("robot.give_place")
        )
    return row.steps(order.params)


def _read_steps(order: Order, steps: Steps) -> Steps | Finding:
    unread = (params.unread(replace(order, op=op, params=given)) for op, given in steps)
    return next((found for found in unread if found is not None), steps)


def strategy(arm: Arm, order: Order, action_evidence: ActionEvidence, carry: RunOrder) -> Outcome:
    """A movement, or orders one after the other: the first failure ends it, with its own cause and code."""
    if name_of(order) in MOVEMENTS:
        return move(arm, name_of(order), action_evidence)
    steps = steps_of(order)
    if isinstance(steps, Finding):
        return Outcome.failure(
            Cause.ERROR,
            steps.code,
            coded("robot.steps_wrong", found=steps.found, expected=steps.expected),
            evidence=action_evidence.close(),
            findings=(steps,),
        )
    orders = [replace(order, op=op, params=given) for op, given in steps]
    return run_in_order(arm, orders, action_evidence, carry)


def real_execute(
    arm: Arm,
    order: Order,
    action_evidence: ActionEvidence,
    carry: RunOrder,
    *,
    interpreter: Interpreter | None,
    scene: Scene,
) -> Outcome:
    """Language to orders by the injected interpreter, then the orders in turn."""
    task = params.word(order.params, ("nl_task", "task", "instruction", "text"))
    if interpreter is None or task is None:
        finding = language(order, interpreter)
        assert finding is not None
        return Outcome.failure(
            Cause.ERROR, finding.code, finding.found, evidence=action_evidence.close(), findings=(finding,)
        )
    try:
        orders: Sequence[Order] = interpreter(task[1], scene)
    except UserError as error:
        return Outcome.failure(Cause.ERROR, "NOT_UNDERSTOOD", error_message(error), evidence=action_evidence.close())
    if not orders:
        return Outcome.success(coded("robot.already", task=task[1]), **action_evidence.close())
    return run_in_order(arm, [replace(o, id=order.id) for o in orders], action_evidence, carry)


def language(order: Order, interpreter: Interpreter | None) -> Finding | None:
    if interpreter is None:
        return Finding(
            "NO_INTERPRETER",
            coded("robot.driver"),
            coded("robot.interpreter"),
            coded("robot.no_interpreter"),
            coded("robot.use_planner"),
            order.id,
        )
    if params.word(order.params, ("nl_task", "task", "instruction", "text")) is None:
        return params.invalid_param(
            order, "nl_task", coded("robot.param_task"), dict(order.params), coded("robot.give_task")
        )
    return None


def run_in_order(arm: Arm, orders: Sequence[Order], action_evidence: ActionEvidence, carry: RunOrder) -> Outcome:
    done: list[Json] = []
    action_evidence.more["sequence"] = done
    for i, order in enumerate(orders, 1):
        if order.op in MOVEMENTS:
            outcome = move(arm, order.op, ActionEvidence(arm))
        elif order.op in ("strategy", "real_execute"):
            outcome = Outcome.failure(Cause.ERROR, "UNKNOWN_OP", coded("robot.no_nesting", op=order.op))
        else:
            outcome = carry(order, action_evidence.meant)
        done.append(
            {"op": order.op, "params": order.params, "ok": outcome.ok, "message": outcome.message}
            | {
                k: outcome.evidence[k]
                for k in ("distance_to_goal", "attempts", "retries", "also_moved")
                if k in outcome.evidence
            }
        )
        if not outcome.ok:
            return Outcome.failure(
                outcome.cause or Cause.ERROR,
                outcome.code,
                coded("robot.step_failed", i=i, n=len(orders), op=order.op, said=outcome.message),
                evidence=action_evidence.close(),
                findings=outcome.findings,
            )
    steps_done = coded("robot.steps_done", n=len(orders), ops=[order.op for order in orders])
    return Outcome.success(steps_done, **action_evidence.close())
