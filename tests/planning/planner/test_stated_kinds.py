"""What a scene states, and what it does not state: the kinds and the colours of its things."""

from __future__ import annotations

import pytest

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, interpret
from worldfs.planning.planner.goals import subject

TABLE = Thing("t9", "table", "furniture", (0.45, 0.0, 0.0), size=(0.95, 1.3, 0.75), shape="table")
BIN = Thing("b1", "crate", "container", (0.4, -0.5, 0.045), size=(0.3, 0.36, 0.09), shape="basket")
BIN_ZH = Thing("b1", "垃圾桶", "container", (0.4, -0.5, 0.045), size=(0.3, 0.36, 0.09), shape="basket")


def scene(*named: str) -> Scene:
    """A table and a crate with `a0`, `a1` …, each "name", "name|category" or "name|category|colour"."""
    objects = []
    for n, one in enumerate(named):
        name, category, color, *_ = *one.split("|"), "", ""
        spot = (0.3 + 0.01 * n, -0.3 + 0.1 * n, 0.015)
        objects.append(Thing(f"a{n}", name, category or "thing", spot, size=(0.03,) * 3, shape="box", color=color))
    crate = BIN if named[0].split("|")[0].isascii() else BIN_ZH
    relations = tuple(Relation(t.id, "on", "t9") for t in (*objects, crate))
    robot = RobotState("r1", (0.0, 0.0, 0.0), {}, "open", None)
    return Scene((robot,), tuple(objects), (TABLE, crate), relations)


def moved(text: str, here: Scene) -> str:
    """`a0 a1`: what moves; `? a0 a1`: which of these is asked; `-` for any other refusal."""
    intent = interpret(text, here)
    if isinstance(intent, CommandIntent):
        return " ".join(subject(goal) for goal in intent.goals)
    assert isinstance(intent, RefusedIntent), intent
    return " ".join(("?", *intent.candidates)) if intent.kind == "ambiguous" else "-"


def told(text: str, here: Scene) -> str:
    intent = interpret(text, here)
    assert isinstance(intent, QuestionIntent), intent
    return intent.answer


FRUIT = ("rambutan", "apple", "stapler", "wrench|tool", "cup")
FRUIT_ZH = ("红毛丹", "苹果", "订书机", "扳手|工具", "杯子")
TOOLS = ("wrench|tool", "chisel", "apple")
KNOWN = ("grape", "apple", "wrench|tool", "cup", "doll|toy")
MEDICINE = ("tablets|medicine", "bandage|medicine", "aspirin", "cup")


@pytest.mark.parametrize(
    ("named", "text", "right"),
    [
        (FRUIT, "don't touch the fruit, put everything else in the crate", "? a0 a2"),
        (FRUIT, "put everything except the fruit in the crate", "? a0 a2"),
        (FRUIT, "put everything in the crate but leave the fruits", "? a0 a2"),
        (FRUIT, "put everything that is not a fruit in the crate", "? a0 a2"),
        (FRUIT, "put the things that are not fruit in the crate", "? a0 a2"),
        (FRUIT, "put the non-fruit things in the crate", "? a0 a2"),
        (FRUIT, "put the stapler in the crate and don't touch the fruit", "a2"),  # it is named itself
        (FRUIT, "don't touch the fruit, put the cup in the crate", "a4"),
        (FRUIT, "put everything except the fruit on the table", "a0 a2 a3 a4"),  # where all of it is: nothing moves
        (FRUIT, "put everything except the apple in the crate", "a0 a2 a3 a4"),
        (FRUIT, "put the fruit on the table and the rest in the crate", "? a0 a2"),
        (FRUIT, "put the fruit on the table, then put everything else in the crate", "? a0 a2"),
        (FRUIT, "put the fruit in the crate", "a1"),
        (FRUIT, "put the tools in the crate", "? a3 a0 a2"),  # "the tools", and one thing is one
        (("wrench|tool", "teddy|toy"), "put the tools in the crate", "a0"),
        (FRUIT_ZH, "除了水果，其他的都扔进垃圾桶", "? a0 a2"),
        (FRUIT_ZH, "不要动水果，把其他的都放进垃圾桶", "? a0 a2"),
        (FRUIT_ZH, "把不是水果的东西都放进垃圾桶", "? a0 a2"),
        (FRUIT_ZH, "把订书机放进垃圾桶，不要动水果", "a2"),
        (FRUIT, "put everything except the toys in the crate", "? a0 a2"),  # perhaps these are toys
        (FRUIT_ZH, "把玩具放进垃圾桶", "? a0 a2"),
        (("apple", "cup"), "put the toys in the crate", "-"),  # there are none
        (KNOWN, "put everything except the fruit in the crate", "a2 a3 a4"),
        (KNOWN, "put everything except the toys in the crate", "a0 a1 a2 a3"),
        (("wrench|tool", "saw|tool", "chisel"), "put everything but the tools in the crate", "? a2"),
        (("wrench|tool", "saw|tool", "chisel|thing", "pen|stationery"), "put all but the tools in the crate", "? a2"),
        # words that fit things by their stated category alone
        (MEDICINE, "don't touch the medicine, put everything else in the crate", "? a2"),
        (("Barbie|doll", "rag doll|doll", "chisel"), "put everything except the dolls in the crate", "a2"),
        (("蛇果", "苹果", "葡萄", "荔枝"), "除了水果，其他的都扔进垃圾桶", "? a0"),
    ],
)  # fmt: skip
def test_a_thing_of_no_known_kind_is_neither_left_out_nor_taken(named, text, right):
    assert moved(text, scene(*named)) == right


