"""The carrier: its view of the world, its motion, and what it carries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from worldfs.base.model import Thing

from . import support
from .array_types import Array
from .carrier_model import ACCELERATION, LAG, SPEED
from .carrier_view import CarrierView
from .floor_things import FloorThings
from .ground_body import GroundBody
from .motion_loop import MotionLoop, quintic
from .reserved_space import ReservedSpace
from .scene_layout import CarrierPlacement, SceneLayout
from .simulation import Simulation


class Carrier(GroundBody):
    def __init__(
        self, plan: SceneLayout, simulation: Simulation, placement: CarrierPlacement, reserved: ReservedSpace
    ) -> None:
        super().__init__(plan, simulation, placement, reserved)
        self.view: CarrierView = self.rig.carriers[placement.robot_id]
        self.mover = MotionLoop(self.view, LAG)
        self.floor = FloorThings(self.rig, (float(self.view.start[0]), float(self.view.start[1])))

    def wait(self, seconds: float) -> None:
        self.mover.wait(seconds)

    @property
    def tray(self) -> Thing:
        return self.view.tray_now()

    def cargo(self) -> list[str]:
        """What lies on the tray, and has its weight there."""
        return [id for id in self.rig.objects if support.contains(self.rig, id, self.view.tray.id)]

    def load(self) -> float:
        """Mass of the cargo (kg)."""
        return float(sum(self.simulation.model.body_mass[self.rig.body[id]] for id in self.cargo()))

    def drive(self, route: Sequence[Array]) -> None:
        """Along straight segments between points (x y, m), to a stand at each."""
        for start, end in pairwise(route):
            way = float(np.linalg.norm(end - start))
            seconds = max(1.875 * way / SPEED, math.sqrt(5.77 * way / ACCELERATION), 0.1)
            self.mover.play(*quintic(start - self.view.start[:2], end - self.view.start[:2], seconds))
        self.mover.wait(0.4)
