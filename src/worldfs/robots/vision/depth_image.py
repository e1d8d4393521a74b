"""The depth image: one frame of a colour camera with depth, and the geometry of its pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
FAR = 6.0  # m: what is farther is no measurement


@dataclass(frozen=True, slots=True)
class DepthImage:
    """`rgb` (H,W,3) uint8; `depth` (H,W) float32 m along the optical axis, 0 or not finite where there is none.

    `position`, `rotation`: the calibrated pose of the camera in the world (m; camera to world, it looks along −z, its
    picture's top is +y). `focal`: pixels. `time`: when it was taken (s of the robot's clock). `joints`: the arm's
    angles at that moment (rad).
    """

    camera: str
    rgb: npt.NDArray[np.uint8]
    depth: npt.NDArray[np.float32]
    position: Array
    rotation: Array
    focal: float
    time: float = 0.0
    joints: tuple[float, ...] = ()

    @property
    def measured(self) -> Mask:
        """Where there is a depth at all."""
        return np.isfinite(self.depth) & (self.depth > 0.02) & (self.depth < FAR)

    def points(self, v: npt.NDArray[np.intp], u: npt.NDArray[np.intp]) -> Array:
        """World positions (n × 3, m) of pixels: rows `v`, columns `u`."""
        height, width = self.depth.shape
        z = self.depth[v, u].astype(np.float64)
        local = np.stack([(u - width / 2 + 0.5) / self.focal * z, (height / 2 - 0.5 - v) / self.focal * z, -z], axis=1)
        return np.asarray(local @ self.rotation.T + self.position)

    def project(self, points: Array) -> tuple[Array, Array, Array]:
        """Row, column (pixels) and depth (m) of world positions (n × 3)."""
        height, width = self.depth.shape
        local = (points - self.position) @ self.rotation
        z = np.maximum(-local[:, 2], 1e-6)
        return (
            height / 2 - 0.5 - local[:, 1] / z * self.focal,
            local[:, 0] / z * self.focal + width / 2 - 0.5,
            -local[:, 2],
        )

    def seen_at(self, points: Array) -> tuple[Mask, Array, Array]:
        """Which of the points are in the picture with a measured depth, the depth measured there, and their own."""
        v, u, z = self.project(points)
        height, width = self.depth.shape
        row, column = np.rint(v).astype(int), np.rint(u).astype(int)
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width) & (z > 0.02)
        found = np.zeros(len(points))
        found[inside] = np.nan_to_num(self.depth[row[inside], column[inside]])
        return inside & (found > 0.02), found, z
