"""A body that goes about on the floor of a world, as its plans see it."""

from __future__ import annotations

from .quadruped.quadruped_placement import QuadrupedPlacement
from .reserved_space import ReservedSpace
from .rig import BodyRig
from .scene_layout import CarrierPlacement, SceneLayout
from .simulation import Simulation


class GroundBody:
    """`reserved` is the world's, shared by its bodies; `blockers`: robots that the last plan came too near to."""

    def __init__(
        self,
        plan: SceneLayout,
        simulation: Simulation,
        placement: CarrierPlacement | QuadrupedPlacement,
        reserved: ReservedSpace,
    ) -> None:
        self.robot_id, self.reserved, self.prefix = placement.robot_id, reserved, placement.prefix
        self.rig = BodyRig(plan, simulation, placement.robot_id)
        self.blockers: set[str] = set()

    @property
    def simulation(self) -> Simulation:
        return self.rig.simulation

    @property
    def others(self) -> bool:
        """Whether there are other bodies in this world."""
        return self.rig.several
