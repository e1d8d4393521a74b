"""Robots through their libraries' stand-ins: they move, keep to their limits, stop, and say what is wrong."""

from __future__ import annotations

import math
import sys
import threading

import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext, Run
from worldfs.base.errors import BadInput, MissingRequirement, UserError
from worldfs.base.model import CameraSpec, Target
from worldfs.robots.mujoco import panda
from worldfs.robots.targets.real_target import adapter
from worldfs.robots.targets.target_adapter import TargetStopped
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S, until

from .conftest import FRANKA_HOME, declared, let_pass

ARMS = ("lerobot", "franka")


def drive(target, action, representation, steps=20, hz=20.0):
    """Steps on the robot's clock; the last result and every word that bit."""
    words, result = [], None
    for _ in range(steps):
        result = target.step(np.asarray(action, float), representation)
        words += result.clamped
        let_pass(target, 1 / hz)
    return result, set(words)


@pytest.mark.parametrize("driver", ARMS)
def test_an_arm_goes_where_it_is_told_at_the_speed_that_it_may(take, driver):
    target, plant = take(driver)
    q = target.observe()["joint_states"]
    goal = q + np.array([0.5, *[0.0] * (len(q) - 1)])
    began = target.context.clock.monotonic()
    result, words = drive(target, [*goal, 1.0], "joint_position", 4)
    assert "joint speed" in words and plant.told
    most = target.limits.joint_speed[0]
    assert abs(plant.told[-1][0] - q[0]) <= most * (target.context.clock.monotonic() - began + 0.05)
    drive(target, [*goal, 1.0], "joint_position", 16)
    assert abs(target.observe()["joint_states"][0] - goal[0]) < 0.05
    assert result is not None and result.success is None


@pytest.mark.parametrize("driver", ARMS)
def test_it_is_asked_for_more_than_its_limits_and_stops_at_them(take, driver):
    target, plant = take(driver, {"safety": {"joint_speed": 3, "joint_step": 1.0, "ee_speed": 10, "ee_turn": 10}})
    count = len(target.robot.joints)
    _, words = drive(target, [9.0] * count + [2.0], "joint_position", 30, 30)
    assert any(word.startswith("joint limit") for word in words) and "gripper" in words
    told = np.array(plant.told)
    low, high = target.limits.joint_low, target.limits.joint_high
    assert ((told >= low) & (told <= high)).all()


def test_the_hand_stays_in_its_box_and_slides_along_its_wall(take):
    target, plant = take("franka", {"safety": {"workspace": {"low": [0.2, -0.15, 0.1], "high": [0.6, 0.15, 0.8]}}})
    chain = target.robot.chain
    assert chain.forward(np.array(FRANKA_HOME))[2, 3] > 0.1
    _, words = drive(target, [0.005, 0.05, 0, 0, 0, 0, 1], "ee_delta", 30)
    assert "workspace" in words
    places = np.array([chain.forward(np.array(q))[:3, 3] for q in plant.told])
    assert (places >= [0.2, -0.15, 0.1]).all() and (places <= [0.6, 0.15, 0.8]).all()
    assert places[-1][1] == pytest.approx(0.15, abs=2e-3)


def test_a_pose_is_reached_and_turned(take):
    target, _ = take("franka")
    pose = target.observe()["ee_pose"]
    goal = np.array([*np.add(pose[:3], (0.05, -0.05, -0.03)), *pose[3:], 1.0])
    drive(target, goal, "ee_pose", 25)
    assert np.allclose(target.observe()["ee_pose"][:3], goal[:3], atol=0.01)


@pytest.mark.parametrize("driver", ARMS)
def test_joint_velocities_move_it_and_it_stands_when_no_more_come(take, driver):
    target, plant = take(driver)
    count = len(target.robot.joints)
    q = target.observe()["joint_states"]
    drive(target, [0.3] + [0.0] * (count - 1) + [1.0], "joint_velocity", 20)
    assert target.observe()["joint_states"][0] == pytest.approx(q[0] + 0.3, abs=0.06)
    let_pass(target, 0.3)
    assert plant.still


