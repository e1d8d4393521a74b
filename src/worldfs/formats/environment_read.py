"""Environment documents read into a Scene: every dialect of §3.4. What cannot be read is named.

A field that cannot be read is unknown, as one that is missing; an entry that cannot be read is in `unread`.
A position of () means that the file does not say. A dialect's raw keys stay in `extra` of thing, robot and scene.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from worldfs.base.json_values import as_object
from worldfs.base.messages import CodedText, coded
from worldfs.base.messages.coded_text import vector_text
from worldfs.base.model import Json, Relation, RobotState, Scene, Thing, UnreadEntry, Vec
from worldfs.base.stated_places import consistent, lacks_holder
from worldfs.formats import entry_ids
from worldfs.formats.environment_dialects import BODIES, FURNITURE

if TYPE_CHECKING:
    from worldfs.base.model import Finding

T = TypeVar("T")

FILE = "ENVIRONMENT.md"
FARTHEST = 1e6  # metres, or centimetres where a dialect writes those: no place of a robot is farther away
SMALLEST = 1e-4  # m, of a side
LIGHTEST = 1e-6  # kg
WORDS = {"close_to": "near"}  # one word for one relation; every other word is only lower-cased
_UNTOLD = "untold"  # the kind of a node whose type cannot be read: nothing says that it can be moved
# what the scene tells less of without a field (`UnreadEntry.what`); what is of no known type may be nothing to move
_MEANT = dict.fromkeys(("name", "category", "label", "holding"), "name") | {"type": "entry", "class": "entry"}
_MEANT |= dict.fromkeys(("position", "center", "pose"), "place")
_SCENE_KEYS = ("robots", "robot", "objects", "perception")
_PAGE_THING = frozenset(
    ("id", "name", "category", "position", "orientation", "size", "shape", "mass", "color", "status")
)
_NODE = _PAGE_THING | {"type", "class", "center"}


class _Bad(Exception):
    """This entry cannot be read: pointer, expected, found."""

    def __init__(self, pointer: str, expected: str, found: Any) -> None:
        super().__init__(pointer)
        self.pointer, self.expected, self.found = pointer, expected, found


def scene_of(value: Json, dialect: str) -> tuple[Scene, tuple[Finding, ...]]:
    """The Scene that a document means, and what is wrong in it."""
    reading = _SceneReader()
    if dialect == "empty":
        return Scene(), ()
    if dialect == "v0":
        objects = tuple(reading.keyed(value, "", reading.q1_object))
        return Scene(objects=objects, unread=tuple(reading.unread)), tuple(reading.findings)
    return reading.scene(value, dialect), tuple(reading.findings)


class _SceneReader:
    """One pass over one document, collecting findings."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.unread: list[UnreadEntry] = []

    def scene(self, value: Json, dialect: str) -> Scene:
        keyed = dialect in ("q1", "r")
        if dialect == "page1":
            robots = list(self.one(value["robot"], "/robot", self.only_robot, set()))
        elif keyed:
            robots = list(self.keyed(value.get("robots"), "/robots", self.q1_robot))
        else:
            robots = list(self.listed(value.get("robots"), "/robots", self.page_robot))
        if keyed:
            read = self.r_object if dialect == "r" else self.q1_object
            objects = list(self.keyed(value.get("objects"), "/objects", read))
        else:
            objects = list(self.listed(value.get("objects"), "/objects", self.page_thing))
        graph = self.mapping(value, "scene_graph", "")
        driver_units = {thing.id: thing.position for thing in objects if dialect == "q1"}
        objects, furniture, names = self.nodes(graph, objects, {robot.robot_id for robot in robots})
        extra = {key: item for key, item in value.items() if key not in _SCENE_KEYS}
        relations = tuple(self.relations(graph, names))
        scene = Scene(
            robots=tuple(robots),
            objects=tuple(objects),
            furniture=tuple(furniture),
            relations=relations,
            perception=self.mapping(value, "perception", ""),
            extra=extra,
            unread=tuple(self.unread),
        )
        scene = consistent(scene, {t.id for t in objects if t.position and driver_units.get(t.id) is t.position})
        at = {thing.id: vector_text(thing.position) for thing in (*objects, *furniture)} if scene.contradicted else {}
        for stated in scene.contradicted:
            self.contradiction(stated, at, is_held=not lacks_holder(stated, scene))
        return scene

    def contradiction(self, stated: Relation, at: Mapping[str, str], *, is_held: bool) -> None:
        from worldfs.base.model import Finding

        where, said = f"{FILE} {stated.subject}", " ".join((stated.subject, stated.relation, stated.object))
        expected, fix = coded("file.label_of_position", said=said), coded("file.correct_label")
        found = coded("file.no_holder", other=stated.object)
        if is_held:
            one, other = stated.subject, stated.object
            found = coded("file.positions_apart", one=one, at=at[one], other=other, place=at[other])
        else:
            expected, fix = coded("file.label_of_holder", said=said), coded("file.correct_holder")
        self.findings.append(Finding("LABEL_CONTRADICTED", where, expected, found, fix, warning=True))

    # -- entries, one by one ------------------------------------------------------------------------------------

    def listed(self, entries: Any, at: str, read: Callable[[Json, str], T]) -> Iterator[T]:
        if entries is None:
            return
        if not isinstance(entries, list):
            bad = _Bad(at, coded("file.list"), entries)
            self.report(bad, coded("file.make_list", name=at[1:]))
            self.leave_out(bad, at)
            return
        seen: set[str] = set()
        for i, entry in enumerate(entries):
            yield from self.one(entry, f"{at}/{i}", read, seen)

    def keyed(self, entries: Any, at: str, read: Callable[[Json, str], T]) -> Iterator[T]:
        if entries is None:
            return
        if not isinstance(entries, dict):
            bad = _Bad(at, coded("file.mapping_by_id"), entries)
            self.report(bad, coded("file.make_mapping_by_id", name=at[1:]))
            self.leave_out(bad, at)
            return
        for key, entry in entries.items():
            yield from self.one(entry, f"{at}/{key}", read, set())

    def one(self, entry: Any, at: str, read: Callable[[Json, str], T], seen: set[str]) -> Iterator[T]:
        try:
            if not isinstance(entry, dict):
                raise _Bad(at, coded("file.mapping"), entry)
            result = read(entry, at)
        except _Bad as bad:
            self.report(bad, coded("file.correct_thing"))
            self.leave_out(bad, at, entry)
            return
        name = getattr(result, "id", None) or getattr(result, "robot_id", None)
        if name is not None and name in seen:
            self.twice(at, name, entry)
            return
        if name is not None:
            seen.add(name)
        yield result

    def twice(self, at: str, id: str, entry: Json) -> None:
        """An entry with the id of another."""
        bad = _Bad(f"{at}/id", coded("file.own_id"), id)
        self.report(bad, coded("file.first_entry_counts"), code="ID_DUPLICATE")
        self.leave_out(bad, at, entry, id)

    def leave_out(self, bad: _Bad, at: str, entry: Any = None, id: str = "") -> None:
        """Of an entry that the scene is without, what can be read all the same. An edge is no thing."""
        if at.startswith(("/scene_graph/edges", "/scene_graph/relations")):
            return
        why = coded("file.unread", expected=bad.expected, found=_found(bad))
        thing: Thing | None = None
        what = "name" if at.startswith("/robot") else "entry"
        if what == "entry" and isinstance(entry, dict):
            with suppress(_Bad):
                position = _place(entry, "center" if "center" in entry else "position", at)
                thing = Thing(bad.pointer[1:], position=position)
                thing = replace(thing, size=_size(entry, at))
        self.unread.append(UnreadEntry(bad.pointer[1:], why, what, id, thing))

    def field(self, read: Callable[[Json, str, str], T], entry: Json, key: str, at: str, default: T) -> T:
        """A field of an entry. One that cannot be read is named, and is unknown: `default`."""
        try:
            return read(entry, key, at)
        except _Bad as bad:
            self.report(bad, coded("file.correct_field", name=key))
            if key in _MEANT and not (key == "pose" and at.startswith("/robot")):
                why = coded("file.unread", expected=bad.expected, found=_found(bad))
                flat = _flat_place(entry, key, bad.pointer[1:]) if _MEANT[key] == "place" else None
                self.unread.append(UnreadEntry(bad.pointer[1:], why, _MEANT[key], thing=flat))
            return default

    def text(self, entry: Json, key: str, at: str) -> str:
        return self.field(_text, entry, key, at, "")

    def id(self, entry: Json, key: str, at: str, *, named: bool = True) -> str:
        """Its id; without one, its name. `named`: a robot is not known by that."""
        if not (id := entry_ids.text(entry.get(key))):
            bad = _Bad(f"{at}/{key}", coded("file.string"), entry.get(key))
            if not named or not (id := entry_ids.told(entry, key)):
                raise bad
            self.report(bad, coded("file.name_is_id", name=id))
        return _named(id, f"{at}/{key}")

    def report(self, bad: _Bad, fix: str, code: str = "SCHEMA_VALIDATION") -> None:
        from worldfs.base.model import Finding

        self.findings.append(Finding(code, f"{FILE} {bad.pointer or '/'}", bad.expected, _found(bad), fix))

    def mapping(self, value: Json, key: str, at: str) -> Json:
        inner = value.get(key)
        if isinstance(inner, dict):
            return inner
        if inner is not None:
            self.report(_Bad(f"{at}/{key}", coded("file.mapping"), inner), coded("file.make_mapping", name=key))
        return {}

    # -- robots -------------------------------------------------------------------------------------------------

    def page_robot(self, entry: Json, at: str, *, named: bool = True) -> RobotState:
        key = "id" if "id" in entry and "robot_id" not in entry else "robot_id"
        return RobotState(
            robot_id=self.id(entry, key, at, named=False) if named or entry.get(key) is not None else "",
            pose=self.field(_pose, entry, "pose", at, ()),
            joint_state=self.field(_joints, entry, "joint_state", at, {}),
            gripper=self.text(entry, "gripper", at),
            holding=self.text(entry, "holding", at) or None,
            extra=_rest(entry, (key, "pose", "joint_state", "gripper", "holding")),
        )

    def only_robot(self, entry: Json, at: str) -> RobotState:
        return self.page_robot(entry, at, named=False)

    def q1_robot(self, entry: Json, at: str) -> RobotState:
        grip = entry.get("gripper_state")
        grip = grip.get("state", "") if isinstance(grip, dict) else grip
        return RobotState(
            robot_id=_key(at),
            pose=self.field(_q1_pose, entry, "robot_pose", at, ()),
            joint_state=self.field(_joints, entry, "joint_state", at, {})
            if isinstance(entry.get("joint_state"), dict)
            else {},
            gripper=grip if isinstance(grip, str) else "",
            holding=self.text(entry, "holding", at) or None,
            extra=dict(entry),
        )

    # -- things -------------------------------------------------------------------------------------------------

    def page_thing(self, entry: Json, at: str) -> Thing:
        return Thing(
            id=self.id(entry, "id", at),
            name=self.field(_name, entry, "name", at, ""),
            category=self.text(entry, "category", at),
            position=self.field(_point, entry, "position", at, ()),
            extra=_rest(entry, _PAGE_THING),
            **self.body(entry, at),
        )

    def q1_object(self, entry: Json, at: str) -> Thing:
        """Positions are passed on in the driver's unit (workspace D34); their raw form stays in `extra`."""
        return Thing(
            id=_key(at),
            name=self.field(_name, entry, "name", at, ""),
            category=self.text(entry, "type", at) or self.text(entry, "category", at),
            position=self.field(_place, entry, "position", at, ()),
            status=_text(entry, "state", at) if isinstance(entry.get("state"), str) else "",
            color=self.text(entry, "color", at),
            extra=dict(entry),
        )

    def r_object(self, entry: Json, at: str) -> Thing:
        label = self.field(_name, entry, "label", at, "")
        return Thing(
            id=_key(at),
            name=label,
            category=label,
            position=self.field(_r_place, entry, "pose", at, ()),
            status=_text(entry, "state", at) if isinstance(entry.get("state"), str) else "",
            extra=dict(entry),
        )

    # -- the graph ----------------------------------------------------------------------------------------------

    def nodes(
        self, graph: Json, objects: list[Thing], robots: set[str]
    ) -> tuple[list[Thing], list[Thing], dict[str, str]]:
        """Objects completed by their nodes, furniture, and which thing a node's id names."""
        things = {thing.id: thing for thing in objects}
        furniture: dict[str, Thing] = {}
        names: dict[str, str] = {}
        for entry in self.listed(graph.get("nodes"), "/scene_graph/nodes", self.node):
            kind, node = entry.kind, entry.thing
            id = str(node.extra.get("object_key", "")) or node.id
            names[node.id] = id
            if id in things and _is_another(things[id], node):
                self.twice(entry.at, id, entry.raw)
            elif id in things:
                things[id] = _completed(things[id], node)
            elif id in robots or kind in BODIES:
                continue
            elif kind in FURNITURE or kind == _UNTOLD:
                furniture.setdefault(id, _renamed(node, id))
            else:
                things[id] = _renamed(node, id)
        return list(things.values()), list(furniture.values()), names

    def node(self, entry: Json, at: str) -> _GraphNode:
        kind = self.field(_text, entry, "type", at, _UNTOLD) or self.field(_text, entry, "class", at, _UNTOLD)
        told = "" if kind.lower() in ("object", "item", _UNTOLD) else kind
        thing = Thing(
            id=self.id(entry, "id", at),
            name=self.field(_name, entry, "name", at, ""),
            category=self.text(entry, "category", at) or told,
            position=self.field(_place, entry, "center" if "center" in entry else "position", at, ()),
            extra=_rest(entry, _NODE),
            **self.body(entry, at),
        )
        return _GraphNode(kind.lower(), thing, at, entry)

    def body(self, entry: Json, at: str) -> dict[str, Any]:
        """The physical fields that a page entry may carry."""
        found: dict[str, Any] = {key: self.text(entry, key, at) for key in ("shape", "color", "status")}
        for key, read in _BODY.items():
            if entry.get(key) is not None and (value := self.field(read, entry, key, at, None)) is not None:
                found[key] = value
        return found

    def relations(self, graph: Json, names: dict[str, str]) -> Iterable[Relation]:
        spelling = {"edges": (("from", "source"), ("to", "target")), "relations": (("subject",), ("object",))}
        for key, (subject, object) in spelling.items():

            def read(entry: Json, at: str, subject: Any = subject, object: Any = object) -> Relation:
                first = next((k for k in subject if k in entry), subject[0])
                second = next((k for k in object if k in entry), object[0])
                word_key = "predicate" if "predicate" in entry and "relation" not in entry else "relation"
                word = _text(entry, word_key, at, required=True).lower()
                ends = {key: entry_ids.text(entry.get(key)) or entry.get(key) for key in (first, second)}
                a, b = (_text(ends, key, at, required=True) for key in (first, second))
                return Relation(names.get(a, a), WORDS.get(word, word), names.get(b, b))

            yield from self.listed(graph.get(key), f"/scene_graph/{key}", read)


