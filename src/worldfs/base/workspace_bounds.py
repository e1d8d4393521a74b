"""The workspace bounds and the reach of a profile: the points beyond them, and the refusals of those points. The critic
judges by it what an order names, a driver what it chooses itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .measured_facts import fact, facts
from .messages import coded
from .model import Finding, Profile, RobotState, Vec
from .model.profile import BASE_FRAME, WORLD_FRAME

SLACK = 1e-9  # m
LIMIT = "PROFILE_LIMIT"
FIELD = "EMBODIED.md Physical Constraints / {}"


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


def bounds_finding(
    profile: Profile, robot: RobotState, found: BeyondBound, what: str, point: Vec, *, stands: Sequence[str] = ()
) -> Finding:
    """The refusal of a point (m, world frame) that is beyond one bound. `what` is there; `stands`: further measured
    facts that the refusal comes from."""
    axis, value, low, high = found
    about = (fact(robot.robot_id, "base", robot.pose[:3]),) if frame_of(profile) == BASE_FRAME else ()
    bounds = fact(robot.robot_id, "bounds", tuple(end for pair in profile.bounds for end in pair))
    frame = coded("critic.from_base") if about else ""
    return Finding(
        LIMIT,
        FIELD.format("Workspace Bounds"),
        coded("critic.bounds.expected", axis=axis, low=low, high=high, frame=frame),
        coded("critic.bounds.found", what=what, point=point, axis=axis, value=value),
        coded("critic.bounds.fix"),
        condition=facts(bounds, *about, *stands),
    )


def reach_finding(
    profile: Profile, robot: RobotState, what: str, point: Vec, *, stands: Sequence[str] = ()
) -> Finding | None:
    """The refusal of a point (m, world frame) that is farther from the robot's base pose than its reach, in three
    dimensions; None: it is in reach, or the profile names no reach."""
    limit, base = profile.max_reach, robot.pose[:3]
    if limit is None or (distance := math.dist(base, point[:3])) <= limit + SLACK:
        return None
    node = robot.robot_id or "the robot"
    return Finding(
        LIMIT,
        FIELD.format("Max Reach"),
        coded("critic.reach.expected", limit=limit),
        coded("critic.reach.found", distance=distance, what=what, point=point, base=base, node=node),
        coded("critic.reach.fix", limit=limit),
        condition=facts(*stands, fact(robot.robot_id, "base", base), fact(robot.robot_id, "max_reach", limit)),
    )
