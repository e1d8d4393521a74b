"""The page's form of an observation: lists of entries with ids, a graph of nodes and edges (000, ENVIRONMENT.md)."""

from __future__ import annotations

import math

from worldfs.formats.environment_entries import (
    Seen,
    by_id,
    edges,
    extra,
    listed,
    plain,
    put,
    rounded,
    settle,
    sound,
    updated,
    with_extra,
)
from worldfs.ground.model import Json, RobotState, Thing

_IDENTITY = [1.0, 0.0, 0.0, 0.0]


def page(value: Json, seen: Seen) -> Json:
    """A v1 or v2 document after an observation. v1 has one `robot`, no edges and no perception."""
    graph = value.get("scene_graph", {})
    nodes = graph.get("nodes") if isinstance(graph, dict) else None
    for entries in (value.get("objects"), nodes):
        if isinstance(entries, list):
            seen = seen.without((entry.get("id"), entry) for entry in entries if isinstance(entry, dict))
    new = dict(value)
    robot = seen.robot
    if robot is not None and "robot" in value:
        new["robot"] = put(value["robot"], _page_robot(robot))
    elif robot is not None:
        new["robots"] = listed(value.get("robots"), [(robot.robot_id, _page_robot(robot))], (), "robot_id")
    present = by_id(value.get("objects"))
    objects = [(t.id, _page_thing(t, present.get(t.id, {}))) for t in seen.scene.objects if sound(t)]
    after = listed(value.get("objects"), objects, seen.gone, "id", {"source": seen.robot_id})
    new = updated(new, objects=after)
    if isinstance(graph, dict):
        after = _page_graph(graph, seen, related="robot" not in value)
        new = updated(new, scene_graph=after)
    if seen.scene.perception and "robot" not in value:
        new["perception"] = settle(value.get("perception"), plain(seen.scene.perception))
    return with_extra(value, new, seen)


def _page_robot(robot: RobotState) -> Json:
    fields: Json = {"robot_id": robot.robot_id}
    if robot.pose and all(map(math.isfinite, robot.pose)):
        fields["pose"] = rounded(robot.pose)
    if robot.joint_state:
        fields["joint_state"] = plain(robot.joint_state)
    if robot.gripper:
        fields["gripper"] = str(robot.gripper)
    return fields | {"holding": robot.holding} | extra(robot.extra)


def _page_thing(thing: Thing, old: Json) -> Json:
    named = {"id": thing.id, "name": thing.name, "category": thing.category}
    fields: Json = {key: text for key, text in named.items() if text} | {"position": rounded(thing.position)}
    return fields | _body_of(thing, old) | extra(thing.extra)


def _body_of(thing: Thing, old: Json) -> Json:
    fields: Json = {}
    if thing.size and all(map(math.isfinite, thing.size)):
        fields["size"] = rounded(thing.size)
    if thing.shape:
        fields["shape"] = thing.shape
    if thing.mass and math.isfinite(thing.mass):
        fields["mass"] = rounded((thing.mass,))[0]
    if thing.color:
        fields["color"] = thing.color
    turned = rounded(thing.orientation) if all(map(math.isfinite, thing.orientation)) else _IDENTITY
    if "orientation" in old or settle(_IDENTITY, turned) is not _IDENTITY:
        fields["orientation"] = turned
    return fields


def _page_graph(graph: Json, seen: Seen, *, related: bool) -> Json:
    old = graph.get("nodes")
    present = by_id(old)
    kinds = {id: entry.get("type") for id, entry in present.items()}
    nodes: list[tuple[str, Json]] = []
    marked: list[tuple[str, Json]] = []
    for thing in seen.scene.furniture:
        if sound(thing):
            kind = kinds.get(thing.id) or _kind(thing)
            fields = {"id": thing.id, "type": kind, "position": rounded(thing.position)} | _status(thing)
            named = {"name": thing.name, "category": "" if thing.category == kind else thing.category}
            fields |= {key: text for key, text in named.items() if text}
            marked.append((thing.id, fields | _body_of(thing, present.get(thing.id, {})) | extra(thing.extra)))
    for thing in seen.scene.objects:
        if sound(thing):
            fields = {"id": thing.id, "type": kinds.get(thing.id) or "object", "position": rounded(thing.position)}
            nodes.append((thing.id, fields | _status(thing)))
    changed = listed(old, marked, (), "id", {"source": seen.robot_id})
    new = updated(graph, nodes=listed(changed, nodes, seen.gone, "id"))
    if related or "edges" in graph:
        new = updated(new, edges=edges(graph.get("edges"), seen, ("from", "to"), str.lower, {}))
    return new


def _kind(thing: Thing) -> str:
    if thing.is_container:
        return "container"
    return "region" if "region" in (thing.shape, thing.category) else "furniture"


def _status(thing: Thing) -> Json:
    return {"status": thing.status} if thing.status else {}
