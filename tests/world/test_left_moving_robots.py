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
from worldfs.runtime.stop_report import RobotStop
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.testing.workspace_fixture import WorkspaceFixture, order
from worldfs.world.check import check
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
        drivers["simulation"] = drivers["wheeled_carrier"] = type("Stands", (Roller,), {"braked": True})
        return World.open(
            self.site.root, config=self.config, clock=self.site.clock, serve=True, threads=True,
            drivers=drivers,  # type: ignore[arg-type]  # a package's body
        )  # fmt: skip

    def look(self) -> World:
        return World.open(self.site.root, config=self.config, clock=self.site.clock)

    def drive(self) -> None:
        """A kernel gives it an order and is killed."""
        with self.up() as world:
            kernel = world.kernel
            assert kernel is not None
            until(lambda: (world.tick(), not kernel.nodes[RIG].opening)[-1])  # until then its orders ask for approval
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


Changed = Callable[[], Config]
CHANGES: dict[str, Changed] = {
    "disabled": lambda: settings((RIG, "rig"), off=(RIG,)),
    "a simulation": lambda: settings((RIG, "wheeled_carrier")),
    "removed": settings,
    "another": lambda: settings((OTHER, "simulation")),
    "disabled beside another": lambda: settings((RIG, "rig"), (OTHER, "simulation"), off=(RIG,)),
}


def stopped(world: World, node: str | None) -> dict[str, RobotStop]:
    return {robot.node: robot for robot in world.stop(node).robots}


@pytest.mark.parametrize("change", CHANGES)
def test_what_the_configuration_says_now_changes_nothing_of_it(bench: Bench, change: str) -> None:
    """Every command names the robot and the driver that had its order, before the next kernel, while and after."""
    bench.drive()
    bench.config = CHANGES[change]()
    known = True, [f"stop {RIG}"]
    for kernel in (False, True, False):
        with bench.up() if kernel else bench.look() as world:
            if kernel:
                until(lambda: (world.tick(), not world.jobs.open_ids())[-1])
                assert world.jobs.load("roll").status.outcome is not None
            assert bench.told() == known
            for named in (None, RIG):
                robot = stopped(world, named)[RIG]
                assert (robot.confirmed, robot.told) == (False, False)
                assert "rig" in robot.why and "roll" in robot.why and "hardware stop" in robot.text
            alert = next(one for one in as_objects(world.status()["alerts"]) if one["field"] == f"stop {RIG}")
            assert "driver rig" in str(alert["found"]) and "hardware stop" in str(alert["fix"])
            assert [one.code for one in check(bench.site.root) if one.field == f"stop {RIG}"] == ["STOP_UNCONFIRMED"]
            world.abandon()
    with bench.look() as world:
        world.resume(RIG)
        assert not world.stops.moving()
    moves, alerts = bench.told()
    assert not moves and not alerts


@pytest.mark.parametrize("change", ["removed", "a simulation"])
def test_a_person_s_word_counts_before_the_next_kernel(bench: Bench, change: str) -> None:
    bench.drive()
    bench.config = CHANGES[change]()
    with bench.look() as world:
        world.stop(RIG)
        world.resume(RIG)
        assert not world.robot_stops.left()
    with bench.up() as world:
        world.tick()
        assert world.kernel is not None and f"stop {RIG}" not in world.kernel.alert.now()
        world.abandon()
    assert bench.told()[1] == []


@pytest.mark.parametrize("driver", ["other", "rig"])
def test_a_real_driver_of_that_robot_ends_it_by_its_measurement(bench: Bench, driver: str) -> None:
    bench.drive()
    bench.config = settings()
    with bench.up() as world:
        world.abandon()
    bench.config, bench.roller.braked = settings((RIG, driver)), True
    with bench.up() as world:
        until(lambda: (world.tick(), bench.site.clock.advance(0.1), bench.told() == (False, []))[-1])  # type: ignore[attr-defined,func-returns-value]
        world.abandon()
    assert bench.told() == (False, [])


def test_an_order_of_a_simulation_leaves_nothing_that_moves(bench: Bench) -> None:
    bench.config = settings((RIG, "simulation"))
    bench.drive()
    for now in (settings((RIG, "simulation")), settings((RIG, "rig")), settings()):
        bench.config = now
        assert bench.told() == (False, [])
    with bench.up() as world:
        world.tick()
        assert world.kernel is not None and not world.kernel.stopping.left() and not world.stops.moving()
        world.abandon()


@pytest.mark.parametrize("change", ["disabled", "removed"])
def test_a_robot_that_is_disabled_while_it_drives_is_listed_until_it_is_measured_to_stand(
    bench: Bench, change: str
) -> None:
    with bench.up() as world:
        kernel = world.kernel
        assert kernel is not None
        until(lambda: (world.tick(), not kernel.nodes[RIG].opening)[-1])
        world.submit(order("roll", RIG))
        until(lambda: (world.tick(), world.jobs.load("roll").status.state is JobState.RUNNING)[-1])
        bench.config = CHANGES[change]()

        def node() -> dict[str, object]:
            with bench.look() as other:
                return next((one for one in as_objects(other.status()["nodes"]) if one["id"] == RIG), {})

        assert (node()["driver"], node()["state"]) == ("rig", "running roll")
        world.cancel("roll")
        tick = lambda: (world.tick(), bench.site.clock.advance(0.1))  # type: ignore[attr-defined,func-returns-value]  # noqa: E731
        until(lambda: (tick(), world.jobs.load("roll").status.state.terminal)[-1])
        until(lambda: (tick(), node().get("may_move") is True)[-1])
        bench.roller.braked = True
        until(lambda: (tick(), node().get("may_move") is not True)[-1])
        assert (node().get("state") == "off") is (change == "disabled")
        world.abandon()
    assert (node() == {}) is (change == "disabled")  # without instances ENVIRONMENT.md names the robots
