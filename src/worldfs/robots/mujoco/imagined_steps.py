"""The arm as the next order of a sequence will find it: each is planned where the one before it leaves the world."""

from __future__ import annotations

import numpy as np

from worldfs.base.standard_operations import MOVE_TO, PICK_UP, PLACE_BESIDE, PLACE_DOWN, PUSH, STACK
from worldfs.robots import rotations

from . import geometry, panda
from .actions import ReachPlan
from .arm import Arm
from .array_types import Array
from .believed_rig import BelievedRig
from .grasp import GraspPlan
from .imagined_arm import imagined
from .object_placement import PlacementPlan
from .push import BEHIND, PushPlan

PRESSED = 0.0005  # m that a pad, or what a thing rests on, is pressed in
SQUEEZED = 0.004  # m at most, where a pad meets a round side
RESTS = 0.0001  # m


def after(arm: Arm, op: str, plan: object) -> Arm | None:
    """The arm once it has carried out the plan of an order; None where that is not known before it is done."""
    if isinstance(arm.rig, BelievedRig):
        return None  # what the fingers hold is felt, and what stands where is seen: neither can be imagined
    match plan:
        case GraspPlan() if op == PICK_UP.name:
            return _picked(arm, plan)
        case PlacementPlan() if op in (PLACE_DOWN.name, PLACE_BESIDE.name):
            centre = plan.goal.centre - geometry.up(0.0 if plan.goal.inside else RESTS)
            pose = _turned(arm, plan.thing, plan.down[-1], centre)
            return imagined(arm, {plan.thing: pose}, plan.up[-1], plan.opening)
        case PushPlan() if op == PUSH.name:
            return _pushed(arm, plan)
        case ReachPlan() if op == MOVE_TO.name:
            return _moved(arm, plan.route[-1])
        case Arm() if op == STACK.name:
            return plan
    return None


def after_movement(arm: Arm, name: str) -> Arm | None:
    """The same for a movement that is no order of its own."""
    if isinstance(arm.rig, BelievedRig):
        return None
    if name in ("home", "ready", "wave"):
        return _moved(arm, arm.ready)
    empty = name == "open_gripper" and arm.rig.held() is None
    return imagined(arm, {}, opening=panda.STROKE) if empty else None


def _picked(arm: Arm, plan: GraspPlan) -> Arm | None:
    """The fingers as far together as they press on the thing."""
    rig, id = arm.rig, plan.thing
    (start, turn), (end, _) = (arm.solver.pose(q) for q in (plan.down[-1], plan.up[-1]))
    pose = np.array([*(rig.position(id) + end - start), *rig.quat(id)])
    thing = rig.things[id]
    half = float(rotations.half_extents(thing.shape, thing.size, turn.T @ rig.rotation(id))[1])
    for pressed in np.arange(PRESSED, SQUEEZED, PRESSED).tolist():
        found = imagined(arm, {id: pose}, plan.up[-1], max(0.0, half - pressed))
        if found.rig.held() == id:
            return found
    return None


def _pushed(arm: Arm, plan: PushPlan) -> Arm | None:
    goal, way = plan.goal, np.array([*plan.goal.way, 0.0])
    end, _ = arm.solver.pose(plan.ahead[-1])
    joints = arm.solver.near(plan.ahead[-1], end - way * BEHIND + geometry.up(plan.rise), plan.rotation)
    if joints is None:
        return None
    return imagined(arm, {goal.thing: goal.start + way * goal.distance}, joints, plan.opening)


def _moved(arm: Arm, joints: Array) -> Arm:
    held = arm.rig.held()
    if held is None:
        return imagined(arm, {}, joints)
    position, rotation = arm.view.tcp_pose()
    there, turn = arm.solver.pose(joints)
    centre = there + turn @ rotation.T @ (arm.rig.position(held) - position)
    return imagined(arm, {held: _turned(arm, held, joints, centre)}, joints)


def _turned(arm: Arm, held: str, joints: Array, centre: Array) -> Array:
    """The pose (7) of the held thing with its centre there, turned with the hand."""
    rotation, turn = arm.view.tcp_pose()[1], arm.solver.pose(joints)[1]
    return np.array([*centre, *geometry.quat_of(turn @ rotation.T @ arm.rig.rotation(held))])
