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
from worldfs.base.standard_operations import FIXTURED, HAND_OVER, PLACE_BESIDE, STACK

from . import actions, params, perception, sequences, withdrawal
from .arm import Arm
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
    """Findings on one order in the present state; a sequence is reviewed by its first order."""
    unread = params.unread(order, sequences.STRATEGY if order.op == sequences.STRATEGY.name else None)
    if unread is not None:
        return (unread,)
    found: object = None
    if order.op not in sequences.OF_ORDERS:
        begun = withdrawal.begun(arm, order.op, order.id)
        if isinstance(begun, Finding):
            return (begun,)
        arm = begun
    if order.op in HANDLING_ACTS:
        found = HANDLING_ACTS[order.op][0](arm, order)
    match order.op:
        case "move_to":
            found = actions.plan_move(arm, order)
        case "pick_up":
            found = actions.plan_pick(arm, order)
        case "place":
            found = actions.plan_place(arm, order)
        case "target_navigation":
            found = _sight(order, cameras) or perception.plan_locate(arm, order)
        case "real_execute":
            found = sequences.language(order, interpreter)
        case "strategy":
            if sequences.name_of(order) in sequences.MOVEMENTS:
                return ()
            steps = sequences.steps_of(order)
            if isinstance(steps, Finding):
                return (steps,)
            if (conflict := _later_place(arm, order, steps)) is not None:
                return (conflict,)
            op, given = steps[0]
            if op in ("strategy", "real_execute"):
                found = params.invalid_param(
                    order, "steps", coded("robot.param_motions"), op, coded("robot.name_steps")
                )
            else:
                return review(arm, replace(order, op=op, params=given), interpreter, cameras)
    return (found,) if isinstance(found, Finding) else ()


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
