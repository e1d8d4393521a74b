"""What `status` says of a stopped robot whose kernel does not answer: never that it stands."""

from __future__ import annotations

import errno
import json
import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from worldfs.base.disk import Disk
from worldfs.base.errors import Busy, StorageError, WorldError
from worldfs.base.json_values import as_object, as_objects
from worldfs.base.messages import coded
from worldfs.base.model import Finding, JobState, JobStatus
from worldfs.formats import config
from worldfs.interfaces.cli.status_command import status_lines
from worldfs.runtime.alerts import Alerts
from worldfs.runtime.grace import BODY
from worldfs.runtime.stop_call import StopCall
from worldfs.runtime.stop_report import RobotStop, read_stop_file
from worldfs.storage.disk_store import DiskStore
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.workspace_fixture import WorkspaceFixture, order
from worldfs.world import kernel_assembly
from worldfs.world.world import World

ARM = "arm_1"


def test_a_stop_that_nothing_confirms_is_never_told_as_a_standstill(tmp_path: Path) -> None:
    site, clock = WorkspaceFixture(tmp_path / "w", (ARM,)), ManualClock()
    settings = config.read(config.template(ARM))
    with site.open(), World.open(site.root, config=settings, clock=clock) as world:  # a kernel that does nothing
        world.stops.stop([ARM], "operator")
        said = [str(text) for text, _ in status_lines(world.status())]
        assert any("stop sent, NOT confirmed" in text and "hardware stop" in text for text in said), said
        assert not any("confirmed;" in text for text in said)
        clock.advance(BODY.stop_s + 0.1)
        status = world.status()
        (alert,) = as_objects(status["alerts"])
        assert (alert["code"], alert["field"]) == ("STOP_UNCONFIRMED", f"stop {ARM}")
        (node,) = as_objects(status["nodes"])
        assert node["may_move"] is True
        world.stops.confirm({ARM: 1})
        status = world.status()
        assert not status["alerts"] and any(": confirmed;" in text for text, _ in status_lines(status))


def test_the_file_of_a_stop_says_why_nothing_confirms_it_as_the_kernel_knows_it(tmp_path: Path) -> None:
    site, why = WorkspaceFixture(tmp_path / "w", (ARM,)), coded("stop.no_measure")
    with site.open() as serving, World.open(site.root) as world:
        world.stops.stop([ARM], "operator")
        assert "another process" in str(world.robot_stops.state_value(ARM)["why"])
        said = coded("stop.unconfirmed", node=ARM, why=why)
        found = Finding("STOP_UNCONFIRMED", f"stop {ARM}", coded("stop.standing"), said, coded("stop.hardware"))
        alerts = Alerts(serving.store)
        alerts(f"stop {ARM}", found)
        alerts.publish()
        assert world.robot_stops.state_value(ARM)["why"] == why


@pytest.mark.parametrize("kernel", ["none", "without a driver"])
def test_a_stop_that_no_driver_was_told_is_not_delivered_by_any_word(tmp_path: Path, kernel: str) -> None:
    site, clock = WorkspaceFixture(tmp_path / "w", (ARM,)), ManualClock()
    settings = config.read(config.template(ARM).replace(b'"simulation"', b'"workspace"'))
    with ExitStack() as stack:
        world = stack.enter_context(World.open(site.root, config=settings, clock=clock))
        if kernel == "none":
            (robot,) = world.robot_stops.stop([ARM], "operator").robots
            assert "no kernel runs" in robot.why
        else:
            serving = stack.enter_context(site.open())
            world.stops.stop([ARM], "operator")
            robot = RobotStop(ARM, False, "it is not connected", told=False)
            alerts = Alerts(serving.store)
            field, expected = f"stop {ARM}", coded("stop.standing")
            alerts(field, Finding("STOP_UNCONFIRMED", field, expected, robot.text, coded("stop.hardware")))
            alerts.publish()
        known = {"stopped": True, "delivered": False, "confirmed": False}
        assert robot.as_json() == {"node": ARM, **known, "why": robot.why} and "stop NOT delivered" in robot.text
        value = world.robot_stops.state_value(ARM)
        assert {word: value[word] for word in known} == known
        assert read_stop_file(ARM, json.dumps(value).encode()).text == robot.text
        assert world.robot_stops.await_confirmed(ARM, 0.0).told is (kernel != "none")  # by the log alone

        clock.advance(BODY.stop_s + 0.1)
        status = world.status()
        (node,) = as_objects(status["nodes"])
        assert as_object(node["stopped"])["delivered"] is False
        said = [str(text) for text, _ in status_lines(status)]
        assert sum("stop NOT delivered" in text for text in said) == 3  # the robot's line, the list, the alert
        assert not any("stop sent" in text for text in said), said


def test_a_simulated_robot_without_a_kernel_stands_and_no_driver_was_told(tmp_path: Path) -> None:
    site = WorkspaceFixture(tmp_path / "w", (ARM,))
    with World.open(site.root, config=config.read(config.template(ARM))) as world:
        (robot,) = world.robot_stops.stop([ARM], "operator").robots
    known = {"stopped": True, "delivered": False, "confirmed": True}
    assert robot.as_json() == {"node": ARM, **known, "why": robot.why} and robot.why