@pytest.mark.parametrize(
    ("action", "representation", "says"),
    [
        ([math.nan] * 6, "joint_position", "NaN"),
        ([0.0, 0, math.inf, 0, 0, 0], "joint_velocity", "infinite"),
        ([0.0] * 4, "joint_position", "an action of 4 numbers"),
        ([0.0] * 7, "ee_delta", "'ee_delta'"),
        (["a"] * 6, "joint_position", "no numbers"),
    ],
)
def test_what_is_no_action_stops_it(take, action, representation, says):
    target, plant = take("lerobot")
    target.step(np.zeros(6), "joint_position")
    told = len(plant.told)
    with pytest.raises(BadInput, match=says):
        target.step(np.array(action), representation)
    assert len(plant.told) == told + 1  # the present pose, to stand at
    with pytest.raises(TargetStopped, match="robot stopped"):
        target.step(np.zeros(6), "joint_position")
    target.reset()
    target.step(np.zeros(6), "joint_position")


def test_a_force_over_its_cap_stops_it_and_says_how_large_it_was(take):
    target, plant = take("franka", {"safety": {"force": 15}})
    q = [*FRANKA_HOME, 1.0]
    target.step(np.array(q), "joint_position")
    plant.force = 14.0
    target.step(np.array(q), "joint_position")
    plant.force = 22.5
    with pytest.raises(TargetStopped, match=r"22\.5 N.*15 N"):
        target.step(np.array(q), "joint_position")
    assert plant.threshold == 15  # its own reflex has the same figure, and looks more often


def test_a_reflex_is_told_and_cleared_only_where_the_operator_lets_a_session_do_so(take):
    for recover in (False, True):
        target, plant = take("franka", {"recover": recover})
        away = np.array([*FRANKA_HOME, 1.0]) + np.array([0.4, 0, 0, 0, 0, 0, 0, 0])
        drive(target, away, "joint_position", 3)
        plant.force = 31.0
        let_pass(target, 0.05)
        with pytest.raises(TargetStopped):
            drive(target, away, "joint_position", 3)
        plant.force = 0.0
        target.reset()
        if recover:
            target.step(away, "joint_position")
        else:
            with pytest.raises(TargetStopped, match=r"cartesian_reflex.*recover"):
                target.step(away, "joint_position")


def test_the_users_stop_is_obeyed(take):
    target, plant = take("franka", {"recover": True})
    plant.mode = "user_stopped"
    target.reset()
    with pytest.raises(TargetStopped, match="user's stop"):
        target.step(np.array([*FRANKA_HOME, 1.0]), "joint_position")
    assert plant.told == []


def test_an_arm_that_something_holds_is_not_pulled_further_away(take):
    target, plant = take("lerobot", {"safety": {"follow": 0.2}})
    plant.blocked = True
    _, words = drive(target, [1.0, 0, 0, 0, 0, 1], "joint_position", 20, 40)
    assert "lag" in words
    assert max(told[0] for told in plant.told) < 0.3
    plant.q = plant.q - 0.5  # pushed away by hand: it does not snap back
    with pytest.raises(TargetStopped, match="from its commanded angle"):
        target.step(np.array([1.0, 0, 0, 0, 0, 1]), "joint_position")


def test_an_action_from_an_old_observation_is_refused(take):
    target, _ = take("lerobot", {"safety": {"stale_s": 0.5, "watchdog_s": 5}})
    clock = target.context.clock
    target.observe()
    clock.advance(0.4)
    target.step(np.zeros(6), "joint_position")
    clock.advance(0.6)
    with pytest.raises(TargetStopped, match=r"0\.60 s old"):
        target.step(np.zeros(6), "joint_position")


def test_a_state_that_stopped_coming_is_no_state(take):
    target, plant = take("franka", {"safety": {"stale_s": 0.2}})
    plant.manual = True  # the robot's own time stands
    target.observe()
    let_pass(target, 0.3)
    with pytest.raises(TargetStopped, match="old"):
        target.step(np.array([*FRANKA_HOME, 1.0]), "joint_position")


