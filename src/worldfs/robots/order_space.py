"""The space of an order: which box of the world a robot needs for it, by the documents alone, and for how long."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from worldfs.base.model import Order, RobotState, Scene, Vec
from worldfs.base.order_parameters import LABEL, OBJECT, POINT, SUPPORT
from worldfs.base.standard_operations import LOOK, MOVE, PICK, PLACE

AROUND: Final = 0.25  # m about the points that an arm goes to: its elbow, its hand, what it holds
ABOVE: Final = 0.60  # m: over a thing that is lifted
BELOW: Final = 0.10  # m
ARM_S: Final = 8.0  # s of a pick or a place, about
FOOT: Final = (0.35, 0.30)  # m: half of a carrier's sides, and its room
DOCK: Final = 0.60  # m from what it drives to
HEIGHT: Final = 1.0  # m of a carrier with its cargo
PACE: Final = 0.25  # m/s over a way with corners


class OrderSpace(NamedTuple):
    """`box`: lowest corner, highest corner (6, m, world frame); `seconds`: about how long it is needed."""

    box: tuple[float, ...]
    seconds: float


def order_space(scene: Scene, order: Order) -> OrderSpace | None:
    """What the order needs in this scene; None where the documents do not say where it goes.

    An arm needs the space between its base and all the points that it goes to. A robot without a gripper is taken to
    drive over the floor. The bodies themselves keep clear of each other at the time; this is for an orchestrator that
    will not let two begin what one of them must then wait for.
    """
    robot = scene.robot(order.node)
    if robot is None or len(robot.pose) < 2:
        return None
    goals = order_goals(scene, order, robot)
    if not goals:
        return None
    base = (*robot.pose[:3], 0.0)[:3]
    if robot.gripper or robot.joint_state:
        points = [base, *((*goal, base[2])[:3] for goal in goals)]
        low, high = _hull(points)
        low, high = [v - AROUND for v in low], [v + AROUND for v in high]
        return OrderSpace((*low[:2], low[2] + AROUND - BELOW, *high[:2], high[2] - AROUND + ABOVE), ARM_S * len(goals))
    low, high = _hull([base, *((*goal[:2], base[2]) for goal in goals)])
    dock = DOCK if order.op in LOOK else 0.0
    sides = [FOOT[0] + dock, FOOT[1] + dock]
    way = sum(math.dist(base[:2], goal[:2]) for goal in goals)
    return OrderSpace(
        (low[0] - sides[0], low[1] - sides[1], base[2], high[0] + sides[0], high[1] + sides[1], base[2] + HEIGHT),
        round(way / PACE + 2.0, 1),
    )


def order_goals(scene: Scene, order: Order, robot: RobotState) -> list[Vec]:
    """The points (m) that the order names, itself or by a thing or a robot."""
    return [goal for goal in _goals(scene, order, robot) if len(goal) >= 2]


def _goals(scene: Scene, order: Order, robot: RobotState) -> Iterable[Vec]:
    params = order.params
    keys: tuple[str, ...] = ()
    if order.op in PICK:
        keys = OBJECT
    elif order.op in LOOK:
        keys = LABEL
    elif order.op in (*PLACE, *MOVE):
        keys = SUPPORT
        held = scene.thing(robot.holding) if robot.holding else None
        if held is not None:
            yield held.position
    else:
        keys = (*OBJECT, *SUPPORT)  # a sequence goes to all of them
    for key in keys:
        name = params.get(key)
        thing = scene.thing(name) if isinstance(name, str) else None
        other = scene.robot(name) if isinstance(name, str) else None
        if thing is not None:
            yield thing.position
        elif other is not None:
            yield other.pose
    for key in POINT:
        value = params.get(key)
        if isinstance(value, list | tuple) and all(isinstance(v, int | float) for v in value):
            yield tuple(float(v) for v in value[:3])


def _hull(points: list[tuple[float, ...]]) -> tuple[list[float], list[float]]:
    return [min(axis) for axis in zip(*points, strict=True)], [max(axis) for axis in zip(*points, strict=True)]
