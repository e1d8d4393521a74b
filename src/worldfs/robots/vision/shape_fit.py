"""The fit: the pose at which a solid of known shape and size explains measured points."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from worldfs.robots import rotations

from .depth_image import Array, DepthImage
from .solids import Solid, local_distance

MOST = 170  # points that a fit uses
ROUNDS = 9
HUBER = 0.004  # m: a point farther off counts less
STARTS = 3  # poses that are refined, of all that are tried
_SHIFTS = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]])
_STEP = 1e-4  # m, rad


@dataclass(frozen=True, slots=True)
class ShapeFit:
    """`residual` (m): root mean square distance of the points to the surface, outliers cut. `through`: the share of the
    visible surface that the camera saw through. `sigma` (x, y, z, yaw): standard deviations (m, m, m, rad)."""

    solid: Solid
    residual: float
    through: float
    sigma: tuple[float, float, float, float]

    @property
    def score(self) -> float:
        return self.residual + 0.02 * self.through


def fit(shape: str, size: tuple[float, ...], points: Array, image: DepthImage, noise: float) -> ShapeFit:
    """The best pose by least squares from several starts. `noise`: of the depth here (m)."""
    if len(points) > MOST:
        points = points[np.linspace(0, len(points) - 1, MOST).astype(int)]
    turns, params = _starts(shape, size, points, image)
    huber = max(HUBER, 2 * noise)
    first = _errors(shape, size, points, turns, params)
    order = np.argsort(np.minimum(np.abs(first), 5 * huber).mean(axis=1))[:STARTS]
    turns, params = turns[order], params[order]
    params, residuals, sigma = _refine(shape, size, points, turns=turns, params=params, huber=huber)
    found = []
    for turn, param, residual, spread in zip(turns, params, residuals, sigma, strict=True):
        solid = Solid(shape, size, param[:3], rotations.about_z(param[3]) @ turn)
        found.append(ShapeFit(solid, float(residual), seen_through(solid, image, noise), _four(spread)))
    return min(found, key=lambda one: one.score)


def facing(solid: Solid, image: DepthImage) -> Array:
    """Points of the surface that faces the camera (n × 3)."""
    points, normals = solid.surface()
    toward = image.position - points
    return np.asarray(points[np.einsum("ij,ij->i", toward, normals) > 0.25 * np.linalg.norm(toward, axis=1)])


def seen_through(solid: Solid, image: DepthImage, noise: float) -> float:
    """The share of the surface that faces the camera at which the camera measured something behind it."""
    points = facing(solid, image)
    there, measured, own = image.seen_at(points)
    return float(np.count_nonzero(there & (measured > own + 0.012 + 4 * noise))) / max(len(points), 1)


def shown_share(solid: Solid, image: DepthImage, noise: float) -> float:
    """The share of the surface that faces the camera that the picture shows: not hidden, and not beyond its edge."""
    points = facing(solid, image)
    there, measured, own = image.seen_at(points)
    return float(np.count_nonzero(there & (np.abs(measured - own) < 0.012 + 4 * noise))) / max(len(points), 1)


def _four(values: Array) -> tuple[float, float, float, float]:
    return float(values[0]), float(values[1]), float(values[2]), float(values[3])


def _lying(axis: int) -> Array:
    """The rotation that turns an own axis up."""
    if axis == 2:
        return np.eye(3)
    return np.roll(np.eye(3), 2 - axis, axis=0)


def _starts(shape: str, size: tuple[float, ...], points: Array, image: DepthImage) -> tuple[Array, Array]:
    """Rotations that say which way up (n × 3 × 3), and x, y, z, yaw (n × 4): behind the points by its depth."""
    middle, top = points.mean(axis=0), float(np.percentile(points[:, 2], 97))
    away = middle - image.position
    level = away[:2] / max(float(np.linalg.norm(away[:2])), 1e-6)
    share = float(np.linalg.norm(away[:2]) / np.linalg.norm(away))  # 0: seen from above
    turns, params = [], []
    ups = (2,) if shape == "sphere" else (2, 0) if shape == "cylinder" else (2, 0, 1)
    for up in ups:
        turn = _lying(up)
        height = size[up]
        yaws = [0.0] if shape == "sphere" or (shape == "cylinder" and up == 2) else _yaws(shape, size, up, points)
        for yaw in yaws:
            deep = 0.25 * (sum(size) - height) / 2 * share
            at = middle[:2] + level * deep
            if shape != "sphere" and share > 0.3:
                at = _behind(points, level, yaw, size, up)
            turns.append(turn)
            params.append([at[0], at[1], top - height / 2, yaw])
    return np.array(turns), np.array(params)


def _yaws(shape: str, size: tuple[float, ...], up: int, points: Array) -> list[float]:
    """The yaws (rad) at which the outline from above is nearest to the solid's own."""
    base = _lying(up)
    extents = np.abs(base) @ np.asarray(size)
    tried = np.linspace(0, math.pi, 24, endpoint=False)
    c, s = np.cos(tried), np.sin(tried)
    along = np.outer(c, points[:, 0]) + np.outer(s, points[:, 1])
    across = np.outer(-s, points[:, 0]) + np.outer(c, points[:, 1])
    one = np.percentile(along, 98, axis=1) - np.percentile(along, 2, axis=1)
    other = np.percentile(across, 98, axis=1) - np.percentile(across, 2, axis=1)
    # what is hidden makes an outline too short, never too long
    off = np.maximum(one - extents[0], 0) * 3 + np.abs(one - extents[0]) + np.maximum(other - extents[1], 0) * 3
    off += np.abs(other - extents[1])
    return [float(tried[i]) for i in np.argsort(off)[:2]]


