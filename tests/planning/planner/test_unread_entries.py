"""What of ENVIRONMENT.md cannot be read is not denied, not taken to be done, and nothing is put at its place."""

from __future__ import annotations

import json

import pytest

from worldfs.base.model import Json, Scene, Thing
from worldfs.formats import environment
from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, build_plan, interpret, stages
from worldfs.planning.planner.goals import ClearedGoal, subject
from worldfs.planning.planner.scene_facts import sanitized_scene

TABLE: Json = {
    "id": "table_01", "type": "furniture", "name": "table", "position": [0.45, 0, 0], "size": [0.9, 1.2, 0.75],
    "shape": "table",
}  # fmt: skip
BASKET: Json = {
    "id": "basket_01", "type": "container", "name": "basket", "position": [0.4, -0.4, 0.045], "size": [0.3, 0.4, 0.09],
    "shape": "basket",
}  # fmt: skip
APPLE: Json = {
    "id": "a", "name": "apple", "position": [0.45, 0.05, 0.03], "size": [0.06, 0.06, 0.06], "shape": "sphere",
    "mass": 0.15, "color": "red",
}  # fmt: skip
CUP: Json = {
    "id": "c", "name": "cup", "position": [0.6, 0.1, 0.05], "size": [0.06, 0.06, 0.1], "shape": "cylinder",
}  # fmt: skip

WRONG: dict[str, list[object]] = {
    "mass": ["heavy", "2 kilos", -1, [1], {}, True],
    "size": ["small", "12 cm", [0.06, 0.06, None], [0, 0, 0], [-0.06, 0.06, 0.06], [], 3, {"w": 1}],
    "color": [["red"], 3, {"r": 255}],
    "position": ["here", [0.45, 0.05], [0.45, 0.05, None], [1e9, 0, 0], 7, [], {"x": 0.45, "y": 0.05}, {"left": 3}],
    "shape": [3, ["sphere"]],
    "status": [3, ["on_table"]],
    "orientation": ["up", [1, 0]],
    "category": [["fruit"], 5],
    "name": [["apple"], {}, True],
}
FIELDS = [(field, value) for field, values in WRONG.items() for value in values]
WHOLE: dict[str, list[object]] = {
    "no id and no name": [{k: v for k, v in APPLE.items() if k not in ("id", "name")}],
    "an id and a name of a wrong type": [APPLE | {"id": ["a"], "name": {}}],
    "a text": ["apple"],
    "nothing": [None],
    "a list": [[APPLE]],
    "a doubled id": [APPLE | {"id": "c"}],
    "a path for an id": [APPLE | {"id": "../a"}],
}
EVERYTHING = ("put everything in the basket", "clear the table", "empty the basket", "put all apples in the basket",
              "把所有东西放进篮子里", "sort everything by colour", "put the heaviest thing in the basket")  # fmt: skip
DENIALS = ("there is no", "there are no", "nothing here is called", "no such thing", "没有苹果", "没有“苹果”")


def scene_of(objects: object, *nodes: Json, edges: list[Json] | None = None, robot: Json | None = None) -> Scene:
    graph = {"nodes": [TABLE, *(nodes or (BASKET,))], "edges": edges or []}
    robots = [{"robot_id": "r", **(robot or {})}]
    value = {"schema_version": "v2.0", "scene_graph": graph, "robots": robots, "objects": objects}
    return sanitized_scene(environment.read(json.dumps(value).encode()).scene)


def told(text: str, scene: Scene) -> str:
    intent = interpret(text, scene, suggest=False)
    assert isinstance(intent, QuestionIntent | RefusedIntent), (text, intent)
    return intent.answer if isinstance(intent, QuestionIntent) else intent.reason


