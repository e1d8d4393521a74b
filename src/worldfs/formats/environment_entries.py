"""Entries of an ENVIRONMENT.md brought up to an observation: by id, by owner, and only where something differs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from worldfs.base.json_values import as_object
from worldfs.base.model import Json, Relation, RobotState, Scene, Thing
from worldfs.base.resting import can_rest
from worldfs.formats import entry_ids, values
from worldfs.formats.environment_read import WORDS
from worldfs.formats.values import same

TOLERANCE = 1e-4  # m and rad: what is nearer to the file's number than this did not move
MOVED = 0.05  # m and rad: an idle robot whose sensors say less has not moved
CHANGED = 1.0  # the same of its other figures: percent, m/s
DIGITS = 4
NOTHING = Scene()
SUPPORTS = ("on", "in", "held_by")
# status words that say where a thing is: "on_table", "held", "in_basket"; not "empty", "fresh", "broken"
_PLACED = re.compile(r"(on|in|at|under|held|unsupported|released|placed|在)([_ ].*)?$|在.+", re.IGNORECASE)

_HELD = ("robots", "robot", "objects", "scene_graph", "perception", "schema_version", "updated_at")
_OWN = frozenset(
    ("id", "name", "category", "position", "orientation", "size", "shape", "mass", "color", "status", "source", "type",
     "class", "label", "state", "location", "center", "object_key", "pose", "robot_id", "robot_pose", "joint_state",
     "gripper", "gripper_state", "holding")
)  # fmt: skip


_HAND = frozenset(("gripper", "gripper_state", "holding"))
UNKNOWN = "unknown"  # category of what an arm saw that matches no name


@dataclass(frozen=True)
class ObservationUpdate:
    """What one robot observed, which of its earlier things are gone, and what of it has not changed.

    `before`: what the body took from the document to build its world, and has not seen change since, and the relations
    that it observed last. What is there is not written: it was never measured against the document.
    """

    scene: Scene
    robot_id: str
    gone: frozenset[str] = frozenset()
    before: Scene = NOTHING
    whole: bool = True  # it reports all its things: one that it leaves out is gone
    document: Callable[[], Scene] = Scene  # what the document says: asked where the observation alone does not tell

    @property
    def robot(self) -> RobotState | None:
        return self.scene.robot(self.robot_id)

    @property
    def things(self) -> tuple[Thing, ...]:
        return (*self.scene.objects, *self.scene.furniture)

    @cached_property
    def support_changed(self) -> frozenset[str]:
        """Ids of things that lie on, lie in or are held by another thing than before."""
        now, before = _supports(self.scene), _supports(self.before)
        return frozenset(id for id in now.keys() | before.keys() if now.get(id) != before.get(id))

    @cached_property
    def _things_before(self) -> dict[str, Thing]:
        return _by_thing(self.before)

    @cached_property
    def _things_now(self) -> dict[str, Thing]:
        return _by_thing(self.scene)

    @cached_property
    def _things_told(self) -> dict[str, Thing]:
        return _by_thing(self.document())

    def can_rest(self, id: str, word: str, other: str) -> bool:
        """Whether where this thing is seen, if elsewhere than before, leaves room for `id word other`."""
        thing = self._things_now.get(id)
        if thing is None or not self.has_changed(thing):
            return True
        support = self._things_now.get(other) or self._things_told.get(other)
        return support is None or can_rest(thing, support, word)

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(thing.id for thing in self.things)

    def has_changed(self, thing: Thing) -> bool:
        """Whether this thing must be written: where it lies, how, and on what."""
        if not is_well_formed(thing):
            return False
        old = self._things_before.get(thing.id)
        return old is None or _measured(old) != _measured(thing) or thing.id in self.support_changed

    def owns(self, entry: Any) -> bool:
        """Whether an earlier observation of this robot put this entry there."""
        source = entry.get("source") if isinstance(entry, dict) else None
        return (source.get("robot_id") if isinstance(source, dict) else source) == self.robot_id

    def is_gone(self, id: Any, entry: Any) -> bool:
        """Whether this entry is of a thing that this robot brought and no longer reports. What has no name is gone with
        the picture that showed it: nothing else says that it is one thing."""
        listed = self.whole or (isinstance(entry, dict) and entry.get("category") == UNKNOWN)
        return listed and isinstance(id, str) and self.owns(entry) and id not in self._ids

    def without(self, entries: Iterable[tuple[Any, Any]]) -> ObservationUpdate:
        """This, knowing which of the `(id, entry)` pairs of a document it no longer reports."""
        return replace(self, gone=self.gone | {id for id, entry in entries if self.is_gone(id, entry)})


def _by_thing(scene: Scene) -> dict[str, Thing]:
    return {thing.id: thing for thing in (*scene.objects, *scene.furniture)}


def _measured(thing: Thing) -> tuple[Any, ...]:
    return thing.position, thing.orientation, thing.status, amounts(thing)


def amounts(thing: Thing) -> Json:
    """What of a thing is measured beside where it is: how far open (m or rad), how many grains."""
    return {key: plain(thing.extra[key]) for key in ("opening", "grains") if key in thing.extra}


def _supports(scene: Scene) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for relation in scene.relations:
        if relation.relation in SUPPORTS:
            found.setdefault(relation.subject, set()).add((relation.relation, relation.object))
    return found


def suppress_jitter(before: Scene, seen: Scene) -> Scene:
    """The observation, with what moved by less than TOLERANCE since it was last written put back to where it was."""

    things = _by_thing(before)

    def still(new: Thing) -> Thing:
        old = things.get(new.id)
        return old if old is not None and _still(old, new) else new

    def stands(new: RobotState) -> RobotState:
        old = before.robot(new.robot_id)
        return old if old is not None and _stands(old, new) else new

    return replace(
        seen,
        robots=tuple(map(stands, seen.robots)),
        objects=tuple(map(still, seen.objects)),
        furniture=tuple(map(still, seen.furniture)),
    )


def next_baseline(before: Scene, seen: Scene) -> Scene:
    """What `before` is once `seen` is in the document: the same robots and things, as they are now."""
    now = suppress_jitter(before, seen)
    things = _by_thing(now)
    return Scene(
        tuple(now.robot(robot.robot_id) or robot for robot in before.robots),
        tuple(things.get(thing.id, thing) for thing in before.objects),
        tuple(things.get(thing.id, thing) for thing in before.furniture),
        now.relations,
        now.perception if before.perception else {},
    )


def _still(old: Thing, new: Thing) -> bool:
    same_place = _near(old.position, new.position) and _near(old.orientation, new.orientation)
    return same_place and (old.status, amounts(old)) == (new.status, amounts(new))


def _stands(old: RobotState, new: RobotState) -> bool:
    return (
        _near(old.pose, new.pose)
        and settle(old.joint_state, new.joint_state) is old.joint_state
        and (old.gripper, old.holding) == (new.gripper, new.holding)
        and same(plain(old.extra), plain(new.extra))
    )


def has_moved(old: RobotState, new: RobotState) -> bool:
    """Whether an idle robot is not as it was: its place, joints and hand, or what else it says, beyond noise."""
    place = [*old.pose], [*new.pose]
    return (
        (old.gripper, old.holding) != (new.gripper, new.holding)
        or settle(*place, MOVED) is not place[0]
        or settle(old.joint_state, new.joint_state, MOVED) is not old.joint_state
        or settle(told := plain(old.extra), plain(new.extra), CHANGED) is not told
    )


def _near(a: Iterable[float], b: Iterable[float]) -> bool:
    one, other = list(a), list(b)
    return len(one) == len(other) and all(abs(x - y) <= TOLERANCE for x, y in zip(one, other, strict=True))


class EntryUpdate(NamedTuple):
    """What an observation has to say of one thing or robot: all of it for a new entry, the measured part for an old."""

    id: str
    whole: Json
    measured: Json


def robot_entry(
    robot: RobotState, seen: ObservationUpdate, old: Any, spell: Callable[[RobotState], Json]
) -> EntryUpdate:
    """The robot's own entry; of one that is there already (`old`), what is another than before, and its hand where the
    entry has it hold another thing: that is measured, and believed by every reader.

    Joints that this body does not have stay beside its own.
    """
    whole = spell(robot)
    before = seen.before.robot(robot.robot_id)
    earlier = spell(before) if before is not None else {}
    present = old if isinstance(old, dict) else {}
    told = _HAND if says_hand(robot) and (present.get("holding") or None) != (robot.holding or None) else frozenset()
    news = {
        key: merge_members(present.get(key), value)
        for key, value in whole.items()
        if key in told or key not in earlier or not same(earlier[key], value)
    }
    return EntryUpdate(robot.robot_id, whole, news)


def says_hand(robot: RobotState) -> bool:
    """Whether it says what it holds; without a gripper, `None` says nothing."""
    return bool(robot.gripper) or robot.holding is not None


def never_removed(id: Any, entry: Any) -> bool:
    """`left` for entries of robots: none of them is ever removed."""
    return False


def with_extra(old: Json, new: Json, seen: ObservationUpdate) -> Json:
    """Map, transforms and other keys of the scene, where the observation brings them."""
    for key, item in seen.scene.extra.items():
        if key not in _HELD:
            new[key] = merge_members(old.get(key), plain(item))
    return new


def merge_perception(old: Any, seen: ObservationUpdate) -> Any:
    """`perception` with this body's members; a member that says something of another program's stays. A block that
    names its robot, as that of an arm that goes by its cameras does, is that robot's, whenever it was written."""
    if not seen.scene.perception or not (old is None or isinstance(old, dict)):
        return old
    entries: Json = old or {}
    before, new = plain(seen.before.perception), plain(seen.scene.perception)
    own = _is_own(entries, new, seen.robot_id)
    fields = {}
    for key, value in new.items():
        if key not in entries:
            fresh = not same(before.get(key), value)
        else:
            fresh = own or same(entries[key], before.get(key)) or _same_folder(entries[key], value)
        if fresh:
            fields[key] = value
    return set_fields(entries, fields) if fields else old


