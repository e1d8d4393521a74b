"""What stands in a tray or a basket is in it, however tall it is; what lies across its rim or leans over it is not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from worldfs.base.model import RobotState, Scene, Thing
from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, interpret
from worldfs.planning.planner.goals import InGoal, holds
from worldfs.planning.planner.scene_facts import ThingLocation, layout

TABLE = Thing("table_01", shape="table", position=(0.6, 0.0, 0.0), size=(0.8, 1.2, 0.0), category="furniture")


def where(thing: Thing, rim: float) -> ThingLocation:
    box = Thing("box_01", category="container", shape="tray", position=(0.6, 0.0, rim / 2), size=(0.24, 0.24, rim))
    assert box.is_container
    return layout(Scene((RobotState("arm"),), (thing,), (TABLE, box)))[thing.id]


@pytest.mark.parametrize("rim", [0.03, 0.06, 0.09, 0.2])
@pytest.mark.parametrize("tall", [0.03, 0.09, 0.12, 0.25, 0.4])
def test_what_stands_on_its_floor_is_in_a_box(rim: float, tall: float) -> None:
    bottle = Thing("bottle", shape="cylinder", position=(0.6, 0.05, 0.008 + tall / 2), size=(0.06, 0.06, tall))
    assert where(bottle, rim) == ThingLocation("in", "box_01")


def test_what_stands_beside_it_leans_over_it_or_lies_high_above_is_not() -> None:
    beside = Thing("bottle", shape="cylinder", position=(0.6, 0.3, 0.125), size=(0.06, 0.06, 0.25))
    assert where(beside, 0.09) == ThingLocation("on", "table_01")
    lean = math.radians(40) / 2
    turned = (math.cos(lean), math.sin(lean), 0.0, 0.0)
    leans = Thing("pole", shape="box", position=(0.6, 0.11, 0.2), size=(0.03, 0.03, 0.5), orientation=turned)
    assert where(leans, 0.09).of != "box_01"
    across = Thing("case", shape="box", position=(0.6, 0.0, 0.09 + 0.06), size=(0.3, 0.05, 0.12))
    assert where(across, 0.09).relation != "in"


@pytest.mark.parametrize("thick", [0.004, 0.008, 0.015, 0.02, 0.03])
def test_what_a_vessel_stands_on_is_not_in_it(thick: float) -> None:
    saucer = Thing("saucer", shape="cylinder", position=(0.6, 0.0, thick / 2), size=(0.14, 0.14, thick))
    cup = Thing("cup", shape="cylinder", position=(0.6, 0.0, thick + 0.035), size=(0.07, 0.07, 0.07))
    found = layout(Scene((RobotState("arm"),), (cup, saucer), (TABLE,)))
    assert found == {"cup": ThingLocation("on", "saucer"), "saucer": ThingLocation("on", "table_01")}


BASKET = Thing("basket_01", "basket", "container", (0.6, -0.4, 0.045), size=(0.3, 0.3, 0.09), shape="basket")


def cube(id: str, name: str, x: float, z: float = 0.025, color: str = "") -> Thing:
    return Thing(id, name, shape="box", position=(x, 0.2, z), size=(0.05, 0.05, 0.05), color=color)


@pytest.mark.parametrize("what", ["the things", "the apple", "whatever is", "what is"])
def test_an_exception_of_what_is_on_a_thing_leaves_that_alone_or_is_refused(what: str) -> None:
    things = (cube("brick", "brick", 0.4), cube("apple", "apple", 0.4, 0.075), cube("key", "key", 0.6))
    scene = Scene((RobotState("arm"),), things, (TABLE, BASKET))
    told = interpret(f"put everything in the basket except {what} on the brick", scene)
    moved = {goal.object for goal in told.goals if isinstance(goal, InGoal)} if isinstance(told, CommandIntent) else ()
    assert isinstance(told, CommandIntent | RefusedIntent) and "apple" not in moved


def test_not_the_blue_one_is_said_of_one_of_several() -> None:
    colours = ("red", "blue", "red")
    things = tuple(cube(f"pillow_{n}", "枕头", 0.4 + n / 10, color=one) for n, one in enumerate(colours))
    told = interpret("把枕头放进篮子，不是蓝色的那个", Scene((RobotState("arm"),), things, (TABLE, BASKET)))
    assert isinstance(told, RefusedIntent) and told.kind == "ambiguous"
    told = interpret("把枕头放进篮子，蓝色的除外", Scene((RobotState("arm"),), things, (TABLE, BASKET)))
    assert isinstance(told, CommandIntent) and len(told.goals) == 2


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("what is on post one?", "does not tell what is on"),
        ("is there something on post one?", "does not tell what is on"),
        ("is the beam on post two?", "does not tell what is on"),
        ("how many things are on post one?", "does not tell what is on"),
        ("is the key on post one?", "no, "),
        ("what is on the key?", "nothing"),
    ],
)
def test_what_a_beam_may_rest_on_is_not_said_to_be_empty(text: str, end: str) -> None:
    posts = tuple(
        Thing(f"p{n}", f"post {word}", shape="box", position=(0.5, y, 0.05), size=(0.05, 0.05, 0.1))
        for n, word, y in ((1, "one", 0.08), (2, "two", -0.08))
    )
    beam = Thing("beam", "beam", shape="box", position=(0.5, 0.0, 0.11), size=(0.04, 0.3, 0.02))
    key = Thing("key", "key", shape="box", position=(0.3, 0.3, 0.01), size=(0.05, 0.02, 0.02))
    told = interpret(text, Scene((RobotState("arm"),), (*posts, beam, key), (TABLE,)))
    assert isinstance(told, QuestionIntent) and end in told.answer


@pytest.mark.parametrize(("height", "where"), [(0.02, "table_01"), (0.395, ""), (0.2, "")])
def test_a_table_has_one_top(height: float, where: str) -> None:
    """Its page gives its position at its top, as what stands there tells; half its height above is nothing."""
    table = Thing("table_01", "Table", "furniture", (0.45, 0.0, 0.0), size=(0.9, 1.2, 0.75), shape="table")
    block = Thing("cube_01", "cube", "block", (0.4, -0.1, 0.025), size=(0.05,) * 3, shape="box")
    jar = Thing("jar_01", "jar", "jar", (0.5, 0.2, height), size=(0.04,) * 3, shape="cylinder")
    scene = Scene((), (block, jar), (table,))
    assert layout(scene)["jar_01"].of == where
    high = replace(
        scene, objects=tuple(replace(t, position=(*t.position[:2], t.position[2] + 0.375)) for t in scene.objects)
    )
    assert layout(high)["cube_01"].of == "table_01" and layout(high)["jar_01"].of == where


def block(id: str, name: str, position: tuple[float, float, float], size: tuple[float, float, float]) -> Thing:
    return Thing(id, name, "", position, size=size, shape="box", mass=0.1)


BRIDGES = {
    "two posts": ((0.45, 0.05, 0.02), (0.45, 0.12, 0.02), (0.45, 0.085, 0.045), (0.03, 0.1, 0.01)),
    "a pyramid": ((0.45, 0.0, 0.02), (0.45, 0.041, 0.02), (0.45, 0.0205, 0.06), (0.04, 0.04, 0.04)),
}


@pytest.mark.parametrize("name", BRIDGES)
def test_what_rests_on_several_things_on_the_table_is_on_the_table(name: str) -> None:
    first, second, top, size = BRIDGES[name]
    basket = Thing("basket_01", "basket", "container", (0.45, -0.4, 0.045), size=(0.3, 0.3, 0.09), shape="basket")
    things = (block("p1", "grey post", first, (0.04,) * 3), block("p2", "black post", second, (0.04,) * 3),
              block("d", "domino", top, size), block("peg", "peg", (0.3, 0.3, 0.02), (0.02, 0.02, 0.04)))  # fmt: skip
    scene = Scene((RobotState("arm", (0.0, 0.0, 0.0)),), things, (TABLE, basket))

    def asked(text: str) -> str:
        found = interpret(text, scene)
        assert isinstance(found, QuestionIntent), found
        return found.answer

    assert (
        asked("is the domino on the table?").startswith("yes") and asked("where is the domino?").count("on the ") == 1
    )
    assert "domino" in asked("what is on the table?") and asked("how many things are on the table?").startswith("4")
    for text in ("what is on the grey post?", "is the domino on the black post?", "is anything on the grey post?"):
        assert "does not tell" in asked(text), text
    order = interpret("put everything on the table except the posts in the basket", scene)
    assert isinstance(order, CommandIntent) and {getattr(g, "object", "") for g in order.goals} == {"d", "peg"}
    down = interpret("put the domino on the table", scene)  # what is to be put there is to touch it
    assert isinstance(down, CommandIntent) and not any(holds(goal, scene) for goal in down.goals)


def test_what_lies_half_on_a_tray_may_be_on_it() -> None:
    tray = Thing("tray_01", "tray", "container", (0.42, 0.35, 0.01), size=(0.2, 0.2, 0.02), shape="basket")
    comic = replace(
        block("comic", "comic", (0.42, 0.23, 0.025), (0.06, 0.1, 0.008)), orientation=(0.995, 0.1, 0.0, 0.0)
    )
    scene = Scene((RobotState("arm", (0.0, 0.0, 0.0)),), (comic,), (TABLE, tray))
    for text in (
        "is the tray empty?",
        "what is in the tray?",
        "is the comic on the tray?",
        "is anything on the tray?",
    ):
        found = interpret(text, scene)
        told = found.answer if isinstance(found, QuestionIntent) else found.reason
        assert "does not tell" in told and not told.startswith(("yes", "no,")), (text, told)
