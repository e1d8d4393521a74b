"""A body's own map of its floor, as its member of ENVIRONMENT.md's `map`: what is free."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from worldfs.base.model import Json, Scene

from .action_evidence import rounded
from .array_types import Array
from .floor_grid import CELL, FloorGrid

COARSE: Final = 2  # cells of the grid, along each side, that are one of the map
FREE, TAKEN = ".", "#"


def with_map(seen: Scene, robot_id: str, grid: FloorGrid) -> Scene:
    """The scene with a robot's own map."""
    return replace(seen, extra={**seen.extra, "map": {robot_id: floor_map(grid)}})


def floor_map(grid: FloorGrid) -> Json:
    """An occupancy grid (000, `map`): `origin` is its south-west corner (m), `rows` lie from north to south, and a cell
    is taken where any part of it is."""
    wide, deep = (size + size % COARSE for size in grid.shape)
    taken: Array = np.zeros((wide, deep), bool)
    taken[: grid.shape[0], : grid.shape[1]] = grid.taken
    coarse: Array = np.max(taken.reshape(wide // COARSE, COARSE, deep // COARSE, COARSE), axis=(1, 3))
    rows = ["".join(TAKEN if cell else FREE for cell in row) for row in coarse.T[::-1]]
    return {
        "frame": "world", "resolution": CELL * COARSE, "origin": rounded(grid.low, 3), "width": wide // COARSE,
        "height": deep // COARSE, "legend": {FREE: "free", TAKEN: "occupied"}, "rows": rows,
    }  # fmt: skip
