"""The workspace bounds of a profile: the world's frame or the robot's own, and the points beyond them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from worldfs.base.model import Profile, RobotState, Vec
from worldfs.base.model.profile import BASE_FRAME, WORLD_FRAME

SLACK = 1e-9  # m


class BeyondBound(NamedTuple):
    """`value`: in the frame of the bounds."""

    axis: str
    value: float
    low: float
    high: float


def frame_of(profile: Profile) -> str:
    """As the profile says; else an arm's are about its base, as its reach is, and those of a robot that drives are the
    floor's."""
    return profile.bounds_frame or (BASE_FRAME if profile.max_reach is not None else WORLD_FRAME)


def beyond(profile: Profile, robot: RobotState | None, point: Sequence[float]) -> Iterator[BeyondBound]:
    """`point`: m in the world frame, two or three numbers. Bounds about a base that is not known bound nothing."""
    at = tuple(point) if frame_of(profile) == WORLD_FRAME else _from_base(robot, point)
    for axis, value, (low, high) in zip("xyz", at, profile.bounds, strict=False):
        if not low - SLACK <= value <= high + SLACK:
            yield BeyondBound(axis, value, low, high)


def _from_base(robot: RobotState | None, point: Sequence[float]) -> Vec:
    pose = robot.pose if robot is not None else ()
    if len(pose) < 3 or not all(map(math.isfinite, pose)):
        return ()
    dx, dy = point[0] - pose[0], point[1] - pose[1]
    turn = pose[5] if len(pose) == 6 else 0.0
    cos, sin = math.cos(turn), math.sin(turn)
    return (dx * cos + dy * sin, dy * cos - dx * sin, *(z - pose[2] for z in point[2:3]))