def put_at(text: str, scene: Scene) -> bool:
    """Whether the plan of an order has a step."""
    intent = interpret(text, scene, suggest=False)
    return isinstance(intent, CommandIntent) and bool(build_plan(stages(intent.goals), scene, robot_id="r").actions)


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_a_field_that_cannot_be_read_is_unknown_and_the_thing_is_there(field, value):
    found = environment.read(json.dumps({"robots": [], "objects": [APPLE | {field: value}]}).encode())
    assert [one.field.split("/")[3] for one in found.findings] == [field]
    assert "until then" in str(found.findings[0].fix) and "not part of" not in str(found.findings[0].fix)
    thing, whole = found.scene.thing("a"), environment.read(json.dumps({"robots": [], "objects": [APPLE]}).encode())
    assert thing is not None
    known, all_known = (
        {key: getattr(one, key) for key in WRONG if key != field} for one in (thing, whole.scene.thing("a"))
    )
    assert known == all_known
    assert getattr(thing, field) == getattr(Thing("", position=()), field)


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_a_thing_with_such_a_field_is_not_denied(field, value):
    """Where it is, what is there, how many: told, or said not to be known."""
    scene = scene_of([APPLE | {field: value}, CUP])
    name = "a" if field == "name" else "apple"
    for text in (
        "is there an apple?",
        "where is the apple?",
        "how many apples are there?",
        "有苹果吗？",
        "苹果在哪里？",
    ):
        assert not any(word in told(text, scene) for word in DENIALS), text
        assert field != "name" or "objects/0/name" in told(text, scene)
    for text in ("what is on the table?", "is there anything on the table?", "how many things are on the table?"):
        said = told(text, scene)
        assert name in said or "does not tell" in said, text
    if field == "position":
        for text in ("what is in the basket?", "is the basket empty?", "篮子里有什么？", "is anything in the basket?"):
            assert "does not tell" in told(text, scene) or "看不出" in told(text, scene), text
        assert isinstance(interpret("empty the basket", scene, suggest=False), RefusedIntent)


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_a_thing_with_such_a_field_is_one_of_everything_and_in_its_basket(field, value):
    scene = scene_of([APPLE | {field: value}, CUP])
    intent = interpret("put everything in the basket", scene, suggest=False)
    assert isinstance(intent, RefusedIntent) or {subject(goal) for goal in intent.goals} == {"a", "c"}
    inside = APPLE | {"position": [0.4, -0.4, 0.04]}
    within = scene_of([inside | {field: value}, CUP], edges=[{"from": "a", "to": "basket_01", "relation": "in"}])
    name = "a" if field == "name" else "apple"
    assert name in told("what is in the basket?", within).replace("basket", "").split(": ")[1]
    assert told("is the basket empty?", within).startswith("no")
    emptied = interpret("empty the basket", within, suggest=False)
    assert isinstance(emptied, CommandIntent) and {subject(goal) for goal in emptied.goals} == {"a"}


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_nothing_is_put_at_the_place_of_such_a_thing(field, value):
    scene = scene_of([APPLE | {field: value}, CUP])
    text = "put the cup at x=0.45 y=0.05"
    known = field != "position" or value in ([0.45, 0.05],)
    assert not put_at(text, scene) if known else "objects/0/position" in interpret(text, scene).note


@pytest.mark.parametrize("entry", [entry for (entry,) in WHOLE.values()], ids=[*WHOLE])
def test_an_entry_that_cannot_be_read_is_named_by_each_answer_and_order_that_it_may_be_of(entry):
    scene = scene_of([CUP, entry])
    for text in ("is there an apple?", "where is the apple?", "how many apples are there?", "what is in the basket?",
                 "what is on the table?", "how many things are on the table?", "is there anything in the basket?",
                 "is the basket empty?", "which is the heaviest?", "what are you holding?", "is the cup in the basket?",
                 "put the apple in the basket", "有苹果吗？", "篮子里有什么？", "把苹果放进篮子里"):  # fmt: skip
        said = told(text, scene)
        assert "objects/1" in said, text
        assert not any(word in said for word in DENIALS), text
    assert not told("is the basket empty?", scene).startswith("yes")
    for text in EVERYTHING:
        intent = interpret(text, scene, suggest=False)
        assert isinstance(intent, RefusedIntent) and "objects/1" in intent.reason, text
    assert "objects/1" not in told("where is the cup?", scene)


