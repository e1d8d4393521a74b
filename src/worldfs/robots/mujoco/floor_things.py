"""What stands on the floor of a world, for a body that goes about on it, and the cells that it takes there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from worldfs.base.model import Thing
from worldfs.robots import rotations

from . import geometry, support
from .floor_grid import CELL, FARTHEST, ROUND, FloorGrid, Footprint, Spot, footprint
from .rig import BodyRig

ON_IT: Final = 0.49 * CELL  # m from a cell's middle: nearer than that, it is in the cell
PASSES: Final = 0.5  # m over the floor: what hangs higher is over the heads of those that go there
FLAT: Final = 0.03  # m: lower things are gone over


class FloorThings:
    """`start` (x y, m): the place that the grids of this floor lie about."""

    def __init__(self, rig: BodyRig, start: Spot) -> None:
        self.rig, self.plan, self.start = rig, rig.plan, start

    def things(self) -> list[Thing]:
        """Objects as they lie now, then the furniture; no trays."""
        rig, found = self.rig, []
        for id in rig.objects:
            at, quat = (tuple(float(v) for v in values) for values in (rig.position(id), rig.quat(id)))
            found.append(replace(rig.things[id], position=at, orientation=quat))
        return [*found, *self.plan.furniture]

    def stands(self, thing: Thing) -> bool:
        """Whether it is in the way of a body on the floor."""
        low, high = _heights(thing)
        return thing.shape != "region" and low < self.plan.floor + PASSES and high > self.plan.floor + FLAT

    def standing(self) -> list[Footprint]:
        return [box for thing in self.things() if self.stands(thing) and (box := footprint(thing))]

    def ground(self) -> FloorGrid:
        """The cells in which a thing stands now; the bodies that move, and what they carry, are none."""
        carried = {id for id in self.rig.objects if self._carried(id)}
        things = [thing for thing in self.things() if thing.id not in carried and self.stands(thing)]
        return self.grid_of([box for thing in things if (box := footprint(thing))], ON_IT)

    def _carried(self, id: str) -> bool:
        rig = self.rig
        return rig.holder(id) is not None or any(support.contains(rig, id, tray.id) for tray in rig.trays())

    def grid_of(self, boxes: Sequence[Footprint], keep: float) -> FloorGrid:
        """A grid about `start` and what is near it."""
        near = [box for box in boxes if box.gap(self.start) < FARTHEST]
        low, high = [], []
        for axis, start in enumerate(self.start):
            sides = [box.side(axis) for box in near]
            low.append(max(start - FARTHEST, min([start, *(side[0] for side in sides)]) - ROUND))
            high.append(min(start + FARTHEST, max([start, *(side[1] for side in sides)]) + ROUND))
        return FloorGrid((low[0], low[1]), (high[0], high[1]), boxes, keep)


def _heights(thing: Thing) -> tuple[float, float]:
    """Its lowest and highest point (m, world)."""
    if thing.shape == "table":
        return thing.position[2] - thing.size[2], thing.position[2]
    half = float(geometry.half_extents(thing.shape, thing.size, rotations.matrix(thing.orientation))[2])
    return thing.position[2] - half, thing.position[2] + half