def _is_own(entries: Json, new: Json, robot_id: str) -> bool:
    """Whether a robot that names itself in its block finds its own, or one of the same source without a name."""
    if new.get("robot_id") != robot_id:
        return False
    return entries.get("robot_id", robot_id) == robot_id and entries.get("source") == new.get("source")


def _same_folder(old: Any, new: Any) -> bool:
    """Whether both are paths of files of one directory: pictures of one album."""
    if not isinstance(old, str) or not isinstance(new, str):
        return same(old, new)
    folder = new.rpartition("/")[0]
    return bool(folder) and old.rpartition("/")[0] == folder


def state_word(old: Any, status: str) -> str:
    """The status to write: "" where the word that is there says something else than where a thing lies."""
    places = not old or (isinstance(old, str) and _PLACED.match(old) is not None)
    return status if places else ""


def update_list(
    old: Any, entries: Iterable[EntryUpdate], left: Callable[[Any, Any], bool], key: str, mark: Json | None = None
) -> Any:
    """A list of entries with some updated by id, those removed that are `left`, new ones (marked) at the end."""
    wanted = {entry.id: entry for entry in entries}
    if (old is not None and not isinstance(old, list)) or (old is None and not wanted):
        return old  # not what it should be: reported on reading, left alone here
    after: list[Any] = []
    for present in old or []:
        id = entry_ids.told(present, key if key in present else "id") if isinstance(present, dict) else None
        if id and id in wanted:
            after.append(set_fields(present, wanted.pop(id).measured))
        elif not left(id, present):
            after.append(present)
    after += [{key: entry.id, **entry.whole, **(mark or {})} for entry in wanted.values()]
    unchanged = old is not None and len(after) == len(old) and all(a is b for a, b in zip(after, old, strict=True))
    return old if unchanged else after


