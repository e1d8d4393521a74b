"""Drawers and chests as a page describes them: their size, their space, how far they are drawn out. Metres."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from worldfs.base.footprint import axes, yaw
from worldfs.base.furniture_shapes import furniture_shape
from worldfs.base.model import Thing, Vec

DRAWER, CHEST = "drawer", "chest"  # a shape or a category
WALL, GAP = 0.008, 0.003  # of their walls, and between a drawer and its case
RIM = 0.02  # that the walls of a drawer are lower than the room that its case leaves it
DRAWN = 0.6  # of its depth that a drawer comes out at most
SINKS = 0.006  # that a page may have a thing below its rest
SIZE: Final = {DRAWER: (0.22, 0.24, 0.12), CHEST: (0.20, 0.24, 0.10)}  # where no page says


def sized(thing: Thing) -> Thing:
    """A piece of furniture that is a drawer or a chest, also by its name alone, with the shape and the size that it is
    built with where its page gives none; any other as it is."""
    kind = next((word for word in (thing.shape, thing.category, furniture_shape(thing)) if word in SIZE), "")
    if not kind or thing.is_container:
        return thing
    size = thing.size if len(thing.size) == 3 and all(0 < side < math.inf for side in thing.size) else SIZE[kind]
    shape = thing.shape or kind
    return thing if (size, shape) == (thing.size, thing.shape) else replace(thing, size=size, shape=shape)


def as_built(thing: Thing) -> Thing:
    """A piece of furniture as a simulation builds it: `sized`, and a drawer or a chest shut where no word and no number
    says how far it is open."""
    found = sized(thing)
    opens = not found.is_container and not SIZE.keys().isdisjoint((found.shape, found.category))
    return replace(found, status="closed") if opens and not found.status and is_shut(found) else found


def has_flat_top(thing: Thing) -> bool:
    """Whether a drawer or a chest bears things on top: a chest does while it is shut."""
    kinds = {thing.shape, thing.category}
    return DRAWER in kinds or (CHEST in kinds and thing.status in ("", "closed"))


def is_shut(thing: Thing) -> bool:
    """Whether a page says that a drawer or a chest is not open: by its word, or by no word and no number."""
    return thing.status in ("closed", "ajar") or (not thing.status and not _opening(thing))


def _opening(thing: Thing) -> float | None:
    """How far open its number says that it is (m or rad); None: it has none."""
    given = thing.extra.get("opening")
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        return None
    return max(float(given), 0.0)


def drawn_out(thing: Thing) -> float | None:
    """How far a drawer is drawn out along its own -x; 0 for what has none. None where a page says only that it is
    open."""
    if DRAWER not in (thing.shape, thing.category):
        return 0.0
    if (given := _opening(thing)) is not None:
        return given
    return 0.0 if thing.status in ("", "closed") else None


def interior(thing: Thing, out: float) -> tuple[Vec, Vec]:
    """Lowest and highest corner of what holds things, in its own frame, a drawer drawn out so far."""
    x, y, z = (side / 2 for side in sized(thing).size)
    if DRAWER not in (thing.shape, thing.category):
        return (WALL - x, WALL - y, WALL - z), (x - WALL, y - WALL, z - WALL - 0.001)
    edge = WALL + GAP
    return (WALL - x - out, edge + WALL - y, edge + WALL - z), (x - out - edge - WALL, y - edge - WALL, z - edge - RIM)


def own_frame(thing: Thing, point: Vec) -> Vec:
    """A point in the frame of a thing: its middle is the origin."""
    away = [a - b for a, b in zip(point[:3], thing.position[:3], strict=True)]
    return tuple(sum(a * b for a, b in zip(axis, away, strict=True)) for axis in axes(thing))


def with_drawn_part(thing: Thing) -> Thing:
    """A drawer's case together with what is drawn out of it; any other thing as it is."""
    return _shifted(thing, lambda depth, out: (out / 2, depth + out))


def drawn_part(thing: Thing) -> Thing:
    """What is drawn out of a drawer's case, where things are put in; any other thing, and a shut drawer, as it is."""
    return _shifted(thing, lambda depth, out: ((depth + out) / 2, out))


def _shifted(thing: Thing, part: Callable[[float, float], tuple[float, float]]) -> Thing:
    out = drawn_out(thing)
    if out == 0.0 or len(thing.position) < 2:
        return thing
    thing = sized(thing)
    depth = thing.size[0]
    away, deep = part(depth, depth / 2 if out is None else out)
    turn, (x, y) = yaw(thing), thing.position[:2]
    position = (x - away * math.cos(turn), y - away * math.sin(turn), *thing.position[2:])
    return replace(thing, position=position, size=(deep, *thing.size[1:]))
