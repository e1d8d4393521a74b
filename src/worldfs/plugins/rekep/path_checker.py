"""A collision checker under constraints: collisions, path constraints and clearance, all as hits of a pose."""

from __future__ import annotations

from worldfs.robots.mujoco.arm import Arm
from worldfs.robots.mujoco.collision import Allowed, CollisionChecker, Pair
from worldfs.robots.rotations import Array, Pose

from .end_effector import PoseCheck

PATH = "path constraint"


class ConstrainedPathChecker(CollisionChecker):
    """A collision checker in which a pose that breaks a path constraint counts as a hit, and so does one that passes a
    thing nearer than `clearance` (m): a fast arm is some millimetres off its plan."""

    def __init__(self, arm: Arm, check: PoseCheck, *, opening: float | None, held: str | None) -> None:
        super().__init__(arm.rig, opening=opening, held=held)
        self._check = check
        self.clearance = 0.0

    def hits(self, q: Array, *, allowed: Allowed = frozenset(), margin: float = 0.0) -> dict[Pair, float]:
        found = super().hits(q, allowed=allowed, margin=max(margin, self.clearance))
        if not found:
            broken = self._check(Pose(*self.rig.view.tcp_pose_in(self.data)))
            if broken and (broken, PATH) not in allowed:
                found[broken, PATH] = 0.0
        return found