@pytest.mark.parametrize("entry", [entry for (entry,) in WHOLE.values()], ids=[*WHOLE])
def test_a_put_down_beside_an_entry_that_cannot_be_read_says_so_and_is_not_at_its_place(entry):
    scene = scene_of([CUP | {"id": "d"}, entry if entry != APPLE | {"id": "c"} else APPLE | {"id": "basket_01"}])
    intent = interpret("put the cup at x=0.3 y=0.3", scene, suggest=False)
    assert isinstance(intent, CommandIntent) and "cannot be read" in intent.note
    assert not isinstance(entry, dict) or not put_at("put the cup at x=0.45 y=0.05", scene)


def test_an_order_does_not_choose_between_two_entries_of_one_id():
    scene = scene_of([APPLE, CUP | {"id": "a"}])
    for text in ("put the apple in the basket", "put the cup in the basket", "pick up the apple"):
        intent = interpret(text, scene, suggest=False)
        assert isinstance(intent, RefusedIntent) and "objects/1/id" in intent.reason, text
    assert "objects/1/id" in told("where is the cup?", scene)


def test_an_object_and_a_node_of_one_id_and_two_names_are_two_entries():
    node = {"id": "a", "type": "object", "name": "cup", "position": [0.6, 0.1, 0.05]}
    assert "nodes/2/id" in told("where is the cup?", scene_of([APPLE], BASKET, node))
    assert not scene_of([APPLE], BASKET, node | {"name": "red apple"}).unread


@pytest.mark.parametrize(
    "more", [{"size": None}, {"size": "large"}, {"shape": 4}, {"position": "there"}, {"mass": "x"}]
)
def test_a_basket_with_such_a_field_is_a_basket(more):
    scene = scene_of([APPLE], BASKET | more, edges=[{"from": "a", "to": "basket_01", "relation": "in"}])
    assert "apple" in told("what is in the basket?", scene).replace("basket", "")
    assert "basket" in told("is there a basket?", scene)


def test_two_baskets_of_one_id_and_one_of_no_type_are_not_chosen_from():
    two = scene_of([APPLE, CUP], BASKET, BASKET | {"position": [0.4, 0.4, 0.045]})
    intent = interpret("put the apple in the basket", two, suggest=False)
    assert isinstance(intent, RefusedIntent) and "nodes/2/id" in intent.reason
    untold = scene_of([APPLE], BASKET | {"type": ["container"], "shape": "box"})
    everything = interpret("put everything on the table", untold, suggest=False)
    assert isinstance(everything, RefusedIntent) and "nodes/1/type" in everything.reason


def test_a_robot_whose_hand_cannot_be_read_does_not_say_that_it_is_empty():
    scene = scene_of([APPLE, CUP], robot={"holding": ["a"], "pose": "here", "joint_state": 3})
    assert [robot.robot_id for robot in scene.robots] == ["r"]
    assert "robots/0/holding" in told("what are you holding?", scene)


@pytest.mark.parametrize("objects", [3, "apple", {"a": 3}])
def test_a_list_of_objects_that_is_none_is_not_an_empty_one(objects):
    scene = scene_of(objects)
    assert "objects" in told("is there an apple?", scene) and "there is no" not in told("is there an apple?", scene)
    assert isinstance(interpret("clear the table", scene, suggest=False), RefusedIntent)


def test_a_scene_that_can_be_read_says_nothing_of_it():
    scene = scene_of([APPLE | {"id": 7, "position": {"x": 0.45, "y": 0.05, "z": 0.03}}, CUP | {"name": 3}])
    assert scene.unread == ()
    assert told("what is on the table?", scene) == "on the table: apple, 3"
    intent = interpret("clear the table", scene, suggest=False)
    assert isinstance(intent, CommandIntent) and any(isinstance(goal, ClearedGoal) for goal in intent.goals)
