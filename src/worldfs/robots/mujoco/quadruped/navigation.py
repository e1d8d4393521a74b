"""The way to a target over the floor: planned, walked, planned again where something is in it, and measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.robots.floor_footprint import Spot, between
from worldfs.robots.mujoco.body_limits import within_limits
from worldfs.robots.mujoco.floor_grid import KEEP, FloorGrid
from worldfs.robots.mujoco.grid_search import Cell
from worldfs.robots.mujoco.shared_motion import plan_in_turn

from .floor_world import FloorTarget, FloorWorld
from .gait import TICK, Velocity
from .quadruped import Quadruped
from .walker import UPRIGHT, Walker

SPEED: Final = 0.6  # m/s
TURN: Final = 0.9  # rad/s
CORNER: Final = 0.15  # m: so near, the next corner is walked to
ARRIVED: Final = 0.06  # m
WITHIN: Final = 0.15  # m from its goal, measured when it stands: success
FACING: Final = 0.08  # rad
TURNED: Final = 0.2  # rad, measured when it stands
BESIDE: Final = (KEEP + 0.15, 0.9, 1.3)  # m from a thing's outline, the nearest that there is a free place at
LEAVE: Final = 0.6  # m: from so far inside an obstacle's margin it finds out
ASIDE: Final = 0.7  # rad: a target farther to the side is turned to in place
EVERY: Final = 5  # ticks between two looks at what it touches
LOOK: Final = 50  # ticks between two looks at what is in the way
SHIFTED: Final = 0.05  # m: from here on a thing has moved
STUCK: Final = 4.0  # s without coming nearer
TRIES: Final = 3  # how often it begins again from where it is stuck
SLOWEST: Final = 0.12  # m/s, s: a way that takes longer than at that pace is given up
LOWEST: Final = 0.2  # m, of the trunk over the floor
DOUBT: Final = (0.25, 0.3)  # m, m/m: how far the pose may differ from what its legs have walked by their joints
LOW_BATTERY: Final = 0.03  # of its charge: it goes nowhere with less


@dataclass(frozen=True, slots=True)
class Route:
    """The corners of a way (m), where it stands first; how it is to be turned at its end; `beside`: from how far it
    counts as beside its target."""

    corners: tuple[Spot, ...]
    yaw: float | None
    beside: float

    def length(self, of: int = 1) -> float:
        """From the corner before `of` on."""
        return sum(math.dist(self.corners[i - 1], self.corners[i]) for i in range(of, len(self.corners)))


@dataclass(slots=True)
class Trip:
    """What came of a walk. `trouble`: the code of what ended it, "" for nothing; `verdict` judges where it stands."""

    route: Route | None = None
    trouble: str = ""
    walked: float = 0.0  # m, over the floor
    replanned: int = 0
    touched: set[str] = field(default_factory=set)
    blocked: list[str] = field(default_factory=list)  # the robots without which there would be a way


def route(world: FloorWorld, target: FloorTarget, grid: FloorGrid, *, across: bool = False) -> Route | None:
    """The shortest way to the target; None: there is none. `across`: to its other side, too, of what stands there."""
    here = world.spot()
    start = grid.nearest(here, LEAVE)
    if start is None:
        return None
    standing = () if across else world.standing().items()
    for beside in (0.0,) if target.on_it else BESIDE:
        goals = [cell for cell in _goals(grid, target, beside) if not between(grid.middle(cell), target.box, standing)]
        way = grid.way(start, goals)
        if not way:
            continue
        inside = not grid.free(grid.cell(here))  # an obstacle's margin is left by the nearest free cell
        corners = [here, *(way if inside else way[1:])]
        end = corners[-1]
        if target.on_it and grid.cell(target.middle) == grid.cell(end):
            corners[-1 if len(corners) > 1 else 1 :] = [target.middle]  # not only the cell: the very spot
            return Route(tuple(corners), target.yaw, beside)
        if target.on_it:
            return Route(tuple(corners), target.yaw, beside)
        return Route(tuple(corners), math.atan2(target.box.y - end[1], target.box.x - end[0]), beside)
    return None


def _goals(grid: FloorGrid, target: FloorTarget, beside: float) -> Sequence[Cell]:
    if not target.on_it:
        return grid.near(beside, target.box)
    cell = grid.cell(target.middle)
    if grid.free(cell):
        return [cell]
    inside = grid.near(0.0, target.box)
    return [min(inside, key=lambda c: (math.dist(grid.middle(c), target.middle), c))] if inside else []


def way_to(body: Quadruped, target: FloorTarget, *, minding: bool) -> Route | Finding:
    """The shortest way within the limits to the target, or why there is none; with `minding` clear of where others will
    pass, and the body's `blockers` are those that it waits for."""
    return within_limits(body.limits, lambda: shortest_way(body, target, minding=minding))


