"""Handing over: what is said in English and Chinese, to whom, and what the other robot is ordered to do meanwhile."""

from __future__ import annotations

import contextlib
import math
import random
import threading
from dataclasses import replace

import pytest

from worldfs.base.errors import Busy
from worldfs.base.meeting_points import meeting_points
from worldfs.base.model import Cause, Operation, Outcome, Profile, Relation, RobotState, Thing
from worldfs.base.standard_operations import described, meaning
from worldfs.base.stop_signal import StopSignal
from worldfs.planning.planner import Planner, QuestionIntent, RefusedIntent, holds, interpret
from worldfs.planning.planner.goals import HandedGoal, HoldingGoal, InGoal
from worldfs.planning.planner.plan_executor import PlanExecutor

from .conftest import OPS, ROBOT

ABLE = (*OPS, "hand_over", "take_over")
PROFILE = Profile("Panda", ops=tuple(Operation(op) for op in ABLE))
OTHER = "franka_002"


@pytest.fixture
def room(scene):
    return replace(scene, robots=(*scene.robots, RobotState(OTHER, (0.9, 0.0, 0.0), {}, "open")))


@pytest.mark.parametrize(
    "said",
    ["hand the apple over to franka_002", "hand the apple to franka_002", "hand over the apple to franka_002",
     "give the apple to franka_002", "pick up the apple and hand it to franka_002",
     "could you pass the apple to franka_002?",
     "把苹果递给franka_002", "请把苹果交给 franka_002"],
)  # fmt: skip
def test_what_is_handed_over_to_whom(room, said):
    found = interpret(said, room, profile=PROFILE, robot_id=ROBOT)
    assert getattr(found, "goals", found) == (HoldingGoal("apple_01"), HandedGoal("apple_01", OTHER))
    taken = replace(room, robots=(room.robots[0], replace(room.robots[1], holding="apple_01")))
    assert holds(found.goals[1], taken) and not holds(found.goals[1], room)


@pytest.mark.parametrize(
    "said",
    ["hand the apple over to franka_009", "put the apple next to franka_002", "put the apple on franka_002",
     "hand the cubes over to franka_002", "hand the table over to franka_002", "do not hand the apple to franka_002"],
)  # fmt: skip
def test_what_cannot_be_handed_over_moves_nothing(room, said):
    assert isinstance(interpret(said, room, profile=PROFILE, robot_id=ROBOT), RefusedIntent)


def test_a_robot_that_cannot_hand_over_knows_no_other(room):
    plain = Profile("Panda", ops=tuple(Operation(op) for op in OPS))
    assert isinstance(interpret("hand the apple to franka_002", room, profile=plain, robot_id=ROBOT), RefusedIntent)


def test_both_robots_are_ordered_at_the_same_time(world, room):
    world.now_scene, world.ops = room, ABLE

    def obey(world, order):
        if order.op == "hand_over":
            robots = (room.robots[0], replace(room.robots[1], holding="apple_01"))
            world.now_scene = replace(world.now_scene, robots=robots)

    world.before = obey
    report = Planner(world).run("hand the apple over to franka_002")
    assert report.ok, report
    ordered = [(order.node, order.op, order.params) for order in world.log]
    assert ordered == [
        (ROBOT, "pick_up", {"object_id": "apple_01"}),
        (OTHER, "take_over", {"object_id": "apple_01"}),
        (ROBOT, "hand_over", {"to": OTHER}),
    ]


class Killed(BaseException):
    """The planner's process ends here: nothing of it runs any more."""


def handing(room, world):
    world.now_scene, world.ops = room, ABLE
    held = replace(room, robots=(replace(room.robots[0], holding="apple_01", gripper="holding"), room.robots[1]))
    world.now_scene = held

    def obey(world, order):
        if order.op == "hand_over":
            robots = (
                replace(held.robots[0], holding=None, gripper="open"),
                replace(room.robots[1], holding="apple_01"),
            )
            world.now_scene = replace(world.now_scene, robots=robots)

    world.before = obey
    return world


@pytest.mark.parametrize("error", [Busy("full", op="submit"), KeyboardInterrupt()])
def test_a_partner_whose_giver_s_order_is_not_accepted_is_called_off(world, room, monkeypatch, error):
    handing(room, world)
    submit = world.submit

    def refusing(order):
        if order.op == "hand_over":
            raise error
        return submit(order)

    monkeypatch.setattr(world, "submit", refusing)
    with contextlib.suppress(Busy):
        assert not Planner(world).run("hand the apple over to franka_002").ok
    assert world.cancelled[:1] == [world.log[0].id] and [order.op for order in world.log] == ["take_over"]


