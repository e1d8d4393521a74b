"""What a scene states of where things are (relations, status words), held against their positions. Metres.

Positions are what bodies measure, labels are what programs write. Where the positions of a thing and of the named
holder, and the holder's size, are known and clearly contradict the label, the positions count; else the label does.
A label that names no thing of the scene as holder, or a robot that holds nothing so, says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from .drawers import sized, with_drawn_part
from .footprint import gap, lying
from .hollows import is_in, lowest_point
from .model import Relation, RobotState, Scene, Thing
from .resting import SLACK, can_rest, is_placed

_STATUS = re.compile(r"(on|in)_(.+)")
BORNE = ("on", "in", "inside", "leans_on")


def stated_by_status(thing: Thing, scene: Scene) -> Relation | None:
    """The place that its status word names, as "in_basket", if only one thing fits the word."""
    match = _STATUS.fullmatch(thing.status.lower())
    if match is None:
        return None
    kin = {t.id for t in (*scene.furniture, *scene.objects) if match[2] in (t.id, t.shape, t.category)}
    kin |= {t.id for t in scene.furniture if t.id.startswith(match[2])}
    return Relation(thing.id, match[1], kin.pop()) if len(kin) == 1 else None


def contradicts(one: Thing, holder: Thing, relation: str, others: Iterable[Thing] = ()) -> bool:
    """Whether their positions leave no room for `relation` (on, in, inside). What is in a thing has its middle or its
    lowest point over it, and is no higher above it than that is high, unless one of `others` in there may carry it."""
    holder = with_drawn_part(sized(holder))
    if relation not in ("in", "inside"):
        return not can_rest(one, holder, relation)
    if not is_placed(one) or not is_placed(holder) or len(holder.size) < 2 or is_in(one, holder) is not False:
        return False
    foot = lowest_point(one)
    away = all(gap(Thing("", position=point), holder) > SLACK for point in (one.position, foot))
    if away or not can_rest(one, holder, relation):
        return True
    high = holder.position[2] + lying(holder).height + SLACK  # a page may give the position of its bottom
    return foot[2] > high and not any(is_in(t, holder) is not False for t in others if t.id not in (one.id, holder.id))


def lacks_holder(stated: Relation, scene: Scene) -> bool:
    """Whether the scene is without the holder that is named: it tells of no such thing, and of robots, none that may
    hold the thing. Where it tells of no robot by name, any may."""
    if stated.relation in BORNE:
        return scene.thing(stated.object) is None
    robots = {robot.robot_id: robot for robot in scene.robots}
    if stated.relation != "held_by" or not robots or "" in robots or scene.thing(stated.object) is not None:
        return False
    robot = robots.get(stated.object)
    return robot is None or (robot.holding or stated.subject) != stated.subject or _is_empty(robot)


def _is_empty(robot: RobotState) -> bool:
    return not robot.holding and (robot.holding is not None or robot.gripper == "open")


def _may_bear(thing: Thing, others: Iterable[Thing]) -> bool:
    """Whether any of `others` is known to be where the thing may rest on it or in it."""
    known = (one for one in others if one.id != thing.id and is_placed(one) and len(one.size) >= 2)
    return is_placed(thing) and any(can_rest(thing, one, "in") for one in known)


def strange_hands(scene: Scene, robots: Collection[str]) -> Iterable[Relation]:
    """What a scene that tells of no robot says to be held by one that is none of `robots`."""
    for stated in () if scene.robots else scene.relations:
        if stated.relation == "held_by" and stated.object not in robots and scene.thing(stated.object) is None:
            yield stated


def contradicted(scene: Scene, unmeasured: Collection[str] = ()) -> Iterable[Relation]:
    """The relations and status words of a scene that the positions of their things contradict, and those without a
    holder, where something else may bear the thing. What is held is where its robot says. `unmeasured`: things whose
    positions are in a unit that is not known."""
    things = {thing.id: thing for thing in (*scene.objects, *scene.furniture)}
    for stated in dict.fromkeys((*scene.relations, *_labels(scene).values())):
        one, holder = things.get(stated.subject), things.get(stated.object)
        if one is None:
            continue
        if holder is None and lacks_holder(stated, scene):
            is_hand = stated.relation == "held_by" or scene.robot(stated.object) is not None
            denied = is_hand or (one.id not in unmeasured and _may_bear(one, things.values()))
        else:
            known = holder is not None and not {one.id, holder.id} & {*unmeasured}
            denied = holder is not None and known and contradicts(one, holder, stated.relation, things.values())
        if denied:
            yield stated


def consistent(scene: Scene, unmeasured: Collection[str] = ()) -> Scene:
    """The scene without the labels that its positions contradict: those are `contradicted` in it."""
    return without(scene, contradicted(scene, unmeasured))


def without(scene: Scene, stated: Iterable[Relation]) -> Scene:
    """The scene without these relations and status words: those are `contradicted` in it."""
    denied = dict.fromkeys(stated)
    if not denied:
        return scene
    labels = _labels(scene)

    def labelled(thing: Thing) -> Thing:
        return replace(thing, status="") if labels.get(thing.id) in denied else thing

    relations = tuple(relation for relation in scene.relations if relation not in denied)
    objects, furniture = tuple(map(labelled, scene.objects)), tuple(map(labelled, scene.furniture))
    return replace(
        scene, objects=objects, furniture=furniture, relations=relations, contradicted=(*scene.contradicted, *denied)
    )


def _labels(scene: Scene) -> dict[str, Relation]:
    """What the status words say of where things are, by thing. Each word is looked up once."""
    things = [thing for thing in (*scene.objects, *scene.furniture) if thing.status]
    words = {thing.status: thing for thing in things}
    found = {word: stated for word, thing in words.items() if (stated := stated_by_status(thing, scene)) is not None}
    return {thing.id: replace(found[thing.status], subject=thing.id) for thing in things if thing.status in found}
