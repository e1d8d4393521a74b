"""The heaviest, the nearest, the leftmost: things compared by facts of the scene, never by a guess."""

from __future__ import annotations

import math
from collections.abc import Sequence

from worldfs.base.model import Scene, Thing

from .assign import volume
from .directions import distance_along
from .intent import NotUnderstood
from .scene_facts import own_robot, top

TIE = {"heaviest": 1e-6, "lightest": 1e-6, "biggest": 1e-9, "smallest": 1e-9}  # else metres
TIE_M = 0.005
BY_SIZE = (*TIE, "tallest", "lowest", "longest")  # all others are told by the place


def measure(thing: Thing, best: str, scene: Scene, base: Thing | None = None) -> float | None:
    """The measure of a thing: larger is more. None where the scene does not say."""
    size, at = thing.size, thing.position
    placed = all(map(math.isfinite, at[:3])) and len(at) >= 3
    match best:
        case "heaviest" | "lightest":
            value = thing.mass if thing.mass else None
        case "biggest" | "smallest":
            value = volume(thing) or None
        case "tallest" | "lowest":
            value = size[2] if len(size) >= 3 else None
        case "longest":
            value = max(size) if size else None
        case "nearest" | "farthest":
            value = _distance(thing, base, scene) if placed else None
        case "top" | "bottom":
            value = top(thing) if placed else None
        case _:
            side = {"leftmost": "left", "rightmost": "right", "frontmost": "front", "backmost": "behind"}[best]
            value = distance_along(thing, side, scene) if placed else None
    if value is None or not math.isfinite(value):
        return None
    return -value if best in ("lightest", "smallest", "lowest", "nearest", "bottom") else value


def _distance(thing: Thing, base: Thing | None, scene: Scene) -> float | None:
    if base is not None:
        return math.dist(thing.position[:2], base.position[:2])
    robot = own_robot(scene)
    return math.dist(thing.position[:2], robot.pose[:2]) if robot is not None and len(robot.pose) >= 2 else None


def pick_superlative(
    ids: Sequence[str], best: str, scene: Scene, count: int = 1, base: Thing | None = None
) -> tuple[str, ...]:
    """The `count` things that are most so. Raises NotUnderstood for a tie at the border and for unknown measures."""
    things = [t for id in ids if (t := scene.thing(id)) is not None and (base is None or id != base.id)]
    if best == "middle":
        return _middle(things, scene)
    if len(things) <= count and len(things) == 1:
        return (things[0].id,)
    values = {t.id: measure(t, best, scene, base) for t in things}
    unknown = [id for id, value in values.items() if value is None]
    if unknown or not things:
        raise NotUnderstood("planner.unmeasured", "missing", unknown, what=best)
    order = sorted(values, key=lambda id: -(values[id] or 0.0))
    if len(order) < count:
        raise NotUnderstood("planner.count", "ambiguous", order, what=best, count=str(count), found=str(len(order)))
    tie = TIE.get(best, TIE_M)
    edge = values[order[count - 1]] or 0.0
    if len(order) > count and abs(edge - (values[order[count]] or 0.0)) <= tie:
        same = [id for id in order if abs((values[id] or 0.0) - edge) <= tie]
        raise NotUnderstood("planner.tie", "ambiguous", same, what=best)
    return tuple(order[:count])


def _middle(things: Sequence[Thing], scene: Scene) -> tuple[str, ...]:
    if len(things) % 2 == 0:
        raise NotUnderstood("planner.tie", "ambiguous", [t.id for t in things], what="middle")
    order = sorted(things, key=lambda t: distance_along(t, "left", scene))
    return (order[len(order) // 2].id,)