def _behind(points: Array, level: Array, yaw: float, size: tuple[float, ...], up: int) -> Array:
    """The centre of an outline that touches the nearest points from behind."""
    extents = np.abs(_lying(up)) @ np.asarray(size)
    c, s = math.cos(yaw), math.sin(yaw)
    axes = np.array([[c, s], [-s, c]])
    found = np.zeros(2)
    for axis, extent in zip(axes, extents[:2], strict=True):
        along = points[:, :2] @ axis
        low, high = np.percentile(along, (3, 97))
        seen = high - low
        if seen >= extent * 0.85:
            found += axis * (low + high) / 2
        elif float(axis @ level) > 0:
            found += axis * (low + extent / 2)
        else:
            found += axis * (high - extent / 2)
    return found


def _errors(shape: str, size: tuple[float, ...], points: Array, turns: Array, params: Array) -> Array:
    """Distances (poses × points)."""
    c, s = np.cos(params[:, 3]), np.sin(params[:, 3])
    yaw = np.zeros((len(params), 3, 3))
    yaw[:, 0, 0], yaw[:, 0, 1], yaw[:, 1, 0], yaw[:, 1, 1], yaw[:, 2, 2] = c, -s, s, c, 1
    local = (points[None] - params[:, None, :3]) @ (yaw @ turns)
    return local_distance(shape, size, local)


def _refine(
    shape: str, size: tuple[float, ...], points: Array, *, turns: Array, params: Array, huber: float
) -> tuple[Array, Array, Array]:
    """Gauss-Newton for all poses at once: the poses, their residuals (m) and standard deviations (n × 4)."""
    n = len(params)
    damping = np.diag([1e-3, 1e-3, 1e-3, 2e-4]) * len(points)
    normal = np.zeros((n, 4, 4))
    for _ in range(ROUNDS):
        error = _errors(shape, size, points, turns, params)
        moved = (params[None] + _STEP * _SHIFTS[:, None, :]).reshape(-1, 4)
        there = _errors(shape, size, points, np.tile(turns, (4, 1, 1)), moved).reshape(4, n, -1)
        slope = (there - error[None]) / _STEP  # 4 × n × points
        weight = np.minimum(1.0, huber / np.maximum(np.abs(error), 1e-9))
        slope = slope.transpose(1, 0, 2)  # n × 4 × points
        weighted = slope * weight[:, None, :]
        normal = weighted @ slope.transpose(0, 2, 1)
        right = (weighted @ error[..., None])[..., 0]
        change = np.linalg.solve(normal + damping, right[..., None])[..., 0]
        change = np.clip(change, -0.03, 0.03) * [1, 1, 1, 8]
        change[:, 3] = np.clip(change[:, 3] / 8, -0.3, 0.3)
        params = params - change
        if float(np.abs(change).max()) < 1e-5:
            break
    error = np.abs(_errors(shape, size, points, turns, params))
    cut = np.minimum(error, 0.03)
    residual = np.sqrt((cut**2).mean(axis=1))
    inverse = np.linalg.inv(normal + np.diag([1.0, 1.0, 1.0, 1e-3]))
    spread = np.maximum(residual, 0.0005)[:, None] * np.sqrt(np.clip(np.diagonal(inverse, axis1=1, axis2=2), 0, None))
    return params, residual, spread
