"""Handing over: one arm holds a thing out, the other takes it; each measures its own end of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from worldfs.base.model import Order, Profile, RobotState, Scene, Thing
from worldfs.base.standard_operations import HANDLING
from worldfs.planning.critic import Critic
from worldfs.robots.mujoco import geometry, hand_over
from worldfs.robots.mujoco.grip_slip import SLIP, grip_slip

from .test_two_arms import FAR, HERE, NEAR, ROBOTS, TABLE, Pair, measured

CUBE = replace(HERE, id="cube", position=(0.40, 0.30, 0.0255))
GIVE = {NEAR: (("pick_up", {"object_id": "cube"}), ("hand_over", {"to": FAR})),
        FAR: (("take_over", {"object_id": "cube"}),)}  # fmt: skip


def pair_with(*things: Thing) -> Pair:
    return Pair(Scene(ROBOTS, things or (CUBE,), (TABLE,)))


def test_one_arm_gives_and_the_other_holds_it_alone_and_still():
    pair = pair_with()
    done = pair.together(GIVE)
    (_, given), (taken,) = done[NEAR], done[FAR]
    assert given.ok and taken.ok, measured(done)
    assert given.evidence["held_by"] == taken.evidence["held_by"] == FAR
    assert given.evidence["touched"] == [] == taken.evidence["touched"]
    assert taken.evidence["carried_by"] == {"robot": 1.0} and pair.rig(NEAR).held() is None
    assert [r.holding for r in pair.drivers[FAR].observe().robots] == ["cube"]
    # and back: what was handed over is handed back
    back = pair.together({FAR: (("hand_over", {"to": NEAR}),), NEAR: (("take_over", {"object_id": "cube"}),)})
    assert back[FAR][0].ok and back[NEAR][0].ok and pair.rig(NEAR).held() == "cube", measured(back)


@pytest.mark.proof
def test_a_vessel_is_handed_over_with_its_grains():
    cup = replace(CUBE, shape="cylinder", size=(0.06, 0.06, 0.1), position=(0.40, 0.30, 0.0505), extra={"grains": 12})
    pair = pair_with(cup)
    done = pair.together(GIVE)
    assert done[NEAR][1].ok and done[FAR][0].ok, measured(done)
    assert pair.rig(FAR).held() == "cube"


def refused(pair, id, op, **params):
    before = pair.table.simulation.data.qpos.copy()
    (found,) = pair.review(id, op, **params)
    assert np.array_equal(before, pair.table.simulation.data.qpos) and found.expected and found.fix
    return found


def test_what_cannot_be_handed_over_is_refused_with_its_reason():
    pair = pair_with()
    assert refused(pair, NEAR, "hand_over", to=FAR).code == "NOT_HOLDING"
    assert refused(pair, FAR, "take_over", object_id="pear").code == "UNKNOWN_OBJECT"
    assert pair.run(NEAR, ("pick_up", {"object_id": "cube"}))[0].ok
    assert FAR in refused(pair, NEAR, "hand_over", to="franka_009").expected
    assert refused(pair, NEAR, "hand_over", to=NEAR).code == "SCHEMA_VALIDATION"
    assert refused(pair, NEAR, "take_over", object_id="cube").code == "HOLDING"
    arm = pair.drivers[FAR].arm
    assert not hand_over.offered(arm, "cube")  # held, and pointing down: it is not held out
    assert not pair.review(NEAR, "hand_over", to=FAR)


@pytest.mark.proof
def test_who_is_not_met_says_so_and_keeps_what_it_has(monkeypatch):
    monkeypatch.setattr(hand_over, "PATIENCE", 1.0)
    pair = pair_with()
    (picked, alone) = pair.run(NEAR, *GIVE[NEAR])
    assert picked.ok and alone.code == "NOT_TAKEN" and alone.evidence["held_by"] == NEAR, alone
    (waited,) = pair.run(FAR, GIVE[FAR][0])
    assert waited.code in ("NOT_OFFERED", "NOT_ALONE"), waited  # the other holds it out, and no longer lets go


def test_the_measures_say_no_to_every_other_world():
    pair = pair_with()
    near, far = pair.drivers[NEAR].arm, pair.drivers[FAR].arm
    for arm in (near, far):
        arm.mover.begin(lambda: "")
    assert hand_over.handed(near, "cube", FAR).code == "OBJECT_LOST"
    assert hand_over.holds_alone(far, "cube").code == "OBJECT_LOST"
    assert pair.run(NEAR, GIVE[NEAR][0])[0].ok
    assert hand_over.handed(near, "cube", FAR).code == "NOT_RELEASED"
    assert hand_over.holds_alone(near, "cube").ok and hand_over.holds_alone(far, "cube").code == "OBJECT_LOST"


def test_the_critic_of_the_files_judges_them_before_the_body():
    scene = Scene((replace(ROBOTS[0], gripper="open"), ROBOTS[1]), (CUBE,), (TABLE,))
    profile = Profile("arm", ops=HANDLING, max_reach=0.855)

    def codes(op, holding=None, **params):
        robot = replace(scene.robots[0], holding=holding, gripper="holding" if holding else "open")
        now = replace(scene, robots=(robot, scene.robots[1]))
        return [f.code for f in Critic().review(Order("a", NEAR, op, params), now, profile) if not f.warning]

    assert codes("hand_over", to=FAR) == ["NOT_HOLDING"]
    assert codes("hand_over", "cube", to=FAR) == []
    assert codes("hand_over", "cube") == ["SCHEMA_VALIDATION"]
    assert codes("take_over", "cube", object_id="cube") == ["HOLDING"]
    assert codes("take_over", object_id="cube") == []


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["apple", "can", "brick"])
def test_other_things_are_handed_over_too(kind):
    things = {
        "apple": replace(CUBE, shape="sphere", size=(0.066,) * 3, position=(0.40, 0.30, 0.0335)),
        "can": replace(CUBE, shape="cylinder", size=(0.06, 0.06, 0.11), position=(0.40, 0.30, 0.0555)),
        "brick": replace(CUBE, size=(0.04, 0.07, 0.10), mass=0.5, position=(0.40, 0.30, 0.0505)),
    }
    done = pair_with(things[kind]).together(GIVE)
    assert all(outcome.ok for some in done.values() for outcome in some), measured(done)


# --- where they meet ---

MEET = [0.45, -0.35, 0.40]


def test_they_meet_at_a_point_of_the_order():
    pair = pair_with()
    give = {NEAR: (GIVE[NEAR][0], ("hand_over", {"to": FAR, "points": [MEET]})),
            FAR: (("take_over", {"object_id": "cube", "points": [MEET]}),)}  # fmt: skip
    done = pair.together(give)
    (_, given), (taken,) = done[NEAR], done[FAR]
    assert given.ok and taken.ok, measured(done)
    assert np.linalg.norm(np.array(given.evidence["at"]) - MEET) < hand_over.MET


def test_what_is_held_out_at_another_point_than_the_order_allows_is_not_taken():
    pair = pair_with()
    give = {NEAR: (GIVE[NEAR][0], ("hand_over", {"to": FAR, "points": [MEET]})),
            FAR: (("take_over", {"object_id": "cube", "points": [[0.45, 0.35, 0.40]]}),)}  # fmt: skip
    done = pair.together(give)
    (_, given), (taken,) = done[NEAR], done[FAR]
    assert (given.code, taken.code) == ("NOT_TAKEN", "NOT_OFFERED"), measured(done)
    assert given.evidence["held_by"] == NEAR and "other points" in taken.message


def test_points_that_are_none_or_out_of_reach_are_refused():
    pair = pair_with()
    assert pair.run(NEAR, GIVE[NEAR][0])[0].ok
    for odd in ("here", [], [1, 2, 3], [[0.45, float("nan"), 0.4]], {"x": 1}):
        assert refused(pair, NEAR, "hand_over", to=FAR, points=odd).code == "SCHEMA_VALIDATION"
        assert refused(pair, FAR, "take_over", object_id="cube", points=odd).code == "SCHEMA_VALIDATION"
    assert "Max Reach" in refused(pair, NEAR, "hand_over", to=FAR, points=[[3.0, 0.0, 0.4]]).field


@pytest.mark.parametrize("node", [NEAR, FAR])
@pytest.mark.parametrize(
    ("limits", "points", "field"),
    [
        ({"bounds": ((-2, 2), (-2, 2), (-0.8, 2))}, None, ""),
        ({"bounds": ((-2, 2), (-2, 2), (-0.8, 0.35))}, None, "Workspace Bounds"),
        ({"bounds": ((-2, 2), (-0.1, 2), (-0.8, 2))}, None, "Workspace Bounds"),
        ({"bounds": ((-2, 2), (-0.1, 2), (-0.8, 2)), "bounds_frame": "world"}, [MEET], "Workspace Bounds"),
        ({"bounds": ((-2, 2), (-2, 0.1), (-0.8, 2)), "bounds_frame": "world"}, [MEET], ""),
        ({"max_reach": 0.5}, None, "Max Reach"),
        ({"max_reach": 0.5}, [MEET], "Max Reach"),
        ({}, [[0.45, 0.0, "high"]], "points"),
        ({"max_payload": 0.05}, None, "Max Payload"),
    ],
)
def test_the_critic_judges_where_each_of_the_two_meets_the_other(node, limits, points, field):
    profile = replace(Profile("arm", ops=HANDLING, max_reach=0.855), **limits)
    given = {} if points is None else {"points": points}
    if node == NEAR:
        order = Order("a", NEAR, "hand_over", {"to": FAR, **given})
    else:
        order = Order("a", FAR, "take_over", {"object_id": "cube", **given})
    near = replace(ROBOTS[0], holding="cube", gripper="holding")
    found = [f for f in Critic().review(order, Scene((near, ROBOTS[1]), (CUBE,), (TABLE,)), profile) if not f.warning]
    if field == "Max Payload" and node == NEAR:
        field = ""  # it was judged when the thing was picked up
    assert [field in one.field for one in found] == ([True] if field else []), found


# --- a firm grip ---


def arm_at(robot: RobotState, *joints: float) -> RobotState:
    names = {f"joint_{i + 1}": angle for i, angle in enumerate(joints)}
    return replace(robot, joint_state={**names, "finger": 0.04}, gripper="open")


def offered_crosswise():
    can = replace(CUBE, shape="cylinder", size=(0.06, 0.06, 0.11), mass=0.15, position=(0.5, -0.3, 0.055))
    block = replace(CUBE, id="block", mass=0.15, position=(0.45, -0.2, 0.025))
    robots = ROBOTS[0], arm_at(ROBOTS[1], 0.0832, -0.0121, 0.335, -2.3876, 0.0058, 2.3757, -0.3714)
    return Pair(Scene(robots, (block, can), (TABLE,)))


def test_a_can_that_is_offered_crosswise_is_taken_so_that_it_stays_in_the_hand():
    """Taken beside its axis it creeps out of the hand, and falls seconds later."""
    pair = offered_crosswise()
    done = pair.together(GIVE)
    assert done[FAR][0].ok, measured(done)
    taken = pair.rig(FAR).position("cube")
    for _ in range(3):
        pair.run(NEAR, ("strategy", {"name": "wave"}))
    assert pair.rig(FAR).held() == "cube"
    assert np.linalg.norm(pair.rig(FAR).position("cube") - taken) < 0.005


def test_a_grip_that_slips_is_not_called_firm(monkeypatch):
    pair = pair_with()
    assert pair.run(NEAR, GIVE[NEAR][0])[0].ok
    assert grip_slip(pair.drivers[NEAR].arm, "cube") < SLIP / 4
    monkeypatch.setattr(hand_over, "SLANT", math.pi)  # beside its axis
    done = offered_crosswise().together(GIVE)
    assert done[FAR][0].code == "NOT_FIRM", measured(done)


@pytest.mark.parametrize(
    ("shape", "size", "at", "axis", "degrees"),
    [
        ("cylinder", (0.06, 0.06, 0.11), (0, 0, 0), (0, 1, 0), 0),
        ("cylinder", (0.06, 0.06, 0.11), (0, 0, 0.04), (0, 1, 0), 0),
        ("cylinder", (0.06, 0.06, 0.11), (0.015, 0, 0), (0, 1, 0), 30),
        ("cylinder", (0.06, 0.06, 0.11), (0.015, 0, 0), (0, 0, 1), 0),
        ("cylinder", (0.06, 0.06, 0.11), (0.031, 0, 0), (0, 1, 0), 90),
        ("sphere", (0.06,) * 3, (0, 0, 0.015), (1, 0, 0), 30),
        ("sphere", (0.06,) * 3, (0, 0, 0.04), (1, 0, 0), 90),
        ("box", (0.06, 0.06, 0.06), (0.02, 0, 0), (0, 1, 0), 0),
        ("box", (0.06, 0.06, 0.06), (0, 0, 0), (0.6, 0.8, 0), 36.87),
        ("box", (0.06, 0.06, 0.06), (0.04, 0, 0), (0, 1, 0), 90),
    ],
)
def test_how_square_the_pads_meet_a_thing(shape, size, at, axis, degrees):
    for turn in (np.eye(3), geometry.from_rpy(0.4, -0.9, 2.0)):
        slant = geometry.pad_slant(shape, size, turn, turn @ np.array(at, dtype=float), turn @ np.array(axis))
        assert math.degrees(slant) == pytest.approx(degrees, abs=0.05)
