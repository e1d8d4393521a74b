"""The quadruped: its view of the world, its walk, and the space that it keeps for itself on its way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from worldfs.base.json_values import as_float
from worldfs.robots.floor_footprint import PASSES, Spot
from worldfs.robots.mujoco.array_types import Array
from worldfs.robots.mujoco.floor_grid import KEEP
from worldfs.robots.mujoco.ground_body import GroundBody
from worldfs.robots.mujoco.reserved_space import ReservedSpace, SweptSpace
from worldfs.robots.mujoco.scene_layout import SceneLayout
from worldfs.robots.mujoco.simulation import Simulation

from .floor_world import FloorWorld
from .quadruped_placement import QuadrupedPlacement
from .walker import Walker

PIECE: Final = 0.2  # m of the way in one box


class Quadruped(GroundBody):
    def __init__(
        self, plan: SceneLayout, simulation: Simulation, placement: QuadrupedPlacement, reserved: ReservedSpace
    ) -> None:
        super().__init__(plan, simulation, placement, reserved)
        self.floor = FloorWorld(self.rig, placement, reserved, self.limits)
        charge = as_float(placement.robot.extra.get("battery_percent"), 100.0) if placement.robot else 100.0
        self.walker = Walker(self.floor.view, min(1.0, max(0.0, charge / 100)))

    def wait(self, seconds: float) -> None:
        self.walker.wait(seconds)

    def put(self) -> None:
        self.walker.put(self.floor.base)

    def space(self, way: Sequence[Spot]) -> SweptSpace:
        """What it passes through on a way, whichever way it turns."""
        floor, rows = self.floor.plan.floor, []
        for (x0, y0), (x1, y1) in pairwise(way if len(way) > 1 else (*way, *way)):
            pieces = max(1, math.ceil(math.dist((x0, y0), (x1, y1)) / PIECE))
            for k in range(pieces):
                a, b = k / pieces, (k + 1) / pieces
                xs, ys = [x0 + (x1 - x0) * s for s in (a, b)], [y0 + (y1 - y0) * s for s in (a, b)]
                rows.append([min(xs) - KEEP, min(ys) - KEEP, floor, max(xs) + KEEP, max(ys) + KEEP, floor + PASSES])
        boxes: Array = np.array(rows)
        return SweptSpace(boxes=boxes)
