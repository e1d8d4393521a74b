"""The quadruped's view: one quadruped of a simulation by the prefix of its names, its joints, trunk and contacts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from worldfs.robots.mujoco import geometry
from worldfs.robots.mujoco.array_types import Array
from worldfs.robots.mujoco.simulation import Simulation

from . import quadruped_model


@dataclass(frozen=True, slots=True)
class TrunkPose:
    """Where the trunk is in the world (m), and how it is turned (rad); `up`: its own axis times the world's up."""

    x: float
    y: float
    z: float
    roll: float
    pitch: float
    yaw: float
    up: float


class QuadrupedView:
    """Where this quadruped's values are in the model; every name of it is looked up here, and here alone."""

    def __init__(self, simulation: Simulation, prefix: str = "") -> None:
        self.simulation, self.prefix = simulation, prefix
        model = simulation.model
        root = model.joint(prefix + quadruped_model.ROOT)
        first, dof = int(root.qposadr[0]), int(root.dofadr[0])
        joints = [model.joint(prefix + name) for name in quadruped_model.JOINTS]
        servos = [model.actuator(prefix + name).id for name in quadruped_model.JOINTS]
        _follow([int(joint.qposadr[0]) for joint in joints], first + 7)  # MuJoCo numbers what stands together in turn
        _follow(servos, servos[0])
        self._place, self._turn = slice(first, first + 3), slice(first + 3, first + 7)
        self._velocity, self._spin = slice(dof, dof + 3), slice(dof + 3, dof + 6)
        self._joints, self._speeds = slice(first + 7, first + 19), slice(dof + 6, dof + 18)
        self.servos = slice(servos[0], servos[0] + len(servos))
        names = (quadruped_model.TRUNK, *quadruped_model.JOINTS)
        self.bodies = frozenset(model.body(prefix + name).id for name in names)
        self._own = frozenset(geom for geom in range(model.ngeom) if int(model.geom_bodyid[geom]) in self.bodies)

    # --- what it measures ---

    def pose(self) -> TrunkPose:
        data = self.simulation.data
        x, y, z = data.qpos[self._place].tolist()
        a, b, c, d = data.qpos[self._turn].tolist()
        roll = math.atan2(2 * (a * b + c * d), 1 - 2 * (b * b + c * c))
        pitch = math.asin(max(-1.0, min(1.0, 2 * (a * c - d * b))))
        yaw = math.atan2(2 * (a * d + b * c), 1 - 2 * (c * c + d * d))
        return TrunkPose(x, y, z, roll, pitch, yaw, 1 - 2 * (b * b + c * c))

    def velocity(self, pose: TrunkPose) -> tuple[float, float, float]:
        """Forward, to the left (m/s) and turning left (rad/s), level."""
        data = self.simulation.data
        vx, vy, _ = data.qvel[self._velocity].tolist()
        p, q, r = data.qvel[self._spin].tolist()  # about the trunk's own axes
        cosine, sine = math.cos(pose.yaw), math.sin(pose.yaw)
        turn = -math.sin(pose.pitch) * p + math.cos(pose.pitch) * (math.sin(pose.roll) * q + math.cos(pose.roll) * r)
        return cosine * vx + sine * vy, cosine * vy - sine * vx, turn

    def joints(self) -> list[float]:
        """Joint angles (12, rad)."""
        found: list[float] = self.simulation.data.qpos[self._joints].tolist()
        return found

    def power(self) -> float:
        """What the motors do now (W); braking gives nothing back."""
        data = self.simulation.data
        return float(np.maximum(data.actuator_force[self.servos] * data.qvel[self._speeds], 0.0).sum())

    def touched(self) -> set[int]:
        """The geoms of others that a part of it touches."""
        data, found = self.simulation.data, set()
        for one, other in data.contact.geom.tolist():
            if (one in self._own) != (other in self._own):
                found.add(other if one in self._own else one)
        return found

    def camera(self, name: str) -> str:
        """The model's name for a camera: the robot's own, or one of the world."""
        return self.prefix + name if name == quadruped_model.CAMERA else name

    # --- what it is told ---

    def put(self, pose: Sequence[float], joints: Sequence[float]) -> None:
        """Places it (x y z roll pitch yaw), before the world has begun."""
        data = self.simulation.data
        data.qpos[self._place], data.qpos[self._joints] = pose[:3], joints
        data.qpos[self._turn] = geometry.quat_of(geometry.from_rpy(*pose[3:6]))

    def hold(self, goals: Sequence[float]) -> None:
        """Sets the servos' goal, which they keep no matter which body steps the world."""
        self.simulation.data.ctrl[self.servos] = goals

    def working(self, *, order: bool = False) -> AbstractContextManager[None]:
        """Meanwhile the world takes only the steps that this body asks for. `order`: see `Simulation.begin`."""
        return self.simulation.working(self.prefix, order=order)

    def advance(self, steps: int, goals: Array) -> None:
        """The world goes on; `goals` (12): of the servos, the same for all these steps."""
        self.simulation.advance(self.prefix, steps, self.servos, np.tile(goals, (steps, 1)))


def _follow(addresses: Sequence[int], first: int) -> None:
    assert list(addresses) == list(range(first, first + len(addresses))), addresses
