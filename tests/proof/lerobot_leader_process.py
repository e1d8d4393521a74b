"""Run by LeRobot's own environment: finds its SO-101 arms on two serial lines, calibrates the leader by its own
questions, and leads the follower by it. Prints what it found."""

from __future__ import annotations

import io
import json
import os
import select
import sys
import threading
import time
from pathlib import Path

import numpy as np
from lerobot_arm_process import MOTORS, SPANS, target, wait_longer
from servos import Servos
from with_torchvision import declare

from worldfs.base.clock import SystemClock
from worldfs.base.model import PolicySpec
from worldfs.plugins.teleoperation.device_scan import scan
from worldfs.plugins.teleoperation.leader_arm import client, leader_device
from worldfs.policies.policy_client import PolicyError


def leader(port, **more):
    settings = {"type": "so101_leader", "port": port, "id": "hand"}
    return PolicySpec("leader", extra={"teleoperator": settings, "units": "degrees", **more})


def refused(spec):
    made = client(spec, SystemClock())
    try:
        made.connect(5.0)
    except PolicyError as error:
        return f"{error.code} {error}"
    made.close()
    return ""


class Person(io.TextIOBase):
    """Somebody at the keyboard: presses Enter when the arm is in the middle, moves each joint to both of its ends,
    and presses Enter again."""

    def __init__(self, servos):
        self.servos, self.asked = servos, 0
        self._read, self._write = os.pipe()

    def fileno(self):
        return self._read

    def readline(self, size=-1):
        self.asked += 1
        if self.asked == 1:
            threading.Thread(target=self._move, daemon=True).start()
            return "\n"
        return os.read(self._read, 1).decode()

    def _move(self):
        while self.servos.word(1, 31) == 0:  # until it has noted the middle
            time.sleep(0.01)
        time.sleep(1.0)
        for share in (0.0, 1.0, 0.5):
            for id, (low, high) in enumerate(SPANS, 1):
                self.servos.place[id] = low + share * (high - low)
            time.sleep(2.0)
        os.write(self._write, b"\n")


def main():
    declare()
    wait_longer()
    home = Path(os.environ["HF_LEROBOT_CALIBRATION"])
    follower, hand = Servos(SPANS), Servos(SPANS)
    found = scan([hand.port, "/dev/ttyNONE"])
    said = {
        "motors": [port.motors for port in found.ports], "trouble": found.ports[1].trouble,
        "is_arm": [port.is_so_arm for port in found.ports], "blind": found.blind,
        "nobody": refused(leader("/dev/ttyNONE")), "uncalibrated": refused(leader(hand.port)),
    }  # fmt: skip
    for id, (low, high) in enumerate(SPANS, 1):
        hand.place[id] = (low + high) / 2 + 5  # about the middle
    device = leader_device(leader(hand.port))
    device.connect(uncalibrated=True)
    before, sys.stdin = sys.stdin, Person(hand)
    try:
        device.device.calibrate()
    finally:
        sys.stdin = before
        device.close()
    (saved,) = home.glob("teleoperators/*/hand.json")
    said["ranges"] = {name: [one["range_min"], one["range_max"]] for name, one in json.loads(saved.read_text()).items()}

    place = home / "robots" / "so_follower"
    place.mkdir(parents=True)
    calibration = {
        name: {"id": i + 1, "drive_mode": 0, "homing_offset": 0, "range_min": low, "range_max": high}
        for i, (name, (low, high)) in enumerate(zip(MOTORS, SPANS, strict=True))
    }
    (place / "arm.json").write_text(json.dumps(calibration))
    said["joints"] = refused(leader(hand.port, joints=["elbow"]))
    led = target(follower.port, robot={"disable_torque_on_disconnect": True}, safety={"joint_speed": 1.5})
    led.open()
    arm = client(leader(hand.port), SystemClock())
    info = arm.connect(5.0)
    began = led.observe()["joint_states"]
    for id in (1, 2, 3):
        hand.place[id] += 200  # a person's hand
    hand.place[6] = SPANS[5][0] + 0.25 * (SPANS[5][1] - SPANS[5][0])
    first = len(follower.goals)
    for _ in range(60):
        led.step(arm.infer({}, "", 1.0).actions[0], "joint_position")
        time.sleep(0.05)
    seen = led.observe()
    told = np.array(follower.goals[first:])[:, :5]
    said |= {
        "kind": [info.name, info.representation, info.action_dim], "gripper": float(seen["gripper"][0]),
        "moved": (seen["joint_states"] - began).tolist(), "largest": float(np.abs(np.diff(told, axis=0)).max()),
        "torque": [memory[40] for memory in hand.memory.values()],
    }  # fmt: skip
    led.close()
    hand.close()
    try:
        arm.infer({}, "", 1.0)
    except PolicyError as error:
        said["gone"] = f"{error.code} {error}"
    arm.close()
    follower.close()
    print(json.dumps(said))
    sys.stdout.flush()


if __name__ == "__main__":
    assert select.select  # LeRobot looks by it whether Enter was pressed
    main()
