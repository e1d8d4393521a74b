"""Free places: where on a table, beside a thing or in a container something can be set down. Metres, world frame."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from worldfs.base import packing
from worldfs.base.drawers import drawn_part
from worldfs.base.footprint import gap, is_surely_out, narrowest_gap, widest_gap, yaw
from worldfs.base.hollows import is_in, opens, rest_limit
from worldfs.base.model import Profile, RobotState, Scene, Thing, Vec
from worldfs.base.workspace_bounds import beyond

from .centre_spot import AT_CENTRE_M, free_spots
from .directions import lies_toward
from .goals import BESIDE_M, SIDE_M, SPREAD, ApartGoal, AreaGoal, BesideGoal, TowardGoal
from .scene_facts import (
    UNKNOWN_LOCATION,
    ThingLocation,
    bears,
    containers,
    final_support,
    height,
    inside,
    obstacles,
    settled_at,
    top,
    top_of,
)

GRID_M = 0.04
GAPS_M = (0.05, 0.03, 0.012)  # space for the fingers between two footprints: the widest possible
EDGE_M = 0.01  # a thing whose middle is nearer to an edge may tip over it
CLEAR_M = 0.005  # between a thing at a named point and its neighbours
FINGERS_M = 0.03  # between a thing and the one that it is put beside
BESIDE_MARGIN_M = 0.02  # placement error with which it still is beside
BESIDE_STEP_M = 0.01
CENTRE_MARGIN_M = 0.015  # placement error with which it still is as near to the middle as it can be
RIM_M = 0.04  # kept from the walls of a container
NEAR_BASE_M = 0.32  # an arm cannot point straight down nearer than this
BEST_REACH = 0.56  # share of the reach where an arm serves best
NEAREST_REACH, FARTHEST_REACH = 0.3, 0.92  # the same of the last places that it reaches, measured on a Panda
USABLE_REACH = 0.78  # and up to where it points down easily (embodied.md §5: 7.8 % of a full sphere has no such pose)

HARD_M = 10.0  # added to the cost of a place beyond that: any easy one is better


@dataclass(frozen=True, slots=True)
class PlacementScene:
    """The scene as it will be at one moment of a plan: `now` holds the present poses, `places` what is where."""

    scene: Scene
    robot: RobotState | None
    profile: Profile | None
    now: dict[str, Thing]
    places: dict[str, ThingLocation]

    def radius(self, thing: Thing) -> float:
        sides = thing.size[:2] or (0.05, 0.05)
        return math.hypot(*sides) / 2 if thing.shape not in ("sphere", "cylinder") else max(sides) / 2

    def obstacles(self, besides: str) -> list[Thing]:
        """At their places in the plan."""
        return obstacles(self.scene, self.now, self.places, besides)

    def reach_range(self) -> tuple[float, float, float]:
        """(nearest, best, farthest) horizontal distance from the base; without a limit in the profile: anything."""
        limit = self.profile.max_reach if self.profile is not None else None
        if limit is None or self.robot is None or len(self.robot.pose) < 2:
            return (0.0, 0.0, math.inf)
        return (NEAR_BASE_M * limit / 0.855, BEST_REACH * limit, USABLE_REACH * limit)

    def can_reach(self, x: float, y: float) -> bool:
        """Whether an arm that points straight down comes there at all; easy places are within `reach_range`."""
        limit = self.profile.max_reach if self.profile is not None else None
        if limit is None or self.robot is None or len(self.robot.pose) < 2:
            return self._in_bounds(x, y)
        away = math.dist((x, y), self.robot.pose[:2])
        return self._in_bounds(x, y) and NEAREST_REACH * limit <= away <= FARTHEST_REACH * limit

    def _in_bounds(self, x: float, y: float) -> bool:
        return self.profile is None or next(beyond(self.profile, self.robot, (x, y)), None) is None

    def widest(self) -> float:
        """What the gripper closes across (m)."""
        limit = self.profile.max_grip_width if self.profile is not None else None
        return math.inf if limit is None else limit

    def reach_cost(self, x: float, y: float) -> float | None:
        """Distance of a point from the best radius (m), more where it is not reached easily; None out of reach."""
        near, best, far = self.reach_range()
        if not self.can_reach(x, y):
            return None
        if self.robot is None or far == math.inf:
            return 0.0
        away = math.dist((x, y), self.robot.pose[:2])
        return abs(away - best) + (0.0 if near <= away <= far else HARD_M)

    def effort(self, x: float, y: float) -> float:
        """The same in whole centimetres (m): of equal places, the arm goes to the one that it reaches best."""
        cost = self.reach_cost(x, y)
        return math.inf if cost is None else round(cost, 2)


def on_surface(
    thing: Thing,
    surface: Thing,
    bench: PlacementScene,
    avoid: Iterable[Vec] = (),
    area: AreaGoal | ApartGoal | None = None,
) -> Vec | None:
    """Centre of `thing` at rest on a free spot of `surface` (x, y, z), None when there is none within reach."""
    size = surface.size if len(surface.size) >= 2 else (0.6, 0.6, 0.0)
    surface = replace(surface, size=(*size[:2], height(surface)))
    z = round(top_of(surface, bench.scene, bench.places) + height(thing) / 2, 4)
    low, high = (area.low, area.high) if isinstance(area, AreaGoal) else ((-math.inf,) * 2, (math.inf,) * 2)
    wide, others, turn = bench.radius(thing), bench.obstacles(thing.id), yaw(surface)
    taken = [(o.position, bench.radius(o)) for o in others]
    refused = [tuple(a[:2]) for a in avoid]
    near = thing.position[:2]
    other = (bench.now.get(area.other) or bench.scene.thing(area.other)) if isinstance(area, ApartGoal) else None
    least = area.least + CLEAR_M if isinstance(area, ApartGoal) else 0.0
    candidates: list[tuple[float, float, float]] = []
    for u in _steps(surface.size[0] / 2 - wide):
        for v in _steps(surface.size[1] / 2 - wide):
            x = surface.position[0] + u * math.cos(turn) - v * math.sin(turn)
            y = surface.position[1] + u * math.sin(turn) + v * math.cos(turn)
            cost = bench.reach_cost(x, y)
            if cost is None or not (low[0] + wide <= x <= high[0] - wide and low[1] + wide <= y <= high[1] - wide):
                continue
            if any(math.dist((x, y), r) < GRID_M * 1.5 for r in refused):
                continue
            if other is not None and narrowest_gap(replace(thing, position=(x, y, z)), other) < least:
                continue
            candidates.append((cost + 0.3 * math.dist((x, y), near), x, y))
    candidates.sort()
    for room in GAPS_M:
        for _, x, y in candidates:
            if all(math.dist((x, y), p[:2]) >= r + wide + room for p, r in taken):
                return (round(x, 4), round(y, 4), z)
    return None


def in_the_middle(thing: Thing, surface: Thing, bench: PlacementScene, avoid: Iterable[Vec] = ()) -> Vec | None:
    """The middle of the surface; where other things take that, the free place nearest to it within reach, if possible
    with room for the fingers. None where it would count as farther than need be."""
    z = round(top_of(surface, bench.scene, bench.places) + height(thing) / 2, 4)
    refused = [tuple(a[:2]) for a in avoid]
    found: list[tuple[float, float, float, float]] = []
    farthest = math.inf
    for spot in free_spots(thing, surface, bench.obstacles(thing.id)):
        farthest = min(farthest, spot.away + AT_CENTRE_M - CENTRE_MARGIN_M)
        if spot.away > farthest:
            break
        if bench.can_reach(spot.x, spot.y) and all(math.dist(spot[1:3], r) >= CLEAR_M for r in refused):
            tight = max(0.0, FINGERS_M - spot.room) if spot.away else 0.0
            found.append((round(tight, 3), spot.away, spot.x, spot.y))
            if not spot.away:
                break
    return (round(min(found)[2], 4), round(min(found)[3], 4), z) if found else None


def beside(thing: Thing, goal: BesideGoal | TowardGoal, bench: PlacementScene, avoid: Iterable[Vec] = ()) -> Vec | None:
    """A free spot next to a thing, on the support or in the box of the thing.

    By the same gap as the goal is judged by, `BESIDE_MARGIN_M` inside it; for any turn of the thing if that
    is possible. A named side is kept as well: best exactly in that direction.
    """
    aim = goal.direction if isinstance(goal, TowardGoal) else ()
    most = SIDE_M if aim else BESIDE_M
    other = bench.now.get(goal.other) or bench.scene.thing(goal.other)
    if other is None:
        return None
    spot = settled_at(bench.places, goal.other)
    box = bench.scene.thing(spot.of) if spot.relation == "in" else None
    wide, span = bench.radius(thing), bench.radius(other)
    taken = [(o.position, bench.radius(o)) for o in bench.obstacles(thing.id) if o.id != other.id]
    support = bench.scene.thing(spot.of) if spot.relation == "on" else None
    if support is None and box is None:  # a basket stands on a table too
        under = [t for t in bench.scene.furniture if t.id != other.id and inside(t, *other.position[:2])]
        support = next((t for t in under if not t.is_container), None)
    if box is not None:
        within = [
            t
            for id, t in bench.now.items()
            if final_support(bench.places, id) == spot and id not in (thing.id, other.id)
        ]
        taken = [(t.position, bench.radius(t)) for t in within]
    z = round(other.position[2] - height(other) / 2 + height(thing) / 2, 4)
    refused = [tuple(a[:2]) for a in avoid]
    found: list[tuple[bool, float, float, float]] = []
    for step in range(24):
        turn = step * math.pi / 12
        for n in range(1, int((wide + span + most) / BESIDE_STEP_M) + 1):
            x = other.position[0] + n * BESIDE_STEP_M * math.cos(turn)
            y = other.position[1] + n * BESIDE_STEP_M * math.sin(turn)
            cost = bench.reach_cost(x, y)
            clear = all(math.dist((x, y), p[:2]) >= r + wide + 0.012 for p, r in taken)
            if cost is None or not clear or any(math.dist((x, y), r) < GRID_M for r in refused):
                continue
            if box is not None and not inside(box, x, y, wide + RIM_M / 2):
                continue
            if support is not None and len(support.size) >= 2 and not inside(support, x, y, wide):
                continue
            moved = replace(thing, position=(x, y, z))  # what costs more is asked last
            if is_surely_out(moved, other, FINGERS_M, most - BESIDE_MARGIN_M):
                continue
            if narrowest_gap(moved, other) < FINGERS_M or gap(moved, other) > most - BESIDE_MARGIN_M:
                continue
            if aim and not lies_toward(moved, other, aim, SPREAD / 2):
                continue
            loose = widest_gap(moved, other) > most - BESIDE_MARGIN_M
            astray = abs(math.remainder(turn - math.atan2(aim[1], aim[0]), math.tau)) if aim else 0.0
            cost += 0.3 * math.dist((x, y), thing.position[:2]) + 0.2 * astray
            found.append((loose, round(cost, 9), x, y))
    if not found:
        return None
    _, _, x, y = min(found)
    return (round(x, 4), round(y, 4), z)


def in_container(
    thing: Thing, box: Thing, bench: PlacementScene, avoid: Iterable[Vec] = (), *, close: bool = False
) -> Vec | None:
    """Where the thing comes to rest in the box: a roomy place of its floor, else on top of what lies in it, else a
    place that is just large enough; None where there is none within reach. `close`: from one corner on, so that more
    things go in."""
    place = ThingLocation("in", box.id)
    within = [t for id, t in bench.now.items() if final_support(bench.places, id) == place and id != thing.id]
    half = height(thing) / 2
    if len(box.size) < 2 or opens(box):  # how much of a drawer is open, its body knows
        x, y = drawn_part(box).position[:2]
        return (round(x, 4), round(y, 4), round(top(box) + half, 4))
    refused = [tuple(a[:2]) for a in avoid]
    roomy = [] if close else _slots(thing, box, within, bench)
    if not roomy and len(thing.size) >= 3 and len(box.size) >= 3:
        floor, widest = box.position[2] - height(box) / 2 + packing.WALL_M, bench.widest()
        for spot in packing.spots(thing, box, within, widest=widest):
            tried = any(math.dist((spot.x, spot.y), r) < CLEAR_M for r in refused)
            if bench.can_reach(spot.x, spot.y) and not tried:
                return (round(spot.x, 4), round(spot.y, 4), round(floor + half, 4))
    ranked = [
        (z + sum(math.dist((x, y), r) < GRID_M / 2 for r in refused), -apart, bench.effort(x, y), x, y, z)
        for z, apart, x, y in roomy
    ]
    if not ranked:
        return None
    *_, x, y, z = min(ranked)
    return (round(x, 4), round(y, 4), round(min(z, top(box)) + half, 4))


def comes_into(box: Thing, bench: PlacementScene) -> bool:
    """Whether the arm reaches any place over the box."""
    turn = yaw(box)
    long, wide = box.size[:2] if len(box.size) > 1 else (0.0, 0.0)
    return any(
        bench.can_reach(
            box.position[0] + u * math.cos(turn) - v * math.sin(turn),
            box.position[1] + u * math.sin(turn) + v * math.cos(turn),
        )
        for u in _steps(long / 2 - packing.WALL_M)
        for v in _steps(wide / 2 - packing.WALL_M)
    )


def _slots(
    thing: Thing, box: Thing, within: list[Thing], bench: PlacementScene
) -> list[tuple[float, float, float, float]]:
    """Places that keep away from the walls, some of them on top of what lies there: (height of what is under it,
    distance to the nearest thing, x, y)."""
    wide, turn = bench.radius(thing), yaw(box)
    tight = min(box.size[:2]) / 2 < wide + RIM_M and len(thing.size) > 2 < len(box.size)
    if tight and not within and next(packing.spots(thing, box, (), widest=bench.widest()), None) is None:
        return []  # its middle is between the walls, and there is no room for the fingers beside it
    bottom, found = box.position[2] - height(box) / 2 + packing.WALL_M, []
    for u in _steps(max(0.0, box.size[0] / 2 - wide - RIM_M)):
        for v in _steps(max(0.0, box.size[1] / 2 - wide - RIM_M)):
            x = box.position[0] + u * math.cos(turn) - v * math.sin(turn)
            y = box.position[1] + u * math.sin(turn) + v * math.cos(turn)
            below = [t for t in within if math.dist((x, y), t.position[:2]) < bench.radius(t) + wide]
            z = max([top(t) for t in below], default=bottom)
            if bench.can_reach(x, y) and (not below or z < rest_limit(box)):
                found.append((z, min((math.dist((x, y), t.position[:2]) for t in within), default=0.0), x, y))
    return found


def on_thing(thing: Thing, support: Thing) -> Vec:
    x, y = support.position[:2]
    return (round(x, 4), round(y, 4), round(top(support) + height(thing) / 2, 4))


def at_position(thing: Thing, point: Vec, bench: PlacementScene, to: ThingLocation = UNKNOWN_LOCATION) -> Vec | None:
    """The wanted point; without a height, at rest on what is under it: in a container or on a thing where `to` says so.
    None out of reach, or where another thing is: `in_place_of` names that."""
    x, y = point[:2]
    if not bench.can_reach(x, y):
        return None
    if len(point) >= 3:
        return tuple(point[:3])
    if in_place_of(thing, point, bench, to) or (to.of not in bench.now and is_bare(x, y, bench)):
        return None
    z = max((top_of(t, bench.scene, bench.places) for t in _under(x, y, bench)), default=0.0)
    if to.of in bench.now:
        z = top(bench.now[to.of])
    elif to.relation == "in" and (box := bench.scene.thing(to.of)) is not None:
        z = box.position[2] - height(box) / 2 + packing.WALL_M
    return (round(x, 4), round(y, 4), round(z + height(thing) / 2, 4))


def in_place_of(thing: Thing, point: Vec, bench: PlacementScene, to: ThingLocation = UNKNOWN_LOCATION) -> list[str]:
    """What takes the wanted point: things that stand there, or what bears nothing."""
    x, y = point[:2]
    if to.relation == "in" or to.of in bench.now:
        return _in_place_within(replace(thing, position=(x, y, 0.0)), to, bench)
    under = _under(x, y, bench)
    moved = replace(thing, position=(x, y, max((top_of(t, bench.scene, bench.places) for t in under), default=0.0)))
    taken = [other.id for other in bench.obstacles(thing.id) if gap(moved, other) < CLEAR_M]
    return [*(t.id for t in under if not bears(t)), *taken]


def _in_place_within(moved: Thing, to: ThingLocation, bench: PlacementScene) -> list[str]:
    """The same in a container or on a thing: what is there beside the thing may have touched it before."""
    where = {id: final_support(bench.places, id) if to.relation == "in" else bench.places[id] for id in bench.now}
    there = [t for id, t in bench.now.items() if id != moved.id and where[id] == to]
    place = bench.scene.thing(to.of) if to.relation == "in" else None
    there += [box for box in containers(bench.scene) if place is not None and box.id != to.of and is_in(box, place)]
    return [other.id for other in there if gap(moved, other) <= 0]


def is_bare(x: float, y: float, bench: PlacementScene) -> bool:
    """Whether no furniture bears a point, where the scene says of each piece where it ends."""
    told = [t for t in bench.scene.furniture if not t.is_container and t.shape != "region"]
    known = bool(told) and all(min(len(t.size), len(t.position)) >= 2 for t in told)
    return known and not any(inside(t, x, y, EDGE_M) for t in told)


def _under(x: float, y: float, bench: PlacementScene) -> list[Thing]:
    return [t for t in bench.scene.furniture if not t.is_container and inside(t, x, y)]


def _steps(half: float) -> list[float]:
    """Grid coordinates from the middle outward, the middle always among them."""
    count = max(0, int(half / GRID_M))
    return [n * GRID_M for n in sorted(range(-count, count + 1), key=abs)]
