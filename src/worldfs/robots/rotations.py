"""Turns in space with numpy alone (a real robot needs no simulator): 3×3 matrices, quaternions w x y z, radians."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Pose(NamedTuple):
    """Position (3, m) and rotation (3×3) in the world frame."""

    position: Array
    rotation: Array

    def point(self, local: Array) -> Array:
        """A point of this pose's frame, in the world."""
        return np.asarray(self.position + self.rotation @ local)

    def inverse(self, world: Array) -> Array:
        """A point of the world, in this pose's frame."""
        return np.asarray(self.rotation.T @ (world - self.position))


def matrix(quat: Sequence[float] | NDArray[Any]) -> Array:
    """Of a quaternion of any length; the identity for a zero one."""
    w, x, y, z = (float(v) for v in quat)
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    if norm < 1e-9:
        return np.eye(3)
    w, x, y, z = w / norm, x / norm, y / norm, z / norm
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion(rotation: Array) -> tuple[float, float, float, float]:
    """The one with w ≥ 0."""
    vector = log(rotation)
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        return 1.0, 0.0, 0.0, 0.0
    x, y, z = vector / angle * math.sin(angle / 2)
    return math.cos(angle / 2), float(x), float(y), float(z)


def about_z(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def exp(vector: Array) -> Array:
    """The rotation about a vector by its length (Rodrigues)."""
    angle = math.sqrt(float(vector @ vector))
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = vector / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * (k @ k))


def log(rotation: Array) -> Array:
    """The rotation vector of a matrix, its length in 0…π."""
    cosine = max(-1.0, min(1.0, (float(np.trace(rotation)) - 1) / 2))
    angle = math.acos(cosine)
    axis = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    if angle < 1e-7:
        return np.asarray(axis / 2)
    if math.pi - angle > 1e-4:
        return np.asarray(axis * (angle / (2 * math.sin(angle))))
    # near half a turn the axis is read from R + 1
    square = (rotation + np.eye(3)) / 2
    column = int(np.argmax(np.diag(square)))
    found = square[:, column] / math.sqrt(max(float(square[column, column]), 1e-12))
    return np.asarray(found * angle * (1.0 if float(found @ axis) >= 0 else -1.0))


def axis_rotation(axis: Sequence[float] | Array, angle: float) -> Array:
    return exp(np.asarray(axis, dtype=float) * angle)


def hand_rotation(yaw: float, tilt: float = 0.0) -> Array:
    """The tool pointing down, its x axis at `yaw` in the plane, then tilted by `tilt` about the fingers' closing axis.

    That axis is (sin yaw, -cos yaw, 0) and stays level; a positive tilt lets the tool point towards its own x.
    """
    c, s = math.cos(yaw), math.sin(yaw)
    ct, st = math.cos(tilt), math.sin(tilt)
    return np.array([[c * ct, s, c * st], [s * ct, -c, s * st], [st, 0.0, -ct]])


def interpolate(one: Pose, other: Pose, share: float) -> Pose:
    """The pose a share of the way from one to the other, straight and at an even turn."""
    turned = one.rotation @ exp(log(one.rotation.T @ other.rotation) * share)
    return Pose(one.position + (other.position - one.position) * share, turned)


def angle_between(one: Array, other: Array) -> float:
    """The angle between two turns (rad)."""
    return float(np.linalg.norm(log(one.T @ other)))


def half_extents(shape: str, size: tuple[float, ...], rotation: Array) -> Array:
    """Half of the axis-aligned box in the world round a thing so turned (3, m)."""
    half = np.asarray(size, dtype=float) / 2
    if shape == "sphere":
        return np.full(3, half[0])
    if shape == "cylinder":
        axis = rotation[:, 2]
        return np.asarray(half[2] * np.abs(axis) + half[0] * np.sqrt(np.clip(1 - axis**2, 0, 1)))
    return np.asarray(np.abs(rotation) @ half)
