"""Honest worlds, for the cameras: light, noise and a calibration that is off, none of which the robot is told."""

from __future__ import annotations

import math
from typing import NamedTuple

import mujoco
import numpy as np

from worldfs.robots import rotations
from worldfs.robots.mujoco import geometry
from worldfs.robots.mujoco.arm import Arm
from worldfs.robots.mujoco.array_types import Array, Native
from worldfs.robots.mujoco.simulated_camera import CAMERAS
from worldfs.robots.mujoco.world_difference import DEPTH_NOISE, CameraSensor


class CameraWorld(NamedTuple):
    """`light`: factor on all of it; `light_angle` (degrees): how far the lamps stand round the table from where they
    were; `warmth`: the red of the light times 1 + this, its blue times 1 − this; `depth_noise` (mm at 1 m);
    `colour_noise` (of 255); `camera_shift` (mm) and `camera_tilt` (degrees): how far each camera is from its
    calibration, in a direction of its own."""

    light: float = 1.0
    light_angle: float = 0.0
    warmth: float = 0.0
    depth_noise: float = 1000 * DEPTH_NOISE
    colour_noise: float = 0.0
    camera_shift: float = 0.0
    camera_tilt: float = 0.0

    def sensor(self, seed: int) -> CameraSensor:
        return CameraSensor(self.depth_noise / 1000, self.colour_noise, seed)

    def apply(self, arm: Arm, seed: int) -> None:
        """Changes the lamps and the cameras of the world that the arm stands in. `seed`: of the directions."""
        model = arm.simulation.model
        tint = self.light * np.array([1 + self.warmth, 1.0, 1 - self.warmth])
        for shade in (model.vis.headlight.ambient, model.vis.headlight.diffuse, model.light_diffuse):
            shade[...] = np.clip(shade * tint, 0, 1)
        model.light_dir[:] = model.light_dir @ rotations.about_z(math.radians(self.light_angle)).T
        if self.camera_shift or self.camera_tilt:
            rng = np.random.default_rng([seed, 41])
            for camera in CAMERAS:
                self._misplace(model, model.camera(arm.view.camera(camera)).id, rng)
        mujoco.mj_forward(model, arm.simulation.data)

    def _misplace(self, model: Native, camera: int, rng: np.random.Generator) -> None:
        shift, axis = (_direction(rng) for _ in range(2))
        turn = rotations.axis_rotation(axis, math.radians(self.camera_tilt))
        model.cam_pos[camera] += self.camera_shift / 1000 * shift
        model.cam_quat[camera] = geometry.quat_of(turn @ rotations.matrix(model.cam_quat[camera]))


def _direction(rng: np.random.Generator) -> Array:
    found = rng.standard_normal(3)
    return np.asarray(found / np.linalg.norm(found))
