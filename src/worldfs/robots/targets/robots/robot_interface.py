"""The port of robots: state for the safety layer, and the few commands that it sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Protocol, runtime_checkable

import numpy as np

from worldfs.base.driver import PluginContext
from worldfs.base.messages import coded
from worldfs.base.model import Target
from worldfs.base.plugin_values import UNKNOWN, WrongField
from worldfs.robots.targets.kinematics import Chain
from worldfs.robots.targets.safety_limits import SafetyLimits
from worldfs.robots.targets.target_adapter import Array


def no_booleans(values: Array) -> WrongField | None:
    """What is measured is a number; True is none."""
    return WrongField("dtype", "bool", coded("plugin.an_array")) if values.dtype.kind == "b" else None


Measured = Annotated[Array, UNKNOWN, no_booleans]


@dataclass(frozen=True, slots=True)
class RobotReading:
    """The robot's reported state. Radians, metres, newtons, seconds of the context's clock."""

    at: Annotated[float, UNKNOWN]  # when the robot sent it: a state that stopped coming grows old
    joints: Measured = field(default_factory=lambda: np.zeros(0))  # (n,)
    speeds: Measured | None = None  # (n,)
    opening: Annotated[float, UNKNOWN] = 0.0  # of the gripper, 0 closed … 1 open
    force: Annotated[float, UNKNOWN] = 0.0  # N at the tool
    torques: Measured | None = None  # (n,) Nm from outside
    place: Measured | None = None  # of a base: x, y (m), yaw (rad), where it thinks it is
    velocity: Measured | None = None  # of a base: vx, vy (m/s), wz (rad/s) in its own frame
    pictures: Mapping[str, Array] = field(default_factory=dict)  # camera → uint8 (H, W, 3)
    native: Measured | None = None  # the numbers in the library's own order and units
    trouble: str = ""  # why it cannot be moved now, in its own words


@dataclass(frozen=True, slots=True)
class RobotCommand:
    """One control period's command to a robot; it has passed the safety layer."""

    joints: Array = field(default_factory=lambda: np.zeros(0))  # (n,) rad to go to and hold
    opening: float = 0.0  # 0 closed … 1 open
    velocity: Array = field(default_factory=lambda: np.zeros(0))  # of a base: vx, vy (m/s), wz (rad/s)


class RobotInterface(Protocol):
    """One robot through its library. Called from one thread at a time, but for `halt`."""

    joints: tuple[str, ...]  # names; none: a base
    maker: SafetyLimits  # limits that no configuration may loosen
    usual: SafetyLimits  # limits where the operator sets none
    chain: Chain | None  # forward kinematics, if known
    serial: bool  # its wire carries one call at a time, `halt` too: while one hangs, a stop is not delivered

    def connect(self) -> None:
        """Raises `MissingRequirement` without the library or the robot, with the fix."""
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
        """Stop where it is, powered. From any thread; twice does nothing more."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class KnowsWidth(Protocol):
    """Optional interface of a robot: metres between its open fingers."""

    width: float


RobotFactory = Callable[[Target, PluginContext], RobotInterface]
"""Its attribute `settings`, if it has one, lists the members of `config` that it reads: a name for a limit or a switch
(`velocity`, `dry_run`) that is not among them refuses the target."""
