"""Robots that stand on the floor by ENVIRONMENT.md, and how far a way passes from where one stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from worldfs.base.json_values import as_text
from worldfs.base.model import RobotState, Scene

from .order_space import FOOT

ROOM_M: Final = 2 * max(FOOT)  # m between the middles of two vehicles that stand or pass beside each other


def stands_on_floor(robot: RobotState) -> bool:
    """Whether its entry has a place and no joints: an arm's base is furniture, and every map has it."""
    return len(robot.pose) >= 2 and not robot.joint_state


def standing_robots(scene: Scene, but: str, map: str = "") -> Iterator[RobotState]:
    """All of them but one; of those that name another map than `map`, none."""
    for robot in scene.robots:
        theirs = as_text(robot.extra.get("map"))
        if robot.robot_id != but and stands_on_floor(robot) and (not map or not theirs or theirs == map):
            yield robot
