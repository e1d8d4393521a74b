"""SO-101 as the library has it: six servos, the last one the gripper; degrees or percent; it asks when uncalibrated."""

import math
from dataclasses import dataclass, field
from enum import Enum
from types import SimpleNamespace

import numpy as np
from plant import Wire

from ...utils.errors import DeviceAlreadyConnectedError, DeviceNotConnectedError
from ..config import RobotConfig
from ..robot import Robot

MOTORS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
SPANS = ((1024, 3072), (1000, 3000), (1100, 3100), (900, 3200), (0, 4095), (2000, 3500))


class MotorNormMode(str, Enum):  # noqa: UP042 # as the library has it
    RANGE_0_100 = "range_0_100"
    RANGE_M100_100 = "range_m100_100"
    DEGREES = "degrees"


@dataclass
class MotorCalibration:
    id: int
    drive_mode: int
    homing_offset: int
    range_min: int
    range_max: int


@dataclass
class _SOFollowerConfig:
    port: str
    disable_torque_on_disconnect: bool = True
    max_relative_target: float | dict[str, float] | None = None
    cameras: dict = field(default_factory=dict)
    use_degrees: bool = True


@RobotConfig.register_subclass("so101_follower")
@dataclass
class SO101FollowerConfig(RobotConfig, _SOFollowerConfig):
    pass


class SO101Follower(Robot):
    config_class = SO101FollowerConfig
    name = "so_follower"

    def __init__(self, config):
        super().__init__(config)
        self.config = config
        body = MotorNormMode.DEGREES if config.use_degrees else MotorNormMode.RANGE_M100_100
        modes = [body] * 5 + [MotorNormMode.RANGE_0_100]
        self.calibration = {
            n: MotorCalibration(i, 0, 0, *s) for i, (n, s) in enumerate(zip(MOTORS, SPANS, strict=True))
        }
        self.bus = SimpleNamespace(
            motors={n: SimpleNamespace(model="sts3215", norm_mode=m) for n, m in zip(MOTORS, modes, strict=True)},
            model_resolution_table={"sts3215": 4096},
        )
        self._wire = None

    @property
    def observation_features(self):
        seen = {f"{motor}.pos": float for motor in MOTORS}
        return {**seen, **{n: (c.height, c.width, 3) for n, c in self.config.cameras.items()}}

    @property
    def action_features(self):
        return {f"{motor}.pos": float for motor in MOTORS}

    @property
    def is_connected(self):
        return self._wire is not None

    @property
    def is_calibrated(self):
        return self._wire.ask("state")["calibrated"]

    def connect(self, calibrate=True):
        if self.is_connected:
            raise DeviceAlreadyConnectedError(f"{self} is already connected.")
        try:
            self._wire = Wire(self.config.port)
        except OSError as error:
            raise ConnectionError(f"Could not connect on port '{self.config.port}'.") from error
        if calibrate and not self.is_calibrated:
            self.calibrate()

    def calibrate(self):
        input("Move it to the middle of its range of motion and press ENTER....")

    def configure(self):
        return

    def get_observation(self):
        self._connected()
        state = self._wire.ask("state")
        seen = {f"{n}.pos": self._theirs(i, q) for i, (n, q) in enumerate(zip(MOTORS, state["q"], strict=False))}
        seen["gripper.pos"] = 100 * state["opening"]
        return {**seen, **{n: np.zeros((c.height, c.width, 3), np.uint8) for n, c in self.config.cameras.items()}}

    def send_action(self, action):
        self._connected()
        q = [self._ours(i, action[f"{name}.pos"]) for i, name in enumerate(MOTORS[:5])]
        self._wire.ask("goto", q=q, opening=action["gripper.pos"] / 100)
        return action

    def disconnect(self):
        self._connected()
        wire, self._wire = self._wire, None
        wire.close()

    def _connected(self):
        if not self.is_connected:
            raise DeviceNotConnectedError(f"{self.__class__.__name__} is not connected. Run `.connect()` first.")

    def _theirs(self, i, q):
        half = (SPANS[i][1] - SPANS[i][0]) / 2 * 2 * math.pi / 4095
        return math.degrees(q) if self.config.use_degrees else 100 * q / half

    def _ours(self, i, value):
        half = (SPANS[i][1] - SPANS[i][0]) / 2 * 2 * math.pi / 4095
        return math.radians(value) if self.config.use_degrees else value / 100 * half
