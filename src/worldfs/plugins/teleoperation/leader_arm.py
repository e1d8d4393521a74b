"""A leader arm as a policy: the joints that a person holds are the goals of the arm that follows.

    policy_client:
      type: leader
      teleoperator: {type: so101_leader, port: /dev/ttyACM1, id: left_hand}
      units: degrees
      joints: [shoulder_pan, shoulder_lift, elbow_flex, wrist_flex, wrist_roll]

`units`, `gripper` and `span` as a target of LeRobot's has them; `joints`: in the follower's order, where it is another.
So a person's motions pass the follower's safety limits, stop, approval and record like any policy's.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from worldfs.base.clock import Clock
from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec
from worldfs.policies.policy_client import ActionChunk, Array, PolicyError, PolicyInfo, chunk_of
from worldfs.robots.targets.robots.lerobot_device import TELEOPERATOR, LeRobotDevice

PLACE = "SKILLS.md policy_client"


def client(spec: PolicySpec, clock: Clock) -> LeaderArm:
    return LeaderArm(spec)


def leader_device(spec: PolicySpec) -> LeRobotDevice:
    """Raises `PolicyError` for a `policy_client` without the settings of a teleoperator."""
    settings = spec.extra.get("teleoperator")
    if not isinstance(settings, Mapping):
        raise PolicyError(
            coded("common.nothing") if settings is None else repr(settings), path=f"{PLACE}.teleoperator",
            expected=coded("target.teleoperator_settings"),
        )  # fmt: skip
    return LeRobotDevice(
        TELEOPERATOR, {str(key): value for key, value in settings.items()}, spec.extra,
        place=f"{PLACE}.teleoperator", at=PLACE,
    )  # fmt: skip


class LeaderArm:
    """Its torque is off: it is moved by hand, and only read here."""

    def __init__(self, spec: PolicySpec) -> None:
        self.spec = spec
        self._device = leader_device(spec)
        self._order: list[int] = []

    def connect(self, timeout_s: float) -> PolicyInfo:
        """Once for all calls. Raises `PolicyError` (POLICY_CONNECTION) with what the device or its library said."""
        device = self._device
        if not device.connected:
            try:
                device.connect()
            except UserError as error:
                raise PolicyError(
                    error.found, path=error.path, expected=error.expected, fix=error.fix, code="POLICY_CONNECTION"
                ) from error
            self._order = self._joint_order()
        kind = str(device.settings.get("type", ""))
        return PolicyInfo(kind, _version(), representation="joint_position", action_dim=len(self._order) + 1, horizon=1)

    def reset(self) -> None:
        """It keeps nothing between two readings."""

    def infer(self, observation: Mapping[str, Array], words: str, timeout_s: float) -> ActionChunk:
        """One action: radians of each joint, and the opening of the gripper. The observation is not looked at."""
        device = self._device
        self.connect(timeout_s)
        try:
            values = device.device.get_action()
        except Exception as error:  # pyserial's, the motors' and the library's own
            raise PolicyError(
                coded("target.no_answer", kind=self.spec.type, why=str(error)), path=f"{PLACE}.teleoperator",
                fix=coded("target.see_port"), code="POLICY_CONNECTION",
            ) from error  # fmt: skip
        joints = device.radians(values)[self._order]
        return chunk_of(np.append(joints, device.opening(values)))

    def close(self) -> None:
        self._device.close()

    def _joint_order(self) -> list[int]:
        """The place of each of the follower's joints among the leader's."""
        have = self._device.joints
        wanted = self.spec.extra.get("joints", [*have])
        if not isinstance(wanted, list) or any(name not in have for name in wanted) or len({*wanted}) != len(wanted):
            self.close()
            raise PolicyError(f"{wanted!r}", path=f"{PLACE}.joints", expected=", ".join(have), code="POLICY_CLIENT")
        return [have.index(name) for name in wanted]


def _version() -> str:
    try:
        return version("lerobot")
    except PackageNotFoundError:
        return ""
