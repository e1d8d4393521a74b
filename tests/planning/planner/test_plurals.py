"""A plural that only one thing fits is asked about, and what a name says to be for something is not that thing."""

from __future__ import annotations

import pytest

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, interpret
from worldfs.planning.planner.goals import InGoal

from .conftest import named_scene

TABLE = Thing("t1", "table", "furniture", (0.45, 0.0, 0.0), size=(0.95, 1.3, 0.75), shape="table")
BOX = Thing("b1", "box", "container", (0.4, 0.45, 0.045), size=(0.3, 0.36, 0.09), shape="basket")


def scene(names: str) -> Scene:
    things = tuple(
        Thing(f"a{n}", name, "thing", (0.4, 0.1 * n - 0.3, 0.04), size=(0.05,) * 3)
        for n, name in enumerate(names.split("|"))
    )
    on = tuple(Relation(thing.id, "on", "t1") for thing in (*things, BOX))
    return Scene((RobotState("r1", (0.0, 0.0, 0.0), {}, "open", None),), things, (TABLE, BOX), on)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("shoe|sneaker|cup", "put all the shoes in the box"),
        ("shoe|sneaker|cup", "put everything except the shoes in the box"),
        ("book|novel", "put the books in the box"),
        ("plate|bowl|book", "put all the dishes in the box"),
        ("plate|bowl|book", "put everything in the box except the dishes"),
        ("plate|bowl|book", "clear the dishes from the table"),
        ("remote control|TV remote|book", "put the remote in the box"),
        ("remote control|TV remote|book", "put everything except the remotes in the box"),
        ("鞋|运动凉拖", "把所有鞋放进盒子"),
    ],
)
def test_a_plural_that_only_one_thing_fits_is_asked_about(names, text):
    assert isinstance(interpret(text, scene(names)), RefusedIntent)


@pytest.mark.parametrize(
    ("names", "text", "moved"),
    [
        ("shoe|sneaker|cup", "put the shoe in the box", "a0"),
        ("scissors|novel", "put the scissors in the box", "a0"),
        ("glasses|novel", "put everything except the glasses in the box", "a1"),
        ("red cube|blue cube|novel", "put the red and blue cubes in the box", "a0 a1"),
        ("shoe 1|shoe 2|novel", "put the shoes in the box", "a0 a1"),
        ("apple|can|novel", "put all the fruit in the box", "a0"),
        ("can|can opener", "put all the cans in the box", "a0"),
        ("remote control|book", "put the remote control in the box", "a0"),
    ],
)
def test_what_is_certain_is_done(names, text, moved):
    found = interpret(text, scene(names))
    assert isinstance(found, CommandIntent)
    assert found.goals == tuple(InGoal(id, "b1") for id in moved.split())


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("milk jug|coffee cup", "is there milk in the milk jug?"),
        ("milk jug|coffee cup", "is there any coffee in the coffee cup?"),
        ("milk jug|coffee cup", "is there any coffee?"),
        ("milk jug|coffee cup", "does the milk jug contain milk?"),
        ("water bottle|cube", "is there water in the water bottle?"),
        ("jam jar|cube", "is there jam in the jam jar?"),
        ("水杯|咖啡杯", "水杯里有水吗？"),
        ("水杯|咖啡杯", "咖啡杯里有咖啡吗？"),
        ("可乐罐|茶壶", "有可乐吗？"),
        ("可乐罐|茶壶", "茶壶里有茶吗？"),
    ],
)
def test_whether_a_vessel_holds_what_it_is_for_is_not_told(names, text):
    found = interpret(text, scene(names))
    assert isinstance(found, QuestionIntent)
    assert "does not tell" in found.answer or "看不出" in found.answer


@pytest.mark.parametrize(
    ("names", "text", "answer"),
    [
        ("water bottle|cube", "is there a water bottle?", "yes"),
        ("milk carton|cube", "where is the milk?", "milk carton is on the table"),
        ("水杯|咖啡杯", "有水杯吗？", "是的"),
    ],
)
def test_what_is_here_is_told(names, text, answer):
    found = interpret(text, scene(names))
    assert isinstance(found, QuestionIntent) and answer in found.answer


def test_what_may_be_of_the_kind_and_is_not_known_to_be_is_named():
    found = interpret(
        "put all the fruit in the tray", named_scene(("peach", "fig", "rambutan", "cup"), ("tray", "basket"))
    )
    assert isinstance(found, CommandIntent) and {goal.object for goal in found.goals} == {"a0", "a1"}
    assert found.note == "of unknown kind, not counted as “fruit”: rambutan (a2)"