def shortest_way(body: Quadruped, target: FloorTarget, *, minding: bool) -> Route | Finding:
    """The same, whatever the cause of a refusal: from any thread, also beside `way_to`."""
    world = body.floor
    found = route(world, target, world.grid(minding=minding))
    if found is not None:
        return found
    in_way = _in_way(world, target, minding)
    if minding:
        body.blockers |= in_way
    what = target.name or coded("robot.walk_place", at=[target.box.x, target.box.y])
    if in_way:
        why, fix = coded("robot.way_blocked_by", robots=sorted(in_way)), coded("robot.let_pass", robots=sorted(in_way))
        said = coded("robot.walk_blocked", what=what, why=why)
    else:
        said, fix = coded("robot.walk_no_way_to", what=what), coded("robot.walk_fix_path")
        if (way := route(world, target, world.grid(minding=minding), across=True)) is not None:
            closing = between(way.corners[-1], target.box, world.standing().items())
            said = coded("robot.walk_blocked", what=what, why=coded("robot.stands_between", ids=closing))
    return Finding("NO_PATH", "ACTION.md params", coded("robot.walk_expect_path", keep=KEEP), said, fix)


def _in_way(world: FloorWorld, target: FloorTarget, minding: bool) -> set[str]:
    """The robots without which there would be a way: one of them alone if that is enough, else all of them."""
    robots = world.movers(minding=minding)
    for without in [*([id] for id in robots), robots] if robots else ():
        if route(world, target, world.grid(minding=minding, without=without)) is not None:
            return set(without)
    return set()


