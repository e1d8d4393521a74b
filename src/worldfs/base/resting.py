"""Whether where two things are leaves room for one being on or in the other. Metres."""

from __future__ import annotations

import math

from .footprint import ROUNDING, gap, is_round_above, lying, tilt
from .model import Thing

_SUPPORTED = ("on", "in", "inside")
SLACK = 0.02  # between a footprint and its support's, and of a height: as much as two sensors differ

STEADY = 0.01  # an arm sets down no finer
STEEP = math.radians(10)  # of a top: so far a thing may lean once it is set down; friction of 0.8 would hold it to 38
ROLLS = math.radians(2)  # the same for what is round: only rolling friction holds it


def can_rest(thing: Thing, other: Thing, relation: str) -> bool:
    """False where their places contradict `relation` (on, in, inside): it is beside the other, or below. True where a
    place or a size is not known."""
    known = relation in _SUPPORTED and is_placed(thing) and is_placed(other) and len(other.size) >= 2
    return not known or (gap(thing, other) <= SLACK and not is_below(thing, other, relation))


def is_below(thing: Thing, other: Thing, relation: str) -> bool:
    """Whether it lies lower than anything on (or in) the other can. False where a place or a size is not known."""
    if relation not in _SUPPORTED or not (is_placed(thing) and is_placed(other) and len(other.size) >= 2):
        return False
    low = other.position[2] - lying(other).height / 2
    if relation == "on" and not other.is_container:
        low = other.position[2]  # a table's own place may be its top; a tray's walls are higher than what is on it
    return thing.position[2] + lying(thing).height / 2 < low - SLACK


def is_steady(thing: Thing, support: Thing) -> bool:
    """Whether a thing stays that is set down on the middle of the support: that reaches `STEADY` round it, or as far
    as the thing. True in a box, and where a size is not known."""
    if support.is_container or min(len(thing.size), len(support.size)) < 3 or support.shape == "region":
        return True
    own, under = lying(thing), lying(support)
    return min(under.along, under.across) / 2 >= min(STEADY, max(own.along, own.across) / 2) - ROUNDING


def slope(thing: Thing, support: Thing) -> float:
    """The tilt (rad) of a support's top, if the thing does not stay on it; 0 where it does, and in a box."""
    if support.is_container or support.shape == "region":
        return 0.0
    found = tilt(support)
    return found if found > (ROLLS if thing.shape == "sphere" or is_round_above(thing) else STEEP) else 0.0


def is_placed(thing: Thing) -> bool:
    """Whether its position is known, and no number of it is unusable."""
    numbers = (*thing.position, *thing.orientation, *thing.size)
    return len(thing.position) == 3 and all(map(math.isfinite, numbers)) and all(side > 0 for side in thing.size)
