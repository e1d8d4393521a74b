"""The floor of a world as a quadruped on it sees it: where things and other bodies stand, and what a label means."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np

from worldfs.base.map_zones import MapZone
from worldfs.base.model import Thing
from worldfs.base.name_parts import fits_label
from worldfs.robots.floor_footprint import PASSES, Footprint, Spot, footprint, footprint_of
from worldfs.robots.mujoco.body_limits import BodyLimits
from worldfs.robots.mujoco.floor_grid import KEEP, FloorGrid
from worldfs.robots.mujoco.floor_obstacles import BASE_HALF, body_obstacles
from worldfs.robots.mujoco.floor_things import FloorThings
from worldfs.robots.mujoco.reserved_space import ReservedSpace
from worldfs.robots.mujoco.rig import BodyRig
from worldfs.robots.mujoco.scene_layout import LABEL_FLOOR

from .quadruped_model import LENGTH, WIDTH
from .quadruped_placement import QuadrupedPlacement
from .quadruped_view import QuadrupedView

POINT: Final = (0.6, 0.6)  # m, the sides of a place of the map that is a point


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


class FloorWorld(FloorThings):
    """The world as one quadruped of it sees the floor; `reserved` is the world's."""

    def __init__(
        self, rig: BodyRig, placement: QuadrupedPlacement, reserved: ReservedSpace, limits: BodyLimits
    ) -> None:
        super().__init__(rig, (placement.base[0], placement.base[1]))
        self.simulation = rig.simulation
        self.view = rig.quadrupeds[placement.robot_id]
        self.base = placement.base
        self._reserved, self._limits = reserved, limits

    # --- what is where ---

    def object_spots(self) -> list[Spot]:
        """Where the objects are over the floor, in the order of the scene."""
        places = (self.rig.position(id) for id in self.rig.objects)
        return [(float(at[0]), float(at[1])) for at in places]

    def touched(self) -> set[str]:
        """The ids of what the body touches now, other robots' too; the floor is none."""
        return {self.rig.geom_owner[geom] for geom in self.view.touched()} - {LABEL_FLOOR}

    def spot(self) -> Spot:
        pose = self.view.pose()
        return pose.x, pose.y

    # --- the way ---

    def grid(self, *, minding: bool = True, without: Collection[str] = ()) -> FloorGrid:
        """What is free for the body's middle, by its limits, by what stands there now and, with `minding`, by where the
        bodies that move will pass; `without` counts none of these robots."""
        others = body_obstacles(self.rig, self._reserved, self.plan.floor + PASSES, minding=minding)
        boxes = [footprint_of(one.rectangle) for one in others if not (one.robot and one.owner in without)]
        grid = self.grid_of([*self.standing().values(), *boxes], KEEP)
        grid.restrict(lambda spot: self._limits.holds(self._limits.robot.robot_id, np.array(spot)))
        return grid

    def robots(self) -> list[str]:
        """The other robots of the world."""
        return [*self.rig.others, *self.rig.carriers, *self._walking]

    def movers(self, *, minding: bool) -> list[str]:
        """The robots that a way may have to go round, or to wait for."""
        others = body_obstacles(self.rig, self._reserved, self.plan.floor + PASSES, minding=minding)
        return sorted({one.owner for one in others if one.robot})

    # --- labels ---

    def named(self, label: str) -> list[FloorTarget]:
        """What a label may mean: an id, else a whole name, else a zone of the map, else things that its words fit."""
        things, said = self.things(), label.strip().casefold()
        if (body := self._body(label.strip())) is not None:
            return [FloorTarget(label.strip(), body)]
        found = [t for t in things if t.id == label.strip()] or [t for t in things if t.name.casefold() == said]
        if not found and (zones := self._zones(said)):
            return zones
        return [_target(thing) for thing in found or (t for t in things if fits_label(said, t)) if footprint(thing)]

    def _zones(self, said: str) -> list[FloorTarget]:
        return [
            FloorTarget(zone.name, _area(zone), on_it=True, station=zone.dock)
            for zone in self.plan.zones
            if zone.at and zone.name.casefold() == said
        ]

    def labels(self) -> list[str]:
        return [*(thing.id for thing in self.things()), *self.robots()]

    def _body(self, id: str) -> Footprint | None:
        """Where another robot stands: an arm by its foot, the others by all of them."""
        if id in self.rig.others:
            x, y = self.rig.others[id].base[:2]
            return Footprint(float(x), float(y), (BASE_HALF, BASE_HALF))
        if id in self.rig.carriers:
            return footprint_of((*(box := self.rig.carriers[id].box())[:2], *box[3:5]))
        if id in self._walking:
            pose = self._walking[id].pose()
            return Footprint(pose.x, pose.y, (LENGTH / 2, WIDTH / 2), pose.yaw)
        return None

    @property
    def _walking(self) -> dict[str, QuadrupedView]:
        return {id: view for id, view in self.rig.quadrupeds.items() if id != self.rig.robot_id}


def _area(zone: MapZone) -> Footprint:
    wide, deep = zone.size or POINT
    return Footprint(zone.at[0], zone.at[1], (wide / 2, deep / 2), zone.yaw or 0.0)


def _target(thing: Thing) -> FloorTarget:
    box = footprint(thing)
    assert box is not None
    return FloorTarget(thing.id, box, on_it=thing.shape == "region", station=thing.category == "dock")
