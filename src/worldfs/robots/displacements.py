"""What was moved: the objects at another position, or turned, after an action; all of them, not only its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypedDict

from worldfs.base.footprint import lying
from worldfs.base.json_values import as_float, as_objects
from worldfs.base.messages import coded
from worldfs.base.model import Outcome, Scene, Thing

SHIFTED: Final = 0.005  # m
TURNED: Final = 0.1  # rad
STAND: Final = "stand"  # category of what a simulation puts under a thing in the air

ObjectPose = tuple[Sequence[float], Sequence[float]]  # position (3, m), orientation (w, x, y, z; () for what has none)


def object_poses(things: Iterable[Thing]) -> dict[str, ObjectPose]:
    """A ball has no visible rotation."""
    return {
        thing.id: (thing.position[:3], () if thing.shape == "sphere" else thing.orientation)
        for thing in things
        if len(thing.position) >= 3
    }


class Displacement(TypedDict):
    """An object that was moved beside what the action was about."""

    id: str
    moved_m: float
    turned_rad: float


def displacements(
    before: Mapping[str, ObjectPose], after: Mapping[str, ObjectPose], besides: Iterable[str] = ()
) -> list[Displacement]:
    """Lines {id, moved_m, turned_rad}, the farthest first, without those that the action was about."""
    found: list[Displacement] = []
    meant = set(besides)
    for id, (position, turn) in before.items():
        if id in meant or id not in after:
            continue
        now, turned_now = after[id]
        way, angle = math.dist(position, now), _angle(turn, turned_now)
        if way > SHIFTED or angle > TURNED:
            found.append({"id": id, "moved_m": round(way, 4), "turned_rad": round(angle, 3)})
    return sorted(found, key=lambda line: (-line["moved_m"], line["id"]))


def built_elsewhere(told: Scene, built: Scene) -> list[Displacement]:
    """The things that a simulation built elsewhere than the document has them. A document may say the height of a
    furniture's surface for that of the thing on it."""
    there = {thing.id: thing for thing in (*built.objects, *built.furniture)}
    before = object_poses((*told.objects, *told.furniture))
    fixed = {thing.id for thing in built.furniture}
    laid = {one.subject for one in built.relations if one.object in fixed}
    for id, (position, turn) in before.items():
        now, length = there.get(id), math.hypot(*turn)
        is_laid = now is not None and abs(position[2] - now.position[2] + lying(now).height / 2) <= SHIFTED
        at = (*position[:2], now.position[2]) if now is not None and id in laid and is_laid else position
        before[id] = (at, tuple(part / length for part in turn) if length > 1e-6 else ())
    return displacements(before, object_poses(there.values()))


def _angle(one: Sequence[float], other: Sequence[float]) -> float:
    if len(one) != 4 or len(other) != 4:
        return 0.0
    cosine = abs(sum(a * b for a, b in zip(one, other, strict=True)))
    return 2 * math.acos(min(1.0, cosine))


def with_displacements(outcome: Outcome, lines: Sequence[Mapping[str, object]]) -> Outcome:
    """The outcome with these things that were moved beside its own, one or more, as evidence and in its words."""
    known = {str(line.get("id")): line for line in (*as_objects(outcome.evidence.get("also_moved")), *lines)}
    message = coded("robot.and_also", said=outcome.message, more=displacement_text(lines))
    return replace(outcome, message=message, evidence={**outcome.evidence, "also_moved": list(known.values())})


def displacement_text(lines: Sequence[Mapping[str, object]]) -> str:
    """`also moved: cube_02 by 41 mm, can_01 by 8 mm`; "" for none."""
    if not lines:
        return ""
    moved = [coded("robot.moved_by", id=line["id"], mm=1000 * as_float(line["moved_m"])) for line in lines]
    return coded("robot.also_moved", moved=moved)
