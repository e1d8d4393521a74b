"""Laws of the safety layer: whatever is asked, no command leaves a limit. Time is held by the test."""

from __future__ import annotations

import math
import threading
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from worldfs.base.driver import PluginContext, Run
from worldfs.base.errors import BadInput
from worldfs.base.plugin_values import WrongValue, parsed
from worldfs.robots.mujoco import panda
from worldfs.robots.mujoco.geometry import quat_of
from worldfs.robots.targets.kinematics import from_dh, of_vector, rotation_vector
from worldfs.robots.targets.real_target import adapter
from worldfs.robots.targets.robots.robot_interface import RobotReading
from worldfs.robots.targets.safety import ArmSafety, BaseSafety, judge
from worldfs.robots.targets.safety_limits import WATCHDOG_MOST_S, SafetyLimits, tightest
from worldfs.robots.targets.safety_limits import effective_limits as limits_of
from worldfs.robots.targets.target_adapter import TargetStopped
from worldfs.robots.targets.target_declaration import WORDS
from worldfs.robots.targets.watchdog import Watchdog
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S

from .conftest import FRANKA_HOME, declared

TOOL = np.eye(4)
TOOL[2, 3] = panda.FLANGE + panda.TCP
CHAIN = from_dh(list(zip(panda.DH_A, panda.DH_D, panda.DH_ALPHA, strict=True)), TOOL)
BOX = np.array([0.31, -0.05, 0.45]), np.array([0.41, 0.05, 0.55])  # 5 cm about where the hand begins: walls are met
PERIOD = 0.05
ARM = SafetyLimits(
    joint_low=np.array(panda.LIMITS)[:, 0], joint_high=np.array(panda.LIMITS)[:, 1],
    joint_speed=0.8 * np.array(panda.SPEED), joint_step=0.2, low=BOX[0], high=BOX[1], ee_speed=0.5, ee_turn=1.5,
    ee_step=0.02, gripper_low=0.1, gripper_high=0.9, gripper_speed=2.0, follow=math.inf,
)  # fmt: skip
WILD = st.floats(-1e3, 1e3) | st.floats(-2, 2) | st.just(0.0)
SIZES = {"joint_position": 8, "joint_velocity": 8, "ee_pose": 8, "ee_delta": 7}
ACTIONS = st.sampled_from(sorted(SIZES)).flatmap(
    lambda name: st.tuples(st.just(name), st.lists(WILD, min_size=SIZES[name], max_size=SIZES[name]))
)
PAUSES = st.floats(0, 0.2)
RUNS = st.lists(st.tuples(ACTIONS, PAUSES), min_size=1, max_size=12)
ASIDE = [(("joint_velocity", [1.0, *[0.0] * 7]), 0.05)] * 8
"""Through the wall, if nothing holds it: few runs of a small lot go so far."""
SLACK = 1e-6


def inside(q, limits):
    place = CHAIN.forward(q)[:3, 3]
    assert (q >= limits.joint_low).all() and (q <= limits.joint_high).all()
    assert (place >= limits.low - SLACK).all() and (place <= limits.high + SLACK).all()
    return place


ENCODER = 1e-7  # rad: no encoder reads exactly what was commanded


@settings(max_examples=30)
@example(ASIDE, 0.0)
@given(RUNS, st.floats(0, 0.05))
def test_no_command_leaves_box_joint_limits_speeds_or_steps(run, lag):
    no_command_leaves_box_joint_limits_speeds_or_steps(run, lag)


@pytest.mark.proof
@settings(max_examples=2000)
@given(RUNS, st.floats(0, 0.05))
def test_no_command_of_two_thousand_leaves_box_joint_limits_speeds_or_steps(run, lag):
    no_command_leaves_box_joint_limits_speeds_or_steps(run, lag)


