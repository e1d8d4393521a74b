"""Placing beside, pushing, nudging, turning upright, stacking: done by contact, measured, refused with reasons."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from worldfs.base.already_so import ALREADY_SO
from worldfs.base.model import Order, Profile, Thing
from worldfs.base.standard_operations import HANDLING
from worldfs.planning.critic import Critic
from worldfs.robots import rotations
from worldfs.robots.mujoco import geometry
from worldfs.robots.mujoco.handling_operations import BY_CAMERA

from .conftest import on_table

CUBE = Thing("cube", shape="box", size=(0.05,) * 3, mass=0.1, position=(0.5, 0.1, 0.0255))
CAN = Thing("can", shape="cylinder", size=(0.06, 0.06, 0.11), mass=0.3, position=(0.42, 0.25, 0.0555))
APPLE = Thing("apple", shape="sphere", size=(0.066,) * 3, mass=0.15, position=(0.5, -0.05, 0.0335))


def lying(thing: Thing, *rpy: float) -> Thing:
    rotation = geometry.from_rpy(*rpy)
    half = rotations.half_extents(thing.shape, thing.size, rotation)
    return replace(
        thing, orientation=geometry.quat_of(rotation), position=(*thing.position[:2], float(half[2]) + 0.001)
    )


def refusal(hand, op, **params):
    before = hand.rig.simulation.data.qpos.copy()
    findings = hand.review(op, **params)
    assert np.array_equal(before, hand.rig.simulation.data.qpos), "a review moved something"
    assert len(findings) == 1 and findings[0].expected and findings[0].fix
    return findings[0]


def test_a_push_slides_a_thing_as_far_as_was_asked_and_leaves_the_rest(opened):
    hand = opened(CAN, CUBE)
    done = hand.do("push", object_id="can", direction="left", distance=0.1)
    assert done.ok, done
    moved = np.array(hand.seen("can").position) - CAN.position
    assert abs(moved[1] - 0.1) < 0.015 and abs(moved[0]) < 0.015
    assert done.evidence["distance_to_goal"] < 0.015 and "also_moved" not in done.evidence


def test_a_box_is_pushed_along_any_direction(opened):
    hand = opened(CUBE)
    done = hand.do("push", object_id="cube", direction=[1.0, 1.0], distance=0.08)
    assert done.ok, done
    assert np.allclose(np.array(hand.seen("cube").position[:2]) - CUBE.position[:2], 0.08 / math.sqrt(2), atol=0.012)


def test_what_cannot_be_pushed_is_refused_with_its_reason(opened):
    near = replace(CUBE, id="near", position=(0.5, 0.17, 0.0255))
    hand = opened(APPLE, CUBE, near, lying(CAN, 0.0, math.pi / 2, 0.0))
    assert "roll" in refusal(hand, "push", object_id="apple", direction="left", distance=0.1).found
    assert "roll" in refusal(hand, "push", object_id="can", direction="left", distance=0.1).found
    assert "near" in refusal(hand, "push", object_id="cube", direction="left", distance=0.1).found
    assert "wholly" in refusal(hand, "push", object_id="cube", direction="forward", distance=0.4).found
    assert refusal(hand, "push", object_id="cube", direction="left", distance=2.0).code == "SCHEMA_VALIDATION"
    assert refusal(hand, "push", object_id="cube", direction="up", distance=0.1).code == "SCHEMA_VALIDATION"
    assert refusal(hand, "push", object_id="cube", direction=[0, 0], distance=0.1).code == "SCHEMA_VALIDATION"
    assert refusal(hand, "push", object_id="cube", direction=[1, 1, 1], distance=0.1).code == "SCHEMA_VALIDATION"
    assert refusal(hand, "push", object_id="pear", direction="left", distance=0.1).code == "UNKNOWN_OBJECT"
    assert "graspable" not in refusal(hand, "nudge", object_id="apple").found  # it can be grasped as it stands
    assert refusal(hand, "upright", object_id="apple").found.startswith("apple is a ball")
    assert "already" in refusal(hand, "upright", object_id="cube").found
    assert refusal(hand, "upright", object_id="cube").code == ALREADY_SO
    assert refusal(hand, "stack", object_ids=["cube"]).code == "SCHEMA_VALIDATION"
    assert "round" in refusal(hand, "stack", object_ids=["apple", "cube"]).found
    assert refusal(hand, "place_beside", target="cube", side="left", distance=0.1).code == "NOT_HOLDING"


@pytest.mark.proof
def test_a_walled_in_cube_is_freed_and_then_taken(opened):
    walls = [replace(CUBE, id=id, position=(x, y, 0.0255)) for id, x, y in (("wx", 0.553, 0.1), ("wy", 0.5, 0.153))]
    hand = opened(CUBE, *walls)
    assert hand.review("pick_up", object_id="cube"), "it was not walled in"
    done = hand.do("nudge", object_id="cube")
    assert done.ok, done
    assert done.evidence["pushed"] in ("wx", "wy")
    assert np.allclose(hand.seen("cube").position[:2], CUBE.position[:2], atol=0.005)
    assert hand.do("pick_up", object_id="cube").ok


@pytest.mark.slice(2)
@pytest.mark.parametrize("rpy", [(0.0, math.pi / 2, 0.7), (-math.pi / 2, 0.0, 2.0)])
def test_a_lying_can_is_set_upright(opened, rpy):
    hand = opened(lying(CAN, *rpy))
    done = hand.do("upright", object_id="can")
    assert done.ok, done
    assert hand.seen("can").position[2] == pytest.approx(0.055, abs=0.001)
    assert done.evidence["lean_rad"] < math.radians(1)
    assert hand.seen("can").status == "on_table"


def test_a_tower_of_three_stands_by_contact(opened):
    cubes = [replace(CUBE, id=f"c{n}", position=(0.4 + 0.1 * n, 0.15 * n, 0.0255)) for n in range(3)]
    hand = opened(*cubes)
    done = hand.do("stack", object_ids=["c0", "c1", "c2"])
    assert done.ok, done
    assert [hand.seen(f"c{n}").position[2] for n in range(3)] == pytest.approx([0.025, 0.075, 0.125], abs=0.002)
    assert "also_moved" not in done.evidence
    again = hand.do("stack", object_ids=["c0", "c1", "c2"])
    assert again.ok and again.evidence["sequence"] == []  # measured, and nothing left to do


@pytest.mark.slice(2)
@pytest.mark.parametrize(("side", "axis", "sign"), [("left", 1, 1), ("front", 0, -1)])
def test_a_thing_is_placed_so_far_beside_another(opened, side, axis, sign):
    hand = opened(CUBE, CAN)
    assert hand.do("pick_up", object_id="can").ok
    done = hand.do("place_beside", target="cube", side=side, distance=0.05)
    assert done.ok, done
    apart = np.array(hand.seen("can").position) - hand.seen("cube").position
    assert sign * apart[axis] == pytest.approx(0.05 + 0.025 + 0.03, abs=0.01)
    assert abs(apart[1 - axis]) < 0.01
    assert done.evidence["space"]["gap_m"] == pytest.approx(0.05, abs=0.01)


def test_the_critic_of_the_files_judges_them_before_the_body():
    scene = on_table(CUBE, replace(CAN, position=(0.9, 0.5, 0.055)))
    profile = Profile("arm", ops=HANDLING, max_reach=0.855, max_payload=0.2, max_grip_width=0.076)
    scene = replace(scene, robots=(replace(scene.robots[0], pose=(0.0, 0.0, 0.0), gripper="open"),))

    def codes(op, robot=None, **params):
        now = scene if robot is None else replace(scene, robots=(robot,))
        return [f.code for f in Critic().review(Order("a", "franka_001", op, params), now, profile) if not f.warning]

    assert codes("push", object_id="cube", direction="left", distance=0.1) == []
    assert codes("push", object_id="table_01", direction="left", distance=0.1) == ["CRITIC_REFUSED"]
    assert codes("push", object_id="pear", direction="left", distance=0.1) == ["UNKNOWN_OBJECT"]
    assert codes("push", object_id="can", direction="left", distance=0.1) == ["PROFILE_LIMIT"]  # no reach
    assert codes("upright", object_id="can") == ["PROFILE_LIMIT", "PROFILE_LIMIT"]  # out of reach, and too heavy
    assert codes("push", object_id="cube", direction="left", distance="far") == ["SCHEMA_VALIDATION"]
    assert codes("push", object_id="cube", direction="left") == ["SCHEMA_VALIDATION"]
    full = replace(scene.robots[0], holding="can", gripper="holding")
    assert codes("push", full, object_id="cube", direction="left", distance=0.1) == ["HOLDING"]
    assert codes("stack", full, object_ids=["cube", "can"]) == ["HOLDING"]
    assert codes("place_beside", target="cube", side="left", distance=0.1) == ["NOT_HOLDING"]


@pytest.mark.parametrize("op", sorted({operation.name for operation in HANDLING} - BY_CAMERA))
def test_a_body_that_goes_by_its_cameras_refuses_what_only_the_truth_can_measure(opened, monkeypatch, op):
    hand = opened(CUBE)
    monkeypatch.setattr(hand.body, "looks", object())
    order = hand.order(op, object_id="cube", direction="left", distance=0.1)
    assert [found.field for found in hand.body.review(order)] == ["EMBODIED.md Perception"]
    done = hand.body._carry_out_step(order, set())
    assert not done.ok and done.evidence["steps"] == 0
