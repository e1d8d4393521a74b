"""A floor with things and a quadruped on it: the physics world of a scene, and where its things stand now."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.map_zones import MapZone, map_zones
from worldfs.base.messages import coded
from worldfs.base.model import Json, RobotState, Scene, Thing
from worldfs.robots import rotations
from worldfs.robots.mujoco import geometry, model_builder, scene_geometry
from worldfs.robots.mujoco.array_types import Array, Native
from worldfs.robots.mujoco.drawn_world import DrawnWorld
from worldfs.robots.mujoco.scene_geometry import BodyLabel
from worldfs.robots.mujoco.scene_layout import SceneLayout, layout
from worldfs.robots.mujoco.simulation import Simulation

from . import quadruped_model
from .floor_grid import FloorGrid, Footprint, Spot
from .quadruped_view import QuadrupedView

KEEP: Final = 0.42  # m between the body's middle and what it may not touch
POINT: Final = (0.6, 0.6)  # m, the sides of a place of the map that is a point
PASSES: Final = 0.5  # m over the floor: what hangs higher is over its head
FLAT: Final = 0.03  # m: lower things are walked over
ROUND: Final = 2.0  # m of floor about everything
FARTHEST: Final = 15.0  # m from where it starts
OVERVIEW: Final = "front"


@dataclass(frozen=True, slots=True)
class FloorTarget:
    """What a label or a pose means: where it is, and how near a body comes to it. `name`: "" for a pose."""

    name: str
    box: Footprint
    on_it: bool = False  # a place to be on, nothing to be beside
    yaw: float | None = None  # how to be turned there; None: towards it
    station: bool = False  # where a battery is exchanged

    @property
    def middle(self) -> Spot:
        return self.box.x, self.box.y


class FloorWorld:
    """Built from a scene and at rest. Errors: `BadInput` for numbers that no world can have."""

    def __init__(self, scene: Scene, robot_id: str, prefix: str = "") -> None:
        self.plan = layout(scene)
        self.scene = scene
        robot = scene.robot(robot_id)
        self.start = _start(robot)
        self.simulation = Simulation(_build(self.plan, prefix, self.start))
        self.view = QuadrupedView(self.simulation, prefix)
        model = self.simulation.model
        self._body = {thing.id: model.body(f"object{i}").id for i, thing in enumerate(self.plan.objects)}
        owner = {body: id for id, body in self._body.items()}
        owner |= {model.body(f"furniture{i}").id: thing.id for i, thing in enumerate(self.plan.furniture)}
        self._owner = {geom: owner.get(int(body), "") for geom, body in enumerate(model.geom_bodyid)}

    def drawn(self, robot_id: str) -> DrawnWorld:
        """As viewers see it."""
        model = self.simulation.model
        labels = scene_geometry.labels_of(self.plan, model)
        labels |= {body: BodyLabel(robot_id, "robot") for body in range(1, model.nbody) if body not in labels}
        robot: Json = {"id": robot_id, "kind": "quadruped", "base": [float(v) for v in self.start]}
        return DrawnWorld(self.plan, self.simulation, labels, [robot])

    # --- what is where ---

    def things(self) -> list[Thing]:
        """Objects as they lie now, then the furniture."""
        data, found = self.simulation.data, []
        for thing in self.plan.objects:
            body = self._body[thing.id]
            at, quat = (tuple(float(v) for v in values[body]) for values in (data.xpos, data.xquat))
            found.append(replace(thing, position=at, orientation=quat))
        return [*found, *self.plan.furniture]

    def object_spots(self) -> list[Spot]:
        """Where the objects are over the floor, in the order of the scene."""
        data = self.simulation.data
        return [(float(data.xpos[body][0]), float(data.xpos[body][1])) for body in self._body.values()]

    def touched(self) -> set[str]:
        """The ids of what the body touches now; the floor is none."""
        return {self._owner[geom] for geom in self.view.touched()} - {""}

    def spot(self) -> Spot:
        pose = self.view.pose()
        return pose.x, pose.y

    # --- the way ---

    def grid(self) -> FloorGrid:
        """What is free for the body's middle, by the things as they stand now."""
        boxes = [box for thing in self.things() if self._stands(thing) and (box := footprint(thing))]
        near = [box for box in boxes if box.gap(self.start[:2]) < FARTHEST]
        low, high = [], []
        for axis, start in enumerate(self.start[:2]):
            sides = [box.side(axis) for box in near]
            low.append(max(start - FARTHEST, min([start, *(side[0] for side in sides)]) - ROUND))
            high.append(min(start + FARTHEST, max([start, *(side[1] for side in sides)]) + ROUND))
        return FloorGrid((low[0], low[1]), (high[0], high[1]), boxes, KEEP)

    def _stands(self, thing: Thing) -> bool:
        """Whether it is in a walking body's way."""
        low, high = _heights(thing)
        return thing.shape != "region" and low < self.plan.floor + PASSES and high > self.plan.floor + FLAT

    # --- labels ---

    def named(self, label: str) -> list[FloorTarget]:
        """What a label may mean: an id, else a whole name, else a zone of the map, else things with all its words."""
        things, said = self.things(), label.strip().casefold()
        found = [t for t in things if t.id == label.strip()] or [t for t in things if t.name.casefold() == said]
        if not found and (zones := self._zones(said)):
            return zones
        return [_target(thing) for thing in found or (t for t in things if _says(t, said)) if footprint(thing)]

    def _zones(self, said: str) -> list[FloorTarget]:
        return [
            FloorTarget(zone.name, _area(zone), on_it=True, station=zone.dock)
            for zone in map_zones(self.scene)
            if zone.at and zone.name.casefold() == said
        ]

    def labels(self) -> list[str]:
        return [thing.id for thing in self.things()]


