"""A relation to what is not in the scene, or to what holds nothing so: the thing's own position counts."""

import json

import pytest

from worldfs.base.model import Scene
from worldfs.base.stated_places import strange_hands, without
from worldfs.formats import environment
from worldfs.planning.planner import CommandIntent, Planner, QuestionIntent, interpret

from .conftest import ROBOT, World

TABLE = {"id": "table_01", "type": "furniture", "name": "table", "position": [0.45, 0, 0], "size": [0.9, 1.2, 0.75],
         "shape": "table"}  # fmt: skip
BASKET = {"id": "basket_01", "type": "container", "name": "basket", "position": [0.4, -0.4, 0.045],
          "size": [0.3, 0.4, 0.09], "shape": "basket"}  # fmt: skip
APPLE = {"id": "a", "name": "apple", "position": [0.55, 0.1, 0.033], "size": [0.066] * 3, "shape": "sphere"}
CUBE = {"id": "c", "name": "cube", "position": [0.5, -0.1, 0.025], "size": [0.05] * 3, "shape": "box"}
ODD = [("on", "old_tray"), ("in", "old_tray"), ("inside", "old_tray"), ("in", 5), ("on", ROBOT), ("in", ROBOT),
       ("leans_on", "old_tray"), ("held_by", "franka_009")]  # fmt: skip


def page(relation, to, apple=APPLE, **robot):
    graph = {"nodes": [TABLE, BASKET], "edges": [{"from": "a", "to": to, "relation": relation}]}
    robots = [{"robot_id": ROBOT, "pose": [0, 0, 0], **robot}]
    return json.dumps({"scene_graph": graph, "robots": robots, "objects": [apple, CUBE]}).encode()


def asked(text, scene):
    found = interpret(text, scene, robot_id=ROBOT)
    assert isinstance(found, QuestionIntent), found
    return found.answer


@pytest.mark.parametrize(("relation", "to"), ODD)
def test_where_the_position_is_known_it_counts(relation, to):
    read = environment.read(page(relation, to))
    assert [(one.code, one.warning) for one in read.findings] == [("LABEL_CONTRADICTED", True)]
    where = asked("where is the apple?", read.scene)
    assert where.startswith("the apple is on the table (") and "ENVIRONMENT.md also said" in where
    assert asked("how many things are on the table?", read.scene).startswith("2")
    assert asked("is the apple on the table?", read.scene).startswith("yes")
    world = World(read.scene)
    report = Planner(world).run("clear the table")
    assert report.ok and {order.params.get("object_id") for order in world.log} >= {"a", "c"}


@pytest.mark.parametrize(("relation", "to"), [one for one in ODD if one[0] != "held_by"])
def test_where_no_position_is_known_the_place_is_not(relation, to):
    scene = environment.read(page(relation, to, {key: APPLE[key] for key in ("id", "name", "size", "shape")})).scene
    where = asked("where is the apple?", scene)
    assert where.startswith("the apple is somewhere that the scene does not tell") and str(to) in where
    assert asked("is the apple on the table?", scene)[:2] != "no"
    assert not asked("is the table empty?", scene).startswith("yes")


@pytest.mark.parametrize(
    ("robot", "is_held"),
    [({}, True), ({"gripper": "closed"}, True), ({"holding": "a"}, True), ({"gripper": "open"}, False),
     ({"holding": "c"}, False)],
)  # fmt: skip
def test_a_thing_is_held_where_the_robot_does_not_say_otherwise(robot, is_held):
    read = environment.read(page("held_by", ROBOT, **robot))
    assert ("in the gripper" in asked("where is the apple?", read.scene).partition(". ENV")[0]) == is_held
    assert bool(read.findings) != is_held


@pytest.mark.parametrize(("robots", "is_held"), [((ROBOT,), False), ((ROBOT, "franka_009"), True)])
def test_where_the_page_tells_of_no_robot_those_of_the_configuration_count(robots, is_held):
    value = json.loads(page("held_by", "franka_009")) | {"robots": []}
    scene = environment.read(json.dumps(value).encode()).scene
    assert scene.relations and [*strange_hands(scene, robots)] == [*scene.relations] * (not is_held)
    told = asked("where is the apple?", without(scene, strange_hands(scene, robots)))
    assert told.startswith("the apple is in the gripper of" if is_held else "the apple is on the table")


@pytest.mark.parametrize(("relation", "to"), ODD)
def test_a_measurement_of_the_thing_removes_the_relation(relation, to):
    for apple in (APPLE, {key: APPLE[key] for key in ("id", "name", "size", "shape")}):
        data = page(relation, to, apple)
        seen = environment.read(page("near", "c")).scene
        data = environment.merge(data, seen, robot_id=ROBOT, now="2026-12-01T00:00:00Z", before=Scene(), whole=True)
        after = environment.read(data)
        assert not after.findings and all(one.relation == "near" for one in after.scene.relations)


