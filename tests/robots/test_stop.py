"""Told to stop, the arm stops where it is and says so with what it measured."""

from dataclasses import replace

import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.messages import render
from worldfs.base.model import Cause, Thing

from . import lies

CUBE = Thing("cube_01", position=(0.5, 0.1, 0.025))


class Ticking(SystemClock):
    """A clock that goes on by a second with every look."""

    def __init__(self):
        self.seconds = 0.0

    def monotonic(self):
        self.seconds += 1.0
        return self.seconds


def stands_still(hand):
    return float(np.abs(hand.rig.simulation.data.qvel[:7]).max()) < 0.05


def test_a_cancelled_motion_stops_midway_and_holds(opened):
    hand = opened(CUBE)
    clock = SystemClock()
    run = Run(clock, clock.monotonic() + 60)
    mover = hand.body.arm.mover
    mover.watch_every, mover.watch = 400, run.cancel.set
    done = hand.do("pick_up", run, object_id="cube_01")
    assert (done.ok, done.cause, done.code) == (False, Cause.CANCELLED, "CANCELLED")
    assert 400 <= done.evidence["steps"] < 700
    assert stands_still(hand)
    assert hand.seen("cube_01").status == "on_table"


def test_a_motion_past_its_deadline_stops(opened):
    hand = opened(CUBE)
    done = hand.do("pick_up", Run(Ticking(), deadline=60.0), object_id="cube_01")
    assert (done.cause, done.code) == (Cause.TIMEOUT, "EXECUTION_TIMEOUT")
    assert done.evidence["steps"] < 1500
    assert stands_still(hand)


def test_what_is_held_stays_held_when_stopped(opened):
    hand = opened(CUBE)
    assert hand.do("pick_up", object_id="cube_01").ok
    clock = SystemClock()
    run = Run(clock, clock.monotonic() + 60)
    run.cancel.set()
    assert hand.do("move_to", run, target_pose=[0.4, -0.2, 0.4]).cause is Cause.CANCELLED
    assert hand.rig.held() == "cube_01"


def test_it_goes_on_after_a_stop(opened):
    hand = opened(CUBE)
    assert hand.do("pick_up", Run(Ticking(), deadline=100.0), object_id="cube_01").cause is Cause.TIMEOUT
    assert hand.do("pick_up", object_id="cube_01").ok


@pytest.mark.parametrize("op", ["strategy"])
def test_a_sequence_stops_as_one(opened, op):
    hand = opened(CUBE)
    done = hand.do(op, Run(Ticking(), deadline=350.0), name="pick_and_place", object_id="cube_01", target="basket_01")
    assert done.cause is Cause.TIMEOUT
    assert hand.seen("cube_01").status != "in_basket"


LYING = Thing("rod_01", shape="cylinder", size=(0.04, 0.04, 0.16), mass=0.15, position=(0.45, 0.1, 0.0202),
              orientation=(0.7071, 0.0, 0.7071, 0.0))  # fmt: skip
CAN = Thing("can_01", shape="cylinder", size=(0.06, 0.06, 0.11), mass=0.15, position=(0.45, 0.1, 0.0552))
CAN_BESIDE = replace(CAN, id="beside_01", position=(0.5, 0.25, 0.0552))


@pytest.mark.parametrize(
    ("thing", "op", "params"),
    [
        (LYING, "upright", {"object_id": "rod_01"}),
        (CAN, "push", {"object_id": "can_01", "direction": "left", "distance": 0.2}),
        (CUBE, "pick_up", {"object_id": "cube_01"}),
    ],
)
def test_a_stopped_order_says_where_its_thing_is_by_then(opened, thing, op, params):
    hand = opened(thing)
    clock = SystemClock()
    run = Run(clock, clock.monotonic() + 60)
    mover, start = hand.body.arm.mover, hand.rig.position(thing.id)

    def moved():
        if np.linalg.norm(hand.rig.position(thing.id) - start) > 0.05:
            run.cancel.set()

    mover.watch_every, mover.watch = 20, moved
    done = hand.do(op, run, **params)
    assert done.code == "CANCELLED"
    at = hand.rig.position(thing.id)
    assert np.linalg.norm(at - start) > 0.05
    said = render(done.message, "en")
    assert f"{thing.id} is" in said and "[" + ", ".join(f"{round(float(v), 3):g}" for v in at) + "]" in said, said
    assert ("in the hand" in said) is (hand.rig.held() == thing.id)


def test_an_order_that_moved_another_thing_says_where_that_is(opened):
    hand = opened(CUBE, CAN_BESIDE)

    def knocked():
        if hand.rig.held() == "cube_01":
            mover.watch = None
            lies.put(hand.rig, "beside_01", (0.6, -0.2, 0.0552))

    mover = hand.body.arm.mover
    mover.watch_every, mover.watch = 20, knocked
    done = hand.do("pick_up", object_id="cube_01")
    assert done.code == "MOVED_OTHERS"
    said = render(done.message, "en")
    assert "beside_01 is at [0.6, -0.2, 0.055]" in said and "cube_01 is in the hand" in said, said
