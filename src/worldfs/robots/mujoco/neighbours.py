"""The neighbours: the other bodies of a world as obstacles of a plan, where they stand and where they will pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .array_types import Array
from .reserved_space import ReservedSpace, SweptSpace
from .rig import BodyRig

CLEARANCE = 0.02  # m between two bodies
CARGO = 0.16  # m above its tray that a carrier is taken to reach


@dataclass(slots=True)
class Neighbours:
    """`spaces`: what to keep clear of, by robot. `in_passing`: what moves with a body whose space is reserved or, in a
    review, does not count. `blockers` is told which of them a pose was too near to."""

    spaces: Mapping[str, SweptSpace]
    in_passing: frozenset[str]
    blockers: set[str] = field(default_factory=set)

    def margins(self, spheres: Array) -> dict[str, float]:
        """What distance to keep from each: the clearance, or as much as there is now, so that a way out is one."""
        return {id: min(CLEARANCE, space.clearance(spheres) - 0.001) for id, space in self.spaces.items()}

    def near(self, spheres: Array, margins: Mapping[str, float]) -> dict[str, float]:
        """Robot → by how much (m) these spheres are nearer to it than they may be."""
        found = {}
        for id, space in self.spaces.items():
            lacking = margins[id] - space.clearance(spheres, margins[id])
            if lacking > 0:
                found[id] = lacking
                self.blockers.add(id)
        return found

    def passing(self, met: Iterable[str]) -> bool:
        return not self.in_passing.isdisjoint(met)


def neighbours(rig: BodyRig, reserved: ReservedSpace, blockers: set[str], *, moving: bool) -> Neighbours:
    """The others as they stand now and, with `moving`, as those that move will pass."""
    spaces: dict[str, SweptSpace] = {}
    passing: set[str] = set()
    ahead = reserved.of_others(rig.robot_id)
    standing = {id: view.bodies for id, view in rig.others.items()}
    standing |= {id: view.bodies for id, view in rig.quadrupeds.items()}
    for id in (*standing, *rig.carriers):
        if id == rig.robot_id:
            continue
        if id in ahead:
            passing |= {id, *_with(rig, id)}
            if moving:
                spaces[id] = ahead[id]
        elif id in standing:
            spaces[id] = SweptSpace(rig.cover(standing[id]).spheres(rig.simulation.data))
    return Neighbours(spaces, frozenset(passing), blockers)


def none_of(rig: BodyRig) -> Neighbours:
    """As if no other body were there, nor what moves with it."""
    others = [id for id in (*rig.others, *rig.quadrupeds, *rig.carriers) if id != rig.robot_id]
    return Neighbours({}, frozenset(met for id in others for met in (id, *_with(rig, id))))


def _with(rig: BodyRig, robot_id: str) -> list[str]:
    """What moves with a robot: the thing that it holds, or its tray and what is on it."""
    carrier = rig.carriers.get(robot_id)
    if carrier is None:
        return [id for id in rig.objects if rig.holder(id) == robot_id]
    return [carrier.tray.id, *rig.cargo(robot_id)]
