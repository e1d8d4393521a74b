"""Wiping: strokes of a sponge over a marked area, measured by what it touched, refused with reasons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from worldfs.base.model import Thing
from worldfs.robots.mujoco import wipe

from . import lies
from .conftest import on_table
from .test_handling import CUBE, refusal

SPONGE = Thing("sponge", category="sponge", shape="box", size=(0.09, 0.06, 0.035), mass=0.04, color="yellow",
               position=(0.45, 0.3, 0.018))  # fmt: skip
AREA = Thing("area", category="region", shape="region", size=(0.14, 0.12, 0.002), position=(0.5, 0.0, 0.001))


@pytest.fixture
def marked(opened):
    def make(*things, area=AREA):
        scene = on_table(*things)
        return opened(scene=replace(scene, furniture=(*scene.furniture, area)))

    return make


def test_a_marked_area_is_wiped_and_the_sponge_lies_back(marked):
    hand = marked(SPONGE)
    done = hand.do("wipe", object_id="sponge", target="table_01")
    assert done.ok, done
    assert done.evidence["wiped"]["share"] > 0.95 and done.evidence["wiped"]["area"] == "area"
    assert np.allclose(hand.seen("sponge").position, SPONGE.position, atol=0.01)
    assert "also_moved" not in done.evidence


def test_a_sponge_in_the_hand_wipes_and_stays_in_it(marked):
    hand = marked(SPONGE)
    assert hand.do("pick_up", object_id="sponge").ok
    done = hand.do("wipe", object_id="sponge", target="area")
    assert done.ok, done
    assert done.evidence["wiped"]["share"] > 0.95 and hand.rig.held() == "sponge"
    arm = hand.body.arm
    goal = wipe.wipe_goal(arm, hand.order("wipe", object_id="sponge", target="area"))
    touched = wipe.TouchedSpots(arm, goal)
    touched.touched[:] = True
    lies.put(hand.rig, "sponge", (0.45, 0.3, 0.018))  # no longer in the hand
    assert wipe.wiped(arm, goal, touched).code == "OBJECT_LOST"


def test_a_sponge_is_not_taken_while_the_hand_holds_something_else(marked):
    hand = marked(SPONGE, replace(CUBE, position=(0.4, -0.3, 0.0255)))
    assert hand.do("pick_up", object_id="cube").ok
    assert refusal(hand, "wipe", object_id="sponge", target="area").code == "HOLDING"


def test_a_sponge_that_never_comes_down_has_wiped_nothing(marked):
    hand = marked(SPONGE)
    lies.put(hand.rig, "sponge", (0.5, 0.0, 0.2))  # over the area, and in no hand
    arm = hand.body.arm
    goal = wipe.wipe_goal(arm, hand.order("wipe", object_id="sponge", target="area"))
    touched = wipe.TouchedSpots(arm, goal)
    touched.look()
    assert touched.share == 0
    arm.mover.begin(lambda: "")
    assert wipe.wiped(arm, goal, touched).code == "NOT_WIPED"
    lies.put(hand.rig, "sponge", (0.5, 0.0, 0.0174))  # on it, and still in no hand
    touched.look()
    assert touched.share == 0


def test_what_cannot_be_wiped_is_refused_with_its_reason(marked):
    hand = marked(SPONGE, CUBE, replace(CUBE, id="in_it", position=(0.5, 0.02, 0.0255)))
    assert "neither" in refusal(hand, "wipe", object_id="cube", target="area").found
    assert "in_it" in refusal(hand, "wipe", object_id="sponge", target="area").found
    assert "0 areas" in refusal(hand, "wipe", object_id="sponge", target="basket_01").found
    assert refusal(hand, "wipe", object_id="sponge", target="sky").code == "UNKNOWN_OBJECT"


def test_an_area_out_of_reach_is_said(marked):
    far = replace(AREA, position=(0.8, -0.5, 0.001))
    assert "area" in refusal(marked(SPONGE, area=far), "wipe", object_id="sponge", target="area").found


def test_the_measure_says_no_to_every_other_world(marked):
    hand = marked(SPONGE, replace(CUBE, id="other", position=(0.4, -0.3, 0.0255)))
    arm = hand.body.arm
    arm.mover.begin(lambda: "")
    goal = wipe.wipe_goal(arm, hand.order("wipe", object_id="sponge", target="area"))
    touched = wipe.TouchedSpots(arm, goal)
    touched.touched[:] = True
    assert wipe.wiped(arm, goal, touched).ok
    assert wipe.wiped(arm, replace(goal, start=goal.start + 0.05), touched).code == "NOT_AT_GOAL"
    touched.touched[: len(goal.spots) // 5] = False
    assert wipe.wiped(arm, goal, touched).code == "NOT_WIPED"
    touched.touched[:] = True
    lies.put(hand.rig, "other", (0.4, -0.27, 0.025))
    assert wipe.wiped(arm, goal, touched).code == "MOVED_OTHERS"
