"""Where quadrupeds stand in a world: where the file has them, else at a free place beside the other bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, Protocol

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import RobotState, Scene, Thing
from worldfs.robots.floor_footprint import Footprint, footprint
from worldfs.robots.mujoco.floor_grid import KEEP

APART: Final = 0.8  # m between its middle and another body's, where nobody says where it stands
TOO_CLOSE: Final = 0.45  # m: nearer than this no two can stand
# x, y (m) of places in the first body's frame, the first that is free is taken
WAITING: Final = tuple(product((-1.2, -2.0, -2.8, 2.2, 3.0), (0.0, 1.1, -1.1, 2.2, -2.2)))


@dataclass(frozen=True, slots=True)
class QuadrupedPlacement:
    """A robot's quadruped in a world: its prefix, where it stands (x y z of the floor, roll pitch yaw; m, rad), and the
    robot as the file has it. One alone has no prefix."""

    robot_id: str
    prefix: str
    base: tuple[float, ...]
    robot: RobotState | None = None


class StandingBody(Protocol):
    """Another body of the world, with its base (x y z …)."""

    @property
    def robot_id(self) -> str: ...

    @property
    def base(self) -> tuple[float, ...]: ...


def quadruped_placements(
    scene: Scene, robot_ids: Sequence[str], bodies: Sequence[StandingBody], furniture: Sequence[Thing], floor: float
) -> tuple[QuadrupedPlacement, ...]:
    """Errors: `BadInput` for poses that no world can have."""
    alone = len(robot_ids) == 1 and not bodies
    boxes = [box for thing in furniture if thing.shape != "region" and (box := footprint(thing))]
    given = {id: _pose(robot, floor) for id in robot_ids if (robot := scene.robot(id)) and robot.pose}
    taken: dict[str, tuple[float, ...]] = {body.robot_id: body.base for body in bodies}
    for id, base in given.items():
        for other, there in taken.items():
            if math.dist(base[:2], there[:2]) < TOO_CLOSE:
                raise _too_close(id, base, other, there)
        taken[id] = base
    found: list[QuadrupedPlacement] = []
    for i, id in enumerate(robot_ids):
        first = next(iter(taken.values()), None)
        at = given.get(id) or _free(first, list(taken.values()), boxes, floor)
        if not at:
            raise BadInput(coded("robot.no_place_to_wait", id=id), fix=coded("robot.own_pose"))
        taken[id] = at
        found.append(QuadrupedPlacement(id, "" if alone else f"quadruped{i}/", at, scene.robot(id)))
    return tuple(found)


def _free(
    first: tuple[float, ...] | None, taken: Sequence[tuple[float, ...]], boxes: Sequence[Footprint], floor: float
) -> tuple[float, ...]:
    """The first body's own place is the origin; empty: none is free."""
    if first is None:
        return (0.0, 0.0, floor, 0.0, 0.0, 0.0)
    yaw = (*first, *(0.0,) * 6)[5]
    for x, y in _turned(yaw):
        at = (first[0] + x, first[1] + y)
        apart = all(math.dist(at, other[:2]) >= APART for other in taken)
        if apart and all(box.gap(at) > KEEP for box in boxes):
            return (round(at[0], 4) + 0.0, round(at[1], 4) + 0.0, floor, 0.0, 0.0, yaw)
    return ()


def _turned(yaw: float) -> Iterator[tuple[float, float]]:
    cosine, sine = math.cos(yaw), math.sin(yaw)
    for x, y in WAITING:
        yield cosine * x - sine * y, sine * x + cosine * y


def _pose(robot: RobotState, floor: float) -> tuple[float, ...]:
    """x, y and yaw of the file; it stands up, however it lay."""
    pose = (*robot.pose, *(0.0,) * 6)[:6]
    if not all(math.isfinite(v) and abs(v) < 1e4 for v in pose):
        raise BadInput(
            coded("robot.robot_pose", pose=list(pose)), expected=coded("robot.only_finite"),
            fix=coded("robot.correct_pose"),
        )  # fmt: skip
    return (pose[0], pose[1], floor, 0.0, 0.0, pose[5])


def _too_close(id: str, base: tuple[float, ...], other: str, there: tuple[float, ...]) -> BadInput:
    said = coded("robot.too_close", one=id, at=list(base[:3]), other=other, there=list(there[:3]))
    return BadInput(said, expected=coded("robot.bases_apart", m=TOO_CLOSE), fix=coded("robot.own_pose"))
