"""What a vehicle's report says beside "I do not drive" is heeded before it counts as a standstill."""

from __future__ import annotations

import math
import threading
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("numpy", reason="the extra rosbridge")

from worldfs.base.driver import PluginContext, Run, Standstill
from worldfs.base.driver_memory import DriverMemory
from worldfs.base.model import Target
from worldfs.robots.vehicles.rosbridge import rosbridge_settings, rosbridge_vehicle
from worldfs.robots.vehicles.rosbridge.ros_state import RosState
from worldfs.robots.vehicles.vda5050 import vda5050_settings, vda5050_vehicle
from worldfs.robots.vehicles.vehicle_interface import DriveGoal
from worldfs.sessions import vehicle_body
from worldfs.testing.manual_clock import ManualClock

from .conftest import ME, settings


def connected(clock: ManualClock) -> vda5050_vehicle.Vda5050Vehicle:
    target = Target(ME, "real_robot", driver="vda5050", config=settings(1883))
    made = vda5050_vehicle.Vda5050Vehicle(target, PluginContext(clock), vda5050_settings.read_settings(target))
    made._link._up.set()
    made._online = "ONLINE"
    return made


def agv(state: dict[str, Any], *, up: bool = True, online: str = "ONLINE") -> bool:
    clock = ManualClock()
    target = Target(ME, "real_robot", driver="vda5050", config=settings(1883))
    made = vda5050_vehicle.Vda5050Vehicle(target, PluginContext(clock), vda5050_settings.read_settings(target))
    if up:
        made._link._up.set()
    made._online = online
    made._state, made._state_at = {"driving": False, **state}, clock.monotonic()
    return made.standstill(clock.monotonic() - 1).stands


def test_a_vehicle_that_says_that_it_stands_is_believed() -> None:
    assert agv({}) and agv({"velocity": {}}) and agv({"velocity": {"vx": 0.0, "vy": 0, "omega": 0.0}})
    assert agv({"safetyState": {"eStop": "MANUAL"}, "paused": True})


@pytest.mark.parametrize("speed", [0.5, -0.5, math.nan, math.inf, None, "0", True, [0.0]])
@pytest.mark.parametrize("name", ["vx", "vy", "omega"])
def test_a_vehicle_whose_speed_says_otherwise_is_not(name: str, speed: object) -> None:
    assert not agv({"velocity": {name: speed}})


@pytest.mark.parametrize("state", [{"driving": None}, {"driving": 0}, {"velocity": None}, {"velocity": [0.0]}])
def test_a_report_of_another_shape_is_none(state: dict[str, Any]) -> None:
    assert not agv(state)


def test_nothing_is_known_of_a_vehicle_that_is_cut_off() -> None:
    assert not agv({}, up=False) and not agv({}, online="CONNECTIONBROKEN")


@pytest.mark.parametrize(
    ("up", "guard", "age"), [(True, True, 0.0), (False, True, 0), (True, False, 0), (True, True, 50)]
)
def test_a_navigated_robot_stands_by_a_report_of_now_alone(monkeypatch: Any, up: bool, guard: bool, age: float) -> None:
    clock = ManualClock()
    target = Target(ME, "real_robot", driver="rosbridge", config={"url": "ws://127.0.0.1:9090"})
    made = rosbridge_vehicle.Nav2Vehicle(target, PluginContext(clock), rosbridge_settings.read_settings(target))
    monkeypatch.setattr(type(made._client), "up", up)
    made._guard = type("Guard", (), {"alive": guard})()
    since = clock.monotonic()
    for number in range(3):
        clock.advance(0.3)
        pose = {"position": {"x": 1.0, "y": 0.0}, "orientation": {"z": 0.0, "w": 1.0}}
        zero = {"linear": {"x": 0.0, "y": 0.0}, "angular": {"z": 0.0}}
        told = {"header": {"stamp": {"sec": 100 + number}}, "pose": {"pose": pose}, "twist": {"twist": zero}}
        assert made._state.hear(made._own.odometry, told)
    clock.advance(age)
    assert made.standstill(since).stands is (up and guard and not age)


def state(number: int, x: float, *, driving: bool = False) -> dict[str, Any]:
    return {
        "headerId": number, "timestamp": f"2026-11-29T08:00:{number:02d}.00Z", "driving": driving,
        "agvPosition": {"x": x, "y": 0.0, "theta": 0.0, "mapId": "hall", "positionInitialized": True},
    }  # fmt: skip


@pytest.mark.parametrize(("places", "expected"), [((1.0, 1.0), True), ((1.0, 1.01), True), ((1.0, 1.4), False)])
def test_a_vehicle_that_does_not_drive_and_is_elsewhere_each_time_does_not_stand(
    places: tuple[float, float], expected: bool
) -> None:
    clock = ManualClock()
    made = connected(clock)
    for number, x in enumerate(places, 1):
        clock.advance(1.0)
        made._hear_state(state(number, x))
    assert made.standstill(clock.monotonic() - 0.5).stands is expected
    for number in (3, 4):  # a correction of where it is passes
        clock.advance(1.0)
        made._hear_state(state(number, places[-1]))
    assert made.standstill(clock.monotonic() - 0.5).stands


