"""The simulated camera: a picture of the true world with a depth sensor's noise, and its pose as it was calibrated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from worldfs.base.model import Json
from worldfs.robots import rotations
from worldfs.robots.rotations import Pose
from worldfs.robots.vision.depth_image import DepthImage, Mask

from . import geometry
from .action_evidence import rounded
from .array_types import Array
from .believed_rig import BelievedRig
from .camera import CameraFrame, CameraRenderer
from .rig import Rig
from .scene_layout import LABEL_OWN
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
        self._calibrated = {camera: self.mount(camera) for camera in CAMERAS}

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
        data = self._believed.simulation.data
        frame = self._drawing().capture(data, camera, depth=True)
        assert frame.depth is not None
        return self._image(camera, frame, frame.depth, float(data.time))

    def arm_mask(self, camera: str) -> Mask:
        """The pixels of `expected` that show the arm."""
        believed = self._believed
        frame = self._drawing().capture(believed.simulation.data, camera, rgb=False, segments=True)
        assert frame.geoms is not None
        own = np.array([owner == LABEL_OWN for owner in believed.geom_owner] + [False])
        shown: Mask = own[frame.geoms]  # -1, nothing, reads the last entry
        return shown

    def _drawing(self) -> CameraRenderer:
        if self._expected is None:
            self._expected = CameraRenderer(self._believed.view)
        return self._expected

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

    # --- where it is mounted ---

    def mount(self, camera: str) -> Pose:
        """Where it is believed to be on what carries it: the world, or the hand."""
        model = self._believed.simulation.model
        number = model.camera(self._believed.view.camera(camera)).id
        return Pose(np.array(model.cam_pos[number]), rotations.matrix(model.cam_quat[number]))

    def remount(self, camera: str, mount: Pose) -> None:
        """From now on it is believed to be there."""
        model = self._believed.simulation.model
        number = model.camera(self._believed.view.camera(camera)).id
        model.cam_pos[number] = mount.position
        model.cam_quat[number] = geometry.quat_of(mount.rotation)
        self._believed.forward()

    def correction(self, camera: str) -> tuple[Array, Array]:
        """Turn (3×3) and shift (m) from its frame as it is believed to stand to the one of its calibration."""
        calibrated, now = self._calibrated[camera], self.mount(camera)
        return calibrated.rotation.T @ now.rotation, calibrated.inverse(now.position)

    def from_there(self, image: DepthImage) -> DepthImage:
        """A picture that was taken, with the pose at which its camera is believed to stand now."""
        position, rotation = self.pose(image.camera)
        return replace(image, position=position, rotation=rotation)

    def as_json(self) -> Json:
        """Where the cameras are in the world frame (m; quaternion w x y z; looking along −z); `corrected`: how far that
        is from their calibration."""
        told: Json = {}
        for camera in CAMERAS:
            position, rotation = self.pose(camera)
            told[camera] = {
                "frame": "world", "position": rounded(position), "orientation": rounded(geometry.quat_of(rotation), 4)
            } | self.corrected(camera)  # fmt: skip
        return told

    def corrected(self, camera: str) -> Json:
        """How far its mount is believed to be from its calibration (mm, degrees); empty where it is not."""
        turn, shift = self.correction(camera)
        away, angle = float(np.linalg.norm(shift)), geometry.angle(turn)
        if max(away, angle) < 1e-6:
            return {}
        return {"corrected": {"shift_mm": round(1000 * away, 1), "turn_deg": round(math.degrees(angle), 2)}}

    def close(self) -> None:
        if self._expected is not None:
            self._expected.close()
            self._expected = None
