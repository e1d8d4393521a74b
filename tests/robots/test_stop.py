"""Told to stop, the arm stops where it is and says so with what it measured."""

import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Cause, Thing

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
