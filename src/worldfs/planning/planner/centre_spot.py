"""The middle of a surface: how far a thing is from it, and the places nearest to it that other things leave free."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from worldfs.base.footprint import narrowest_gap, yaw
from worldfs.base.model import Thing

AT_CENTRE_M = 0.03  # so near to the middle, a thing is in the middle (the placement tolerance, embodied.md §4.4)
SHARE = 1 / 3  # of both sides: what is farther from the middle than this part of the surface is not in the middle
ROOM_M = 0.012  # left free beside the thing, however it is turned
STEP_M = 0.01


class CentreSpot(NamedTuple):
    away: float  # m from the middle
    x: float
    y: float
    room: float  # m to the nearest other thing


def distance_to_centre(thing: Thing, surface: Thing) -> float:
    """In the plane, in metres."""
    return math.dist(thing.position[:2], surface.position[:2])


def free_spots(thing: Thing, surface: Thing, others: Sequence[Thing]) -> Iterator[CentreSpot]:
    """Where the thing may stand in the middle part of the surface, the place nearest to the middle first."""
    width, depth = surface.size[:2] if len(surface.size) >= 2 else (0.0, 0.0)
    (x, y), cos, sin = surface.position[:2], math.cos(yaw(surface)), math.sin(yaw(surface))
    columns, rows = (int(side * SHARE / 2 / STEP_M) for side in (width, depth))
    steps = ((STEP_M * u, STEP_M * v) for u in range(-columns, columns + 1) for v in range(-rows, rows + 1))
    placed = [other for other in others if all(map(math.isfinite, other.position[:2]))]
    for u, v in sorted(steps, key=lambda step: math.hypot(*step)):
        at = (x + u * cos - v * sin, y + u * sin + v * cos)
        moved = replace(thing, position=(*at, *thing.position[2:]))
        room = min((narrowest_gap(moved, other) for other in placed), default=math.inf)
        if room >= ROOM_M:
            yield CentreSpot(math.hypot(u, v), *at, room)


def farthest_allowed(thing: Thing, surface: Thing, others: Sequence[Thing]) -> float:
    """How far (m) from the middle a thing is as near to it as the other things allow; negative where they leave no
    place in the middle part."""
    nearest = next(free_spots(thing, surface, others), None)
    return nearest.away + AT_CENTRE_M if nearest is not None else -1.0


def in_the_middle(thing: Thing, surface: Thing, others: Sequence[Thing]) -> list[Thing]:
    """The things that take the middle of the surface from this one."""
    moved = replace(thing, position=(*surface.position[:2], *thing.position[2:]))
    return [other for other in others if narrowest_gap(moved, other) < ROOM_M]