class _GraphNode(NamedTuple):
    """A graph node: its type, and what it says of a thing."""

    kind: str
    thing: Thing
    at: str
    raw: Json

    @property
    def id(self) -> str:
        return self.thing.id


def _is_another(thing: Thing, node: Thing) -> bool:
    """Whether a node with the id of an object is called otherwise: two entries have one id."""
    one, other = thing.name.strip().casefold(), node.name.strip().casefold()
    alike = one in other or other in one or one.isascii() != other.isascii()  # 苹果 may be the apple
    return not alike and "object_key" not in node.extra


def _renamed(node: Thing, id: str) -> Thing:
    return node if node.id == id else replace(node, id=id)


def _completed(thing: Thing, node: Thing) -> Thing:
    """An object with what its node adds: status and body; a q1 centre is metres, which its own position is not."""
    metres = bool(node.position) and ("object_key" in node.extra or not thing.position)
    return replace(
        thing,
        position=node.position if metres else thing.position,
        size=thing.size or node.size,
        shape=thing.shape or node.shape,
        status=node.status or thing.status,
        category=thing.category or node.category,
    )


# -- values -----------------------------------------------------------------------------------------------------


def _key(at: str) -> str:
    return _named(at.removeprefix("/objects/").removeprefix("/robots/").removeprefix("/"), at)


