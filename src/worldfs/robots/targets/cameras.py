"""Cameras that a target declares by their devices: the newest picture of each, through OpenCV.

A thread for each camera takes pictures as they come, so that a read does not return an old one from the driver's queue.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from types import ModuleType

import numpy as np

from worldfs.base.clock import Clock
from worldfs.base.errors import BadInput, MissingRequirement, UserError
from worldfs.base.extras import needs
from worldfs.base.messages import coded
from worldfs.base.model import CameraSpec

from .target_adapter import Array

FIRST_S = 5.0  # real seconds that a camera may take for its first picture


class Cameras:
    """Those with a `device`: "/dev/video0", a number, a file or an address that OpenCV opens."""

    def __init__(self, specs: Sequence[CameraSpec], clock: Clock, path: str) -> None:
        self._specs, self._clock, self._path = specs, clock, path
        self._open: dict[str, _Camera] = {}

    def open(self, brought: Mapping[str, tuple[int, int]]) -> None:
        """Raises `MissingRequirement` for a missing device; `brought` are cameras that the robot's library has."""
        for spec in self._specs:
            if spec.name in brought:
                _as_stated(spec, brought[spec.name], f"{self._path} {spec.name}")
                continue
            if not spec.device:
                raise MissingRequirement(
                    coded("target.no_device", name=spec.name), path=self._path,
                    expected=coded("target.a_device", names=[*brought] or coded("common.none")),
                    fix=coded("target.configure"),
                )  # fmt: skip
            self._open[spec.name] = _Camera(spec, self._clock, _opencv(self._path), f"{self._path} {spec.name}")
        for camera in self._open.values():
            camera.wait()

    def sizes(self) -> dict[str, tuple[int, int]]:
        return {name: camera.size for name, camera in self._open.items()}

    def pictures(self, oldest_s: float) -> dict[str, Array]:
        """RGB, uint8 (H, W, 3). Raises `UserError` for a camera whose last picture is older than `oldest_s`."""
        return {name: camera.picture(oldest_s) for name, camera in self._open.items()}

    def close(self) -> None:
        for camera in self._open.values():
            camera.close()
        self._open.clear()


class _Camera:
    def __init__(self, spec: CameraSpec, clock: Clock, cv2: ModuleType, path: str) -> None:
        self._spec, self._clock, self._path, self._cv2 = spec, clock, path, cv2
        self.size = (spec.resolution[1], spec.resolution[0])
        device: object = int(spec.device) if spec.device.isdigit() else spec.device
        self._capture = cv2.VideoCapture(device)
        if not self._capture.isOpened():
            self._capture.release()
            raise MissingRequirement(
                coded("target.no_camera", device=spec.device), path=path, expected=coded("target.opencv_device"),
                fix=coded("target.plug_in"),
            )  # fmt: skip
        for what, value in ((cv2.CAP_PROP_FRAME_WIDTH, spec.resolution[0]),
                            (cv2.CAP_PROP_FRAME_HEIGHT, spec.resolution[1]), (cv2.CAP_PROP_FPS, spec.fps)):  # fmt: skip
            self._capture.set(what, value)
        self._newest: tuple[float, Array] | None = None
        self._first, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._take, name=f"camera {spec.name}", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        if not self._first.wait(FIRST_S) or self._newest is None:
            raise MissingRequirement(
                coded("target.no_picture", s=FIRST_S), path=self._path, fix=coded("target.other_program")
            )
        self.size = (self._newest[1].shape[0], self._newest[1].shape[1])
        _as_stated(self._spec, self.size, self._path)

    def picture(self, oldest_s: float) -> Array:
        newest = self._newest
        age = self._clock.monotonic() - newest[0] if newest is not None else np.inf
        if newest is None or age > oldest_s:
            raise UserError(
                coded("target.old_picture", age=age),
                path=self._path,
                expected=coded("target.stale_limit", s=oldest_s),
                fix=coded("target.see_camera"),
            )
        return newest[1]

    def close(self) -> None:
        self._over.set()
        self._thread.join(1.0)
        if not self._thread.is_alive():
            self._capture.release()

    def _take(self) -> None:
        while not self._over.is_set():
            fine, picture = self._capture.read()  # waits for the next picture
            if not fine:
                if self._over.wait(0.05):
                    return
                continue
            self._newest = (self._clock.monotonic(), self._cv2.cvtColor(picture, self._cv2.COLOR_BGR2RGB))
            self._first.set()


def _as_stated(spec: CameraSpec, size: tuple[int, int], path: str) -> None:
    """Raises `BadInput` where the robot's library returns pictures (height, width) of another size than configured."""
    height, width = size
    if spec.stated and (width, height) != spec.resolution:
        raise BadInput(
            f"{width} × {height}",
            path=f"{path} resolution",
            expected=" × ".join(map(str, spec.resolution)),
            fix=coded("target.write_resolution", width=width, height=height),
        )


def _opencv(path: str) -> ModuleType:
    with needs("calibration", path=path):
        import cv2
    module: ModuleType = cv2
    return module
