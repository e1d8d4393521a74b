"""The forms of an observation that keep mappings by id: q1, r1 and r2, v0 (workspace §3.4)."""

from __future__ import annotations

import math
from typing import Any

from worldfs.base.model import Json, RobotState, Thing
from worldfs.formats import entry_ids
from worldfs.formats.environment_entries import (
    DIGITS,
    SUPPORTS,
    TOLERANCE,
    EntryUpdate,
    ObservationUpdate,
    axes,
    by_id,
    edges,
    extra,
    merge_perception,
    never_removed,
    plain,
    robot_entry,
    rounded,
    set_fields,
    state_word,
    update_list,
    update_mapping,
    updated,
    with_extra,
)

CENTIMETRES = 100.0  # q1 keeps `objects.*.position` in centimetres beside centres in metres (workspace D34)


def q1(value: Json, seen: ObservationUpdate) -> Json:
    """A q1 document after an observation: centres in metres in the graph, centimetres in `objects`."""
    objects, robots = value.get("objects", {}), value.get("robots", {})
    graph = value.get("scene_graph", {})
    nodes = graph.get("nodes") if isinstance(graph, dict) else None
    things = {_thing_id(node): node for node in by_id(nodes).values()}
    ids = {thing: entry_ids.told(node) for thing, node in things.items()}
    if isinstance(objects, dict):
        seen = seen.without(objects.items())
    seen = seen.without(things.items())
    new = dict(value)
    robot = seen.robot
    if robot is not None and isinstance(robots, dict):
        old = robots.get(robot.robot_id)
        own = robot_entry(robot, seen, old, lambda state: _q1_robot(old, state))
        new["robots"] = update_mapping(robots, [own], never_removed)
    if isinstance(objects, dict):
        new = updated(new, objects=_q1_objects(objects, things, seen))
    if isinstance(graph, dict):
        names = {node: thing for thing, node in ids.items()}
        fields = [_q1_node(t, seen, str(ids.get(t.id, t.id))) for t in seen.things if seen.has_changed(t)]

        def left(id: Any, entry: Any) -> bool:
            return isinstance(id, str) and seen.is_gone(names.get(id, id), entry)

        after = update_list(nodes, fields, left, "id", {"source": seen.robot_id})
        related = edges(graph.get("edges"), seen, ("source", "target"), _q1_word, ids)
        new = updated(new, scene_graph=updated(graph, nodes=after, edges=related))
    new = updated(new, perception=merge_perception(value.get("perception"), seen))
    return with_extra(value, new, seen)


def _thing_id(node: Json) -> str:
    """What a graph node is about: the object that it names, else itself."""
    key = node.get("object_key")
    return key if isinstance(key, str) and key else entry_ids.told(node)


def _q1_word(word: str) -> str:
    return {"near": "CLOSE_TO"}.get(word.lower(), word.upper())


def _q1_robot(old: Any, robot: RobotState) -> Json:
    old = old if isinstance(old, dict) else {}
    fields: Json = extra(robot.extra)
    if robot.pose and all(map(math.isfinite, robot.pose)):
        x, y, z, yaw = (*robot.pose[:3], robot.pose[5] if len(robot.pose) == 6 else 0.0)
        place = old.get("robot_pose") if isinstance(old.get("robot_pose"), dict) else {"frame": "map"}
        fields["robot_pose"] = set_fields(
            place, dict(zip(("x", "y", "z", "yaw"), rounded((x, y, z, yaw)), strict=True))
        )
    if robot.joint_state:
        fields["joint_state"] = plain(robot.joint_state)
    grip = old.get("gripper_state")
    if robot.gripper and isinstance(grip, dict):
        fields["gripper_state"] = set_fields(grip, {"state": str(robot.gripper)})
    elif robot.gripper:
        fields["gripper_state"] = str(robot.gripper)
    if robot.holding is not None or ("holding" in old and robot.gripper):
        fields["holding"] = robot.holding or None
    return fields


