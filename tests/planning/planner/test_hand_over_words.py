"""Handing over: what is said in English and Chinese, to whom, and what the other robot is ordered to do meanwhile."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import replace

import pytest

from worldfs.base.errors import Busy
from worldfs.base.model import Cause, Operation, Outcome, Profile, RobotState
from worldfs.planning.planner import Planner, RefusedIntent, holds, interpret
from worldfs.planning.planner.goals import HandedGoal, HoldingGoal

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
