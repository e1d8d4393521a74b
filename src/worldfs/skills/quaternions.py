"""Rotations: quaternions (w, x, y, z) and rotation vectors (radians along an axis)."""

from __future__ import annotations

import numpy as np

from worldfs.robots.targets.target_adapter import Array


def axis_angle(quaternion: Array) -> Array:
    """The rotation vector, of at most π."""
    w, *xyz = np.asarray(quaternion, float) / (np.linalg.norm(quaternion) or 1.0)
    axis = np.array(xyz)
    if w < 0:
        w, axis = -w, -axis
    length = float(np.linalg.norm(axis))
    return 2 * axis if length < 1e-9 else axis * (2 * np.arctan2(length, w) / length)


def quaternion(rotation: Array) -> Array:
    """Of a rotation vector."""
    angle = float(np.linalg.norm(rotation))
    half = 0.5 * angle
    scale = 0.5 if angle < 1e-9 else np.sin(half) / angle
    return np.array((np.cos(half), *(scale * np.asarray(rotation, float))))


def multiply(a: Array, b: Array) -> Array:
    """First b, then a."""
    w, x, y, z = a
    v = np.array((x, y, z))
    return np.array((w * b[0] - v @ b[1:], *(w * b[1:] + b[0] * v + np.cross(v, b[1:]))))


def inverse(a: Array) -> Array:
    """The inverse of a unit quaternion."""
    return np.multiply(a, (1.0, -1.0, -1.0, -1.0))
