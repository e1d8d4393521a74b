"""The believed rig: the things of a world where they were seen, on a model of their own; only the arm is measured."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

import mujoco
import numpy as np

from worldfs.base.model import Thing
from worldfs.robots.vision.depth_image import DepthImage
from worldfs.robots.vision.opening_fit import fit_opening
from worldfs.robots.vision.solids import Solid

from . import fixture_model
from .array_types import Array, Native
from .model_builder import build
from .rig import Rig
from .scene_layout import SceneLayout
from .simulation import Simulation

SPARE: Final = 6  # boxes for what has no name
HIDDEN: Final = 4  # the group of geoms that no picture of the expected surroundings shows
SAME_PLACE: Final = 0.08  # m: nearer to where an unknown thing was, and it is the same
AWAY: Final = (0.0, 0.0, -50.0)  # where a spare box is kept


_SHAPES: Final = {mujoco.mjtGeom.mjGEOM_BOX.value: "box", mujoco.mjtGeom.mjGEOM_SPHERE.value: "sphere"}


class SeenOpening(NamedTuple):
    """How far a fixture is open (m or rad) by a picture; `share` of its part's visible points that bear it out."""

    opening: float
    share: float
    camera: str
    time: float  # s of the robot's clock


class BelievedRig(Rig):
    """The things are as large as the robot was told. Positions and collisions come from what was seen, what the fingers
    feel from the arm itself (`feeling`)."""

    def __init__(self, feeling: Rig) -> None:
        told = replace(feeling.plan, objects=tuple(feeling.things[thing.id] for thing in feeling.plan.objects))
        super().__init__(told, Simulation(_model(told)), feeling.placement)
        self.feeling = feeling
        model = self.simulation.model
        self.spare = [model.body(f"unknown{i}").id for i in range(SPARE)]
        for i in range(SPARE):
            self.body_owner[model.body(f"unknown{i}").id] = f"unknown_{i + 1}"
        self.geom_owner = [self.body_owner[b] for b in self.geom_body]
        self._spare_geoms = [model.geom(f"unknown_box{i}").id for i in range(SPARE)]
        self.unknown: dict[str, Thing] = {}
        self.openings: dict[str, SeenOpening] = {}  # of the fixtures that a picture has shown
        fixture_model.put_openings(told.furniture, model, self.simulation.data)

    # --- what the fingers feel ---

    def held(self) -> str | None:
        return self.feeling.held()

    def fingers_on(self, id: str) -> int:
        return self.feeling.fingers_on(id)

    def pressed(self, id: str) -> float:
        return self.feeling.pressed(id)

    def speed(self, id: str) -> float:
        return 0.0  # what was seen stands until it is seen again

    # --- what is believed ---

    def encoders(self) -> None:
        """Takes over the arm's measured angles and the fingers' opening."""
        data, measured = self.simulation.data, self.feeling.simulation.data
        data.qpos[self.view.joint_qpos] = measured.qpos[self.feeling.view.joint_qpos]
        data.qpos[self.view.finger_qpos] = measured.qpos[self.feeling.view.finger_qpos]
        data.time = measured.time

    def believe(self, id: str, position: Array, quat: tuple[float, ...] | Array) -> None:
        at = self.qpos[id]
        self.simulation.data.qpos[at : at + 3] = position
        self.simulation.data.qpos[at + 3 : at + 7] = quat

    # --- drawers and lids ---

    def knows_opening(self, id: str) -> bool:
        return id in self.openings

    def part_solids(self, id: str, opening: float) -> list[Solid]:
        """The moving part of a fixture, so far open (m or rad), without its knob's stem. The fixture is left so."""
        model, data, joint = self.simulation.model, self.simulation.data, self.fixtures[id]
        data.qpos[joint.qpos] = opening
        mujoco.mj_kinematics(model, data)
        found = []
        for geom in np.nonzero(model.geom_bodyid == joint.body)[0]:
            shape = _SHAPES.get(int(model.geom_type[geom]))
            if shape is not None:
                size = np.broadcast_to(2 * model.geom_size[geom][: 3 if shape == "box" else 1], 3)
                turn = np.array(data.geom_xmat[geom]).reshape(3, 3)
                found.append(Solid(shape, tuple(map(float, size)), np.array(data.geom_xpos[geom]), turn))
        return found

    def look_at_openings(self, image: DepthImage, sigma: float) -> None:
        """What a picture shows of each fixture is believed; where it decides nothing, what was believed stays, and
        what the wrist camera has seen since the last motion: it is nearer."""
        for id, joint in self.fixtures.items():
            last = self.openings.get(id)
            if last is not None and image.camera != "wrist" and (last.camera, last.time) == ("wrist", image.time):
                continue
            before, piece = self.opening(id), self.things[id]
            fitted = fit_opening(partial(self.part_solids, id), fixture_model.travel(piece), image, sigma)
            self.simulation.data.qpos[joint.qpos] = before if fitted is None else fitted.value
            if fitted is not None:
                self.openings[id] = SeenOpening(fitted.value, fitted.share, image.camera, image.time)
        if self.fixtures:
            self.forward()

    def solid(self, id: str) -> Solid:
        thing = self.things[id]
        return Solid(thing.shape, tuple(thing.size), self.position(id), self.rotation(id))

    def obstruct(self, boxes: list[tuple[Array, tuple[float, float, float]]]) -> None:
        """Puts boxes (centre, full extents in m) where something without a name was seen, the largest first. What is
        still about where it was keeps its number."""
        model, before = self.simulation.model, self.unknown
        self.unknown = {}
        model.body_pos[self.spare] = AWAY  # of the model: each copy of the state that a plan tries has it
        for centre, size in sorted(boxes, key=lambda box: -float(np.prod(box[1])))[:SPARE]:
            id = self._number(centre, before)
            i = int(id.removeprefix("unknown_")) - 1
            number, geom, half = self.spare[i], self._spare_geoms[i], np.array(size) / 2
            model.body_pos[number] = centre
            model.geom_size[geom] = half
            model.geom_rbound[geom] = float(np.linalg.norm(half))
            model.geom_aabb[geom, 3:] = half
            self.unknown[id] = Thing(id, id, "unknown", tuple(map(float, centre)), size=size, shape="box")

    def _number(self, centre: Array, before: dict[str, Thing]) -> str:
        """The id of what was there before, else one that nothing had, else any that is free."""
        free = [id for id in (f"unknown_{i + 1}" for i in range(SPARE)) if id not in self.unknown]
        near = [(float(np.linalg.norm(centre - before[id].position)), id) for id in free if id in before]
        away, id = min(near, default=(SAME_PLACE, ""))
        return id if away < SAME_PLACE else next((id for id in free if id not in before), free[0])

    def forward(self) -> None:
        mujoco.mj_forward(self.simulation.model, self.simulation.data)


def _model(plan: SceneLayout) -> Native:
    """The same world with spare boxes; the things to handle are in no picture of it."""
    spec = build(plan)
    for i in range(SPARE):
        body = spec.worldbody.add_body(name=f"unknown{i}", pos=list(AWAY))
        body.add_geom(name=f"unknown_box{i}", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.01, 0.01, 0.01], group=HIDDEN)
    model = spec.compile()
    for i in range(len(plan.objects)):
        model.geom_group[model.geom_bodyid == model.body(f"object{i}").id] = HIDDEN
    return model
