"""A hand left among things: every operation begins by leaving them where they stand, and closes on nothing unasked.

Judged by the raw positions of the simulation, never by what the body says of itself.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Order, RobotState, Scene, Thing
from worldfs.robots import rotations
from worldfs.robots.mujoco import fixtures, panda
from worldfs.robots.mujoco.arm import collision_finding
from worldfs.robots.mujoco.collision import persisting
from worldfs.robots.mujoco.handling_operations import HANDLING_ACTS
from worldfs.robots.mujoco.path_planner import plan_path
from worldfs.robots.mujoco.tabletop_driver import OPERATIONS

from .conftest import TABLE
from .test_fixtures import CHEST, DRAWER
from .test_hand_over import CUBE as GIVEN
from .test_hand_over import GIVE
from .test_handling import CAN, lying
from .test_pour import BOWL, CUP
from .test_two_arms import FAR, NEAR, ROBOTS, Pair
from .test_wipe import AREA, SPONGE

STAYS = 0.005  # m
AT = (0.42, -0.25)  # m, where the bystander stands
BYSTANDERS = {
    "cube": Thing("bystander", shape="box", size=(0.05,) * 3, mass=0.1),
    "bottle": Thing("bystander", shape="cylinder", size=(0.05, 0.05, 0.16), mass=0.3),
    "vessel": Thing("bystander", shape="cylinder", size=(0.06, 0.06, 0.08), mass=0.1, extra={"grains": 3}),
    "plate on edge": Thing("bystander", shape="box", size=(0.05, 0.012, 0.05), mass=0.1),
}
UPPER = Thing("upper", shape="box", size=(0.045,) * 3, mass=0.1, position=(0.6, 0.3, 0.023))
LOWER = replace(UPPER, id="lower", position=(0.45, 0.35, 0.023))
WALLS = [replace(UPPER, id=id, position=(x, y, 0.023)) for id, x, y in (("wx", 0.648, 0.3), ("wy", 0.6, 0.348))]
FALLEN = lying(replace(CAN, position=(0.45, 0.2, 0.0)), 0.0, np.pi / 2, 0.0)
OPEN = {"status": "open"}
# operation → the things that it needs, furniture last, and its orders; what needs a full hand is refused as it stands
ORDERS: dict[str, list[tuple[tuple[Thing, ...], dict[str, Any]]]] = {
    "move_to": [((CAN,), {"target_pose": [0.5, 0.0, 0.3]}), ((CAN,), {"target_pose": [AT[0], AT[1] + 0.1, 0.03]})],
    "pick_up": [((CAN,), {"object_id": "can"})],
    "place": [((CAN,), {"target_position": [0.5, 0.0, 0.0]})],
    "place_beside": [((CAN,), {"target": "can", "side": "left", "distance": 0.1})],
    "push": [((CAN,), {"object_id": "can", "direction": "left", "distance": 0.08})],
    "nudge": [((UPPER, *WALLS), {"object_id": "upper"})],
    "upright": [((FALLEN,), {"object_id": "can"})],
    "stack": [((UPPER, LOWER), {"object_ids": ["lower", "upper"]})],
    "pour": [((CUP, replace(BOWL, position=(0.5, 0.0, 0.0255))), {"object_id": "cup", "target": "bowl"})],
    "hand_over": [((CAN,), {"to": "franka_002"})],
    "take_over": [((CAN,), {"object_id": "can"})],
    "wipe": [((SPONGE, AREA), {"object_id": "sponge", "target": "area"})],
    "open_fixture": [((DRAWER,), {"object_id": "drawer"}), ((CHEST,), {"object_id": "chest"})],
    "close_fixture": [((replace(DRAWER, **OPEN),), {"object_id": "drawer"}),
                      ((replace(CHEST, **OPEN),), {"object_id": "chest"})],
    "target_navigation": [((CAN,), {"target_label": "can"})],
    "real_execute": [((CAN,), {"nl_task": "push the can"})],
    "strategy": [((CAN,), {"name": "home"}), ((CAN,), {"name": "wave"}), ((CAN,), {"name": "open_gripper"}),
                 ((CAN,), {"name": "pick_and_place", "object_id": "can", "target_position": [0.55, 0.0, 0.0]}),
                 ((CAN,), {"steps": [{"op": "wave"}, {"op": "push", "object_id": "can", "direction": "left",
                                                      "distance": 0.05}]})],
}  # fmt: skip
TAKES = {"pick_up": "can"}  # what an operation is to end with in the hand
CASES = [(op, n) for op, orders in ORDERS.items() for n in range(len(orders))]


def interpreted(text: str, scene: Scene) -> list[Order]:
    return [Order("a", "franka_001", "push", {"object_id": "can", "direction": "left", "distance": 0.05})]


def straddle(hand: Any, kind: str, draw: random.Random) -> None:
    """Puts the open hand round the bystander, as a stop in the midst of a descent leaves it."""
    arm, thing = hand.body.arm, BYSTANDERS[kind]
    position, yaw = hand.rig.position("bystander"), draw.uniform(-0.7, 0.7)
    depth = min(thing.size[2] - 0.015, draw.uniform(0.005, 0.035))
    at = np.array([*position[:2], thing.size[2] - depth])
    narrow = min(thing.size[:2]) / 2
    opening = draw.uniform(narrow + 0.003, panda.STROKE)
    aside = draw.uniform(-1, 1) * (opening - narrow - 0.002)
    turned = rotations.hand_rotation(yaw)
    joints = arm.solver.solve(arm.ready, at + turned[:, 1] * aside, turned)
    assert joints is not None
    data = arm.simulation.data
    data.qpos[arm.view.joint_qpos], data.qpos[arm.view.finger_qpos] = joints, opening
    data.qvel[:] = 0.0
    at_thing = hand.rig.qpos["bystander"]
    data.qpos[at_thing + 3 : at_thing + 7] = [np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]
    arm.view.hold()
    arm.view.grip(opening)
    mujoco.mj_forward(arm.simulation.model, data)
    assert hand.rig.held() is None


class LeftHand:
    """One of two bodies, as `straddle` takes it."""

    def __init__(self, body: Any) -> None:
        self.body, self.rig = body, body.arm.rig


def judged(hand: Any, before: np.ndarray, holds: str | None = None) -> None:
    """By the positions of the simulation alone."""
    assert float(np.linalg.norm(hand.rig.position("bystander") - before)) < STAYS
    assert hand.rig.held() in (None, holds)


def room(thing: Thing, needed: tuple[Thing, ...]) -> Scene:
    pieces = [one for one in needed if one.shape in ("drawer", "chest", "region")]
    stands = replace(thing, position=(*AT, thing.size[2] / 2 + 0.0005))
    return Scene((RobotState("franka_001"),), (stands, *(one for one in needed if one not in pieces)), (TABLE, *pieces))


def test_a_push_leaves_what_the_hand_was_left_round(opened):
    hand = opened(replace(BYSTANDERS["cube"], position=(0.5, -0.1, 0.025)), replace(CAN, position=(0.5, 0.2, 0.0555)))
    assert hand.do("move_to", target_pose=[0.5, -0.1, 0.02]).ok
    before = hand.rig.position("bystander")
    done = hand.do("push", object_id="can", direction="left", distance=0.08)
    judged(hand, before)
    assert done.ok and "also_moved" not in done.evidence and done.evidence["withdrew_m"] > 0.02, done


def test_every_operation_of_the_profile_is_tried():
    assert set(ORDERS) == {op.name for op in OPERATIONS} >= set(HANDLING_ACTS)


@pytest.mark.slice(7)
@pytest.mark.parametrize("kind", BYSTANDERS)
@pytest.mark.parametrize(("op", "n"), CASES, ids=str)
def test_what_the_hand_was_left_round_stays_through_every_operation(opened, op, n, kind):
    needed, params = ORDERS[op][n]
    hand = opened(scene=room(BYSTANDERS[kind], needed), interpreter=interpreted)
    straddle(hand, kind, random.Random(f"{op} {n} {kind}"))
    before = hand.rig.position("bystander")
    found = hand.review(op, **params)
    done = hand.do(op, **params)
    judged(hand, before, TAKES.get(op))
    assert done.ok or done.code != "CRITIC_REFUSED" or not hand.body.arm.mover.moved, done
    if op not in ("place", "place_beside", "hand_over", "take_over", "target_navigation"):
        assert done.ok and not found, (found, done)


def test_fingers_that_are_ordered_to_close_say_what_they_hold(opened):
    hand = opened(scene=room(BYSTANDERS["cube"], ()))
    straddle(hand, "cube", random.Random(4))
    assert hand.do("strategy", name="close_gripper").ok
    (robot,) = hand.body.observe().robots
    assert hand.rig.held() == robot.holding == "bystander" and hand.seen("bystander").status == "held"


def test_no_way_takes_along_what_the_arm_is_in_contact_with_at_its_start(opened):
    hand = opened(scene=room(BYSTANDERS["cube"], ()))
    straddle(hand, "cube", random.Random(5))
    arm = hand.body.arm
    aside = arm.view.joints() + np.array([0.4, *[0.0] * 6])
    checker = arm.collision_checker(opening=0.0225)
    assert checker.hits(arm.view.joints()) and not checker.hits(aside)
    straight = plan_path(checker, arm.view.joints(), aside, search=False)
    assert straight is None or len(straight) > 2
    way = plan_path(checker, arm.view.joints(), aside)
    assert way is None or not checker.along(way, allowed=persisting(checker.hits(way[0])))


def test_a_hand_without_a_way_out_is_refused_before_anything_moves(opened):
    hand = opened(scene=room(BYSTANDERS["cube"], ()))
    straddle(hand, "cube", random.Random(6))
    arm, before = hand.body.arm, hand.rig.simulation.data.qpos.copy()
    arm.solver.line = lambda start, positions, rotation: 0
    found = hand.review("push", object_id="bystander", direction="left", distance=0.05)
    done = hand.do("push", object_id="bystander", direction="left", distance=0.05)
    assert [one.code for one in found] == [done.code] == ["CRITIC_REFUSED"] and "bystander" in found[0].found
    assert np.array_equal(before, hand.rig.simulation.data.qpos)


def test_what_fails_after_motion_is_no_refusal(opened, monkeypatch):
    hand = opened(scene=room(BYSTANDERS["cube"], (DRAWER,)))
    straddle(hand, "cube", random.Random(7))
    refused = collision_finding("nowhere", "")
    monkeypatch.setattr(fixtures, "plan", lambda arm, goal, job="": refused)
    before = hand.rig.position("bystander")
    done = hand.do("open_fixture", object_id="drawer")
    judged(hand, before)
    assert done.code == "PLAN_FAILED" == done.findings[0].code and done.evidence["withdrew_m"] > 0, done


@pytest.mark.slice(2)
@pytest.mark.parametrize("op", ["hand_over", "take_over"])
def test_one_of_two_arms_leaves_what_its_hand_was_left_round(op):
    things = (replace(BYSTANDERS["cube"], position=(0.55, -0.3, 0.0255)), GIVEN)
    pair = Pair(Scene(ROBOTS, things, (TABLE,)))
    giver, taker = pair.drivers[NEAR], pair.drivers[FAR]
    straddle(LeftHand(taker if op == "take_over" else giver), "cube", random.Random(op))
    before = pair.rig(NEAR).position("bystander")
    done = pair.together(GIVE)
    assert float(np.linalg.norm(pair.rig(NEAR).position("bystander") - before)) < STAYS
    assert all(one.ok for robot in done.values() for one in robot), done
    assert pair.rig(FAR).held() == "cube" and pair.rig(NEAR).held() is None


@pytest.mark.slice(2)
@pytest.mark.parametrize("op", ["pick_up", "push"])
def test_the_thing_itself_is_left_before_it_is_handled(opened, op):
    hand = opened(scene=room(BYSTANDERS["cube"], ()))
    straddle(hand, "cube", random.Random(3))
    params = {"direction": "left", "distance": 0.08} if op == "push" else {}
    highest: list[float] = []
    hand.body.arm.mover.watch_every = 10
    hand.body.arm.mover.watch = lambda: highest.append(float(hand.rig.position("bystander")[2]))
    done = hand.do(op, object_id="bystander", **params)
    assert done.ok and (op == "pick_up" or max(highest) < 0.03), done


def test_a_stopped_grasp_is_not_carried_off_by_the_next_push(opened):
    hand = opened(replace(BYSTANDERS["cube"], position=(0.5, -0.1, 0.0255)), replace(CAN, position=(0.5, 0.2, 0.0555)))
    mover, clock = hand.body.arm.mover, SystemClock()
    run = Run(clock, clock.monotonic() + 60)
    mover.watch_every = 1
    mover.watch = lambda: run.cancel.set() if hand.body.arm.view.tcp_pose()[0][2] < 0.035 else None
    assert hand.do("pick_up", run, object_id="bystander").code == "CANCELLED"
    mover.watch = None
    before = hand.rig.position("bystander")
    assert hand.rig.held() is None and hand.do("push", object_id="can", direction="left", distance=0.08).ok
    judged(hand, before)