def test_what_a_body_observes_to_hold_is_not_taken_out():
    """It sees the counter, and tells of no such thing."""
    seen = environment.read(page("on", "counter")).scene
    seen = seen.__class__(seen.robots, seen.objects, relations=seen.contradicted)
    data = page("on", "counter")
    assert environment.merge(data, seen, robot_id=ROBOT, now="2026-12-01T00:00:00Z", before=seen, whole=False) == data


def test_a_basket_with_nothing_in_it_is_said_to_be_empty_already():
    scene = environment.read(page("near", "c")).scene
    for text, said in (
        ("empty the basket", "Nothing to do: basket is empty already."),
        ("把篮子清空", "篮子已经是空的"),
    ):
        report = Planner(World(scene)).run(text)
        assert report.ok and not report.moved and said in report.reason


def test_put_back_alone_is_an_undo_and_after_another_order_it_is_not():
    scene = environment.read(page("near", "c")).scene
    was = environment.read(page("near", "c", APPLE | {"position": [0.6, 0.2, 0.033]})).scene
    for text in ("放回原处", "请放回原处", "放回原位"):
        found = interpret(text, scene, lambda: was, robot_id=ROBOT)
        assert isinstance(found, CommandIntent) and [goal.object for goal in found.goals] == ["a"]
    for text in ("把cube放进basket，放回原处", "把cube放进basket。放回原处"):
        assert not isinstance(interpret(text, scene, lambda: was, robot_id=ROBOT), CommandIntent)


def test_the_reason_why_no_place_is_known_to_be_free_is_the_thing_of_unknown_place():
    value = json.loads(page("near", "c"))
    value["objects"].append({"id": "ghost_01", "name": "ghost"})
    report = Planner(World(environment.read(json.dumps(value).encode()).scene)).run("put the apple at x=0.5 y=0.2")
    assert "the scene does not tell where ghost is" in report.reason and "there is ghost" not in report.reason


UNDO = ("undo", "put everything back where it was", "put the apple back where it was", "放回原处")
TEXTS = (
    *UNDO, "clear the table", "empty the basket", "put everything in the basket", "put the apple in the basket",
    "put the apple on the table", "put the apple at x=0.5 y=0.2", "put the apple to the left of the cube",
    "put the cube next to the plum", "put the apple between the cube and the plum", "put the plum in the basket",
    "put the apple in the middle of the table", "move the apple 10 cm to the left", "push the cube 10 cm to the left",
    "move the plum 10 cm to the left", "stack the cube and the plum", "stand the cube up", "pick up the plum",
    "sort everything by colour", "make sure only the apple is in the basket", "take everything out of the basket",
    "where is the plum?", "what is on the table?", "how many things are on the table?", "is the table empty?",
    "how far is the plum?", "what is nearest to the cube?", "which thing is the biggest?", "is the plum in the basket?",
    "is the plum to the left of the apple?", "what do you hold?", "where is everything?",
)  # fmt: skip
LACKING = {
    "place": {"size": [0.04] * 3}, "word": {"position": "here", "size": [0.04] * 3}, "two": {"position": [0.3, 0.1]},
    "four": {"position": [0.3, 0.1, 0.02, 7]}, "null": {"position": [0.3, 0.1, None]}, "none": {"position": []},
    "far": {"position": [0.6, 0.2, 1e9]}, "size": {"position": [0.6, 0.2, 0.02]}, "all": {},
    "flat": {"position": [0.6, 0.2, 0.02], "size": [0.1, 0.1]},
    "turn": {"position": [0.6, 0.2, 0.02], "orientation": [1]},
    "mapping": {"position": {"x": 0.3}, "size": {"x": 0.3}},
}  # fmt: skip


@pytest.mark.parametrize("lacking", LACKING)
def test_a_thing_without_a_field_breaks_no_order_and_no_question(lacking):
    value = json.loads(page("near", "c"))
    value["objects"].append({"id": "p", "name": "plum", **LACKING[lacking]})
    scene = environment.read(json.dumps(value).encode()).scene
    value["objects"][0]["position"] = [0.6, -0.2, 0.033]
    was = environment.read(json.dumps(value).encode()).scene
    for text in TEXTS if lacking == "all" else UNDO:
        report = Planner(World(scene, was=was)).run(text)
        assert report.reason and "there is plum" not in report.reason, text
        if text in UNDO and lacking in ("size", "flat", "turn"):
            assert report.ok and report.moved, report.reason


@pytest.mark.parametrize(("of", "lacking"), [(TABLE, "size"), (BASKET, "position")])
def test_furniture_without_a_field_breaks_none_either(of, lacking):
    value = json.loads(page("near", "c"))
    for node in value["scene_graph"]["nodes"]:
        if node["id"] == of["id"]:
            del node[lacking]
    scene = environment.read(json.dumps(value).encode()).scene
    for text in [one for one in TEXTS if "plum" not in one][::3]:
        assert Planner(World(scene, was=scene)).run(text).reason, text
