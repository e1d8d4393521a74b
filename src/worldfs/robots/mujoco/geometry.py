"""Small geometry: rotations, extents and which way up a thing lies."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from .array_types import Array


def quat_of(rotation: Array) -> tuple[float, ...]:
    """Quaternion w x y z of a rotation matrix."""
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(rotation).ravel())
    return tuple(float(v) for v in quat)


def from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation matrix Rz(yaw) Ry(pitch) Rx(roll), rad."""
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def to_rpy(rotation: Array) -> tuple[float, float, float]:
    """Roll, pitch, yaw (rad) of a rotation matrix."""
    pitch = math.asin(max(-1.0, min(1.0, -float(rotation[2, 0]))))
    return (
        math.atan2(float(rotation[2, 1]), float(rotation[2, 2])),
        pitch,
        math.atan2(float(rotation[1, 0]), float(rotation[0, 0])),
    )


def angle(rotation: Array) -> float:
    """By how much a rotation matrix turns (rad)."""
    return math.acos(max(-1.0, min(1.0, (float(np.trace(rotation)) - 1) / 2)))


def up(height: float) -> Array:
    return np.array([0.0, 0.0, height])


def pad_slant(shape: str, size: tuple[float, ...], rotation: Array, at: Array, axis: Array) -> float:
    """The angle (rad) between the way in which two pads close and what they press on, the greater of the two; a right
    angle where they miss the thing. `at`: the pads' middle from the thing's, `axis`: that way (3, world)."""
    half, point, way = np.asarray(size, dtype=float) / 2, rotation.T @ at, rotation.T @ axis
    flats, rounds = {"cylinder": ([2], [0, 1]), "sphere": ([], [0, 1, 2])}.get(shape, ([0, 1, 2], []))
    exits = [(slab, abs(float(way[i]))) for i in flats if (slab := _slab(point[i], way[i], half[i])) != _ALL]
    if rounds:
        p, w = point[rounds], way[rounds]
        length = float(np.linalg.norm(w))
        aside = p - w * float(p @ w) / length**2 if length > 1e-6 else p
        room = float(half[0] ** 2 - aside @ aside)
        if room < 0:
            return math.pi / 2
        if length > 1e-6:
            middle, reach = -float(p @ w) / length**2, math.sqrt(room) / length
            exits.append(((middle - reach, middle + reach), math.sqrt(room) / float(half[0]) * length))
    first = max(exits, key=lambda one: one[0][0])
    last = min(exits, key=lambda one: one[0][1])
    if first[0][0] >= last[0][1]:
        return math.pi / 2
    return max(math.acos(min(1.0, first[1])), math.acos(min(1.0, last[1])))


_ALL, _NONE = (-math.inf, math.inf), (math.inf, -math.inf)


def _slab(point: float, way: float, half: float) -> tuple[float, float]:
    """From where to where a line is between two planes."""
    if abs(way) < 1e-9:
        return _ALL if abs(point) <= half else _NONE
    one, other = (-half - point) / way, (half - point) / way
    return min(one, other), max(one, other)


@dataclass(frozen=True, slots=True)
class GripGeometry:
    """An object's height as it lies, and the (width, yaw) pairs across which fingers can close. Round: any yaw."""

    height: float
    grips: tuple[tuple[float, float], ...]
    round: bool


def grip_geometry(shape: str, size: tuple[float, ...], rotation: Array) -> GripGeometry:
    """Reads the upright axis of a thing and what remains to be gripped across, narrower side first."""
    if shape == "sphere":
        return GripGeometry(size[0], ((size[0], 0.0),), True)
    upright = int(np.argmax(np.abs(rotation[2])))
    if shape == "cylinder":
        if upright == 2:
            return GripGeometry(size[2], ((size[0], 0.0),), True)
        along = math.atan2(float(rotation[1, 2]), float(rotation[0, 2]))
        return GripGeometry(size[0], ((size[0], along + math.pi / 2),), False)
    flat = [i for i in range(3) if i != upright]
    grips = [(size[i], math.atan2(float(rotation[1, i]), float(rotation[0, i]))) for i in flat]
    return GripGeometry(size[upright], tuple(sorted(grips)), False)
