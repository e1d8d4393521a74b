"""What is forbidden and ordered in one instruction, in English and Chinese: only the order is done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worldfs.base.model import Relation, Scene
from worldfs.planning.planner import CommandIntent, QuestionIntent, interpret
from worldfs.planning.planner.goals import ClearedGoal, destinations, subject

from .conftest import named_scene

ENGLISH = ("key", "phone", "cup", "plum", "dish"), ("basket", "box", "bin")
CHINESE = ("钥匙", "手机", "水杯", "李子", "花瓶"), ("篮子", "盒子", "托盘")


def others(but: str, box: str, things: tuple[str, ...]) -> str:
    return " ".join(f"{name}>{box}" for name in things if name not in but)


DONE_EN = {
    "don't touch the key, put the phone in the basket": "phone>basket",
    "please do not touch the key, put the phone in the basket": "phone>basket",
    "never touch the key, put the phone in the basket": "phone>basket",
    "you must not touch the key, put the phone in the basket": "phone>basket",
    "without touching the key, put the phone in the basket": "phone>basket",
    "don't move the key; put the phone in the basket": "phone>basket",
    "Don't move the key. Please put the phone in the basket.": "phone>basket",
    "don't touch the key. don't touch the cup. put the phone in the basket": "phone>basket",
    "don't touch the key, the cup or the plum, put the phone in the basket": "phone>basket",
    "do not move the key, but put everything else in the basket": others("key", "basket", ENGLISH[0]),
    "don't touch the key and put everything else in the basket": others("key", "basket", ENGLISH[0]),
    "don't touch the key, put everything in the basket": others("key", "basket", ENGLISH[0]),
    "don't touch the key, don't touch the cup, put everything in the basket": others("key cup", "basket", ENGLISH[0]),
    "don't touch the key and the cup, put the others in the basket": others("key cup", "basket", ENGLISH[0]),
    "don't pick up the key, pick up the phone": "phone",
    "don't give me the key, give me the phone": "phone",
    "please don't put the plum in the box, put it in the basket": "plum>basket",
    "don't put the plum in the box. Put it in the basket instead.": "plum>basket",
    "don't put the plum in the box, instead put the plum in the basket": "plum>basket",
    "don't put the plum in the box but in the basket": "plum>basket",
    "don't put the plum and the key in the box, put them in the basket": "plum>basket key>basket",
    "don't put the plum in the box or the bin, put it in the basket": "plum>basket",
    "don't put the plum in the box, put the key in the box": "key>box",
    "don't put the plum in the box, put everything else in the box": others("plum", "box", ENGLISH[0]),
    "put the plum in the basket, don't put it in the box": "plum>basket",
    "put the plum in the basket. Don't put it in the box.": "plum>basket",
    "put the plum in the basket and don't put the key in the basket": "plum>basket",
    "not the plum, put the key in the basket": "key>basket",
    "leave the dish on the table and put everything else in the box": others("dish", "box", ENGLISH[0]),
    "leave the dish and the cup on the table, put the others in the box": others("dish cup", "box", ENGLISH[0]),
    "put everything else in the box and leave the dish on the table": others("dish", "box", ENGLISH[0]),
    "leave the box on the table and put the phone in the box": "phone>box",
    "put the key in the box, please, not the bin": "key>box",
    "put the key in the box, please, not in the bin": "key>box",
    "put everything in the box, please, except the cup": others("cup", "box", ENGLISH[0]),
    "don't forget to put the key in the box": "key>box",
    "please never forget to put the key in the box": "key>box",
    "put the phone in the basket, and don't forget to put the key in the box": "phone>basket key>box",
    "don't touch the cup, and put the phone in the box. Don't forget to put the key in the bin.": "! negation",
    "don't touch the cup. put the phone in the box. Don't forget to put the key in the bin.": "phone>box then key>bin",
    "keep the key here and put the phone in the box": "phone>box",
    "keep the key and the cup here, put everything else in the box": others("key cup", "box", ENGLISH[0]),
    "put everything in the box and leave the key here": others("key", "box", ENGLISH[0]),
}
ASKED_EN = {
    "don't touch the key and put the phone in the basket": "! negation",  # is it forbidden as well?
    "don't touch the key or put the phone in the basket": "! negation",
    "don't touch the key, then put the phone in the basket": "! negation",
    "don't touch the key and leave the cup, put the phone in the basket": "! negation",
    "don't touch the key, don't put the phone in the basket": "! negation",
    "don't touch the key, put it in the basket": "! ambiguous",
    "leave the cup on the table and put it in the box": "! ambiguous",
    "don't put the plum and the key in the box, put it in the basket": "! ambiguous",
    "don't touch the key, put the key in the basket": "! negation",
    "don't touch the box, put the key in the box": "! negation",
    "don't put the plum in the basket, put it in the basket": "! negation",
    "put the plum in the basket, not in the basket": "! negation",
    "don't put the plum in the box, take it and put it in the box": "! negation",
    "put the plum in the basket and don't put it in the basket": "! negation",
    "don't put the plum in the box, put everything in the basket": "! ambiguous",  # the plum as well?
    "don't touch only the plum, put the key in the box": "! negation",
    "don't touch all the things, put the key in the box": "! negation",
    "not all the things, put the plum in the box": "! negation",
    "don't move, put the plum in the box": "! negation",
    "don't forget the key, put the plum in the box": "! negation",
    "don't touch the unicorn, put the plum in the box": "! negation",
    "don't touch the key": "! negation",
    "don't touch the key. where is the phone?": "?",
    "leave the dish in the basket and put everything else in the box": "! missing",
    "put the key in the box, please, not": "! negation",
    "put the phone in the basket and don't forget the key": "! negation",  # into the basket as well?
    "keep the key here and put it in the box": "! ambiguous",
    "keep the key here and put the key in the box": "! negation",
    "don't forget to keep the key here": "! negation",
}
DONE_ZH = {
    "别动钥匙，把手机放进篮子": "手机>篮子",
    "不要碰钥匙。请把手机放进篮子": "手机>篮子",
    "钥匙别动，把手机放进篮子": "手机>篮子",
    "别把钥匙拿走，把手机放进篮子": "手机>篮子",
    "别动钥匙，但把手机放进篮子": "手机>篮子",
    "别动钥匙，拿起手机": "手机",
    "别碰钥匙，把其他的放进篮子": others("钥匙", "篮子", CHINESE[0]),
    "钥匙和手机别动，其他的放进篮子": others("钥匙 手机", "篮子", CHINESE[0]),
    "别动钥匙，别动手机，把其他的放进篮子": others("钥匙 手机", "篮子", CHINESE[0]),
    "李子别放盒子里，放篮子里": "李子>篮子",
    "别把李子放进盒子，放进篮子": "李子>篮子",
    "别把李子放盒子里，把它放篮子里": "李子>篮子",
    "李子放篮子里，别放盒子里": "李子>篮子",
    "李子放进篮子，不要把李子放进盒子": "李子>篮子",
    "别把李子放盒子里，把其他的都放进盒子": others("李子", "盒子", CHINESE[0]),
    "不要李子，把钥匙放进篮子": "钥匙>篮子",
    "把水杯留在桌上，把其他的都放进盒子": others("水杯", "盒子", CHINESE[0]),
    "把其他的放进盒子，水杯留在桌上": others("水杯", "盒子", CHINESE[0]),
    "别忘了把钥匙放进盒子": "钥匙>盒子",
    "千万不要忘记把钥匙放进盒子": "钥匙>盒子",
    "把手机放进篮子，也别忘了把钥匙放进盒子": "手机>篮子 钥匙>盒子",
    "记得把钥匙放进盒子": "钥匙>盒子",
    "别忘了拿起钥匙": "钥匙",
    "钥匙留在这里，把手机放进篮子": "手机>篮子",
    "把其他的放进盒子，水杯留在原处": others("水杯", "盒子", CHINESE[0]),
    "不要钥匙，要手机": "手机",
    "我不要钥匙，要手机": "手机",
    "要手机，不要钥匙": "手机",
    "不要钥匙，要手机放进篮子": "手机>篮子",
    "不要钥匙。要手机": "手机",
}
ASKED_ZH = {
    "别动钥匙，把它放进篮子": "! ambiguous",
    "别动钥匙，把钥匙放进篮子": "! negation",
    "别动盒子，把手机放进盒子": "! negation",
    "别动桌上的盒子，把手机放进盒子": "! negation",
    "别动钥匙，然后把手机放进篮子": "! negation",
    "别只动钥匙，把手机放进篮子": "! negation",
    "别动所有的东西，把手机放进篮子": "! negation",
    "别忘了钥匙，把手机放进篮子": "! negation",
    "没把李子放进盒子，把李子放进篮子": "! negation",
    "不能不动钥匙，把手机放进篮子": "! negation",
    "不是李子，是钥匙放进篮子": "! negation",
    "别把李子放进篮子，放进篮子": "! negation",
    "别把李子放进盒子，拿起李子，放进盒子": "! negation",
    "把李子放进篮子，不要放进篮子": "! negation",
    "别把李子放盒子里，把所有东西放进篮子": "! ambiguous",
    "把水杯留在盒子里，把其他的都放进篮子": "! missing",
    "别动。把手机放进篮子": "! negation",
    "不要钥匙，手机": "! negation",  # not that one either?
    "不要钥匙，要钥匙": "! negation",
    "别忘了别动钥匙": "! negation",
    "把手机放进篮子，别忘了钥匙": "! negation",
    "我记得把钥匙放进盒子": "! report",
    "别动钥匙": "! negation",
}


@pytest.mark.parametrize(("text", "end"), [*DONE_EN.items(), *ASKED_EN.items()])
def test_an_english_prohibition_and_an_order(told, text, end):
    assert told(text, *ENGLISH) == end


@pytest.mark.parametrize(("text", "end"), [*DONE_ZH.items(), *ASKED_ZH.items()])
def test_a_chinese_prohibition_and_an_order(told, text, end):
    assert told(text, *CHINESE) == end


@pytest.mark.parametrize(
    "text",
    [
        "don't touch the cup, put the spoon on the red cup and put the red cup in the box",
        "not the other box, put the spoon in the red box",
    ],
)
def test_nothing_is_put_where_what_is_forbidden_may_mean(told, text):
    assert told(text, ("cup", "spoon", "red cup"), ("red box", "box")) == "! negation"


@pytest.mark.parametrize(
    "text", ["don't touch the key, put it in the basket", "leave the key and put it in the basket"]
)
def test_it_is_not_what_happens_to_be_in_the_hand(told, text):
    assert told(text, *ENGLISH, held="phone") == "! ambiguous"


EN_BOXES = ("pen", "key", "cup"), ("red box", "blue box", "tray")
ZH_BOXES = ("钢笔", "杯子"), ("红盒子", "蓝盒子")
EN_TWO = ("cup", "spoon"), ("red box", "blue box")
ONE_ELSE = ("banana", "plum"), ("crate", "lunch box")
ZH_ONE_ELSE = ("香蕉", "李子"), ("饭盒", "篮子")


def ends(text: str, things: tuple[str, ...], boxes: tuple[str, ...], *inside: str) -> str:
    """ "pen>tray" for each thing of a goal; "table>box" for a table that is cleared into boxes; "?" where it is asked.
    The first thing lies in the first of `inside`, and so on."""
    scene = named_scene(things, boxes)
    within = {f"a{n}": f"b{boxes.index(box)}" for n, box in enumerate(inside)}
    kept = (r for r in scene.relations if r.subject not in within)
    scene = replace(scene, relations=(*kept, *(Relation(id, "in", box) for id, box in within.items())))
    found = interpret(text, scene)
    if not isinstance(found, CommandIntent):
        return "?"
    names = {thing.id: thing.name for thing in (*scene.objects, *scene.furniture)}
    about = [(goal.surface if isinstance(goal, ClearedGoal) else subject(goal), goal) for goal in found.goals]
    return " ".join(f"{names[id]}>{'+'.join(names[to] for to in sorted(destinations(goal)))}" for id, goal in about)


@pytest.mark.parametrize(
    ("text", "things", "end"),
    [
        ("tidy up, but leave the red box alone", EN_TWO, "cup>blue box spoon>blue box table>blue box"),
        ("don't touch the red box, tidy up", EN_TWO, "cup>blue box spoon>blue box table>blue box"),
        ("tidy up without using the red box", EN_TWO, "cup>blue box spoon>blue box table>blue box"),
        ("tidy up everything except the red box", EN_TWO, "cup>blue box spoon>blue box"),
        ("put the cup away, but leave the red box alone", EN_TWO, "cup>blue box"),
        ("put the cup in any box, but leave the red box alone", EN_TWO, "cup>blue box"),
        ("put the cup in the red box, but leave the red box alone", EN_TWO, "?"),
        ("tidy up, but leave the basket alone", (EN_TWO[0], ("basket",)), "?"),
        ("put the cup away, but leave the basket alone", (EN_TWO[0], ("basket",)), "?"),
        ("sort everything, but leave the basket alone", (EN_TWO[0], ("basket",)), "?"),
        (
            "don't touch the red box, sort the things by kind",
            (("pen", "cup"), EN_BOXES[1]),
            "pen>blue box cup>tray",
        ),
        ("把杯子收起来，别碰红盒子", ZH_BOXES, "杯子>蓝盒子"),
        ("收拾桌子，别碰红盒子", (("杯子",), ZH_BOXES[1]), "杯子>蓝盒子 table>蓝盒子"),
        ("把所有东西收起来，除了红盒子", (("杯子",), ZH_BOXES[1]), "杯子>蓝盒子"),
        ("put the banana in any box except the lunch box", ONE_ELSE, "?"),
        ("put the banana in a box other than the lunch box", ONE_ELSE, "?"),
        ("put the banana in one of the boxes other than the lunch box", ONE_ELSE, "?"),
        ("put the banana in the box except the lunch box", ONE_ELSE, "?"),
        ("put all fruit in any box but the lunch box", ONE_ELSE, "?"),
        ("put the banana in any container except the crate and the lunch box", ONE_ELSE, "?"),
        ("put the banana in any container except the lunch box", ONE_ELSE, "banana>crate"),
        ("put everything except the crate in the crate", ONE_ELSE, "banana>crate plum>crate"),
        ("把香蕉放进一个盒子，但不是饭盒", ZH_ONE_ELSE, "?"),
        ("随便把香蕉放进一个盒子，不要饭盒", ZH_ONE_ELSE, "?"),
        ("把香蕉放进任意一个盒子，饭盒除外", ZH_ONE_ELSE, "?"),
        ("把香蕉放进任意一个容器，除了饭盒", ZH_ONE_ELSE, "香蕉>篮子"),
    ],
)
def test_nothing_is_put_into_what_is_left_alone_or_left_out(text, things, end):
    assert ends(text, *things) == end


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("take everything out of every box except the red box", "key>table"),
        ("take everything out of the boxes, but leave the red box alone", "key>table"),
        ("take all things out of all boxes but not out of the red box", "key>table"),
        ("remove everything from every container but the red box", "key>table"),
        ("don't touch the red box, take everything out of every box", "key>table"),
        ("put everything from the boxes except the red box in the tray", "key>tray"),
        ("empty every box except the red box", "key>table"),
        ("don't touch the red box, put everything in the tray", "key>tray cup>tray"),
        ("leave the red box as it is and put everything in the tray", "key>tray cup>tray"),
        ("don't touch the red box, put everything else in the tray", "key>tray cup>tray"),
        ("don't touch the red box. Put the rest in the tray", "key>tray cup>tray"),
        ("put everything in the tray without touching the red box", "key>tray cup>tray"),
        ("put everything except the red box in the tray", "?"),
        ("stack everything except the red box", "?"),
        ("put the cup on the pen, but leave the red box alone", "?"),
        ("take the pen and the key out of the boxes except the red box", "?"),
        ("don't touch the red box, put the pen in the tray", "?"),
        ("leave the red box on the table and put the pen in the tray", "pen>tray"),
    ],
)
def test_what_lies_in_a_box_that_is_left_alone_stays_there(text, end):
    assert ends(text, *EN_BOXES, "red box", "blue box") == end


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("别动红盒子，把所有东西放进蓝盒子", "杯子>蓝盒子"),
        ("不要动红盒子，其他的都放进蓝盒子", "杯子>蓝盒子"),
        ("把除了红盒子以外的东西都放进蓝盒子", "?"),
    ],
)
def test_what_lies_in_a_box_that_is_left_alone_stays_there_in_chinese(text, end):
    assert ends(text, *ZH_BOXES, "红盒子") == end


def test_the_reply_says_what_stays_in_a_box():
    scene = named_scene(*EN_BOXES)
    within = replace(scene, relations=(*scene.relations[1:], Relation("a0", "in", "b0")))
    found = interpret("don't touch the red box, put everything in the tray", within)
    assert isinstance(found, CommandIntent) and found.note == "left where it is: pen (a0)"


@pytest.mark.parametrize("said", ["whatever is left of", "what is left of", "what's left of"])
def test_what_remains_of_a_thing_is_not_what_lies_to_its_left(said):
    assert ends(f"put {said} the banana in the crate", *ONE_ELSE) == "?"
    assert ends("put whatever is to the left of the banana in the crate", *ONE_ELSE) == "plum>crate"


def test_a_question_about_a_side_is_answered_with_that_side():
    found = interpret("is anything left of the plum?", named_scene(*ONE_ELSE))
    assert isinstance(found, QuestionIntent)
    assert found.answer == "no, nothing is left of the plum; how much of a thing remains, the scene does not tell"


EXCEPTED_EN = ("the things on the dish", "things on the dish", "what is on the dish", "those on the dish",
               "anything on the dish", "everything on the dish", "all the things on the dish",
               "the objects on the dish")  # fmt: skip


@pytest.mark.parametrize("said", EXCEPTED_EN)
@pytest.mark.parametrize("form", ["put everything in the box except {}", "put everything except {} in the box",
                                  "except for {}, put everything in the box",
                                  "put everything in the box apart from the phone and {}"])  # fmt: skip
def test_what_lies_on_a_thing_is_left_out_by_where_it_is(form, said):
    scene = lying(named_scene(*ENGLISH), {"key": "dish", "cup": "dish"})
    names = {thing.id: thing.name for thing in scene.objects}
    found = interpret(form.format(said), scene)
    assert isinstance(found, CommandIntent), found
    moved = {names[str(subject(goal))] for goal in found.goals}
    assert moved and moved.isdisjoint({"key", "cup"}), moved
    assert moved == {"phone", "plum", "dish"} - ({"phone"} if "phone" in form else set())


@pytest.mark.parametrize("text", ["把所有东西放进盒子，除了花瓶上的", "把所有东西放进盒子，花瓶上的除外",
                                  "除了花瓶上的，把所有东西放进盒子", "把所有东西放进盒子，花瓶上的别动",
                                  "把所有东西放进盒子，除了花瓶上的东西"])  # fmt: skip
def test_what_lies_on_a_thing_is_left_out_in_chinese(text):
    scene = lying(named_scene(*CHINESE), {"钥匙": "花瓶", "水杯": "花瓶"})
    names = {thing.id: thing.name for thing in scene.objects}
    found = interpret(text, scene)
    assert isinstance(found, CommandIntent), found
    assert {names[str(subject(goal))] for goal in found.goals} == {"手机", "李子", "花瓶"}


@pytest.mark.parametrize("text", ["put everything in the box except the things on the plum",  # nothing is there
                                  "put everything in the box except the thing on the dish",  # of two
                                  "put everything in the box except the key on the dish"])  # fmt: skip
def test_an_exception_that_is_not_clear_moves_nothing(text):
    scene = lying(named_scene(*ENGLISH), {"key": "dish", "cup": "dish"})
    assert not isinstance(interpret(text, scene), CommandIntent)


def lying(scene: Scene, on: dict[str, str]) -> Scene:
    ids = {thing.name: thing.id for thing in scene.objects}
    moved = {ids[one]: ids[other] for one, other in on.items()}
    rest = tuple(edge for edge in scene.relations if edge.subject not in moved)
    return replace(scene, relations=(*rest, *(Relation(one, "on", other) for one, other in moved.items())))
