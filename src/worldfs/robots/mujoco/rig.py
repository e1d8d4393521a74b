"""The rig: the things of a simulated world as one of its arms sees them, by id: where they are, what touches what."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from worldfs.base.model import Thing
from worldfs.robots import rotations

from . import geometry
from .arm_view import ArmView
from .array_types import Array
from .scene_layout import LABEL_FLOOR, LABEL_OWN, ArmPlacement, SceneLayout
from .simulation import Simulation

TOUCH_DEPTH = 0.002  # m: contacts deeper than this are collisions when planning


@dataclass(frozen=True, slots=True)
class Contact:
    """Two things that touch, by id ("robot" for the arm), and how deep (m, > 0 is into each other)."""

    one: str
    other: str
    depth: float


class Rig:
    """Ties ids to the numbers of the model. What no id stands for has a label: "robot" is the arm of `view`, "floor"
    what stands under everything; another arm goes by its robot's id."""

    def __init__(self, plan: SceneLayout, simulation: Simulation, placement: ArmPlacement) -> None:
        self.plan, self.simulation, self.placement = plan, simulation, placement
        views = {arm.robot_id: ArmView(simulation, arm.prefix, arm.base) for arm in plan.arms}
        self.view = views.pop(placement.robot_id)
        self.others = views
        model = simulation.model
        self.things: dict[str, Thing] = {t.id: t for t in (*plan.objects, *plan.furniture)}
        self.objects = [t.id for t in plan.objects]
        self.body = {id: model.body(f"object{i}").id for i, id in enumerate(self.objects)}
        self.qpos = {id: int(model.joint(f"free{i}").qposadr[0]) for i, id in enumerate(self.objects)}
        self.dof = {id: int(model.joint(f"free{i}").dofadr[0]) for i, id in enumerate(self.objects)}
        owner: dict[int, str] = dict.fromkeys(self.view.bodies, LABEL_OWN)
        for robot_id, other in self.others.items():
            owner |= dict.fromkeys(other.bodies, robot_id)
        owner.update({b: id for id, b in self.body.items()})
        for i, thing in enumerate(plan.furniture):
            owner[model.body(f"furniture{i}").id] = thing.id
        self.body_owner = [owner.get(b, LABEL_FLOOR) for b in range(model.nbody)]
        self.geom_body = model.geom_bodyid.copy()
        self.geom_owner = [self.body_owner[b] for b in self.geom_body]

    # --- what is where ---

    def position(self, id: str) -> Array:
        return np.array(self.simulation.data.qpos[self.qpos[id] : self.qpos[id] + 3])

    def quat(self, id: str) -> Array:
        return np.array(self.simulation.data.qpos[self.qpos[id] + 3 : self.qpos[id] + 7])

    def rotation(self, id: str) -> Array:
        return rotations.matrix(self.quat(id))

    def speed(self, id: str) -> float:
        """m/s of the centre."""
        return float(np.linalg.norm(self.simulation.data.qvel[self.dof[id] : self.dof[id] + 3]))

    def half(self, id: str) -> Array:
        """Half extents in the world (3, m) as the thing lies now."""
        thing = self.things[id]
        return geometry.half_extents(thing.shape, thing.size, self.rotation(id))

    # --- what touches ---

    def contacts(self) -> list[Contact]:
        """Every pair that touches now, once, the deepest of its points; a part of the arm against itself left out."""
        found: dict[tuple[str, str], float] = {}
        for contact in self.simulation.data.contact[: self.simulation.data.ncon]:
            a, b = sorted(self.geom_owner[g] for g in contact.geom)
            if a != b and contact.dist <= 0.0005:
                found[a, b] = max(found.get((a, b), -1.0), -float(contact.dist))
        return [Contact(a, b, depth) for (a, b), depth in sorted(found.items())]

    def touching(self, id: str) -> set[str]:
        return {c.other if c.one == id else c.one for c in self.contacts() if id in (c.one, c.other)}

    def fingers_on(self, id: str) -> int:
        """The number of the arm's fingers (0 to 2) that touch an object."""
        return self._fingers_on(id, self.view)

    def _fingers_on(self, id: str, view: ArmView) -> int:
        body, touched = self.body[id], set()
        for contact in self.simulation.data.contact[: self.simulation.data.ncon]:
            a, b = (int(self.geom_body[g]) for g in contact.geom)
            for one, other in ((a, b), (b, a)):
                if one == body and other in view.fingers:
                    touched.add(other)
        return len(touched)

    def pressed(self, id: str) -> float:
        """With how much each finger presses on a thing (N), the lesser of the two."""
        body, pressing = self.body[id], dict.fromkeys(self.view.fingers, 0.0)
        force = np.zeros(6)
        for i in range(self.simulation.data.ncon):
            bodies = {int(self.geom_body[g]) for g in self.simulation.data.contact[i].geom}
            finger = bodies & pressing.keys()
            if body in bodies and finger:
                mujoco.mj_contactForce(self.simulation.model, self.simulation.data, i, force)
                pressing[finger.pop()] += float(force[0])
        return min(pressing.values())

    def held(self) -> str | None:
        """The thing that both fingers touch: no memory of a grasp, only the grasp itself."""
        for id in self.objects:
            if self.fingers_on(id) == 2:
                return id
        return None

    def holder(self, id: str) -> str | None:
        """Another robot that holds a thing, by the same rule."""
        return next((robot for robot, view in self.others.items() if self._fingers_on(id, view) == 2), None)
