"""The limits of a body: where its robot's profile lets the tool point of an arm, the middle of what that holds, and the
middle of a body on the floor be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from worldfs.base.messages import coded
from worldfs.base.model import Finding, Profile, RobotState, Vec
from worldfs.base.model.profile import BASE_FRAME
from worldfs.base.workspace_bounds import BeyondBound, beyond, bounds_finding, frame_of, reach_finding

from .array_types import Array

OUTSIDE: Final = "\0"  # begins the name of a bound among the pairs of a collision checker: the id of no thing
TOLERANCE: Final = 0.002  # m that inverse kinematics and servos are off: a point so little beyond a bound is on it
MARGIN: Final = 0.005  # m that a height stays below the upper bound where the arm itself chooses it
REACH: Final = "reach"  # in place of the axis of a bound: the distance from the base of an arm
TOOL: Final = ""  # in place of a thing's id: the tool point

Plan = TypeVar("Plan")


@dataclass(slots=True)
class BodyLimits:
    """The bounds and the reach of a profile for one robot, shared by its body as it is and as plans imagine it.

    `robot`: its id and base pose. `met`: the refusal of the first point that a plan has left out for a limit. `arm`:
    whether its base stays there, so that the reach is a limit, too.
    """

    robot: RobotState
    profile: Profile = field(default_factory=Profile)
    met: Finding | None = None
    arm: bool = False
    _ignored: bool = False

    @property
    def bounded(self) -> bool:
        return (bool(self.profile.bounds) or self._reach is not None) and not self._ignored

    @property
    def _reach(self) -> float | None:
        """m from the base, in three dimensions, as the critic measures it."""
        return self.profile.max_reach if self.arm else None

    def outside(self, point: Array) -> Iterator[tuple[BeyondBound, float]]:
        """The reach and the bounds beyond which a point (m, world frame) is, and how far (m)."""
        if self.bounded:
            if (reach := self._reach) is not None:
                far = math.dist(self.robot.pose[:3], tuple(map(float, point)))
                if far - reach > TOLERANCE:
                    yield BeyondBound(REACH, far, 0.0, reach), far - reach
            for found in beyond(self.profile, self.robot, tuple(map(float, point))):
                deep = max(found.low - found.value, found.value - found.high)
                if deep > TOLERANCE:
                    yield found, deep

    def note(self, id: str, point: Array, found: BeyondBound) -> Finding:
        """A plan leaves out the point for this bound; the refusal. `id`: the thing that would be there, or `TOOL`."""
        what = coded("robot.tool_point") if id == TOOL else id
        refused = reach_finding(self.profile, self.robot, what, _rounded(point)) if found.axis == REACH else None
        refused = refused or bounds_finding(self.profile, self.robot, found, what, _rounded(point))
        self.met = self.met or refused
        return refused

    def refusal(self, id: str, point: Array) -> Finding | None:
        """Why the thing, or the tool point, may not be at a point (m, world frame); None: it may."""
        found = next(self.outside(point), None)
        return None if found is None else self.note(id, point, found[0])

    def holds(self, id: str, point: Array) -> bool:
        if self.met is None:
            return self.refusal(id, point) is None
        return next(self.outside(point), None) is None

    def lowered(self, height: float, *points: Array, least: float) -> float:
        """As much of a height (m) as the upper bound and the reach leave over each of these points, but no less than
        `least`: a checker refuses that where it is too much."""
        if not self.bounded:
            return height
        room = height
        if len(self.profile.bounds) > 2:
            base = float(self.robot.pose[2]) if frame_of(self.profile) == BASE_FRAME else 0.0
            room = min(base + self.profile.bounds[2][1] - MARGIN - float(point[2]) for point in points)
        if (reach := self._reach) is not None:
            room = min(room, *(self._under_reach(reach - MARGIN, point) for point in points))
        return min(height, max(room, least))

    def _under_reach(self, reach: float, point: Array) -> float:
        """How far over a point (m, world frame) the sphere of the reach ends (m); 0 beside it."""
        x, y, z = (float(value) - base for value, base in zip(point, self.robot.pose, strict=False))
        return max(0.0, math.sqrt(max(0.0, reach**2 - x**2 - y**2)) - z)

    def heights(self, wanted: Sequence[float], *points: Array, least: float) -> list[float]:
        """Each of the heights as `lowered` has it, in order, once."""
        return list(dict.fromkeys(self.lowered(height, *points, least=least) for height in wanted))

    def forget(self) -> None:
        """What plans have left out so far."""
        self.met = None

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Meanwhile nothing is beyond them: for plans that tell what would be possible."""
        self._ignored = True
        try:
            yield
        finally:
            self._ignored = False


def _rounded(point: Array) -> Vec:
    return tuple(round(float(v), 4) for v in point)


def within_limits(limits: BodyLimits, make: Callable[[], Plan | Finding]) -> Plan | Finding:
    """The plan that `make` finds. Where there is none, and there would be one without the limits, the refusal names the
    limit; any other refusal stays as it is. Moves nothing."""
    limits.forget()
    found = make()
    met = limits.met
    if met is None or not isinstance(found, Finding):
        return found
    with limits.set_aside():
        other = make()
    return other if isinstance(other, Finding) else replace(met, job=found.job)


def first_beyond(limits: BodyLimits, points: Array) -> int:
    """How many of these points (n × 3, m) of the tool come before the first that is beyond a bound."""
    return next((n for n, point in enumerate(points) if not limits.holds(TOOL, point)), len(points))
