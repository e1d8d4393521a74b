"""The camera renderer: pictures, depth and segmentation of one model, drawn in a thread of its own.

A GL context belongs to the thread that made it, and a driver is called from whichever lane has work: so one thread owns
the context from start to end, and other threads submit to it. Shadows, reflections and multisampling are off: with
them a CPU draws one picture a second (reference "Embodied" §2).
"""

from __future__ import annotations

import importlib
import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import mujoco
import numpy as np
import numpy.typing as npt

from worldfs.base.errors import MissingRequirement
from worldfs.base.messages import coded

from .array_types import Array, Image, Native
from .gl import gl_status
from .simulation import Simulation

WIDTH, HEIGHT = 640, 480


@dataclass(frozen=True, slots=True)
class CameraFrame:
    """`rgb` (H,W,3) uint8; `depth` (H,W) float32 m along the optical axis; `geoms` (H,W) int32, -1 = none; camera pose.

    `rotation` turns camera to world coordinates; the camera points along its -z, its picture's top is its +y.
    """

    rgb: Image | None
    depth: npt.NDArray[np.float32] | None
    geoms: npt.NDArray[np.int32] | None
    position: Array
    rotation: Array
    focal: float  # pixels

    def ray(self, u: float, v: float) -> Array:
        """World direction of pixel (u right, v down), its part along the optical axis being 1."""
        return np.asarray(
            self.rotation @ [(u - WIDTH / 2 + 0.5) / self.focal, (HEIGHT / 2 - 0.5 - v) / self.focal, -1.0]
        )


class CameraView(Protocol):
    """A body whose cameras have names of their own in the model."""

    simulation: Simulation

    def camera(self, name: str) -> str: ...


class CameraRenderer:
    """Raises `MissingRequirement` with the packages that pictures need when there is no OpenGL."""

    def __init__(self, view: CameraView) -> None:
        status = gl_status()
        if not status.backend:
            why = coded("robot.no_camera", why=status.why)
            raise MissingRequirement(why, op="render", fix=status.fix, code="CAMERA_UNAVAILABLE")
        self._view, self._model = view, view.simulation.model
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="eye")
        try:
            self._thread.submit(self._make, status.backend).result()
        except Exception:
            self._thread.shutdown()
            raise

    def _make(self, backend: str) -> None:
        os.environ.setdefault("MUJOCO_GL", backend)
        self._gl = importlib.import_module(f"mujoco.{backend}").GLContext(WIDTH, HEIGHT)
        self._gl.make_current()
        self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._scene = mujoco.MjvScene(self._model, maxgeom=2000)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
        self._option = mujoco.MjvOption()

    def capture(
        self, data: Native, camera: str, *, rgb: bool = True, depth: bool = False, segments: bool = False,
        size: tuple[int, int] = (WIDTH, HEIGHT),
    ) -> CameraFrame:  # fmt: skip
        """One frame of a camera of the arm or of the world; the caller must not change `data` meanwhile.

        `size`: width and height in pixels, at most 640 × 480: a small picture is drawn small, and costs less.
        """
        return self._thread.submit(self._capture, data, camera, rgb, depth, segments, size).result()

    def _capture(  # noqa: PLR0917  # as `capture` passes it to the thread
        self, data: Native, camera: str, rgb: bool, depth: bool, segments: bool, size: tuple[int, int]
    ) -> CameraFrame:
        model = self._model
        number = model.camera(self._view.camera(camera)).id
        view = mujoco.MjvCamera()
        view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, number
        every = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(model, data, self._option, None, view, every, self._scene)
        picture = self._draw(False, depth and not segments, size) if rgb or not segments else (None, None)
        labels = self._draw(True, depth, size) if segments else (None, None)
        pixels = picture[1] if picture[1] is not None else labels[1]
        return CameraFrame(
            picture[0] if rgb else None,
            None if pixels is None or not depth else self._metres(pixels),
            self._geoms(labels[0]) if labels[0] is not None else None,
            np.array(data.cam_xpos[number]),
            np.array(data.cam_xmat[number]).reshape(3, 3),
            size[1] / 2 / math.tan(math.radians(float(model.cam_fovy[number])) / 2),
        )

    def _draw(self, labels: bool, depth: bool, size: tuple[int, int]) -> tuple[Image, npt.NDArray[np.float32] | None]:
        width, height = size
        rect = mujoco.MjrRect(0, 0, width, height)
        flags = self._scene.flags
        flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = int(labels)
        mujoco.mjr_render(rect, self._scene, self._context)
        pixels = np.empty((height, width, 3), np.uint8)
        far = np.empty((height, width), np.float32) if depth else None
        mujoco.mjr_readPixels(pixels, far, rect, self._context)
        return np.ascontiguousarray(pixels[::-1]), None if far is None else far[::-1]

    def _metres(self, buffer: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Distance from a reversed depth buffer (1 near, 0 far): z = n f / (n + d (f - n))."""
        extent = float(self._model.stat.extent)
        near, far = float(self._model.vis.map.znear) * extent, float(self._model.vis.map.zfar) * extent
        return np.asarray(near * far / (near + buffer.astype(np.float64) * (far - near)), dtype=np.float32)

    def _geoms(self, pixels: Image) -> npt.NDArray[np.int32]:
        wide = pixels.astype(np.int32)
        code = wide[..., 0] + (wide[..., 1] << 8) + (wide[..., 2] << 16)
        table = np.full(self._scene.ngeom + 1, -1, np.int32)
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.segid != -1 and geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                table[geom.segid + 1] = geom.objid
        return np.asarray(table[np.clip(code, 0, len(table) - 1)])

    def close(self) -> None:
        self._thread.submit(self._free).result()
        self._thread.shutdown()

    def _free(self) -> None:
        self._gl.make_current()
        self._context.free()
        self._gl.free()  # OSMesa prints an exception at the interpreter's end otherwise