@pytest.mark.parametrize("after", ["take_over", "hand_over"])
def test_a_planner_that_dies_between_two_orders_hands_over_once_when_it_is_asked_again(world, room, monkeypatch, after):
    handing(room, world)
    submit, cancel = world.submit, world.cancel

    def dying(order):
        accepted = submit(order)
        if order.op == after:
            monkeypatch.setattr(world, "cancel", lambda job: None)
            raise Killed
        return accepted

    monkeypatch.setattr(world, "submit", dying)
    with pytest.raises(Killed):
        Planner(world).run("hand the apple over to franka_002")
    monkeypatch.setattr(world, "submit", submit)
    monkeypatch.setattr(world, "cancel", cancel)
    ordered = [order.op for order in world.log]
    if after == "hand_over":  # the kernel has both, and carries them out
        world.wait(world.log[-1].id, threading.Event())
    assert Planner(world).run("hand the apple over to franka_002").ok
    again = [order.op for order in world.log[len(ordered) :]]
    assert again == ([] if after == "hand_over" else ["take_over", "hand_over"])  # and nothing is picked up twice


def test_a_giver_that_has_failed_calls_its_partner_off_and_one_cancelled_ends_there(world, room):
    handing(room, world)
    world.before = None
    cancelled = Outcome.failure(Cause.CANCELLED, "CANCELLED", "cancelled")
    world.fail[("hand_over", "apple_01")] = [cancelled]
    report = Planner(world).run("hand the apple over to franka_002")
    taking, giving = world.log
    assert not report.ok and world.cancelled == [taking.id] and giving.op == "hand_over", report


# --- the limits of both ---

SAYINGS = ("hand the apple over to franka_002", "pick up the apple and hand it to franka_002", "把苹果递给franka_002")
LIMITS = {
    "payload": ({"max_payload": 0.1}, ("0.1 kg",)),
    "opening": ({"max_grip_width": 0.05}, ("0.05 m",)),
    "too small": ({"min_grip_width": 0.09}, ("90 mm",)),
    "reach": ({"max_reach": 0.5}, ("0.5 m",)),
    "bounds": ({"bounds": ((-2.0, 2.0), (-2.0, 2.0), (-0.8, 0.15))}, ("0.15",)),
    "bounds of the world": ({"bounds": ((-2.0, 0.2), (-2.0, 2.0)), "bounds_frame": "world"}, ("0.2",)),
    "operations": ({"ops": tuple(Operation(op) for op in OPS)}, ()),
    "a limit that is not read": ({"unread": ("Max Payload: about 3 kg",)}, ()),
}


def able(**limits):
    ops = tuple(replace(meaning(op) or described(op), sensors=()) for op in ABLE)
    return replace(Profile("Panda", ops=ops, max_reach=0.855, max_payload=3.0, max_grip_width=0.08), **limits)


@pytest.mark.parametrize("said", SAYINGS)
@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_of_the_receiver_refuses_the_whole_before_the_first_step_and_is_named(world, room, said, limit):
    changed, figures = LIMITS[limit]
    world.now_scene, world.ops = room, ABLE
    world.profiles = {ROBOT: able(), OTHER: able(**changed)}
    report = Planner(world).run(said)
    assert not report.ok and world.log == [], report
    assert OTHER in report.reason and all(figure in report.reason for figure in figures), report.reason
    assert all(order.node == OTHER for order in world.learned)


@pytest.mark.parametrize("said", SAYINGS)
@pytest.mark.parametrize("limit", [name for name in LIMITS if name != "operations"])
def test_so_does_a_limit_of_the_giver(world, room, said, limit):
    changed, figures = LIMITS[limit]
    world.now_scene, world.ops = room, ABLE
    world.profiles = {ROBOT: able(**changed), OTHER: able()}
    report = Planner(world).run(said)
    assert not report.ok and world.log == [], report
    assert ROBOT in report.reason and all(figure in report.reason for figure in figures), report.reason


@pytest.mark.parametrize("said", SAYINGS)
def test_a_receiver_whose_hand_is_full_or_whose_profile_cannot_be_read_is_no_receiver(world, room, said):
    world.now_scene, world.ops = room, ABLE
    world.profiles = {OTHER: None}
    report = Planner(world).run(said)
    assert not report.ok and world.log == [] and OTHER in report.reason, report
    world.profiles = {}
    full = replace(room.robots[1], holding="can_01", gripper="holding")
    world.now_scene = replace(room, robots=(room.robots[0], full))
    report = Planner(world).run(said)
    assert not report.ok and world.log == [] and OTHER in report.reason, report


@pytest.mark.parametrize("node", [ROBOT, OTHER])
def test_a_profile_that_lists_no_points_is_named_where_points_are_needed(world, room, node):
    world.now_scene, world.ops = room, ABLE
    low = {"bounds": ((-2.0, 2.0), (-2.0, 2.0), (-0.8, 0.45))}
    world.profiles = {ROBOT: able(**low), OTHER: able(**low)}
    ops = world.profiles[node].ops
    old = tuple(
        replace(op, parameters=op.parameters[:1]) if op.name in ("hand_over", "take_over") else op for op in ops
    )
    world.profiles[node] = able(**low, ops=old)
    report = Planner(world).run(SAYINGS[0])
    assert not report.ok and world.log == [] and f"{node} may not meet everywhere" in report.reason, report


