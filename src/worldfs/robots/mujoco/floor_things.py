"""What stands on the floor of a world, for a body that goes about on it, and the cells that it takes there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from worldfs.base.model import Thing
from worldfs.robots.floor_footprint import Footprint, Spot, footprint, stands_on

from . import support
from .floor_grid import CELL, FARTHEST, ROUND, FloorGrid
from .rig import BodyRig

ON_IT: Final = 0.49 * CELL  # m from a cell's middle: nearer than that, it is in the cell


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
        return stands_on(thing, self.plan.floor)

    def standing(self) -> dict[str, Footprint]:
        """By the id of each thing."""
        return {thing.id: box for thing in self.things() if self.stands(thing) and (box := footprint(thing))}

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
