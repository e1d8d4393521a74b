"""The arm: rig, kinematics and motion controller together, and the findings for what it cannot reach."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from worldfs.base.measured_facts import fact, facts
from worldfs.base.messages import coded
from worldfs.base.model import Finding

from . import geometry, panda, support
from .arm_view import ArmView
from .array_types import Array, Native
from .body_limits import BodyLimits
from .collision import CollisionChecker
from .ik import HOME, IKSolver
from .motion_control import MotionController
from .neighbours import neighbours, none_of
from .reserved_space import ReservedSpace
from .rig import Rig
from .simulation import Simulation

REACH_FIELD = "EMBODIED.md Physical Constraints / Max Reach"
SMALL_FIELD = "EMBODIED.md Physical Constraints / Min Grip Width"
Plan = TypeVar("Plan")
GRIP_FIELD = "EMBODIED.md Physical Constraints / Max Grip Width"


@dataclass
class Arm:
    rig: Rig
    solver: IKSolver
    mover: MotionController
    limits: BodyLimits  # of its robot's profile, shared by the arm as plans imagine it
    ready: Array = field(default_factory=HOME.copy)  # a pose free of collision in this scene
    reserved: ReservedSpace = field(default_factory=ReservedSpace)  # of the world, shared by its bodies
    blockers: set[str] = field(default_factory=set)  # robots that the plan under way came too near to
    planned: Sequence[tuple[Sequence[Array], str | None]] = ()  # legs of the order that runs; viewers see it
    believed: Callable[[], Arm] | None = None  # the arm in the world as its cameras saw it, up to date
    look_at: Callable[[str, str], Finding | None] | None = None  # a look at a thing, for a job, before it is taken
    look_round: Callable[[], Finding | None] | None = None  # a look at all that the front camera sees
    closed_on: Callable[[str], None] | None = None  # the fingers have closed on a thing
    _is_alone: bool = False  # a plan as if no other body were there
    _minds: bool = False  # a plan keeps clear of where the others will pass; a review only of where they stand

    @property
    def view(self) -> ArmView:
        return self.rig.view

    @property
    def simulation(self) -> Simulation:
        return self.rig.simulation

    @property
    def planning(self) -> Arm:
        """The arm that plans are made with: in the world as it was seen, where it goes by its cameras."""
        return self.believed() if self.believed is not None else self

    @cached_property
    def planning_model(self) -> Native:
        """A copy for plans that change the model: the world's own may be stepped for another arm meanwhile."""
        return copy.copy(self.simulation.model)

    @property
    def robot_id(self) -> str:
        return self.rig.robot_id

    @property
    def others(self) -> bool:
        """Whether there are other bodies in this world."""
        return self.rig.several

    @property
    def prefix(self) -> str:
        return self.rig.view.prefix

    def wait(self, seconds: float) -> None:
        self.mover.wait(seconds)

    @contextmanager
    def minding_others(self) -> Iterator[None]:
        """Meanwhile plans keep clear of what the other bodies will pass through; `blockers` says whom they met."""
        self._minds = True
        try:
            yield
        finally:
            self._minds = False

    def collision_checker(self, *, opening: float | None = None, held: str | None = None) -> CollisionChecker:
        others = None
        if self.others and not self._is_alone:
            others = neighbours(self.rig, self.reserved, self.blockers, moving=self._minds)
        elif self.others:
            others = none_of(self.rig)
        return CollisionChecker(self.rig, opening=opening, held=held, neighbours=others, limits=self.limits)

    def or_blocked(self, make: Callable[[], Plan | Finding]) -> Plan | Finding:
        """What `make` plans. Where it finds nothing, and would if no other body were there: the bodies in the way."""
        found = make()
        moving = self.blockers & self.reserved.of_others(self.robot_id).keys()
        if not isinstance(found, Finding) or not self.blockers or moving:
            return found
        robots, self._is_alone = sorted(self.blockers), True
        try:
            alone = make()
        finally:
            self._is_alone = False
        if isinstance(alone, Finding):
            return found
        why, fix = (coded(code, robots=robots) for code in ("robot.way_blocked_by", "robot.let_pass"))
        said = coded("robot.and_also", said=found.found, more=why)
        return replace(collision_finding(said, found.job), code=found.code, fix=fix)

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


def unreachable_finding(arm: Arm, what: str, position: Array, why: str, job: str) -> Finding:
    distance = arm.reach(position)
    beyond = distance > panda.MAX_REACH
    return Finding(
        "CRITIC_REFUSED",
        REACH_FIELD,
        coded("robot.reachable", limit=panda.MAX_REACH),
        coded("robot.unreachable", what=what, at=position, distance=distance, why=why),
        coded("robot.bring_nearer") if beyond else coded("robot.choose_nearer"),
        job,
        condition=_where(arm, what),
    )


def _where(arm: Arm, what: str) -> tuple[str, ...]:
    """The facts that decide whether it is in reach, by what is in the hand too; () for a place that the arm itself
    chose."""
    base = fact(arm.rig.robot_id, "base", tuple(map(float, arm.view.base)))
    held = arm.rig.held()
    hand = (fact(arm.rig.robot_id, "holding", held),) if held not in (None, what) else ()
    if what in arm.rig.body:
        return facts(
            fact(what, "position", tuple(map(float, arm.rig.position(what)))),
            fact(what, "orientation", geometry.quat_of(arm.rig.rotation(what))),
            base,
            *hand,
        )
    return facts(base, *hand) if what == "target_pose" else ()


def collision_finding(found: str, job: str) -> Finding:
    return Finding(
        "CRITIC_REFUSED",
        coded("robot.collision_check"),
        coded("robot.no_contact"),
        found,
        coded("robot.clear_the_way"),
        job,
    )


def covered_finding(arm: Arm, id: str, riders: Sequence[str], job: str) -> Finding:
    """What would go up with a thing, or fall or tilt without it. The refusal holds while all of them are on the thing,
    else while each is where it is."""
    rig = arm.rig
    if all(support.carried(rig, one, id) and support.flat(rig, one) for one in riders):
        given = [fact(one, "on", id) for one in riders]
    else:
        moving = [one for one in (id, *riders) if one in rig.body]
        given = [fact(one, "position", tuple(map(float, rig.position(one)))) for one in moving]
    return Finding(
        "CRITIC_REFUSED",
        coded("robot.what_rests"),
        coded("robot.nothing_on_it"),
        coded("robot.carries", id=id, others=list(riders)),
        coded("robot.take_off", others=list(riders)),
        job,
        condition=facts(*given),
    )
