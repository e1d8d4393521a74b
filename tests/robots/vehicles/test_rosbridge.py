"""A ROS 2 base through rosbridge: goals of Nav2, velocities behind the safety layer; no lie has succeeded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("websockets", reason="the extra rosbridge")
pytest.importorskip("numpy", reason="the extra rosbridge")

import numpy as np

from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext
from worldfs.base.model import Cause, Outcome, Target
from worldfs.robots.targets.real_target import adapter
from worldfs.robots.targets.target_adapter import TargetStopped
from worldfs.runtime.stop_log import StopLog
from worldfs.sessions import vehicle_body
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.check import check

from .conftest import ME, ended, lab, opened, page
from .rosbridge_peer import Ros

DOCK = ("target_navigation", {"target_label": "dock"})


def settings(ros: Ros, **more: Any) -> dict[str, Any]:
    return {"url": ros.url, "places": {"dock": [2.0, 1.0, 1.5]}} | more


def drive(root: Path, ros: Ros, *orders: Any, **more: Any) -> list[Outcome]:
    return ended(lab(root, settings(ros, **more), *(orders or (DOCK,)), driver="rosbridge"), "rosbridge")


@pytest.fixture
def running(tmp_path: Path) -> Any:
    """A world that works at one order in a thread of its own: the world, and a function that waits for the outcome."""
    made: list[Any] = []

    def start(config: dict[str, Any], *orders: Any) -> Any:
        world = opened(lab(tmp_path / "lab", config, *orders, driver="rosbridge"), "rosbridge")
        stop = threading.Event()
        thread = threading.Thread(target=lambda: world.run(stop=stop, until_idle=True))
        thread.start()
        made.append((world, stop, thread))

        def outcome() -> Outcome:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
            (found,) = [world.jobs.load(id).status.outcome for id in world.jobs.done_ids()]
            return found

        return world, outcome

    yield start
    for world, stop, thread in made:
        stop.set()
        thread.join(PATIENCE_S)
        world.close()


def test_a_goal_of_nav2_drives_it_to_the_place_and_odometry_says_where_it_is(tmp_path) -> None:
    with Ros() as ros:
        (outcome,) = drive(tmp_path / "lab", ros)
    assert outcome.ok, outcome
    assert (ros.x, ros.y, ros.yaw) == pytest.approx((2.0, 1.0, 1.5))
    assert outcome.evidence["distance_to_goal"] < 0.05  # its odometry, carried into the map
    (mine,) = page(tmp_path / "lab")["robots"]
    assert mine["robot_id"] == ME and mine["pose"][:2] == pytest.approx([2.0, 1.0], abs=0.05)
    assert mine["battery"] == 80.0
    assert len(ros.goals) == 1


@pytest.mark.proof
def test_a_robot_whose_clock_is_an_hour_off_drives_as_any_other(tmp_path) -> None:
    with Ros(clock_off_s=-3600.0) as ros:
        (outcome,) = drive(tmp_path / "lab", ros)
    assert outcome.ok, outcome


LIES = {
    "says it is there": "NOT_AT_GOAL",
    "never stands": "NOT_AT_GOAL",
    "echoes the goal": "VEHICLE_JUMPED",
    "says so with an error": "VEHICLE_FAULT",
    "gives up": "VEHICLE_FAULT",
    "is cancelled by another": "ORDER_ENDED",
    "refuses": "ORDER_REJECTED",
    "stops reporting": "VEHICLE_SILENT",
}


@pytest.mark.slice(6)
@pytest.mark.parametrize(("fault", "code"), LIES.items())
def test_no_robot_that_lies_or_breaks_has_succeeded(tmp_path, monkeypatch, fault, code) -> None:
    monkeypatch.setattr(vehicle_body, "SETTLE_S", 0.5)
    with Ros(fault, speed=6.0) as ros:
        stale_s = 1.0 if fault == "stops reporting" else 60.0
        far = {"places": {"dock": [20.0, 0.0, 0.0]}, "safety": {"stale_s": stale_s}}
        (outcome,) = drive(tmp_path / "lab", ros, **far)
        assert not outcome.ok and (outcome.cause, outcome.code) == (Cause.ERROR, code), outcome
        assert ros.ops("call_service")  # and it was stopped
    assert len(ros.goals) == 1


@pytest.mark.parametrize(("ros", "code"), [({"share": 0.05}, "BATTERY_LOW")])
def test_a_robot_without_charge_is_sent_nothing(tmp_path, ros, code) -> None:
    with Ros(**ros) as peer:
        (outcome,) = drive(tmp_path / "lab", peer)
    assert outcome.cause is Cause.REJECTED and [item.code for item in outcome.findings] == [code], outcome
    assert peer.goals == []


def test_a_robot_that_another_moves_is_sent_nothing(tmp_path) -> None:
    with Ros() as ros:
        ros.command = (0.1, 0.0, 0.0)
        (outcome,) = drive(tmp_path / "lab", ros)
    assert [item.code for item in outcome.findings] == ["VEHICLE_NOT_READY"] and ros.goals == []


def test_a_stop_cancels_the_goal(running) -> None:
    with Ros(speed=0.5) as ros:
        world, outcome = running(settings(ros, places={"dock": [30.0, 0.0, 0.0]}), DOCK)
        until(lambda: ros.moving and ros.x > 0.1)
        StopLog(world.store, world.clock).stop([ME], "operator")
        found = outcome()
        assert found.cause is Cause.CANCELLED, found
        assert not ros.moving and ros.x < 20


def test_a_connection_that_is_cut_ends_the_order_and_the_robot_is_stopped(running) -> None:
    with Ros(speed=0.5) as ros:
        _, outcome = running(settings(ros, places={"dock": [30.0, 0.0, 0.0]}), DOCK)
        until(lambda: ros.moving and ros.x > 0.1)
        ros.cut()
        found = outcome()
        assert (found.ok, found.code) == (False, "CONNECTION_LOST"), found
        until(lambda: not ros.moving)
    assert len(ros.goals) == 1


KERNEL = """
import sys, threading
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from worldfs.base.model import ApprovalPolicy
from worldfs.formats.config import Config, Instance
from worldfs.world.world import World
config = Config(approval={"": ApprovalPolicy.NEVER}, instances=(Instance("amr_001", "rosbridge"),))
with World.open(Path(sys.argv[1]), config=config, serve=True) as world:
    world.run(stop=threading.Event(), until_idle=True)