def _named(id: str, at: str) -> str:
    """Ids become file names of pictures and job directories: one with a path in it is refused."""
    reason = entry_ids.unsafe(id)
    if reason:
        raise _Bad(at, coded("file.file_id"), coded("file.at", where=repr(id[:80]), found=reason))
    return id


def _rest(entry: Json, known: Container[str]) -> Json:
    return {key: value for key, value in entry.items() if key not in known}


def _text(entry: Json, key: str, at: str, *, required: bool = False) -> str:
    value = entry.get(key)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value.strip()):
        raise _Bad(f"{at}/{key}", coded("file.string"), value)
    return value


def _name(entry: Json, key: str, at: str) -> str:
    """A name; a number as its text."""
    return entry_ids.text(entry.get(key)) or _text(entry, key, at)


def _found(bad: _Bad) -> str:
    found = coded("file.nothing") if bad.found is None else bad.found
    return found if isinstance(found, CodedText) else f"{type(found).__name__} {str(found)[:60]}"


def _number(value: Any, at: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Bad(at, coded("file.number"), value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _Bad(at, coded("file.finite_number"), value)
    if abs(number) > FARTHEST:
        raise _Bad(at, coded("file.number_limit", n=FARTHEST), value)
    return number


def _sides(size: Vec, at: str, *, flat: bool) -> Vec:
    """Each as long as a body's can be; a mark on a surface (`flat`) has no height."""
    for i, side in enumerate(size):
        if side < SMALLEST and not (flat and i == 2 and side == 0):
            raise _Bad(f"{at}/{i}", coded("file.side_least", n=SMALLEST), side)
    return size


def _mass(entry: Json, key: str, at: str) -> float:
    """0 where it is not known, else no less than a body can have."""
    number = _number(entry[key], f"{at}/{key}")
    if number and number < LIGHTEST:
        raise _Bad(f"{at}/{key}", coded("file.number_least", n=LIGHTEST), entry[key])
    return number


def _vector(entry: Json, key: str, at: str, least: int = 3, most: int = 3) -> Vec:
    value = entry[key]
    if not isinstance(value, list) or not least <= len(value) <= most:
        expected = coded("file.n_numbers", n=least) if least == most else coded("file.numbers")
        raise _Bad(f"{at}/{key}", expected, value)
    return tuple(_number(item, f"{at}/{key}/{i}") for i, item in enumerate(value))


def _flat_place(entry: Json, key: str, where: str) -> Thing | None:
    """Where a thing is in the plane, of a position that is two numbers."""
    with suppress(_Bad):
        x, y = _vector(entry, key, where, 2, 2)
        return Thing(where, position=(x, y, 0.0))
    return None


def _xyz(entry: Json, key: str, at: str) -> Vec:
    value = as_object(entry[key])
    return tuple(_number(value.get(axis, 0.0), f"{at}/{key}/{axis}") for axis in "xyz")


def _place(entry: Json, key: str, at: str) -> Vec:
    """A position in either form; () if there is none."""
    value = entry.get(key)
    if isinstance(value, dict):
        return _xyz(entry, key, at) if "x" in value else ()
    return () if value is None else _vector(entry, key, at)


def _point(entry: Json, key: str, at: str) -> Vec:
    """A position of a page: three numbers, or all of x, y and z as in q1."""
    value = entry.get(key)
    if isinstance(value, dict):
        if missing := [axis for axis in "xyz" if axis not in value]:
            raise _Bad(f"{at}/{key}/{missing[0]}", coded("file.number"), None)
        return _xyz(entry, key, at)
    return () if value is None else _vector(entry, key, at)


def _pose(entry: Json, key: str, at: str) -> Vec:
    return _vector(entry, key, at, 2, 7) if key in entry else ()


def _q1_pose(entry: Json, key: str, at: str) -> Vec:
    place = entry.get(key)
    if not isinstance(place, dict) or "x" not in place:
        return ()
    return (*_xyz(entry, key, at), 0.0, 0.0, _number(place.get("yaw", 0.0), f"{at}/{key}/yaw"))


def _r_place(entry: Json, key: str, at: str) -> Vec:
    pose = entry.get(key)
    if isinstance(pose, dict) and "position" in pose:
        return _place(pose, "position", f"{at}/{key}")
    return _vector(entry, key, at, 3, 7)[:3] if isinstance(pose, list) else _place(entry, key, at)


def _joints(entry: Json, key: str, at: str) -> Json:
    joints = entry.get(key)
    if joints is None:
        return {}
    if not isinstance(joints, dict):
        raise _Bad(f"{at}/{key}", coded("file.joint_mapping"), joints)
    for name, value in joints.items():
        if isinstance(value, bool | int | float):
            _number(value, f"{at}/{key}/{name}")
    return joints


def _extent(entry: Json, key: str, at: str) -> Vec:
    value = entry[key]
    axes = as_object(value).keys() & {"x", "y", "z"}
    flat = any(str(entry.get(name)).lower() == "region" for name in ("type", "class", "shape"))
    return _sides(_xyz(entry, key, at) if axes else _vector(entry, key, at, 1, 3), f"{at}/{key}", flat=flat)


def _size(entry: Json, at: str) -> Vec:
    return _extent(entry, "size", at) if entry.get("size") is not None else ()


def _turn(entry: Json, key: str, at: str) -> Vec:
    return _vector(entry, key, at, 4, 4)


_BODY: dict[str, Callable[[Json, str, str], Any]] = {"size": _extent, "orientation": _turn, "mass": _mass}
