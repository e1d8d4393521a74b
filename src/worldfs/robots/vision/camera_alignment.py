"""The camera alignment: how a camera stands otherwise than it was calibrated, by the surfaces whose places are known.

The points of a picture are moved as one rigid body until they lie on the arm and the furniture of the expected picture
(point to plane, by Gauss-Newton). What is no surroundings ends outside of the gate, which narrows from round to round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from .depth_image import Array, DepthImage, Mask

EVERY: Final = 6  # pixels between two that are compared
RANGE: Final = 2.5  # m: surroundings farther away are not compared
BEND: Final = 0.004  # m that the depth may bend within five pixels: more is an outline, and no surface
FLOOR: Final = 0.001  # m: what the model of a surface leaves beside the noise of the depth
ALIKE: Final = 5.0  # points that count as one: their errors are not independent
TRUSTED: Final = 10.0  # points of furniture that count as much as one of the arm
LEAST: Final = 300  # points that an alignment is made from
EXPLAINED: Final = 0.5  # share of the compared points that must lie on the known surfaces at last
SPREAD: Final = 0.004  # m: standard deviation of `moved` from which on nothing is known
USUAL: Final = (0.01, 0.01, 0.01, 0.01, 0.01, 0.01)  # rad and m: as far as cameras are usually off
GATES: Final = (0.06, 0.06, 0.045, 0.03, 0.02, 0.015, 0.01, 0.01)  # m from a surface, one a round
_ABOUT: Final = np.array([[0, 0, -1], [0.3, 0, -1], [-0.3, 0, -1], [0, 0.25, -1], [0, -0.25, -1]])


@dataclass(frozen=True, slots=True)
class CameraOffset:
    """From the camera's frame as it truly stands to its frame as it was believed to stand: `turn` (3×3), `shift` (m).

    `away` (m): the distance at which it sees its surroundings, median. `spread` (m): standard deviation of where a
    point at that distance is put.
    """

    turn: Array
    shift: Array
    away: float
    spread: float

    @property
    def moved(self) -> float:
        """How far what the camera sees is put elsewhere by it (m), at most, in the inner part of the picture."""
        return moved(self.turn, self.shift, self.away)

    @property
    def sure(self) -> bool:
        """Whether the picture decides it; what it does not decide is as usual cameras are, near to zero."""
        return self.spread <= SPREAD


def moved(turn: Array, shift: Array, away: float) -> float:
    """How far (m, at most) a turn and a shift put points elsewhere that are so far away from a camera (m)."""
    points = away * _ABOUT
    return float(np.linalg.norm(points @ turn.T + shift - points, axis=1).max())


def camera_offset(
    image: DepthImage, expected: DepthImage, sigma: float, arm: Mask | None = None
) -> CameraOffset | None:
    """How the camera stands otherwise than `image` says; None where the picture shows too little to tell.

    `expected`: what it would show without any thing from where it is believed to stand. `sigma`: the depth's noise at
    1 m (m). `arm`: the pixels of `expected` that show the arm: its place is measured, so it outweighs furniture, which
    may have been moved.
    """
    height, width = image.depth.shape
    v, u = (axis.ravel() for axis in np.mgrid[2 : height - 2 : EVERY, 2 : width - 2 : EVERY])
    seen = image.measured[v, u] & (image.depth[v, u] < RANGE)
    points = _local(image, v[seen], u[seen])
    if len(points) < LEAST:
        return None
    noise = FLOOR + sigma * points[:, 2] ** 2
    usual = np.diag(np.array(USUAL) ** -2.0)
    turn, shift, normal = np.eye(3), np.zeros(3), usual
    explained = 0.0
    for gate in GATES:
        turned = points @ turn.T
        on, facing, known, v, u = _surfaces(expected, turned + shift)
        off = np.einsum("ij,ij->i", turned + shift - on, facing)
        limit = np.maximum(gate, 3.5 * noise)
        close = known & (np.abs(off) < limit)
        if np.count_nonzero(close) < LEAST:
            return None
        explained = float(np.count_nonzero(close)) / float(np.count_nonzero(known))
        weight = (1 - (off / limit) ** 2) ** 2 / noise**2 / ALIKE
        if arm is not None:
            weight[arm[v, u]] *= TRUSTED
        weight = weight[close]
        slope = np.hstack([np.cross(turned, facing), facing])[close]
        normal = slope.T @ (weight[:, None] * slope) + usual
        so_far = np.concatenate([Rotation.from_matrix(turn).as_rotvec(), shift])
        change = -np.linalg.solve(normal, slope.T @ (weight * off[close]) + usual @ so_far)
        turn = Rotation.from_rotvec(change[:3]).as_matrix() @ turn
        shift = shift + change[3:]
    away = float(np.median(-points[:, 2]))
    spread = _spread(np.asarray(np.linalg.inv(normal), np.float64), away)
    if explained < EXPLAINED:
        return None
    return CameraOffset(turn, shift, away, spread)


def _spread(covariance: Array, away: float) -> float:
    """The largest standard deviation (m) of a point so far away."""
    found = 0.0
    for x, y, z in away * _ABOUT:
        slope = np.hstack([np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]]), np.eye(3)])
        found = max(found, float(np.linalg.eigvalsh(slope @ covariance @ slope.T).max()))
    return float(np.sqrt(max(found, 0.0)))


def _local(image: DepthImage, v: npt.NDArray[np.intp], u: npt.NDArray[np.intp]) -> Array:
    """Positions (n × 3, m) of pixels in the camera's own frame."""
    height, width = image.depth.shape
    z = image.depth[v, u].astype(np.float64)
    return np.stack([(u - width / 2 + 0.5) / image.focal * z, (height / 2 - 0.5 - v) / image.focal * z, -z], axis=1)


def _surfaces(
    expected: DepthImage, points: Array
) -> tuple[Array, Array, Mask, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Of the pixel that shows each point (n × 3, in the camera's frame): the surface's place there, its normal, whether
    there is a surface, and the pixel's row and column."""
    height, width = expected.depth.shape
    z = np.maximum(-points[:, 2], 1e-3)
    u = np.rint(points[:, 0] / z * expected.focal + width / 2 - 0.5).astype(int)
    v = np.rint(height / 2 - 0.5 - points[:, 1] / z * expected.focal).astype(int)
    inside = (u >= 2) & (u < width - 2) & (v >= 2) & (v < height - 2)
    u, v = np.clip(u, 2, width - 3), np.clip(v, 2, height - 3)
    left, right, up, down = (_local(expected, v + dv, u + du) for dv, du in ((0, -2), (0, 2), (-2, 0), (2, 0)))
    on = _local(expected, v, u)
    facing = np.cross(right - left, up - down)
    facing /= np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-12)
    depth = expected.depth
    bend = np.maximum(np.abs(left[:, 2] + right[:, 2] - 2 * on[:, 2]), np.abs(up[:, 2] + down[:, 2] - 2 * on[:, 2]))
    known = inside & (bend < BEND) & (depth[v, u] > 0.02) & (depth[v, u] < RANGE)
    return on, facing, known, v, u