def test_two_reaches_that_do_not_meet_are_said_of_both(world, room):
    far = replace(room, robots=(room.robots[0], RobotState(OTHER, (1.8, 0.0, 0.0), {}, "open")))
    world.now_scene, world.ops = far, ABLE
    world.profiles = {ROBOT: able(max_reach=5.0), OTHER: able(max_reach=0.855)}
    report = Planner(world).run(SAYINGS[0])
    assert not report.ok and world.log == [] and OTHER in report.reason and "0.855 m" in report.reason, report


def test_a_receiver_that_is_no_longer_seen_is_handed_nothing(world, room):
    handing(room, world)
    world.before = None
    alone = replace(world.now_scene, robots=world.now_scene.robots[:1])
    command = interpret(SAYINGS[0], world.now_scene, profile=PROFILE, robot_id=ROBOT)
    world.now_scene = alone
    report = PlanExecutor(world, command, StopSignal()).run(alone)
    assert not report.ok and world.log == [] and "where franka_002 stands is not known" in report.reason, report


@pytest.mark.parametrize("seed", range(40))
def test_the_points_of_any_two_workspaces_are_inside_both_or_nothing_is_ordered(world, room, seed):
    draw = random.Random(seed)
    other = (draw.uniform(0.5, 1.3), draw.uniform(-0.4, 0.4), draw.uniform(-0.1, 0.1))
    robots = (room.robots[0], RobotState(OTHER, other, {}, "open"))
    world.now_scene, world.ops = replace(room, robots=robots), ABLE

    def limits():
        box = [(draw.uniform(-2.0, 0.1), draw.uniform(0.5, 2.0)) for _ in "xy"] + [(-0.8, draw.uniform(0.2, 1.0))]
        return {"bounds": tuple(box), "bounds_frame": "world", "max_reach": draw.uniform(0.6, 1.2)}

    given = {id: limits() for id in (ROBOT, OTHER)}
    world.profiles = {id: able(**one) for id, one in given.items()}

    def fits(id, point):
        base, one = (0.0, 0.0, 0.0) if id == ROBOT else other, given[id]
        inside = all(low <= v <= high for v, (low, high) in zip(point, one["bounds"], strict=True))
        return inside and math.dist(point, base) <= one["max_reach"] + 1e-3

    Planner(world).run(SAYINGS[0])
    handing = [order for order in world.log if order.op in ("hand_over", "take_over")]
    every = list(meeting_points((0.0, 0.0, 0.0), other))
    possible = [point for point in every if all(fits(id, point) for id in given)]
    if not possible:
        assert world.log == []
        return
    for order in handing:
        for point in order.params.get("points", every):
            assert fits(ROBOT, point) and fits(OTHER, point), (order, point)
    if fits(ROBOT, (0.5, 0.1, 0.033)):
        assert len(handing) >= 2, world.lines
        assert handing[0].params.get("points") == handing[1].params.get("points")


TRAY = Thing("cart_1_tray", "tray of cart_1", "tray", (0.4, -0.4, 0.03), size=(0.44, 0.34, 0.05), shape="basket")


@pytest.fixture
def with_cart(scene):
    robots = (*scene.robots, RobotState("cart_1", (0.4, -0.4, -0.75)))
    return replace(scene, robots=robots, furniture=(*scene.furniture, TRAY))


@pytest.mark.parametrize(
    "said",
    ["put the can on cart_1", "put the can on the tray of cart_1", "bring the can to cart_1", "give the can to cart_1",
     "把罐子放到cart_1上"],
)  # fmt: skip
def test_what_a_carrier_is_given_lies_on_its_tray(with_cart, said):
    found = interpret(said, with_cart, profile=PROFILE, robot_id=ROBOT)
    assert getattr(found, "goals", found) == (InGoal("can_01", "cart_1_tray"),)


def test_what_is_on_a_carrier_is_on_its_tray(with_cart):
    relations = (*(r for r in with_cart.relations if r.subject != "can_01"), Relation("can_01", "in", "cart_1_tray"))
    loaded = replace(with_cart, relations=relations)
    for said, told in (("what is on cart_1?", ": can"), ("is the can on cart_1?", "yes, "), ("cart_1上有什么？", "罐")):
        found = interpret(said, loaded, profile=PROFILE, robot_id=ROBOT)
        assert isinstance(found, QuestionIntent) and told in found.answer, found


def test_a_robot_without_a_known_tray_is_given_things_by_hand(with_cart):
    bare = replace(with_cart, furniture=with_cart.furniture[:-1])
    found = interpret("put the can on cart_1", bare, profile=PROFILE, robot_id=ROBOT)
    assert isinstance(found, RefusedIntent) and "no tray of it is known" in found.reason
