"""Things as upright boxes over the floor, and what stands between a place and one of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from worldfs.base.model import Thing

from . import rotations

TOUCHES: Final = 1e-3  # m: nearer than that is in it
THINNEST: Final = 1e-6  # m
PASSES: Final = 0.5  # m over the floor: what hangs higher is over the heads of those that go there
FLAT: Final = 0.03  # m: lower things are gone over
Spot = tuple[float, float]  # m, world


@dataclass(frozen=True, slots=True)
class Footprint:
    """An upright box over the floor: its middle, half its sides, how it is turned about the vertical (m, rad)."""

    x: float
    y: float
    half: Spot
    yaw: float = 0.0

    def gap(self, spot: Spot) -> float:
        """Metres from a spot to its outline; 0 inside."""
        dx, dy = spot[0] - self.x, spot[1] - self.y
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        along, across = abs(cosine * dx + sine * dy), abs(cosine * dy - sine * dx)
        return math.hypot(max(0.0, along - self.half[0]), max(0.0, across - self.half[1]))

    def crossed(self, start: Spot, end: Spot) -> bool:
        """Whether the straight line between two spots goes through it; along its outline does not count."""
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        first, last = 0.0, 1.0
        for along, across, half in ((cosine, sine, self.half[0]), (-sine, cosine, self.half[1])):
            at = along * (start[0] - self.x) + across * (start[1] - self.y)
            way = along * (end[0] - start[0]) + across * (end[1] - start[1])
            if abs(way) < THINNEST:
                if abs(at) > half - THINNEST:
                    return False
                continue
            enters, leaves = sorted(((-half - at) / way, (half - at) / way))
            first, last = max(first, enters), min(last, leaves)
        return (last - first) * math.dist(start, end) > THINNEST

    def nearest(self, spot: Spot) -> Spot:
        """The point of it that is nearest to a spot."""
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        dx, dy = spot[0] - self.x, spot[1] - self.y
        along = max(-self.half[0], min(self.half[0], cosine * dx + sine * dy))
        across = max(-self.half[1], min(self.half[1], cosine * dy - sine * dx))
        return self.x + cosine * along - sine * across, self.y + sine * along + cosine * across

    def side(self, axis: int) -> Spot:
        """From where to where it reaches along x (0) or y (1)."""
        cosine, sine = abs(math.cos(self.yaw)), abs(math.sin(self.yaw))
        half = (cosine, sine)[axis] * self.half[0] + (sine, cosine)[axis] * self.half[1]
        at = (self.x, self.y)[axis]
        return at - half, at + half


def footprint(thing: Thing) -> Footprint | None:
    """None for a thing without a place."""
    if len(thing.position) < 2 or len(thing.size) < 2:
        return None
    turn = rotations.matrix(thing.orientation)
    upright = abs(float(turn[2, 2])) > 0.999
    if upright and thing.shape != "sphere":
        half, yaw = (thing.size[0] / 2, thing.size[1] / 2), math.atan2(float(turn[1, 0]), float(turn[0, 0]))
    else:
        wide = rotations.half_extents(thing.shape, thing.size, turn)
        half, yaw = (float(wide[0]), float(wide[1])), 0.0
    return Footprint(float(thing.position[0]), float(thing.position[1]), half, yaw)


def stands_on(thing: Thing, floor: float) -> bool:
    """Whether a thing with a place is in the way of a body on that floor (m, world)."""
    low, high = _heights(thing)
    return thing.shape != "region" and low < floor + PASSES and high > floor + FLAT


def _heights(thing: Thing) -> tuple[float, float]:
    """Its lowest and highest point (m, world)."""
    if thing.shape == "table":
        return thing.position[2] - thing.size[2], thing.position[2]
    half = float(rotations.half_extents(thing.shape, thing.size, rotations.matrix(thing.orientation))[2])
    return thing.position[2] - half, thing.position[2] + half


def footprint_of(rectangle: Sequence[float]) -> Footprint:
    """Of its lowest and highest x y."""
    x0, y0, x1, y1 = (float(v) for v in rectangle)
    return Footprint((x0 + x1) / 2, (y0 + y1) / 2, ((x1 - x0) / 2, (y1 - y0) / 2))


def between(spot: Spot, target: Footprint, others: Iterable[tuple[str, Footprint]]) -> list[str]:
    """The names of those that stand between a spot and a target: the straight line to its nearest point, to its middle
    from within it, goes through them. Those in which the target's middle is do not: it stands on, in or under them."""
    to, middle = target.nearest(spot), (target.x, target.y)
    if to == spot:
        to = middle
    return sorted({name for name, box in others if box.gap(middle) > TOUCHES and box.crossed(spot, to)})