@pytest.mark.parametrize("taken", [True, False])  # it is heard once more, or is cut off before
def test_a_vehicle_that_was_driving_while_it_was_cut_off_stands_soon_where_it_has_come_to(
    monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    clock = ManualClock()
    made = connected(clock)
    monkeypatch.setattr(made, "_send", lambda *about: None)
    for number in (1, 2):
        clock.advance(1.0)
        made._hear_state(state(number, 1.0))
    made.begin("order", DriveGoal(6.0, 0.0), lambda points: False)
    if taken:
        made._hear_state(state(3, 1.0) | {"nodeStates": [{"nodeId": "goal"}]})
    clock.advance(2.0)
    since = clock.monotonic()
    for number in (4, 5):
        clock.advance(0.3)
        made._hear_state(state(number, 6.0))
        assert not made.standstill(since).stands
    clock.advance(0.3)
    made._hear_state(state(6, 6.0))
    assert made.standstill(since).stands


@pytest.mark.parametrize(("step", "expected"), [(0.0, True), (0.001, True), (0.05, False)])
def test_an_odometry_that_travels_denies_a_twist_of_zero(step: float, expected: bool) -> None:
    clock = ManualClock()
    target = Target(ME, "real_robot", driver="rosbridge", config={"url": "ws://127.0.0.1:9090"})
    heard = RosState(clock, rosbridge_settings.read_settings(target), DriverMemory())
    for number in range(10):
        clock.advance(0.1)
        pose = {"position": {"x": step * number, "y": 0.0}, "orientation": {"z": 0.0, "w": 1.0}}
        zero = {"linear": {"x": 0.0, "y": 0.0}, "angular": {"z": 0.0}}
        stamp = {"sec": 100, "nanosec": number * 100_000_000}
        told = {"header": {"stamp": stamp}, "pose": {"pose": pose}, "twist": {"twist": zero}}
        assert heard.hear(heard._settings.odometry, told)
    assert heard.still is expected


@pytest.mark.parametrize("x", [1e300, -1e7, float("inf")])
def test_an_odometry_from_where_no_base_can_be_is_none(x: float) -> None:
    target = Target(ME, "real_robot", driver="rosbridge", config={"url": "ws://127.0.0.1:9090"})
    heard = RosState(ManualClock(), rosbridge_settings.read_settings(target), DriverMemory())
    pose = {"position": {"x": x, "y": 0.0}, "orientation": {"z": 0.0, "w": 1.0}}
    zero = {"linear": {"x": 0.0, "y": 0.0}, "angular": {"z": 0.0}}
    assert not heard.hear(heard._settings.odometry, {"pose": {"pose": pose}, "twist": {"twist": zero}})
    assert not heard.still


class Halted:
    """A vehicle whose order ends early: whether the stop reaches it, and whether it says that it stands."""

    def __init__(self, *, hears: bool, stands: bool) -> None:
        self.hears, self.stands, self.changed = hears, stands, threading.Event()

    def halt(self) -> None:
        if not self.hears:
            raise ConnectionError("cut off")

    def standstill(self, since: float) -> Standstill:
        return Standstill(self.stands)


@pytest.mark.parametrize("by_stop", [False, True], ids=["its order ends", "it is stopped"])
@pytest.mark.parametrize(
    ("hears", "stands", "said"),
    [(True, True, "was stopped"), (True, False, "was told to stop"), (False, False, "was not reached")],
)
def test_only_a_vehicle_that_says_so_was_stopped(
    monkeypatch: pytest.MonkeyPatch, hears: bool, stands: bool, said: str, by_stop: bool
) -> None:
    monkeypatch.setattr(vehicle_body, "CONFIRM_S", 0.0)
    clock, vehicle = ManualClock(), Halted(hears=hears, stands=stands)
    body = vehicle_body.VehicleBody(Target(ME, "real_robot", driver="vda5050"), PluginContext(clock), clock)
    body._vehicle = vehicle  # type: ignore[assignment]  # what of it is called
    run = Run(clock, math.inf)
    if by_stop:
        with suppress(ConnectionError):
            body.stop()
    else:
        run.cancel.set()
    drive = SimpleNamespace(vehicle=vehicle, told=lambda outcome: outcome)
    outcome = body._drive(drive, run)  # type: ignore[arg-type]
    words = ("was stopped", "was told to stop", "was not reached")
    assert [word for word in words if word in outcome.message] == [said]
    assert outcome.evidence["stop_confirmed"] is stands