def update_mapping(
    old: Json, entries: Iterable[EntryUpdate], left: Callable[[Any, Any], bool], mark: Json | None = None
) -> Json:
    after = {id: entry for id, entry in old.items() if not left(id, entry)}
    for entry in entries:
        present = after.get(entry.id)
        if entry.id not in after:
            after[entry.id] = entry.whole | (mark or {})
        elif isinstance(present, dict):
            after[entry.id] = set_fields(present, entry.measured)
    return after


def by_id(entries: Any, key: str = "id") -> dict[str, Json]:
    """The entries of a list that are mappings with an id, the first of each."""
    found = entries if isinstance(entries, list) else []
    told: dict[str, Json] = {}
    for entry in found:
        if isinstance(entry, dict) and (id := entry_ids.told(entry, key)):
            told.setdefault(id, entry)
    return told


def place_of(thing: Thing, old: Any) -> Json:
    """The position to write, in the form that is there."""
    there = as_object(old).get("position")
    spelt = isinstance(there, dict) and "x" in there
    return {"position": merge_members(there, axes(thing.position)) if spelt else rounded(thing.position)}


def updated(old: Json, **changes: Any) -> Json:
    """A mapping with these members; an empty one is not added where there was none."""
    return old | {key: value for key, value in changes.items() if value or (key in old and value is not None)}


