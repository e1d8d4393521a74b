"""The occupancy grid of a floor, and the shortest way over it for a body that keeps its distance."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import product
from typing import Final

import numpy as np

from worldfs.robots.floor_footprint import Footprint, Spot

from .array_types import Array
from .grid_search import AROUND, Cell, shortest_way

CELL: Final = 0.1  # m
FARTHEST: Final = 15.0  # m of floor from where a body starts
ROUND: Final = 2.0  # m of floor about everything
KEEP: Final = 0.42  # m between the body's middle and what it may not touch


class FloorGrid:
    """Cells of `CELL` over a rectangle; taken are those whose middle is nearer than `keep` m to an obstacle or the
    edge."""

    def __init__(self, low: Spot, high: Spot, obstacles: Iterable[Footprint], keep: float) -> None:
        self.low = low
        self.shape = (max(1, round((high[0] - low[0]) / CELL)), max(1, round((high[1] - low[1]) / CELL)))
        xs = low[0] + (np.arange(self.shape[0]) + 0.5) * CELL
        ys = low[1] + (np.arange(self.shape[1]) + 0.5) * CELL
        grid_x, grid_y = np.meshgrid(xs, ys, indexing="ij")
        edge = np.minimum.reduce([grid_x - low[0], high[0] - grid_x, grid_y - low[1], high[1] - grid_y])
        self.taken: Array = edge < keep
        for box in obstacles:
            part = self._part(box, keep)
            dx, dy = grid_x[part] - box.x, grid_y[part] - box.y
            cosine, sine = math.cos(box.yaw), math.sin(box.yaw)
            along = np.maximum(0.0, np.abs(cosine * dx + sine * dy) - box.half[0])
            across = np.maximum(0.0, np.abs(cosine * dy - sine * dx) - box.half[1])
            self.taken[part] = self.taken[part] | (np.hypot(along, across) < keep)

    def restrict(self, holds: Callable[[Spot], bool]) -> None:
        """Cells are taken, too, whose middle is beyond what is held to: a convex part of the floor."""
        last = self.shape[0] - 1, self.shape[1] - 1
        if not all(holds(self.middle(corner)) for corner in product((0, last[0]), (0, last[1]))):
            for i, j in np.argwhere(self.taken == 0).tolist():
                self.taken[i, j] = not holds(self.middle((i, j)))

    def _part(self, box: Footprint, margin: float) -> tuple[slice, slice]:
        """The cells that may be that near to a box."""
        (x0, x1), (y0, y1) = box.side(0), box.side(1)
        low, high = self.cell((x0 - margin, y0 - margin)), self.cell((x1 + margin, y1 + margin))
        i, j = (slice(max(0, a), max(0, b + 1)) for a, b in zip(low, high, strict=True))
        return i, j

    def cell(self, spot: Spot) -> Cell:
        """The cell of a spot, which may lie outside."""
        return math.floor((spot[0] - self.low[0]) / CELL), math.floor((spot[1] - self.low[1]) / CELL)

    def middle(self, cell: Cell) -> Spot:
        return self.low[0] + (cell[0] + 0.5) * CELL, self.low[1] + (cell[1] + 0.5) * CELL

    def free(self, cell: Cell) -> bool:
        return all(0 <= at < size for at, size in zip(cell, self.shape, strict=True)) and not self.taken[cell]

    def near(self, within: float, box: Footprint) -> list[Cell]:
        """The free cells whose middle is at most that far from the box."""
        columns, rows = (
            range(*part.indices(size)) for part, size in zip(self._part(box, within), self.shape, strict=True)
        )
        cells = ((i, j) for i in columns for j in rows)
        return [cell for cell in cells if self.free(cell) and box.gap(self.middle(cell)) <= within]

    def nearest(self, spot: Spot, within: float) -> Cell | None:
        """The free cell nearest to a spot."""
        there = self.near(within, Footprint(*spot, (0.0, 0.0)))
        return min(there, key=lambda cell: (math.dist(self.middle(cell), spot), cell), default=None)

    def way(self, start: Cell, goals: Collection[Cell]) -> list[Spot]:
        """The shortest way from a free cell to the first of the goals, its corners only; empty: there is none."""
        cells = self._search(start, frozenset(goals))
        if not cells:
            return []
        corners, last = [cells[0]], 0
        for n in range(2, len(cells)):  # as far as it is free straight on
            if not self.clear(self.middle(cells[last]), self.middle(cells[n])):
                corners.append(cells[n - 1])
                last = n - 1
        return [self.middle(cell) for cell in dict.fromkeys((*corners, cells[-1]))]

    def _search(self, start: Cell, goals: frozenset[Cell]) -> Sequence[Cell]:
        """Eight neighbours; corners are not cut."""
        if not goals:
            return ()
        (i0, j0), (i1, j1) = (tuple(pick(axis) for axis in zip(*goals, strict=True)) for pick in (min, max))

        def left(cell: Cell) -> float:
            """To the rectangle about the goals."""
            return math.hypot(max(i0 - cell[0], 0, cell[0] - i1), max(j0 - cell[1], 0, cell[1] - j1))

        def next_cells(cell: Cell) -> Iterator[Cell]:
            i, j = cell
            for di, dj in AROUND:
                if self.free((i + di, j + dj)) and self.free((i + di, j)) and self.free((i, j + dj)):
                    yield i + di, j + dj

        return shortest_way(start, goals.__contains__, next_cells, left)

    def clear(self, one: Spot, other: Spot) -> bool:
        """Whether the straight line between two spots is free."""
        steps = max(1, math.ceil(math.dist(one, other) / (CELL / 4)))
        return all(
            self.free(self.cell((one[0] + (other[0] - one[0]) * n / steps, one[1] + (other[1] - one[1]) * n / steps)))
            for n in range(steps + 1)
        )
