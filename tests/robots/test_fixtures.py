"""Drawers and lids: opened and closed by contact, measured at the joint, refused with reasons; and who lies."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from worldfs.base.already_so import ALREADY_SO
from worldfs.base.model import Order, Profile, Relation, Thing
from worldfs.base.standard_operations import HANDLING
from worldfs.formats import environment
from worldfs.planning.critic import Critic
from worldfs.robots.mujoco import drawn_world, fixture_model, fixtures, support

from . import lies
from .conftest import on_table
from .test_handling import CUBE, refusal

DRAWER = Thing("drawer", category="drawer", shape="drawer", position=(0.62, 0.1, 0.06), size=(0.22, 0.24, 0.12))
CHEST = Thing("chest", category="chest", shape="chest", position=(0.6, 0.1, 0.05), size=(0.20, 0.24, 0.10))
SMALL = Thing("small", shape="box", size=(0.03,) * 3, mass=0.05, position=(0.62, 0.1, 0.036))


def room(piece, *things):
    scene = on_table(*things)
    return replace(scene, furniture=(*scene.furniture, piece))


@pytest.fixture
def facing(opened):
    return lambda piece, *things: opened(scene=room(piece, *things))


def test_a_drawer_is_opened_with_what_is_in_it_and_closed(facing):
    hand = facing(DRAWER, SMALL)
    done = hand.do("open_fixture", object_id="drawer")
    assert done.ok and done.evidence["opening"]["after"] > 0.1 and done.evidence["opening"]["was"] == "closed", done
    assert "also_moved" not in done.evidence
    assert hand.seen("small").position[0] == pytest.approx(0.62 - done.evidence["opening"]["after"], abs=0.02)
    seen = hand.seen("drawer")
    assert seen.status == "open" and seen.extra["opening"] == pytest.approx(hand.rig.opening("drawer"), abs=0.001)
    assert "already" in refusal(hand, "open_fixture", object_id="drawer").found
    assert hand.do("close_fixture", object_id="drawer").ok
    assert hand.seen("drawer").status == "closed"


def test_a_lid_stays_open_past_the_vertical(facing):
    hand = facing(CHEST)
    done = hand.do("open_fixture", object_id="chest")
    assert done.ok and done.evidence["opening"]["after"] == pytest.approx(fixture_model.LID, abs=0.01), done
    assert hand.seen("chest").status == "open"


def open_with(facing, piece, *things):
    hand = facing(
        replace(piece, status="open"), replace(CUBE, size=(0.04,) * 3, position=(0.42, -0.1, 0.0205)), *things
    )
    assert hand.do("pick_up", object_id="cube").ok
    return hand


@pytest.mark.slice(2)
@pytest.mark.parametrize("piece", [DRAWER, CHEST], ids=["drawer", "chest"])
def test_a_thing_is_put_in_and_shut_away(facing, piece):
    hand = open_with(facing, piece)
    done = hand.do("place", target=piece.id, target_position=[0.5, 0.1, 0.1])
    assert done.ok and done.evidence["goal"]["in"] == piece.id, done
    assert done.evidence["carried_by"][piece.id] > 0.95
    assert hand.do("close_fixture", object_id=piece.id).ok
    assert Relation("cube", "in", piece.id) in hand.body.observe().relations and hand.seen("cube").status == "in"


@pytest.mark.slice(3)
@pytest.mark.parametrize("piece", [DRAWER, CHEST], ids=["drawer", "chest"])
@pytest.mark.parametrize("away", [(0.0, 0.05), (-0.02, -0.06), (0.03, -0.03)])
def test_a_thing_rests_at_the_point_that_is_given_beside_the_drawer_or_the_chest(facing, piece, away):
    hand = open_with(facing, piece)
    x, y = (0.45 if piece is DRAWER else piece.position[0]) + away[0], piece.position[1] + away[1]
    done = hand.do("place", target=piece.id, target_position=[x, y, 0.05])
    assert done.ok and done.evidence["goal"]["in"] == piece.id, done
    assert np.hypot(*(hand.rig.position("cube")[:2] - [x, y])) < 0.03


@pytest.mark.parametrize("piece", [DRAWER, CHEST], ids=["drawer", "chest"])
def test_a_point_elsewhere_than_the_drawer_or_the_chest_is_refused_before_the_first_motion(facing, piece):
    hand = open_with(facing, piece)
    for point in ([0.45, -0.2, 0.05], [0.3, 0.1, 0.05]):
        found = refusal(hand, "place", target=piece.id, target_position=point)
        assert piece.id in found.expected and "elsewhere" in found.found, found
        done = hand.do("place", target=piece.id, target_position=point)
        assert not done.ok and done.evidence["steps"] == 0 and hand.rig.held() == "cube"


def test_into_what_is_shut_or_too_low_or_full_nothing_is_put(facing):
    hand = facing(DRAWER, replace(CUBE, position=(0.42, -0.1, 0.0255)))
    assert hand.do("pick_up", object_id="cube").ok
    assert "not open" in refusal(hand, "place", target="drawer").found
    assert "not open" in refusal(hand, "place", target="drawer", target_position=[0.45, 0.1, 0.05]).found
    state(hand, 0.06)
    assert "not open" in refusal(hand, "place", target="drawer").found  # ajar
    tall = facing(replace(DRAWER, status="open"), replace(CUBE, size=(0.04, 0.04, 0.09), position=(0.42, -0.1, 0.046)))
    assert tall.do("pick_up", object_id="cube").ok
    assert "90 mm high" in refusal(tall, "place", target="drawer").found
    crowd = [replace(SMALL, id=f"small_{n}", position=(0.45, 0.02 + 0.05 * n, 0.036)) for n in range(4)]
    full = open_with(facing, DRAWER, *crowd)
    assert "no free place" in refusal(full, "place", target="drawer").found


def test_only_what_the_drawer_carries_below_its_rim_is_in_it(facing):
    hand = facing(replace(DRAWER, status="open"), replace(SMALL, position=(0.43, 0.1, 0.036)))
    hand.body.arm.mover.begin(lambda: "")
    hand.body.arm.mover.wait(0.3)
    rig = hand.rig
    assert support.contains(rig, "small", "drawer")
    lies.put(rig, "small", (0.43, 0.1, 0.07))
    assert not support.contains(rig, "small", "drawer")  # something unseen holds it
    lies.put(rig, "small", (0.43, 0.1, 0.16))
    assert not support.contains(rig, "small", "drawer")
    lies.put(rig, "small", (0.62, 0.1, 0.136))  # on the case
    hand.body.arm.mover.wait(0.3)
    assert not support.contains(rig, "small", "drawer")


def test_a_body_says_so_when_its_drawer_was_emptied_behind_it(facing):
    hand = open_with(facing, DRAWER)
    lies.after("cube", lambda rig: lies.put(rig, "cube", (0.4, -0.3, 0.0205)))(hand)
    done = hand.do("place", target="drawer")
    assert not done.ok and done.code in ("NOT_IN_CONTAINER", "NOT_AT_REST"), done


def test_what_cannot_be_opened_is_refused_with_its_reason(facing):
    before = replace(CUBE, id="before", position=(0.4, 0.1, 0.0255))
    hand = facing(DRAWER, before)
    assert "before-drawer" in refusal(hand, "open_fixture", object_id="drawer").found  # it would run into it
    assert "neither" in refusal(hand, "open_fixture", object_id="basket_01").found
    assert "already" in refusal(hand, "close_fixture", object_id="drawer").found
    assert refusal(hand, "close_fixture", object_id="drawer").code == ALREADY_SO
    assert refusal(hand, "open_fixture", object_id="door").code == "UNKNOWN_OBJECT"


def test_a_lid_with_something_on_it_is_not_opened(facing):
    hand = facing(CHEST, replace(CUBE, position=(0.6, 0.1, 0.1255)))
    assert "cube" in refusal(hand, "open_fixture", object_id="chest").found


STICK = Thing("stick", shape="box", size=(0.02, 0.30, 0.02), mass=0.05, position=(0.47, 0.1, 0.1))


def test_a_drawer_with_something_across_its_rims_is_not_moved(facing):
    short = replace(STICK, size=(0.02, 0.23, 0.02))
    for stick in (STICK, short):
        hand = facing(replace(DRAWER, extra={"opening": 0.12}), stick)
        hand.body.arm.mover.begin(lambda: "")
        hand.body.arm.mover.wait(0.3)
        assert support.on_part(hand.rig, "stick", "drawer")
        assert "stick" in refusal(hand, "close_fixture", object_id="drawer").found
    ajar = facing(replace(DRAWER, extra={"opening": 0.05}), replace(STICK, position=(0.49, 0.1, 0.1)))
    assert "stick" in refusal(ajar, "open_fixture", object_id="drawer").found


def test_what_would_meet_the_case_or_the_lid_keeps_it_open(facing):
    high = replace(CUBE, size=(0.04, 0.04, 0.11), position=(0.45, 0.1, 0.075))
    hand = facing(replace(DRAWER, extra={"opening": 0.12}), high)
    assert "cube" in hand.rig.contents("drawer")
    assert "cube-drawer" in refusal(hand, "close_fixture", object_id="drawer").found
    stack = (
        replace(SMALL, position=(0.45, 0.1, 0.036)),
        replace(SMALL, id="upper", size=(0.04, 0.04, 0.07), position=(0.45, 0.1, 0.087)),
    )
    piled = facing(replace(DRAWER, extra={"opening": 0.12}), *stack)
    assert "drawer-upper" in refusal(piled, "close_fixture", object_id="drawer").found
    chest = facing(replace(CHEST, status="open"), replace(high, position=(0.6, 0.1, 0.064)))
    assert "chest-cube" in refusal(chest, "close_fixture", object_id="chest").found


def test_out_of_reach_is_said(facing):
    far = refusal(facing(replace(DRAWER, position=(1.3, 0.1, 0.06))), "open_fixture", object_id="drawer")
    assert "no joint angles" in far.found


def state(hand, value, speed=0.0):
    data, joint = hand.rig.simulation.data, hand.rig.fixtures["drawer"]
    data.qpos[joint.qpos], data.qvel[joint.dof] = value, speed
    mujoco.mj_forward(hand.rig.simulation.model, data)


def test_the_measure_says_no_to_every_other_world(facing):
    hand = facing(DRAWER, replace(CUBE, id="other", position=(0.4, -0.3, 0.0255)))
    arm = hand.body.arm
    arm.mover.begin(lambda: "")
    goal = fixtures.fixture_goal(arm, hand.order("open_fixture", object_id="drawer"), "open")
    state(hand, goal.value)
    assert fixtures.stands(arm, goal).ok
    state(hand, 0.06)
    assert fixtures.stands(arm, goal).code == "NOT_OPEN"
    assert fixtures.stands(arm, replace(goal, state="closed")).code == "NOT_CLOSED"
    hand.rig.simulation.model.dof_damping[hand.rig.fixtures["drawer"].dof] = 0.0
    hand.rig.simulation.model.dof_frictionloss[hand.rig.fixtures["drawer"].dof] = 0.0
    state(hand, 0.02, speed=0.3)
    assert fixtures.stands(arm, goal).code == "NOT_AT_REST"
    state(hand, goal.value)
    assert fixtures.stands(arm, replace(goal, contents=("other",))).code == "CONTENTS_LOST"
    lies.put(hand.rig, "other", (0.4, -0.27, 0.025))
    assert fixtures.stands(arm, goal).code == "MOVED_OTHERS"


def test_the_file_says_how_far_it_is_open_and_a_new_world_begins_so(facing, opened):
    hand = facing(DRAWER, SMALL)
    before, now = hand.body.observe(), {"robot_id": "franka_001", "now": "2026-11-23T20:00:00Z"}
    text = environment.merge(b"", before, **now)
    hand.rig.simulation.data.qpos[hand.rig.fixtures["drawer"].qpos] = 0.061
    mujoco.mj_forward(hand.rig.simulation.model, hand.rig.simulation.data)
    text = environment.merge(text, hand.body.observe(), before=before, **now)
    node = next(n for n in environment.read(text).value["scene_graph"]["nodes"] if n["id"] == "drawer")
    assert node["status"] == "ajar" and node["opening"] == pytest.approx(0.061, abs=0.0005)
    again = opened(scene=environment.read(text).scene)
    assert again.rig.opening("drawer") == pytest.approx(0.061, abs=0.002)
    assert drawn_world.of_scene(environment.read(text).scene, ["franka_001"], []).poses().shape[1] == 7


@pytest.mark.parametrize("given", [float("inf"), -3, "wide", True, None, 9])
def test_an_opening_that_no_joint_has_is_not_believed(given):
    found = fixture_model.opening(replace(DRAWER, extra={"opening": given}, status="closed"))
    assert 0.0 <= found <= fixture_model.travel(DRAWER)
    assert np.all(np.isfinite(fixture_model.knob(DRAWER, found)))


def test_the_critic_of_the_files_judges_them_before_the_body():
    scene = room(DRAWER, CUBE)
    scene = replace(scene, robots=(replace(scene.robots[0], pose=(0.0, 0.0, 0.0), gripper="open"),))
    profile = Profile("arm", ops=HANDLING, max_reach=0.855)

    def codes(id, **holding):
        now = replace(scene, robots=(replace(scene.robots[0], **holding),))
        order = Order("a", "franka_001", "open_fixture", {"object_id": id})
        return [f.code for f in Critic().review(order, now, profile) if not f.warning]

    assert codes("drawer") == []
    assert codes("door") == ["UNKNOWN_OBJECT"]
    assert codes("drawer", holding="cube", gripper="holding") == ["HOLDING"]
    far = replace(DRAWER, id="far", position=(1.5, 0.0, 0.06))
    scene = replace(scene, furniture=(*scene.furniture, far))
    assert codes("far") == ["PROFILE_LIMIT"]


# --- on top of what is shut ---

LID = Thing("can", shape="cylinder", size=(0.05, 0.05, 0.08), mass=0.1, position=(0.4, -0.15, 0.0402))


@pytest.mark.slice(3)
@pytest.mark.parametrize("piece", [CHEST, DRAWER], ids=["lid", "case"])
@pytest.mark.parametrize("full", [False, True])
def test_a_thing_is_set_on_a_shut_chest_and_on_a_case_and_taken_off_and_set_back(facing, piece, full):
    within = [replace(SMALL, position=(0.6, 0.1, 0.036))] if full else []
    hand = facing(replace(piece, position=(0.5, *piece.position[1:])), LID, *within)
    top = piece.position[2] + piece.size[2] / 2
    for _ in range(2):
        assert hand.do("pick_up", object_id="can").ok
        done = hand.do("place", target_position=[0.5, 0.1, top + 0.04])
        assert done.ok, done
        assert hand.rig.position("can") == pytest.approx([0.5, 0.1, top + 0.04], abs=0.005)
        assert support.stands_on(hand.rig, "can", piece.id)
    assert Relation("can", "on", piece.id) in hand.body.observe().relations


def test_what_is_in_a_shut_chest_and_under_it_is_no_place(facing):
    hand = facing(replace(CHEST, position=(0.5, 0.1, 0.05)), LID, replace(SMALL, position=(0.5, 0.1, 0.03)))
    assert hand.do("pick_up", object_id="can").ok
    for z in (0.04, 0.0, 0.05):
        found = refusal(hand, "place", target_position=[0.5, 0.1, z])
        assert "chest" in found.found and "0.140" in found.fix, found


@pytest.mark.parametrize("z", [0.1, 0.12, 0.16])
def test_a_point_that_is_above_what_is_there_is_refused_and_not_projected(facing, z):
    hand = facing(replace(CHEST, position=(0.5, 0.1, 0.05)), LID)
    assert hand.do("pick_up", object_id="can").ok
    before = hand.rig.position("can")
    found = refusal(hand, "place", target_position=[0.5, -0.1, z])
    assert "table_01" in found.found and "0.040" in found.fix, found
    assert not hand.do("place", target_position=[0.5, -0.1, z]).ok
    assert np.linalg.norm(hand.rig.position("can") - before) < 0.002


@pytest.mark.parametrize("height", np.arange(0.006, 0.016, 0.0015).round(4).tolist())
def test_an_opening_drawer_shoves_nothing_low_that_stands_before_it(height, facing):
    plate = Thing("plate", shape="box", size=(0.06, 0.1, height), mass=0.1, position=(0.45, 0.1, height / 2))
    hand = facing(DRAWER, plate)
    before = hand.rig.position("plate")
    done = hand.do("open_fixture", object_id="drawer")
    assert np.linalg.norm(hand.rig.position("plate") - before) < 0.002, (height, done)
    assert done.ok is ("also_moved" not in done.evidence and done.code == "")


@pytest.mark.parametrize(("piece", "floor"), [(DRAWER, 0.019), (CHEST, 0.008)], ids=["drawer", "chest"])
@pytest.mark.parametrize("sunk", [-0.005, 0.0, 0.005])
def test_what_the_file_lays_in_it_is_built_on_its_bottom_and_seen_in_it(facing, piece, floor, sunk):
    bottom = piece.position[2] - piece.size[2] / 2 + floor
    hand = facing(piece, replace(SMALL, position=(*piece.position[:2], bottom + 0.015 + sunk)))
    assert hand.rig.things["small"].position[2] > bottom + 0.015 - 0.001
    hand.body.arm.mover.begin(lambda: "")
    hand.body.arm.mover.wait(0.3)
    assert hand.seen("small").position[2] == pytest.approx(bottom + 0.015, abs=0.001)
    assert Relation("small", "in", piece.id) in hand.body.observe().relations
    refused = refusal(hand, "pick_up", object_id="small")
    assert "small is in" in refused.found and "not open" in refused.found and "open" in refused.fix
    assert hand.rig.contents(piece.id) == ["small"]


def test_what_lies_on_a_lid_or_beside_is_not_what_moves_with_it(facing):
    beside = replace(SMALL, id="beside", position=(CHEST.position[0], 0.3, 0.0155))
    hand = facing(CHEST, replace(SMALL, position=(*CHEST.position[:2], 0.1155)), beside)
    assert hand.rig.contents("chest") == []
    assert Relation("small", "on", "chest") in hand.body.observe().relations
