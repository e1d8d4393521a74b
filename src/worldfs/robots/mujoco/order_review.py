"""The driver's own part of the critic: checks of kinematics, contact and the grip. Moves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from worldfs.base.compound_orders import Steps
from worldfs.base.driver import Interpreter
from worldfs.base.json_values import as_list
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Order
from worldfs.base.order_parameters import LABEL, OBJECT, SUPPORT
from worldfs.base.standard_operations import EXECUTE_TEXT, FIXTURED, HAND_OVER, PLACE_BESIDE, STACK

from . import actions, imagined_steps, params, perception, sequences, withdrawal
from .arm import Arm
from .body_limits import within_limits
from .gl import gl_status
from .handling_operations import HANDLING_ACTS


def order_subject(arm: Arm, order: Order) -> str | None:
    """The object of an order: the one it names, else the held one."""
    rig = arm.rig
    if order.op in ("place", PLACE_BESIDE.name, HAND_OVER.name):
        return rig.held()
    if order.op == STACK.name:
        return None  # it is about several
    if order.op in FIXTURED:
        return None  # it is about no object
    named = params.thing(rig, order, (*OBJECT, *LABEL), objects=True)
    return rig.held() if isinstance(named, Finding) else named


def handled_things(arm: Arm, order: Order) -> list[str]:
    """The objects that a handling order goes by: what it is about, and what that is to stand beside or on."""
    rig = arm.rig
    if order.op == STACK.name:
        return [str(id) for id in as_list(order.params.get("object_ids")) if str(id) in rig.body]
    keys = SUPPORT if order.op == PLACE_BESIDE.name else OBJECT
    named = params.thing(rig, order, keys, objects=True)
    return [] if isinstance(named, Finding) else [named]


def review(arm: Arm, order: Order, interpreter: Interpreter | None, cameras: bool) -> Sequence[Finding]:
    """Findings on one order in the present state; on a sequence, of each of its orders where the one before it leaves
    the world, as far as that can be told."""
    if order.op == sequences.STRATEGY.name:
        found: object = params.unread(order, sequences.STRATEGY) or _review_sequence(arm, order, cameras)
    elif order.op == EXECUTE_TEXT.name:
        found = params.unread(order) or sequences.language(order, interpreter)
    else:
        _, found = _planned(arm, order, cameras)
    return (found,) if isinstance(found, Finding) else ()


def _planned(arm: Arm, order: Order, cameras: bool) -> tuple[Arm, object]:
    """The arm once an order has begun, and the plan of that order or why there is none, within the limits."""
    begun = arm

    def plan() -> object:
        nonlocal begun
        begun, found = _begun_and_planned(arm, order, cameras)
        return found

    arm.blockers.clear()
    found = arm.or_blocked(lambda: within_limits(arm.limits, plan))
    return begun, found


def _begun_and_planned(arm: Arm, order: Order, cameras: bool) -> tuple[Arm, object]:
    if (unread := params.unread(order)) is not None:
        return arm, unread
    begun = withdrawal.begun(arm, order.op, order.id)
    if isinstance(begun, Finding):
        return arm, begun
    if order.op in HANDLING_ACTS:
        return begun, HANDLING_ACTS[order.op][0](begun, order)
    match order.op:
        case "move_to":
            return begun, actions.plan_move(begun, order)
        case "pick_up":
            return begun, actions.plan_pick(begun, order)
        case "place":
            return begun, actions.plan_place(begun, order)
        case "target_navigation":
            return begun, _sight(order, cameras) or perception.plan_locate(begun, order)
    return begun, None


def _review_sequence(arm: Arm, order: Order, cameras: bool) -> Finding | None:
    if (name := sequences.name_of(order)) in sequences.MOVEMENTS:
        stuck = sequences.plan_movement(arm, name)
        return None if stuck is None else replace(stuck, job=order.id)
    steps = sequences.steps_of(order)
    if isinstance(steps, Finding):
        return steps
    if nested := next((op for op, _ in steps if op in sequences.OF_ORDERS), None):
        return params.invalid_param(order, "steps", coded("robot.param_motions"), nested, coded("robot.name_steps"))
    if (conflict := _later_place(arm, order, steps)) is not None:
        return conflict
    then: Arm | None = arm
    for number, (op, given) in enumerate(steps, 1):
        if then is None:
            break
        if op in sequences.MOVEMENTS:
            if (stuck := sequences.plan_movement(then, op)) is not None:
                return _in_step(stuck, number, len(steps), op)
            then = imagined_steps.after_movement(then, op)
            continue
        begun, found = _planned(then, replace(order, op=op, params=given), cameras)
        if isinstance(found, Finding):
            return _in_step(found, number, len(steps), op)
        then = imagined_steps.after(begun, op, found)
    return None


def _in_step(found: Finding, number: int, of: int, op: str) -> Finding:
    said = coded("robot.step_failed", i=number, n=of, op=op, said=found.found)
    return replace(found, found=said, condition=())


def _later_place(arm: Arm, order: Order, steps: Steps) -> Finding | None:
    """Why one of the places of a sequence is none, unless what is named there is moved before."""
    moved: set[object] = set()
    held = ""
    for op, given in steps:
        step = replace(order, op=op, params=given)
        moved |= {given[name] for name in OBJECT if op != "place" and isinstance(given.get(name), str)}
        if op == "pick_up":
            held = next((str(given[name]) for name in OBJECT if isinstance(given.get(name), str)), "")
        named = params.word(given, SUPPORT) if op == "place" else None
        if (
            named is not None
            and named[1] not in moved
            and (found := actions.place_conflict(arm, step, held)) is not None
        ):
            return found
    return None


def _sight(order: Order, cameras: bool) -> Finding | None:
    if cameras and gl_status().backend:
        return None
    status = gl_status()
    return Finding(
        "CAMERA_UNAVAILABLE",
        "EMBODIED.md Sensors / RGB-D Camera",
        coded("robot.camera"),
        status.why or coded("robot.cameras_off"),
        status.fix or coded("robot.cameras_on"),
        order.id,
    )
