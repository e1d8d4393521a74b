"""What was moved: the objects at another position, or turned, after an action; all of them, not only its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypedDict

from worldfs.base.drawers import SIZE
from worldfs.base.footprint import lying
from worldfs.base.json_values import as_float, as_objects
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Outcome, Relation, RobotState, Scene, Thing
from worldfs.base.moved_others import MOVED_OTHERS

SHIFTED: Final = 0.005  # m
TURNED: Final = 0.1  # rad
ROBOT_MOVED: Final = 0.05  # m and rad
MEASURED: Final = ("on", "in", "leans_on", "held_by")  # relations that a simulation observes
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
    furniture's surface, or one between that and its middle, for that of the thing on it."""
    there = {thing.id: thing for thing in (*built.objects, *built.furniture)}
    before = object_poses((*told.objects, *told.furniture))
    fixed = {thing.id for thing in built.furniture}
    laid = {one.subject for one in built.relations if one.object in fixed}
    for id, (position, turn) in before.items():
        now, length = there.get(id), math.hypot(*turn)
        is_laid = now is not None and -SHIFTED <= now.position[2] - position[2] <= lying(now).height / 2 + SHIFTED
        at = (*position[:2], now.position[2]) if now is not None and id in laid and is_laid else position
        before[id] = (at, tuple(part / length for part in turn) if length > 1e-6 else ())
    found = displacements(before, object_poses(there.values()))
    return found + [line for piece in built.furniture if (line := _opened_otherwise(told.thing(piece.id), piece))]


def _opened_otherwise(told: Thing | None, built: Thing) -> Displacement | None:
    """A drawer or a lid that is not as far open as the document says: a lid falls shut."""
    was, now = told.extra.get("opening") if told is not None else None, built.extra.get("opening")
    if isinstance(was, bool) or not isinstance(was, int | float) or not isinstance(now, int | float):
        return None
    way, is_hinged = abs(now - was), built.shape != "drawer"
    if not way > (TURNED if is_hinged else SHIFTED):
        return None
    moved, turned = (0.0, way) if is_hinged else (way, 0.0)
    return {"id": built.id, "moved_m": round(moved, 4), "turned_rad": round(turned, 3)}


def as_told(told: Scene, built: Scene, first: Scene) -> Scene:
    """`built`, with what came to rest elsewhere where the document `told` has it, and without what the document does
    not say to be in a drawer or a chest: both were measured, and are to be written. `first`: the document that the
    world was built from. What a person has moved in it since stays theirs."""
    moved = {
        line["id"]
        for line in built_elsewhere(told, built)
        if _same_place(told.thing(line["id"]), first.thing(line["id"]))
    }

    def earlier(things: Sequence[Thing]) -> tuple[Thing, ...]:
        told_of = {thing.id: told.thing(thing.id) for thing in things if thing.id in moved}
        return tuple(_as_it_was(was, thing) if (was := told_of.get(thing.id)) else thing for thing in things)

    def meets(relation: Relation) -> bool:
        return bool(moved & {relation.subject, relation.object})

    drawers = {thing.id for thing in built.furniture if thing.shape in SIZE}

    def is_news(relation: Relation) -> bool:
        """Whether the document does not tell it, of a thing that is still where the world was built from."""
        subject, is_in_drawer = relation.subject, relation.relation == "in" and relation.object in drawers
        is_told = relation in told.relations or not _same_place(told.thing(subject), first.thing(subject))
        return is_in_drawer and not is_told

    relations = [one for one in built.relations if not (meets(one) or is_news(one))]
    relations += [one for one in told.relations if meets(one) and one.relation in MEASURED]
    return replace(
        built,
        robots=tuple(_robot_as_told(told.robot(robot.robot_id), robot) for robot in built.robots),
        objects=earlier(built.objects),
        furniture=earlier(built.furniture),
        relations=tuple(relations),
    )


def _robot_as_told(told: RobotState | None, built: RobotState) -> RobotState:
    """A robot that could not be built where, or in the pose that, the document has it."""
    if told is None:
        return built
    if len(told.pose) >= 2 and math.dist(told.pose[:2], built.pose[:2]) > ROBOT_MOVED:
        built = replace(built, pose=told.pose)
    pairs = [(told.joint_state.get(name), value) for name, value in built.joint_state.items()]
    numbers = [(one, now) for one, now in pairs if isinstance(one, int | float) and isinstance(now, int | float)]
    if len(numbers) == len(pairs) and any(abs(one - now) > ROBOT_MOVED for one, now in numbers):
        built = replace(built, joint_state=told.joint_state)
    return built


def _as_it_was(told: Thing, built: Thing) -> Thing:
    opening = {"opening": told.extra["opening"]} if {"opening"} <= told.extra.keys() & built.extra.keys() else {}
    return replace(built, position=told.position, orientation=told.orientation, extra={**built.extra, **opening})


def _same_place(one: Thing | None, other: Thing | None) -> bool:
    def place(thing: Thing) -> tuple[object, ...]:
        return thing.position, thing.orientation, thing.extra.get("opening")

    return one is not None and other is not None and place(one) == place(other)


def _angle(one: Sequence[float], other: Sequence[float]) -> float:
    if len(one) != 4 or len(other) != 4:
        return 0.0
    cosine = abs(sum(a * b for a, b in zip(one, other, strict=True)))
    return 2 * math.acos(min(1.0, cosine))


def with_displacements(outcome: Outcome, lines: Sequence[Mapping[str, object]]) -> Outcome:
    """The outcome with these things that were moved beside its own, one or more, as evidence and in its words."""
    known = {str(line.get("id")): line for line in (*as_objects(outcome.evidence.get("also_moved")), *lines)}
    more = displacement_text(lines)
    message = more if outcome.code == MOVED_OTHERS else coded("robot.and_also", said=outcome.message, more=more)
    return replace(outcome, message=message, evidence={**outcome.evidence, "also_moved": list(known.values())})


def not_its_own(outcome: Outcome) -> Outcome:
    """The failure of an order that would have succeeded, had it not moved things that it is not about."""
    said = coded("robot.moved_others", said=outcome.message)
    return Outcome.failure(Cause.ERROR, MOVED_OTHERS, said, evidence=outcome.evidence)


def displacement_text(lines: Sequence[Mapping[str, object]]) -> str:
    """`also moved: cube_02 by 41 mm, can_01 by 8 mm`; "" for none."""
    if not lines:
        return ""
    return coded("robot.also_moved", moved=[*map(moved_by, lines)])


def moved_by(line: Mapping[str, object]) -> str:
    """`cube_02 by 41 mm`, `lid by 30°`."""
    mm = 1000 * as_float(line["moved_m"])
    if mm < 1:
        return coded("robot.turned_by", id=line["id"], degrees=math.degrees(as_float(line["turned_rad"])))
    return coded("robot.moved_by", id=line["id"], mm=mm)
