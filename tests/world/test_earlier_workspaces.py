"""A robot that may still move stays named when config.json names another workspace."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.driver import PluginContext, Run, Standstill
from worldfs.base.errors import NotPermitted, WorldError
from worldfs.base.model import JobState, Order, Outcome
from worldfs.interfaces.cli.main import main
from worldfs.runtime.stop_log import STOPS, StopLog
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.testing.workspace_fixture import order
from worldfs.world import earlier_workspaces
from worldfs.world.check import check
from worldfs.world.earlier_workspaces import RECORDS, UNREAD, EarlierWorkspaces
from worldfs.world.home import Home
from worldfs.world.home_world import open_home_world
from worldfs.world.onboard import onboard
from worldfs.world.world import World

RIG, OTHER = "franka_001", "franka_002"


class Roller(NullDriver):
    """Of a package. It rolls on, whatever it is told, until a person brakes it by hand."""

    braked = False

    def execute(self, order: Order, run: Run) -> Outcome:
        run.cancel.wait(PATIENCE_S)
        return Outcome.success("there")

    def standstill(self, since: float) -> Standstill:
        return Standstill(self.braked, "0.3 m/s")


class HomeBench:
    """A home whose fleet has a real robot, and whose config.json a person edits."""

    def __init__(self, path: Path) -> None:
        self.home, self.clock, self.roller = Home(path / "home"), ManualClock(), type("Rolls", (Roller,), {})
        onboard(self.home, fleet=True)
        self.edit(lambda said: said["instances"][0].update(driver="rig"))
        self.old = self.root

    @property
    def root(self) -> Path:
        return self.home.root(self.home.config({}))

    def edit(self, change: Callable[[Any], object]) -> None:
        said = json.loads(self.home.config_path.read_text())
        change(said["embodiments"])
        self.home.config_path.write_text(json.dumps(said))
        onboard(self.home, fleet=said["embodiments"].get("mode") == "fleet")

    def open(self, *, serve: bool = False) -> World:
        def make(context: PluginContext) -> NullDriver:
            return self.roller()

        drivers: Any = {"rig": make, "simulation": lambda context: NullDriver()}
        return open_home_world(
            self.root, self.home.config({}), agents=self.home.path / "agents", clock=self.clock, serve=serve,
            drivers=drivers,
        )  # fmt: skip

    def drive(self) -> None:
        """A kernel gives it an order and is killed."""
        with self.open(serve=True) as world:
            kernel = world.kernel
            assert kernel is not None
            until(lambda: (world.tick(), not kernel.nodes[RIG].opening)[-1])
            world.submit(order("roll", RIG))
            until(lambda: (world.tick(), world.jobs.load("roll").status.state is JobState.RUNNING)[-1])
            world.abandon()

    def named(self) -> list[str]:
        """The fields of the alerts of stops and of workspaces, each as often as `status` has it."""
        with self.open() as world:
            alerts: Any = world.status()["alerts"]
        return [one["field"] for one in alerts if one["code"] in ("STOP_UNCONFIRMED", UNREAD)]

    def run(self) -> None:
        """A kernel begins, sees what is there, and is killed."""
        with self.open(serve=True) as world:
            world.tick()
            world.abandon()

    def known(self) -> set[str]:
        """The workspaces that the home remembers."""
        files = (self.home.path / RECORDS).iterdir()
        return {json.loads(one.read_text())["workspace"] for one in files}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[HomeBench]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PhyAgentOS_approval", "never")
        made = HomeBench(tmp_path)
        made.edit(lambda said: None)
        config = json.loads(made.home.config_path.read_text())
        made.home.config_path.write_text(json.dumps({**config, "approval": "never"}))
        yield made


def shared_moved(said: Any) -> None:
    said["sharedWorkspace"] = "another"


def single(said: Any) -> None:
    said.update(mode="single", instances=[one for one in said["instances"] if one["robotId"] == OTHER])


CHANGES: dict[str, Callable[[Any], None]] = {
    "another folder": shared_moved,
    "another folder without it": lambda said: said.update(sharedWorkspace="another", instances=said["instances"][1:]),
    "another mode": single,
}
STOP = [f"stop {RIG}"]


@pytest.mark.parametrize("change", CHANGES)
def test_a_robot_of_the_workspace_before_is_named_by_every_command(bench: HomeBench, change: str) -> None:
    """Before the next kernel, while and after; until a person stops and resumes it."""
    bench.drive()
    bench.edit(CHANGES[change])
    assert bench.root != bench.old and bench.named() == STOP
    assert [one.field for one in check(bench.home) if one.code == "STOP_UNCONFIRMED"] == STOP
    for named in (None, RIG):
        with bench.open() as world:
            robot = {one.node: one for one in world.stop(named).robots}[RIG]
        assert not robot.confirmed and "rig" in robot.why and "roll" in robot.why
    named_by_a_kernel(bench)
    assert bench.named() == STOP and bench.known() == {str(bench.root)}
    with bench.open() as world:
        world.resume(RIG)
    assert not bench.named()
    bench.edit(lambda said: said.update(mode="fleet", sharedWorkspace=str(bench.old)))
    assert bench.root == bench.old and not bench.named()


ELSEWHERE: dict[str, Callable[[Any], None]] = {
    "a folder that is not there": lambda said: said["embodiments"].update(sharedWorkspace="nowhere", instances=[]),
    "a workspace that is not there": lambda said: said["embodiments"].update(mode="single", instances=[]),
    "an unreadable configuration": lambda said: said.update(embodiments=7),
}


@pytest.mark.parametrize("change", ELSEWHERE)
def test_a_robot_is_named_where_the_configuration_leads_nowhere(bench: HomeBench, change: str, capsys: Any) -> None:
    bench.drive()
    said = json.loads(bench.home.config_path.read_text())
    ELSEWHERE[change](said)
    bench.home.config_path.write_text(json.dumps(said))
    shutil.rmtree(bench.home.workspace, ignore_errors=True)
    paos = ["--home", str(bench.home.path)]
    assert [one.field for one in check(bench.home) if one.code == "STOP_UNCONFIRMED"] == STOP
    assert main([*paos, "status"]) != 0
    told = capsys.readouterr().err
    assert f"STOP_UNCONFIRMED · stop {RIG}" in told and "driver rig" in told and "roll" in told
    for named in ((), (RIG,)):
        assert main([*paos, "stop", *named]) == 1
        told = capsys.readouterr().out
        assert f"{RIG}: stop NOT delivered: driver rig was carrying out roll" in told and told.count(RIG) == 1
    stops = bench.old / STOPS
    shutil.rmtree(stops, ignore_errors=True)
    stops.write_text("no directory")
    assert [one.field for one in check(bench.home) if one.code == UNREAD] == [str(bench.old)]
    assert main([*paos, "status"]) != 0 and UNREAD in capsys.readouterr().err
    assert main([*paos, "stop"]) == 1 and f"{bench.old}: cannot be read" in capsys.readouterr().out


def named_by_a_kernel(bench: HomeBench) -> None:
    with bench.open(serve=True) as world:
        kernel = world.kernel
        assert kernel is not None
        until(lambda: (world.tick(), kernel.stopping.moving() == [RIG])[-1])
        assert bench.named() == STOP
        assert world.orchestration is not None
        world.orchestration.loop._page.wanted = True  # as in a fleet: before the first mission
        world.orchestration.loop.step()
        page = world.store.get("ORCHESTRATOR.md")
        assert page is not None
        assert f"| {RIG} " in page.data.decode() and "may still move" in page.data.decode()
        world.abandon()


@pytest.mark.parametrize("kernel", [True, False])
def test_who_goes_back_finds_it_named_once(bench: HomeBench, kernel: bool) -> None:
    before = json.loads(bench.home.config_path.read_text())["embodiments"]
    bench.drive()
    for _ in range(2):
        bench.edit(shared_moved)
        if kernel:
            bench.run()
        assert bench.named() == STOP
        bench.edit(lambda said: said.update(before))
        if kernel:
            bench.run()
        assert bench.root == bench.old and bench.named() == STOP
    with bench.open() as world:
        world.stop(RIG)
        world.resume(RIG)
    assert not bench.named()
    bench.edit(shared_moved)
    assert not bench.named()


def test_a_measurement_in_the_new_workspace_ends_it_in_both(bench: HomeBench) -> None:
    before = json.loads(bench.home.config_path.read_text())["embodiments"]
    bench.drive()
    bench.edit(shared_moved)
    assert bench.named() == STOP
    bench.roller.braked = True
    with bench.open(serve=True) as world:
        until(lambda: (world.tick(), bench.clock.advance(0.1), not world.stops.moving())[-1])  # type: ignore[func-returns-value]
        world.abandon()
    assert not bench.named()
    bench.edit(lambda said: said.update(before))
    assert not bench.named()


@pytest.mark.parametrize("stopped", [False, True])
def test_a_person_s_word_counts_before_the_next_kernel_and_an_agent_s_does_not(bench: HomeBench, stopped: bool) -> None:
    bench.drive()
    bench.edit(shared_moved)
    with bench.open() as world:
        if stopped:
            world.stop(RIG)
            with pytest.raises(NotPermitted):
                world.resume(RIG, name="agent:bob")
        assert bench.named() == STOP
        world.resume(RIG)
        assert bool(bench.named()) is not stopped  # a word is said of a robot that was stopped


def test_a_workspace_that_was_renamed_or_is_gone_is_named_once_or_forgotten(bench: HomeBench) -> None:
    bench.drive()
    bench.old.rename(bench.old.with_name("renamed"))
    bench.edit(lambda said: said.update(sharedWorkspace=str(bench.old.with_name("renamed"))))
    assert bench.named() == STOP
    bench.run()
    assert bench.named() == STOP and bench.known() == {str(bench.root)}
    shutil.rmtree(bench.root)
    bench.edit(shared_moved)
    assert not bench.named()
    bench.run()
    assert not bench.named() and bench.known() == {str(bench.root)}


def test_a_workspace_that_cannot_be_read_is_named(
    bench: HomeBench, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.drive()
    bench.edit(shared_moved)
    stops = bench.old / STOPS
    shutil.rmtree(stops, ignore_errors=True)
    stops.write_text("no directory")
    for _ in range(2):
        assert bench.named() == [str(bench.old)]
        assert [one.field for one in check(bench.home) if one.code == UNREAD] == [str(bench.old)]
        bench.run()
        assert bench.known() == {str(bench.old), str(bench.root)}
    stops.unlink()
    assert bench.named() == STOP
    over = threading.Event()
    monkeypatch.setattr(earlier_workspaces, "READ_S", 0.01)
    monkeypatch.setattr(EarlierWorkspaces, "_left", lambda self, path: over.wait(PATIENCE_S))  # a disk that hangs
    assert bench.named() == [str(bench.old)]
    assert main(["--home", str(bench.home.path), "stop"]) == 1
    assert f"{bench.old}: cannot be read" in capsys.readouterr().out
    over.set()


def test_a_stop_names_it_where_every_kernel_confirms_its_own(bench: HomeBench, capsys: Any) -> None:
    """The kernel of the old workspace died after the one of the new had begun."""
    bench.edit(shared_moved)
    bench.run()
    moved = bench.root
    bench.edit(lambda said: said.update(sharedWorkspace=str(bench.old)))
    bench.drive()
    bench.edit(lambda said: said.update(sharedWorkspace=str(moved), instances=said["instances"][1:]))
    assert main(["--home", str(bench.home.path), "stop"]) == 1
    assert f"{RIG}: stop NOT delivered" in capsys.readouterr().out


def test_a_word_that_the_old_workspace_does_not_take_is_an_error(
    bench: HomeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.drive()
    bench.edit(shared_moved)

    def refuse(self: StopLog, moves: object) -> None:
        raise WorldError("the disk is full")

    with bench.open() as world:
        world.stop()
        with monkeypatch.context() as patched:
            patched.setattr(StopLog, "end_moves", refuse)
            with pytest.raises(WorldError, match="the disk is full"):
                world.resume(OTHER), world.resume(RIG)
        assert not world.stops.state(OTHER).stopped
        world.stop(RIG)
        world.resume(RIG)
    assert not bench.named()


def test_a_kernel_that_serves_the_old_workspace_speaks_for_it(bench: HomeBench) -> None:
    bench.drive()
    before = bench.old / STOPS / f"{RIG}.jsonl"
    with bench.open(serve=True) as old:
        said = before.read_bytes()
        bench.edit(single)
        bench.run()
        assert before.read_bytes() == said and str(bench.old) in bench.known()
        old.abandon()
    assert bench.named() == STOP


def test_a_home_that_cannot_be_written_is_served(bench: HomeBench) -> None:
    (bench.home.path / RECORDS).parent.mkdir(exist_ok=True)
    (bench.home.path / RECORDS).write_text("no directory")
    bench.run()
    assert not bench.named()
