"""What `status` says of a stopped robot whose kernel does not answer: never that it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldfs.base.errors import StorageError
from worldfs.base.json_values import as_objects
from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.formats import config
from worldfs.interfaces.cli.status_command import status_lines
from worldfs.runtime.alerts import Alerts
from worldfs.runtime.grace import BODY
from worldfs.runtime.stop_call import StopCall
from worldfs.storage.disk_store import DiskStore
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.workspace_fixture import WorkspaceFixture
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
        assert node["stopped"] == {"by": "operator", "at": value["at"], "confirmed": False}


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
