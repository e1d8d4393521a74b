"""Solids: balls, boxes and cylinders of known size at a pose, with the distance of points to their surface."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .depth_image import Array

EVERY = 0.012  # m between two points of a sampled surface


@dataclass(frozen=True, slots=True)
class Solid:
    """`shape`: sphere | box | cylinder; `size`: full extents (m); `rotation`: its own axes in the world (3 × 3)."""

    shape: str
    size: tuple[float, ...]
    position: Array
    rotation: Array

    def distance(self, points: Array) -> Array:
        """Signed distance of world positions (n × 3) to its surface (m), negative inside."""
        return local_distance(self.shape, self.size, (points - self.position) @ self.rotation)

    def surface(self) -> tuple[Array, Array]:
        """Points spread over its surface in the world, and their outward normals (n × 3 each)."""
        points, normals = _sampled(self.shape, self.size)
        return points @ self.rotation.T + self.position, normals @ self.rotation.T

    @property
    def reach(self) -> float:
        """Radius of a ball about its centre that holds all of it (m)."""
        return float(np.linalg.norm(self.size)) / 2


def local_distance(shape: str, size: tuple[float, ...], local: Array) -> Array:
    """The same for points in the solid's own frame (… × 3)."""
    half = np.asarray(size) / 2
    if shape == "sphere":
        return np.asarray(np.linalg.norm(local, axis=-1) - half[0])
    if shape == "cylinder":
        out = np.stack([np.hypot(local[..., 0], local[..., 1]) - half[0], np.abs(local[..., 2]) - half[2]], axis=-1)
    else:
        out = np.abs(local) - half
    return np.asarray(np.linalg.norm(np.maximum(out, 0), axis=-1) + np.minimum(out.max(axis=-1), 0))


@lru_cache(maxsize=64)
def _sampled(shape: str, size: tuple[float, ...]) -> tuple[Array, Array]:
    half = np.asarray(size) / 2
    if shape == "sphere":
        n = 160
        k = np.arange(n) + 0.5
        z, turn = 1 - 2 * k / n, np.pi * (1 + 5**0.5) * k
        normals = np.stack([np.sqrt(1 - z**2) * np.cos(turn), np.sqrt(1 - z**2) * np.sin(turn), z], axis=1)
        return normals * half[0], normals
    points, normals_found = [], []
    if shape == "cylinder":
        turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
        ring = np.stack([np.cos(turn), np.sin(turn), np.zeros(24)], axis=1)
        for z in np.linspace(-0.92, 0.92, max(3, round(size[2] / EVERY))) * half[2]:
            points.append(ring * half[0] + [0, 0, z])
            normals_found.append(ring)
        for side in (1, -1):
            for r in (0.3, 0.6, 0.92):
                points.append(ring * r * half[0] + [0, 0, side * half[2]])
                normals_found.append(np.tile([0.0, 0.0, side], (24, 1)))
    else:
        for axis in range(3):
            steps = [np.linspace(-0.92, 0.92, max(3, round(size[i] / EVERY))) * half[i] for i in range(3) if i != axis]
            grid = np.array(np.meshgrid(*steps)).reshape(2, -1).T
            for side in (1, -1):
                face = np.insert(grid, axis, side * half[axis], axis=1)
                points.append(face)
                normals_found.append(np.tile(np.eye(3)[axis] * side, (len(face), 1)))
    return np.vstack(points), np.vstack(normals_found)
