"""Questions are answered from the scene with the fact that decides them, and only what it does not show is not told."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.planning.planner import Planner, QuestionIntent, RefusedIntent, asked_of_all, interpret

from .conftest import can, cube, scene_of

ANSWERS = {
    "is the apple in the basket?": "yes, the red apple is in the basket",
    "is the red cube on the table": "yes, the red cube is on the table",
    "is the blue cube in the basket": "no, the blue cube is on the table",
    "are the cubes in the basket?": "no, the blue cube is on the table; the red cube is on the table",
    "is the cube blue?": "yes, the blue cube is blue; no, the red cube is red",
    "where is the can?": "the can is on the table",
    "what is the can on?": "the can is on the table",
    "what is the apple in?": "the red apple is in the basket",
    "what is the can standing on?": "the can is on the table",
    "what is the can?": "the can is on the table",
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
    "罐子在什么上面？": "罐子在桌子上",
    "苹果放在什么里面？": "红色苹果在棕色篮子里",
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
    others = tuple(r for r in scene.relations if r.subject != "apple_01")
    return replace(scene, relations=(*others, Relation("apple_01", "in", "basket_01")))


@pytest.mark.parametrize(("text", "part"), ANSWERS.items())
def test_a_question_is_answered_with_the_fact(dropped, text, part):
    intent = interpret(text, dropped)
    assert isinstance(intent, QuestionIntent) and part in intent.answer, intent


def two_arms(scene: Scene, held: str | None = None) -> Scene:
    """The scene with two robots on either side of the table; the first one holds that."""
    return replace(
        scene,
        robots=(RobotState("arm_1", (0.0,) * 3, {}, "open", held), RobotState("arm_2", (0.9, 0.0, 0.0), {}, "open")),
    )


SAID_OTHERWISE = re.compile(r"\byou\b|你|\bnot\b")  # of a robot, or perhaps of stopping one


@pytest.mark.parametrize("text", [text for text in ANSWERS if not SAID_OTHERWISE.search(text)])
def test_several_robots_answer_a_question_about_the_world_as_one_does(dropped, text):
    found, one = asked_of_all(text, two_arms(dropped), {"arm_1": None, "arm_2": None}), interpret(text, dropped)
    assert isinstance(found, QuestionIntent) and found.answer == one.answer, found


OF_TWO_ARMS = {
    "what are you holding?": "arm_1: the red apple is in the gripper of arm_1; "
    "arm_2: the gripper of arm_2 holds nothing",
    "are you holding the apple?": "arm_1: yes, the red apple is in the gripper of arm_1; "
    "arm_2: no, the red apple is in the gripper of arm_1",
    "你拿着什么": "arm_1：红色苹果在 arm_1 的夹爪里；arm_2：arm_2 的夹爪里没有东西",
    "where is the apple?": "the red apple is in the gripper of arm_1 (0.50 0.10 0.03)",
    "who holds the apple?": "yes, the red apple is in the gripper of arm_1",
    "which is the nearest cube?": "arm_1: the blue cube is the nearest; the blue cube is on the table; "
    "arm_2: the red cube is the nearest; the red cube is on the table",
}


@pytest.mark.parametrize(("text", "answer"), OF_TWO_ARMS.items())
def test_a_question_about_robots_is_answered_for_each_by_name(scene, text, answer):
    found = asked_of_all(text, two_arms(scene, "apple_01"), {"arm_1": None, "arm_2": None})
    assert isinstance(found, QuestionIntent) and found.answer == answer


@pytest.mark.parametrize(
    "text", ["put the can in the basket", "go home", "tell me a joke", "why don't you stop?", "xyz"]
)
def test_an_order_and_what_may_be_one_need_the_name_of_a_robot(scene, text):
    assert asked_of_all(text, two_arms(scene), {"arm_1": None, "arm_2": None}) is None


def test_of_which_thing_a_question_is_about_is_asked_without_a_robot():
    scene = two_arms(scene_of(replace(can("can_01", 0.6, 0.0), name="tea tray")))
    found = asked_of_all("is there tea?", scene, {"arm_1": None, "arm_2": None})
    assert isinstance(found, RefusedIntent) and "tea tray" in found.reason


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


def called(id: str, name: str, x: float, y: float, color: str = "", side: float = 0.05, mass: float = 0.1) -> Thing:
    return Thing(id, name, "thing", (x, y, side / 2), size=(side,) * 3, shape="box", color=color, mass=mass)


def shop(*names: str) -> Scene:
    """A boot with a side, a box with a size, two cups, a book, a can of a colour that its name denies; a bowl in the
    basket."""
    boot, box, cup, book, can, bowl = names
    found = scene_of(
        called("a1", boot, 0.5, 0.1), called("a2", box, 0.4, -0.1), called("a3", cup, 0.6, 0.1, "red", 0.06, 0.3),
        called("a4", cup, 0.5, -0.2, "blue"), called("a5", book, 0.3, 0.1), called("a6", can, 0.6, 0.2, "blue"),
        called("a7", bowl, 0.4, 0.4, "green"),
    )  # fmt: skip
    others = tuple(r for r in found.relations if r.subject != "a7")
    return replace(found, relations=(*others, Relation("a7", "in", "basket_01")))


SHOPS = {
    "en": shop("left boot", "small box", "cup", "fragile book", "Red Bull can", "bowl"),
    "zh": shop("左靴子", "小箱子", "杯子", "书", "红牛罐", "碗"),
}
UNTOLD = ""  # not answered: a word of the question is not read, or the scene does not tell
EXACTLY = {
    "is there a left boot?": "yes, the left boot",
    "is there a right boot?": UNTOLD,
    "is there a big box?": UNTOLD,
    "where is the big box?": UNTOLD,
    "is there a fragile thing?": UNTOLD,
    "is there a fragile boot?": UNTOLD,
    "is there a red boot?": "the left boot has no colour",
    "is there any boot?": "yes, the left boot",
    "where is the boot?": "the left boot is on the table",
    "is the red cup behind the basket?": "no, the cup (a3) is not behind",
    "what is to the left of the red cup?": "left of the cup (a3): red bull can, bowl",
    "is anything behind the basket?": "yes, the red bull can is behind",
    "where is the cup in the basket?": "there is no “cup” where you say it is; elsewhere: the cup (a3) is on the table",
    "what is on the left?": UNTOLD,
    "is the cup under the box?": UNTOLD,
    "is the cup on the left side of the table?": UNTOLD,
    "is the bowl to the left of the basket?": "no, the bowl is not left",
    "is the green thing on the table?": "no, the bowl is in the basket",
    "is the heaviest thing in the basket?": "no, the cup (a3) is on the table",
    "is there a cup that is not the red cup?": UNTOLD,
    "how many boots are red?": "0; the left boot has no colour",
    "are there two red boots?": "the left boot has no colour",
    "is the box inside something?": UNTOLD,
    "is there a red or blue cup?": UNTOLD,
    "is the cup in the basket or on the table?": UNTOLD,
    "are there four cups?": "no, 2:",
    "are there two cups?": "yes, 2:",
    "is there one cup?": "yes, the cup (a3)",
    "are there two cups in the basket?": "no, 0",
    "are both cups red?": "no, the cup (a4) is blue",
    "are all three cups red?": UNTOLD,
    "are there at least two cups?": UNTOLD,
    "are there more cups than bowls?": "yes, 2: the cup (a3) and the cup (a4); 1: the bowl",
    "are there more bowls than cups?": "no, 1:",
    "how many more cups than bowls are there?": UNTOLD,
    "how many cups are left?": UNTOLD,
    "how many colours are there?": UNTOLD,
    "how many red cans are there?": UNTOLD,
    "is there a red can?": UNTOLD,
    "is the red cup bigger than the blue one?": "yes, the cup (a3) is 0.06",
    "is the blue cup heavier than the red cup?": "no, the cup (a4) weighs 0.1 kg; the cup (a3) weighs 0.3 kg",
    "is the blue cup the heaviest?": "no, the cup (a3) is the heaviest",
    "where is the heaviest cup?": "the cup (a3) is on the table",
    "what colour is the thing in the basket?": "the bowl is green",
    "is everything in the basket green?": "yes, the bowl is green",
    "is no cup on the table?": UNTOLD,
    "isn't the red cup on the table?": UNTOLD,
    "where are the book and the bowl?": "the fragile book is on the table",
    "is the cup in the basket and the bowl on the table?": UNTOLD,
    "is there a cup and a bowl in the basket?": "no, the cup (a3) is on the table",
    "are all the cups in the basket?": "no, the cup (a3)",
    "is only the bowl in the basket?": UNTOLD,
    "what else is in the basket?": UNTOLD,
    "is there another cup?": UNTOLD,
    "is there a clean cup?": UNTOLD,
    "are most cups red?": UNTOLD,
    "有左靴子吗？": "是的，左靴子",
    "有右靴子吗？": UNTOLD,
    "有大箱子吗？": UNTOLD,
    "红色的杯子在篮子后面吗？": "不，杯子 (a3)不在",
    "左边有什么？": UNTOLD,
    "有红色或蓝色的杯子吗？": UNTOLD,
    "有四个杯子吗？": "不，2：",
    "有两个杯子吗？": "是的，2：",
    "篮子里有两个碗吗？": "不，1：碗",
    "杯子比碗多吗？": "是的，2：杯子 (a3)、杯子 (a4)；1：碗",
    "杯子比碗多几个？": UNTOLD,
    "有几本书？": "1：书",
    "有几本书在篮子里？": "0",
    "有几种颜色？": UNTOLD,
    "有几个杯子是红色的？": "1：杯子 (a3)",
    "你手里有杯子吗？": "不，杯子 (a3)在桌子上",
    "托盘上的是什么？": "这里没有托盘",
    "只有碗在篮子里吗？": UNTOLD,
    "篮子里还有什么？": UNTOLD,
    "红色的杯子比蓝色的杯子大吗？": "是的，杯子 (a3)大小",
    "红色的杯子不在桌子上吗？": UNTOLD,
    "书和碗在哪里？": "书在桌子上",
    "碗在篮子里，书在箱子里吗？": UNTOLD,
    "篮子里的东西是什么颜色？": "碗是绿色的",
    "空的杯子在哪里？": UNTOLD,
}  # fmt: skip


@pytest.mark.parametrize(("text", "part"), EXACTLY.items())
def test_every_word_of_a_question_counts(text, part):
    found = interpret(text, SHOPS["en" if text.isascii() else "zh"])
    if part:
        assert isinstance(found, QuestionIntent) and found.answered and found.answer.startswith(part), found
    else:
        assert isinstance(found, RefusedIntent) or not found.answered, found


@given(st.sampled_from(sorted(EXACTLY)), st.integers(0, 40), st.sampled_from(["plastic", "third", "roughly", "glued"]))
@example("你手里有杯子吗？", 4, "plastic")
def test_a_word_that_no_question_has_is_never_passed_over(text, at, word):
    if not text.isascii():
        at, word = at % len(text), "塑"
        said = f"{text[:at]}{word}{text[at:]}"
    else:
        words = text.removesuffix("?").split()
        said = " ".join([*words[: at % (len(words) + 1)], word, *words[at % (len(words) + 1) :]]) + "?"
    found = interpret(said, SHOPS["en" if text.isascii() else "zh"])
    assert isinstance(found, RefusedIntent) or (isinstance(found, QuestionIntent) and not found.answered), (said, found)


ORDERS = (
    "put the book in the basket", "pick up the red cup", "put everything except the bowl in the basket",
    "pick up the book or the bowl", "拿起书或碗", "把书放进篮子", "拿起红色的杯子", "除了碗，把所有东西放进篮子",
)  # fmt: skip


@given(
    st.sampled_from(sorted((*EXACTLY, *ORDERS))),
    st.integers(0, 60),
    st.sampled_from(["plastic", "the book", "cup", "glued", "not", "塑", "书", "杯子", "的", "碗", "不"]),
)
@example("拿起书或碗", 2, "书")
@example("你手里有杯子吗？", 4, "塑")
def test_no_sign_that_stands_for_a_name_is_in_a_reply(text, at, word):
    at %= len(text) + 1
    space = " " if text.isascii() else ""
    found = interpret(f"{text[:at]}{space}{word}{space}{text[at:]}", SHOPS["en" if text.isascii() else "zh"])
    if isinstance(found, QuestionIntent):
        said = found.answer
    else:
        said = found.reason if isinstance(found, RefusedIntent) else found.note
    assert not re.search("[\ue000-\uf8ff]", said), said


def test_orange_is_a_colour_of_what_was_named_and_a_fruit_with_an_article():
    scene = scene_of(called("a1", "orange", 0.5, 0.1, "orange"), called("a2", "cup", 0.4, -0.1, "orange"))
    scene = replace(scene, objects=(*scene.objects, called("a3", "mug", 0.6, 0.2, "red")))
    for text, part in {
        "is there anything orange?": "yes, the orange is orange; the cup is orange",
        "is the cup orange?": "yes, the cup is orange",
        "is the mug orange?": "no, the mug is red",
        "what is orange?": "the orange is",
        "is there an orange?": "yes, the orange is",
        "how many oranges are there?": "1: the orange",
    }.items():
        found = interpret(text, scene)
        assert isinstance(found, QuestionIntent) and found.answer.startswith(part), found


def test_a_word_for_many_kinds_that_is_part_of_a_name_is_asked_about_and_not_denied():
    scene = scene_of(called("a1", "toy car", 0.5, 0.1), called("a2", "cup", 0.4, -0.1))
    found = interpret("is there a toy?", scene)
    assert isinstance(found, RefusedIntent) and found.candidates == ("a1",), found


HELD_IN = Scene(
    (RobotState("r1", (0.0, 0.0, 0.0), {}, "open", None),),
    (Thing("a1", "milk carton", "thing", (0.4, 0.0, 0.1), size=(0.08, 0.08, 0.2)),
     Thing("a2", "blue mug", "thing", (0.4, 0.2, 0.05), color="blue", size=(0.08, 0.08, 0.1))),
    (Thing("t1", "table", "furniture", (0.45, 0.0, 0.0), size=(0.95, 1.3, 0.75), shape="table"),
     Thing("b1", "tray", "container", (0.4, 0.45, 0.045), size=(0.3, 0.36, 0.09), shape="basket")),
    (Relation("a1", "on", "t1"), Relation("a2", "on", "t1"), Relation("b1", "on", "t1")),
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "part"),
    {
        "what is in the milk carton?": "does not tell what is in the milk carton",
        "is anything in the milk carton?": "does not tell what is in the milk carton",
        "how many things are in the blue mug?": "does not tell what is in the blue mug",
        "what is on the tray?": "nothing",
        "what colour is the mug on the tray?": "no “mug” where you say it is",
        "how heavy is the mug on the tray?": "no “mug” where you say it is",
    }.items(),
)
def test_what_is_not_known_is_not_told_as_nothing(text, part):
    found = interpret(text, HELD_IN)
    assert isinstance(found, QuestionIntent) and part in found.answer


@pytest.mark.parametrize("text", ["is someone there?", "is anyone here?", "is somebody on the table?"])
def test_a_person_is_no_thing(text):
    found = interpret(text, HELD_IN)
    assert isinstance(found, QuestionIntent) and not found.answered
