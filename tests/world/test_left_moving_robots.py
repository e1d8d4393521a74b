"""A robot that may still move is named by every command until a driver of it has measured that it stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from worldfs.base.driver import PluginContext, Run, Standstill
from worldfs.base.json_values import as_objects
from worldfs.base.model import JobState, Operation, Order, Outcome, Parameter, RobotState, Scene
from worldfs.formats import config
from worldfs.formats.config import Config
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.testing.workspace_fixture import WorkspaceFixture, order
from worldfs.world.world import World

RIG, OTHER = "rig_1", "rig_2"


class Roller:
    """Of a package. It rolls on, whatever it is told, until a person brakes it by hand."""

    braked = False
    operations = (Operation("move_to", "go", (Parameter("target_pose", "[x,y,z]"),)),)

    def __init__(self, context: PluginContext) -> None:
        self.robot = context.robot_id

    def open(self, scene: Scene) -> None:
        return

    def observe(self) -> Scene:
        return Scene((RobotState(self.robot, (0.0, 0.0, 0.0)),))

    def review(self, asked: object) -> tuple[()]:
        return ()

    def execute(self, asked: Order, run: Run) -> Outcome:
        run.cancel.wait(PATIENCE_S)
        return Outcome.success("there")

    def stop(self) -> None:
        return

    def standstill(self, since: float) -> Standstill:
        return Standstill(self.braked, "0.3 m/s")

    def close(self) -> None:
        return


def settings(*robots: tuple[str, str], off: tuple[str, ...] = ()) -> Config:
    entries = [{"robotId": id, "driver": driver, "enabled": id not in off} for id, driver in robots]
    return config.read(json.dumps({"embodiments": {"instances": entries}}).encode())


class Bench:
    def __init__(self, path: Path) -> None:
        self.site = WorkspaceFixture(path / "w", (RIG, OTHER))
        self.roller = type("Braked", (Roller,), {})
        self.config = settings((RIG, "rig"))

    def up(self) -> World:
        drivers: dict[str, Callable[[PluginContext], object]] = {"rig": self.roller, "other": self.roller}
        drivers["simulation"] = lambda context: NullDriver()
        drivers["wheeled_carrier"] = drivers["simulation"]
        return World.open(
            self.site.root, config=self.config, clock=self.site.clock, serve=True, threads=True,
            drivers=drivers,  # type: ignore[arg-type]  # a package's body
        )  # fmt: skip

    def look(self) -> World:
        return World.open(self.site.root, config=self.config, clock=self.site.clock)

    def drive(self) -> None:
        """A kernel gives it an order and is killed."""
        with self.up() as world:
            world.submit(order("roll", RIG))
            until(lambda: (world.tick(), world.jobs.load("roll").status.state is JobState.RUNNING)[-1])
            world.abandon()

    def told(self) -> tuple[bool, list[object]]:
        """What `status` says of it: whether it may move, and the alerts of stops."""
        with self.look() as world:
            status = world.status()
        moves = [node["may_move"] for node in as_objects(status["nodes"]) if node["id"] == RIG]
        alerts = [one["field"] for one in as_objects(status["alerts"]) if str(one["field"]).startswith("stop ")]
        return moves == [True], alerts


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    yield Bench(tmp_path)


def test_status_says_so_before_while_and_after_each_start(bench: Bench) -> None:
    bench.drive()
    known = True, [f"stop {RIG}"]
    assert bench.told() == known
    for _ in range(2):
        with bench.up() as world:
            assert bench.told() == known, "the kernel has said nothing yet"
            world.tick()
            assert bench.told() == known
            world.abandon()
        assert bench.told() == known
    bench.roller.braked = True
    with bench.up() as world:
        until(lambda: (world.tick(), bench.site.clock.advance(0.1), bench.told() == (False, []))[-1])  # type: ignore[attr-defined,func-returns-value]
        assert world.kernel is not None and not world.stops.moving()
        world.abandon()
    assert bench.told() == (False, [])
