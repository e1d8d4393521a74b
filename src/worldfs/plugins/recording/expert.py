"""The scripted expert: from the table's observation to one small motion of the gripper, without memory.

It gets a policy's observations (`drivers.targets.target_adapter`), so that its actions can be learned from them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from worldfs.robots.targets.target_adapter import Array

# The expert's observations, and their sizes: the columns of `observation.state`, in this order.
SEES: Final = {
    "ee_pose": 7, "gripper": 1, "object_position": 3, "object_orientation": 4, "object_size": 3, "goal_position": 3,
}  # fmt: skip
ACTION: Final = ("dx", "dy", "dz", "rx", "ry", "rz", "gripper")  # m, rad, −1 close … 1 open

GAIN = 0.4  # share of what is left that one step covers
STEP = 0.025  # m
TURN = 0.12  # rad
TRAVEL = 0.22  # m above the table on which the gripper goes from place to place
FUNNEL = 4.0  # the gripper sinks as it comes over its goal: metres of height for each metre beside it
SHALLOW = 0.033  # m below the top: deeper, the palm would touch
AT = 0.008  # m: near enough to close
HELD = 0.004  # m that the fingers may be wider apart than the object, and still hold it
RELEASE = 0.012  # m above the goal when the fingers open
BESIDE = 0.02  # m from the goal when they may
EARLY = 0.45  # rad: turns this much sooner to the right, where the last joint has more range


def action(observation: Mapping[str, Array]) -> Array:
    """The next motion (7,), a change in metres and radians of the base frame, and the gripper."""
    hand, thing, goal = observation["ee_pose"][:3], observation["object_position"], observation["goal_position"]
    turns = matrix(observation["object_orientation"])
    off, turn, width = thing - hand, 0.0, _width(observation["object_size"], turns)
    opening = float(observation["gripper"].ravel()[0])
    grip_z = _grip_height(thing, observation["object_size"], turns)
    beside = float(np.hypot(*off[:2]))
    near = beside < 0.02 and abs(hand[2] - grip_z) < 0.03
    left = goal - thing
    off_goal = float(np.hypot(*left[:2]))
    if near and opening < width + HELD:
        return _carry(left, off_goal)
    if off_goal < 0.09 and -0.03 < left[2] < 0.05:  # it lies where it is wanted: leave it alone
        return _motion(np.array([0, 0, thing[2] + 0.2 - hand[2]]) if hand[2] < thing[2] + 0.15 else np.zeros(3), 0, 1)
    turn = _turn(observation["object_size"], turns, matrix(observation["ee_pose"][3:7]))
    room = max(0.0, TRAVEL - grip_z)
    above = min(room, FUNNEL * max(0.0, beside - 0.006) + 0.5 * max(0.0, abs(turn) - 0.06))
    way = np.array([off[0], off[1], grip_z + above - hand[2]])
    closing = beside < AT and abs(hand[2] - grip_z) < AT and abs(turn) < 0.12
    return _motion(way, turn, -1 if closing else 1)


def _carry(left: Array, off_goal: float) -> Array:
    """Up, over, down, open: by how far the thing is from its goal."""
    height = left[2] + RELEASE + min(0.18, FUNNEL * max(0.0, off_goal - 0.01))
    slow = float(np.clip(1 - height / 0.08, 0.0, 1.0))  # first up, then aside
    opening = off_goal < BESIDE and abs(height) < 0.008
    return _motion(np.array([left[0] * slow, left[1] * slow, height]), 0.0, 1 if opening else -1)


def _motion(way: Array, turn: float, gripper: float) -> Array:
    step = GAIN * way
    size = float(np.linalg.norm(step))
    if size > STEP:
        step = step * (STEP / size)
    return np.array([*step, 0.0, 0.0, np.clip(GAIN * turn, -TURN, TURN), gripper])


def matrix(quat: Array) -> Array:
    """Rotation matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = (float(part) for part in quat)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _flat(size: Array, turns: Array) -> tuple[int, list[int]]:
    """The object's upright axis, and the other two, the narrower first."""
    upright = int(np.argmax(np.abs(turns[2])))
    return upright, sorted((axis for axis in range(3) if axis != upright), key=lambda axis: float(size[axis]))


def _width(size: Array, turns: Array) -> float:
    """Across what the fingers close (m)."""
    return float(size[_flat(size, turns)[1][0]])


def _grip_height(thing: Array, size: Array, turns: Array) -> float:
    """The position of the pads' middle (m)."""
    half = float(size[_flat(size, turns)[0]]) / 2
    return float(max(thing[2] + half - SHALLOW, thing[2]))


def _turn(size: Array, turns: Array, hand: Array) -> float:
    """The gripper's rotation about the vertical that closes across the narrow side (rad)."""
    upright, (narrow, wide) = _flat(size, turns)
    sides, even = 2, abs(size[narrow] - size[wide]) < 0.002
    if even:
        if abs(size[upright] - size[narrow]) > 0.002 or turns[0, 0] == 1.0:
            return 0.0  # round: an upright can, a ball
        sides = 4
    across = math.atan2(turns[1, narrow], turns[0, narrow]) + math.pi / 2
    now = math.atan2(hand[1, 0], hand[0, 0])
    part = 2 * math.pi / sides
    low = -part / 2 - (EARLY if sides == 2 else 0.0)
    return (across - now - low) % part + low
