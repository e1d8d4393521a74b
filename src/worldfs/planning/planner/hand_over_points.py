"""The points of a hand-over that the profiles of both robots allow."""

from __future__ import annotations

import math

from worldfs.base.meeting_points import meeting_points
from worldfs.base.model import Profile, RobotState, Scene, Vec
from worldfs.planning.workspace_bounds import SLACK, beyond


def allowed_points(
    scene: Scene, giver: tuple[str, Profile | None], receiver: tuple[str, Profile | None]
) -> list[Vec] | None:
    """The points (m, world frame) at which two robots may meet, for their orders to list; [] where there is none. None
    where every point is allowed, and where a base is not known."""
    robots = [(scene.robot(id), profile) for id, profile in (giver, receiver)]
    known = [(one, profile) for one, profile in robots if one is not None and _located(one)]
    if len(known) < 2:
        return None
    every = list(meeting_points(*(one.pose[:3] for one, _ in known)))
    fit = [point for point in every if all(_fits(profile, one, point) for one, profile in known)]
    return None if len(fit) == len(every) else [tuple(round(v, 4) for v in point) for point in fit]


def _located(robot: RobotState) -> bool:
    return len(robot.pose) >= 3 and all(map(math.isfinite, robot.pose))


def _fits(profile: Profile | None, robot: RobotState, point: Vec) -> bool:
    if profile is None:
        return True
    reach = math.inf if profile.max_reach is None else profile.max_reach
    return math.dist(robot.pose[:3], point) <= reach + SLACK and not any(beyond(profile, robot, point))
