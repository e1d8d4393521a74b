"""The forms of an observation that keep mappings by id: q1, r1 and r2, v0 (reference §3.4)."""

from __future__ import annotations

import math
from typing import Any

from worldfs.formats.environment_entries import (
    DIGITS,
    TOLERANCE,
    Seen,
    axes,
    by_id,
    edges,
    extra,
    keyed,
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

CENTIMETRES = 100.0  # q1 keeps `objects.*.position` in centimetres beside centres in metres (D34)


def q1(value: Json, seen: Seen) -> Json:
    """A q1 document after an observation: centres in metres in the graph, centimetres in `objects`."""
    objects, robots = value.get("objects", {}), value.get("robots", {})
    graph = value.get("scene_graph", {})
    nodes = graph.get("nodes") if isinstance(graph, dict) else None
    things = {_thing_id(node): node for node in by_id(nodes).values()}
    ids = {thing: node["id"] for thing, node in things.items()}
    if isinstance(objects, dict):
        seen = seen.without(objects.items())
    seen = seen.without(things.items())
    new = dict(value)
    robot = seen.robot
    if robot is not None and isinstance(robots, dict):
        new["robots"] = keyed(robots, {robot.robot_id: _q1_robot(robots.get(robot.robot_id), robot)}, ())
    if isinstance(objects, dict):
        new = updated(new, objects=_q1_objects(objects, things, seen))
    if isinstance(graph, dict):
        fields = [(ids.get(t.id, t.id), _q1_node(t, seen, t.id in ids)) for t in seen.things if sound(t)]
        gone = {ids.get(id, id) for id in seen.gone}
        after = listed(nodes, fields, gone, "id", {"source": seen.robot_id})
        related = edges(graph.get("edges"), seen, ("source", "target"), _q1_word, ids)
        new = updated(new, scene_graph=updated(graph, nodes=after, edges=related))
    if seen.scene.perception:
        new["perception"] = settle(value.get("perception"), plain(seen.scene.perception))
    return with_extra(value, new, seen)


def _thing_id(node: Json) -> str:
    """What a graph node is about: the object that it names, else itself."""
    key = node.get("object_key")
    return key if isinstance(key, str) and key else str(node["id"])


def _q1_word(word: str) -> str:
    return {"near": "CLOSE_TO"}.get(word.lower(), word.upper())


def _q1_robot(old: Any, robot: RobotState) -> Json:
    old = old if isinstance(old, dict) else {}
    fields: Json = extra(robot.extra)
    if robot.pose and all(map(math.isfinite, robot.pose)):
        x, y, z, yaw = (*robot.pose[:3], robot.pose[5] if len(robot.pose) == 6 else 0.0)
        place = old.get("robot_pose") if isinstance(old.get("robot_pose"), dict) else {"frame": "map"}
        fields["robot_pose"] = put(place, dict(zip(("x", "y", "z", "yaw"), rounded((x, y, z, yaw)), strict=True)))
    if robot.joint_state:
        fields["joint_state"] = plain(robot.joint_state)
    grip = old.get("gripper_state")
    if robot.gripper and isinstance(grip, dict):
        fields["gripper_state"] = put(grip, {"state": str(robot.gripper)})
    elif robot.gripper:
        fields["gripper_state"] = str(robot.gripper)
    if robot.holding is not None or "holding" in old:
        fields["holding"] = robot.holding
    return fields


def _q1_objects(objects: Json, nodes: dict[str, Json], seen: Seen) -> Json:
    lies = {r.subject: r.object for r in seen.scene.relations if r.relation in ("on", "in", "held_by")}
    entries: dict[str, Json] = {}
    for thing in seen.scene.objects:
        if sound(thing):
            old = objects.get(thing.id)
            unit = _unit(old, nodes.get(thing.id, {}).get("center"))
            fields: Json = {"type": thing.category} if thing.category else {}
            fields |= {"color": thing.color} if thing.color else {}
            fields |= {"location": lies[thing.id]} if thing.id in lies else {}
            fields["position"] = axes(tuple(unit * p for p in thing.position), DIGITS - (2 if unit > 1 else 0))
            fields |= {"state": thing.status} if thing.status else {}
            if old is not None and isinstance(old, dict):
                fields["position"] = put(old.get("position"), fields["position"], TOLERANCE * unit)
                fields |= {"name": thing.name} if "name" in old and thing.name else {}
            entries[thing.id] = fields | extra(thing.extra)
    return keyed(objects, entries, seen.gone, {"source": seen.robot_id})


def _unit(old: Any, center: Any) -> float:
    """How many of the document's units a metre is: 1 only where position and centre say the same."""
    position = old.get("position") if isinstance(old, dict) else None
    if isinstance(position, dict) and isinstance(center, dict):
        pairs = [(position.get(axis), center.get(axis)) for axis in "xyz"]
        if all(isinstance(a, int | float) and isinstance(b, int | float) for a, b in pairs):
            metres = all(abs(a - b) < 0.01 for a, b in pairs if a is not None and b is not None)
            return 1.0 if metres and any(abs(a or 0) > 0.02 for a, _ in pairs) else CENTIMETRES
    return CENTIMETRES


def _q1_node(thing: Thing, seen: Seen, known: bool) -> Json:
    fields: Json = {} if known else {"class": thing.category or "object"}
    if not known and thing in seen.scene.objects:
        fields["object_key"] = thing.id
    fields["center"] = axes(thing.position)
    if thing.size and len(thing.size) == 3:
        fields["size"] = axes(thing.size)
    return fields


def runtime(value: Json, seen: Seen) -> Json:
    """r1 and r2 know no robots here; an object's place is its `pose`, in the form found."""
    objects = value.get("objects", {})
    new = dict(value)
    if isinstance(objects, dict):
        seen = seen.without(objects.items())
        entries: dict[str, Json] = {}
        for thing in seen.scene.objects:
            if sound(thing):
                old = objects.get(thing.id)
                pose = old.get("pose") if isinstance(old, dict) else None
                fields: Json = {} if isinstance(old, dict) else {"label": thing.category or thing.name or thing.id}
                fields |= {"state": thing.status} if thing.status else {}
                entries[thing.id] = fields | {"pose": _r_pose(pose, thing)}
        mark = {"source": {"robot_id": seen.robot_id}}
        new = updated(new, objects=keyed(objects, entries, seen.gone, mark))
    graph = value.get("scene_graph", {})
    if isinstance(graph, dict):
        relations = edges(graph.get("relations"), seen, ("subject", "object"), str.lower, {})
        new = updated(new, scene_graph=updated(graph, relations=relations))
    if seen.scene.perception and isinstance(value.get("perception", {}), dict):
        new["perception"] = put(value.get("perception", {}), plain(seen.scene.perception))
    return with_extra(value, new, seen)


def _r_pose(pose: Any, thing: Thing) -> Any:
    if isinstance(pose, list):
        return [*rounded(thing.position), *pose[3:]]
    if isinstance(pose, dict) and "x" in pose:
        return put(pose, axes(thing.position))
    inner = pose.get("position") if isinstance(pose, dict) else None
    place = put(inner, axes(thing.position)) if isinstance(inner, dict) else rounded(thing.position)
    return put(pose if isinstance(pose, dict) else {}, {"position": place})


def v0(value: Json, seen: Seen) -> Json:
    """The block is the mapping of objects: there is no place for anything else."""
    return _q1_objects(value, {}, seen.without(value.items()))
