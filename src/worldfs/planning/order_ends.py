"""Where an order brings a thing and the hand, beyond what it names: the limits of a profile hold there too."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from worldfs.base import pushing
from worldfs.base.footprint import LyingOutline, gap
from worldfs.base.json_values import as_float
from worldfs.base.messages import coded
from worldfs.base.model import Order, RobotState, Scene, Thing, Vec
from worldfs.base.order_parameters import OBJECT, SUPPORT, given_parameter
from worldfs.base.robot_sides import SIDES, WAYS, side_axis
from worldfs.base.standard_operations import PLACE_BESIDE, POUR, PUSH, WIPE

from .parameters import number

REGION: Final = "region"


class OrderEnd(NamedTuple):
    """`said`: what comes to that point (m, world frame), for a message."""

    said: str
    point: Vec


def order_ends(order: Order, scene: Scene, robot: RobotState | None, held: str | None) -> Iterator[OrderEnd]:
    """The points of a push, of a place beside a thing, of a pouring and of a wiping. What cannot be told has none: the
    checks of its parameters, of its things and of the driver refuse it."""
    match order.op:
        case PUSH.name:
            yield from _pushed(order, scene, robot)
        case PLACE_BESIDE.name:
            yield from _beside(order, scene, robot, scene.thing(held or ""))
        case POUR.name:
            for target in _onto(order, scene):
                yield OrderEnd(target.id, target.position[:3])
        case WIPE.name:
            for target in _onto(order, scene):
                for area in _areas(target, scene):
                    for x, y in LyingOutline.of(area).corners:
                        yield OrderEnd(coded("critic.wiped", id=area.id), (x, y, area.position[2]))


def push_end(order: Order, thing: Thing, robot: RobotState | None) -> tuple[Vec, float, tuple[float, float]] | None:
    """Where a push ends, how far it goes (m), and the unit vector of its way."""
    way, metres = _way(order.params.get("direction"), robot), order.params.get("distance")
    if way is None or not number(metres) or not _located(thing):
        return None
    x, y, z = thing.position[:3]
    far = as_float(metres)
    return (x + way[0] * far, y + way[1] * far, z), far, way


def _pushed(order: Order, scene: Scene, robot: RobotState | None) -> Iterator[OrderEnd]:
    for thing in _named(order, scene, OBJECT):
        if (found := push_end(order, thing, robot)) is None:
            continue
        end, _, way = found
        x, y, z = thing.position[:3]
        back = _extent(thing, way) + pushing.BEHIND
        yield OrderEnd(coded("critic.pushed", id=thing.id), end)
        yield OrderEnd(coded("critic.behind", id=thing.id), (x - way[0] * back, y - way[1] * back, z))


def _beside(order: Order, scene: Scene, robot: RobotState | None, held: Thing | None) -> Iterator[OrderEnd]:
    side, space = str(order.params.get("side", "")).strip().lower(), order.params.get("distance")
    if held is None or side not in SIDES or not number(space):
        return
    way = side_axis(side, robot)
    outline = LyingOutline.of(replace(held, position=(0.0, 0.0, 0.0)))
    for other in _onto(order, scene):
        if not _located(other):
            continue
        x, y, z = other.position[:3]
        for half in sorted({outline.inner, outline.outer}):  # it may be turned
            away = _extent(other, way) + as_float(space) + half
            yield OrderEnd(
                coded("critic.beside", id=held.id, other=other.id), (x + way[0] * away, y + way[1] * away, z)
            )


def _onto(order: Order, scene: Scene) -> Iterator[Thing]:
    yield from _named(order, scene, SUPPORT)


def _named(order: Order, scene: Scene, names: tuple[str, ...]) -> Iterator[Thing]:
    value = given_parameter(order.params, names)[1]
    if isinstance(value, str):
        yield from named_things(value, scene)


def named_things(value: str, scene: Scene) -> list[Thing]:
    """The thing of that id, else all that are called so."""
    things = (*scene.objects, *scene.furniture)
    word = value.strip().casefold()
    return [t for t in things if t.id == value] or [t for t in things if word and t.name.casefold() == word]


def _areas(target: Thing, scene: Scene) -> list[Thing]:
    """The marked area of that id, or those on that table."""
    areas = [area for area in scene.furniture if area.shape == REGION and _located(area) and len(area.size) >= 2]
    return [area for area in areas if target.id == area.id or gap(area, target) == 0.0]


def _way(given: object, robot: RobotState | None) -> tuple[float, float] | None:
    if isinstance(given, str) and given.strip().lower() in WAYS:
        return side_axis(WAYS[given.strip().lower()], robot)
    if isinstance(given, list | tuple) and len(given) >= 2 and all(number(v) for v in given[:2]):
        x, y = (as_float(v) for v in given[:2])
        length = math.hypot(x, y)
        return (x / length, y / length) if math.isfinite(length) and length > 0 else None
    return None


def _located(thing: Thing) -> bool:
    return len(thing.position) >= 3 and all(number(v) and math.isfinite(v) for v in thing.position[:3])


def _extent(thing: Thing, way: tuple[float, float]) -> float:
    """Half of what the thing takes up that way (m), as it lies."""
    outline = LyingOutline.of(thing)
    along = ((x - outline.x) * way[0] + (y - outline.y) * way[1] for x, y in outline.corners)
    return max(along) + outline.rounding
