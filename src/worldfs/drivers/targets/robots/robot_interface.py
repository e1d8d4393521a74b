"""The port of robots: what the safety layer is told by one, and the few things it may tell it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from worldfs.drivers.targets.kinematics import Chain
from worldfs.drivers.targets.safety_limits import SafetyLimits
from worldfs.drivers.targets.target_adapter import Array, TargetContext
from worldfs.ground.model import Target


@dataclass(frozen=True, slots=True)
class RobotReading:
    """What the robot says of itself. Radians, metres, newtons, seconds of the bench's clock."""

    at: float  # when the robot said it: a state that stopped coming grows old
    joints: Array = field(default_factory=lambda: np.zeros(0))  # (n,)
    speeds: Array | None = None  # (n,)
    opening: float = 0.0  # of the gripper, 0 closed … 1 open
    force: float = 0.0  # N at the tool
    torques: Array | None = None  # (n,) Nm from outside
    place: Array | None = None  # of a base: x, y (m), yaw (rad), where it thinks it is
    velocity: Array | None = None  # of a base: vx, vy (m/s), wz (rad/s) in its own frame
    pictures: Mapping[str, Array] = field(default_factory=dict)  # camera → uint8 (H, W, 3)
    native: Array | None = None  # the numbers in the library's own order and units
    trouble: str = ""  # why it cannot be moved now, in its own words


@dataclass(frozen=True, slots=True)
class RobotCommand:
    """What a robot is told for one control period; it has passed the safety layer."""

    joints: Array = field(default_factory=lambda: np.zeros(0))  # (n,) rad to go to and stand at
    opening: float = 0.0  # 0 closed … 1 open
    velocity: Array = field(default_factory=lambda: np.zeros(0))  # of a base: vx, vy (m/s), wz (rad/s)


class RobotInterface(Protocol):
    """One robot through its library. Called from one thread at a time, but for `halt`."""

    joints: tuple[str, ...]  # names; none: a base
    maker: SafetyLimits  # figures that nobody may loosen
    usual: SafetyLimits  # what holds where the operator says nothing
    chain: Chain | None  # where the tool is at given angles, if that is known
    serial: bool  # its wire carries one call at a time, `halt` too

    def connect(self) -> None:
        """Raises `Missing` where the library or the robot is not here, saying what to install or switch on."""
        ...

    def sensors(self) -> frozenset[str]: ...

    def pictures(self) -> Mapping[str, tuple[int, int]]:
        """Cameras that come with it: name → (height, width)."""
        ...

    def read(self) -> RobotReading: ...

    def prepare(self) -> None:
        """Before an episode, if the target's config asks for it: clear an error, stand up."""
        ...

    def send(self, command: RobotCommand) -> None: ...

    def halt(self) -> None:
        """Stand still where it is, in power. From any thread; twice does nothing more."""
        ...

    def close(self) -> None: ...


RobotFactory = Callable[[Target, TargetContext], RobotInterface]