def no_command_leaves_box_joint_limits_speeds_or_steps(run, lag):
    safety = ArmSafety(ARM, CHAIN, [f"j{i}" for i in range(7)], PERIOD)
    q = np.array(FRANKA_HOME)
    safety.begin(RobotReading(0.0, q, opening=0.5))
    opening = 0.5
    for (name, numbers), pause in run:
        measured = q + lag + ENCODER
        try:
            command, clamped = safety.bound(
                RobotReading(0.0, measured, opening=opening), np.array(numbers), name, pause
            )
        except BadInput:
            assert name == "ee_pose" and np.linalg.norm(numbers[3:7]) < 1e-5
            continue
        before, place = CHAIN.forward(q)[:3, 3], inside(command.joints, ARM)
        passed = min(pause, PERIOD)
        change = np.abs(command.joints - q)
        assert (change <= ARM.joint_speed * passed + SLACK).all() and (change <= ARM.joint_step + SLACK).all()
        assert np.linalg.norm(place - before) <= min(ARM.ee_speed * passed, ARM.ee_step) + SLACK
        assert abs(command.opening - opening) <= ARM.gripper_speed * passed + SLACK
        assert 0.1 - 1e-9 <= command.opening <= 0.9 + 1e-9
        asked = np.array(numbers[:7])
        if name == "joint_position" and not np.allclose(command.joints, asked, atol=1e-6):
            assert clamped, "what was changed is named"
        q, opening = command.joints, command.opening


@pytest.mark.parametrize("name", ["ee_delta", "ee_pose"])
def test_a_tool_that_shall_turn_too_fast_turns_as_fast_as_it_may_and_that_is_said(name):
    safety = ArmSafety(ARM, CHAIN, [f"j{i}" for i in range(7)], PERIOD)
    q = np.array(FRANKA_HOME)
    safety.begin(RobotReading(0.0, q, opening=0.5))
    now = CHAIN.forward(q)
    turn = np.array([0, 0, 0.5])
    goal = [0, 0, 0, *turn, 0] if name == "ee_delta" else [*now[:3, 3], *quat_of(of_vector(turn) @ now[:3, :3]), 0.5]
    command, said = safety.bound(RobotReading(0.0, q, opening=0.5), np.array(goal), name, PERIOD)
    turned = np.linalg.norm(rotation_vector(CHAIN.forward(command.joints)[:3, :3] @ now[:3, :3].T))
    assert said == ["ee turn"] and 0.9 < turned / (ARM.ee_turn * PERIOD) < 1.001


@pytest.mark.parametrize("name", ["ee_delta", "ee_pose"])
def test_a_goal_beyond_the_wall_is_taken_to_the_wall_and_the_tool_slides_along_it(name):
    """A command that pushes into the wall and along it goes on along it: it does not stick where it first touches."""
    safety = ArmSafety(ARM, CHAIN, [f"j{i}" for i in range(7)], PERIOD)
    q = np.array(FRANKA_HOME)
    safety.begin(RobotReading(0.0, q, opening=0.5))
    quat = quat_of(CHAIN.forward(q)[:3, :3])
    goal = np.array([2.0, 0.03, 0.5])  # far beyond the wall in x, 3 cm along it in y
    for _ in range(60):
        place = CHAIN.forward(q)[:3, 3]
        delta = goal - place
        asked = [*goal, *quat, 0.5] if name == "ee_pose" else [*delta, 0, 0, 0, 0]
        command, said = safety.bound(RobotReading(0.0, q + ENCODER, opening=0.5), np.array(asked), name, PERIOD)
        assert "workspace" in said
        q = command.joints
    at = inside(q, ARM)
    assert abs(at[0] - BOX[1][0]) < 2e-3 and abs(at[1] - goal[1]) < 2e-3, at


FREE = SafetyLimits(joint_low=ARM.joint_low, joint_high=ARM.joint_high, joint_speed=ARM.joint_speed, joint_step=0.2)
"""No box about the hand: nothing but the joints' own limits stops them."""


