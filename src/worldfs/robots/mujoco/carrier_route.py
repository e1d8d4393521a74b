"""The way of a carrier over the floor: straight pieces between points, clear of furniture and of the other bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

import numpy as np

from worldfs.base.model import RobotState
from worldfs.robots import rotations

from . import carrier_model
from .array_types import Array
from .body_limits import BodyLimits
from .carrier import Carrier
from .floor_obstacles import Obstacle, body_obstacles
from .grid_search import AROUND, Cell, shortest_way
from .neighbours import CARGO

CELL = 0.05  # m between two points of the search
ROOM = 0.04  # m kept from everything
AROUND_M = 1.2  # m beyond the outermost obstacle that a way may go
HALF = np.array([carrier_model.LENGTH / 2, carrier_model.WIDTH / 2])


class FloorMap:
    """Where the middle of a carrier may be: within its limits, and outside each obstacle, grown by the carrier's own
    half sides and `ROOM`; of what it already stands nearer to, as near as it stands."""

    def __init__(self, obstacles: Sequence[Obstacle], start: Array, limits: BodyLimits | None = None) -> None:
        self.obstacles, self.limits = list(obstacles), limits or BodyLimits(RobotState(""))
        rows = np.array([one.rectangle for one in obstacles]).reshape(-1, 4)
        low, high = rows[:, :2] - HALF, rows[:, 2:] + HALF
        apart = np.maximum(low - start, start - high).max(axis=1) if len(rows) else np.empty(0)
        room = np.clip(apart - 0.002, 0.0, ROOM)[:, None]
        self.low, self.high = low - room, high + room
        self.touching = [one.owner for one, gap in zip(obstacles, apart, strict=True) if gap < 0]

    def free(self, point: Array) -> bool:
        within = self.limits.holds(self.limits.robot.robot_id, point)
        return within and not bool(np.any(np.all((point > self.low) & (point < self.high), axis=1)))

    def clear(self, start: Array, end: Array) -> bool:
        """Whether the straight piece between two points is free."""
        return bool(self.clear_ways(start, end[None])[0])

    def clear_ways(self, start: Array, ends: Array) -> Array:
        """Whether the straight pieces from a point to others (k × 2) are free."""
        way = (ends - start)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (self.low - start) / way, (self.high - start) / way
        still = np.abs(way) < 1e-12
        inside = (start > self.low) & (start < self.high)
        near = np.where(still, np.where(inside, -np.inf, np.inf), np.minimum(one, other)).max(axis=2)
        far = np.where(still, np.where(inside, np.inf, -np.inf), np.maximum(one, other)).min(axis=2)
        free: Array = np.logical_not(np.any((near < far - 1e-9) & (far > 1e-9) & (near < 1 - 1e-9), axis=1))
        return free

    def route(self, start: Array, goal: Array) -> list[Array] | None:
        """The shortest way that the search finds, its corners pulled straight; None: there is none."""
        if not self.free(goal):
            return None
        if self.clear(start, goal):
            return [start, goal]
        cells = self._search(start, goal)
        if not cells:
            return None
        path = [start, *cells, goal]
        at, found = 0, [start]
        while at < len(path) - 1:
            at = next(k for k in range(len(path) - 1, at, -1) if k == at + 1 or self.clear(path[at], path[k]))
            found.append(path[at])
        return found if all(self.clear(a, b) for a, b in pairwise(found)) else None

    def _search(self, start: Array, goal: Array) -> list[Array]:
        """Over points `CELL` apart, eight ways from each."""
        low = np.minimum(np.min([*self.low, start, goal], axis=0) - AROUND_M, goal)
        high = np.max([*self.high, start, goal], axis=0) + AROUND_M
        grid = SearchGrid(self, start, np.round((low - start) / CELL), np.round((high - start) / CELL))

        def arrived(cell: Cell) -> bool:
            here = grid.point(cell)
            return float(np.max(np.abs(goal - here))) <= CELL and self.clear(here, goal)

        def left(cell: Cell) -> float:
            return float(np.linalg.norm(goal - grid.point(cell))) / CELL

        return [grid.point(cell) for cell in shortest_way((0, 0), arrived, grid.next_cells, left)]


class SearchGrid:
    """Points `CELL` apart: which are free, and which ways between them."""

    def __init__(self, floor: FloorMap, start: Array, first: Array, last: Array) -> None:
        self._floor, self._start = floor, start
        self._first: list[int] = first.astype(int).tolist()
        x, y = (start[k] + np.arange(self._first[k], int(last[k]) + 1) * CELL for k in range(2))
        self._size = len(x), len(y)
        free = np.ones(self._size, dtype=bool)
        for lower, upper in zip(floor.low, floor.high, strict=True):
            free &= ~np.outer((x > lower[0]) & (x < upper[0]), (y > lower[1]) & (y < upper[1]))
        id, limits = floor.limits.robot.robot_id, floor.limits
        if not all(limits.holds(id, np.array(corner)) for corner in product(x[[0, -1]], y[[0, -1]])):
            for i, j in np.argwhere(free).tolist():
                free[i, j] = limits.holds(id, np.array([x[i], y[j]]))
        self._free: list[list[bool]] = free.tolist()

    def point(self, cell: Cell) -> Array:
        return np.asarray(self._start + np.array(cell) * CELL)

    def next_cells(self, cell: Cell) -> Iterator[Cell]:
        beside = [then for i, j in AROUND if self._is_free(then := (cell[0] + i, cell[1] + j))]
        if beside:
            clear = self._floor.clear_ways(self.point(cell), self._start + np.array(beside) * CELL)
            yield from (then for then, so in zip(beside, clear, strict=True) if so)

    def _is_free(self, cell: Cell) -> bool:
        i, j = cell[0] - self._first[0], cell[1] - self._first[1]
        return 0 <= i < self._size[0] and 0 <= j < self._size[1] and self._free[i][j]


def obstacles(carrier: Carrier, *, minding: bool) -> list[Obstacle]:
    """What stands in the carrier's way now and, with `minding`, where the other bodies will pass; without it those that
    move do not count."""
    rig, floor = carrier.rig, carrier.view.start[2]
    top = floor + carrier_model.TRAY_FOOT + carrier_model.TRAY[2] + CARGO
    found = []
    for piece in rig.plan.furniture:
        if piece.shape != "region":
            half = rotations.half_extents("box", piece.size, rotations.matrix(piece.orientation))
            found.append(_around(piece.id, np.array(piece.position), half))
    cargo = set(carrier.cargo())
    for id in rig.objects:
        if id not in cargo and rig.holder(id) is None and rig.position(id)[2] - rig.half(id)[2] < top:
            found.append(_around(id, rig.position(id), rig.half(id)))
    return [*found, *body_obstacles(rig, carrier.reserved, top, minding=minding)]


def swept_boxes(carrier: Carrier, route: Sequence[Array]) -> Array:
    """The upright boxes (n × 6) that the carrier and its cargo pass through on a route."""
    box = carrier.view.box(CARGO)
    rows: list[list[float]] = []
    for start, end in pairwise(route):
        pieces = max(1, math.ceil(float(np.max(np.abs(end - start))) / 0.1))
        for k in range(pieces):
            a, b = start + (end - start) * (k / pieces), start + (end - start) * ((k + 1) / pieces)
            low, high = np.minimum(a, b) - HALF, np.maximum(a, b) + HALF
            rows.append([*low, box[2], *high, box[5]])
    return np.array(rows) if rows else box[None]


def _around(owner: str, position: Array, half: Array) -> Obstacle:
    return Obstacle(owner, (*(float(v) for v in position[:2] - half[:2]), *(float(v) for v in position[:2] + half[:2])))
