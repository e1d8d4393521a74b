"""A collision checker under constraints: collisions, path constraints and clearance, all as hits of a pose."""

from __future__ import annotations

import numpy as np

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
        self.model = arm.planning_model
        self._check = check
        self.clearance = 0.0
        bodies = {arm.rig.body[id] for id in arm.rig.objects if id != held}
        self._things = np.array([int(body) in bodies for body in arm.rig.geom_body])

    def hits(self, q: Array, *, allowed: Allowed = frozenset()) -> dict[Pair, float]:
        found = self._wide(q, allowed) if self.clearance else super().hits(q, allowed=allowed)
        if not found:
            broken = self._check(Pose(*self.rig.view.tcp_pose_in(self.data)))
            if broken and (broken, PATH) not in allowed:
                found[broken, PATH] = 0.0
        return found

    def _wide(self, q: Array, allowed: Allowed) -> dict[Pair, float]:
        """With the things' margins raised, so that what is near is a contact as well; put back at once."""
        model = self.model
        margins, bodies = model.geom_margin.copy(), model.body_margin.copy()
        model.geom_margin[self._things] = self.clearance
        model.body_margin[model.geom_bodyid[self._things]] = self.clearance
        try:
            found = super().hits(q, allowed=allowed)
        finally:
            model.geom_margin[:], model.body_margin[:] = margins, bodies
        contacts = self.data.contact
        for i in range(self.data.ncon if not found else 0):
            one, other = sorted(self._owner[g] for g in contacts.geom[i])
            mine, thing = ("robot" in (one, other)) or (self.held in (one, other)), self._things[contacts.geom[i]].any()
            if mine and thing and (one, other) not in allowed and contacts.dist[i] < self.clearance:
                found[one, other] = 0.0
                break
        return found
