"""Pouring: grains of one vessel into another by contact, counted, refused with reasons."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from worldfs.base.model import Thing
from worldfs.formats import environment
from worldfs.robots.mujoco import pour, vessel_model

from . import lies
from .conftest import on_table
from .test_handling import APPLE, CUBE, refusal

CUP = Thing("cup", shape="cylinder", size=(0.07, 0.07, 0.085), mass=0.15, position=(0.45, 0.2, 0.043),
            color="white", extra={"grains": 6})  # fmt: skip
BOWL = Thing("bowl", shape="cylinder", size=(0.14, 0.14, 0.05), mass=0.25, position=(0.5, -0.1, 0.0255),
             color="blue", extra={"grains": 0})  # fmt: skip


def test_what_cannot_be_poured_is_refused_with_its_reason(opened):
    small = replace(BOWL, id="small", size=(0.05, 0.05, 0.02), position=(0.6, 0.1, 0.011))
    lying = replace(BOWL, id="lying", orientation=lies.tipped(np.pi / 2), position=(0.35, 0.4, 0.071))
    hand = opened(replace(CUP, extra={"grains": 20}), BOWL, small, lying, APPLE)
    assert "empty" in refusal(hand, "pour", object_id="bowl", target="cup").found
    assert "no vessel" in refusal(hand, "pour", object_id="cup", target="apple").found
    assert "no vessel" in refusal(hand, "pour", object_id="apple", target="bowl").found
    assert "takes" in refusal(hand, "pour", object_id="cup", target="small").found
    assert "upright" in refusal(hand, "pour", object_id="cup", target="lying").found
    assert refusal(hand, "pour", object_id="cup", target="cup").code == "SCHEMA_VALIDATION"
    assert refusal(hand, "pour", object_id="cup", target="sink").code == "UNKNOWN_OBJECT"


def test_a_bowl_out_of_reach_is_said(opened):
    hand = opened(CUP, replace(BOWL, position=(0.85, -0.5, 0.0255)))
    assert "bowl" in refusal(hand, "pour", object_id="cup", target="bowl").found


def spread(hand, places):
    """The grains, put where they are to have come to rest."""
    data, model = hand.rig.simulation.data, hand.rig.simulation.model
    for n, place in enumerate(places):
        at = int(model.joint(f"grain{n}").qposadr[0])
        data.qpos[at : at + 3] = place
    mujoco.mj_forward(model, data)


def test_the_measure_counts_and_says_no_to_every_other_world(opened):
    hand = opened(CUP, BOWL, replace(CUBE, id="other", position=(0.4, 0.4, 0.0255)))
    arm = hand.body.arm
    arm.mover.begin(lambda: "")
    goal = pour.pour_goal(arm, hand.order("pour", object_id="cup", target="bowl"))
    inside = [(0.47 + 0.013 * n, -0.1, 0.014) for n in range(6)]
    aside = [(0.3 + 0.02 * n, -0.3, 0.008) for n in range(6)]
    assert pour.poured(arm, goal).code == "NOT_POURED"  # all of it is still in the cup
    spread(hand, inside)
    assert pour.poured(arm, goal).ok
    assert pour.poured(arm, replace(goal, start=goal.start + 0.05)).code == "NOT_AT_GOAL"
    spread(hand, [*inside[:3], *aside[3:]])
    assert pour.poured(arm, goal).code == "SPILLED"
    spread(hand, inside)
    lies.put(hand.rig, "other", (0.4, 0.43, 0.025))
    assert pour.poured(arm, goal).code == "MOVED_OTHERS"


@pytest.mark.proof
def test_a_thing_beside_the_hand_that_takes_the_vessel_is_not_touched(opened):
    tall = replace(CUP, size=(0.07, 0.07, 0.1), position=(0.4, 0.1, 0.0505))
    box = replace(CUBE, id="box", size=(0.05, 0.05, 0.05), position=(0.3, 0.25, 0.0255))
    hand = opened(tall, replace(tall, id="glass", position=(0.45, -0.1, 0.0505), extra={"grains": 0}), box)
    before = hand.rig.position("box"), hand.rig.quat("box")
    done = hand.do("pour", object_id="cup", target="glass")
    assert done.ok, done
    assert np.linalg.norm(hand.rig.position("box") - before[0]) < 0.001
    assert abs(hand.rig.quat("box") @ before[1]) > 0.9999


def test_the_file_counts_the_grains_and_a_new_world_begins_with_them(opened):
    hand, now = opened(CUP, BOWL), {"robot_id": "franka_001", "now": "2026-11-23T20:00:00Z"}
    before = hand.body.observe()
    text = environment.merge(b"", before, **now)
    spread(hand, [(0.47, -0.1, 0.014), (0.5, -0.1, 0.014)])
    text = environment.merge(text, hand.body.observe(), before=before, **now)
    counts = {t["id"]: t["grains"] for t in environment.read(text).value["objects"]}
    assert counts == {"cup": 4, "bowl": 2}
    again = opened(scene=environment.read(text).scene)
    assert (again.rig.grains_in("cup"), again.rig.grains_in("bowl")) == (4, 2)


@pytest.mark.parametrize("given", [float("nan"), -3, "many", True, None, 10**9])
def test_a_count_that_is_none_is_not_believed(given, opened):
    found = vessel_model.count(replace(CUP, extra={"grains": given}))
    assert found is None or 0 <= found <= vessel_model.MOST
    assert vessel_model.count(replace(CUP, shape="box")) is None and not on_table(CUP).objects[0].status


def test_a_vessel_is_pushed_with_its_grains(opened):
    hand = opened(replace(CUP, size=(0.07, 0.07, 0.1), position=(0.45, 0.0, 0.0505), extra={"grains": 12}))
    done = hand.do("push", object_id="cup", direction="left", distance=0.08)
    assert done.ok, done
    assert hand.rig.grains_in("cup") == 12
