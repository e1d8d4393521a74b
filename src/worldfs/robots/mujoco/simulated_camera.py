"""The simulated camera: a picture of the true world with a depth sensor's noise, and its pose as it was calibrated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from worldfs.base.model import Json
from worldfs.robots.vision.depth_image import DepthImage

from . import geometry
from .action_evidence import rounded
from .array_types import Array
from .believed_rig import BelievedRig
from .camera import CameraFrame, CameraRenderer
from .rig import Rig
from .world_difference import CameraSensor

CAMERAS = ("front", "wrist")


class SimulatedCamera:
    """`sensor`: what it adds to a picture.

    A picture's pose comes from the believed rig, by the calibration and the measured joints, never from the world that
    it shows.
    """

    def __init__(
        self, truth: Rig, believed: BelievedRig, renderer: Callable[[], CameraRenderer], sensor: CameraSensor
    ) -> None:
        self._truth, self._believed, self._renderer = truth, believed, renderer
        self._sensor, self._rng = sensor, np.random.default_rng(sensor.seed)
        self._expected: CameraRenderer | None = None

    def take(self, camera: str) -> DepthImage:
        """What the camera shows now."""
        data = self._truth.simulation.data
        frame = self._renderer().capture(data, camera, depth=True)
        assert frame.depth is not None
        noise = self._rng.standard_normal(frame.depth.shape, dtype=np.float32)
        depth = frame.depth + np.float32(self._sensor.depth_noise) * noise * frame.depth**2
        if self._sensor.colour_noise and frame.rgb is not None:
            frame = replace(frame, rgb=self._grainy(frame.rgb))
        return self._image(camera, frame, depth, float(data.time))

    def _grainy(self, rgb: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        noise = self._rng.standard_normal(rgb.shape, dtype=np.float32)
        return np.clip(rgb + np.float32(self._sensor.colour_noise) * noise, 0, 255).astype(np.uint8)

    def expected(self, camera: str) -> DepthImage:
        """What it would show if there were no things: the arm at its measured angles, and the furniture."""
        if self._expected is None:
            self._expected = CameraRenderer(self._believed.view)
        data = self._believed.simulation.data
        frame = self._expected.capture(data, camera, depth=True)
        assert frame.depth is not None
        return self._image(camera, frame, frame.depth, float(data.time))

    def _image(self, camera: str, frame: CameraFrame, depth: npt.NDArray[np.float32], time: float) -> DepthImage:
        assert frame.rgb is not None
        position, rotation = self.pose(camera)
        joints = tuple(float(q) for q in self._believed.view.joints())
        return DepthImage(camera, frame.rgb, depth, position, rotation, frame.focal, time, joints)

    def pose(self, camera: str) -> tuple[Array, Array]:
        """Where it is by its calibration and the measured joints (m; camera to world)."""
        model, data = self._believed.simulation.model, self._believed.simulation.data
        number = model.camera(self._believed.view.camera(camera)).id
        return np.array(data.cam_xpos[number]), np.array(data.cam_xmat[number]).reshape(3, 3)

    def as_json(self) -> Json:
        """Where the cameras are in the world frame (m; quaternion w x y z; looking along −z)."""
        told: Json = {}
        for camera in CAMERAS:
            position, rotation = self.pose(camera)
            told[camera] = {
                "frame": "world", "position": rounded(position), "orientation": rounded(geometry.quat_of(rotation), 4)
            }  # fmt: skip
        return told

    def close(self) -> None:
        if self._expected is not None:
            self._expected.close()
            self._expected = None