def _q1_objects(objects: Json, nodes: dict[str, Json], seen: ObservationUpdate) -> Json:
    lies = {r.subject: r.object for r in seen.scene.relations if r.relation in SUPPORTS}
    entries = []
    for thing in seen.scene.objects:
        if seen.has_changed(thing):
            old = objects.get(thing.id)
            old = old if isinstance(old, dict) else {}
            unit = _unit(old, nodes.get(thing.id, {}).get("center"))
            place = axes(tuple(unit * p for p in thing.position), DIGITS - (2 if unit > 1 else 0))
            measured: Json = {"location": lies[thing.id]} if thing.id in lies else {}
            told = old.get("location")
            if thing.id not in lies and isinstance(told, str) and told and not seen.can_rest(thing.id, "on", told):
                measured["location"] = ""
            measured["position"] = set_fields(old.get("position"), place, TOLERANCE * unit)
            word = state_word(old.get("state"), thing.status)
            measured |= {"state": word} if word else {}
            whole: Json = {"type": thing.category} if thing.category else {}
            whole |= {"color": thing.color} if thing.color else {}
            entries.append(EntryUpdate(thing.id, whole | measured | extra(thing.extra), measured))
    return update_mapping(objects, entries, seen.is_gone, {"source": seen.robot_id})


def _unit(old: Any, center: Any) -> float:
    """How many of the document's units a metre is: 1 only where position and centre say the same."""
    position = old.get("position") if isinstance(old, dict) else None
    if isinstance(position, dict) and isinstance(center, dict):
        pairs = [(position.get(axis), center.get(axis)) for axis in "xyz"]
        if all(isinstance(a, int | float) and isinstance(b, int | float) for a, b in pairs):
            metres = all(abs(a - b) < 0.01 for a, b in pairs if a is not None and b is not None)
            return 1.0 if metres and any(abs(a or 0) > 0.02 for a, _ in pairs) else CENTIMETRES
    return CENTIMETRES


def _q1_node(thing: Thing, seen: ObservationUpdate, id: str) -> EntryUpdate:
    measured: Json = {"center": axes(thing.position)}
    whole: Json = {"class": thing.category or "object"}
    if thing in seen.scene.objects:
        whole["object_key"] = thing.id
    whole |= measured
    if thing.size and len(thing.size) == 3:
        whole["size"] = axes(thing.size)
    return EntryUpdate(id, whole, measured)


def runtime(value: Json, seen: ObservationUpdate) -> Json:
    """r1 and r2 know no robots here; an object's place is its `pose`, in the form found."""
    objects = value.get("objects", {})
    new = dict(value)
    if isinstance(objects, dict):
        seen = seen.without(objects.items())
        entries = []
        for thing in seen.scene.objects:
            if seen.has_changed(thing):
                old = objects.get(thing.id)
                old = old if isinstance(old, dict) else {}
                word = state_word(old.get("state"), thing.status)
                measured: Json = {"state": word} if word else {}
                measured["pose"] = _r_pose(old.get("pose"), thing)
                entries.append(
                    EntryUpdate(thing.id, {"label": thing.category or thing.name or thing.id} | measured, measured)
                )
        mark: Json = {"source": {"robot_id": seen.robot_id}}
        new = updated(new, objects=update_mapping(objects, entries, seen.is_gone, mark))
    graph = value.get("scene_graph", {})
    if isinstance(graph, dict):
        relations = edges(graph.get("relations"), seen, ("subject", "object"), str.lower, {})
        new = updated(new, scene_graph=updated(graph, relations=relations))
    new = updated(new, perception=merge_perception(value.get("perception"), seen))
    return with_extra(value, new, seen)


def _r_pose(pose: Any, thing: Thing) -> Any:
    if isinstance(pose, list):
        return [*rounded(thing.position), *pose[3:]]
    if isinstance(pose, dict) and "x" in pose:
        return set_fields(pose, axes(thing.position))
    inner = pose.get("position") if isinstance(pose, dict) else None
    place = set_fields(inner, axes(thing.position)) if isinstance(inner, dict) else rounded(thing.position)
    return set_fields(pose if isinstance(pose, dict) else {}, {"position": place})


def v0(value: Json, seen: ObservationUpdate) -> Json:
    """The block is the mapping of objects: there is no place for anything else."""
    return _q1_objects(value, {}, seen.without(value.items()))
