""" "In the middle of the table" is the middle: measured, not a wide part of it; where it is taken, the reply says how
far off."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from worldfs.base.model import Scene
from worldfs.planning.planner import Planner

from .conftest import TABLE, basket, can, cube, scene_of

MIDDLE = TABLE.position[:2]


def _away(world, id: str, middle=MIDDLE) -> float:
    return math.dist(world.now_scene.thing(id).position[:2], middle)


@pytest.mark.parametrize(
    "said", ["put the can in the middle of the table", "把罐子放到桌子中间", "把罐子放在桌子正中央"]
)
@pytest.mark.parametrize("at", [(0.45, 0.5), (0.2, 0.19), (0.74, -0.18), (0.501, 0.199), (0.45, 0.16), (0.49, 0.0)])
def test_the_middle_that_is_free_is_the_point(make, said, at):
    world = make["world"](scene_of(can("can_01", *at), furniture=(TABLE, basket(y=-0.4))))
    report = Planner(world).run(said)
    assert report.ok and report.moved and _away(world, "can_01") <= 0.005
    assert report.reason in ("done", "完成")


@pytest.mark.parametrize("turn", [0.0, 0.3, 0.8])
def test_the_middle_of_a_table_that_is_turned_or_stands_elsewhere(make, turn):
    table = replace(
        TABLE,
        position=(0.5, 0.1, 0.0),
        size=(0.5, 0.8, 0.05),
        orientation=(math.cos(turn / 2), 0, 0, math.sin(turn / 2)),
    )
    world = make["world"](scene_of(can("can_01", 0.4, 0.2), furniture=(table,)))
    assert Planner(world).run("put the can in the middle of the table").ok
    assert _away(world, "can_01", (0.5, 0.1)) <= 0.005


def test_where_the_middle_is_taken_the_nearest_place_is_and_the_reply_says_how_far_off(make):
    world = make["world"](scene_of(can("can_01", 0.45, 0.5), cube("cube_01", 0.45, 0.0, "red")))
    report = Planner(world).run("put the can in the middle of the table")
    assert report.ok and 0.055 <= _away(world, "can_01") <= 0.1
    (said,) = re.findall(r"can is (\d+) cm from the middle of table, which is taken by red cube", report.reason)
    assert int(said) == round(100 * _away(world, "can_01"))
    again = Planner(world).run("put the can in the middle of the table")
    assert again.ok and not again.moved and f"{said} cm" in again.reason


def test_what_is_brought_there_together_lies_around_the_middle(make):
    world = make["world"](scene_of(can("can_01", 0.45, 0.5), cube("cube_01", 0.45, 0.3, "red")))
    report = Planner(world).run("put the can and the cube in the middle of the table")
    assert report.ok and max(_away(world, id) for id in ("can_01", "cube_01")) <= 0.12
    assert min(_away(world, id) for id in ("can_01", "cube_01")) <= 0.005


def test_a_middle_with_no_free_place_near_it_is_refused_and_nothing_moves(make):
    wide = replace(basket("basket_02", *MIDDLE), name="Crate", size=(0.5, 0.6, 0.12))
    world = make["world"](scene_of(can("can_01", 0.45, 0.5), furniture=(TABLE, wide)))
    report = Planner(world).run("put the can in the middle of the table")
    assert not report.ok and not report.moved


def test_what_leaves_the_middle_in_the_same_instruction_does_not_take_it(make):
    world = make["world"](scene_of(can("can_01", 0.45, 0.3), cube("cube_01", 0.45, 0.0, "red")))
    report = Planner(world).run("put the can in the middle of the table and the cube in the basket")
    assert report.ok and _away(world, "can_01") <= 0.005 and world.where("cube_01") == ("in", "basket_01")


def test_a_middle_beyond_the_reach_is_refused_and_nothing_moves(make):
    far = replace(TABLE, position=(0.9, 0.0, 0.0), size=(1.6, 1.2, 0.05))
    scene: Scene = scene_of(can("can_01", 0.5, 0.1), furniture=(far,))
    world = make["world"](scene)
    report = Planner(world).run("put the can in the middle of the table")
    assert not report.ok and not report.moved
