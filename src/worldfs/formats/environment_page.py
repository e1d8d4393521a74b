"""The page's form of an observation: lists of entries with ids, a graph of nodes and edges (000, ENVIRONMENT.md)."""

from __future__ import annotations

import math
from typing import Any

from worldfs.base.model import Json, RobotState, Thing
from worldfs.formats import entry_ids
from worldfs.formats.environment_entries import (
    EntryUpdate,
    ObservationUpdate,
    amounts,
    by_id,
    edges,
    extra,
    merge_perception,
    never_removed,
    place_of,
    plain,
    robot_entry,
    rounded,
    set_fields,
    settle,
    state_word,
    update_list,
    updated,
    with_extra,
)

_IDENTITY = [1.0, 0.0, 0.0, 0.0]
_BARE = frozenset(("id", "type", "position", "status"))  # all that this writer says in the node of an object


def page(value: Json, seen: ObservationUpdate) -> Json:
    """A v1 or v2 document after an observation. v1 has one `robot`, no edges and no perception."""
    graph = value.get("scene_graph", {})
    nodes = graph.get("nodes") if isinstance(graph, dict) else None
    for entries in (value.get("objects"), nodes):
        if isinstance(entries, list):
            seen = seen.without((entry_ids.told(entry), entry) for entry in entries if isinstance(entry, dict))
    new = dict(value)
    robot = seen.robot
    if robot is not None and "robot" in value:
        new["robot"] = set_fields(value["robot"], robot_entry(robot, seen, value["robot"], _page_robot).measured)
    elif robot is not None:
        present = by_id(value.get("robots"), "robot_id").get(robot.robot_id)
        own = robot_entry(robot, seen, present, _page_robot)
        new["robots"] = update_list(value.get("robots"), [own], never_removed, "robot_id")
    things = by_id(value.get("objects"))
    objects = [_page_thing(t, things.get(t.id, {})) for t in seen.scene.objects if seen.has_changed(t)]
    new = updated(
        new, objects=update_list(value.get("objects"), objects, seen.is_gone, "id", {"source": seen.robot_id})
    )
    if isinstance(graph, dict):
        new = updated(new, scene_graph=_page_graph(graph, seen, related="robot" not in value))
    if "robot" not in value:
        new = updated(new, perception=merge_perception(value.get("perception"), seen))
    return with_extra(value, new, seen)


def _page_robot(robot: RobotState) -> Json:
    fields: Json = {"robot_id": robot.robot_id}
    if robot.pose and all(map(math.isfinite, robot.pose)):
        fields["pose"] = rounded(robot.pose)
    if robot.joint_state:
        fields["joint_state"] = plain(robot.joint_state)
    if robot.gripper:
        fields["gripper"] = str(robot.gripper)
    if robot.gripper or robot.holding is not None:  # without a gripper it says nothing of what it carries
        fields["holding"] = robot.holding or None
    return fields | extra(robot.extra)


def _page_thing(thing: Thing, old: Json) -> EntryUpdate:
    named = {"id": thing.id, "name": thing.name, "category": thing.category}
    measured: Json = place_of(thing, old) | _turned(thing, old) | amounts(thing)
    measured |= _status(thing, {thing.id: old}) if old.get("status") else {}
    whole: Json = {key: text for key, text in named.items() if text}
    whole |= {"position": measured["position"]} | _body_of(thing) | measured | extra(thing.extra)
    return EntryUpdate(thing.id, whole, measured)


def _body_of(thing: Thing) -> Json:
    fields: Json = {}
    if thing.size and all(map(math.isfinite, thing.size)):
        fields["size"] = rounded(thing.size)
    if thing.shape:
        fields["shape"] = thing.shape
    if thing.mass and math.isfinite(thing.mass):
        fields["mass"] = rounded((thing.mass,))[0]
    if thing.color:
        fields["color"] = thing.color
    return fields


def _turned(thing: Thing, old: Json) -> Json:
    turned = rounded(thing.orientation) if all(map(math.isfinite, thing.orientation)) else _IDENTITY
    return {"orientation": turned} if "orientation" in old or settle(_IDENTITY, turned) is not _IDENTITY else {}


def _page_graph(graph: Json, seen: ObservationUpdate, *, related: bool) -> Json:
    old = graph.get("nodes")
    present = by_id(old)
    furniture, objects = [], []
    for thing in seen.scene.furniture:
        if seen.has_changed(thing):
            named = {"name": thing.name, "category": "" if thing.category == _kind(thing) else thing.category}
            measured = (
                place_of(thing, present.get(thing.id))
                | _status(thing, present)
                | _turned(thing, present.get(thing.id, {}))
            )
            measured |= _opened(thing)
            whole = {"id": thing.id, "type": _kind(thing), "position": rounded(thing.position)} | _status(thing, {})
            whole |= {key: text for key, text in named.items() if text}
            furniture.append(EntryUpdate(thing.id, whole | _body_of(thing) | measured | extra(thing.extra), measured))
    for thing in seen.scene.objects:
        if seen.has_changed(thing):
            measured = place_of(thing, present.get(thing.id)) | _status(thing, present)
            objects.append(EntryUpdate(thing.id, {"id": thing.id, "type": "object"} | measured, measured))

    def left(id: Any, entry: Any) -> bool:
        return seen.is_gone(id, entry) or (isinstance(id, str) and id in seen.gone and entry.keys() <= _BARE)

    changed = update_list(old, furniture, left, "id", {"source": seen.robot_id})
    new = updated(graph, nodes=update_list(changed, objects, left, "id"))
    if related or "edges" in graph:
        new = updated(new, edges=edges(graph.get("edges"), seen, ("from", "to"), str.lower, {}))
    return new


def _opened(thing: Thing) -> Json:
    """Of a drawer or a lid, how far it is open (m or rad), and the word for that; of a basket, what was poured in."""
    return amounts(thing) | ({"status": thing.status} if "opening" in thing.extra else {})


def _kind(thing: Thing) -> str:
    if thing.is_container:
        return "container"
    return "region" if "region" in (thing.shape, thing.category) else "furniture"


def _status(thing: Thing, present: dict[str, Json]) -> Json:
    word = state_word(present.get(thing.id, {}).get("status"), thing.status)
    return {"status": word} if word else {}
