"""Scripts: named sequences without a model, and orders read from language; each step an order of this same body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from worldfs.base.driver import Interpreter
from worldfs.base.errors import UserError
from worldfs.base.json_values import as_object, as_text
from worldfs.base.model import Cause, Finding, Json, Order, Outcome, Scene

from . import panda, params
from .action_evidence import ActionEvidence
from .arm import Arm
from .collision import describe
from .motion_control import CLOSE
from .path_planner import plan_path

AT_HOME = 0.02  # rad
WAVE = 0.35  # rad
SWUNG = 0.1  # rad that a joint may be behind at the end of a swing
PRESSED = 0.5  # N of each pad on what the gripper holds
NAME_KEYS = ("name", "strategy", "strategy_name", "script")

RunOrder = Callable[[Order], Outcome]
Steps = list[tuple[str, Json]]


def name_of(order: Order) -> str:
    named = params.word(order.params, NAME_KEYS)
    return named[1] if named else "steps" if "steps" in order.params else ""


# --- movements that are no order of their own ---


def home(arm: Arm, action_evidence: ActionEvidence) -> Outcome:
    way = plan_path(arm.collision_checker(held=arm.rig.held()), arm.view.joints(), arm.ready)
    if way is None:
        return Outcome.failure(
            Cause.ERROR, "NO_PATH", "no way home that is free of collision", evidence=action_evidence.close()
        )
    arm.mover.follow(way, settle=0.25)
    off = float(np.max(np.abs(arm.view.joints() - arm.ready)))
    action_evidence.more["joint_error"] = round(off, 4)
    if off > AT_HOME:
        return Outcome.failure(
            Cause.ERROR, "NOT_AT_GOAL", f"{off:.3f} rad from the ready pose", evidence=action_evidence.close()
        )
    return Outcome.success("the arm is in its ready pose", **action_evidence.close())


def open_gripper(arm: Arm, action_evidence: ActionEvidence) -> Outcome:
    arm.mover.grip(panda.STROKE)
    arm.mover.wait(0.5)
    opening = arm.view.opening()
    if opening < 1.9 * panda.STROKE:
        message = f"the fingers are {opening:.3f} m apart, expected {2 * panda.STROKE} m"
        return Outcome.failure(Cause.ERROR, "BLOCKED", message, evidence=action_evidence.close())
    return Outcome.success(f"the gripper is open, {opening:.3f} m", **action_evidence.close())


def close_gripper(arm: Arm, action_evidence: ActionEvidence) -> Outcome:
    arm.mover.grip(CLOSE)
    arm.mover.wait(0.6)
    held, opening = arm.rig.held(), arm.view.opening()
    pressed = arm.rig.pressed(held) if held else 0.0
    action_evidence.more["grip_force_n"] = round(pressed, 2)
    if held is not None and pressed < PRESSED:
        message = f"the fingers touch {held} with {pressed:.2f} N; a hold takes {PRESSED} N of each"
        return Outcome.failure(Cause.ERROR, "BLOCKED", message, evidence=action_evidence.close())
    if held is None and opening > 0.004:
        message = f"the fingers are {opening:.3f} m apart and hold nothing"
        return Outcome.failure(Cause.ERROR, "BLOCKED", message, evidence=action_evidence.close())
    return Outcome.success(f"the gripper holds {held}" if held else "the gripper is closed", **action_evidence.close())


def wave(arm: Arm, action_evidence: ActionEvidence) -> Outcome:
    done = home(arm, action_evidence)
    if not done.ok:
        return done
    sides = []
    for side in (WAVE, -WAVE):
        q = arm.ready.copy()
        q[4] += side
        q[6] += side
        sides.append(q)
    path = [arm.ready, *sides, *sides, arm.ready]
    hits = arm.collision_checker(held=arm.rig.held()).along(path)
    if hits:
        return Outcome.failure(
            Cause.ERROR, "CRITIC_REFUSED", f"no space to wave: {describe(hits)}", evidence=action_evidence.close()
        )
    worst = 0.0
    for start, end in pairwise(path):
        arm.mover.follow([start, end], settle=0.05)
        worst = max(worst, float(np.max(np.abs(arm.view.joints() - end))))
    action_evidence.more["swing_error"] = round(worst, 4)
    if worst > SWUNG:
        message = f"the arm stayed {worst:.3f} rad behind its swing (limit {SWUNG} rad)"
        return Outcome.failure(Cause.ERROR, "NOT_AT_GOAL", message, evidence=action_evidence.close())
    return home(arm, action_evidence)


MOVEMENTS: dict[str, Callable[[Arm, ActionEvidence], Outcome]] = {
    "home": home,
    "ready": home,
    "open_gripper": open_gripper,
    "close_gripper": close_gripper,
    "wave": wave,
}


# --- sequences of orders ---


@dataclass(frozen=True, slots=True)
class ActionSequence:
    """A row of `SEQUENCES`: its required parameters, and its orders."""

    needs: tuple[str, ...]
    steps: Callable[[Json], Steps]


def _pick_and_place(given: Json) -> Steps:
    where = {k: given[k] for k in ("target_position", *params.PLACE_KEYS) if k in given}
    return [("pick_up", {"object_id": given["object_id"]}), ("place", where)]


SEQUENCES: dict[str, ActionSequence] = {
    "pick_and_place": ActionSequence(("object_id",), _pick_and_place),
    "look_and_pick": ActionSequence(
        ("object_id",),
        lambda given: [
            ("target_navigation", {"target_label": given["object_id"]}),
            ("pick_up", {"object_id": given["object_id"]}),
        ],
    ),
}


def steps_of(order: Order) -> Steps | Finding:
    """The orders of a sequence, as (op, params); a finding when the order is incomplete."""
    name = name_of(order)
    if name == "steps":
        given = order.params.get("steps")
        if not isinstance(given, list) or not given or not all(isinstance(s, dict) for s in given):
            return params.invalid_param(
                order,
                "steps",
                "a list of {action_type, params}",
                given,
                'e.g. [{"action_type": "pick_up", "params": …}]',
            )
        return [_step(s) for s in given]
    row = SEQUENCES.get(name)
    if row is None:
        known = ", ".join((*MOVEMENTS, *SEQUENCES, "steps"))
        return params.invalid_param(order, "name", f"one of {known}", name or dict(order.params), "name a strategy")
    for need in row.needs:
        if not isinstance(order.params.get(need), str):
            return params.invalid_param(
                order, need, "the id of a thing", order.params.get(need), f"{name} needs {need}"
            )
    if name == "pick_and_place" and len(row.steps(order.params)[1][1]) == 0:
        return params.invalid_param(
            order, "target", "where to put it", dict(order.params), "give target or target_position"
        )
    return row.steps(order.params)


def _step(given: Json) -> tuple[str, Json]:
    op = given.get("action_type") or given.get("op") or given.get("name") or ""
    inner = given.get("params", given.get("parameters"))
    if not isinstance(inner, dict):
        inner = {k: v for k, v in given.items() if k not in ("action_type", "op", "name", "params", "parameters")}
    return str(op), inner


def strategy(arm: Arm, order: Order, action_evidence: ActionEvidence, carry: RunOrder) -> Outcome:
    """A movement, or orders one after the other: the first failure ends it, with its own cause and code."""
    movement = MOVEMENTS.get(name_of(order))
    if movement is not None:
        return movement(arm, action_evidence)
    steps = steps_of(order)
    if isinstance(steps, Finding):
        return Outcome.failure(
            Cause.ERROR,
            steps.code,
            f"{steps.found}; expected {steps.expected}",
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
        return Outcome.failure(Cause.ERROR, "NOT_UNDERSTOOD", str(error), evidence=action_evidence.close())
    if not orders:
        return Outcome.failure(
            Cause.ERROR, "NOT_UNDERSTOOD", f"{task[1]!r} contains no action", evidence=action_evidence.close()
        )
    return run_in_order(arm, [replace(o, id=order.id) for o in orders], action_evidence, carry)


def language(order: Order, interpreter: Interpreter | None) -> Finding | None:
    if interpreter is None:
        return Finding(
            "NO_INTERPRETER",
            "driver",
            "an interpreter of language",
            "this body was opened without one",
            "give the task to the planner (paos do), or send pick_up and place orders",
            order.id,
        )
    if params.word(order.params, ("nl_task", "task", "instruction", "text")) is None:
        return params.invalid_param(order, "nl_task", "a task in words", dict(order.params), "give nl_task")
    return None


def run_in_order(arm: Arm, orders: Sequence[Order], action_evidence: ActionEvidence, carry: RunOrder) -> Outcome:
    done: list[Json] = []
    action_evidence.more["sequence"] = done
    for i, order in enumerate(orders, 1):
        movement = MOVEMENTS.get(order.op)
        if movement is not None:
            outcome = movement(arm, ActionEvidence(arm))
        elif order.op in ("strategy", "real_execute"):
            outcome = Outcome.failure(Cause.ERROR, "UNKNOWN_OP", f"a sequence cannot hold {order.op}")
        else:
            outcome = carry(order)
        about = as_text(as_object(as_object(outcome.evidence.get("after")).get("object")).get("id"))
        action_evidence.meant |= {about} if about else set()
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
                f"step {i} of {len(orders)}, {order.op}: {outcome.message}",
                evidence=action_evidence.close(),
                findings=outcome.findings,
            )
    return Outcome.success(f"{len(orders)} steps done: {', '.join(o.op for o in orders)}", **action_evidence.close())
