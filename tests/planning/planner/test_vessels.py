"""What lies in a cup is in the cup: by its place and by the page's relation, for questions, names and plans alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worldfs.base.model import Relation, Scene, Thing
from worldfs.planning.planner import CommandIntent, Planner, QuestionIntent, interpret
from worldfs.planning.planner.goals import HoldingGoal, OnGoal

from .conftest import cube, scene_of

CUP = Thing(
    "cup_01", "cup", "cup", (0.5, 0.1, 0.05), size=(0.07, 0.07, 0.1), shape="cylinder", mass=0.15, extra={"grains": 0}
)
KEY = Thing("key_01", "key", "key", (0.5, 0.1, 0.014), size=(0.02,) * 3, shape="box", mass=0.01)
PLAIN_CUP = replace(CUP, extra={})  # a page that counts no grains


def _scene(key: Thing = KEY, cup: Thing = CUP, relation: str = "") -> Scene:
    scene = scene_of(cup, key, cube("cube_01", 0.4, -0.1, "red"))
    stated = [r for r in scene.relations if r.subject != key.id]
    return replace(scene, relations=(*stated, *([Relation(key.id, relation, cup.id)] if relation else ())))


INSIDE = [_scene(), _scene(relation="on"), _scene(relation="in"), _scene(cup=PLAIN_CUP, relation="on")]


@pytest.mark.parametrize("scene", INSIDE, ids=["by its place", "on", "in", "on a cup without grains"])
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("is the key in the cup?", "yes, the key is in the cup"),
        ("is the key on the table?", "no, the key is in the cup"),
        ("where is the key?", "the key is in the cup"),
        ("what is in the cup?", "in the cup: key"),
        ("key在cup里吗？", "是"),
    ],
)
def test_what_lies_in_a_cup_is_told_to_be_in_it(scene, said, told):
    found = interpret(said, scene)
    assert isinstance(found, QuestionIntent) and found.answer.startswith(told), found.answer


@pytest.mark.parametrize("scene", INSIDE[:3], ids=["by its place", "on", "in"])
@pytest.mark.parametrize(
    ("said", "goal"),
    [
        ("take the key out of the cup", HoldingGoal("key_01")),
        ("grab the key that is in the cup", HoldingGoal("key_01")),
        ("remove the key from the cup", OnGoal("key_01", "table_01")),
        ("put the key on the table", OnGoal("key_01", "table_01")),
    ],
)
def test_what_lies_in_a_cup_is_found_there(make, scene, said, goal):
    found = interpret(said, scene)
    assert isinstance(found, CommandIntent) and found.goals == (goal,)
    world = make["world"](scene)
    assert Planner(world).run(said).ok and world.log[0].params.get("object_id") == "key_01"


@pytest.mark.parametrize(
    "key",
    [
        replace(KEY, position=(0.5, 0.1, 0.11)),  # it lies across the rim
        replace(KEY, position=(0.55, 0.1, 0.014)),  # beside it
    ],
)
def test_what_is_on_or_beside_a_cup_is_not_in_it(key):
    found = interpret("is the key in the cup?", _scene(key))
    assert isinstance(found, QuestionIntent) and not found.answer.startswith("yes, the key is in the cup")
