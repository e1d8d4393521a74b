"""A thing in a robot's gripper: no other robot is sent for it, whatever its holder does meanwhile."""

from __future__ import annotations

import json
import threading

import pytest

from worldfs.base.model import Cause, JobState, Order, Outcome, RobotState, Scene, Thing
from worldfs.formats import environment
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import until
from worldfs.world.world import World

ARMS = ("arm_1", "arm_2", "arm_3")
CUBE = "cube_01"


class Table:
    """What is true. `go`: motions end; `sent`: (robot, op, holder of the cube) of each order."""

    def __init__(self):
        self.holder, self.sent, self.go = "arm_3", [], threading.Event()


class Arm(NullDriver):
    def __init__(self, robot, table):
        super().__init__()
        self.robot, self.table = robot, table

    def observe(self):
        mine = self.table.holder == self.robot
        cube = Thing(CUBE, "Red Cube", "block", (0.4, 0.0, 0.3 if self.table.holder else 0.02), size=(0.04,) * 3)
        hand = {"gripper": "holding", "holding": CUBE} if mine else {"gripper": "open"}
        return Scene((RobotState(self.robot, (0.0, 0.0, 0.0), **hand),), (cube,))

    def execute(self, order, run):
        self.table.sent.append((self.robot, order.op, self.table.holder))
        while not self.table.go.wait(0.01):
            if run.stop:
                return Outcome.failure(Cause(run.stop), "CANCELLED", "stopped")
        if order.op == "pick_up":
            if self.table.holder not in (None, self.robot):
                return Outcome.failure(Cause.ERROR, "DOUBLE", f"{self.table.holder} has it")
            self.table.holder = self.robot
        return Outcome.success("done")


@pytest.fixture
def site(tmp_path):
    robots = [{"robot_id": id, "pose": [0.0, 0.0, 0.0]} for id in ARMS]
    cube = {"id": CUBE, "name": "Red Cube", "category": "block", "position": [0.4, 0.0, 0.02], "size": [0.04] * 3}
    (tmp_path / "ENVIRONMENT.md").write_text(json.dumps({"robots": robots, "objects": [cube]}))
    return tmp_path


class Serving:
    def __init__(self, place, table):
        self.place, self.table, self.stop = place, table, threading.Event()

    def __enter__(self):
        drivers = {"simulation": lambda context: Arm(context.robot_id, self.table)}
        self.world = World.open(self.place, serve=True, drivers=drivers)
        self.thread = threading.Thread(target=self.world.run, kwargs={"stop": self.stop})
        self.thread.start()
        return self

    def __exit__(self, *raised):
        self.stop.set()
        self.world.wake()
        self.thread.join()
        self.world.close()

    def add(self, text, robot):
        before = {item["id"] for item in self.missions()}
        value = json.dumps({"text": text, "robot": robot}).encode()
        self.world.namespace("operator").write("/projects/main/mission", value)
        return next(item["id"] for item in self.missions() if item["id"] not in before)

    def missions(self):
        return json.loads(self.world.namespace("operator").read("/projects/main/missions.json").data)["missions"]

    def mission(self, id):
        return next(item for item in self.missions() if item["id"] == id)

    def waits(self, id):
        return self.mission(id).get("waits", "")


def test_no_arm_is_sent_for_a_thing_that_another_one_holds_and_does_other_work_with(site):
    table = Table()
    with Serving(site, table) as serving:
        wants = serving.add("pick up the red cube", "arm_1")
        until(lambda: f"{CUBE}: held by arm_3" in serving.waits(wants))
        for _ in range(2):
            other = serving.add("wave", "arm_3")
            until(lambda: table.sent and table.sent[-1][0] == "arm_3")
            assert CUBE in serving.waits(wants)
            table.go.set()
            until(lambda id=other: serving.mission(id)["state"] == "succeeded")
            table.go.clear()
            assert CUBE in serving.waits(wants)
        assert {robot for robot, *_ in table.sent} == {"arm_3"}
    table.go.clear()
    with Serving(site, table) as serving:  # another orchestrator knows it, too
        other = serving.add("wave", "arm_3")
        until(lambda: len(table.sent) == 3)
        until(lambda: CUBE in serving.waits(wants))
        assert {robot for robot, *_ in table.sent} == {"arm_3"}
        table.go.set()
        until(lambda: serving.mission(other)["state"] == "succeeded")
        table.holder = None  # it lets go of it, and is seen without it when its next order ends
        serving.add("wave", "arm_3")
        until(lambda: ("arm_1", "pick_up", None) in table.sent)
    assert all(holder in (None, robot) for robot, op, holder in table.sent if op == "pick_up")


class Mute(Arm):
    """It has no gripper state: what it holds it names while it `knows`, and says nothing otherwise."""

    knows = True

    def observe(self):
        mine = self.table.holder == self.robot and self.knows
        cube = Thing(CUBE, "Red Cube", "block", self.table.at, size=(0.04,) * 3)
        return Scene((RobotState(self.robot, (0.0, 0.0, 0.0), holding=CUBE if mine else None),), (cube,))

    def execute(self, order, run):
        self.table.holder = self.robot if order.op == "pick_up" else None
        self.table.at = (0.4, 0.0, 0.3) if order.op == "pick_up" else (0.3, 0.2, 0.02)
        return Outcome.success("done")


@pytest.mark.parametrize("restarted", [False, True])
def test_a_thing_that_was_put_down_is_held_no_more_by_a_body_that_does_not_say_so(site, restarted):
    table = Table()
    table.holder, table.at = None, (0.4, 0.0, 0.02)

    def ended(world, id, op, **params):
        world.submit(Order(id, "arm_1", op, {"object_id": CUBE, **params}))
        while not world.jobs.load(id).status.state.terminal:
            world.tick()
        assert world.jobs.load(id).status.state is JobState.SUCCEEDED, world.jobs.load(id).status.outcome
        return held(world)

    def held(world):
        data = world.namespace("operator").read("/projects/main/ENVIRONMENT.md").data
        return environment.read(data).scene.held("arm_1")

    def served(body=Mute):
        drivers = {"simulation": lambda context: body(context.robot_id, table)}
        return World.open(site, serve=True, drivers=drivers, threads=False)

    with served() as world:
        assert ended(world, "a1", "pick_up") == CUBE
        if not restarted:
            assert ended(world, "a2", "place", target_position=[0.3, 0.2, 0.02]) is None
    if restarted:
        with served(type("Forgetful", (Mute,), {"knows": False})) as world:
            assert held(world) == CUBE
            assert ended(world, "a2", "place", target_position=[0.3, 0.2, 0.02]) is None
