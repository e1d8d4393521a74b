"""Things in the depth of an RGB-D picture: masked depth deprojected into points, and the thing's shape fitted to those.

The masks are the simulator's own segmentation, colours are not used: the source is `truth`. Shape and size are known
from the scene's page; where a thing is, and how it is turned about the vertical, is measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from worldfs.base.model import Thing
from worldfs.robots.rotations import Array, axis_rotation, matrix, quaternion

from .keypoints import upright

ENOUGH = 40  # pixels that make a sighting
POINTS = 220  # of a cloud, that a shape is fitted to
OUTLIER = 0.012  # m: what is farther from the surface pulls no more
ROUNDS = 25


class RgbdImage(Protocol):
    """A picture with depth (H, W, m), segments (H, W, numbers of shapes), and the camera's pose; see mujoco.camera."""

    rgb: NDArray[np.uint8]
    depth: Array
    geoms: NDArray[np.signedinteger]
    position: Array
    rotation: Array
    focal: float


@dataclass(frozen=True, slots=True)
class FittedDetection:
    """An object as it was detected; `residual`: mean distance of its points from the fitted surface (m)."""

    thing: Thing
    pixels: int
    residual: float


def detect_objects(frame: RgbdImage, owners: list[str], things: Mapping[str, Thing]) -> dict[str, FittedDetection]:
    """The detected ones of `things`. `owners`: the object id of each shape's number."""
    found = {}
    names = np.array([*owners, ""])  # −1, nothing, reads the last
    labels = names[frame.geoms]
    for id, thing in things.items():
        mask = labels == id
        count = int(np.count_nonzero(mask))
        if count >= ENOUGH and thing.shape in ("sphere", "box", "cylinder"):
            cloud = deproject(frame, mask)
            fitted, residual = fit_pose(cloud, thing, frame.position)
            found[id] = FittedDetection(fitted, count, residual)
    return found


def deproject(frame: RgbdImage, mask: NDArray[np.bool_]) -> Array:
    """Points (N × 3, m, world) of the pixels of a mask; the camera looks along its −z, its picture's top is +y."""
    rows, columns = np.nonzero(mask)
    if len(rows) > POINTS:
        chosen = np.linspace(0, len(rows) - 1, POINTS).astype(int)
        rows, columns = rows[chosen], columns[chosen]
    height, width = frame.depth.shape
    depth = np.asarray(frame.depth[rows, columns], dtype=float)
    local = np.stack(
        [(columns - width / 2 + 0.5) / frame.focal, (height / 2 - 0.5 - rows) / frame.focal, -np.ones(len(rows))],
        axis=1,
    )
    return np.asarray(frame.position + (local * depth[:, None]) @ frame.rotation.T)


def fit_pose(cloud: Array, thing: Thing, eye: Array) -> tuple[Thing, float]:
    """The thing moved and turned about the vertical so that its surface meets the cloud; the mean distance left (m)."""
    half = np.array(thing.size, dtype=float) / 2
    # the cloud is the near side: the middle lies behind it
    ray = cloud.mean(axis=0) - eye
    start = cloud.mean(axis=0) + ray / np.linalg.norm(ray) * float(np.min(half)) * 0.7
    start[2] = float(np.percentile(cloud[:, 2], 99)) - half[upright(thing)[0]]
    base = _standing(thing)
    turns = (0.0,) if thing.shape != "box" else tuple(k * math.pi / 8 for k in range(8))
    best: tuple[float, Array, float] | None = None
    for turn in turns:
        x, left = _fitted(cloud, thing.shape, half, base, np.array([*start, turn]))
        if best is None or left < best[0]:
            best = (left, x[:3], float(x[3]))
    assert best is not None
    left, position, turn = best
    rotation = axis_rotation((0, 0, 1), turn) @ base
    moved = replace(thing, position=tuple(float(v) for v in position), orientation=quaternion(rotation))
    return moved, left


def _standing(thing: Thing) -> Array:
    """The turn in which the axis that is up on the page is exactly up."""
    rotation = matrix(thing.orientation)
    axis, sign = upright(thing)
    now = rotation[:, axis] * sign
    cross = np.cross(now, [0.0, 0.0, 1.0])
    size = float(np.linalg.norm(cross))
    if size < 1e-9:
        return rotation
    return np.asarray(axis_rotation(cross / size, math.atan2(size, float(now[2]))) @ rotation)


def _fitted(cloud: Array, shape: str, half: Array, base: Array, start: Array) -> tuple[Array, float]:
    def residual(x: Array) -> Array:
        rotation = axis_rotation((0, 0, 1), float(x[3])) @ base
        off = distance(shape, half, (cloud - x[:3]) @ rotation)
        return np.asarray(OUTLIER * np.tanh(off / OUTLIER))

    x, damping = start.copy(), 1e-4
    now = residual(x)
    step = np.array([1e-5, 1e-5, 1e-5, 1e-4])
    scale = np.diag([1.0, 1.0, 1.0, 0.002])
    for _ in range(ROUNDS):
        jacobian = np.stack([(residual(x + np.eye(4)[i] * step[i]) - now) / step[i] for i in range(4)], axis=1)
        normal, slope = jacobian.T @ jacobian, jacobian.T @ now
        change = -np.linalg.solve(normal + damping * len(now) * scale, slope)
        tried = residual(x + change)
        if float(tried @ tried) < float(now @ now):
            x, now, damping = x + change, tried, damping / 4
            if float(np.max(np.abs(change))) < 1e-6:
                break
        else:
            damping *= 6
            if damping > 1e3:
                break
    return x, float(np.mean(np.abs(now)))


def distance(shape: str, half: Array, points: Array) -> Array:
    """Signed distance (m) of points of the thing's frame from its surface; negative within."""
    if shape == "sphere":
        return np.asarray(np.linalg.norm(points, axis=1) - half[0])
    if shape == "cylinder":
        q = np.stack([np.linalg.norm(points[:, :2], axis=1) - half[0], np.abs(points[:, 2]) - half[2]], axis=1)
    else:
        q = np.abs(points) - half
    outside = np.linalg.norm(np.maximum(q, 0.0), axis=1)
    return np.asarray(outside + np.minimum(np.max(q, axis=1), 0.0))