@pytest.mark.parametrize("driver", [*ARMS, "unitree_go2"])
def test_silence_stops_it_and_heartbeats_keep_it(take, driver):
    target, plant = take(driver, {"safety": {"watchdog_s": 0.3}})
    if driver == "unitree_go2":
        action, representation = [0.4, 0, 0], "base_velocity"
    else:
        action, representation = [*(target.observe()["joint_states"] + 0.3), 1.0], "joint_position"
    drive(target, action, representation, 5)
    for _ in range(5):  # it thinks
        let_pass(target, 0.1)
        target.heartbeat()
    target.observe()
    target.step(np.array(action), representation)
    let_pass(target, 0.5)
    assert plant.still
    with pytest.raises(TargetStopped, match="no step and no heartbeat"):
        target.step(np.array(action), representation)


def test_a_dogs_velocity_ends_by_itself_long_before_the_watchdog(take):
    target, plant = take("unitree_go2", {"safety": {"watchdog_s": 2.0}})
    drive(target, [0.5, 0, 0.2], "base_velocity", 20)
    assert not plant.still and plant.place[0] > 0.1
    let_pass(target, 0.6)
    assert plant.still and plant.told[-1] == [0, 0, 0]
    target.step(np.array([0.5, 0, 0]), "base_velocity")  # it may go on


def test_a_dog_stays_in_its_fence_and_below_its_speed(take):
    target, plant = take("unitree_go2", {"safety": {"workspace": {"low": [-1, -1], "high": [0.5, 1]}}})
    _, words = drive(target, [3.0, 0, 0], "base_velocity", 50, 25)
    assert {"base speed", "workspace", "base acceleration"} <= words
    assert plant.place[0] < 0.5 and max(told[0] for told in plant.told) <= 0.6


def test_stop_from_another_thread_holds_until_an_episode_begins(take):
    target, plant = take("franka")
    away = np.array([*FRANKA_HOME, 1.0]) + np.array([0.8, 0, 0, 0, 0, 0, 0, 0])
    drive(target, away, "joint_position", 5)
    target.stop()
    assert plant.stops == 1
    let_pass(target, 0.2)
    assert plant.still and plant.q[0] < 0.5
    with pytest.raises(TargetStopped, match="robot stopped: stopped"):
        target.step(away, "joint_position")
    target.reset()
    target.step(away, "joint_position")


@pytest.mark.parametrize("driver", [*ARMS, "unitree_go2"])
def test_a_stop_in_the_middle_of_a_step_is_before_its_command(take, driver):
    """What was decided before the stop is not sent after it."""
    target, plant = take(driver)
    read, others = target.robot.read, []

    def read_and_be_stopped():
        seen = read()
        other = threading.Thread(target=target.stop)
        others.append(other)
        other.start()
        until(lambda: target._why)  # it waits for the wire, which this step holds
        return seen

    target.robot.read = read_and_be_stopped
    shape = target.actions()[0].shape[0]
    with pytest.raises(TargetStopped, match="robot stopped: stopped"):
        target.step(np.full(shape, 0.5), target.actions()[0].representation)
    for other in others:
        other.join(PATIENCE_S)
    let_pass(target, 0.5)
    here = [] if driver != "lerobot" else [[0.0] * 5]  # servos stop by the present pose as their goal
    assert plant.told == here * len(plant.told)


def test_closing_stops_it_first(take):
    target, plant = take("unitree_go2")
    target.step(np.array([0.3, 0, 0]), "base_velocity")
    target.close()
    assert plant.stops >= 1 and plant.wanted.tolist() == [0, 0, 0]
    target.close()


def test_a_cut_wire_is_told_as_what_it_is(take, peers):
    target, plant = take("lerobot")
    target.step(np.zeros(6), "joint_position")

    def cut(said):
        raise ConnectionResetError("the wire was cut")

    plant.lie = cut
    with pytest.raises((TargetStopped, ConnectionError), match=r"the wire was cut"):
        target.step(np.zeros(6), "joint_position")
    plant.lie = lambda said: said


# -- opening ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", ["lerobot", "franka", "unitree_go2"])
def test_without_its_library_it_says_what_to_install(driver, monkeypatch):
    for name in ("lerobot", "franky", "unitree_sdk2py"):
        monkeypatch.setitem(sys.modules, name, None)
    made = adapter(declared(driver, "127.0.0.1:1"), PluginContext(SystemClock()))
    with pytest.raises(MissingRequirement, match="install") as told:
        made.open()
    assert "is not installed" in told.value.found