def _area(zone: MapZone) -> Footprint:
    wide, deep = zone.size or POINT
    return Footprint(zone.at[0], zone.at[1], (wide / 2, deep / 2), zone.yaw or 0.0)


def footprint(thing: Thing) -> Footprint | None:
    """None for a thing without a place."""
    if len(thing.position) < 2 or len(thing.size) < 2:
        return None
    turn = rotations.matrix(thing.orientation)
    upright = abs(float(turn[2, 2])) > 0.999
    if upright and thing.shape != "sphere":
        half, yaw = (thing.size[0] / 2, thing.size[1] / 2), math.atan2(float(turn[1, 0]), float(turn[0, 0]))
    else:
        wide = geometry.half_extents(thing.shape, thing.size, turn)
        half, yaw = (float(wide[0]), float(wide[1])), 0.0
    return Footprint(float(thing.position[0]), float(thing.position[1]), half, yaw)


def _says(thing: Thing, said: str) -> bool:
    """Whether its words include all that is said; of Chinese, whether its name does."""
    words = f"{thing.id} {thing.name} {thing.category} {thing.color}".casefold().replace("_", " ").split()
    return set(said.replace("_", " ").split()) <= set(words) or (not said.isascii() and said in thing.name)


def _target(thing: Thing) -> FloorTarget:
    box = footprint(thing)
    assert box is not None
    return FloorTarget(thing.id, box, on_it=thing.shape == "region", station=thing.category == "dock")


def _heights(thing: Thing) -> tuple[float, float]:
    """Its lowest and highest point (m, world)."""
    if thing.shape == "table":
        return thing.position[2] - thing.size[2], thing.position[2]
    half = float(geometry.half_extents(thing.shape, thing.size, rotations.matrix(thing.orientation))[2])
    return thing.position[2] - half, thing.position[2] + half


def _start(robot: RobotState | None) -> tuple[float, float, float]:
    """x, y (m), yaw (rad) of the file, else the origin."""
    pose = (*(robot.pose if robot else ()), *(0.0,) * 6)[:6]
    if not all(math.isfinite(v) and abs(v) < 1e4 for v in pose):
        raise BadInput(
            coded("robot.robot_pose", pose=list(pose)), expected=coded("robot.only_finite"),
            fix=coded("robot.correct_pose"),
        )  # fmt: skip
    return pose[0], pose[1], pose[5]


def _build(plan: SceneLayout, prefix: str, start: tuple[float, float, float]) -> Native:
    spec = model_builder.build(plan)
    quadruped_model.add(spec, (0.0, 0.0, plan.floor + 1.0), (1.0, 0.0, 0.0, 0.0), prefix)
    boxes = [box for thing in plan.furniture if (box := footprint(thing))]
    corners = np.array([start[:2], *((box.x, box.y) for box in boxes if box.gap(start[:2]) < FARTHEST)])
    middle, span = (corners.min(0) + corners.max(0)) / 2, max(2.0, float(np.ptp(corners, axis=0).max()))
    spec.worldbody.geoms[0].pos = [*middle, plan.floor]
    spec.worldbody.geoms[0].size = [FARTHEST + ROUND, FARTHEST + ROUND, 0.1]
    spec.visual.map.zfar = 60.0
    eye = np.array([middle[0], middle[1] - 0.62 * span, plan.floor + 0.95 * span])
    look = np.array([*middle, plan.floor]) - eye
    look /= np.linalg.norm(look)
    right = np.array([1.0, 0.0, 0.0])
    axes: Array = np.stack([right, np.cross(right, look), -look], axis=1)
    spec.worldbody.add_camera(name=OVERVIEW, pos=list(eye), fovy=50, quat=list(geometry.quat_of(axes)))
    return spec.compile()
