"""The rig: the things of a simulated world as one of its bodies sees them, by id: where they are, what touches what."""

from __future__ import annotations

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from worldfs.base.hollows import is_in
from worldfs.base.model import Thing
from worldfs.robots import rotations

from . import fixture_model, vessel_model
from .arm_view import ArmView
from .array_types import Array
from .body_cover import BodyCover
from .carrier_view import CarrierView
from .quadruped.quadruped_view import QuadrupedView
from .scene_layout import LABEL_FLOOR, LABEL_OWN, ArmPlacement, SceneLayout, within
from .simulation import Simulation

ABOVE_TRAY = 0.12  # m above the rim that a heap on a tray may reach
TOUCH_DEPTH = 0.002  # m: contacts deeper than this are collisions when planning


@dataclass(frozen=True, slots=True)
class FixtureJoint:
    """Where the moving part of a fixture is in the model: its joint's addresses, its body, and its knob."""

    qpos: int
    dof: int
    body: int
    knob: int


@dataclass(frozen=True, slots=True)
class Contact:
    """Two things that touch, by id ("robot" for the arm), and how deep (m, > 0 is into each other)."""

    one: str
    other: str
    depth: float


class BodyRig:
    """Ties ids to the numbers of the model. What no id stands for has a label: "robot" is the body that looks, "floor"
    what stands under everything; another body goes by its robot's id."""

    def __init__(self, plan: SceneLayout, simulation: Simulation, robot_id: str) -> None:
        self.plan, self.simulation, self.robot_id = plan, simulation, robot_id
        self.arms = {arm.robot_id: ArmView(simulation, arm.prefix, arm.base) for arm in plan.arms}
        self.carriers = {one.robot_id: CarrierView(simulation, one) for one in plan.carriers}
        self.quadrupeds = {one.robot_id: QuadrupedView(simulation, one.prefix) for one in plan.quadrupeds}
        self.others = {id: view for id, view in self.arms.items() if id != robot_id}
        model = simulation.model
        self._things: dict[str, Thing] = {t.id: t for t in (*plan.objects, *plan.furniture)}
        self.objects = [t.id for t in plan.objects]
        self.body = {id: model.body(f"object{i}").id for i, id in enumerate(self.objects)}
        self.qpos = {id: int(model.joint(f"free{i}").qposadr[0]) for i, id in enumerate(self.objects)}
        self.dof = {id: int(model.joint(f"free{i}").dofadr[0]) for i, id in enumerate(self.objects)}
        owner: dict[int, str] = {}
        bodies = {id: view.bodies for id, view in self.arms.items()}
        bodies |= {id: frozenset((carrier.base_body,)) for id, carrier in self.carriers.items()}
        bodies |= {id: view.bodies for id, view in self.quadrupeds.items()}
        for id, own in bodies.items():
            owner |= dict.fromkeys(own, LABEL_OWN if id == robot_id else id)
        owner.update({carrier.tray_body: carrier.tray.id for carrier in self.carriers.values()})
        owner.update({b: id for id, b in self.body.items()})
        self.vessels = [t.id for t in plan.objects if vessel_model.count(t) is not None]
        hulls = {t.id: f"hull{i}" for i, t in enumerate(plan.objects) if t.id in self.vessels}
        self.hulls = {id: model.geom(name).id for id, name in hulls.items()}
        self._grains = [b for b in range(model.nbody) if model.body(b).name.startswith("grain")]
        owner.update(dict.fromkeys(self._grains, vessel_model.GRAINS))
        self.fixtures: dict[str, FixtureJoint] = {}
        for i, thing in enumerate(plan.furniture):
            owner[model.body(f"furniture{i}").id] = thing.id
            if thing.shape in fixture_model.FIXTURES:
                joint, part = model.joint(f"opening{i}"), model.body(f"part{i}").id
                owner[part] = thing.id
                addresses = int(joint.qposadr[0]), int(joint.dofadr[0])
                self.fixtures[thing.id] = FixtureJoint(*addresses, part, model.geom(f"knob{i}").id)
        self.body_owner = [owner.get(b, LABEL_FLOOR) for b in range(model.nbody)]
        self.geom_body = model.geom_bodyid.copy()
        self.geom_owner = [self.body_owner[b] for b in self.geom_body]
        self._covers: dict[frozenset[int], BodyCover] = {}

    def cover(self, bodies: frozenset[int]) -> BodyCover:
        if bodies not in self._covers:
            self._covers[bodies] = BodyCover(self.simulation.model, bodies)
        return self._covers[bodies]

    @property
    def several(self) -> bool:
        """Whether there are other bodies in this world."""
        return len(self.arms) + len(self.carriers) + len(self.quadrupeds) > 1

    @property
    def things(self) -> dict[str, Thing]:
        """All things by id; a tray where it is now, an object as the file has it."""
        return self._things | {tray.id: tray for tray in self.trays()} if self.carriers else self._things

    def tell(self, thing: Thing) -> None:
        """From now on the body takes a thing for this, whatever its shape in the world is."""
        self._things[thing.id] = thing

    @property
    def furniture(self) -> tuple[Thing, ...]:
        """What is no object to handle, where it is now: tables, baskets, and the trays of carriers."""
        return (*self.plan.furniture, *self.trays())

    def trays(self) -> list[Thing]:
        return [carrier.tray_now() for carrier in self.carriers.values()]

    # --- what is where ---

    def opening(self, id: str) -> float:
        """How far a fixture is open (m or rad)."""
        return float(self.simulation.data.qpos[self.fixtures[id].qpos])

    def knows_opening(self, id: str) -> bool:
        """Whether that is measured: a rig that goes by pictures may have what the file says."""
        return True

    def grains_in(self, id: str) -> int:
        """How many grains are in a vessel or a basket."""
        grains, thing = self.simulation.data.xpos[self._grains], self.things[id]
        if id in self.body:
            return int(vessel_model.within(thing, self.position(id), self.rotation(id), grains).sum())
        return sum(within(thing, grain, vessel_model.HEAP) for grain in grains)

    def contents(self, id: str) -> list[str]:
        """The objects in a fixture, a basket or a vessel, by their places."""
        return [one for one in self.objects if self.encloses(id, one)]

    def encloses(self, place: str, id: str) -> bool:
        """Whether an object is in a hollow thing by its place."""
        out = self.opening(place) if place in self.fixtures else None
        return id != place and bool(is_in(self.lying(id), self.lying(place), out))

    def lying(self, id: str) -> Thing:
        """A thing where it is now, turned as it is."""
        if id not in self.body:
            return self.things[id]
        position, quat = (tuple(v.tolist()) for v in (self.position(id), self.quat(id)))
        return replace(self.things[id], position=position, orientation=quat)

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
        return rotations.half_extents(thing.shape, thing.size, self.rotation(id))

    # --- what touches ---

    def contacts(self) -> list[Contact]:
        """Every pair that touches now, once, the deepest of its points; a part of the arm against itself left out."""
        found: dict[tuple[str, str], float] = {}
        touching = self.simulation.data.contact
        for geoms, distance in zip(touching.geom.tolist(), touching.dist.tolist(), strict=True):
            a, b = sorted(self.geom_owner[g] for g in geoms)
            if a != b and distance <= 0.0005:
                found[a, b] = max(found.get((a, b), -1.0), -distance)
        return [Contact(a, b, depth) for (a, b), depth in sorted(found.items())]

    def touching(self, id: str) -> set[str]:
        return {c.other if c.one == id else c.one for c in self.contacts() if id in (c.one, c.other)}

    def _fingers_on(self, id: str, view: ArmView) -> int:
        body, touched = self.body[id], set()
        for a, b in self.geom_body[self.simulation.data.contact.geom].tolist():
            for one, other in ((a, b), (b, a)):
                if one == body and other in view.fingers:
                    touched.add(other)
        return len(touched)

    def cargo(self, robot_id: str) -> list[str]:
        """What lies in a carrier's tray."""
        tray = self.carriers[robot_id].tray_now()
        return [id for id in self.objects if within(tray, self.position(id), ABOVE_TRAY)]

    def holder(self, id: str) -> str | None:
        """Another robot that holds a thing, by the same rule."""
        return next((robot for robot, view in self.others.items() if self._fingers_on(id, view) == 2), None)


