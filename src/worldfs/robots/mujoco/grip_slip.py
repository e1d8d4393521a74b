"""Whether a grip is firm: how fast the thing slides between the pads of a hand that stands still."""

from __future__ import annotations

from typing import Final

import numpy as np

from worldfs.base.messages import CodedText, coded

from .arm import Arm
from .array_types import Array

SLIP: Final = 0.0005  # m/s: firm grips creep 0.01 to 0.12 mm/s in this simulation, one beside a can's axis 2 mm/s
LOOK = 0.2  # s between two looks
LOOKS = 5  # at most: what swings after a motion comes to rest


def grip_slip(arm: Arm, id: str) -> float:
    """How fast (m/s) the held thing moves in the hand, or the pads move closer: the least of some looks in a row."""
    slowest, before = float("inf"), _in_hand(arm, id)
    for _ in range(LOOKS):
        arm.wait(LOOK)
        now = _in_hand(arm, id)
        slowest = min(slowest, float(np.linalg.norm(now - before)) / LOOK)
        if slowest <= SLIP:
            break
        before = now
    return slowest


def slipping(arm: Arm, id: str, speed: float) -> CodedText:
    return coded("robot.slips", id=id, mm=1000 * speed, at=arm.rig.position(id))


def _in_hand(arm: Arm, id: str) -> Array:
    """The thing's middle in the hand's frame, and the opening (4, m)."""
    position, rotation = arm.view.tcp_pose()
    return np.array([*(rotation.T @ (arm.rig.position(id) - position)), arm.view.opening()])
