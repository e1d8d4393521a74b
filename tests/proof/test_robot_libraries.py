"""Robots' own libraries, as published: LeRobot's SO-101 class over a serial line, and franky's names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="robots speak in arrays")
pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "tests/robots/targets/peers"


def installed(python: str, where: Path, *packages: str) -> Path:
    """Packages in a folder of their own below build/. Skips, saying so, where they cannot be had."""
    if not where.is_dir():
        pip = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(where), *packages]
        done = subprocess.run(pip, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            pytest.skip(f"{' '.join(packages)} cannot be installed here: {done.stderr[-300:]}")
    return where


def _in_lerobots_environment(script: str, tmp_path: Path) -> dict[str, object]:
    """What a script of this directory prints last, run by LeRobot's own Python with its motors' library."""
    made = subprocess.run([ROOT / "scripts/lerobot"], capture_output=True, text=True, timeout=1800, check=False)
    if made.returncode:
        pytest.skip(f"LeRobot cannot be installed here: {made.stderr[-300:]}")
    python = str(ROOT / "build/lerobot/bin/python")
    motors = installed(python, ROOT / "build/feetech", "feetech-servo-sdk==1.0.0")
    environ = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(motors)]), "HF_LEROBOT_CALIBRATION": str(tmp_path / "c"),
        "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1",
    }  # fmt: skip
    done = subprocess.run(
        [python, ROOT / "tests/proof" / script], env=environ, capture_output=True, text=True, timeout=300,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_lerobots_own_leader_is_found_calibrated_and_leads_the_follower(tmp_path):
    said = _in_lerobots_environment("lerobot_leader_process.py", tmp_path)
    assert said["is_arm"] == [True, False] and said["motors"][0]["feetech"]["1000000"] == [1, 2, 3, 4, 5, 6]
    assert "ttyNONE" in said["trouble"] and "lerobot-find-port" in said["nobody"]
    assert "lerobot-calibrate --teleop.type=so101_leader" in said["uncalibrated"] and "elbow_flex" in said["joints"]
    assert {name: high - low for name, (low, high) in said["ranges"].items()} == {
        "shoulder_pan": 2048, "shoulder_lift": 2000, "elbow_flex": 2000, "wrist_flex": 2300, "wrist_roll": 4095,
        "gripper": 1500,
    }  # fmt: skip
    assert said["kind"] == ["so101_leader", "joint_position", 6] and said["torque"] == [0] * 6
    assert said["moved"] == pytest.approx([0.307, 0.307, 0.307, 0.0, 0.0], abs=0.02)
    assert said["gripper"] == pytest.approx(0.25, abs=0.03)
    assert said["largest"] <= (1.5 / 20 + 0.005) * 4095 / 6.2832  # steps of the servo in one control period
    assert "POLICY_CONNECTION" in said["gone"]


def test_lerobots_own_arm_class_is_led_and_kept_to_its_limits(tmp_path):
    said = _in_lerobots_environment("lerobot_arm_process.py", tmp_path)
    assert "lerobot-find-port" in said["nobody"] and "so101_follower" in said["unknown"]
    assert "lerobot-calibrate --robot.type=so101_follower" in said["uncalibrated"]
    assert "uses degrees" in said["units"]
    for units in ("degrees", "percent"):
        found = said[units]
        assert found["moved"] == pytest.approx([0.3, -0.2, 0.1], abs=0.03), units
        assert {"joint limit wrist_roll", "joint speed"} <= set(found["words"]), units
        assert found["gripper"] == pytest.approx(0.25, abs=0.03)
        assert found["steps"] == 60 and found["largest"] <= 1.5 / 20 + 0.005
        assert found["inside"] and found["stands"] and found["torque"] == [1] * 6


def test_the_stand_in_of_franky_has_the_published_names_and_parameters(tmp_path):
    """What our driver and its tests use exists in the published wheel, with the parameters that we pass."""
    where = installed(sys.executable, ROOT / "build/franky", "franky-control==2.0.0", "websockets")
    program = r"""
import json, sys, franky
def words(f):
    return f.__doc__ or ""
said = {
    "robot": sorted(n for n in dir(franky.Robot) if not n.startswith("_")),
    "gripper": sorted(n for n in dir(franky.Gripper) if not n.startswith("_")),
    "state": sorted(n for n in dir(franky.RobotState) if not n.startswith("_")),
    "module": sorted(n for n in dir(franky) if not n.startswith("_")),
    "modes": sorted(franky.RobotMode.__members__), "realtime": sorted(franky.RealtimeConfig.__members__),
    "move": words(franky.Robot.move), "join": words(franky.Robot.join_motion),
    "grasp": words(franky.Gripper.grasp_async),
    "collision": words(franky.Robot.set_collision_behavior), "wait": words(franky.BoolFuture.wait),
    "factor": franky.RelativeDynamicsFactor(0.4, 0.3, 0.2).velocity,
    "motion": franky.JointMotion([0.1] * 7).target.position.tolist(), "stop": repr(franky.JointStopMotion()),
    "msec": franky.Duration(1500).to_sec(),
}
try:
    franky.Robot("127.0.0.1", realtime_config=franky.RealtimeConfig.Ignore)
except Exception as error:
    said["refused"] = type(error).__name__
from worldfs.base.driver import PluginContext
from worldfs.robots.targets.real_target import adapter
from worldfs.base.clock import SystemClock
from worldfs.base.errors import MissingRequirement
from worldfs.base.model import Target
try:
    adapter(Target("f", "real_robot", driver="franka", config={"ip": "127.0.0.1"}), PluginContext(SystemClock())).open()
except MissingRequirement as error:
    said["ours"] = str(error)
print(json.dumps(said))
"""
    environ = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(where)])}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    standing = PEERS / "franky/__init__.py"
    space: dict = {}
    sys.path.insert(0, str(PEERS))
    try:
        exec(compile(standing.read_text(), str(standing), "exec"), space)
    finally:
        sys.path.remove(str(PEERS))
    ours = {name: {n for n in vars(space[name]) if not n.startswith("_")} for name in ("Robot", "Gripper")}
    assert ours["Robot"] <= set(said["robot"]) and ours["Gripper"] <= set(said["gripper"])
    assert {name for name, thing in space.items() if isinstance(thing, type) and not name.startswith("_")} - {
        "Enum",
        "SimpleNamespace",
        "Wire",
    } <= set(said["module"])
    assert {mode.name for mode in space["RobotMode"]} == set(said["modes"])
    assert {mode.name for mode in space["RealtimeConfig"]} == set(said["realtime"])
    used = {"q", "dq", "O_T_EE", "F_T_EE", "O_F_ext_hat_K", "tau_ext_hat_filtered", "robot_mode", "time",
            "current_errors", "last_motion_errors"}  # fmt: skip
    assert used <= set(said["state"])
    assert "asynchronous" in said["move"] and "timeout" in said["join"] and "timeout" in said["wait"]
    assert all(word in said["grasp"] for word in ("width", "speed", "force", "epsilon_inner", "epsilon_outer"))
    assert "torque_thresholds" in said["collision"] and said["motion"] == [0.1] * 7
    assert (said["factor"], said["msec"]) == (0.4, 1.5)
    assert said["refused"] == "NetworkException" and "activate FCI" in said["ours"]