OF_FRUITS = "; of unknown kind, not counted as “fruits”: rambutan (a0), stapler (a2)"
OF_FRUIT = OF_FRUITS.replace("fruits", "fruit")


@pytest.mark.parametrize(
    ("named", "text", "right"),
    [
        (FRUIT, "how many fruits are there?", f"1: the apple{OF_FRUITS}"),
        (FRUIT, "are there two fruits?", f"no, 1: the apple{OF_FRUITS}"),
        (FRUIT, "are all fruits on the table?", f"yes, the apple is on the table{OF_FRUITS}"),
        (FRUIT, "which fruit is on the table?", f"on the table: apple{OF_FRUIT}"),
        (FRUIT, "where is the fruit?", f"the apple is on the table (0.31 -0.20 0.01){OF_FRUIT}"),
        (FRUIT, "are there more cups than fruits?", f"no, 1: the cup; 1: the apple{OF_FRUITS}"),
        (FRUIT, "is there any fruit on the table?", "yes, the apple is on the table"),
        (FRUIT, "is there any fruit in the crate?", "no, the apple is on the table"),  # and none of the others is there
        (FRUIT, "how many cups are there?", "1: the cup"),
        (FRUIT_ZH, "有几个水果？", "1：苹果；不知道是什么种类，没有算作“水果”：红毛丹 (a0)、订书机 (a2)"),
        (TOOLS, "how many tools?", "1: the wrench; of unknown kind, not counted as “tools”: chisel (a1)"),
        (KNOWN, "how many fruits are there?", "2: the grape and the apple"),
    ],
)  # fmt: skip
def test_an_answer_about_a_kind_names_the_things_of_no_known_kind(named, text, right):
    assert told(text, scene(*named)) == right


def test_what_is_ordered_of_a_kind_is_told_with_the_things_of_no_known_kind():
    here = scene("wrench|tool", "saw|tool", "chisel", "teddy|toy")
    for text in ("put the tools in the crate", "put all tools except the wrench and the saw in the crate"):
        found = interpret(text, here)
        assert isinstance(found, CommandIntent)
        assert found.note == "of unknown kind, not counted as “tools”: chisel (a2)"


DOLLS = ("Barbie|doll", "rag doll|doll", "cup")
PHONES = ("iPhone 15|phone", "old phone|phone")
DOLLS_ZH = ("芭比|娃娃", "布娃娃|娃娃", "杯子")


