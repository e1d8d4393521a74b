"""The points of a hand-over that the profiles of both robots allow."""

from __future__ import annotations

import math
from collections.abc import Sequence

from worldfs.base.meeting_points import POINTS, meeting_points
from worldfs.base.messages import CodedText, coded
from worldfs.base.model import Profile, RobotState, Scene, Vec
from worldfs.base.workspace_bounds import SLACK, beyond

from .planned_actions import HAND_OVER, TAKE_OVER

Limited = tuple[str, Profile | None]  # a robot, and its profile


def allowed_points(scene: Scene, giver: Limited, receiver: Limited) -> list[Vec] | None:
    """The points (m, world frame) at which two robots may meet, for their orders to list; [] where there is none. None
    where every point is allowed, and where a base is not known."""
    robots = [(scene.robot(id), profile) for id, profile in (giver, receiver)]
    known = [(one, profile) for one, profile in robots if one is not None and _located(one)]
    if len(known) < 2:
        return None
    every = list(meeting_points(*(one.pose[:3] for one, _ in known)))
    fit = [point for point in every if all(_fits(profile, one, point) for one, profile in known)]
    return None if len(fit) == len(every) else [tuple(round(v, 4) for v in point) for point in fit]


def no_way_to_meet(scene: Scene, points: Sequence[Vec] | None, giver: Limited, receiver: Limited) -> CodedText | str:
    """Why the two cannot be told where to meet: where one stands is not known, or its profile lists no points; "" if
    they can."""
    for (id, profile), op in ((giver, HAND_OVER), (receiver, TAKE_OVER)):
        robot = scene.robot(id)
        if robot is None or not _located(robot):
            return coded("planner.no_base", robot=id)
        if points and not _lists_points(profile, op):
            return coded("planner.no_points", robot=id, op=op, name=POINTS)
    return ""


def _lists_points(profile: Profile | None, op: str) -> bool:
    row = profile.op(op) if profile is not None else None
    return row is None or not row.parameters or POINTS in {parameter.name for parameter in row.parameters}


def _located(robot: RobotState) -> bool:
    return len(robot.pose) >= 3 and all(map(math.isfinite, robot.pose))


def _fits(profile: Profile | None, robot: RobotState, point: Vec) -> bool:
    if profile is None:
        return True
    reach = math.inf if profile.max_reach is None else profile.max_reach
    return math.dist(robot.pose[:3], point) <= reach + SLACK and not any(beyond(profile, robot, point))
