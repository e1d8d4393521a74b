"""A hand-over of two robots in a world that serves, killed, stopped or cancelled in the midst of it."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager

import pytest

from worldfs.base.model import Cause, Order, Outcome, RobotState, Scene, Thing
from worldfs.base.standard_operations import HAND_OVER, PICK_UP, TAKE_OVER
from worldfs.formats import environment
from worldfs.testing.kill_copy import copy_as_killed
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.world import World

GIVER, TAKER = "arm_1", "arm_2"
BASES = {GIVER: (0.0, 0.0, 0.0), TAKER: (0.9, 0.0, 0.0)}
APPLE = {"id": "apple_01", "name": "Red Apple", "category": "fruit", "position": [0.4, 0.0, 0.4], "size": [0.066] * 3}
SCENE = {
    "schema_version": "v2.0",
    "robots": [
        {"robot_id": GIVER, "pose": list(BASES[GIVER]), "gripper": "holding", "holding": "apple_01"},
        {"robot_id": TAKER, "pose": list(BASES[TAKER]), "gripper": "open", "holding": None},
    ],
    "objects": [APPLE],
}
TEXT = f"hand the apple over to {TAKER}"


class Table:
    """Where the apple is, what has been executed, and when both may end."""

    def __init__(self, holder=GIVER):
        self.holder, self.executed, self.go, self.taken = holder, [], threading.Event(), threading.Event()

    def take(self, robot_id):
        self.holder = robot_id
        self.taken.set()


class Body:
    """An arm whose half of a hand-over lasts until the test lets both end, or it is stopped."""

    operations = (PICK_UP, HAND_OVER, TAKE_OVER)

    def __init__(self, table, robot_id):
        self.table, self.robot_id = table, robot_id

    def open(self, scene):
        pass

    def observe(self):
        held = "apple_01" if self.table.holder == self.robot_id else None
        robot = RobotState(self.robot_id, BASES[self.robot_id], gripper="holding" if held else "open", holding=held)
        thing = Thing("apple_01", "Red Apple", "fruit", (0.4, 0.0, 0.4), size=(0.066,) * 3)
        return Scene((robot,), (thing,))

    def review(self, order):
        return ()

    def execute(self, order, run):
        self.table.executed.append(order.op)
        while not self.table.go.wait(0.01):
            if run.stop:
                return Outcome.failure(Cause(run.stop), "CANCELLED", "stopped")
        if order.op == TAKE_OVER.name:
            self.table.take(self.robot_id)
        else:
            assert self.table.taken.wait(PATIENCE_S)
        return Outcome.success("done")

    def close(self):
        pass


@contextmanager
def served(place, table):
    stop = threading.Event()
    drivers = {"simulation": lambda context: Body(table, context.robot_id)}
    with World.open(place, serve=True, drivers=drivers) as world:
        kernel = threading.Thread(target=world.run, kwargs={"stop": stop})
        kernel.start()
        try:
            yield world
        finally:
            stop.set()
            world.wake()
            kernel.join()


@pytest.fixture
def place(tmp_path):
    found = tmp_path / "here"
    found.mkdir()
    (found / "ENVIRONMENT.md").write_text(json.dumps(SCENE))
    return found


def missions(world):
    return json.loads(world.namespace("operator").read("/projects/main/missions.json").data)["missions"]


def ends(world, ids):
    return [world.jobs.load(id).status for id in ids]


def holder(world):
    scene = environment.read(world.content("ENVIRONMENT.md")).scene
    return next((robot.robot_id for robot in scene.robots if robot.holding == "apple_01"), None)


def test_killed_with_both_at_work_neither_is_called_done_or_moved_again(place, tmp_path):
    table = Table()
    with served(place, table) as world:
        world.submit(Order("take", TAKER, "take_over", {"object_id": "apple_01"}), "planner")
        world.submit(Order("give", GIVER, "hand_over", {"to": TAKER}), "planner")
        until(lambda: len(table.executed) == 2)
        copy_as_killed(place, tmp_path / "killed")
        table.go.set()
    after = Table()
    after.go.set()
    with served(tmp_path / "killed", after) as world:
        until(lambda: all(status.state.terminal for status in ends(world, ("take", "give"))))
        assert [status.outcome.cause for status in ends(world, ("take", "give"))] == [Cause.LOST, Cause.LOST]
        assert after.executed == [] and holder(world) == GIVER


@pytest.mark.slice(2, 1)
@pytest.mark.parametrize("held_by", [GIVER, TAKER])
def test_a_mission_killed_in_the_midst_is_reported_and_hands_nothing_over_twice(place, tmp_path, held_by):
    table = Table()
    with World.open(place) as world:
        world.namespace("operator").write("/projects/main/mission", json.dumps({"text": TEXT, "robot": GIVER}).encode())
    with served(place, table) as world:
        until(lambda: sorted(table.executed) == ["hand_over", "take_over"])
        copy_as_killed(place, tmp_path / "killed")
        table.go.set()
        until(lambda: missions(world)[0]["state"] == "succeeded")
        until(lambda: holder(world) == TAKER)
    after = Table(held_by)
    after.go.set()
    with served(tmp_path / "killed", after) as world:
        until(lambda: missions(world)[0]["state"] in ("failed", "succeeded"))
        (mission,) = missions(world)
        assert mission["state"] == "failed" and after.executed == [], mission
        until(lambda: holder(world) == held_by)


def test_a_mission_cancelled_in_the_midst_ends_both_orders(place):
    table = Table()
    with served(place, table) as world:
        operator = world.namespace("operator")
        operator.write("/projects/main/mission", json.dumps({"text": TEXT, "robot": GIVER}).encode())
        until(lambda: sorted(table.executed) == ["hand_over", "take_over"])
        (mission,) = missions(world)
        operator.write("/projects/main/mission", json.dumps({"mission": mission["id"], "request": "cancel"}).encode())
        until(lambda: missions(world)[0]["state"] == "cancelled")
        jobs = {*world.jobs.open_ids(), *world.jobs.done_ids()}  # the kernel may not have put them away yet
        assert [status.outcome.cause for status in ends(world, jobs)] == [Cause.CANCELLED] * 2
        assert holder(world) == GIVER and len(table.executed) == 2
