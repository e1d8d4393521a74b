"""Arms through LeRobot's robot interface: all those that it drives, and those of `lerobot_robot_*` packages.

`config`: `robot` {type, port, id …} as LeRobot's own configuration has it (`cameras` {name: {type: opencv …}} too);
`units`, `gripper` and `span` as in `lerobot_device`; `kinematics` {urdf, joints, tip} or {dh: [[a, d, alpha, offset]
…], tool: [x, y, z]}.

Servos of these arms hold the last goal that was sent, so a goal is never farther ahead than one control period.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from worldfs.base.driver import PluginContext
from worldfs.base.errors import BadInput, MissingRequirement, WorldError
from worldfs.base.given_file import read_given_file
from worldfs.base.messages import coded
from worldfs.base.model import Target
from worldfs.robots.targets.kinematics import Chain, from_dh, from_urdf
from worldfs.robots.targets.safety_limits import REDUCED_SPEED, SafetyLimits
from worldfs.robots.targets.target_adapter import Array

from .lerobot_device import ROBOT, LeRobotDevice
from .robot_interface import RobotCommand, RobotInterface, RobotReading
from .robot_library import config_member

SERVO_SPEED: Final = 4.7  # rad/s: Feetech STS3215 without load, 45 rpm (its data sheet)
# this package's: slow enough to step back from, for arms of a metre
USUAL_SPEED, USUAL_STEP, USUAL_FOLLOW = 1.0, 0.15, 0.35


def robot(target: Target, context: PluginContext) -> RobotInterface:
    return LeRobotArm(target, context)


class LeRobotArm:
    """One arm, by its device."""

    serial = True

    def __init__(self, target: Target, context: PluginContext) -> None:
        self._target, self._context = target, context
        self._at = f"TARGETS.md {target.id} config"
        self.joints: tuple[str, ...] = ()
        self.chain: Chain | None = None
        self.maker = self.usual = SafetyLimits()
        self.width = 1.0
        given = target.config.get("robot")
        settings = given if isinstance(given, Mapping) else {}
        self._own = LeRobotDevice(ROBOT, settings, target.config, place=f"{self._at}.robot", at=self._at)
        self._sizes: dict[str, tuple[int, int]] = {}
        self._before: tuple[float, Array] | None = None

    def connect(self) -> None:
        config_member(self._target, "robot", dict)  # says what is wrong with it
        own = self._own
        own.connect()
        self.joints, self.width = own.joints, own.width
        self._sizes = {
            name: (int(shape[0]), int(shape[1]))
            for name, shape in dict(own.device.observation_features).items()
            if isinstance(shape, tuple) and len(shape) == 3
        }
        try:
            self._limits()
        except BaseException:
            self.close()
            raise

    def sensors(self) -> frozenset[str]:
        return frozenset({"joint_states"})

    def pictures(self) -> Mapping[str, tuple[int, int]]:
        return self._sizes

    def read(self) -> RobotReading:
        own = self._own
        observation = self._own.device.get_observation()
        at = self._context.clock.monotonic()
        joints = own.radians(observation)
        speeds = np.zeros_like(joints)
        if self._before is not None and at > self._before[0]:
            speeds = (joints - self._before[1]) / (at - self._before[0])
        self._before = (at, joints)
        pictures = {name: np.asarray(observation[name], dtype=np.uint8) for name in self._sizes}
        native = np.array([float(observation[name]) for name in own.features if name in observation])
        return RobotReading(at, joints, speeds, own.opening(observation), pictures=pictures, native=native)

    def prepare(self) -> None:
        return

    def send(self, command: RobotCommand) -> None:
        self._own.device.send_action(self._own.values(command.joints, command.opening))

    def halt(self) -> None:
        """The present pose as the goal: in power, for an arm that lets go falls."""
        own = self._own
        if not own.connected:
            return
        made = own.device
        observation = made.get_observation()
        features = [f"{name}.pos" for name in own.joints] + ([own.gripper] if own.gripper else [])
        made.send_action({name: float(observation[name]) for name in features} | own.still)

    def close(self) -> None:
        self._own.close()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _limits(self) -> None:
        """Limits and kinematics, once its calibration is known."""
        spans, count = self._own.spans, len(self.joints)
        self.maker = SafetyLimits(joint_speed=np.full(count, SERVO_SPEED))
        if np.isfinite(spans).all():
            self.maker = replace(self.maker, joint_low=spans[:, 0], joint_high=spans[:, 1])
        self.chain = self._kinematics()
        self.usual = SafetyLimits(
            joint_speed=np.full(count, USUAL_SPEED), joint_step=USUAL_STEP, follow=USUAL_FOLLOW,
            ee_speed=REDUCED_SPEED, ee_turn=1.0, gripper_speed=2.0, watchdog_s=1.0, stale_s=1.5,
        )  # fmt: skip

    def _kinematics(self) -> Chain | None:
        declared = self._target.config.get("kinematics")
        if declared is None:
            return None
        at = f"{self._at}.kinematics"
        if isinstance(declared, Mapping) and isinstance(declared.get("urdf"), str):
            path = os.path.expanduser(str(declared["urdf"]))
            try:
                text = read_given_file(path, op="open a target").decode("utf-8", "replace")
            except WorldError as error:
                raise MissingRequirement(
                    coded("target.no_description", path=path, why=error.found), path=f"{at}.urdf"
                ) from error
            names = declared.get("joints") or self.joints
            if len(names) != len(self.joints):
                raise BadInput(f"{len(names)} joints", path=f"{at}.joints", expected=", ".join(self.joints))
            return from_urdf(text, [str(name) for name in names], str(declared.get("tip") or ""), path=path)
        if (
            isinstance(declared, Mapping)
            and isinstance(declared.get("dh"), list)
            and len(declared["dh"]) == len(self.joints)
        ):
            tool = np.eye(4)
            tool[:3, 3] = declared.get("tool") or (0.0, 0.0, 0.0)
            return from_dh([[float(part) for part in row] for row in declared["dh"]], tool)
        raise BadInput(
            f"{declared!r}", path=at,
            expected=coded("target.kinematics", n=len(self.joints)),
        )  # fmt: skip
