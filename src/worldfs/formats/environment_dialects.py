"""Which dialect an ENVIRONMENT.md is in, decided by the keys found and never by its version string (workspace §3.4)."""

from __future__ import annotations

from typing import Any

from worldfs.base.model import Json
from worldfs.formats import block
from worldfs.formats.block import Block

KEYS = (
    "scene_graph",
    "robots",
    "robot",
    "objects",
    "perception",
    "targets",
    "map",
    "tf",
    "schema_version",
    "updated_at",
    "active_watchdog",
)
# what is around the things that are handled; every other node type is an object
FURNITURE = frozenset(
    ("furniture", "container", "region", "table", "surface", "zone", "area", "room", "location", "fixture", "floor",
     "wall", "shelf", "desk", "counter")
)  # fmt: skip
BODIES = frozenset(("robot", "agent", "human", "person"))  # in the graph, but neither objects nor furniture
_R_OBJECT = ("label", "bbox_2d", "mask_artifact_uri", "identity", "valid_until", "geometry", "pose")
_V0_OBJECT = ("position", "location", "type", "color", "state")


def locate(text: str) -> tuple[Block | None, str]:
    """The data of an ENVIRONMENT.md and its dialect: page2, page1, q1, r, v0 or empty.

    A block may be given with "empty": then it is the place to write to. Raises BadInput for a half-written text.
    """
    found = block.find(text, KEYS)
    if found is not None:
        return found, dialect_of(found.value)
    found = block.find(text, ())
    if found is None:
        return None, "empty"
    if found.value and all(_is_v0_object(item) for item in found.value.values()):
        return found, "v0"
    return (found if not found.value or not found.fenced else None), "empty"


def dialect_of(value: Json) -> str:
    """The dialect of a mapping that has at least one of KEYS."""
    robots, objects, graph = value.get("robots"), value.get("objects"), value.get("scene_graph")
    graph = graph if isinstance(graph, dict) else {}
    if isinstance(robots, list):
        return "page2"
    if isinstance(robots, dict):
        return "q1"
    if isinstance(value.get("robot"), dict):
        return "page1"
    if "targets" in value or isinstance(graph.get("relations"), list) or _has_runs(value):
        return "r"
    if isinstance(objects, dict):
        entries = [item for item in objects.values() if isinstance(item, dict)]
        return "r" if any(key in item for item in entries for key in _R_OBJECT) else "q1"
    if isinstance(objects, list):
        return "page2"
    if _any_has(graph.get("nodes"), ("center", "object_key", "class")) or _any_has(graph.get("edges"), ("source",)):
        return "q1"
    return "page2" if value.keys() & set(KEYS) else "empty"


def _has_runs(value: Json) -> bool:
    perception = value.get("perception")
    return isinstance(perception, dict) and isinstance(perception.get("runs"), dict)


def _any_has(entries: Any, keys: tuple[str, ...]) -> bool:
    found = [item for item in entries if isinstance(item, dict)] if isinstance(entries, list) else []
    return any(key in item for item in found for key in keys)


def _is_v0_object(item: Any) -> bool:
    return isinstance(item, dict) and any(key in item for key in _V0_OBJECT)
