"""Run by LeRobot's own environment: leads LeRobot's own SO-101 class over a serial line, and prints what it found."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path

import numpy as np
from servos import Servos
from with_torchvision import declare

from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext
from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.model import Target
from worldfs.robots.targets.real_target import adapter

MOTORS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
SPANS = ((1024, 3072), (1000, 3000), (1100, 3100), (900, 3200), (0, 4095), (2000, 3500))
TURN = 2 * math.pi / 4095


def target(port, **more):
    robot = {"type": "so101_follower", "port": port, "id": "arm", **more.pop("robot", {})}
    return adapter(
        Target("so101", "real_robot", driver="lerobot", config={"robot": robot, **more}), PluginContext(SystemClock())
    )


def refused(made):
    try:
        made.open()
    except (MissingRequirement, BadInput) as error:
        return str(error)
    made.close()
    return ""


def wait_longer():
    """The library gives a motor 50 ms to answer; on a busy machine ours, a thread of this process, may take longer."""
    from lerobot.motors.feetech import feetech

    def patient(handler, length):
        handler.packet_start_time = handler.getCurrentTime()
        handler.packet_timeout = 5000.0

    feetech.patch_setPacketTimeout = patient


def main():
    declare()
    wait_longer()
    home = Path(os.environ["HF_LEROBOT_CALIBRATION"]) / "robots" / "so_follower"
    home.mkdir(parents=True)
    said = {"nobody": refused(target("/dev/ttyNONE")), "unknown": refused(target("x", robot={"type": "octopus"}))}
    servos = Servos(SPANS)
    said["uncalibrated"] = refused(target(servos.port))
    calibration = {
        name: {"id": i + 1, "drive_mode": 0, "homing_offset": 0, "range_min": low, "range_max": high}
        for i, (name, (low, high)) in enumerate(zip(MOTORS, SPANS, strict=True))
    }
    (home / "arm.json").write_text(json.dumps(calibration))
    said["units"] = refused(target(servos.port, units="percent"))
    for units in ("degrees", "percent"):
        robot = {"use_degrees": units == "degrees", "disable_torque_on_disconnect": False}
        made = target(servos.port, units=units, robot=robot, safety={"joint_speed": 1.5})
        made.open()
        began = made.observe()["joint_states"]
        goal = began + np.array([0.3, -0.2, 0.1, 0.0, 9.0])
        words, first = set(), len(servos.goals)
        for _ in range(60):
            words |= set(made.step(np.append(goal, 0.25), "joint_position").clamped)
            time.sleep(0.05)
        told = np.array(servos.goals[first:])[:, :5] * TURN
        seen = made.observe()
        made.stop()
        time.sleep(0.1)
        still = dict(servos.place)
        time.sleep(0.3)
        said[units] = {
            "moved": (seen["joint_states"] - began).tolist()[:3], "words": sorted(words),
            "gripper": seen["gripper"][0], "steps": len(told), "limits": [made.limits.joint_high.tolist()],
            "largest": float(np.abs(np.diff(told, axis=0)).max()), "state": seen["state"].tolist(),
            "inside": bool((np.array(servos.goals)[:, :5] >= [s[0] for s in SPANS[:5]]).all()
                           and (np.array(servos.goals)[:, :5] <= [s[1] for s in SPANS[:5]]).all()),
            "stands": max(abs(servos.place[id] - still[id]) for id in still) < 2,
        }  # fmt: skip
        made.close()
        said[units]["torque"] = [memory[40] for memory in servos.memory.values()]
        for id, (low, high) in enumerate(SPANS, 1):
            servos.place[id] = (low + high) / 2
            servos.memory[id][42:44] = ((low + high) // 2).to_bytes(2, "little")
    servos.close()
    print(json.dumps(said))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