@pytest.mark.parametrize(
    ("named", "text", "right"),
    [
        (DOLLS, "pick up the doll", "? a0 a1"),
        (DOLLS, "put the doll in the crate", "? a0 a1"),
        (DOLLS, "put everything except the doll in the crate", "? a0 a1"),
        (DOLLS, "put everything in the crate but leave the doll", "a2"),
        (DOLLS, "put the dolls in the crate", "a0 a1"),
        (DOLLS, "put the rag doll in the crate", "a1"),
        (PHONES, "pick up the phone", "? a0 a1"),
        (PHONES, "pick up the old phone", "a1"),
        (DOLLS_ZH, "拿起娃娃", "? a0 a1"),
        (DOLLS_ZH, "除了娃娃，其他的都扔进垃圾桶", "a2"),
        (("Barbie|doll", "doll|doll"), "pick up the doll", "a1"),  # an exact name
        (("mug", "tea cup"), "pick up the cup", "a1"),  # another name, and no stated category
        (("mug|cup", "tea cup"), "pick up the cup", "? a0 a1"),
        (("apple", "dragon fruit"), "pick up the fruit", "? a0 a1"),
    ],
)  # fmt: skip
def test_one_thing_of_a_stated_kind_is_no_less_of_it_than_one_that_is_called_so(named, text, right):
    assert moved(text, scene(*named)) == right


@pytest.mark.parametrize("colour", ["turquoise", "clear", "maroon", "dark khaki", "藏青色"])
def test_any_stated_colour_counts_before_a_colour_in_the_name(colour):
    here = scene(f"red wine glass|thing|{colour}", "cup|thing|red")
    assert moved("put the red glass in the crate", here) == "? a0"
    assert moved("put all red things in the crate", here) == "a1"
    assert moved("put the red wine glass in the crate", here) == "a0"
    asked = interpret("is there a red glass?", here)
    assert isinstance(asked, RefusedIntent) and asked.candidates == ("a0",)


@pytest.mark.parametrize("colour", ["", "unknown", "#c01020", "rgb(200, 10, 30)"])
def test_a_colour_that_no_word_states_is_told_by_the_name(colour):
    assert moved("put the red glass in the crate", scene(f"red plastic glass|thing|{colour}", "cup")) == "a0"


TOYS = ("teddy|toy", "toy train|toy")
PLIERS = ("pair of pliers", "needle-nose pliers")
REMOTES = ("遥控器", "空调遥控器")


@pytest.mark.parametrize(
    ("named", "text", "right"),
    [
        (TOYS, "put all toys in the crate", "a0 a1"),
        (TOYS, "put every toy in the crate", "a0 a1"),
        (TOYS, "put both toys in the crate", "a0 a1"),
        (TOYS, "put the toys in the crate", "a0 a1"),
        (TOYS, "put the toy in the crate", "? a0 a1"),
        (("teddy|toy", "toy box|toy"), "put all toys in the crate", "? a0 a1"),
        (PLIERS, "put all pliers in the crate", "a0 a1"),
        (PLIERS, "put the pair of pliers in the crate", "a0"),
        (PLIERS, "put the pliers in the crate", "? a0 a1"),
        (REMOTES, "把所有遥控器扔进垃圾桶", "a0 a1"),
        (REMOTES, "把两个遥控器都扔进垃圾桶", "a0 a1"),
        (("水袋", "防水袋"), "把所有水袋扔进垃圾桶", "? a0 a1"),
        (("phone|phone", "phone charger|phone"), "put all phones in the crate", "? a0 a1"),
    ],
)  # fmt: skip
def test_all_of_a_kind_are_all_that_are_of_it(named, text, right):
    assert moved(text, scene(*named)) == right


@pytest.mark.parametrize(
    ("named", "text"),
    [
        (("bread knife", "pocketknife"), "put all knives in the crate"),
        (("水袋", "防水袋"), "把所有水袋扔进垃圾桶"),
    ],
)
def test_who_said_all_is_not_told_to_say_all(named, text):
    found = interpret(text, scene(*named))
    assert isinstance(found, RefusedIntent) and found.kind == "ambiguous"
    assert "say all" not in found.reason and "说所有" not in found.reason, found.reason