class Navigator:
    """One walk of one quadruped to a target."""

    def __init__(self, body: Quadruped, target: FloorTarget) -> None:
        self._body, self._world, self._walker, self._target = body, body.floor, body.walker, target
        self.trip = Trip()
        self._seen: list[Spot] = []  # where the things were when they were looked at last
        self._next = 1  # the corner that it walks to
        self._last = self._world.spot()

    def go(self) -> Trip:
        """Walks there and stands. Raises what `Walker.walk` raises."""
        trip = self.trip
        self._plan()
        while not trip.trouble and trip.route is not None and self._next < len(trip.route.corners):
            self._leg_of_way(trip.route)
        self._walker.stand()
        if not trip.trouble and trip.route is not None and trip.route.yaw is not None:
            self._turn_to(trip.route.yaw)
            self._walker.stand()
        return trip

    def _leg_of_way(self, route: Route) -> None:
        """Until the next corner, a new route, or trouble."""
        corner, last = route.corners[self._next], self._next == len(route.corners) - 1
        nearest, waited = math.inf, 0
        for ticks in range(round((math.dist(self._world.spot(), corner) / SLOWEST + 20.0) / TICK)):
            pose = self._walker.view.pose()
            away = math.dist((pose.x, pose.y), corner)
            error = math.remainder(math.atan2(corner[1] - pose.y, corner[0] - pose.x) - pose.yaw, math.tau)
            if away < (ARRIVED if last else CORNER) or (away < 2 * ARRIVED and abs(error) > 1.2):
                self._next += 1
                return
            turn = max(-TURN, min(TURN, 1.8 * error))
            ahead = max(0.08, min(SPEED, 1.2 * away)) * math.cos(error) ** 2 if abs(error) < ASIDE else 0.0
            self._step((ahead, 0.0, turn))
            if away < nearest - 0.02 or abs(error) >= ASIDE:
                nearest, waited = min(nearest, away), 0
            waited += 1
            if waited * TICK > STUCK:
                break
            if self._walker.charge < LOW_BATTERY:
                self.trip.trouble = "BATTERY_LOW"
                return
            if ticks % LOOK == LOOK - 1 and self._in_the_way(route):
                self._plan_again()
                return
        self._back_out()

    def _step(self, command: Velocity) -> None:
        self._walker.walk(command)
        here = self._world.spot()
        if self._walker.ticks % EVERY == 0:
            self.trip.walked += math.dist(self._last, here)
            self._last = here
            self.trip.touched |= self._world.touched()

    def _in_the_way(self, route: Route) -> bool:
        """Whether something has moved, and stands where it is still to walk."""
        spots = self._world.object_spots()
        if all(math.dist(a, b) < SHIFTED for a, b in zip(spots, self._seen, strict=True)):
            return False
        self._seen = spots
        grid = self._world.grid(without=self._world.robots())  # these keep clear of its own space
        left = [self._world.spot(), *route.corners[self._next :]]
        first = 1 if not grid.free(grid.cell(left[0])) else 0
        return not all(grid.clear(a, b) for a, b in pairwise(left[first:]))

    def _plan_again(self) -> None:
        self.trip.replanned += 1
        if self._body.others:
            self._walker.stand()  # its space is free as soon as it plans: it must be at rest by then
        self._plan()

    def _plan(self) -> None:
        """The way, and its space reserved; where another body moves in it, it stands and waits for it."""
        trip, self._next = self.trip, 1
        found = plan_in_turn(
            self._body,
            lambda: way_to(self._body, self._target, minding=True),
            lambda found: self._body.space(found.corners),
        )
        self._seen = self._world.object_spots()
        trip.blocked = sorted(self._body.blockers) if isinstance(found, Finding) else []
        trip.route = None if isinstance(found, Finding) else found
        if trip.route is None:
            trip.trouble = "NO_PATH"

    def _back_out(self) -> None:
        """It does not come nearer: a step back, and another try."""
        if self.trip.replanned >= TRIES:
            self.trip.trouble = "STUCK"
            return
        for _ in range(round(1.0 / TICK)):
            self._step((-0.25, 0.0, 0.0))
        self._plan_again()

    def _turn_to(self, yaw: float) -> None:
        for _ in range(round(12.0 / TICK)):
            error = math.remainder(yaw - self._walker.view.pose().yaw, math.tau)
            if abs(error) < FACING:
                return
            self._step((0.0, 0.0, math.copysign(max(0.25, min(TURN, 1.8 * abs(error))), error)))


def verdict(world: FloorWorld, walker: Walker, target: FloorTarget, trip: Trip) -> str:
    """The code of what is otherwise than asked, "" for success: by where it is, and never by what it was told to do."""
    pose, found = walker.view.pose(), trip.route
    if pose.up < UPRIGHT or pose.z - world.plan.floor < LOWEST:
        return "FALLEN"
    if trip.trouble or found is None:
        return trip.trouble or "NO_PATH"
    if not walker.at_rest:
        return "NOT_AT_REST"
    here = (pose.x, pose.y)
    # the target itself may have been moved meanwhile
    if math.dist(here, found.corners[-1]) > WITHIN or target.box.gap(here) > found.beside + WITHIN:
        return "NOT_AT_GOAL"
    if found.yaw is not None and abs(math.remainder(found.yaw - pose.yaw, math.tau)) > TURNED:
        return "NOT_FACING"
    way = (here[0] - walker.began[0], here[1] - walker.began[1])
    if math.dist(way, walker.stepped) > DOUBT[0] + DOUBT[1] * trip.walked:
        return "POSE_DOUBTFUL"
    return ""
