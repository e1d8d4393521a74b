"""Wiping: what is said in English and Chinese, and with what it is wiped."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from worldfs.base.model import Operation, Order, Profile, Thing
from worldfs.planning.critic import Critic
from worldfs.planning.planner import Planner, RefusedIntent, interpret

from .conftest import OPS, ROBOT

ABLE = (*OPS, "wipe")
PROFILE = Profile("Panda", ops=tuple(Operation(op) for op in ABLE))
SPONGE = Thing("sponge_01", "Yellow sponge", "sponge", (0.5, 0.3, 0.018), size=(0.09, 0.06, 0.035), shape="box")
AREA = Thing("area_01", "marked area", "region", (0.3, 0.3, 0.001), size=(0.2, 0.2, 0.002), shape="region")


@pytest.fixture
def room(scene):
    return replace(scene, objects=(*scene.objects, SPONGE), furniture=(*scene.furniture, AREA))


@pytest.mark.parametrize(
    ("said", "target"),
    [
        ("wipe the table", "table_01"),
        ("wipe the marked area with the sponge", "area_01"),
        ("could you wipe down the table using the sponge?", "table_01"),
        ("擦桌子", "table_01"),
        ("请用海绵擦一下桌子", "table_01"),
        ("把桌子擦干净", "table_01"),
    ],
)
def test_what_is_wiped_with_what(room, said, target):
    found = interpret(said, room, profile=PROFILE, robot_id=ROBOT)
    (goal,) = getattr(found, "goals", (found,))
    assert json.loads(goal.params) == {"object_id": "sponge_01", "target": target}


@pytest.mark.parametrize("said", ["wipe", "wipe the table with the wind", "用苹果拿起海绵", "do not wipe the table"])
def test_what_is_not_understood_moves_nothing(room, said):
    assert isinstance(interpret(said, room, profile=PROFILE, robot_id=ROBOT), RefusedIntent)


def test_without_a_sponge_it_says_so(scene):
    found = interpret("wipe the table", scene, profile=PROFILE, robot_id=ROBOT)
    assert isinstance(found, RefusedIntent) and "sponge" in found.reason


def test_done_is_what_the_body_measured(world, room):
    world.now_scene, world.ops = room, ABLE
    report = Planner(world).run("wipe the table")
    assert report.ok and [order.op for order in world.log] == ["wipe"], report


@pytest.mark.parametrize(("held", "codes"), [("sponge_01", []), ("apple_01", ["HOLDING"])])
def test_the_critic_lets_it_wipe_with_what_is_in_its_hand(room, held, codes):
    robots = tuple(replace(r, holding=held) for r in room.robots)
    order = Order("1", ROBOT, "wipe", {"object_id": "sponge_01", "target": "area_01"})
    found = Critic().review(order, replace(room, robots=robots), PROFILE)
    assert [one.code for one in found if not one.warning] == codes, found
