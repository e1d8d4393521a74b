"""Where things go of which no place is said: into what keeps things; it is asked where it matters into which."""

from __future__ import annotations

import pytest

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.planning.planner import CommandIntent, RefusedIntent, interpret
from worldfs.planning.planner.goals import AreaGoal, InGoal

TABLE = Thing("t1", "table", "furniture", (0.45, 0.0, 0.0), size=(0.95, 1.3, 0.75), shape="table")
THINGS = tuple(
    Thing(id, name, "thing", (0.4, 0.1 * n, 0.02), color=colour, size=(0.04,) * 3, shape="box", mass=0.1)
    for n, (id, name, colour) in enumerate((("a1", "phone", "black"), ("a2", "banana", "yellow")))
)
ORDERS = ("put the phone away", "tidy up", "clear the table", "put everything away", "把香蕉收起来", "收拾桌子")


def scene(*names: str) -> Scene:
    """A table with a phone, a banana and containers of these names."""
    boxes = tuple(
        Thing(f"b{n}", name, "container", (0.4, 0.4 + 0.4 * n, 0.045), size=(0.3, 0.36, 0.09), shape="basket")
        for n, name in enumerate(names)
    )
    on = tuple(Relation(thing.id, "on", "t1") for thing in (*THINGS, *boxes))
    return Scene((RobotState("r1", (0.0, 0.0, 0.0), {}, "open", None),), THINGS, (TABLE, *boxes), on)


def into(text: str, *names: str) -> set[str]:
    """The containers that the things go into, none where it is asked."""
    found = interpret(text, scene(*names))
    if isinstance(found, RefusedIntent):
        assert found.kind == "ambiguous", found.reason
        return set()
    assert isinstance(found, CommandIntent)
    return {goal.container for goal in found.goals if isinstance(goal, InGoal)}


@pytest.mark.parametrize("text", ORDERS)
@pytest.mark.parametrize(
    "else_", ["wastepaper basket", "ash tray", "bin", "oven", "mug", "first aid box", "垃圾桶", "烤箱", "猫砂盒"]
)
def test_things_go_into_what_keeps_things_and_into_nothing_else(text, else_):
    assert into(text, else_, "basket") == {"b1"} and into(text, "basket", else_) == {"b0"}
    assert into(text, else_) == set(), "the only container is none for keeping things"


@pytest.mark.parametrize("text", ORDERS)
@pytest.mark.parametrize("two", ["basket|tray", "toy box|tool box", "盒子|篮子", "large box 1|tray"])
def test_where_it_matters_into_which_it_is_asked(text, two):
    assert into(text, *two.split("|")) == set()


@pytest.mark.parametrize("text", ORDERS)
@pytest.mark.parametrize(
    "two", ["red box|blue box", "basket|basket", "box 1|box 2", "small tray|large tray", "红色盒子|蓝色盒子"]
)
def test_where_only_a_colour_tells_them_apart_either_does(text, two):
    assert into(text, *two.split("|"))


def test_what_is_said_is_done():
    assert into("put the phone in the trash can", "trash can", "basket") == {"b0"}
    assert into("put everything in the oven", "oven", "basket") == {"b0"}
    assert into("clear the table into the tray", "basket", "tray") == {"b1"}


NAMES = (
    "laundry basket", "fruit basket", "medicine box", "fuse box", "hot tray", "egg tray", "donation box", "cash box",
    "lunch box", "dog basket", "basket of kittens", "tackle box", "mail tray", "药箱", "捐款箱", "烤盘", "饭盒",
    "洗衣篮", "保险箱",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_container_for_something_else_is_asked_about(name):
    assert into("tidy up", name) == set() and into("put the phone away", name) == set()
    assert into("put the phone away", name, "storage box") == {"b1"}


def test_a_container_for_such_things_is_for_these_alone():
    assert into("put the banana away", "fruit basket") == into("把香蕉收起来", "水果篮") == {"b0"}
    assert into("put the phone away", "fruit basket") == into("tidy up", "水果篮") == set()


@pytest.mark.parametrize(
    ("text", "boxes"),
    [
        ("put the phone away", "tray|phone box"), ("put the phone away", "tray|cupboard box"),
        ("tidy up", "tray|phone box|banana box"), ("把香蕉收起来", "托盘|香蕉盒"), ("把香蕉收起来", "托盘|橱柜盒"),
        ("收拾桌子", "篮子|banana box"),
    ],
)  # fmt: skip
def test_a_container_whose_name_fits_is_not_passed_over(text, boxes):
    assert into(text, *boxes.split("|")) == set()
    assert into(text, boxes.split("|")[0]) == {"b0"}


def test_sorting_uses_no_oven():
    found = interpret("sort the things by colour", scene("oven", "trash can", "basket"))
    assert isinstance(found, CommandIntent) and all(isinstance(goal, AreaGoal) for goal in found.goals)
