"""The list of `paos bench instructions`: what is said in which scene, and what is right afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from typing import Final, NamedTuple

from worldfs.base.json_values import as_float, as_floats, as_int, as_list, as_object, as_objects, as_text
from worldfs.base.model import Json, Relation, Scene, Thing
from worldfs.formats import yamltext
from worldfs.robots.mujoco import object_kinds
from worldfs.robots.mujoco.random_scene import random_scene
from worldfs.robots.mujoco.scene_layout import BASKET_WALL

KINDS: Final = ("doable", "ambiguous", "impossible", "dangerous", "questions")
_SECOND: Final = "basket_02"


class GoalFact(NamedTuple):
    """Something that the physics world must show: `in apple_01 basket_01`, `shift cube_01 left 0.10`, `wave`."""

    word: str
    names: tuple[str, ...] = ()
    metres: float = 0.0


class InstructionCase(NamedTuple):
    """One instruction. `right`: for a doable one the goals any of which is right; `answer`: of a question, a right
    answer holds one of these words, as a regular expression."""

    id: str
    scene_id: str
    kind: str
    words: str
    scene: Scene
    language: str
    right: tuple[tuple[GoalFact, ...], ...] = ()
    answer: str = ""

    @property
    def wanted(self) -> frozenset[str]:
        """The things that may be moved."""
        return frozenset(fact.names[0] for goal in self.right for fact in goal if fact.names)


def instruction_cases() -> list[InstructionCase]:
    """All of them, scene by scene."""
    text = resources.files(__package__).joinpath("instructions.yaml").read_text("utf-8")
    return [case for entry in as_objects(yamltext.parse(text)) for case in _of_scene(entry)]


def _of_scene(entry: Json) -> Iterator[InstructionCase]:
    name, language, scene = as_text(entry["id"]), as_text(entry.get("language")) or "en", _scene(entry)
    number = 0
    for kind in KINDS:
        for row in as_list(entry[kind]):
            number += 1
            words, told = (row, "") if isinstance(row, str) else map(as_text, as_list(row))
            case = InstructionCase(f"{name}-{number}", name, kind, words, scene, language)
            if kind == "doable":
                case = case._replace(right=tuple(_goal(part) for part in told.split(" or ")))
            yield case._replace(answer=told) if kind == "questions" else case


def _goal(text: str) -> tuple[GoalFact, ...]:
    found = []
    for part in text.split(";"):
        word, *names = part.split()
        metres = float(names.pop()) if names and names[-1].replace(".", "", 1).isdigit() else 0.0
        found.append(GoalFact(word, tuple(names), metres))
    return tuple(found)


# -- the scene --------------------------------------------------------------------------------------------------------


def _scene(entry: Json) -> Scene:
    """The places of a random scene of that seed, with the things of the list in them."""
    named = as_object(entry["things"])
    base = random_scene(as_int(entry["seed"]), len(named), language=as_text(entry.get("language")) or "en")
    table, basket = base.furniture
    furniture = [table, basket]
    if baskets := as_list(entry.get("baskets")):  # two side by side, as in the family `sort`
        one = replace(
            basket, name=as_text(baskets[0]), position=(0.50, -0.36, 0.045), size=(0.22, 0.30, 0.09), color="brown"
        )
        two = replace(one, id=_SECOND, name=as_text(baskets[1]), position=(0.25, -0.42, 0.045), color="gray")
        furniture = [table, one, two]
    things: dict[str, Thing] = {}
    relations = [Relation(piece.id, "on", table.id) for piece in furniture[1:]]
    for (id, told), place in zip(named.items(), base.objects, strict=True):
        wanted = as_object(told) if isinstance(told, dict) else {"name": told}
        thing, relation = _thing(id, wanted, place, {**{piece.id: piece for piece in furniture}, **things})
        things[id] = thing
        relations.append(relation)
    return replace(base, objects=tuple(things.values()), furniture=tuple(furniture), relations=tuple(relations))


def _thing(id: str, wanted: Json, place: Thing, there: dict[str, Thing]) -> tuple[Thing, Relation]:
    size = tuple(as_floats(wanted.get("size")))
    bare = Thing(id, as_text(wanted["name"]), "", place.position, size=size, mass=as_float(wanted.get("mass")))
    thing = object_kinds.completed(bare)
    turned = thing.shape == "box" and not (wanted.get("on") or wanted.get("in"))
    x, y = as_floats(wanted.get("at")) or place.position[:2]
    bottom, relation = 0.0, Relation(id, "on", "table_01")
    if support := there.get(as_text(wanted.get("on"))):
        x, y, bottom = *support.position[:2], support.position[2] + support.size[2] / 2
        relation = Relation(id, "on", support.id)
    elif basket := there.get(as_text(wanted.get("in"))):
        bottom, relation = BASKET_WALL, Relation(id, "in", basket.id)
    orientation = place.orientation if turned else (1.0, 0.0, 0.0, 0.0)
    position = (float(x), float(y), bottom + thing.size[2] / 2 + 0.0005)
    return replace(thing, position=position, orientation=orientation), relation
