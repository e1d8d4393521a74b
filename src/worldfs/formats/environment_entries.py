"""Entries of an ENVIRONMENT.md brought up to an observation: by id, by owner, and only where something differs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from worldfs.formats import values
from worldfs.formats.environment_read import WORDS
from worldfs.formats.values import same
from worldfs.ground.model import Json, Relation, RobotState, Scene, Thing

TOLERANCE = 1e-4  # m and rad: what is nearer to the file's number than this did not move
DIGITS = 4
SUPPORTS = ("on", "in", "held_by")

_HELD = ("robots", "robot", "objects", "scene_graph", "perception", "schema_version", "updated_at")
_OWN = frozenset(
    ("id", "name", "category", "position", "orientation", "size", "shape", "mass", "color", "status", "source", "type",
     "class", "label", "state", "location", "center", "object_key", "pose", "robot_id", "robot_pose", "joint_state",
     "gripper", "gripper_state", "holding")
)  # fmt: skip


class Seen(NamedTuple):
    """What one robot observed, and which of its earlier things are gone."""

    scene: Scene
    robot_id: str
    gone: frozenset[str]

    @property
    def robot(self) -> RobotState | None:
        return self.scene.robot(self.robot_id)

    @property
    def things(self) -> tuple[Thing, ...]:
        return (*self.scene.objects, *self.scene.furniture)

    def owns(self, entry: Any) -> bool:
        """Whether an earlier observation of this robot put this entry there."""
        source = entry.get("source") if isinstance(entry, dict) else None
        return (source.get("robot_id") if isinstance(source, dict) else source) == self.robot_id

    def without(self, entries: Iterable[tuple[Any, Any]]) -> Seen:
        """This, knowing which of the `(id, entry)` pairs of a document it no longer reports."""
        present = {thing.id for thing in self.things}
        gone = {id for id, entry in entries if isinstance(id, str) and id not in present and self.owns(entry)}
        return Seen(self.scene, self.robot_id, self.gone | gone)


def with_extra(old: Json, new: Json, seen: Seen) -> Json:
    """Map, transforms and other keys of the scene, where the observation brings them."""
    for key, item in seen.scene.extra.items():
        if key not in _HELD:
            new[key] = settle(old.get(key), plain(item))
    return new


def listed(old: Any, fields: list[tuple[str, Json]], gone: Collection[str], key: str, mark: Json | None = None) -> Any:
    """A list of entries with some updated by id, some removed, new ones (marked) at the end."""
    if (old is not None and not isinstance(old, list)) or (old is None and not fields):
        return old  # not what it should be: reported on reading, left alone here
    wanted = dict(fields)
    after: list[Any] = []
    for entry in old or []:
        id = entry.get(key, entry.get("id")) if isinstance(entry, dict) else None
        if not isinstance(id, str) or (id not in wanted and id not in gone):
            after.append(entry)
        elif id in wanted:
            after.append(put(entry, {k: v for k, v in wanted.pop(id).items() if k != key}))
    after += [{key: id, **entry, **(mark or {})} for id, entry in wanted.items()]
    unchanged = old is not None and len(after) == len(old) and all(a is b for a, b in zip(after, old, strict=True))
    return old if unchanged else after


def keyed(old: Json, entries: dict[str, Json], gone: Collection[str], mark: Json | None = None) -> Json:
    after = {id: entry for id, entry in old.items() if id not in gone}
    for id, fields in entries.items():
        present = after.get(id)
        if present is None:
            after[id] = fields | (mark or {})
        elif isinstance(present, dict):
            after[id] = put(present, fields)
    return after


def by_id(entries: Any, key: str = "id") -> dict[str, Json]:
    """The entries of a list that are mappings with an id."""
    found = entries if isinstance(entries, list) else []
    return {e[key]: e for e in found if isinstance(e, dict) and isinstance(e.get(key), str)}


def updated(old: Json, **changes: Any) -> Json:
    """A mapping with these members; an empty one is not added where there was none."""
    return old | {key: value for key, value in changes.items() if value or (key in old and value is not None)}


def edges(old: Any, seen: Seen, ends: tuple[str, str], spell: Callable[[str], str], ids: dict[Any, Any]) -> Any:
    """Edges among what was just observed replaced, edges of removed things dropped, all others kept.

    A thing lies in one place: where the observation says on, in or by what it is held, an older word on that yields.
    """
    if old is not None and not isinstance(old, list):
        return old
    observed = {str(ids.get(t.id, t.id)) for t in seen.things} | {seen.robot_id}
    gone = {str(ids.get(id, id)) for id in seen.gone}
    wanted = {
        (str(ids.get(r.subject, r.subject)), _word(r.relation), str(ids.get(r.object, r.object))): r
        for r in seen.scene.relations
    }
    placed = {subject for subject, word, _ in wanted if word in SUPPORTS}
    after: list[Any] = []
    for edge in old or []:
        known = isinstance(edge, dict)
        a, b = (edge.get(ends[0]), edge.get(ends[1])) if known else (None, None)
        if not isinstance(a, str) or not isinstance(b, str):
            after.append(edge)
            continue
        word = _word(str(edge.get("relation", "")))
        here = wanted.pop((a, word, b), None)
        mine = (a in observed and b in observed) or (a in placed and word in SUPPORTS) or a in gone or b in gone
        if here is not None or not mine:
            after.append(edge)
    after += [_edge(triple, relation, ends, spell) for triple, relation in wanted.items()]
    return old if same(old or [], after) else after


def _edge(triple: tuple[str, str, str], relation: Relation, ends: tuple[str, str], spell: Callable[[str], str]) -> Json:
    first, _, second = triple
    if ends[0] == "subject":
        return {"subject": first, "relation": spell(relation.relation), "object": second}
    return {ends[0]: first, ends[1]: second, "relation": spell(relation.relation)}


def _word(word: str) -> str:
    return WORDS.get(word.lower(), word.lower())


def sound(thing: Thing) -> bool:
    return len(thing.position) == 3 and all(map(math.isfinite, thing.position))


def put(old: Any, fields: Json, tolerance: float = TOLERANCE) -> Any:
    """The entry with these fields; the very same entry if all of them stood there already."""
    if not isinstance(old, dict):
        return fields
    settled = {key: settle(old.get(key), value, tolerance) for key, value in fields.items()}
    changed = {key: value for key, value in settled.items() if key not in old or value is not old[key]}
    return old | changed if changed else old


def settle(old: Any, new: Any, tolerance: float = TOLERANCE) -> Any:
    """The old value where the new one says the same within tolerance, part by part."""
    if _is_number(old) and _is_number(new):
        return old if near(old, new, tolerance) else new
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        parts = [settle(a, b, tolerance) for a, b in zip(old, new, strict=True)]
        return old if all(a is b for a, b in zip(parts, old, strict=True)) else parts
    if isinstance(old, dict) and isinstance(new, dict):
        inner = {key: settle(old.get(key), value, tolerance) for key, value in new.items()}
        return old if same(old, inner) else inner
    return old if same(old, new) else new


def near(old: Any, new: Any, tolerance: float = TOLERANCE) -> bool:
    try:
        return bool(abs(old - new) <= tolerance)
    except OverflowError:  # an integer that no float holds
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def rounded(numbers: Iterable[float], digits: int = DIGITS) -> list[float]:
    return [round(float(number), digits) + 0.0 for number in numbers]  # + 0.0 turns -0.0 into 0.0


def axes(numbers: tuple[float, ...], digits: int = DIGITS) -> dict[str, float]:
    return dict(zip("xyz", rounded(numbers, digits), strict=True))


def extra(extra: Json) -> Json:
    """Keys of ours are written from their own fields; a scene that was read carries the raw ones along."""
    return {key: plain(value) for key, value in extra.items() if key not in _OWN}


def plain(value: Any) -> Any:
    """JSON values with numbers as this file writes them."""
    return values.plain(value, DIGITS)
