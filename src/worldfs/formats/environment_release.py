"""A robot that is served no more, in an ENVIRONMENT.md: its gripper holds nothing, in the dialect found.

A thing that it held stays at the position where it was last measured. Nothing else of the document is touched.
"""

from __future__ import annotations

from typing import Any

from worldfs.base.json_values import as_object
from worldfs.base.model import Json, Scene
from worldfs.formats import block
from worldfs.formats.environment_dialects import locate
from worldfs.formats.environment_read import scene_of


def things_held(scene: Scene, robot_id: str) -> tuple[str, ...]:
    """Ids of what a robot holds, by its own entry and by the relations."""
    robot = scene.robot(robot_id)
    held = [robot.holding] if robot is not None and robot.holding else []
    held += [edge.subject for edge in scene.relations if edge.relation == "held_by" and edge.object == robot_id]
    return tuple(dict.fromkeys(held))


def release(data: bytes, robot_id: str, now: str) -> bytes:
    """`data` itself where the robot holds nothing. `now` (ISO 8601) becomes `updated_at`. Raises `BadInput` for a
    document that cannot be read."""
    text = block.decode(data)
    found, dialect = locate(text)
    if found is None or dialect == "empty":
        return data
    held = things_held(scene_of(found.value, dialect)[0], robot_id)
    if not held:
        return data
    value = found.value
    hand: Json = {"holding": None}
    things: Json = {"status": "released", "state": "released"}
    graph = value.get("scene_graph")
    changed: Json = {
        "robots": _entries(value.get("robots"), (robot_id,), hand),
        "robot": as_object(value.get("robot")) | hand,
        "objects": _entries(value.get("objects"), held, things, only="held"),
        "scene_graph": _graph(graph, held, things, robot_id) if isinstance(graph, dict) else graph,
        "updated_at": now,
    }
    if as_object(value.get("robot")).get("robot_id", robot_id) != robot_id:
        del changed["robot"]
    new = {key: changed.get(key, item) for key, item in value.items()}
    return block.edit(text, found, new).encode()


def _graph(graph: Json, held: tuple[str, ...], things: Json, robot_id: str) -> Json:
    new = dict(graph)
    for key in ("edges", "relations"):
        if isinstance(edges := graph.get(key), list):
            new[key] = [edge for edge in edges if not _is_grip(edge, held, robot_id)]
    return new | ({"nodes": _entries(graph["nodes"], held, things, only="held")} if "nodes" in graph else {})


def _entries(entries: Any, ids: tuple[str, ...], news: Json, only: str = "") -> Any:
    """The list, or the mapping by id: the members that the entries of these ids have are as in `news`. `only`: those
    that have this value."""

    def changed(id: Any, entry: Any) -> Any:
        if id not in ids or not isinstance(entry, dict):
            return entry
        return {key: news.get(key, item) if only in ("", item) else item for key, item in entry.items()}

    if isinstance(entries, dict):
        return {id: changed(id, entry) for id, entry in entries.items()}
    if isinstance(entries, list):
        named = [(e.get("robot_id", e.get("id")) if isinstance(e, dict) else None, e) for e in entries]
        return [changed(id, entry) for id, entry in named]
    return entries


def _is_grip(edge: Any, held: tuple[str, ...], robot_id: str) -> bool:
    if not isinstance(edge, dict) or str(edge.get("relation", edge.get("predicate", ""))).lower() != "held_by":
        return False
    first = edge.get("from", edge.get("source", edge.get("subject")))
    return first in held and edge.get("to", edge.get("target", edge.get("object"))) == robot_id
