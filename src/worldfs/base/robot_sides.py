"""Directions as a robot sees them: its left and right, in front (towards its base) and behind (away from it)."""

from __future__ import annotations

import math
from typing import Final

from .model import RobotState

SIDES: Final = ("left", "right", "front", "behind")
WAYS: Final = {"left": "left", "right": "right", "forward": "behind", "backward": "front"}


def side_axis(side: str, robot: RobotState | None) -> tuple[float, float]:
    """Unit vector in the plane. A base without a turn looks along x, its left along y."""
    pose = robot.pose if robot is not None else ()
    turn = pose[5] if len(pose) >= 6 and math.isfinite(pose[5]) else 0.0
    ahead = (math.cos(turn), math.sin(turn))
    match side:
        case "behind":
            return ahead
        case "front":
            return (-ahead[0], -ahead[1])
        case "left":
            return (-ahead[1], ahead[0])
        case _:
            return (ahead[1], -ahead[0])
