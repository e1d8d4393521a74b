"""Reserved space: what each body of a world will pass through until its order ends, for the others to keep clear of."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from .array_types import Array

NO_SPHERES, NO_BOXES = np.empty((0, 4)), np.empty((0, 6))


@dataclass(frozen=True, slots=True)
class SweptSpace:
    """Spheres (n × 4: centre, radius) and upright boxes (n × 6: lowest corner, highest corner), in m in the world."""

    spheres: Array = field(default_factory=NO_SPHERES.copy)
    boxes: Array = field(default_factory=NO_BOXES.copy)

    def clearance(self, spheres: Array, within: float = math.inf) -> float:
        """The distance (m) of the nearest of these spheres to this space; negative: that deep in it. More than `within`
        need not be the true one."""
        nearest = np.inf
        own = self.spheres if within == math.inf else self._spheres_near(spheres, within)
        if len(own):
            apart = _squares(spheres[:, :3], own[:, :3])
            room = np.sqrt(np.maximum(apart, 0.0)) - spheres[:, 3, None] - own[None, :, 3]
            nearest = float(room.min())
        if len(self.boxes):
            at = spheres[:, None, :3]
            outside = np.maximum(np.maximum(self.boxes[None, :, :3] - at, at - self.boxes[None, :, 3:]), 0.0)
            nearest = min(nearest, float((np.sqrt((outside**2).sum(axis=2)) - spheres[:, 3, None]).min()))
        return nearest

    def _spheres_near(self, spheres: Array, within: float) -> Array:
        """Those of this space that reach into the box round these spheres, `within` m wider."""
        reach = float(spheres[:, 3].max()) + within
        low, high = spheres[:, :3].min(axis=0) - reach, spheres[:, :3].max(axis=0) + reach
        at, radius = self.spheres[:, :3], self.spheres[:, 3:]
        near: Array = self.spheres[((at + radius >= low) & (at - radius <= high)).all(axis=1)]
        return near

    def footprints(self, below: float) -> Array:
        """What of it reaches down to `below` (m) as rectangles on the floor (n × 4: lowest x y, highest x y)."""
        low = self.spheres[self.spheres[:, 2] - self.spheres[:, 3] < below]
        boxes = self.boxes[self.boxes[:, 2] < below]
        round_ = np.column_stack([low[:, :2] - low[:, 3:], low[:, :2] + low[:, 3:]])
        return np.vstack([round_, boxes[:, [0, 1, 3, 4]]])


def swept(poses: Iterable[Array]) -> SweptSpace:
    """The space of spheres that move through these poses (each n × 4), grown to hold what lies between two of them."""
    rows = np.array(list(poses))
    if len(rows) > 1:
        steps = np.linalg.norm(np.diff(rows[:, :, :3], axis=0), axis=2)
        rows[:-1, :, 3] += steps / 2
        rows[1:, :, 3] = np.maximum(rows[1:, :, 3], rows[-1, :, 3] + steps / 2)
    spheres = rows.reshape(-1, 4)
    cells: dict[tuple[int, ...], int] = {}
    for i, cell in enumerate(map(tuple, np.round(spheres[:, :3] / _CELL).astype(int))):
        if cell not in cells or spheres[i, 3] > spheres[cells[cell], 3]:
            cells[cell] = i
    kept = spheres[sorted(cells.values())]
    kept[:, 3] += _CELL  # one sphere stands for all of its cell
    return SweptSpace(kept)


_CELL = 0.025  # m


def _squares(one: Array, other: Array) -> Array:
    """Squared distances of all points of `one` (n × 3) to all of `other` (m × 3)."""
    return np.asarray((one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1)[None] - 2 * one @ other.T)


@dataclass(slots=True)
class _HandledThings:
    robot_id: str
    things: frozenset[str]
    ended: float = math.inf


class ReservedSpace:
    """The spaces of the bodies that move, by the ids of their robots, and the things that each handles. Each body
    changes its own entries only."""

    def __init__(self) -> None:
        self._spaces: dict[str, SweptSpace] = {}
        self._handled: list[_HandledThings] = []
        self._lock = threading.Lock()
        self.changes = 0

    def reserve(self, robot_id: str, space: SweptSpace) -> None:
        with self._lock:
            self._spaces[robot_id] = space
            self.changes += 1

    def release(self, robot_id: str) -> None:
        with self._lock:
            if self._spaces.pop(robot_id, None) is not None:
                self.changes += 1

    def handle(self, robot_id: str, things: Iterable[str]) -> None:
        """From now on until `finish` this robot's order is about these things."""
        with self._lock:
            self._handled = [*self._handled[-200:], _HandledThings(robot_id, frozenset(things))]

    def finish(self, robot_id: str, time: float) -> None:
        """Its order is over: it stands still, and its space is free."""
        self.release(robot_id)
        with self._lock:
            for one in self._handled:
                if one.robot_id == robot_id:
                    one.ended = min(one.ended, time)

    def handled_by_others(self, robot_id: str, since: float) -> set[str]:
        """The things of the others' orders that had not ended by then."""
        with self._lock:
            others = [one.things for one in self._handled if one.robot_id != robot_id and one.ended > since]
            return set().union(*others)

    def handled_now(self, robot_id: str) -> set[str]:
        """The things of a robot's order that has not ended."""
        with self._lock:
            return set().union(
                *(one.things for one in self._handled if one.robot_id == robot_id and one.ended == math.inf)
            )

    def of_others(self, robot_id: str) -> Mapping[str, SweptSpace]:
        with self._lock:
            return {id: space for id, space in sorted(self._spaces.items()) if id != robot_id}
