"""What is said in an order is done in it; what cannot be undone is said before anything moves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worldfs.base.model import Relation, Thing
from worldfs.planning.planner import Planner, RefusedIntent, interpret

from .conftest import ROBOT


def placed(world) -> list[str]:
    """The things put into the basket, in order."""
    found, held = [], ""
    for order in world.log:
        held = str(order.params["object_id"]) if order.op == "pick_up" else held
        if order.op == "place" and order.params.get("target") == "basket_01":
            found.append(held)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "put the red cube in the basket, then put the blue cube in the basket",
        "1. put the red cube in the basket 2. put the blue cube in the basket",
        "put the blue cube in the basket after putting the red cube in the basket",
        "先把红色方块放进篮子，再把蓝色方块放进篮子",
        "第一步：把红色方块放进篮子。第二步：把蓝色方块放进篮子。",
    ],
)
def test_an_order_that_was_said_is_kept_even_where_another_is_shorter(world, text):
    world.relate("cube_01", Relation("cube_01", "on", "cube_02"), (0.5, -0.25, 0.075))  # the blue one lies on the red
    assert Planner(world).run(text).ok
    assert placed(world) == ["cube_02", "cube_01"]


def test_of_two_places_that_exclude_each_other_the_later_one_counts(world):
    report = Planner(world).run("put the blue cube on the red cube, then put the red cube on the blue cube")
    assert report.ok and world.where("cube_02") == ("on", "cube_01")
    assert next(order.params["object_id"] for order in world.log if order.op == "pick_up") == "cube_01"


def test_without_an_order_the_shorter_way_is_taken(world):
    world.relate("cube_01", Relation("cube_01", "on", "cube_02"), (0.5, -0.25, 0.075))
    assert Planner(world).run("put the red cube and the blue cube in the basket").ok
    assert placed(world) == ["cube_01", "cube_02"] and len(world.log) == 4


def test_a_list_is_checked_whole_before_its_first_step(world):
    report = Planner(world).run("1. put the apple in the basket 2. put the can 3 m to the left 3. go home")
    assert not report.ok and not world.log, report.reason


@pytest.fixture
def after(world, scene):
    """The apple was put in the basket, the can was lifted and is gone."""
    world.relate("apple_01", Relation("apple_01", "in", "basket_01"), (0.42, 0.4, 0.04))
    world.was = scene
    world.remove("can_01")
    return world


@pytest.mark.parametrize(("text", "words"), [("undo", "cannot be put back"), ("撤销", "放不回去")])
def test_what_cannot_be_undone_is_said_before_the_first_step(after, text, words):
    report = Planner(after).run(text)
    assert report.ok and after.where("apple_01") == ("on", "table_01")
    assert words in after.lines[0] and "can_01" in after.lines[0], after.lines
    assert after.log[0].params == {"object_id": "apple_01"}


def test_where_nothing_can_be_undone_it_is_refused_with_the_names(after):
    report = Planner(after).run("put the can back where it was")
    assert not report.moved and "can" in report.reason
    after.was = after.now_scene.__class__(objects=(Thing("can_01", "Can", "can", (0.6, 0.0, 0.05)),))
    report = Planner(after).run("undo")
    assert not report.moved and "can_01" in report.reason, report.reason


def test_what_was_in_the_hand_before_is_not_put_back(world, scene):
    world.pick("apple_01")
    world.was = world.now_scene
    world.relate("apple_01", Relation("apple_01", "in", "basket_01"), (0.42, 0.4, 0.04))
    report = Planner(world).run("undo")
    assert not report.moved and "apple" in report.reason


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("put the can back where it was", "last instruction did not move this, or it is back already: can (can_01)"),
        ("put the apple and the can back where they were", "can (can_01)"),
        ("把罐子放回原处", "上一条指令没有移动"),
        ("把苹果和罐子都放回去", "上一条指令没有移动"),
        ("把罐子归位", "归位"),
    ],
)
def test_what_the_last_instruction_did_not_move_is_not_put_back(world, scene, text, words):
    world.relate("apple_01", Relation("apple_01", "in", "basket_01"), (0.42, 0.4, 0.04))
    world.was = scene
    report = Planner(world).run(text)
    assert not (report.ok or report.moved or world.log) and words in report.reason, report.reason


@pytest.mark.parametrize("text", ["undo", "put everything back where it was", "撤销"])
def test_where_all_is_where_it_was_before_nothing_is_undone(world, scene, text):
    world.was = scene
    report = Planner(world).run(text)
    assert not (report.ok or report.moved) and "no such thing" not in report.reason, report.reason


def test_of_all_things_those_that_the_last_instruction_moved_are_put_back(world, scene):
    world.relate("apple_01", Relation("apple_01", "in", "basket_01"), (0.42, 0.4, 0.04))
    world.was = scene
    assert Planner(world).run("put everything back where it was").ok
    assert world.where("apple_01") == ("on", "table_01") and len(world.log) == 2


@pytest.mark.parametrize(
    ("text", "word"),
    [("put it back", "it"), ("put it back where it was", "it"), ("put it in the basket", "it"), ("pick it up", "it"),
     ("put them in the basket", "them"), ("put the can there", "there"), ("把它放回去", "它"), ("把它放进篮子", "它"),
     ("把它们放进篮子", "它们"), ("把罐子放到那里", "那里")],
)  # fmt: skip
def test_what_means_a_thing_of_the_last_instruction_is_refused_as_each_stands_alone(scene, text, word):
    earlier = replace(scene, objects=tuple(replace(t, position=(0.3, 0.3, 0.05)) for t in scene.objects[:1]))
    found = interpret(text, scene, lambda: earlier, robot_id=ROBOT)
    assert isinstance(found, RefusedIntent) and found.kind == "ambiguous", found
    told = "每条指令单独理解" if not text.isascii() else "each instruction stands alone"
    assert told in found.reason and f"“{word}”" in found.reason


def test_it_after_two_things_of_the_same_instruction_is_not_said_to_be_of_another(scene):
    found = interpret("put the apple and the can in the basket and then put it back", scene, robot_id=ROBOT)
    assert isinstance(found, RefusedIntent) and "stands alone" not in found.reason
