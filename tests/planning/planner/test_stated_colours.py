"""What is left out by its colour stays, however the colour is written; what may be of that colour is asked about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.model import Scene, Thing
from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, interpret
from worldfs.planning.planner.stated_colours import EVERY, stated_colours

from .conftest import scene_of

WRITTEN = {
    "red": ("red", "Red", "dark red", "#ff0000", "#F00", "rgb(255, 0, 0)", "[1, 0, 0]", "[255,0,0]", "红",
            "红色", "大红色"),
    "blue": ("blue", "#0000ff", "#00f", "rgb(0,0,255)", "[0.0, 0.0, 1.0, 1.0]", "蓝", "浅蓝"),
    "green": ("green", "#00ff00", "绿"), "silver": ("silver", "银", "银色"), "brown": ("brown", "棕", "棕色"),
    "gold": ("gold", "金", "金色"), "orange": ("orange", "橙", "橘"), "pink": ("pink", "粉"),
    "white": ("white", "#fff", "白"),
    "black": ("black", "#000000", "黑"),
}  # fmt: skip
OTHERS = {  # what may be of some colours
    "navy": {"blue"}, "crimson": {"red", "brown"}, "turquoise": {"blue", "green"}, "clear": set(),
    "#b98a54": {"brown", "orange"},
}  # fmt: skip
UNKNOWN = ("", "unknown", "glittery", "#12", "rgb(a,b,c)", "[300, 0, 0]", "彩色")
NAMES = ("radio", "whistle", "comb", "stapler", "ruler")


def coloured(colours: list[str]) -> Scene:
    return scene_of(*(
        Thing(f"a{n}", name, "", (0.4, -0.3 + 0.1 * n, 0.025), size=(0.05,) * 3, shape="box", color=color, mass=0.1)
        for n, (name, color) in enumerate(zip(NAMES, colours, strict=False))
    ))  # fmt: skip


def moved(text: str, scene: Scene) -> set[str] | None:
    found = interpret(text, scene)
    if isinstance(found, CommandIntent):
        return {getattr(goal, "object", "") for goal in found.goals}
    assert isinstance(found, RefusedIntent) and found.kind == "ambiguous", found
    return None


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in WRITTEN.items() for text in texts])
def test_a_colour_is_known_however_it_is_written(name: str, text: str) -> None:
    assert stated_colours(text) == (frozenset({f"c:{name}"}), frozenset())


@pytest.mark.parametrize("text", [*OTHERS, *UNKNOWN])
def test_any_other_colour_may_be_one_that_is_asked_for(text: str) -> None:
    certain, maybe = stated_colours(text)
    assert not certain and maybe == (EVERY if text in UNKNOWN else {f"c:{name}" for name in OTHERS[text]})


@given(
    st.lists(st.sampled_from([*(text for texts in WRITTEN.values() for text in texts), *OTHERS, *UNKNOWN]),
             min_size=2, max_size=5),
    st.sampled_from(["red", "blue", "silver", "brown"]),
    st.sampled_from(["put everything except the {} things in the basket", "put everything that is not {} in the basket",
                     "put all non-{} things in the basket", "put everything but the {} things in the basket"]),
)  # fmt: skip
def test_nothing_moves_that_may_be_of_the_colour_that_is_left_out(colours: list[str], out: str, text: str) -> None:
    scene, sense = coloured(colours), f"c:{out}"
    known = [stated_colours(color) for color in colours]
    other = {f"a{n}" for n, (certain, maybe) in enumerate(known) if sense not in certain | maybe}
    unsure = {f"a{n}" for n, (_, maybe) in enumerate(known) if sense in maybe}
    found = interpret(text.format(out), scene)
    if unsure:
        assert isinstance(found, RefusedIntent) and (unsure & {*found.candidates} or found.kind == "missing"), found
    elif other and len(other) < len(colours):
        assert moved(text.format(out), scene) == other
    elif isinstance(found, CommandIntent):
        assert {getattr(goal, "object", "") for goal in found.goals} <= other


@pytest.mark.parametrize("color", [*OTHERS, *UNKNOWN])
def test_a_count_of_a_colour_names_what_may_have_it_with_what_is_stated(color: str) -> None:
    asked = interpret("how many red things are there?", coloured(["red", color]))
    assert isinstance(asked, QuestionIntent) and asked.answer.startswith("1: the radio")
    unsure = "c:red" in stated_colours(color)[1]
    assert ("whistle" in asked.answer) == unsure
    assert not unsure or (color if color not in ("", "unknown") else "no colour") in asked.answer


FRUIT = (("kiwi", "plush toy"), ("orange", "cup"), ("plum", "fruit"), ("banana", ""))


def test_a_stated_category_rules_out_what_the_name_alone_would_tell() -> None:
    things = (
        Thing(f"a{n}", name, category, (0.4, -0.2 + 0.1 * n, 0.025), size=(0.05,) * 3, shape="box", mass=0.1)
        for n, (name, category) in enumerate(FRUIT)
    )
    scene = scene_of(*things)
    assert moved("put all the fruit in the basket", scene) is None  # is a kiwi that is a plush toy one?
    assert moved("put the orange in the basket", scene) == moved("put the cup in the basket", scene) == {"a1"}
    assert moved("put the toys in the basket", scene) == {"a0"} and moved("put the plum in the basket", scene) == {"a2"}
