"""What must not be moved stays in the hand that holds it: the robot does nothing else, and says why."""

from __future__ import annotations

import pytest

from worldfs.planning.planner import Planner

from .conftest import World, named_scene

ENGLISH = ("screw", "washer", "nut"), ("box",)
CHINESE = ("螺丝", "垫片", "螺母"), ("盒子",)
KEPT_EN = (
    "don't touch the screw, put the washer in the box",
    "don't move the screw, put the washer in the box",
    "keep the screw and put the washer in the box",
    "leave the screw where it is and put the washer in the box",
    "leave the screw alone, put everything else in the box",
    "put the washer in the box, but do not touch the screw",
    "put everything except the screw in the box",
    "put the washer on the nut without touching the screw",
    "don't touch the screw, pick up the washer",
    "don't touch the screw, clear the table",
    "don't touch the screw, move the washer 5 cm to the left",
    "don't touch the screw, stack the washer and the nut",
    "don't touch the screw, open the gripper",
    "don't touch the screw, go home",
    "don't touch the screw, put the washer in the box, then put the nut in the box",
)
KEPT_ZH = (
    "别动螺丝，把垫片放进盒子",
    "不要碰螺丝，把垫片放进盒子",
    "把垫片放进盒子，别动螺丝",
    "除了螺丝都放进盒子",
    "别动螺丝，拿起垫片",
    "别动螺丝，其他的放进盒子",
)


@pytest.mark.parametrize("text", [*KEPT_EN, *KEPT_ZH])
def test_a_protected_thing_in_the_hand_is_not_put_down(text):
    (things, boxes) = ENGLISH if text.isascii() else CHINESE
    world = World(named_scene(things, boxes, held=things[0]), zh=not text.isascii())
    report = Planner(world).run(text)
    assert not report.ok and report.reason
    assert not world.log and world.held == "a0"


@pytest.mark.parametrize("text", [KEPT_EN[0], KEPT_ZH[0]])
def test_the_report_says_that_the_hand_is_full_of_what_must_not_be_moved(text):
    (things, boxes) = ENGLISH if text.isascii() else CHINESE
    world = World(named_scene(things, boxes, held=things[0]), zh=not text.isascii())
    said = Planner(world).run(text).reason
    assert things[0] in said and ("may not be moved" in said or "不能动" in said), said


@pytest.mark.parametrize(
    ("text", "held", "end"),
    [
        ("don't touch the screw, put the washer in the box", "washer", ("in", "b0")),
        ("don't touch the screw, put the washer in the box", "", ("in", "b0")),
        ("don't touch the screw, put the washer in the box", "nut", ("in", "b0")),
        ("put the washer in the box", "screw", ("in", "b0")),
        ("别动螺丝，把垫片放进盒子", "垫片", ("in", "b0")),
        ("别动螺丝，把垫片放进盒子", "螺母", ("in", "b0")),
    ],
)
def test_what_is_not_protected_is_put_out_of_the_hand(text, held, end):
    things, boxes = ENGLISH if text.isascii() else CHINESE
    world = World(named_scene(things, boxes, held=held))
    assert Planner(world).run(text).ok
    assert world.where("a1") == end


def test_what_holds_already_is_no_reason_to_refuse():
    world = World(named_scene(*ENGLISH, held="screw"))
    world.relate("a1", world.now_scene.relations[0].__class__("a1", "in", "b0"))
    assert Planner(world).run("don't touch the screw, put the washer in the box").ok
    assert not world.log
