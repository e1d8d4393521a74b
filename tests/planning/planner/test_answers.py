"""Questions are answered from the scene with the fact that decides them, and only what it does not show is not told."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from worldfs.base.model import Relation
from worldfs.planning.planner import Planner, QuestionIntent, RefusedIntent, interpret

from .conftest import cube, scene_of

ANSWERS = {
    "is the apple in the basket?": "yes, the red apple is in the basket",
    "is the red cube on the table": "yes, the red cube is on the table",
    "is the blue cube in the basket": "no, the blue cube is on the table",
    "are the cubes in the basket?": "no, the blue cube is on the table; the red cube is on the table",
    "is the cube blue?": "yes, the blue cube is blue; no, the red cube is red",
    "where is the can?": "the can is on the table",
    "how many cubes are there?": "2",
    "how many red things are in the basket": "1: the red apple",
    "is anything in the basket?": "yes, the red apple is in the basket",
    "is everything in the basket?": "no, the blue cube is on the table",
    "is there a banana?": "there is no banana here",
    "do you see any cubes": "yes, the blue cube",
    "are you holding something?": "nothing is held",
    "is the basket empty?": "no, the red apple is in the basket",
    "does the basket contain the can?": "no, the can is on the table",
    "what colour is the can?": "the can is green",
    "how heavy is the can?": "0.3 kg",
    "what can you do?": "clear the table",
    "will the can be in the basket?": "does not tell",
    "can the can go into the basket?": "does not tell",
    "how many things are not red?": "does not tell",
    "what is not on the table?": "does not tell",
    "is nothing in the basket?": "does not tell",
    "which cube isn't red?": "does not tell",
    "is anything but the can on the table?": "does not tell",
    "what is between the apple and the can?": "does not tell",
    "is the can between the cubes?": "does not tell",
    "which is further left, the can or the apple?": "does not tell",
    "how many red or blue things are there?": "does not tell",
    "what is red?": "the red cube is on the table",
    "which is red, the can or the cube?": "the red cube is on the table",
    "what is brown?": "does not tell",
    "is anything tasty here?": "does not tell",
    "which is nearer to you, the blue cube or the can?": "the blue cube is the nearest",
    "which is nearer to you, the can or the blue cube?": "the blue cube is the nearest",
    "哪个方块不是红色的？": "看不出来",
    "有几个东西没在桌子上？": "看不出来",
    "除了罐子桌子上还有什么？": "看不出来",
    "罐子和苹果之间有什么？": "看不出来",
    "哪些是红色的？": "红色方块在桌子上",
    "红色的是哪个？": "红色方块在桌子上",
    "有没有罐子？": "是",
    "罐子是不是绿色的？": "是的",
    "哪个更大？": "最大",
    "罐子能放进篮子里吗？": "看不出来",
    "罐子放得进篮子里吗？": "看不出来",
    "能看到罐子吗？": "是",
    "is the can tasty?": "does not tell",
    "苹果在篮子里吗？": "是的，红色苹果在棕色篮子里",
    "罐子在篮子里吗": "不，绿色罐子在桌子上",
    "罐子在哪里？": "罐子在桌子上",
    "有几个方块？": "2",
    "篮子里有什么？": "篮子里：红色苹果",
    "桌子上有香蕉吗": "这里没有香蕉",
    "罐子是红色的吗？": "不，绿色罐子是绿色的",
    "所有东西都在篮子里吗？": "不，蓝色方块在桌子上",
    "你拿着什么": "夹爪里没有东西",
}


@pytest.fixture
def dropped(scene):
    """The scene with the apple in the basket."""
    from dataclasses import replace

    others = tuple(r for r in scene.relations if r.subject != "apple_01")
    return replace(scene, relations=(*others, Relation("apple_01", "in", "basket_01")))


@pytest.mark.parametrize(("text", "part"), ANSWERS.items())
def test_a_question_is_answered_with_the_fact(dropped, text, part):
    intent = interpret(text, dropped)
    assert isinstance(intent, QuestionIntent) and part in intent.answer, intent


@pytest.mark.parametrize("text", ["do a backflip", "do the dishes", "tell me a joke", "have fun", "say hello"])
def test_an_order_that_begins_like_a_question_is_not_understood(world, text):
    report = Planner(world).run(text)
    assert isinstance(report.intent, RefusedIntent) and report.verdict == "not_understood"
    assert not report.ok and not world.log


@pytest.mark.parametrize("position", [(), (math.nan,) * 3, (0.1,)])
def test_a_place_that_no_page_gives_is_not_said_in_numbers(position):
    scene = scene_of(replace(cube("cube_01", 0.4, 0.0, "blue"), position=position))
    scene = replace(scene, relations=())
    for text in ("where is the cube?", "方块在哪里？"):
        found = interpret(text, scene)
        assert "nan" not in found.answer and "(" not in found.answer, found
