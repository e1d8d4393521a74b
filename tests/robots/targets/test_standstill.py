"""A reading that no motion may begin with shows no standstill either, whatever speeds it has."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from worldfs.base.driver import PluginContext, Run, StopUndelivered
from worldfs.base.driver_memory import DriverMemory
from worldfs.base.messages.coded_text import parts, stored_form
from worldfs.base.model import Target
from worldfs.robots.targets.real_target import RealTarget
from worldfs.robots.targets.robots.robot_interface import RobotReading
from worldfs.robots.targets.safety_limits import SafetyLimits
from worldfs.robots.targets.target_adapter import TargetStopped
from worldfs.robots.targets.watchdog import Watchdog
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S, until

LIMITS = SafetyLimits(force=30.0, torque=np.full(2, 5.0), stale_s=1.0)
NOW = 100.0
ARM = RobotReading(
    NOW, np.array([0.1, 0.2]), np.zeros(2), 0.5, force=3.0, torques=np.zeros(2), place=np.zeros(3),
    velocity=np.zeros(3), native=np.zeros(2),
)  # fmt: skip
BASE = RobotReading(NOW, place=np.zeros(3), velocity=np.zeros(3))
NUMBERS = [field.name for field in fields(RobotReading) if field.name not in ("pictures", "trouble")]
OPTIONAL = ("speeds", "torques", "place", "velocity", "native")  # None: the robot does not measure it


class Told:
    """A robot that says what it is told to say."""

    maker = usual = LIMITS
    chain, serial = None, True

    def __init__(self, reading: RobotReading) -> None:
        self.reading = reading
        self.joints = ("shoulder", "elbow") if len(ARM.joints) and reading is not BASE else ()

    def read(self) -> RobotReading:
        return self.reading


def stands(reading: Any, robot: Told | None = None, before: RobotReading | None = None) -> bool:
    """By readings of a second, of which all but the last are as `before`."""
    clock = ManualClock()
    clock.advance(NOW - clock.monotonic())
    robot = robot or Told(ARM)
    made = RealTarget(Target("r", "real_robot"), PluginContext(clock), robot)  # type: ignore[arg-type]  # it is only read
    try:
        for age in (1.0, 0.8, 0.6, 0.4, 0.2):
            robot.reading = replace(before or robot.reading, at=NOW - (0 if before else age))
            made.standstill(NOW - 200)
        robot.reading = reading
        return made.standstill(NOW - 200).stands
    except Exception:  # the caller takes it for "could not be measured"
        return False


def worthless(value: Any) -> list[Any]:
    """A value of the same field that says nothing."""
    if not isinstance(value, np.ndarray):
        return [math.nan, math.inf, -math.inf, None, np.zeros(2), "x"]
    one = [np.where(np.arange(value.size) == 0, bad, value) for bad in (math.nan, math.inf, -math.inf)]
    return [*one, value[:-1] if value.size > 2 else np.zeros(5), np.zeros((2, 2)), np.full(value.size, math.nan)]


CASES = [(name, bad) for name in NUMBERS for bad in worthless(getattr(ARM, name))]
CASES += [("at", NOW - 50), ("at", NOW + 50), ("trouble", "encoder lost"), ("joints", None)]
CASES = [(name, bad) for name, bad in CASES if name != "native" or not np.isfinite(bad).all()]


@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda case: f"{CASES[case][0]}-{case}")
def test_no_worthless_reading_confirms_a_standstill(case: int) -> None:
    name, bad = CASES[case]
    assert stands(ARM) and stands(BASE, Told(BASE))
    assert not stands(replace(ARM, **{name: bad}))
    if getattr(BASE, name) is not None and np.size(getattr(BASE, name)):
        assert not stands(replace(BASE, **{name: bad}), Told(BASE))


@pytest.mark.parametrize("name", OPTIONAL)
def test_what_a_robot_does_not_measure_hides_no_standstill(name: str) -> None:
    unmeasured: dict[str, Any] = {name: None}
    reading = replace(ARM, **unmeasured)
    assert stands(reading, Told(reading))


def test_a_base_that_measures_nothing_of_its_motion_says_so() -> None:
    """As a driver without `standstill`: its orders go on. One that has measured, and does not any more, is held."""
    robot, blind = Told(BASE), replace(BASE, place=None, velocity=None)
    made = RealTarget(Target("r", "real_robot"), PluginContext(ManualClock()), robot)  # type: ignore[arg-type]  # it is only read
    for reading, never in ((blind, True), (replace(blind, velocity=BASE.velocity), False), (blind, False)):
        robot.reading = replace(reading, at=0.0)
        said = made.standstill(-1.0)
        assert not said.stands and [part.code for part in parts(said.why)].count("stop.no_measure") == never


def test_a_robot_that_does_not_tell_any_more_where_it_is_shows_no_standstill() -> None:
    clock, robot = ManualClock(), Told(BASE)
    made = RealTarget(Target("r", "real_robot"), PluginContext(clock), robot)  # type: ignore[arg-type]  # it is only read
    for number in range(10):
        clock.advance(0.2)
        robot.reading = replace(BASE, at=clock.monotonic(), place=BASE.place if number < 5 else None)
        stood = made.standstill(-1.0).stands
        assert stood is (3 <= number < 5), number
    robot.reading = replace(BASE, at=clock.monotonic())
    again = RealTarget(Target("r", "real_robot"), made.context, robot)  # type: ignore[arg-type]  # in the next process
    for _ in range(5):
        clock.advance(0.2)
        robot.reading = replace(BASE, at=clock.monotonic(), place=None)
        assert not again.standstill(-1.0).stands


@pytest.mark.parametrize("at", [math.nan, math.inf])
def test_a_reading_of_no_time_is_blamed_on_the_read_that_gave_it(at: float) -> None:
    robot = Told(BASE)
    robot.reading = replace(BASE, at=at)
    made = RealTarget(Target("r", "real_robot"), PluginContext(ManualClock()), robot)  # type: ignore[arg-type]  # it is only read
    with pytest.raises(TargetStopped) as stopped:
        made.standstill(-1.0)
    assert stopped.value.path == "r read at" and f"Told read does not say when its state was made: `at` is {at}" in str(
        stopped.value
    )
    json.dumps(stored_form(stopped.value.found), allow_nan=False)  # it may be the message of an outcome


@pytest.mark.parametrize("one", [ARM, BASE, replace(ARM, speeds=None, velocity=None)])
def test_one_reading_alone_shows_no_standstill(one: RobotReading) -> None:
    assert not stands(one, Told(one), one)


@pytest.mark.parametrize(("name", "one"), [("joints", ARM), ("place", ARM), ("place", BASE)])
def test_positions_that_change_deny_speeds_of_zero(name: str, one: RobotReading) -> None:
    for step in (0.04, -0.04):  # a register of speeds that stays at zero stops nothing
        moved = {name: getattr(one, name) + np.eye(getattr(one, name).size)[0] * step}
        assert not stands(replace(one, **moved), Told(one))
    noise = {name: getattr(one, name) + 0.001}
    assert stands(replace(one, **noise), Told(one))


@pytest.mark.parametrize("name", ["speeds", "velocity"])
def test_a_robot_of_which_any_part_moves_does_not_stand(name: str) -> None:
    assert not stands(replace(ARM, **{name: getattr(ARM, name) + 0.5}))


def test_a_force_above_its_limit_is_measured_all_the_same() -> None:
    assert stands(replace(ARM, force=31.0, torques=np.array([0.0, 9.0])))


def test_a_robot_without_speeds_is_compared_with_no_worthless_reading() -> None:
    clock = ManualClock()
    clock.advance(NOW - clock.monotonic())
    robot = Told(replace(ARM, speeds=None, velocity=None, trouble="encoder lost"))
    made = RealTarget(Target("r", "real_robot"), PluginContext(clock), robot)  # type: ignore[arg-type]
    assert not made.standstill(NOW - 1).stands
    clock.advance(0.2)
    robot.reading = replace(robot.reading, at=NOW + 0.2, trouble="")
    assert not made.standstill(NOW - 1).stands
    for number in range(2, 6):
        clock.advance(0.2)
        robot.reading = replace(robot.reading, at=NOW + 0.2 * number)
        assert made.standstill(NOW - 1).stands is (number > 3)


def confirmed(
    place: Callable[[float], float], *, speeds: Callable[[float], float] | None, seconds: float
) -> list[bool]:
    """What is said at each of the readings, 50 a second, of an arm whose first joint is there after a stop at 0 s."""
    clock = ManualClock()
    robot = Told(ARM)
    made = RealTarget(Target("r", "real_robot"), PluginContext(clock), robot)  # type: ignore[arg-type]
    start, said = clock.monotonic(), []
    for number in range(int(seconds * 50)):
        clock.advance(0.02)
        t = 0.02 * (number + 1)
        told = None if speeds is None else np.array([speeds(t), 0.0])
        robot.reading = RobotReading(clock.monotonic(), np.array([place(t), 0.2]), told)
        said.append(made.standstill(start).stands)
    return said


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize(("reach", "rate"), [(0.17, 3.0), (0.25, 2.0), (0.06, 25.13), (0.5, 0.8)])
def test_a_swing_is_confirmed_at_no_moment(reach: float, rate: float, told: bool) -> None:
    speeds = (lambda t: reach * rate * math.cos(rate * t)) if told else None
    assert not any(confirmed(lambda t: reach * math.sin(rate * t), speeds=speeds, seconds=8.0))


@pytest.mark.parametrize("told", [0.02, 0.0, None])
@pytest.mark.parametrize("creep", [0.02, 0.03, 0.04, 0.01])
def test_what_creeps_is_not_confirmed_for_long(creep: float, told: float | None) -> None:
    said = confirmed(lambda t: creep * t, speeds=None if told is None else lambda t: told, seconds=20.0)
    assert sum(said) < 50 and not any(said[500:]), "it may seem to stand for a second, and never after that"


def test_one_that_stands_is_confirmed_after_half_a_second_and_stays_so() -> None:
    said = confirmed(lambda t: 0.3 + 0.0005 * math.sin(40 * t), speeds=lambda t: 0.0, seconds=90.0)
    assert not any(said[:20]) and all(said[40:])


class Runaway(Told):
    """A robot that goes on whatever it is told, and says of itself what `lie` makes of where it is."""

    def __init__(self, clock: ManualClock, joints: tuple[str, ...], lie: Callable[[float], float]) -> None:
        low, high, fast = np.full(2, -2.0), np.full(2, 2.0), np.full(3, 1.0)
        self.maker = self.usual = SafetyLimits(joint_low=low, joint_high=high, joint_speed=np.full(2, 1.0), stale_s=1.0)
        if not joints:
            self.maker = self.usual = SafetyLimits(base_low=-fast, base_high=fast, stale_s=1.0)
        self.clock, self.joints, self.lie, self.at, self.told = clock, joints, lie, 0.0, np.zeros(0)

    def connect(self) -> None: ...
    def prepare(self) -> None: ...
    def close(self) -> None: ...
    def halt(self) -> None: ...

    def pictures(self) -> dict[str, Any]:
        return {}

    def send(self, command: Any) -> None:
        self.told = command.joints if self.joints else command.velocity

    def read(self) -> RobotReading:
        said = self.lie(self.at)
        if self.joints:
            return RobotReading(self.clock.monotonic(), np.array([said, 0.2]))
        return RobotReading(self.clock.monotonic(), place=np.array([said, 0.0, 0.0]), velocity=np.zeros(3))


def led(
    joints: tuple[str, ...],
    lie: Callable[[float], float],
    *,
    steps: int,
    runs: bool,
    rate: float = 0.5,
    memory: DriverMemory | None = None,
) -> tuple[RealTarget, Runaway, ManualClock]:
    """A target after so many commands, 20 a second, to go on by `rate`. `runs`: the robot moves."""
    clock = ManualClock()
    robot, context = Runaway(clock, joints, lie), PluginContext(clock, memory=memory or DriverMemory())
    made = RealTarget(Target("r", "real_robot"), context, robot)  # type: ignore[arg-type]  # as far as used
    made.open()
    made.reset()
    for _ in range(steps):
        clock.advance(0.05)
        robot.at += 0.024 if runs else 0.0
        try:
            if joints:
                made.step(np.array([rate, 0.0, 0.0]), "joint_velocity")
            else:
                made.step(np.array([rate, 0.0, 0.0]), "base_velocity")
        except TargetStopped:
            break
    return made, robot, clock


def stood(made: RealTarget, clock: ManualClock, robot: Runaway, *, runs: bool) -> bool:
    """What is said in the two seconds after a stop."""
    made.stop()
    since, said = clock.monotonic(), False
    for _ in range(100):
        clock.advance(0.02)
        robot.at += 0.01 if runs else 0.0
        said |= made.standstill(since).stands
    return said


FROZEN: dict[str, Callable[[float], float]] = {
    "the same for ever": lambda at: 0.1,
    "frozen on its way": lambda at: min(at, 0.06),
    "nowhere": lambda at: 1e300 if at > 0.05 else at,
    "fifty radians away": lambda at: 50.0 if at > 0.05 else at,
}


OF_ARMS = [(name, ("shoulder", "elbow")) for name in FROZEN]
OF_BASES = [(name, ()) for name in FROZEN if name != "fifty radians away"]  # where a base may be, in metres


@pytest.mark.parametrize(("name", "joints"), OF_ARMS + OF_BASES)
def test_no_reading_that_is_no_measurement_confirms_that_a_robot_stands_which_goes_on(name, joints) -> None:
    lie = FROZEN[name]
    made, robot, clock = led(joints, lie, steps=12, runs=True)
    try:
        assert not stood(made, clock, robot, runs=True)
        made.set_run(Run(clock, math.inf))  # another session begins, and moves nothing
        made.set_run(None)
        assert not stood(made, clock, robot, runs=True)
    finally:
        made.close()


@pytest.mark.parametrize("asked", [True, False], ids=["stopped before", "killed while it was led"])
@pytest.mark.parametrize(("name", "joints"), [(name, joints) for name, joints in OF_ARMS + OF_BASES if "ro" in name])
def test_the_next_process_believes_no_reading_that_is_no_measurement_until_it_changes(name, joints, asked) -> None:
    memory = DriverMemory()
    made, robot, clock = led(joints, FROZEN[name], steps=12, runs=True, memory=memory)
    if asked:
        assert not stood(made, clock, robot, runs=True)
        made.close()
    for _ in range(2):
        made, robot, clock = led(joints, lambda at: 0.06, steps=0, runs=True, memory=memory)
        robot.at = 0.3
        assert not stood(made, clock, robot, runs=True)
    robot.lie = lambda at: 0.0601
    assert stood(made, clock, robot, runs=False)
    made.close()


def test_joints_that_were_found_to_be_the_commands_confirm_no_standstill() -> None:
    told: list[float] = [0.0]
    made, robot, clock = led(("shoulder", "elbow"), lambda at: told[0], steps=0, runs=True)
    robot.send = lambda command: told.__setitem__(0, float(command.joints[0]))  # type: ignore[method-assign]
    try:
        for _ in range(4):
            clock.advance(0.05)
            with suppress(TargetStopped):
                made.step(np.array([0.5, 0.0, 0.0]), "joint_velocity")
        assert not stood(made, clock, robot, runs=True)
    finally:
        made.close()


@pytest.mark.parametrize("joints", [("shoulder", "elbow"), ()], ids=["arm", "base"])
def test_an_honest_robot_whose_encoders_are_coarse_is_confirmed(joints) -> None:
    """It reads the very same for ever where it stands: before its first command, after a motion, after a step too small
    for its encoders, and where it was stopped before it had begun to move."""

    def coarse(at: float) -> float:
        return round(at / 0.005) * 0.005

    for steps, runs, rate in ((0, False, 0.5), (12, True, 0.5), (100, False, 0.0001), (4, False, 0.5)):
        made, robot, clock = led(joints, coarse, steps=steps, runs=runs, rate=rate)
        try:
            assert stood(made, clock, robot, runs=False), (steps, runs, rate)
        finally:
            made.close()


def test_a_robot_whose_readings_change_again_is_believed_again() -> None:
    offset = [0.0]
    made, robot, clock = led(("shoulder", "elbow"), lambda at: 0.1 + offset[0], steps=12, runs=False)
    try:
        assert not stood(made, clock, robot, runs=False)
        offset[0] = 0.002
        assert stood(made, clock, robot, runs=False)
    finally:
        made.close()


def test_a_robot_that_says_to_be_where_none_can_be_is_not_moved() -> None:
    made, robot, _ = led(("shoulder", "elbow"), lambda at: 50.0, steps=0, runs=False)
    try:
        with pytest.raises(TargetStopped):
            made.step(np.array([0.5, 0.0, 0.0]), "joint_velocity")
        assert not robot.told.size
    finally:
        made.close()


class Hanging(Told):
    """Its read returns when `free` is set."""

    def __init__(self, *, serial: bool) -> None:
        super().__init__(ARM)
        self.serial, self.reads, self.free, self.halts = serial, threading.Event(), threading.Event(), 0

    def read(self) -> RobotReading:
        self.reads.set()
        assert self.free.wait(PATIENCE_S)
        return self.reading

    def halt(self) -> None:
        self.halts += 1


@pytest.mark.parametrize("serial", [True, False])
def test_a_stop_while_a_call_hangs_is_undelivered_where_the_wire_takes_one_call_and_follows_it(serial: bool) -> None:
    clock, robot = ManualClock(), Hanging(serial=serial)
    made = RealTarget(Target("r", "real_robot"), PluginContext(clock), robot)  # type: ignore[arg-type]  # see above
    made._watchdog = Watchdog(clock, 1.0, made._halt, lambda: None)
    made._watchdog.start()
    made._watchdog.feed()
    reader = threading.Thread(target=made._read)
    reader.start()
    assert robot.reads.wait(PATIENCE_S)
    if serial:
        with pytest.raises(StopUndelivered, match="has not returned"):
            made.stop()
        assert robot.halts == 0
    else:
        made.stop()
        assert robot.halts == 1
    clock.advance(2.0)  # its session is silent
    robot.free.set()
    until(lambda: robot.halts)
    reader.join()
    made._watchdog.close()
