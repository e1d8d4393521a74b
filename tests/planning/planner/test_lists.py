"""A list, and the word that sums it up: each name in it means what it means alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worldfs.base.model import Thing
from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, interpret
from worldfs.planning.planner.goals import InGoal


def scene_of(make, names: str):
    zh = not names.isascii()
    things = [make["ball"](f"a_{n}", 0.4 + 0.1 * (n % 3), -0.1 + 0.1 * (n // 3), name=name)
              for n, name in enumerate(names.split(", "))]  # fmt: skip
    called = ("篮子", "箱子") if zh else ("tray", "crate")
    boxes = [Thing(id, name, "container", (0.4, y, 0.06), size=(0.2, 0.2, 0.12), shape="basket")
             for id, name, y in (("b_1", called[0], 0.4), ("b_2", called[1], -0.4))]  # fmt: skip
    return make["scene"](*things, *boxes)


def moved(intent, scene) -> set[str]:
    assert isinstance(intent, CommandIntent), intent
    goals = {goal.object for goal in intent.goals if isinstance(goal, InGoal)}
    return {thing.name for thing in scene.objects if thing.id in goals}


@pytest.mark.parametrize(
    ("text", "things"),
    [("把收据和雨伞都放进篮子", "收据, 雨伞"), ("把收据和雨伞全放进篮子", "收据, 雨伞"),
     ("把收据和雨伞全部放进篮子", "收据, 雨伞"), ("把收据和雨伞两样都放进篮子", "收据, 雨伞"),
     ("把收据和雨伞两样放进篮子", "收据, 雨伞"), ("把收据、价格牌和雨伞都放进篮子", "收据, 价格牌, 雨伞"),
     ("把价格牌放进箱子，收据和雨伞都放进篮子", "收据, 雨伞, 价格牌"), ("把收据和儿童雨伞都放进篮子", "收据, 儿童雨伞"),
     ("把所有的收据和雨伞都放进篮子", "收据, 雨伞, 儿童雨伞"), ("把雨伞都放进篮子", "雨伞, 儿童雨伞"),
     ("把那个收据和这个雨伞都放进篮子", "收据, 雨伞"), ("雨伞不要动，儿童雨伞放箱子里", "儿童雨伞")],
)  # fmt: skip
def test_all_of_a_list_is_what_is_listed_and_no_compound(make, text, things):
    scene = scene_of(make, "收据, 雨伞, 儿童雨伞, 价格牌")
    assert moved(interpret(text, scene), scene) == {*things.split(", ")}


@pytest.mark.parametrize("text", ["收据和雨伞都留下，其他的放进篮子", "收据和雨伞都不要动，其他的放进篮子"])
def test_the_rest_beside_what_stays_is_asked_about_where_a_compound_is_here(make, text):
    intent = interpret(text, scene_of(make, "收据, 雨伞, 儿童雨伞, 价格牌"))
    assert isinstance(intent, RefusedIntent) and intent.kind == "ambiguous" and "儿童雨伞" in intent.reason


def test_of_a_list_a_word_for_several_is_still_all_of_them(make):
    scene = scene_of(make, "收据, 红杯子, 绿杯子")
    assert moved(interpret("把杯子和收据都放进篮子", scene), scene) == {"收据", "红杯子", "绿杯子"}


@pytest.mark.parametrize(
    ("text", "things"),
    [("put all of the umbrella and the tag in the tray", "umbrella, tag"),
     ("put each of the umbrella and the tag in the tray", "umbrella, tag"),
     ("put all of the umbrella, the key and the tag in the tray", "umbrella, key, tag"),
     ("put all of the umbrellas and the tag in the tray", "umbrella, beach umbrella, tag"),
     ("put every umbrella and the tag in the tray", "umbrella, beach umbrella, tag"),
     ("don't touch the umbrella, put the beach umbrella in the tray", "beach umbrella")],
)  # fmt: skip
def test_all_of_before_a_list_is_what_is_listed(make, text, things):
    scene = scene_of(make, "umbrella, beach umbrella, tag, key")
    assert moved(interpret(text, scene), scene) == {*things.split(", ")}


@pytest.mark.parametrize(
    "text",
    ["put the umbrella in the tray and the umbrella in the crate", "put the tag in the tray, put the tag in the crate",
     "put the tag in the tray and put the tag in the crate", "put the tag in the tray and the tag in the crate",
     "put the key in the tray, the tag in the tray and the tag in the crate"],
)  # fmt: skip
def test_one_thing_to_two_places_is_asked_about(make, text):
    intent = interpret(text, scene_of(make, "umbrella, tag, key"))
    assert isinstance(intent, RefusedIntent) and intent.kind == "ambiguous"


@pytest.mark.parametrize("text", ["把收据放进篮子，把收据放进箱子", "收据放进篮子，收据放进箱子"])
def test_one_thing_to_two_places_is_asked_about_in_chinese(make, text):
    intent = interpret(text, scene_of(make, "收据, 雨伞"))
    assert isinstance(intent, RefusedIntent) and intent.kind == "ambiguous"


def test_one_thing_to_one_place_and_then_to_another_is_done(make):
    scene = scene_of(make, "tag, key")
    intent = interpret("put the tag in the tray, then put the tag in the crate", scene)
    assert isinstance(intent, CommandIntent) and len(intent.goals) == 2


@pytest.mark.parametrize(
    ("names", "text"),
    [("cup, key", "is there a red thing?"), ("cup, key", "are there any red things?"),
     ("cup, key", "is everything white?"),
     ("杯子, 钥匙", "有红色的东西吗？"), ("杯子, 钥匙", "所有东西都是白色的吗？")],
)  # fmt: skip
def test_a_colour_that_is_not_stated_is_neither_told_nor_denied_of_things_in_general(make, names, text):
    scene = scene_of(make, names)
    here = tuple(replace(thing, color="white" if thing.id == "a_1" else "") for thing in scene.objects)
    intent = interpret(text, replace(scene, objects=here))
    assert isinstance(intent, QuestionIntent)
    assert "has no colour" in intent.answer or "没有杯子的颜色" in intent.answer
    assert not intent.answer.startswith(("no", "there is no", "不", "这里没有"))


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("put the jam in the crate, and the honey", "jam>crate honey>crate"),
        ("put the jam in the crate and the honey", "jam>crate honey>crate"),
        ("put the jam on the table, the honey and the plum", "jam>table honey>table plum>table"),
        ("put the jam in the crate, and the honey in the basket", "jam>crate honey>basket"),
        ("put the jam in the crate, and the basket", "! ambiguous"),
        ("put the jam in the crate, and the mug", "! ambiguous"),  # in the mug, or the mug as well?
        ("put the jam on the plum, and the honey", "! ambiguous"),
        ("put the jam in the crate, the mug and the honey", "! ambiguous"),
    ],
)
def test_what_is_no_place_after_a_place_goes_there_as_well(told, text, end):
    assert told(text, ("honey", "jam", "plum", "mug"), ("crate", "basket")) == end
