"""Pouring: what is said in English and Chinese, what it comes to, and when it counts as done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worldfs.base.model import Operation, Profile, Relation, Thing
from worldfs.planning.planner import Planner, RefusedIntent, build_plan, holds, interpret
from worldfs.planning.planner.goals import PouredGoal

from .conftest import OPS, ROBOT

ABLE = (*OPS, "pour")
PROFILE = Profile("Panda", ops=tuple(Operation(op) for op in ABLE))
CUP = Thing("cup_01", "White cup", "cup", (0.5, 0.3, 0.043), size=(0.07, 0.07, 0.085), shape="cylinder",
            color="white", mass=0.15, extra={"grains": 20})  # fmt: skip
BOWL = Thing("bowl_01", "Blue bowl", "bowl", (0.3, 0.3, 0.025), size=(0.14, 0.14, 0.05), shape="cylinder",
             color="blue", mass=0.25, extra={"grains": 3})  # fmt: skip


@pytest.fixture
def room(scene):
    return replace(scene, objects=(*scene.objects, CUP, BOWL))


@pytest.mark.parametrize(
    "said",
    ["pour the cup into the bowl", "could you pour the white cup into the blue bowl?", "pour out the cup into the bowl",
     "把杯子倒进碗里", "把白色杯子倒入碗中", "请把杯子倒到碗里"],
)  # fmt: skip
def test_what_is_poured_where(room, said):
    found = interpret(said, room, profile=PROFILE, robot_id=ROBOT)
    assert getattr(found, "goals", found) == (PouredGoal("cup_01", "bowl_01", 21),)
    assert not holds(found.goals[0], room)


@pytest.mark.parametrize(
    "said",
    ["pour the cup", "pour the apple into the bowl", "pour the cup into the can", "pour the cup into the cup",
     "pour the cup next to the bowl", "把苹果倒进碗里", "把杯子倒进罐子里"],
)  # fmt: skip
def test_what_cannot_be_poured_moves_nothing(room, said):
    assert isinstance(interpret(said, room, profile=PROFILE, robot_id=ROBOT), RefusedIntent)


@pytest.mark.parametrize("said", ["pour the cup into the basket", "把杯子倒进篮子里"])
@pytest.mark.parametrize(("arrived", "ok"), [(18, True), (17, False), (None, False)])
def test_a_vessel_is_poured_into_a_basket_too_and_what_is_counted_there_counts(world, room, said, arrived, ok):
    world.now_scene, world.ops = room, ABLE
    assert interpret(said, room, profile=PROFILE, robot_id=ROBOT).goals == (PouredGoal("cup_01", "basket_01", 18),)

    def tip(world, order):
        counted = {} if arrived is None else {"grains": arrived}
        furniture = tuple(replace(t, extra=counted) if t.id == "basket_01" else t for t in room.furniture)
        objects = tuple(replace(t, extra={"grains": 0}) if t.id == "cup_01" else t for t in room.objects)
        world.now_scene = replace(world.now_scene, objects=objects, furniture=furniture)

    world.before = tip
    assert Planner(world).run(said).ok is ok
    assert world.log[0].params == {"object_id": "cup_01", "target": "basket_01"}


def test_an_empty_cup_is_named(room):
    empty = replace(room, objects=(*room.objects[:-2], replace(CUP, extra={"grains": 0}), BOWL))
    found = interpret("pour the cup into the bowl", empty, profile=PROFILE, robot_id=ROBOT)
    assert isinstance(found, RefusedIntent) and "empty" in found.reason


@pytest.mark.parametrize(("arrived", "ok"), [(22, True), (12, False)])
def test_only_what_was_counted_in_the_bowl_counts(world, room, arrived, ok):
    world.now_scene, world.ops = room, ABLE

    def tip(world, order):
        objects = (*room.objects[:-2], replace(CUP, extra={"grains": 0}), replace(BOWL, extra={"grains": arrived}))
        world.now_scene = replace(world.now_scene, objects=objects)

    world.before = tip
    report = Planner(world).run("pour the cup into the bowl")
    assert report.ok is ok, report
    assert world.log[0].op == "pour" and world.log[0].params == {"object_id": "cup_01", "target": "bowl_01"}


def test_a_vessel_in_the_hand_is_put_down_and_then_poured(room):
    robots = tuple(replace(r, holding="cup_01") for r in room.robots)
    held = replace(room, robots=robots, relations=(*room.relations, Relation("cup_01", "held_by", ROBOT)))
    plan = build_plan([(PouredGoal("cup_01", "bowl_01", 21),)], held, profile=PROFILE, robot_id=ROBOT)
    assert [(one.op, one.object) for one in plan.actions] == [("place", "cup_01"), ("pour", "cup_01")]
