"""The arm's view: one arm of a simulation by the prefix of its names, its joints, gripper and tool point."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import numpy as np

from . import geometry, panda
from .array_types import Array, Native
from .simulation import Simulation


class ArmView:
    """Where this arm's values are in the model; every name of an arm is looked up here, and here alone.

    `base`: x y z roll pitch yaw of its base in the world (m, rad).
    """

    def __init__(self, simulation: Simulation, prefix: str = "", base: Sequence[float] = (0.0,) * 6) -> None:
        self.simulation, self.prefix = simulation, prefix
        model = simulation.model
        joints = [model.joint(prefix + name) for name in panda.JOINTS]
        fingers = [model.joint(prefix + name) for name in panda.FINGER_JOINTS]
        self.joint_qpos = _slice([int(joint.qposadr[0]) for joint in joints])
        self.joint_dof = _slice([int(joint.dofadr[0]) for joint in joints])
        self.finger_qpos = _slice([int(joint.qposadr[0]) for joint in fingers])
        self.servos = _slice([model.actuator(prefix + name).id for name in panda.SERVOS])
        self.gripper: int = model.actuator(prefix + panda.GRIPPER).id
        self.tcp: int = model.site(prefix + panda.TOOL_POINT).id
        self.fingers: tuple[int, ...] = tuple(model.body(prefix + name).id for name in panda.FINGERS)
        self.bodies = frozenset(model.body(prefix + name).id for name in panda.BODIES)
        self.base = np.array(base[:3])
        self.base_rotation = geometry.from_rpy(*base[3:6])

    # --- what it measures ---

    def joints(self) -> Array:
        """Joint angles (7, rad)."""
        return np.array(self.simulation.data.qpos[self.joint_qpos])

    def speeds(self) -> Array:
        """Joint speeds (7, rad/s)."""
        return np.array(self.simulation.data.qvel[self.joint_dof])

    def opening(self) -> float:
        """Distance between the pads (m)."""
        return float(self.simulation.data.qpos[self.finger_qpos].sum())

    def tcp_pose(self) -> tuple[Array, Array]:
        """Position (3) and rotation (3×3) of the point between the pads."""
        return self.tcp_pose_in(self.simulation.data)

    def tcp_pose_in(self, data: Native) -> tuple[Array, Array]:
        """The same in another copy of the state."""
        return np.array(data.site_xpos[self.tcp]), np.array(data.site_xmat[self.tcp]).reshape(3, 3)

    def camera(self, name: str) -> str:
        """The model's name for a camera: the arm's own, or one of the world."""
        return self.prefix + name if name in panda.CAMERAS else name

    # --- what it is told ---

    def grip(self, width: float) -> None:
        """Sets the fingers' goal (m a finger)."""
        self.simulation.data.ctrl[self.gripper] = width

    def hold(self) -> None:
        """Sets the servos' goal to the present angles."""
        data = self.simulation.data
        data.ctrl[self.servos] = data.qpos[self.joint_qpos]

    def working(self, *, order: bool = False) -> AbstractContextManager[None]:
        """Meanwhile the world takes only the steps that this arm asks for. `order`: see `Simulation.begin`."""
        return self.simulation.working(self.prefix, order=order)

    def advance(self, steps: int, commands: Array | None = None) -> None:
        """The world goes on; `commands` (steps × 7): the servos' goals, a row a step, None: they hold."""
        self.simulation.advance(self.prefix, steps, self.servos, commands)


def _slice(addresses: Sequence[int]) -> slice:
    """Addresses that follow each other, as MuJoCo numbers what stands together."""
    first = addresses[0]
    assert list(addresses) == list(range(first, first + len(addresses))), addresses
    return slice(first, first + len(addresses))
