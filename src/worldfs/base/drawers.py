"""Drawers and chests as a page describes them: their size, how far they are drawn out, and their tops. Metres."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from worldfs.base.footprint import yaw
from worldfs.base.model import Thing

DRAWER, CHEST = "drawer", "chest"  # a shape or a category
SIZE: Final = {DRAWER: (0.22, 0.24, 0.12), CHEST: (0.20, 0.24, 0.10)}  # where no page says


def sized(thing: Thing) -> Thing:
    """A drawer or a chest whose page gives no size with the one that it is built with; any other thing as it is."""
    size = next((SIZE[word] for word in (thing.shape, thing.category) if word in SIZE), None)
    return thing if size is None or (len(thing.size) == 3 and min(thing.size) > 0) else replace(thing, size=size)


def has_flat_top(thing: Thing) -> bool:
    """Whether a drawer or a chest bears things on top: a chest does while it is shut."""
    kinds = {thing.shape, thing.category}
    return DRAWER in kinds or (CHEST in kinds and thing.status in ("", "closed"))


def drawn_out(thing: Thing) -> float | None:
    """How far a drawer is drawn out along its own -x; 0 for what has none. None where a page says only that it is
    open."""
    if DRAWER not in (thing.shape, thing.category):
        return 0.0
    given = thing.extra.get("opening")
    if isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given):
        return max(float(given), 0.0)
    return 0.0 if thing.status in ("", "closed") else None


def with_drawn_part(thing: Thing) -> Thing:
    """A drawer's case together with what is drawn out of it; any other thing as it is."""
    return _shifted(thing, lambda depth, out: (out / 2, depth + out))


def drawn_part(thing: Thing) -> Thing:
    """What is drawn out of a drawer's case, where things are put in; any other thing, and a shut drawer, as it is."""
    return _shifted(thing, lambda depth, out: ((depth + out) / 2, out))


def _shifted(thing: Thing, part: Callable[[float, float], tuple[float, float]]) -> Thing:
    out = drawn_out(thing)
    if out == 0.0 or len(thing.size) < 2 or len(thing.position) < 2:
        return thing
    depth = thing.size[0]
    away, deep = part(depth, depth / 2 if out is None else out)
    turn, (x, y) = yaw(thing), thing.position[:2]
    position = (x - away * math.cos(turn), y - away * math.sin(turn), *thing.position[2:])
    return replace(thing, position=position, size=(deep, *thing.size[1:]))
