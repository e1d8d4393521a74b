"""Directions as the robot sees them: its left and right, in front (towards its base) and behind (away from it)."""

from __future__ import annotations

import math

from worldfs.base.model import Scene, Thing
from worldfs.base.robot_sides import side_axis

from .scene_facts import own_robot


def axis(side: str, scene: Scene) -> tuple[float, float]:
    """Unit vector in the plane, as the scene's own robot sees that side."""
    return side_axis(side, own_robot(scene))


def distance_along(thing: Thing, side: str, scene: Scene) -> float:
    """How far (m) the thing is to that side of the world's origin."""
    x, y = axis(side, scene)
    return thing.position[0] * x + thing.position[1] * y


def lies_toward(one: Thing, other: Thing, direction: tuple[float, ...], spread: float = 1.0) -> bool:
    """Does `one` lie that way from `other`? `spread`: metres across allowed for each metre ahead; 1 is 45 degrees."""
    dx, dy = one.position[0] - other.position[0], one.position[1] - other.position[1]
    ahead = dx * direction[0] + dy * direction[1]
    across = abs(-dx * direction[1] + dy * direction[0])
    return ahead > 0.005 and across <= ahead * spread + 1e-6


def rolls(thing: Thing, direction: tuple[float, ...]) -> bool:
    """Whether it would roll that way when pushed: a ball, and a cylinder that lies across the way."""
    if thing.shape == "sphere":
        return True
    w, x, y, z = thing.orientation if len(thing.orientation) == 4 else (1.0, 0.0, 0.0, 0.0)
    if thing.shape != "cylinder" or abs(1 - 2 * (x * x + y * y)) > 0.5:
        return False
    along = (2 * (x * z + w * y), 2 * (y * z - w * x))
    return abs(along[0] * direction[0] + along[1] * direction[1]) < math.cos(math.radians(20))


def reach_along(thing: Thing, direction: tuple[float, ...]) -> float:
    """Half the thing's extent (m) that way; a thing that may be turned counts with its wider half."""
    if len(thing.size) < 2:
        return 0.0
    if thing.shape in ("sphere", "cylinder"):
        return max(thing.size[:2]) / 2
    return abs(direction[0]) * thing.size[0] / 2 + abs(direction[1]) * thing.size[1] / 2
