"""Motion in a shared world: plans that keep clear of the other bodies, their space reserved meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from worldfs.base.model import Finding

from .arm import Arm
from .array_types import Array
from .body_limits import within_limits
from .reserved_space import ReservedSpace, SweptSpace, swept
from .simulation import Simulation

STEP = 0.09  # rad between two sampled poses of a path
Leg = tuple[Sequence[Array], str | None]  # joint poses, and the thing that the gripper carries along them
Plan = TypeVar("Plan")


class SharedBody(Protocol):
    """A body of a world, as its plans see it. `blockers`: robots that the last plan came too near to."""

    reserved: ReservedSpace
    blockers: set[str]

    @property
    def robot_id(self) -> str: ...

    @property
    def others(self) -> bool: ...

    @property
    def prefix(self) -> str: ...

    @property
    def simulation(self) -> Simulation: ...

    def wait(self, seconds: float) -> None: ...


def plan_in_turn(
    body: SharedBody, make: Callable[[], Plan | Finding], space: Callable[[Plan], SweptSpace]
) -> Plan | Finding:
    """The plan that `make` finds with all others where they are and where they will be; then its space is reserved.

    Where another body moves in the way this one holds still and plans again when that one is done, or moves otherwise.
    A body waits without a reservation of its own, so no two wait for each other.
    """
    if not body.others:
        return make()
    body.reserved.release(body.robot_id)
    while True:
        with body.simulation.planning_turn(body.prefix):
            body.blockers.clear()
            found = make()
            if not isinstance(found, Finding):
                body.reserved.reserve(body.robot_id, space(found))
                return found
            moving = body.blockers & body.reserved.of_others(body.robot_id).keys()
            seen = body.reserved.changes
        if not moving:
            return found
        while not _changed(body, seen):
            body.wait(0.1)


def _changed(body: SharedBody, seen: int) -> bool:
    """Asked in turn: by then each of the others has ended or said what it has to say at this moment."""
    with body.simulation.planning_turn(body.prefix):
        return body.reserved.changes != seen


def plan_motion(arm: Arm, make: Callable[[], Plan | Finding], legs: Callable[[Plan], Sequence[Leg]]) -> Plan | Finding:
    """The same for an arm, whose plan is made of `legs` and within its limits."""

    def minding() -> Plan | Finding:
        with arm.minding_others():
            return arm.or_blocked(lambda: within_limits(arm.limits, make))

    found = plan_in_turn(arm, minding, lambda found: _space(arm, legs(found)))
    if not isinstance(found, Finding):
        arm.planned = tuple(legs(found))
    return found


def _space(arm: Arm, legs: Sequence[Leg]) -> SweptSpace:
    checker = arm.collision_checker()
    spheres: list[Array] = []
    for path, carried in legs:
        around = _reach_of(arm, carried)
        poses = []
        for start, end in zip(path, [*path[1:], path[-1]], strict=True):
            pieces = max(1, int(np.ceil(float(np.max(np.abs(end - start))) / STEP)))
            for k in range(pieces):
                rows = checker.spheres_at(start + (end - start) * (k / pieces))
                tool = [*arm.view.tcp_pose_in(checker.data)[0], around]
                poses.append(np.vstack([rows, tool]))
        spheres.append(swept(poses).spheres)
    return SweptSpace(np.vstack(spheres))


def _reach_of(arm: Arm, id: str | None) -> float:
    """How far from the tool point a carried thing may reach (m)."""
    if id is None:
        return 0.0
    rig = arm.rig
    offset = rig.position(id) - arm.view.tcp_pose()[0] if rig.held() == id else np.zeros(3)
    return float(np.linalg.norm(offset) + np.linalg.norm(rig.half(id)) + 0.03)
