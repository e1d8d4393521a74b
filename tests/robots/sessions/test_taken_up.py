"""A real robot that its first order or session would connect is connected to be stopped: once, by whatever thread."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext, Standstill, TakesUp
from worldfs.base.driver_memory import DriverMemory
from worldfs.base.model import Scene, Target
from worldfs.sessions import robot_body
from worldfs.sessions.plugins import Plugins, checked_targets, is_simulation
from worldfs.sessions.session_driver import SessionDriver
from worldfs.testing.null_target import NullAdapter
from worldfs.testing.waiting import PATIENCE_S, until

TARGET = Target("arm", "real_robot", adapter="Theirs", driver="franka")


class Robot:
    """The adapter of a robot: it notes what reaches it, and `open` waits until it may return."""

    def __init__(self, target: Target, *more: object) -> None:
        self.target, self.robot, self.holding, self.said = target, object(), None, []
        MADE.append(self)

    def open(self) -> None:
        self.said.append("open")
        assert HOLD.wait(PATIENCE_S)

    def stop(self) -> None:
        self.said.append("stop")

    def scene(self) -> Scene:
        return Scene()


MADE: list[Robot] = []
HOLD = threading.Event()
MEMORY = DriverMemory()


@pytest.fixture(params=["robot", "session"])
def body(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    MADE.clear()
    HOLD.set()
    if request.param == "robot":
        monkeypatch.setattr(robot_body, "RealTarget", Robot)
        monkeypatch.setattr(robot_body, "driver", lambda target: lambda target, context: object())
        monkeypatch.setattr(robot_body.RobotBody, "_scene_now", lambda self: Scene())
        return robot_body.RobotBody(TARGET, PluginContext(SystemClock()), SystemClock())
    documents: Any = SimpleNamespace(
        target=lambda: TARGET, skills=dict, environment=lambda: {"objects": []}, memory=MEMORY
    )
    return SessionDriver(documents, Plugins({"Theirs": Robot}, {}, {}), SystemClock(), None)  # type: ignore[arg-type]


def test_it_is_connected_and_then_the_stop_reaches_it(body: Any) -> None:
    assert isinstance(body, TakesUp)
    body.take_up()
    body.take_up()
    body.stop()
    assert [one.said for one in MADE] == [["open", "stop"]]


def test_beside_an_order_that_connects_it_nothing_waits_and_nothing_is_connected_twice(body: Any) -> None:
    HOLD.clear()
    first = threading.Thread(target=body.take_up)
    first.start()
    until(lambda: MADE and MADE[0].said == ["open"])
    body.take_up()  # it returns at once
    body.stop()
    assert [one.said for one in MADE] == [["open", "stop"]]
    HOLD.set()
    first.join(PATIENCE_S)
    assert not first.is_alive()


class Rolls(NullAdapter):
    """Of a package: its `stop` does nothing, and it may move what TARGETS.md calls a simulation."""

    def stop(self) -> None:
        return


class Measured(Rolls):
    def standstill(self, since: float) -> Standstill:
        return Standstill(since > 0, "0.3 m/s")


@pytest.mark.parametrize("kind", ["sim", "real_robot"])
@pytest.mark.parametrize(("adapter", "measures"), [(Rolls, False), (Measured, True)])
def test_a_word_of_targets_md_measures_nothing_of_a_package_s_target(adapter: Any, kind: str, measures: bool) -> None:
    target = Target("bench", kind, adapter="Theirs")
    documents: Any = SimpleNamespace(
        target=lambda: target, skills=dict, environment=lambda: {"objects": []}, memory=MEMORY
    )
    made = SessionDriver(documents, Plugins({"Theirs": checked_targets(adapter)}, {}, {}), SystemClock(), None)
    made._take_up(target)
    assert made.standstill(1.0).stands is measures
    assert made.measures is (measures or kind == "real_robot")
    assert made.standstill(0.0).why == ("0.3 m/s" if measures else "its driver cannot measure a standstill")


def test_a_simulation_that_our_sessions_step_stands_between_the_steps() -> None:
    target = Target("bench", "sim", adapter="Ours")
    documents: Any = SimpleNamespace(
        target=lambda: target, skills=dict, environment=lambda: {"objects": []}, memory=MEMORY
    )
    given: list[PluginContext] = []

    def ours(target: Target, context: PluginContext) -> NullAdapter:
        given.append(context)
        return NullAdapter(target, context)

    made = SessionDriver(documents, Plugins({"Ours": ours}, {}, {}), SystemClock(), None)
    made._take_up(target)
    assert given[0].memory is MEMORY
    assert made.standstill(0.0).stands and is_simulation(target)
