"""Environment documents read into a Scene: every dialect of §3.4, bad entries named and skipped.

A position of () means that the file does not say. A dialect's raw keys stay in `extra` of thing, robot and scene.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from worldfs.base.json_values import as_object
from worldfs.base.messages import CodedText, coded
from worldfs.base.model import Json, Relation, RobotState, Scene, Thing, Vec
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
        return Scene(objects=tuple(reading.keyed(value, "", reading.q1_object))), tuple(reading.findings)
    return reading.scene(value, dialect), tuple(reading.findings)


class _SceneReader:
    """One pass over one document, collecting findings."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

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
        objects, furniture, names = self.nodes(graph, objects, {robot.robot_id for robot in robots})
        extra = {key: item for key, item in value.items() if key not in _SCENE_KEYS}
        return Scene(
            robots=tuple(robots),
            objects=tuple(objects),
            furniture=tuple(furniture),
            relations=tuple(self.relations(graph, names)),
            perception=self.mapping(value, "perception", ""),
            extra=extra,
        )

    # -- entries, one by one ------------------------------------------------------------------------------------

    def listed(self, entries: Any, at: str, read: Callable[[Json, str], T]) -> Iterator[T]:
        if entries is None:
            return
        if not isinstance(entries, list):
            self.report(_Bad(at, coded("file.list"), entries), coded("file.make_list", name=at[1:]))
            return
        seen: set[str] = set()
        for i, entry in enumerate(entries):
            yield from self.one(entry, f"{at}/{i}", read, seen)

    def keyed(self, entries: Any, at: str, read: Callable[[Json, str], T]) -> Iterator[T]:
        if entries is None:
            return
        if not isinstance(entries, dict):
            self.report(_Bad(at, coded("file.mapping_by_id"), entries), coded("file.make_mapping_by_id", name=at[1:]))
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
            return
        name = getattr(result, "id", None) or getattr(result, "robot_id", None)
        if name is not None and name in seen:
            twice = _Bad(f"{at}/id", coded("file.own_id"), name)
            self.report(twice, coded("file.first_entry_counts"), code="ID_DUPLICATE")
            return
        if name is not None:
            seen.add(name)
        yield result

    def report(self, bad: _Bad, fix: str, code: str = "SCHEMA_VALIDATION") -> None:
        from worldfs.base.model import Finding

        found = coded("file.nothing") if bad.found is None else bad.found
        if not isinstance(found, CodedText):
            found = f"{type(found).__name__} {str(found)[:60]}"
        self.findings.append(Finding(code, f"{FILE} {bad.pointer or '/'}", bad.expected, found, fix))

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
            robot_id=_id(entry, key, at) if named or entry.get(key) is not None else "",
            pose=_vector(entry, "pose", at, 2, 7) if "pose" in entry else (),
            joint_state=_joints(entry, at),
            gripper=_text(entry, "gripper", at),
            holding=_text(entry, "holding", at) or None,
            extra=_rest(entry, (key, "pose", "joint_state", "gripper", "holding")),
        )

    def only_robot(self, entry: Json, at: str) -> RobotState:
        return self.page_robot(entry, at, named=False)

    def q1_robot(self, entry: Json, at: str) -> RobotState:
        place = entry.get("robot_pose")
        pose: Vec = ()
        if isinstance(place, dict) and "x" in place:
            pose = (*_xyz(entry, "robot_pose", at), 0.0, 0.0, _number(place.get("yaw", 0.0), f"{at}/robot_pose/yaw"))
        grip = entry.get("gripper_state")
        grip = grip.get("state", "") if isinstance(grip, dict) else grip
        return RobotState(
            robot_id=_key(at),
            pose=pose,
            joint_state=_joints(entry, at) if isinstance(entry.get("joint_state"), dict) else {},
            gripper=grip if isinstance(grip, str) else "",
            holding=_text(entry, "holding", at) or None,
            extra=dict(entry),
        )

    # -- things -------------------------------------------------------------------------------------------------

    def page_thing(self, entry: Json, at: str) -> Thing:
        return Thing(
            id=_id(entry, "id", at),
            name=_text(entry, "name", at),
            category=_text(entry, "category", at),
            position=_vector(entry, "position", at) if "position" in entry else (),
            extra=_rest(entry, _PAGE_THING),
            **_body(entry, at),
        )

    def q1_object(self, entry: Json, at: str) -> Thing:
        """Positions are passed on in the driver's unit (workspace D34); their raw form stays in `extra`."""
        return Thing(
            id=_key(at),
            name=_text(entry, "name", at),
            category=_text(entry, "type", at) or _text(entry, "category", at),
            position=_place(entry, "position", at),
            status=_text(entry, "state", at) if isinstance(entry.get("state"), str) else "",
            color=_text(entry, "color", at),
            extra=dict(entry),
        )

    def r_object(self, entry: Json, at: str) -> Thing:
        pose = entry.get("pose")
        if isinstance(pose, dict) and "position" in pose:
            position = _place(pose, "position", f"{at}/pose")
        elif isinstance(pose, list):
            position = _vector(entry, "pose", at, 3, 7)[:3]
        else:
            position = _place(entry, "pose", at)
        return Thing(
            id=_key(at),
            name=_text(entry, "label", at),
            category=_text(entry, "label", at),
            position=position,
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
            if id in things:
                things[id] = _completed(things[id], node)
            elif id in robots or kind in BODIES:
                continue
            elif kind in FURNITURE:
                furniture.setdefault(id, _renamed(node, id))
            else:
                things[id] = _renamed(node, id)
        return list(things.values()), list(furniture.values()), names

    def node(self, entry: Json, at: str) -> _GraphNode:
        kind = _text(entry, "type", at) or _text(entry, "class", at)
        size = None
        if as_object(entry.get("size")).keys() & {"x", "y", "z"}:
            size = _sides(_xyz(entry, "size", at), f"{at}/size", flat=kind.lower() == "region")
        center = "center" in entry
        thing = Thing(
            id=_id(entry, "id", at),
            name=_text(entry, "name", at),
            category=_text(entry, "category", at) or ("" if kind.lower() in ("object", "item") else kind),
            position=_place(entry, "center" if center else "position", at),
            extra=_rest(entry, _NODE),
            **(_body(entry, at) if size is None else _body(_rest(entry, ("size",)), at) | {"size": size}),
        )
        return _GraphNode(kind.lower(), thing)

    def relations(self, graph: Json, names: dict[str, str]) -> Iterable[Relation]:
        spelling = {"edges": (("from", "source"), ("to", "target")), "relations": (("subject",), ("object",))}
        for key, (subject, object) in spelling.items():

            def read(entry: Json, at: str, subject: Any = subject, object: Any = object) -> Relation:
                first = next((k for k in subject if k in entry), subject[0])
                second = next((k for k in object if k in entry), object[0])
                word_key = "predicate" if "predicate" in entry and "relation" not in entry else "relation"
                word = _text(entry, word_key, at, required=True).lower()
                a, b = _text(entry, first, at, required=True), _text(entry, second, at, required=True)
                return Relation(names.get(a, a), WORDS.get(word, word), names.get(b, b))

            yield from self.listed(graph.get(key), f"/scene_graph/{key}", read)


class _GraphNode(NamedTuple):
    """A graph node: its type, and what it says of a thing."""

    kind: str
    thing: Thing

    @property
    def id(self) -> str:
        return self.thing.id


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


def _id(entry: Json, key: str, at: str) -> str:
    return _named(_text(entry, key, at, required=True), f"{at}/{key}")


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


def _mass(value: Any, at: str) -> float:
    """0 where it is not known, else no less than a body can have."""
    number = _number(value, at)
    if number and number < LIGHTEST:
        raise _Bad(at, coded("file.number_least", n=LIGHTEST), value)
    return number


def _vector(entry: Json, key: str, at: str, least: int = 3, most: int = 3) -> Vec:
    value = entry[key]
    if not isinstance(value, list) or not least <= len(value) <= most:
        expected = coded("file.n_numbers", n=least) if least == most else coded("file.numbers")
        raise _Bad(f"{at}/{key}", expected, value)
    return tuple(_number(item, f"{at}/{key}/{i}") for i, item in enumerate(value))


def _xyz(entry: Json, key: str, at: str) -> Vec:
    value = as_object(entry[key])
    return tuple(_number(value.get(axis, 0.0), f"{at}/{key}/{axis}") for axis in "xyz")


def _place(entry: Json, key: str, at: str) -> Vec:
    """A position in either form; () if there is none."""
    value = entry.get(key)
    if isinstance(value, dict):
        return _xyz(entry, key, at) if "x" in value else ()
    return () if value is None else _vector(entry, key, at)


def _joints(entry: Json, at: str) -> Json:
    joints = entry.get("joint_state")
    if joints is None:
        return {}
    if not isinstance(joints, dict):
        raise _Bad(f"{at}/joint_state", coded("file.joint_mapping"), joints)
    for name, value in joints.items():
        if isinstance(value, bool | int | float):
            _number(value, f"{at}/joint_state/{name}")
    return joints


def _body(entry: Json, at: str) -> dict[str, Any]:
    """The physical fields that a page entry may carry."""
    found: dict[str, Any] = {key: _text(entry, key, at) for key in ("shape", "color", "status")}
    if entry.get("size") is not None:
        size = _vector(entry, "size", at, 1, 3)
        found["size"] = _sides(size, f"{at}/size", flat="region" in (entry.get("type"), entry.get("shape")))
    if entry.get("orientation") is not None:
        found["orientation"] = _vector(entry, "orientation", at, 4, 4)
    if entry.get("mass") is not None:
        found["mass"] = _mass(entry["mass"], f"{at}/mass")
    return found
