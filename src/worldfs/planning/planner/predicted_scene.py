"""The scene as it will be: after moves, after an operation, and once the goals of earlier steps are met."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from worldfs.base.model import Relation, Scene, Thing, Vec

from .goals import (
    ApartGoal,
    AreaGoal,
    BesideGoal,
    CentreGoal,
    DownGoal,
    Goal,
    HandedGoal,
    HoldingGoal,
    InGoal,
    OnGoal,
    OpenedGoal,
    OperationGoal,
    PlacedGoal,
    PouredGoal,
    SlidGoal,
    TowardGoal,
    UprightGoal,
    holds,
    subject,
)
from .scene_facts import (
    UNKNOWN,
    UNKNOWN_LOCATION,
    ThingLocation,
    final_support,
    height,
    immovable_ids,
    layout,
    own_robot,
    settled_at,
    surfaces,
    wipes,
)

MOVING = (
    InGoal, OnGoal, BesideGoal, TowardGoal, ApartGoal, AreaGoal, CentreGoal, PlacedGoal, SlidGoal, DownGoal,
    HoldingGoal, HandedGoal, UprightGoal, PouredGoal,
)  # of things that are somewhere else afterwards, or may be  # fmt: skip


def supports_of(id: str, places: Mapping[str, ThingLocation]) -> list[str]:
    """What a thing rests on, down through a stack."""
    found: list[str] = []
    spot = places.get(id, UNKNOWN_LOCATION)
    while spot.relation == "on" and spot.of not in found:
        found.append(spot.of)
        spot = places.get(spot.of, UNKNOWN_LOCATION)
    return found


def surface_of(id: str, places: Mapping[str, ThingLocation], scene: Scene) -> str:
    """Where a thing is set aside: the table that it is on, else the first there is."""
    flat = [s.id for s in surfaces(scene)]
    below = [places.get(id, UNKNOWN_LOCATION).of, *supports_of(id, places)][-1]
    return below if below in flat else (flat[0] if flat else "")


def end_of(goal: Goal, places: Mapping[str, ThingLocation], scene: Scene) -> ThingLocation:
    """Where a thing is put down for a goal."""
    match goal:
        case InGoal(container=box):
            return ThingLocation("in", box)
        case OnGoal(support=under) | AreaGoal(support=under) | ApartGoal(support=under) | CentreGoal(support=under):
            return ThingLocation("on", under)
        case BesideGoal(other=other) | TowardGoal(other=other):
            spot = settled_at(places, other) if other in places else None
            if spot is not None and spot.of in immovable_ids(scene) and spot.relation != "held":
                return spot
    return ThingLocation("on", surface_of(subject(goal), places, scene))


def after_moves(scene: Scene, places: Mapping[str, ThingLocation], now: Mapping[str, Thing], robot_id: str) -> Scene:
    """The scene with these things at these places (relations, what is held) and with the positions of `now`."""
    held = next((id for id, w in places.items() if w == ThingLocation("held", robot_id)), None)
    objects = tuple(
        replace(t, position=now.get(t.id, t).position, status="") if t.id in places else t for t in scene.objects
    )
    others = tuple(
        r
        for r in scene.relations
        if r.subject not in places or (r.relation == "held_by" and places[r.subject] == ThingLocation())
    )  # what another robot holds
    stated = [Relation(id, w.relation, w.of) for id, w in places.items() if w.relation in ("in", "on")]
    stated += [Relation(id, "held_by", w.of) for id, w in places.items() if w.relation == "held" and w.of != robot_id]
    robots = tuple(replace(r, holding=held) if r.robot_id == robot_id else r for r in scene.robots)
    return replace(scene, objects=objects, relations=(*others, *stated), robots=robots)


def after_operation(goal: Goal, thing: Thing, scene: Scene) -> Scene:
    """The scene after an operation that handles a thing where it is."""
    if isinstance(goal, OpenedGoal):
        unmeasured = {name: value for name, value in thing.extra.items() if name != "opening"}
        moved = replace(thing, status=goal.state, extra=unmeasured)
        return replace(scene, furniture=tuple(moved if t.id == thing.id else t for t in scene.furniture))
    if isinstance(goal, HandedGoal):
        held = {goal.robot: thing.id}
        robots = tuple(
            replace(r, holding=held.get(r.robot_id, None if r.holding == thing.id else r.holding)) for r in scene.robots
        )
        return replace(scene, robots=robots)
    if isinstance(goal, PouredGoal):
        counts = {goal.object: 0, goal.into: goal.grains}
        filled = {id: {**t.extra, "grains": n} for id, n in counts.items() if (t := scene.thing(id)) is not None}
        objects = tuple(replace(t, extra=filled.get(t.id, t.extra)) for t in scene.objects)
        furniture = tuple(replace(t, extra=filled.get(t.id, t.extra)) for t in scene.furniture)
        return replace(scene, objects=objects, furniture=furniture)
    then = (
        replace(thing, position=(*goal.position[:2], thing.position[2]))
        if isinstance(goal, SlidGoal)
        else _set_upright(thing)
    )
    return replace(scene, objects=tuple(then if t.id == thing.id else t for t in scene.objects))


def _set_upright(thing: Thing) -> Thing:
    standing = replace(thing, orientation=(1.0, 0.0, 0.0, 0.0))
    x, y, z = thing.position[:3]
    return replace(standing, position=(x, y, z + (height(standing) - height(thing)) / 2))


def predicted_scene(scene: Scene, goals: Iterable[Goal]) -> tuple[Scene, frozenset[str]]:
    """The scene once these goals are met, one after the other, and what was moved until then. It is certain
    what is in or on what. Where in or on it a moved thing lies is `UNKNOWN`, but for a goal with coordinates."""
    robot = own_robot(scene)
    hand = robot.robot_id if robot is not None else ""
    at_first = layout(scene)
    now, moved = dict(at_first), dict[str, Vec]()
    for goal in goals:
        id, thing = subject(goal), scene.thing(subject(goal))
        if isinstance(goal, OperationGoal):  # where a robot leaves what it wiped with is not told
            loose = [t.id for t in scene.objects if t.id in now and wipes(t)]
            now, moved = now | dict.fromkeys(loose, UNKNOWN_LOCATION), moved | dict.fromkeys(loose, UNKNOWN)
        elif isinstance(goal, OpenedGoal) and thing is not None and thing.status != goal.state:
            scene = after_operation(goal, thing, scene)
            moved |= {one: UNKNOWN for one in now if final_support(now, one) == ThingLocation("in", id)}
        elif isinstance(goal, MOVING) and thing is not None and id in now:
            untouched = moved.keys().isdisjoint((id, getattr(goal, "other", "")))
            if untouched and holds(goal, scene, hand, at_first):
                continue
            for other in [one for one in now if one != id and id in _all_below(one, now)]:  # is taken off first
                now[other], moved[other] = UNKNOWN_LOCATION, UNKNOWN
            if isinstance(goal, UprightGoal | PouredGoal):
                scene = after_operation(goal, thing, scene)
            moved[id] = _position(goal, thing, now[id], moved.get(id, thing.position))
            now[id] = _end(goal, now, scene, hand)
    held = {id for id, spot in now.items() if spot.relation == "held"}
    things = {id: replace(t, position=at) for id, at in moved.items() if (t := scene.thing(id)) is not None}
    then = after_moves(scene, {id: now[id] for id in (*moved, *held)}, things, hand) if moved else scene
    return then, frozenset(moved)


def _all_below(id: str, now: Mapping[str, ThingLocation]) -> set[str]:
    """All that bears a thing or is round it."""
    found = set[str]()
    while (below := now.get(id, UNKNOWN_LOCATION).of) and below not in found:
        found.add(below)
        id = below
    return found


def _position(goal: Goal, thing: Thing, spot: ThingLocation, at: Vec) -> Vec:
    """Where a thing is then, that was at `at`."""
    if isinstance(goal, UprightGoal) and spot.relation != "held":
        return at
    if isinstance(goal, PlacedGoal | SlidGoal) and spot.relation == "on":
        return (*goal.position[:2], *at[2:3])
    return UNKNOWN


def _end(goal: Goal, now: Mapping[str, ThingLocation], scene: Scene, hand: str) -> ThingLocation:
    if isinstance(goal, HoldingGoal | HandedGoal):
        return ThingLocation("held", goal.robot if isinstance(goal, HandedGoal) else hand)
    if isinstance(goal, UprightGoal | PouredGoal) and now[goal.object].relation != "held":
        return now[goal.object]
    return end_of(goal, now, scene)
