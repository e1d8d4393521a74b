"""Room in a box: what fits, what does not, and how many go in side by side."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from worldfs.base.model import Thing
from worldfs.base.packing import WALL_M, fits, spots


def box(*size: float) -> Thing:
    return Thing("box", shape="basket", position=(0.4, -0.3, size[2] / 2), size=size)


def thing(*size: float, shape: str = "box", turn: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)) -> Thing:
    return Thing("thing", shape=shape, size=size, orientation=turn)


LYING = (math.cos(math.pi / 4), math.sin(math.pi / 4), 0.0, 0.0)  # a quarter about its x


@pytest.mark.parametrize(
    ("one", "into", "there"),
    [
        (thing(0.5, 0.04, 0.03), box(0.3, 0.36, 0.09), False),  # a plank
        (thing(0.38, 0.03, 0.03), box(0.3, 0.36, 0.09), True),  # from corner to corner
        (thing(0.06, 0.06, 0.08, shape="cylinder"), box(0.07, 0.07, 0.06), False),
        (thing(0.05, 0.05, 0.08, shape="cylinder"), box(0.08, 0.08, 0.06), True),
        (thing(0.06, 0.06, 0.25, shape="cylinder"), box(0.2, 0.2, 0.04), True),  # a bottle stands in a tray
        (thing(0.06, 0.06, 0.25, shape="cylinder", turn=LYING), box(0.2, 0.2, 0.04), False),
        (thing(0.06, 0.06, 0.17, shape="cylinder", turn=LYING), box(0.2, 0.2, 0.04), True),
        (Thing("thing", size=(0.5,)), box(0.2, 0.2, 0.04), True),  # a size that is not known
    ],
)
def test_what_can_be_in_a_box_at_all(one, into, there):
    assert fits(one, into) is there


def packed(one: Thing, into: Thing, most: int = 40) -> int:
    there: list[Thing] = []
    while len(there) < most and (spot := next(spots(one, into, there, widest=0.076), None)) is not None:
        turn = (math.cos(spot.turn / 2), 0.0, 0.0, math.sin(spot.turn / 2))
        z = into.position[2] - into.size[2] / 2 + WALL_M + one.size[2] / 2
        there.append(replace(one, id=f"t{len(there)}", position=(spot.x, spot.y, z), orientation=turn))
    return len(there)


def test_a_tray_takes_several_cubes():
    assert packed(thing(0.04, 0.04, 0.04), box(0.2, 0.2, 0.04)) >= 6
    assert packed(thing(0.05, 0.05, 0.05), box(0.3, 0.36, 0.06)) >= 12
    assert packed(thing(0.04, 0.04, 0.04), box(0.12, 0.07, 0.04)) == 1
    assert packed(thing(0.04, 0.04, 0.04), box(0.09, 0.07, 0.04)) == 0  # no room for the fingers


def test_a_thing_that_stands_high_needs_no_room_for_fingers_beside_low_walls():
    assert packed(thing(0.04, 0.04, 0.1), box(0.07, 0.07, 0.03), most=1) == 1
    assert packed(thing(0.04, 0.04, 0.04), box(0.07, 0.07, 0.03), most=1) == 0


def test_what_is_too_wide_for_the_gripper_has_no_place():
    assert not list(spots(thing(0.09, 0.09, 0.05), box(0.3, 0.3, 0.1), (), widest=0.076))
