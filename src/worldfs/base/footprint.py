"""The gap between two things seen from above: rectangles as they are turned, round things as discs. Metres."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from .model import Thing

Point = tuple[float, float]
ROUNDING = 1e-9


class LyingShape(NamedTuple):
    """A thing as it lies, seen from above: its sides (m), its height (m), and the turn of its first side (rad)."""

    along: float
    across: float
    height: float
    turn: float
    round: bool


POINT = LyingShape(0.0, 0.0, 0.0, 0.0, True)


def lying(thing: Thing) -> LyingShape:
    """By its orientation: the axis that points up the most is its height. Without a size it is a point."""
    if len(thing.size) < 3:
        sides = (*thing.size[:2], 0.0, 0.0)[:2]
        return LyingShape(sides[0], sides[1], 0.0, yaw(thing), thing.shape in ("sphere", "cylinder"))
    own = axes(thing)
    up = max(range(3), key=lambda i: abs(own[i][2]))
    if thing.shape == "sphere" or (thing.shape == "cylinder" and up == 2):
        wide = max(thing.size[:2])
        return LyingShape(wide, wide, thing.size[up], 0.0, True)
    first, second = (i for i in range(3) if i != up)
    turn = math.atan2(own[first][1], own[first][0])
    return LyingShape(thing.size[first], thing.size[second], thing.size[up], turn, False)


def is_round_above(thing: Thing) -> bool:
    """Whether nothing stays on it: a ball, or a cylinder that does not stand."""
    if thing.shape == "cylinder":
        return max(abs(axis[2]) for axis in axes(thing)[:2]) > math.sqrt(0.5)
    return thing.shape == "sphere"


def tilt(thing: Thing) -> float:
    """How far its top is from level (rad); 0 for a ball."""
    if thing.shape == "sphere":
        return 0.0
    own = axes(thing)
    if thing.shape == "cylinder" and abs(own[2][2]) < math.sqrt(0.5):  # it lies, however far it has rolled
        return math.asin(abs(own[2][2]))
    return math.acos(min(1.0, max(abs(axis[2]) for axis in own)))


def yaw(thing: Thing) -> float:
    """Turn about the vertical in radians, from the quaternion w x y z."""
    if len(thing.orientation) != 4:
        return 0.0
    w, x, y, z = thing.orientation
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def axes(thing: Thing) -> tuple[tuple[float, float, float], ...]:
    """The directions of its own x, y and z, by a quaternion of any length."""
    length = math.hypot(*thing.orientation) if len(thing.orientation) == 4 else 0.0
    w, x, y, z = (part / length for part in thing.orientation) if length > 1e-9 else (1.0, 0.0, 0.0, 0.0)
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )


class LyingOutline(NamedTuple):
    """Seen from above: the corners of a rectangle, or one corner with the radius of its rounding. `inner`, `outer`: the
    radius of the largest circle in it and of the smallest around it, both about its middle."""

    x: float
    y: float
    corners: list[Point]
    rounding: float
    inner: float
    outer: float

    @classmethod
    def of(cls, thing: Thing) -> LyingOutline:
        """A thing without a size is a point."""
        x, y = thing.position[:2]
        return cls.at(x, y, lying(thing) if len(thing.size) >= 2 else POINT)

    @classmethod
    def at(cls, x: float, y: float, shape: LyingShape) -> LyingOutline:
        """Of a thing that lies so, with its middle there."""
        if shape.round:
            return cls(x, y, [(x, y)], shape.along / 2, shape.along / 2, shape.along / 2)
        inner, outer = min(shape.along, shape.across) / 2, math.hypot(shape.along, shape.across) / 2
        return cls(x, y, corners(x, y, shape.along, shape.across, shape.turn), 0.0, inner, outer)

    def gap(self, other: LyingOutline) -> float:
        """Free width between the two (m), 0 where they meet or overlap."""
        return max(0.0, _apart(self.corners, other.corners) - self.rounding - other.rounding)


def gap(one: Thing, other: Thing) -> float:
    """Free width between the two footprints (m), 0 where they meet or overlap; a thing without a size is a point."""
    return LyingOutline.of(one).gap(LyingOutline.of(other))


def is_surely_out(one: Thing, other: Thing, least: float, most: float) -> bool:
    """Whether the gap is below `least` or above `most` by the circles inside and around both footprints alone."""
    away, a, b = math.dist(one.position[:2], other.position[:2]), LyingOutline.of(one), LyingOutline.of(other)
    return away - a.inner - b.inner < least - ROUNDING or away - a.outer - b.outer > most + ROUNDING


def widest_gap(one: Thing, other: Thing) -> float:
    """The gap if `one` were turned so as to be farthest from `other`: the robot may turn a carried thing."""
    return gap(_turned(one, LyingOutline.of(one).inner), other)


def narrowest_gap(one: Thing, other: Thing) -> float:
    """The gap if `one` were turned so as to be nearest."""
    return gap(_turned(one, LyingOutline.of(one).outer), other)


def _turned(thing: Thing, radius: float) -> Thing:
    """A disc in its place."""
    return replace(thing, shape="sphere", size=(2 * radius,) * 3) if len(thing.size) >= 2 else thing


def corners(x: float, y: float, along: float, across: float, turn: float) -> list[Point]:
    """Of a rectangle about (x, y), counter-clockwise."""
    u, v, cos, sin = along / 2, across / 2, math.cos(turn), math.sin(turn)
    return [(x + a * cos - b * sin, y + a * sin + b * cos) for a, b in ((u, v), (-u, v), (-u, -v), (u, -v))]


def _apart(a: list[Point], b: list[Point]) -> float:
    """Distance of two convex outlines, 0 where they overlap."""
    if len(a) == 1 or len(b) == 1:
        (middle,), outline = (a, b) if len(a) == 1 else (b, a)
        return 0.0 if _within(middle, outline) else min(_to_side(middle, *s) for s in _sides(outline))
    if _within(a[0], b) or _within(b[0], a) or any(_cross(*s, *t) for s in _sides(a) for t in _sides(b)):
        return 0.0
    ways = [(p, s) for one, other in ((a, b), (b, a)) for p in one for s in _sides(other)]
    return min(_to_side(p, *s) for p, s in ways)


def _sides(outline: list[Point]) -> list[tuple[Point, Point]]:
    return [(p, outline[(n + 1) % len(outline)]) for n, p in enumerate(outline)]


def _turn(o: Point, a: Point, b: Point) -> float:
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def _within(p: Point, outline: list[Point]) -> bool:
    return len(outline) > 2 and all(_turn(a, b, p) >= 0 for a, b in _sides(outline))


def _cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    return _turn(a, b, c) * _turn(a, b, d) < 0 and _turn(c, d, a) * _turn(c, d, b) < 0


def _to_side(p: Point, a: Point, b: Point) -> float:
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = dx * dx + dy * dy
    t = 0.0 if length == 0 else max(0.0, min(1.0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length))
    return math.dist(p, (a[0] + t * dx, a[1] + t * dy))
