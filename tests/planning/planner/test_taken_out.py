"""What is to come out of a container: onto what that stands on, or into the hand; never "it is in there already"."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.planning.planner import CommandIntent, RefusedIntent, interpret
from worldfs.planning.planner.goals import HoldingGoal, InGoal, OnGoal

TABLE = Thing("t1", "table", "furniture", (0.45, 0.0, 0.0), size=(0.95, 1.3, 0.75), shape="table")
DESK = replace(TABLE, id="t2", name="desk", position=(2.0, 0.0, 0.0))
PLACES = tuple(
    Thing(id, name, "container", (0.4, y, 0.045), size=(0.3, 0.36, 0.09), shape="basket")
    for id, name, y in (("b1", "basket", -0.45), ("b2", "tray", 0.45))
)
THINGS = tuple(
    Thing(id, name, "fruit" if id < "c" else "thing", (0.4, 0.1 * n, 0.02), size=(0.04,) * 3, shape="box", mass=0.1)
    for n, (id, name) in enumerate((("a1", "plum"), ("a2", "pear"), ("c1", "cube")))
)
SCENE = Scene(
    (RobotState("r1", (0.0, 0.0, 0.0), {}, "open", None),), THINGS, (TABLE, *PLACES),
    (Relation("a1", "in", "b1"), Relation("a2", "in", "b1"), Relation("c1", "on", "t1"),
     Relation("b1", "on", "t1"), Relation("b2", "on", "t1")),
)  # fmt: skip
OUT = {"a1": OnGoal("a1", "t1"), "a2": OnGoal("a2", "t1")}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("remove the plum from the basket", "a1"),
        ("empty the plum out of the basket", "a1"),
        ("clear the plum out of the basket", "a1"),
        ("clear the plum from the basket", "a1"),
        ("move the plum out of the basket", "a1"),
        ("remove the fruit from the basket", "a1 a2"),
        ("remove the plum from the basket to the table", "a1"),
        ("take the plum and the pear out of the basket", "a1 a2"),
        ("take everything out of the basket", "a1 a2"),
        ("take everything out of the basket except the plum", "a2"),
        ("remove everything from the basket and the tray", "a1 a2"),
        ("empty the basket", "a1 a2"),
        ("把plum从basket里拿走", "a1"),
        ("从basket里取走plum", "a1"),
        ("把basket里的东西都拿出来", "a1 a2"),
        ("把plum从basket里清理掉", "a1"),
    ],
)
def test_what_is_taken_out_comes_onto_what_the_container_stands_on(text, ids):
    intent = interpret(text, SCENE)
    assert isinstance(intent, CommandIntent), intent
    assert intent.goals == tuple(OUT[id] for id in ids.split())


def test_of_two_tables_it_is_the_one_below_the_container():
    intent = interpret("remove the plum from the basket", replace(SCENE, furniture=(DESK, *SCENE.furniture)))
    assert isinstance(intent, CommandIntent) and intent.goals == (OUT["a1"],)


@pytest.mark.parametrize(
    "text",
    [
        "take the plum out of the basket", "take the plum out", "take out the plum", "get the plum out of the basket",
        "从basket里拿出plum", "从basket里把plum拿出来", "把plum拿出basket", "把plum移出basket",
    ],
)  # fmt: skip
def test_one_thing_that_is_taken_out_may_be_held(text):
    intent = interpret(text, SCENE)
    assert isinstance(intent, CommandIntent) and intent.goals == (HoldingGoal("a1"),)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("remove the plum from the basket and put it in the tray", "a1"),
        ("take the plum and the pear out of the basket and put them in the tray", "a1 a2"),
        ("remove the plum from the basket into the tray", "a1"),
        ("把plum从basket里拿出来放进tray", "a1"),
    ],
)
def test_what_is_taken_out_and_put_elsewhere_goes_there(text, ids):
    intent = interpret(text, SCENE)
    assert isinstance(intent, CommandIntent) and intent.goals == tuple(InGoal(id, "b2") for id in ids.split())


@pytest.mark.parametrize(
    "text",
    [
        "empty the cube", "empty the plum", "把cube清空",
        "remove the plum", "remove all the fruits", "stow the plum from the basket", "move the plum from the basket",
        "remove the plum from the tray", "remove the cube from the basket", "把plum拿走", "把plum从tray里拿走",
    ],
)  # fmt: skip
def test_where_it_is_not_clear_from_or_to_where_it_is_asked(text):
    assert isinstance(interpret(text, SCENE), RefusedIntent)


@pytest.mark.parametrize("text", ["remove the cube", "remove the cube from the table", "把cube拿走"])
def test_what_lies_on_the_table_is_cleared_into_the_container(text):
    one = replace(SCENE, furniture=(TABLE, PLACES[0]), relations=SCENE.relations[:4])
    assert interpret(text, one).goals == (InGoal("c1", "b1"),)
    assert isinstance(interpret(text, SCENE), RefusedIntent), "into the basket or onto the tray was not said"


CHEST = Thing("b3", "chest", "furniture", (0.4, -0.45, 0.045), size=(0.3, 0.3, 0.09), shape="chest", status="closed")


@pytest.mark.parametrize("box", [replace(PLACES[0], shape="box"), PLACES[0], CHEST], ids=["case", "basket", "chest"])
@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("take the plum out of the {}", False),
        ("remove the plum out of the {}", False),
        ("把plum从{}里拿出来", False),
        ("take the plum off the {}", True),
        ("take the plum from the {}", True),
    ],
)
def test_what_lies_on_the_lid_is_not_taken_out(box, text, taken):
    plum = replace(THINGS[0], position=(0.4, -0.45, 0.11))
    scene = Scene(SCENE.robots, (plum,), (TABLE, box), (Relation("a1", "on", box.id),))
    found = interpret(text.format(box.name), scene)
    assert isinstance(found, CommandIntent if taken else RefusedIntent), found
    assert taken or "plum" in found.reason


def test_what_lies_on_a_saucer_is_taken_out_of_it():
    saucer = Thing("s1", "saucer", "saucer", (0.4, 0.0, 0.006), size=(0.09, 0.09, 0.012), shape="cylinder")
    scene = Scene(SCENE.robots, (THINGS[0], saucer), (TABLE,), (Relation("a1", "on", "s1"),))
    assert interpret("take the plum out of the saucer", scene).goals == (HoldingGoal("a1"),)