@pytest.mark.parametrize(
    ("driver", "fix"), [("lerobot", "lerobot-find-port"), ("franka", "FCI"), ("unitree_go2", "connect it")]
)
def test_a_robot_that_does_not_answer_is_missing_with_what_to_do(peers, driver, fix):
    made = adapter(declared(driver, "127.0.0.1:9"), PluginContext(SystemClock()))
    with pytest.raises(MissingRequirement, match=fix):
        made.open()


def test_nobody_is_asked_to_calibrate_at_a_terminal(peers):
    with peers.Plant("servo", (0.0,) * 5) as plant:
        plant.calibrated = False
        made = adapter(declared("lerobot", plant.address), PluginContext(SystemClock()))
        with pytest.raises(MissingRequirement, match=r"lerobot-calibrate --robot\.type=so101_follower"):
            made.open()


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"units": "percent"}, "shoulder_pan uses degrees"),
        ({"units": "gradians"}, "one of degrees, radians, percent"),
        ({"safety": {"max_speed": 1}}, "no limit is called max_speed"),
        ({"safety": {"joint_speed": math.nan}}, "nan"),
        ({"safety": {"joint_speed": {"elbow": 1}}}, "no elbow"),
        ({"safety": {"workspace": {"low": [0, 0, 0], "high": [1, 1, 1]}}}, "kinematics are not known"),
        ({"control_hz": 5000}, "1 to 500"),
        ({"robot": {"type": "so101_follower"}}, "refuses it"),
        ({"robot": {"type": "octopus", "port": "x"}}, "one of so101_follower"),
    ],
)
def test_a_config_that_is_none_is_refused_by_its_member(peers, config, says):
    with peers.Plant("servo", (0.0,) * 5) as plant:
        with pytest.raises(UserError, match=says):
            made = adapter(declared("lerobot", plant.address, **config), PluginContext(SystemClock()))
            made.open()
        assert plant.told == []


def test_percent_becomes_radians_by_the_calibration(take, peers):
    with peers.Plant("servo", (0.0,) * 5) as plant:
        robot = {"type": "so101_follower", "port": plant.address, "use_degrees": False}
        made = adapter(declared("lerobot", "", robot=robot, units="percent"), PluginContext(peers.CLOCK))
        made.open()
        for _ in range(30):
            made.step(np.array([0.2, -0.1, 0, 0.1, 0, 1]), "joint_position")
            let_pass(made, 0.02)
        assert np.allclose(plant.q, [0.2, -0.1, 0, 0.1, 0], atol=0.02)
        assert made.observe()["state"][0] == pytest.approx(100 * plant.q[0] / (1024 * 2 * math.pi / 4095), abs=1)
        made.close()


def test_kinematics_give_an_arm_a_hand_and_a_box(take, tmp_path):
    rows = [
        [0, 0.05, 0, 0],
        [0, 0, -math.pi / 2, -math.pi / 2],
        [0.11, 0, 0, 0],
        [0.13, 0, 0, 0],
        [0, 0, -math.pi / 2, 0],
    ]
    target, plant = take(
        "lerobot",
        {
            "kinematics": {"dh": rows, "tool": [0, 0, 0.1]},
            "safety": {"workspace": {"low": [-1, -1, 0], "high": [1, 1, 0.25]}},
        },
    )
    assert {"ee_delta", "ee_pose"} <= {spec.representation for spec in target.actions()}
    assert "ee_pose" in target.observations() and plant.told == []