@pytest.mark.parametrize("name", ["joint_position", "joint_velocity"])
@pytest.mark.parametrize("chain", [None, CHAIN], ids=["bare", "chain"])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("joint", range(7))
def test_a_joint_driven_at_its_limit_comes_to_it_and_no_farther(joint, sign, chain, name):
    safety = ArmSafety(FREE, chain, [f"j{i}" for i in range(7)], PERIOD)
    q = np.array(FRANKA_HOME)
    end = FREE.joint_high[joint] if sign > 0 else FREE.joint_low[joint]
    q[joint] = end - sign * 0.25
    safety.begin(RobotReading(0.0, q))
    goal = np.append(np.zeros(7) if name == "joint_velocity" else q, 0.5)
    goal[joint] = sign * 9.0
    named = False
    for _ in range(20):
        command, words = safety.bound(RobotReading(0.0, q + ENCODER), goal, name, PERIOD)
        q = command.joints
        assert (q >= FREE.joint_low).all() and (q <= FREE.joint_high).all()
        named |= f"joint limit j{joint}" in words
    assert named and abs(q[joint] - end) < 1e-6, "it came to its limit, which is named"


SIDES = st.lists(st.sampled_from((-1, 0, 1)), min_size=7, max_size=7)
SOON = st.lists(st.tuples(ACTIONS, st.floats(0.01, 0.05)), min_size=1, max_size=8)


@settings(max_examples=30)
@given(SIDES, SOON)
def test_no_action_of_any_kind_leaves_joint_limits_that_are_near(sides, run):
    no_action_of_any_kind_leaves_joint_limits_that_are_near(sides, run)


@pytest.mark.proof
@settings(max_examples=2000)
@given(SIDES, SOON)
def test_no_action_of_two_thousand_leaves_joint_limits_that_are_near(sides, run):
    no_action_of_any_kind_leaves_joint_limits_that_are_near(sides, run)


def no_action_of_any_kind_leaves_joint_limits_that_are_near(sides, run):
    """Each joint begins at one of its ends, or in the middle, and nothing else is in the way."""
    safety = ArmSafety(FREE, CHAIN, [f"j{i}" for i in range(7)], PERIOD)
    middle, half = (FREE.joint_low + FREE.joint_high) / 2, (FREE.joint_high - FREE.joint_low) / 2
    q = middle + np.array(sides) * (half - 1e-3)
    safety.begin(RobotReading(0.0, q))
    for (name, numbers), pause in run:
        try:
            command, _ = safety.bound(RobotReading(0.0, q + ENCODER), np.array(numbers), name, pause)
        except BadInput:
            continue
        q = command.joints
        assert (q >= FREE.joint_low).all() and (q <= FREE.joint_high).all()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.lists(WILD, min_size=3, max_size=3), PAUSES), min_size=1, max_size=30), st.floats(-3, 3))
def test_a_base_keeps_to_its_speeds_and_its_fence(run, yaw):
    limits = SafetyLimits(
        base_low=np.array([-0.6, -0.3, -0.8]), base_high=np.array([0.6, 0.3, 0.8]),
        base_acceleration=np.array([1.0, 1.0, 2.0]), low=np.array([-0.5, -0.5]), high=np.array([0.5, 0.5]),
    )  # fmt: skip
    safety = BaseSafety(limits, PERIOD)
    place = np.array([0.0, 0.0, yaw])
    safety.begin(RobotReading(0.0, place=place))
    for numbers, pause in run:
        command, _ = safety.bound(RobotReading(0.0, place=place), np.array(numbers), "base_velocity", pause)
        vx, vy, wz = command.velocity
        assert (command.velocity >= limits.base_low - 1e-9).all() and (
            command.velocity <= limits.base_high + 1e-9
        ).all()
        c, s = math.cos(place[2]), math.sin(place[2])
        place = place + PERIOD * np.array([c * vx - s * vy, s * vx + c * vy, wz])
        assert (np.abs(place[:2]) <= 0.5).all()


