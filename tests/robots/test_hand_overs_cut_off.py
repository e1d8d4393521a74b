"""A hand-over that is interrupted: both orders end with a reason, and one of the robots still holds the thing."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Cause, Outcome
from worldfs.robots.mujoco import hand_over
from worldfs.robots.mujoco.model_builder import TIMESTEP

from . import lies
from .test_hand_over import FAR, GIVE, NEAR, measured, pair_with

GIVEN, TAKEN = {NEAR: GIVE[NEAR][1:]}, {FAR: GIVE[FAR]}


class Cut:
    """Two arms of which the near one holds the cube, a `Run` for each, and what is to be seen of them."""

    def __init__(self) -> None:
        self.pair = pair_with()
        assert self.pair.run(NEAR, GIVE[NEAR][0])[0].ok
        clock = SystemClock()
        self.runs = {id: Run(clock, clock.monotonic() + 300) for id in (NEAR, FAR)}
        self.near, self.far = self.pair.rig(NEAR), self.pair.rig(FAR)
        self.lowest = np.inf

    def when(self, so, act):
        """`act` once, the first time that it is so, while both are at work."""
        done = []

        def look():
            self.lowest = min(self.lowest, float(self.near.position("cube")[2]))
            if not done and so():
                done.append(True)
                act()

        lies.always(SimpleNamespace(body=self.pair.drivers[FAR]), look, 10)

    def together(self):
        done = self.pair.together(GIVEN | TAKEN, self.runs)
        assert self.lowest > 0.1, measured(done)  # it was held all the while
        for (outcome,) in done.values():
            assert outcome.evidence["sim_seconds"] < hand_over.PATIENCE, measured(done)
        return done[NEAR][0], done[FAR][0]

    def both_hold(self):
        return self.near.fingers_on("cube") == 2 == self.far.fingers_on("cube")

    def coming(self):
        """The receiver is on its last straight piece."""
        apart = self.pair.drivers[FAR].arm.view.tcp_pose()[0] - self.far.position("cube")
        return float(np.linalg.norm(apart)) < 0.1


def broken():
    raise RuntimeError("its thread dies")


def test_a_giver_stopped_as_the_receiver_has_closed_keeps_it_and_the_receiver_lets_go():
    cut = Cut()
    cut.when(cut.both_hold, cut.runs[NEAR].cancel.set)
    given, taken = cut.together()
    assert (given.code, taken.code) == ("CANCELLED", "NOT_GIVEN"), taken
    assert cut.near.held() == "cube" and cut.far.fingers_on("cube") == 0
    assert taken.evidence["held_by"] == NEAR
    again = cut.pair.together(GIVEN | TAKEN)  # nothing is in the way of another try
    assert again[NEAR][0].ok and again[FAR][0].ok and cut.far.held() == "cube", measured(again)


def test_a_receiver_stopped_on_its_way_takes_nothing_and_the_giver_waits_no_longer():
    cut = Cut()
    cut.when(cut.coming, cut.runs[FAR].cancel.set)
    given, taken = cut.together()
    assert (given.code, taken.code) == ("NOT_TAKEN", "CANCELLED"), given
    assert cut.near.held() == "cube" and cut.far.fingers_on("cube") == 0


def test_a_giver_whose_thread_dies_keeps_it_and_the_receiver_does_not_wait_for_it(monkeypatch):
    cut = Cut()
    driver = cut.pair.drivers[NEAR]
    execute = driver.execute

    def dying(order, run):
        try:
            return execute(order, run)
        except RuntimeError as error:
            steps = driver.arm.mover.steps
            return Outcome.failure(Cause.LOST, "LOST", str(error), evidence={"sim_seconds": steps * TIMESTEP})

    monkeypatch.setattr(driver, "execute", dying)
    cut.when(cut.both_hold, lambda: setattr(driver.arm.mover, "stop", broken))
    given, taken = cut.together()
    assert (given.code, taken.code) == ("LOST", "NOT_GIVEN"), taken
    assert cut.near.held() == "cube" and cut.far.fingers_on("cube") == 0


@pytest.mark.proof
def test_a_giver_stopped_before_the_receiver_arrives_keeps_it_and_the_receiver_does_not_close():
    cut = Cut()
    cut.when(cut.coming, cut.runs[NEAR].cancel.set)
    given, taken = cut.together()
    assert (given.code, taken.code) == ("CANCELLED", "NOT_OFFERED"), taken
    assert cut.near.held() == "cube" and cut.far.fingers_on("cube") == 0


@pytest.mark.proof
def test_what_a_stopped_receiver_has_firmly_is_let_go_to_it_and_nothing_falls():
    cut = Cut()
    cut.when(cut.both_hold, cut.runs[FAR].cancel.set)
    given, taken = cut.together()
    assert taken.code == "CANCELLED" and cut.far.held() == "cube" and cut.near.fingers_on("cube") == 0
    assert given.ok and given.evidence["held_by"] == FAR, given


@pytest.mark.proof
def test_both_stopped_with_it_in_both_hands_hold_it_and_one_of_them_can_let_go():
    cut = Cut()
    cut.when(cut.both_hold, lambda: [run.cancel.set() for run in cut.runs.values()])
    given, taken = cut.together()
    assert given.code == taken.code == "CANCELLED" and cut.both_hold()
    assert cut.pair.run(FAR, ("strategy", {"name": "open_gripper"}))[0].ok
    assert cut.near.held() == "cube" and cut.far.fingers_on("cube") == 0