def test_a_stop_that_was_delivered_is_not_called_otherwise_once_its_kernel_is_dead(tmp_path: Path) -> None:
    site = WorkspaceFixture(tmp_path / "w", (ARM,))
    settings = config.read(config.template(ARM).replace(b'"simulation"', b'"workspace"'))
    with World.open(site.root, config=settings) as world:
        world.stops.stop([ARM], "operator")
        with site.open() as serving:
            said = RobotStop(ARM, False, coded("stop.no_measure")).text
            alerts = Alerts(serving.store)
            alerts(f"stop {ARM}", Finding("STOP_UNCONFIRMED", f"stop {ARM}", "", said, ""))
            alerts.publish()
            serving.abandon()
        found = world.robot_stops.confirmed(ARM)
        assert found.told and "no kernel runs" in found.why


def test_a_standstill_that_was_measured_ends_with_the_kernel_that_measured_it(tmp_path: Path) -> None:
    """A vehicle's own controller, or a person, may move it: no kernel looks."""
    site = WorkspaceFixture(tmp_path / "w", (ARM,))
    settings = config.read(config.template(ARM).replace(b'"simulation"', b'"workspace"'))
    with World.open(site.root, config=settings) as world:
        world.stops.stop([ARM], "operator")
        with site.open():
            world.stops.confirm({ARM: 1})
            assert world.robot_stops.confirmed(ARM).confirmed
            assert world.robot_stops.state_value(ARM)["confirmed"] is True
            assert not world.robot_stops.confirmed(ARM, silent=True).confirmed
        assert not world.robot_stops.confirmed(ARM).confirmed
        value = world.robot_stops.state_value(ARM)
        assert value["confirmed"] is False and "no kernel runs" in str(value["why"])
        (node,) = as_objects(world.status()["nodes"])
        assert node["stopped"] == {"by": "operator", "at": value["at"], "delivered": True, "confirmed": False}


def test_what_a_kernel_keeps_until_it_is_stored_the_process_that_stopped_does_not_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A resume of that process would find it in force before it is in the log, and end nothing."""

    def refuse(store: DiskStore, key: str, data: bytes, *, durable: bool = True) -> None:
        raise StorageError("no space left", path=key)

    site = WorkspaceFixture(tmp_path / "w", (ARM,))
    monkeypatch.setattr(DiskStore, "append", refuse)
    with World.open(site.root) as world:
        with monkeypatch.context() as patched:
            patched.setattr(StopCall, "told", True)
            assert "no space left" in world.robot_stops.stop([ARM], "operator").unstored
        assert not world.stops.pending.all() and not world.stops.state(ARM).stopped
        assert "stops-aside" in world.robot_stops.stop([ARM], "operator").unstored
        assert world.stops.state(ARM).stopped


@pytest.mark.parametrize("driver", ["workspace", "simulation"])
def test_a_robot_whose_kernel_was_killed_at_work_may_still_move(tmp_path: Path, driver: str) -> None:
    """A simulated one stands as soon as its kernel ends; what it was to do is no more at work than the other's."""
    site = WorkspaceFixture(tmp_path / "w", (ARM,))
    settings = config.read(config.template(ARM).replace(b'"simulation"', f'"{driver}"'.encode()))
    with World.open(site.root, config=settings) as world:
        with site.open() as killed:
            killed.submit(order("step", ARM))
            killed.jobs.write_status("step", JobStatus(JobState.RUNNING, 1))
            (node,) = as_objects(world.status()["nodes"])
            assert node["may_move"] is False and node["state"] == "running step"
            killed.abandon()
        status, real = world.status(), driver == "workspace"
        (node,) = as_objects(status["nodes"])
        assert node["may_move"] is real
        assert [one["field"] for one in as_objects(status["alerts"])] == [f"stop {ARM}"] * real
        said = "\n".join(str(text) for text, _ in status_lines(status))
        assert "running when its robot was lost" in said
        assert ("was carrying out step when" in said) is real


class NoLock(Disk):
    """A disk that takes no lock, as one that was mounted read-only."""

    def __init__(self) -> None:
        super().__init__(self._refuse)

    def _refuse(self, name: str, path: str) -> None:
        if path.endswith("kernel.lock"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)


@pytest.mark.parametrize("driver", ["workspace", "simulation"])
def test_a_start_that_takes_no_lease_names_the_robots_that_may_still_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: str
) -> None:
    """Of those that stand as soon as their kernel ends no driver is made."""
    site = WorkspaceFixture(tmp_path / "w", (ARM,))
    settings = config.read(config.template(ARM).replace(b'"simulation"', f'"{driver}"'.encode()))
    with site.open() as killed:
        killed.submit(order("step", ARM))
        killed.jobs.write_status("step", JobStatus(JobState.RUNNING, 1))
        with pytest.raises(Busy) as busy:
            World.open(site.root, config=settings, serve=True)
        killed.abandon()
    assert not hasattr(busy.value, "__notes__"), "another kernel has its driver"
    if driver == "simulation":
        monkeypatch.setattr(kernel_assembly, "assemble_kernel", None)
    with pytest.raises(WorldError) as failed:
        World.open(site.root, config=settings, store=DiskStore(site.root, NoLock()), serve=True)
    notes = "".join(getattr(failed.value, "__notes__", ()))
    assert (ARM in notes and "May still move" in notes) if driver == "workspace" else not notes