def test_an_action_sent_twice_at_once_is_no_double_speed():
    safety = ArmSafety(ARM, CHAIN, [f"j{i}" for i in range(7)], PERIOD)
    reading = RobotReading(0.0, np.array(FRANKA_HOME))
    safety.begin(reading)
    goal = np.array([1.0, *FRANKA_HOME[1:], 0.5])
    first, _ = safety.bound(reading, goal, "joint_position", PERIOD)
    again, words = safety.bound(reading, goal, "joint_position", 0.0)
    assert np.allclose(first.joints, again.joints) and "joint speed" in words


def test_a_clock_that_went_back_moves_nothing():
    arm, base = ArmSafety(ARM, CHAIN, [f"j{i}" for i in range(7)], PERIOD), BaseSafety(BASE, PERIOD)
    reading = RobotReading(0.0, np.array(FRANKA_HOME), place=np.zeros(3))
    for safety in (arm, base):
        safety.begin(reading)
    goal = np.array([1.0, *FRANKA_HOME[1:], 0.5])
    command, _ = arm.bound(reading, goal, "joint_position", -0.5)
    assert np.allclose(command.joints, FRANKA_HOME)
    command, _ = base.bound(reading, np.array([0.5, 0.0, 0.5]), "base_velocity", -0.5)
    assert np.allclose(command.velocity, 0.0)


def test_a_base_that_was_not_asked_for_long_gains_no_speed_by_it():
    safety = BaseSafety(BASE, PERIOD)
    reading = RobotReading(0.0, np.zeros(0), place=np.zeros(3))
    safety.begin(reading)
    command, words = safety.bound(reading, np.array([0.6, 0.0, 0.8]), "base_velocity", 10.0)
    assert np.allclose(command.velocity, [PERIOD * 1.0, 0.0, PERIOD * 2.0]) and "base acceleration" in words


BASE = SafetyLimits(
    base_low=np.array([-0.6, -0.3, -0.8]), base_high=np.array([0.6, 0.3, 0.8]),
    base_acceleration=np.array([1.0, 1.0, 2.0]),
)  # fmt: skip


def test_who_stands_outside_the_box_may_only_come_nearer():
    safety = ArmSafety(ARM, CHAIN, [f"j{i}" for i in range(7)], PERIOD)
    q = np.array(FRANKA_HOME)
    q[0] = 1.2  # the hand is far to the left
    safety.begin(RobotReading(0.0, q))
    assert CHAIN.forward(q)[1, 3] > 0.25
    out, words = safety.bound(RobotReading(0.0, q), np.array([1.5, *q[1:], 0.5]), "joint_position", PERIOD)
    assert np.allclose(out.joints, q, atol=1e-4) and "workspace" in words
    back, _ = safety.bound(RobotReading(0.0, q), np.array([0.0, *q[1:], 0.5]), "joint_position", PERIOD)
    assert back.joints[0] < 1.2 - 0.01


WIRED = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.mark.slice(2)
@pytest.mark.parametrize("driver", ["franka", "lerobot"])
@settings(WIRED, max_examples=4)
@example(run=ASIDE)
@given(run=RUNS)
def test_no_command_on_the_wire_leaves_a_limit(peers, run, driver):
    no_command_on_the_wire_leaves_a_limit(peers, run, driver)


@pytest.mark.proof
@pytest.mark.parametrize("driver", ["franka", "lerobot"])
@settings(WIRED, max_examples=200)
@given(run=RUNS)
def test_no_command_of_two_hundred_on_the_wire_leaves_a_limit(peers, run, driver):
    no_command_on_the_wire_leaves_a_limit(peers, run, driver)