def edges(
    old: Any, seen: ObservationUpdate, ends: tuple[str, str], spell: Callable[[str], str], ids: dict[Any, Any]
) -> Any:
    """Edges with what the observation found begun or ended; those of things that are gone dropped, all others kept.

    A thing lies in one place: where what carries a thing is another than before, an older word on that yields.
    """
    if old is not None and not isinstance(old, list):
        return old
    gone = {str(ids.get(id, id)) for id in seen.gone}
    now, before = _triples(seen.scene, ids), _triples(seen.before, ids)
    placed = {r.subject for r in seen.scene.relations} | {thing.id for thing in seen.things if is_well_formed(thing)}
    moved = {str(ids.get(id, id)) for id in seen.support_changed & placed}
    robot = seen.robot
    # an edge that has a robot hold another thing than it says is its own, and over
    says = robot is not None and says_hand(robot)
    held = str(ids.get(robot.holding, robot.holding)) if robot is not None else ""
    begun = {triple: relation for triple, relation in now.items() if triple not in before}
    after: list[Any] = []
    for edge in old or []:
        a, b = map(entry_ids.text, (edge.get(ends[0]), edge.get(ends[1])) if isinstance(edge, dict) else ("", ""))
        if not a or not b:
            after.append(edge)
            continue
        word = _word(str(edge.get("relation", "")))
        begun.pop((a, word, b), None)
        let_go = says and word == "held_by" and b == seen.robot_id and a != held
        ended = (a, word, b) not in now and ((a, word, b) in before or (a in moved and word in SUPPORTS) or let_go)
        if not (ended or a in gone or b in gone):
            after.append(edge)
    after += [_edge(triple, relation, ends, spell) for triple, relation in begun.items()]
    return old if same(old or [], after) else after


def _triples(scene: Scene, ids: dict[Any, Any]) -> dict[tuple[str, str, str], Relation]:
    return {
        (str(ids.get(r.subject, r.subject)), _word(r.relation), str(ids.get(r.object, r.object))): r
        for r in scene.relations
    }


def _edge(triple: tuple[str, str, str], relation: Relation, ends: tuple[str, str], spell: Callable[[str], str]) -> Json:
    first, _, second = triple
    if ends[0] == "subject":
        return {"subject": first, "relation": spell(relation.relation), "object": second}
    return {ends[0]: first, ends[1]: second, "relation": spell(relation.relation)}


def _word(word: str) -> str:
    return WORDS.get(word.lower(), word.lower())


def is_well_formed(thing: Thing) -> bool:
    return len(thing.position) == 3 and all(map(math.isfinite, thing.position))


def set_fields(old: Any, fields: Mapping[str, Any], tolerance: float = TOLERANCE) -> Any:
    """The entry with these fields; the very same entry if all of them stood there already."""
    if not isinstance(old, dict):
        return fields
    settled = {key: settle(old.get(key), value, tolerance) for key, value in fields.items()}
    changed = {key: value for key, value in settled.items() if key not in old or value is not old[key]}
    return old | changed if changed else old


def merge_members(old: Any, new: Any) -> Any:
    """The new value; of a mapping, its members, beside those that the observation does not know."""
    return set_fields(old, new) if isinstance(old, dict) and isinstance(new, dict) else settle(old, new)


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