def test_a_plugin_package_brings_its_own_arm(take, peers, tmp_path, monkeypatch):
    package = tmp_path / "lerobot_robot_twin"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from dataclasses import dataclass\n"
        "from lerobot.robots import RobotConfig\n"
        "from lerobot.robots.so_follower import SO101Follower, _SOFollowerConfig\n"
        "@RobotConfig.register_subclass('twin')\n@dataclass\n"
        "class TwinConfig(RobotConfig, _SOFollowerConfig):\n    pass\n"
        "class Twin(SO101Follower):\n    config_class = TwinConfig\n    name = 'twin'\n"
    )
    info = tmp_path / "lerobot_robot_twin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lerobot_robot_twin\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    target, _ = take("lerobot")
    with peers.Plant("servo", (0.0,) * 5) as plant:
        made = adapter(
            declared("lerobot", "", robot={"type": "twin", "port": plant.address}), PluginContext(SystemClock())
        )
        made.open()
        made.step(np.zeros(6), "joint_position")
        assert len(plant.told) == 1
        made.close()
    sys.modules.pop("lerobot_robot_twin", None)
    assert target.robot.joints == made.robot.joints


def test_cameras_by_their_device_give_rgb_and_a_frozen_one_stops_the_episode(peers, patient):
    with peers.Plant("fci", FRANKA_HOME) as plant:
        given = declared("franka", plant.address, safety={"stale_s": 0.3})
        cameras = (CameraSpec("front", (64, 48), device="test:64x48"),)
        target = Target(
            given.id, given.kind, adapter=given.adapter, driver="franka", cameras=cameras, config=given.config
        )
        peers.CLOCK = ManualClock()
        made = adapter(target, PluginContext(peers.CLOCK))
        made.open()
        assert made.observe()["rgb.front"][0, 0].tolist() == [30, 20, 10]
        assert made.observations()["rgb.front"] == ((48, 64, 3), "uint8") and "rgb_camera" in made.sensors()
        capture = sys.modules["cv2"].VideoCapture
        capture.frozen = True
        until(lambda: capture.missed)  # what was read before is taken in
        let_pass(made, 0.4)
        with pytest.raises(UserError, match="last picture"):
            made.observe()
        made.close()


def test_a_camera_that_is_not_there_is_named(peers):
    with peers.Plant("fci", FRANKA_HOME) as plant:
        given = declared("franka", plant.address)
        for device, says in (("/dev/video0", "no camera opens at /dev/video0"), ("", "has no device")):
            cameras = (CameraSpec("front", device=device),)
            target = Target(given.id, given.kind, driver="franka", cameras=cameras, config=given.config)
            with pytest.raises(MissingRequirement, match=says):
                adapter(target, PluginContext(SystemClock())).open()


def test_an_arm_whose_tool_is_elsewhere_than_our_kinematics_have_it_is_refused(peers, monkeypatch):
    there = panda.forward
    monkeypatch.setattr(panda, "forward", lambda q: there(q) + np.eye(4, k=3) * 0.02)
    with peers.Plant("fci", FRANKA_HOME) as plant:
        with pytest.raises(BadInput, match="20 mm"):
            adapter(declared("franka", plant.address), PluginContext(SystemClock())).open()
        assert plant.told == []


def test_an_unknown_driver_is_told_which_there_are():
    with pytest.raises(BadInput, match="franka, lerobot, rosbridge, unitree_go2"):
        adapter(Target("x", "real_robot", driver="r2d2"), PluginContext(SystemClock()))


@pytest.mark.parametrize("driver", ["franka", "lerobot"])
def test_no_reset_of_the_stopped_session_prepares_it_again(take, driver, monkeypatch):
    target, _ = take(driver)
    run = Run(target.context.clock, math.inf)
    target.set_run(run)
    run.cancel.set()
    prepared = []
    monkeypatch.setattr(target.robot, "prepare", lambda: prepared.append(True))
    for call in (target.reset, lambda: target.step(np.zeros(8 if driver == "franka" else 6), "joint_position")):
        with pytest.raises(TargetStopped, match="cancelled") as refused:
            call()
        assert "reset" not in str(refused.value.fix)
    assert prepared == []


def test_a_stop_while_it_is_prepared_comes_after_it(take, monkeypatch):
    target, _ = take("franka")
    run = Run(target.context.clock, math.inf)
    target.set_run(run)
    called = []
    monkeypatch.setattr(target.robot, "prepare", lambda: (run.cancel.set(), target.stop(), called.append("prepare")))
    monkeypatch.setattr(target.robot, "halt", lambda: called.append("halt"))
    with pytest.raises(TargetStopped):
        target.reset()
    assert called == ["halt", "prepare", "halt"]
