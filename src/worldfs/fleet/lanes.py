"""Lanes of the map: the narrow ways that ENVIRONMENT.md names, and which of them a way over the floor goes through.

    "map": {"lanes": [{"name": "aisle", "from": [0, 0], "to": [8, 0], "width": 1.0}],
            "zones": [{"name": "bay", "pose": [4.0, 1.5], "passing": true}]}

A zone with `passing` is a place beside the lanes, where a robot may wait for another one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from worldfs.base.json_values import as_float, as_floats, as_object, as_objects, as_text
from worldfs.base.map_zones import map_zones
from worldfs.base.model import Scene, Vec

WIDTH: Final = 1.0  # m, of a lane that says nothing else
SIDES: Final = 0.05  # m: a robot that stands this near to the edge is beside the lane


class Lane(NamedTuple):
    """Straight, from one point of the floor to another (m)."""

    name: str
    start: tuple[float, float]
    end: tuple[float, float]
    width: float = WIDTH

    def place(self, point: Sequence[float]) -> tuple[float, float]:
        """(along, across) of a point in m: how far from the start, and how far from the middle line."""
        length = math.dist(self.start, self.end)
        ux, uy = (self.end[0] - self.start[0]) / length, (self.end[1] - self.start[1]) / length
        dx, dy = point[0] - self.start[0], point[1] - self.start[1]
        return dx * ux + dy * uy, dy * ux - dx * uy


def read_lanes(scene: Scene) -> tuple[Lane, ...]:
    """The lanes of the map. What is no lane is left out: `paos check` names it."""
    found = []
    for item in as_objects(as_object(scene.extra.get("map")).get("lanes")):
        start, end = as_floats(item.get("from")), as_floats(item.get("to"))
        name, width = as_text(item.get("name")), as_float(item.get("width"), WIDTH)
        numbers = (*start[:2], *end[:2], width)
        if name and len(numbers) == 5 and all(map(math.isfinite, numbers)) and width > 0:
            one, other = (start[0], start[1]), (end[0], end[1])
            if one != other:
                found.append(Lane(name, one, other, width))
    return tuple(found)


def passing_places(scene: Scene) -> tuple[tuple[str, Vec], ...]:
    """Where a robot may step aside: name and x y (m)."""
    return tuple((zone.name, zone.at) for zone in map_zones(scene) if zone.passing and zone.at)


def zone_pose(scene: Scene, name: str) -> Vec | None:
    """x y yaw of the zone of that name (m, rad); None: there is none, or the map does not say where."""
    return next((zone.pose for zone in map_zones(scene) if zone.name == name and zone.at), None)


def lanes_on(way: Sequence[Sequence[float]], lanes: Iterable[Lane], half: float) -> list[tuple[str, int]]:
    """The lanes that a robot enters on its way (points x y, m), and which way: 1 along, -1 against, 0 across or both.

    `half`: how far from its middle the robot reaches to its sides (m).
    """
    found = []
    for lane in lanes:
        ways = {turn for a, b in pairwise(way) if (turn := _direction(lane, a, b, half)) is not None}
        if ways:
            found.append((lane.name, ways.pop() if len(ways) == 1 else 0))
    return found


def lanes_at(point: Sequence[float], lanes: Iterable[Lane], half: float) -> list[str]:
    """The lanes that a robot is in that stands there."""
    return [lane.name for lane in lanes if _direction(lane, point, point, half) is not None]


def _direction(lane: Lane, start: Sequence[float], end: Sequence[float], half: float) -> int | None:
    """Which way a straight piece goes through the lane; None: it stays beside it."""
    (along, across), (then, over) = lane.place(start), lane.place(end)
    room, length = lane.width / 2 + half - SIDES, math.dist(lane.start, lane.end)
    low, high = 0.0, 1.0  # of the piece, what is inside
    for at, to, least, most in ((along, then, -half + SIDES, length + half - SIDES), (across, over, -room, room)):
        step = to - at
        if step == 0:
            if not least < at < most:
                return None
            continue
        one, other = sorted(((least - at) / step, (most - at) / step))
        low, high = max(low, one), min(high, other)
    if low >= high:
        return None
    inside = (then - along) * (high - low)
    return 0 if abs(inside) < lane.width else (1 if inside > 0 else -1)
