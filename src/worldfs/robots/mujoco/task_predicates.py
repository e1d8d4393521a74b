"""Tasks on the table as predicates of its state: what counts as done is measured, never claimed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from . import support
from .arm import Arm
from .array_types import Array

LIFTED = 0.10  # m above its start
NEAR = 0.03  # m, as the body's own place counts
STILL = 0.02  # m/s


class TaskGoal(NamedTuple):
    """`thing`: the object to move; `place`: the id of its destination, "" for `position` or nothing."""

    task: str
    thing: str
    place: str = ""
    position: tuple[float, ...] = ()
    start_z: float = 0.0  # m, of the thing's centre when the episode began


def goal_position(arm: Arm, goal: TaskGoal) -> Array:
    """The goal of the object's centre (3, m); for `pick` above its start."""
    if goal.task == "pick":
        at = arm.rig.position(goal.thing)
        return np.array([at[0], at[1], goal.start_z + LIFTED])
    if goal.position:
        return np.array(goal.position[:3], dtype=float)
    if goal.place in arm.rig.body:
        at = arm.rig.position(goal.place)
        at[2] += float(arm.rig.half(goal.place)[2] + arm.rig.half(goal.thing)[2])
        return at
    piece = arm.rig.things[goal.place]
    top = piece.position[2] + (0.0 if piece.shape in ("table", "basket") else piece.size[2] / 2)
    return np.array([piece.position[0], piece.position[1], top + float(arm.rig.half(goal.thing)[2])])


def _picked(arm: Arm, goal: TaskGoal) -> bool:
    rig = arm.rig
    risen = float(rig.position(goal.thing)[2]) > goal.start_z + LIFTED
    return rig.held() == goal.thing and risen and support.carried(rig, goal.thing, "robot")


def _resting(arm: Arm, goal: TaskGoal) -> bool:
    """Let go of, and still."""
    rig = arm.rig
    return "robot" not in rig.touching(goal.thing) and rig.speed(goal.thing) <= STILL


def _placed(arm: Arm, goal: TaskGoal) -> bool:
    rig, piece = arm.rig, arm.rig.things.get(goal.place)
    if not _resting(arm, goal):
        return False
    at, half = rig.position(goal.thing), float(rig.half(goal.thing)[2])
    if piece is not None and piece.shape == "basket":
        return support.contains(rig, goal.thing, goal.place)
    wanted = goal_position(arm, goal)
    if float(np.linalg.norm((at - wanted)[:2])) >= NEAR or abs(float(at[2] - wanted[2])) > half + NEAR:
        return False
    if piece is None or piece.shape == "region":  # a place in the world, whatever is under it
        return bool(support.shares(rig, goal.thing)) and support.flat(rig, goal.thing)
    return support.carried(rig, goal.thing, goal.place) and support.flat(rig, goal.thing)


def _stacked(arm: Arm, goal: TaskGoal) -> bool:
    rig = arm.rig
    return _resting(arm, goal) and support.carried(rig, goal.thing, goal.place) and support.flat(rig, goal.thing)


def _reached(arm: Arm, goal: TaskGoal) -> bool:
    return float(np.linalg.norm(arm.view.tcp_pose()[0] - arm.rig.position(goal.thing))) < NEAR


DONE: Final[dict[str, Callable[[Arm, TaskGoal], bool]]] = {
    "reach": _reached,
    "pick": _picked,
    "place": _placed,
    "stack": _stacked,
}
