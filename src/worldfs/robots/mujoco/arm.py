"""The arm: rig, kinematics and motion controller together, and the findings for what it cannot reach."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from worldfs.base.model import Finding

from . import panda
from .arm_view import ArmView
from .array_types import Array, Native
from .collision import CollisionChecker
from .ik import HOME, IKSolver
from .motion_control import MotionController
from .rig import Rig
from .simulation import Simulation

REACH_FIELD = "EMBODIED.md Physical Constraints / Max Reach"
GRIP_FIELD = "EMBODIED.md Physical Constraints / Max Grip Width"


@dataclass
class Arm:
    rig: Rig
    solver: IKSolver
    mover: MotionController
    ready: Array = field(default_factory=HOME.copy)  # a pose free of collision in this scene

    @property
    def view(self) -> ArmView:
        return self.rig.view

    @property
    def simulation(self) -> Simulation:
        return self.rig.simulation

    @cached_property
    def planning_model(self) -> Native:
        """A copy for plans that change the model: the world's own may be stepped for another arm meanwhile."""
        return copy.copy(self.simulation.model)

    def collision_checker(self, *, opening: float | None = None, held: str | None = None) -> CollisionChecker:
        return CollisionChecker(self.rig, opening=opening, held=held)

    def reach(self, position: Array) -> float:
        """Distance of a point from the robot's base (m), as the critic measures it."""
        return float(((position - self.rig.view.base) ** 2).sum() ** 0.5)


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """How a physical attempt ended: `ok`, or the code and message of what was measured instead."""

    ok: bool
    code: str = ""
    message: str = ""
    distance: float = 0.0  # m to the goal


def format_numbers(values: Sequence[float] | Array, digits: int = 3) -> str:
    """[0.45, 0.1, 0.02]: numbers as people read them."""
    return "[" + ", ".join(f"{round(float(v), digits) + 0.0:g}" for v in values) + "]"


def unreachable_finding(arm: Arm, what: str, position: Array, why: str, job: str) -> Finding:
    distance = arm.reach(position)
    beyond = distance > panda.MAX_REACH
    return Finding(
        "CRITIC_REFUSED",
        REACH_FIELD,
        f"a pose the arm can take, within {panda.MAX_REACH} m of the base",
        f"{what} at {format_numbers(position)}, {distance:.3f} m from the base: {why}",
        "bring it nearer to the robot's base (or the robot nearer to it)"
        if beyond
        else "choose a place nearer to 0.35-0.62 m before the robot, or clear the obstacle",
        job,
    )


def collision_finding(what: str, found: str, job: str) -> Finding:
    return Finding(
        "CRITIC_REFUSED",
        "collision check of the body",
        "no contact deeper than 2 mm at the goal and along the path",
        f"{what}: {found}",
        "move what is in the way first, or choose another place",
        job,
    )


def covered_finding(id: str, riders: Sequence[str], job: str) -> Finding:
    """What would go up with a thing, or fall off it."""
    others = ", ".join(riders)
    return Finding(
        "CRITIC_REFUSED",
        "what rests on it",
        "no contact from above: nothing rests on what is picked up",
        f"{id} carries {others}",
        f"take {others} off it first",
        job,
    )