def no_command_on_the_wire_leaves_a_limit(peers, run, driver):
    """The same law where the library speaks to the robot: in its units, after its rounding."""
    clock, box = ManualClock(), {"low": BOX[0].tolist(), "high": BOX[1].tolist()}
    safety = {"stale_s": 10, "watchdog_s": 5, **({"workspace": box} if driver == "franka" else {})}
    kind, q = ("fci", FRANKA_HOME) if driver == "franka" else ("servo", (0.0,) * 5)
    with peers.Plant(kind, q, manual=True) as plant:
        target = adapter(declared(driver, plant.address, safety=safety), PluginContext(clock))
        target.open()
        limits = target.limits
        shapes = {spec.representation: spec.shape[0] for spec in target.actions()}
        last = np.array(q)
        try:
            for (name, numbers), pause in run:
                if name not in shapes:
                    continue
                clock.advance(pause)
                plant.advance(pause)
                told = len(plant.told)
                try:
                    target.step(np.array((numbers * 2)[: shapes[name]]), name)
                except (BadInput, TargetStopped):
                    break
                assert len(plant.told) == told + 1
                sent = np.array(plant.told[-1])
                assert (np.abs(sent - last) <= limits.joint_speed * PERIOD + SLACK).all()
                assert (sent >= limits.joint_low).all() and (sent <= limits.joint_high).all()
                if driver == "franka":
                    inside(sent, limits)
                last = sent
        finally:
            target.close()


# -- limits ----------------------------------------------------------------------------------------------------------

MAKER = SafetyLimits(joint_speed=np.full(2, 2.0), force=70.0, watchdog_s=3.0)
USUAL = SafetyLimits(joint_speed=np.full(2, 1.0), force=30.0, ee_speed=0.25, watchdog_s=1.0)


@pytest.mark.parametrize("seconds", [61, 1e9, 1e300])
def test_a_watchdog_that_never_bites_is_none(seconds):
    with pytest.raises(BadInput, match="watchdog_s") as caught:
        limits_of({"watchdog_s": seconds}, ("a", "b"), USUAL, SafetyLimits(), path="safety")
    assert "60" in caught.value.expected
    packages = SafetyLimits(watchdog_s=seconds)
    assert limits_of({}, ("a", "b"), packages, SafetyLimits(watchdog_s=seconds), path="safety").watchdog_s == 60


def test_true_is_no_reading_of_a_joint():
    with pytest.raises(WrongValue, match="bool"):
        parsed(RobotReading, RobotReading(0.0, np.array([True, False])), "arm read")


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "watchdog_s": st.floats(1e-3, WATCHDOG_MOST_S),
            **{w: st.floats(1e-3, 1e6) for w in ("force", "ee_speed", "joint_speed")},
        },
    )
)
def test_the_operators_figures_hold_within_the_makers(safety):
    found = limits_of(safety, ("a", "b"), USUAL, MAKER, path="safety")
    assert found.force <= 70 and found.watchdog_s <= 3 and (found.joint_speed <= 2).all()
    assert found.force == min(safety.get("force", 30.0), 70)
    assert found.joint_speed[0] == min(safety.get("joint_speed", 1.0), 2)
    assert found.ee_speed == safety.get("ee_speed", 0.25)


def test_one_joint_by_name_leaves_the_others_as_they_were():
    found = limits_of({"joint_speed": {"b": 0.5}}, ("a", "b"), USUAL, MAKER, path="safety")
    assert found.joint_speed.tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    ("safety", "says"),
    [
        ({"forse": 3}, "no limit is called forse"),
        ({"gripper_low": 0.9, "gripper_high": 0.1}, "gripper_low above gripper_high"),
        ({"force": 0}, "above 0"),
        ({"force": True}, "above 0"),
        ({"force": math.inf}, "inf"),
        ({"joint_speed": [1]}, "1 numbers"),
        ({"workspace": {"low": [0, 0, 0]}}, "metres"),
        ({"workspace": {"low": [0, 0, 1], "high": [1, 1, 0]}}, "metres"),
        ({"joint_low": 1, "joint_high": -1}, "low below high"),
        ([1], "a mapping of limits"),
    ],
)
def test_a_limit_that_is_none_is_refused(safety, says):
    with pytest.raises(BadInput, match=says):
        limits_of(safety, ("a", "b"), USUAL, MAKER, path="TARGETS.md arm config.safety")


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=2), st.lists(st.floats(-5, 5), min_size=2, max_size=2))
def test_of_two_limits_the_tighter_holds(a, b):
    found = tightest(
        SafetyLimits(joint_low=np.array(a), joint_high=np.array(a)),
        SafetyLimits(joint_low=np.array(b), joint_high=None),
    )
    assert found.joint_low.tolist() == np.maximum(a, b).tolist() and found.joint_high.tolist() == a