class Rig(BodyRig):
    """The world of one arm, with its fingers."""

    def __init__(self, plan: SceneLayout, simulation: Simulation, placement: ArmPlacement) -> None:
        super().__init__(plan, simulation, placement.robot_id)
        self.placement = placement
        self.view = self.arms[placement.robot_id]

    def fingers_on(self, id: str) -> int:
        """The number of the arm's fingers (0 to 2) that touch an object."""
        return self._fingers_on(id, self.view)

    def pressed(self, id: str) -> float:
        """With how much each finger presses on a thing (N), the lesser of the two."""
        return self._pressed(id, self.view)

    def _pressed(self, id: str, view: ArmView) -> float:
        body, pressing = self.body[id], dict.fromkeys(view.fingers, 0.0)
        force = np.zeros(6)
        for i, pair in enumerate(self.geom_body[self.simulation.data.contact.geom].tolist()):
            bodies = set(pair)
            finger = bodies & pressing.keys()
            if body in bodies and finger:
                mujoco.mj_contactForce(self.simulation.model, self.simulation.data, i, force)
                pressing[finger.pop()] += float(force[0])
        return min(pressing.values())

    def pressed_by(self, id: str, robot_id: str) -> float:
        """The same of another robot's fingers."""
        return self._pressed(id, self.others[robot_id])

    def held(self) -> str | None:
        """The thing that both fingers touch: no memory of a grasp, only the grasp itself."""
        for id in self.objects:
            if self.fingers_on(id) == 2:
                return id
        return None