"""


@pytest.mark.slice(0)
@pytest.mark.parametrize("way", ["nav2", "velocity"])
def test_when_our_process_is_killed_the_second_one_stops_the_robot(tmp_path, way) -> None:
    with Ros(speed=0.5) as ros:
        root = lab(
            tmp_path / "lab", settings(ros, drive=way, places={"dock": [30.0, 0.0, 0.0]}), DOCK, driver="rosbridge"
        )
        source = str(Path(vehicle_body.__file__).parents[2])
        process = subprocess.Popen([sys.executable, "-c", KERNEL, str(root), source])
        until(lambda: ros.moving and ros.x > 0.1)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        until(lambda: not ros.moving)
        assert ros.x < 25
        (lost,) = ended(root, "rosbridge")
        assert (lost.ok, lost.cause) == (False, Cause.LOST)
        assert not ros.moving and len(ros.goals) == (way == "nav2")


# -- led by velocities -------------------------------------------------------------------------------------------------


def test_a_base_without_navigation_is_driven_by_velocities_within_its_limits(tmp_path) -> None:
    fast = {"safety": {"base_speed": {"vx": 0.8, "wz": 2.0}}}
    with Ros() as ros:
        (outcome,) = drive(tmp_path / "lab", ros, drive="velocity", places={"dock": [1.0, 1.0, 1.5]}, **fast)
        speeds = [item["msg"]["linear"]["x"] for item in ros.ops("publish")]
        assert outcome.ok, outcome
        assert (ros.x, ros.y) == pytest.approx((1.0, 1.0), abs=0.25) and ros.yaw == pytest.approx(1.5, abs=0.2)
        assert 0.3 < max(speeds) <= 0.8 and not ros.moving


def test_a_session_leads_the_base_behind_the_safety_layer(tmp_path) -> None:
    with Ros() as ros:
        config = settings(ros, safety={"workspace": {"low": [-1.0, -1.0], "high": [1.0, 1.0]}, "stale_s": 60.0})
        target = Target(ME, "real_robot", adapter="RealRobotTargetAdapter", driver="rosbridge", config=config)
        made = adapter(target, PluginContext(SystemClock()))
        made.open()
        try:
            made.reset()
            action = np.array([5.0, 0.0, 0.0])
            until(lambda: made.step(action, "base_velocity").clamped and ros.x > 0.05)
            assert max(item["msg"]["linear"]["x"] for item in ros.ops("publish")) <= 0.5
            made.stop()
            until(lambda: not any(ros.command))
            with pytest.raises(TargetStopped):
                made.step(action, "base_velocity")
        finally:
            made.close()


# -- what the user is told ---------------------------------------------------------------------------------------------


def test_check_names_what_is_missing(tmp_path, monkeypatch) -> None:
    with Ros() as ros:
        root = lab(tmp_path / "lab", settings(ros), driver="rosbridge")
        assert [item.found for item in check(root) if "TARGETS" in item.field] == []
        lab(root, settings(ros, drive="magic"), driver="rosbridge")
        assert [item.found for item in check(root) if "TARGETS" in item.field] == ["magic"]
        lab(root, settings(ros), driver="rosbridge")
    assert "no server answers" in json.dumps([item.found for item in check(root)])
    (silent,) = ended(lab(root, settings(ros), DOCK, driver="rosbridge"), "rosbridge")
    assert silent.findings[0].code == "MISSING" and "config.url" in silent.findings[0].field