@pytest.mark.parametrize(
    ("reading", "says"),
    [
        (RobotReading(0.0, np.array([math.nan])), "NaN"),
        (RobotReading(0.0, np.zeros(1), force=math.nan), "no numbers"),
        (RobotReading(0.0, np.zeros(1), force=math.inf), "no numbers"),
        (RobotReading(0.0, np.zeros(1), torques=np.array([0, math.nan])), "no numbers"),
        (RobotReading(0.0, np.zeros(1), force=31), r"31\.0 N"),
        (RobotReading(0.0, np.zeros(1), torques=np.array([0, -9.0])), r"9\.0 Nm at joint 2"),
        (RobotReading(-3.0, np.zeros(1)), "old"),
        (RobotReading(0.0, np.zeros(1), trouble="it is tired"), "tired"),
    ],
)
def test_a_state_in_which_it_must_not_move_is_told(reading, says):
    limits = SafetyLimits(force=30.0, torque=np.array([5.0, 5.0]), stale_s=1.0)
    import re

    assert re.search(says, judge(reading, limits, 0.5))
    assert judge(RobotReading(0.0, np.zeros(1), force=29, torques=np.zeros(2)), limits, 0.5) == ""


# -- the watchdog ----------------------------------------------------------------------------------------------------


def dog(clock, **more):
    said = []
    return Watchdog(clock, 0.5, more.pop("stop", said.append), lambda: None), said


def test_the_watchdog_bites_when_nothing_came_and_only_then():
    clock = ManualClock()
    watchdog, said = dog(clock)
    clock.advance(100)
    assert watchdog.check() == "" and not said  # nobody moved it yet
    watchdog.feed()
    for _ in range(10):
        clock.advance(0.4)
        assert watchdog.check() == ""
        watchdog.heartbeat()
    clock.advance(0.6)
    assert "0.60 s" in watchdog.check() and len(said) == 1
    assert watchdog.check() == ""
    watchdog.heartbeat()
    clock.advance(9)
    assert watchdog.check() == ""


@pytest.mark.parametrize("how", ["cancelled", "timeout"])
def test_the_end_of_a_run_is_a_stop(how):
    clock = ManualClock()
    watchdog, said = dog(clock)
    run = Run(clock, clock.monotonic() + 0.3)
    watchdog.set_run(run)
    watchdog.feed()
    assert watchdog.check() == ""
    run.cancel.set() if how == "cancelled" else clock.advance(0.35)
    assert watchdog.check() == how and said == [how]


def test_a_stop_that_did_not_work_is_tried_again():
    clock, tries = ManualClock(), []

    def stop(why):
        tries.append(why)
        if len(tries) < 3:
            raise OSError("the wire is cut")

    watchdog, _ = dog(clock, stop=stop)
    watchdog.feed()
    clock.advance(1)
    for _ in range(5):
        watchdog.check()
    assert len(tries) == 3 and watchdog.trouble == ""


def test_it_looks_by_itself_while_its_loop_hangs():
    bitten = threading.Event()
    clock = ManualClock()
    watchdog, _ = dog(clock, stop=lambda why: bitten.set())
    watchdog.start()
    watchdog.feed()
    clock.advance(0.7)
    assert bitten.wait(PATIENCE_S)
    watchdog.close()


def test_the_words_of_the_operator_are_the_limits_there_are():
    names = {field.name for field in fields(SafetyLimits)} - {"low", "high"}
    assert set(WORDS) == names | {"workspace", "base_speed"}
