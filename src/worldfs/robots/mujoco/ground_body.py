"""A body that goes about on the floor of a world, as its plans see it."""

from __future__ import annotations

from worldfs.base.model import Profile, RobotState

from .body_limits import BodyLimits
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
        self.limits = BodyLimits(RobotState(placement.robot_id))

    def hold_limits(self, profile: Profile, *pose: float) -> None:
        """The limits of an order that it begins at this pose (x y z roll pitch yaw; m, rad)."""
        self.limits.profile, self.limits.robot = profile, RobotState(self.robot_id, tuple(map(float, pose)))

    @property
    def simulation(self) -> Simulation:
        return self.rig.simulation

    @property
    def others(self) -> bool:
        """Whether there are other bodies in this world."""
        return self.rig.several
