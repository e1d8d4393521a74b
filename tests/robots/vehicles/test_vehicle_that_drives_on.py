"""A vehicle that says that it stands, and drives: no stop of it is confirmed against the positions that it reports."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

pytest.importorskip("numpy", reason="the extra rosbridge")
pytest.importorskip("paho.mqtt.client", reason="the extra vda5050")

from worldfs.base.driver import PluginContext
from worldfs.base.driver_memory import DriverMemory
from worldfs.base.model import Target
from worldfs.robots.vehicles.rosbridge import rosbridge_settings, rosbridge_vehicle
from worldfs.robots.vehicles.vda5050 import vda5050_settings, vda5050_vehicle
from worldfs.robots.vehicles.vda5050.mqtt_link import MqttMessage
from worldfs.runtime.grace import CONFIRM_S
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import until

from .conftest import ME, settings
from .test_silent_vehicle import fleet_of

Place = tuple[float, float, float]
Motion = Callable[[float], Place]  # by the seconds since the stop


class Reporter:
    """A vehicle of VDA 5050 after a stop at 0 s: what it says is given, and what is said of it is asked."""

    def __init__(self, memory: DriverMemory | None = None) -> None:
        self.clock, self.number = ManualClock(), 0
        target = Target(ME, "real_robot", driver="vda5050", config=settings(1883))
        own = vda5050_settings.read_settings(target)
        self.vehicle = vda5050_vehicle.Vda5050Vehicle(
            target, PluginContext(self.clock, memory=memory or DriverMemory()), own
        )
        self.vehicle._link._up.set()
        self.asked: list[str] = []
        self.vehicle._link.publish = lambda topic, payload: self.asked.append(topic)  # type: ignore[method-assign]
        self.start = self.clock.monotonic()

    @property
    def stands(self) -> bool:
        return self.vehicle.standstill(self.start).stands

    def says(self, after_s: float, kind: str = "state", **told: Any) -> None:
        self.clock.advance(after_s)
        self.number += 1
        stamp = self.clock.now().isoformat().replace("+00:00", "Z")
        stood = {"driving": False, "velocity": {"vx": 0.0, "vy": 0.0, "omega": 0.0}} if kind == "state" else {}
        message = {"headerId": self.number, "timestamp": stamp, **stood, **told}
        payload = json.dumps(message).encode()
        self.vehicle._received(MqttMessage(f"uagv/v2/acme/amr-7/{kind}", payload, False))


class Base:
    """The same of a robot with Nav2."""

    def __init__(self, memory: DriverMemory | None = None, *, stamps: bool = True) -> None:
        self.clock, self.number, self.stamps = ManualClock(), 0, stamps
        target = Target(ME, "real_robot", driver="rosbridge", config={"url": "ws://127.0.0.1:9090"})
        own = rosbridge_settings.read_settings(target)
        self.vehicle = rosbridge_vehicle.Nav2Vehicle(
            target, PluginContext(self.clock, memory=memory or DriverMemory()), own
        )
        self.vehicle._client._connection = object()  # type: ignore[assignment]  # it is up
        self.start = self.clock.monotonic()

    @property
    def stands(self) -> bool:
        return self.vehicle.standstill(self.start).stands

    def says(self, after_s: float, place: dict[str, Any], speed: float = 0.0) -> None:
        self.clock.advance(after_s)
        now = self.clock.monotonic() if self.stamps else 0.0
        stamp = {"sec": int(now), "nanosec": int(now % 1 * 1e9)}
        zero = {"linear": {"x": speed, "y": 0.0}, "angular": {"z": 0.0}}
        told = {"header": {"stamp": stamp}, "pose": {"pose": place}, "twist": {"twist": zero}}
        self.vehicle._hear({"op": "publish", "topic": self.vehicle._own.odometry, "msg": told})


def posed(place: Place) -> dict[str, Any]:
    x, y, yaw = place
    turn = {"x": 0.0, "y": 0.0, "z": math.sin(yaw / 2), "w": math.cos(yaw / 2)}
    return {"position": {"x": x, "y": y, "z": 0.0}, "orientation": turn}


def agv(place: Place, map: str = "hall") -> dict[str, Any]:
    x, y, theta = place
    return {"agvPosition": {"x": x, "y": y, "theta": theta, "mapId": map, "positionInitialized": True}}


def straight(speed: float, heading: float) -> Motion:
    return lambda t: (1 + speed * t * math.cos(heading), speed * t * math.sin(heading), 0.3)


def spinning(speed: float, heading: float) -> Motion:
    return lambda t: (1.0, 0.0, math.remainder(heading + speed * t, 2 * math.pi))


def circling(speed: float, heading: float) -> Motion:
    turn = speed / 0.8
    return lambda t: (0.8 * math.cos(heading + turn * t), 0.8 * math.sin(heading + turn * t), 0.0)


MOTIONS = st.builds(
    lambda way, speed, heading: way(speed, heading),
    st.sampled_from([straight, spinning, circling]), st.floats(0.2, 1.0), st.floats(-3.0, 3.0),
)  # fmt: skip
WORTHLESS = (math.nan, math.inf, None, "1.0", True, [1.0], 10**400, 1e300)
UNREADABLE = [{"agvPosition": agv((1.0, 0.0, 0.3))["agvPosition"] | {name: value}}
              for name in ("x", "y", "theta") for value in WORTHLESS]  # fmt: skip
UNREADABLE += [{"agvPosition": other} for other in ({}, [], "here", 7, {"x": 1.0, "y": 0.0})]
GAPS = st.lists(st.floats(0.02, 1.5), min_size=8, max_size=60)


def reports(motion: Motion, gaps: list[float]) -> Iterator[tuple[float, Place]]:
    """How long after the last report, and where the vehicle is then."""
    t = 0.0
    for gap in gaps:
        t += gap
        yield gap, motion(t)


@effort(max_examples=150, deadline=None)
@given(motion=MOTIONS, gaps=GAPS, way=st.sampled_from(["state", "other maps", "between", "shown"]))
def test_no_positions_that_move_confirm_a_stop(motion: Motion, gaps: list[float], way: str) -> None:
    one, maps = Reporter(), cycle(["hall", "cellar"] if way == "other maps" else ["hall"])
    for gap, place in reports(motion, gaps):
        if way == "shown":  # by visualizations alone
            one.says(gap / 2)
            one.says(gap / 2, "visualization", **agv(place))
        else:
            one.says(gap, **agv(place, next(maps)))
        if way == "between":  # a position that cannot be read beside each that can
            assert not one.stands
            one.says(0.01, **UNREADABLE[one.number % len(UNREADABLE)])
        assert not one.stands


@effort(max_examples=100, deadline=None)
@given(motion=MOTIONS, gaps=GAPS, stamps=st.booleans())
def test_no_odometry_that_moves_confirms_a_stop(motion: Motion, gaps: list[float], stamps: bool) -> None:
    base = Base(stamps=stamps)
    for gap, place in reports(motion, gaps):
        base.says(gap, posed(place))
        assert not base.stands


@pytest.mark.parametrize("told", UNREADABLE, ids=lambda told: json.dumps(told)[:60])
@pytest.mark.parametrize("before", [True, False])
def test_a_position_that_cannot_be_read_confirms_nothing_and_ends_what_was_confirmed(
    told: dict[str, Any], before: bool
) -> None:
    one, right = Reporter(), agv((1.0, 0.0, 0.3))
    for _ in range(10 * before):
        one.says(0.1, **right)
    assert one.stands is before
    for _ in range(20):
        one.says(0.1, **told)
        assert not one.stands
    for _ in range(7):
        one.says(0.1, **right)
    assert one.stands


@pytest.mark.parametrize("name", ["x", "y"])
@pytest.mark.parametrize("bad", WORTHLESS, ids=lambda bad: str(bad)[:8])
def test_an_odometry_that_cannot_be_read_confirms_nothing(name: str, bad: Any) -> None:
    base, right = Base(), posed((1.0, 0.0, 0.3))
    for _ in range(10):
        base.says(0.1, right)
    assert base.stands
    for _ in range(10):
        base.says(0.1, right | {"position": right["position"] | {name: bad}})
        assert not base.stands
    base.says(0.1, right)
    base.vehicle._hear({"op": "publish", "topic": base.vehicle._own.battery, "msg": {"percentage": bad}})
    assert base.stands


@pytest.mark.parametrize("kind", ["state", "visualization"])
def test_a_vehicle_that_has_told_a_position_and_tells_none_any_more_confirms_nothing(kind: str) -> None:
    one = Reporter()
    one.says(0.1)
    assert one.stands  # it has told none yet: that field is optional
    for _ in range(10):
        one.says(0.1, kind, **agv((1.0, 0.0, 0.0)))
    assert one.stands
    for _ in range(10):
        one.says(0.1, kind)
        assert not one.stands
        one.says(0.1, kind, agvPosition=None)
        assert not one.stands


def test_a_vehicle_that_never_tells_a_position_stands_by_its_word() -> None:
    one = Reporter()
    assert not one.stands
    one.says(0.1)
    assert one.stands
    one.says(0.1, velocity={"vx": 0.3})
    assert not one.stands


@effort(max_examples=100, deadline=None)
@given(
    speed=st.floats(0.1, 2.0), gaps=st.lists(st.floats(0.05, 0.6), min_size=20, max_size=60), noise=st.floats(0, 0.02)
)
def test_an_honest_stop_is_confirmed_by_the_first_report_after_half_a_second(
    speed: float, gaps: list[float], noise: float
) -> None:
    one, base, t = Reporter(), Base(), 0.0
    stood: float | None = None
    for number, gap in enumerate(gaps):
        driving, t = number < 8, t + gap
        x = speed * min(t, sum(gaps[:8])) + (-1) ** number * noise / 2 * (not driving)
        place = (x, 0.0, 0.2)
        one.says(gap, **agv(place), driving=driving, velocity={"vx": speed * driving})
        base.says(gap, posed(place), speed * driving)
        stood = t if stood is None and not driving else stood
        assert one.stands is (stood is not None and t - stood >= 0.5), t
        if noise < 0.001:  # odometry has none
            assert base.stands is one.stands


@pytest.mark.parametrize("speed", [0.01, 0.02, 0.05, 0.09])
def test_what_was_confirmed_is_withdrawn_where_later_positions_move(speed: float) -> None:
    one, base, said, said_of_base = Reporter(), Base(), [], []
    for _, place in reports(straight(speed, 0.0), [0.1] * 600):
        one.says(0.1, **agv(place))
        base.says(0.1, posed(place))
        said.append(one.stands)
        said_of_base.append(base.stands)
    for found in (said, said_of_base):
        runs = sum(not before and now for before, now in zip([False, *found], found, strict=False))
        assert not found[-1] and runs <= 2, (runs, sum(found))


def test_a_vehicle_of_few_reports_is_asked_for_one() -> None:
    one = Reporter()
    for _ in range(2):
        one.says(0.01, **agv((1.0, 0.0, 0.0)))
    for _ in range(10):
        one.clock.advance(0.1)
        assert not one.stands
    assert len([topic for topic in one.asked if topic.endswith("instantActions")]) in (3, 4, 5)
    one.says(0.1, **agv((1.0, 0.0, 0.0)))
    assert one.stands


@pytest.mark.parametrize(
    "told",
    [lambda n: (1.0, 0.0, 0.3), lambda n: (1.0 + 0.02 * math.sin(n), 0.0, 0.3)],
    ids=["a position that does not change", "a motion within the noise"],
)
def test_what_no_report_shows_is_not_detected(told: Callable[[int], Place]) -> None:
    """As docs/vehicles.md says."""
    one = Reporter()
    for number in range(20):
        one.says(0.1, **agv(told(number)))
    assert one.stands


# -- over a broker -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", ["", "tells no x", "tells no position"])
def test_a_stop_of_a_vehicle_that_drives_on_is_not_confirmed(tmp_path: Path, broker: Any, told: str) -> None:
    with fleet_of(tmp_path / "lab", broker.port, "drives on") as fleet:
        fleet.one.faults.add(told)
        began = fleet.one.x
        report = fleet.world.stop(ME, confirm_s=CONFIRM_S)
        assert not report.confirmed, report
        until(lambda: fleet.mission("m1").state.value == "failed")
        assert "may still move" in fleet.mission("m1").reason
        until(lambda: fleet.alert().get("code") == "STOP_UNCONFIRMED")
        assert fleet.one.x > began and not fleet.one.driving


def test_a_stop_of_an_honest_vehicle_is_confirmed_and_withdrawn_when_it_drives_off(tmp_path: Path, broker: Any) -> None:
    with fleet_of(tmp_path / "lab", broker.port) as fleet:
        kernel = fleet.world.kernel
        assert kernel is not None

        def confirmed() -> bool:
            answer = kernel.stopping.answer(ME)
            return answer is not None and answer.confirmed

        fleet.world.stop(ME, confirm_s=CONFIRM_S)
        until(confirmed)
        until(lambda: "was stopped" in fleet.mission("m1").reason)
        fleet.one.faults.add("drives on")
        until(lambda: not confirmed() and fleet.alert().get("code") == "STOP_UNCONFIRMED")
