""" "The red one" and 红的 are descriptions and no names: beside a thing that is named so, they are asked about."""

from __future__ import annotations

import pytest

from worldfs.base.model import RobotState, Scene, Thing
from worldfs.planning.planner import CommandIntent, RefusedIntent, interpret
from worldfs.planning.planner.goals import subject

BASKET = Thing("basket_01", "basket", "container", (0.4, -0.4, 0.045), size=(0.3, 0.2, 0.09), shape="basket")
CRATE = Thing("crate_01", "crate", "container", (0.4, 0.4, 0.045), size=(0.3, 0.2, 0.09), shape="basket")
TABLE = Thing("table_01", "table", "furniture", (0.45, 0.0, 0.0), size=(0.9, 1.2, 0.75), shape="table")
NAMED = [("mug", "red", "green", "blue"), ("cup", "orange", "green", "white"), ("folder", "yellow", "red", "green")]
ASKED = (
    "put every {n} but the {c} one in the basket",
    "put any {n} but the {c} one in the basket",
    "put all {n}s but the {c} one in the basket",
    "put the {o} {n} in the crate and the {c} one in the basket",
    "put the {o} {n} and the {c} one in the basket",
    "make sure every {n} but the {c} one is in the basket",
)
ASKED_ZH = ("把{n}都放进篮子，不要红的", "把一个{n}放进篮子，不要红的", "把红的{n}放进篮子")


def scene(noun: str, named: str, *colours: str) -> Scene:
    """Things of that name in each colour, and one that has the name `named` in the last colour."""
    called = [*((noun, colour) for colour in colours[:-1]), (named, colours[-1])]
    things = [
        Thing(f"o{i}", name, "", (0.3 + 0.1 * i, 0.0, 0.02), size=(0.04, 0.04, 0.04), color=colour)
        for i, (name, colour) in enumerate(called)
    ]
    return Scene((RobotState("arm"),), tuple(things), (TABLE, BASKET, CRATE))


@pytest.mark.parametrize("text", ASKED)
@pytest.mark.parametrize(("noun", "colour", "other", "another"), NAMED)
def test_the_red_one_is_not_the_thing_that_is_called_so(
    noun: str, colour: str, other: str, another: str, text: str
) -> None:
    said = text.format(n=noun, c=colour, o=other)
    for stated in (colour, another):  # of the thing that is called a red mug
        told = interpret(said, scene(noun, f"{colour} {noun}", colour, other, stated), suggest=False)
        assert isinstance(told, RefusedIntent), (said, stated, told)
    alone = interpret(said, scene(noun, f"{colour} {noun}", other, ""), suggest=False)  # it alone may be meant
    moved = {subject(goal) for goal in alone.goals} if isinstance(alone, CommandIntent) else set()
    assert isinstance(alone, CommandIntent) and moved == ({"o0"} if " but " in said else {"o0", "o1"}), (said, alone)


@pytest.mark.parametrize("text", ASKED_ZH)
@pytest.mark.parametrize("noun", ["杯子", "笔", "伞"])
def test_the_same_in_chinese(noun: str, text: str) -> None:
    for stated in ("红色", "蓝色"):
        told = interpret(text.format(n=noun), scene(noun, f"红{noun}", "红色", "绿色", stated), suggest=False)
        assert isinstance(told, RefusedIntent), (text, stated, told)


@pytest.mark.parametrize(("text", "noun", "named"), [("put the red mug in the basket", "mug", "red mug"),
                                                     ("把红杯子放进篮子", "杯子", "红杯子")])  # fmt: skip
def test_the_name_itself_is_a_name(text: str, noun: str, named: str) -> None:
    told = interpret(text, scene(noun, named, "red", "green", "red"), suggest=False)
    assert isinstance(told, CommandIntent) and {subject(goal) for goal in told.goals} == {"o2"}
