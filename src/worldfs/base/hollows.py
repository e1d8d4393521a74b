"""What is in what by the places of things: baskets, trays, drawers, chests, cups. Metres.

A thing is in a hollow thing if its middle and its lowest point are between the walls, its middle above the bottom, and
its lowest point below the rim. Planners and bodies ask this one function; a body also asks what carries the thing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from .drawers import CHEST, DRAWER, DRAWN, SINKS, WALL, drawn_out, interior, own_frame, sized
from .footprint import axes, lying, tilt
from .model import Thing, Vec
from .resting import is_below

RIM = 0.005  # below the rim: what has its lowest point higher lies across the rim
CUP_WALL = 0.003
UPRIGHT = math.sqrt(0.5)  # cosine of the angle from which on a hollow thing has fallen over
LEVEL = math.sin(math.radians(1))  # of the sides of a thing: no lower than the middle is the end of one that is level


def is_vessel(thing: Thing) -> bool:
    """Whether a page counts what is poured into it: an open cup or a bowl."""
    return "grains" in thing.extra


def opens(thing: Thing) -> bool:
    """Whether it has a drawer or a lid."""
    return bool({thing.shape, thing.category} & {DRAWER, CHEST})


def rest_limit(box: Thing) -> float:
    """The height (m, world) below which a thing must have its lowest point to be in a box."""
    return box.position[2] + _limit(box, 0.0)


def is_in(one: Thing, holder: Thing, out: float | None = None) -> bool | None:
    """Whether, by its place, a thing is in a hollow thing; a drawer is drawn `out` so far (m), by default as its page
    says. What no page calls hollow is so if the thing is deep in it. None where the page does not tell: it has no place
    of the one or the other, or says only that a drawer is open, and the thing lies where that may be."""
    holder = sized(holder)
    if not all(len(thing.position) == 3 and all(map(math.isfinite, thing.position)) for thing in (one, holder)):
        return None
    if len(holder.size) != 3:
        return None if opens(holder) else False
    deep = axes(holder)[2][2] > UPRIGHT and is_below(one, holder, "on")
    if not (opens(holder) or holder.is_container or is_vessel(holder) or deep):
        return False
    if (given := drawn_out(holder) if out is None else out) is not None:
        return _holds(holder, one, given)
    farthest = DRAWN * holder.size[0]
    if all(_holds(holder, one, far) for far in (0.0, farthest)):
        return True
    low, high = interior(holder, 0.0)
    around = min(max((low[0] + high[0]) / 2 - own_frame(holder, one.position)[0], 0.0), farthest)
    return None if _holds(holder, one, around) else False


def innermost(one: Thing, holders: Iterable[Thing]) -> Thing | None:
    """The smallest of the hollow things that a thing is in: the cup, of a cup in a basket."""
    found = [holder for holder in holders if holder.id != one.id and is_in(one, holder)]
    return min(found, key=lambda holder: math.prod(holder.size), default=None)


def lowest_point(thing: Thing) -> Vec:
    """Its lowest point in the world; of a level side its middle."""
    x, y, z = thing.position[:3]
    if len(thing.size) < 3 or thing.shape == "sphere":
        return (x, y, z - lying(thing).height / 2)
    own, half = axes(thing), [side / 2 for side in thing.size]
    if thing.shape == "cylinder":
        axis = own[2]
        flat = math.hypot(axis[0], axis[1])  # the sine of its lean
        ways = [(half[2], axis)]
        if flat > 0:
            ways.append((half[0], (-axis[0] * axis[2] / flat, -axis[1] * axis[2] / flat, flat)))
    else:
        ways = list(zip(half, own, strict=True))
    for reach, way in ways:
        down = -math.copysign(reach, way[2])
        level = abs(way[2]) < LEVEL
        x, y, z = x + (0.0 if level else down * way[0]), y + (0.0 if level else down * way[1]), z + down * way[2]
    return (x, y, z)


def _holds(holder: Thing, one: Thing, out: float) -> bool:
    low, high = _space(holder, out)
    middle, foot = points = own_frame(holder, one.position), own_frame(holder, lowest_point(one))
    if not all(low[i] <= point[i] <= high[i] for point in points for i in (0, 1)):
        return False
    if holder.shape == "cylinder" and max(math.hypot(*point[:2]) for point in points) > high[0]:
        return False
    upright = axes(holder)[2][2]
    if abs(upright) < UPRIGHT:  # it has fallen over
        return all(low[2] <= point[2] <= high[2] for point in points)
    wide = tilt(one) < LEVEL and min(lying(one)[:2]) > 2 * max(high[:2])  # it is the holder that is in it
    return upright > 0 and not wide and middle[2] >= low[2] - SINKS and foot[2] < _limit(holder, out, middle[0])


def _limit(holder: Thing, out: float, x: float = -math.inf) -> float:
    """The same as `rest_limit` in the holder's own frame; in a drawer's case it is the case's top that counts."""
    low, high = _space(holder, out)
    is_in_case = DRAWER in (holder.shape, holder.category) and x >= -holder.size[0] / 2
    rim = holder.size[2] / 2 - WALL if is_in_case else high[2]
    return rim - min(RIM, (rim - low[2]) / 2)


def _space(holder: Thing, out: float) -> tuple[Vec, Vec]:
    """Lowest and highest corner of the hollow in its own frame."""
    if opens(holder):
        return interior(holder, out)
    x, y, z = (side / 2 for side in holder.size)
    wall = WALL if holder.is_container else CUP_WALL
    return (wall - x, wall - y, min(WALL, z) - z), (x - wall, y - wall, z)
