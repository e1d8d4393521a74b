"""Where an object can be placed: surfaces under a point, free positions, a basket's interior; by the scene alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from worldfs.base.model import Thing
from worldfs.robots.rotations import Array, matrix

from .keypoints import WALL, half_height

FINGERS = 0.066  # m from the pads' middle to a finger's outer side, opened


def extents(thing: Thing) -> Array:
    """Half of the upright box about a thing (3, m)."""
    half = np.array(thing.size if len(thing.size) == 3 else (0.05, 0.05, 0.05), dtype=float) / 2
    if thing.shape == "sphere":
        return np.full(3, half[0])
    return np.asarray(np.abs(matrix(thing.orientation)) @ half)


def top_of(thing: Thing) -> float:
    """The height of what a thing can be put on (m)."""
    if thing.shape in ("table", "region"):
        return float(thing.position[2])
    if thing.shape == "basket":
        return float(thing.position[2] - thing.size[2] / 2 + WALL)
    return float(thing.position[2] + extents(thing)[2])


def basket_interior(basket: Thing) -> tuple[Array, Array]:
    """Lowest and highest corner of a basket's inside (m)."""
    centre, half = np.array(basket.position), np.array(basket.size) / 2
    wall = np.array([WALL, WALL, 0.0])
    return centre - half + wall + np.array([0, 0, WALL]), centre + half - wall


def covers(thing: Thing, x: float, y: float, slack: float = 0.0) -> bool:
    half = extents(thing)
    return bool(abs(x - thing.position[0]) <= half[0] + slack and abs(y - thing.position[1]) <= half[1] + slack)


def surfaces_below(things: Mapping[str, Thing], x: float, y: float, besides: str) -> list[tuple[float, str]]:
    """(height, id) of all that something could rest on at (x, y), the highest first."""
    found = []
    for thing in things.values():
        handled = thing.shape in ("sphere", "box", "cylinder")
        if thing.id != besides and thing.shape != "region" and covers(thing, x, y, -0.01 if handled else 0.0):
            found.append((top_of(thing), thing.id))
    return sorted(found, reverse=True)


def free_positions(thing: Thing, support: Thing, things: Iterable[Thing], base: Array) -> Iterator[Array]:
    """Positions (x, y) on a flat top, 0.35 to 0.65 m from the base and apart from other objects, the freest first."""
    radius = math.hypot(*extents(thing)[:2])
    others = [
        (np.array(other.position[:2]), math.hypot(*extents(other)[:2]))
        for other in things
        if other.id not in (thing.id, support.id) and other.shape not in ("table", "region", "")
    ]
    half = extents(support)
    margin = min(radius, half[0] - 0.005, half[1] - 0.005)
    ranked = []
    for distance in (0.48, 0.4, 0.56, 0.62, 0.34):
        for angle in np.linspace(-math.pi, math.pi, 65):
            spot = base[:2] + distance * np.array([math.cos(angle), math.sin(angle)])
            if covers(support, spot[0], spot[1], -margin):
                gap = min([float(np.hypot(*(p - spot))) - r - radius for p, r in others] or [0.2])
                if gap > 0.03:
                    ranked.append((-min(gap, 0.10) + 0.1 * abs(distance - 0.48), tuple(spot)))
    if not ranked:
        ranked.append((0.0, (support.position[0], support.position[1])))
    for _, place in sorted(ranked):
        yield np.array(place)


def basket_inset(thing: Thing, basket: Thing) -> Array:
    """How far from a basket's middle an object's centre may be (x, y, m), so that an open gripper fits beside it."""
    low, high = basket_interior(basket)
    radius = float(np.max(extents(thing)[:2]))
    return np.maximum((high - low)[:2] / 2 - max(min(radius + 0.012, 0.07), FINGERS), 0.004)


def height_on(thing: Thing, surface: float) -> float:
    """Of an object's centre when it rests on a surface in its present orientation (m)."""
    return surface + half_height(thing)
