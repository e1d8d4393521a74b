"""A word that a name says of another noun in it is not said of the thing: wooden of "box with wooden blocks"."""

from __future__ import annotations

import pytest

from worldfs.base.model import Thing
from worldfs.planning.planner import QuestionIntent, RefusedIntent, interpret

from .test_names import moved, things

BLOCKS = ("box with wooden blocks", "pen")
PEPPERS = ("tin of hot peppers", "pen")
CORN = ("tin of sweet corn", "pen")
COCOA = ("hot chocolate tin", "pen")


def moves(named, phrase):
    chinese = not phrase.isascii()
    return moved(f"把{phrase}放进篮子" if chinese else f"put {phrase} in the basket", things(*named))


@pytest.mark.parametrize(
    ("named", "phrase", "wanted"),
    [
        (BLOCKS, "the wooden box", "?"),
        (BLOCKS, "all wooden boxes", "?"),
        (BLOCKS, "everything except the wooden box", "?"),
        ((*BLOCKS, "wooden box"), "the wooden box", "a2"),
        (("wooden box with wooden blocks", "pen"), "the wooden box", "a0"),
        (BLOCKS, "the blocks box", "a0"),
        (BLOCKS, "the block box", "a0"),
        (BLOCKS, "the wooden block box", "a0"),
        (BLOCKS, "the box with the blocks", "a0"),
        ((*BLOCKS, "blocks"), "the box with the blocks", "-"),  # or the box, and the blocks
        (PEPPERS, "the hot tin", "?"),
        (PEPPERS, "the hot pepper tin", "a0"),
        (("brush for small parts", "pen"), "the small brush", "?"),
        (("photo of a black dog", "pen"), "the black photo", "?"),
        (("jar with spare screws", "pen"), "the spare jar", "?"),
        (("soap for dirty hands", "pen"), "the dirty soap", "?"),
        (("mug with a steel handle", "pen"), "the steel mug", "?"),
        (("salt shaker with lid and wooden base", "pen"), "the wooden shaker", "?"),
        (("pot of salt and black pepper", "pen"), "the salt pot", "a0"),
        (("pot of salt and black pepper", "pen"), "the black pot", "?"),
        (CORN, "the sweet tin", "?"),
        (CORN, "the corn tin", "a0"),
        (CORN, "the sweet corn tin", "a0"),
        (CORN, "the tin of corn", "a0"),
        ((*CORN, "tin of baby corn"), "the tin of corn", "?"),
        ((*CORN, "tin of corn"), "the tin of corn", "a2"),
        (("box of marbles", "pen"), "the marble box", "a0"),
        (("bowl of fresh berries", "pen"), "the bowl of berries", "a0"),
        # before the head
        (COCOA, "the hot tin", "?"),
        (COCOA, "the chocolate tin", "a0"),
        ((*COCOA, "cold chocolate tin"), "the hot tin", "a0"),
        (("broken glass sign", "pen"), "the broken sign", "?"),
        (("dirty laundry sack", "pen"), "the dirty sack", "?"),
        (("paper clip dish", "pen"), "the paper dish", "?"),
        (("red toy car", "pen"), "the red car", "a0"),
        (("big wooden spoon", "pen"), "the big spoon", "a0"),
        (("big wooden bowl", "pen"), "the big bowl", "a0"),
        (("large coffee mug", "pen"), "the large mug", "a0"),
        (("steel can opener", "pen"), "the steel opener", "a0"),
    ],
)
def test_a_word_said_of_another_noun_of_the_name(named, phrase, wanted):
    assert moves(named, phrase) == wanted


INNER = (  # a name whose first word is said of the next, and another name of that head
    "green tea cup, coffee cup", "green bean can, coffee can", "right angle ruler, steel ruler",
    "left luggage tag, paper tag", "tall tale book, cook book", "red wine glass, water glass",
    "black tea tin, sugar tin",
    "red pepper jar, salt jar", "brown rice bag, flour bag", "orange juice carton, milk carton",
    "silver polish can, oil can", "gold fish bowl, salad bowl", "left wing magazine, car magazine",
    "top secret file, tax file", "back pain cream, face cream", "front page print, photo print",
    "short story book, cook book", "big band poster, film poster", "white board eraser, pencil eraser",
    "long jump medal, chess medal", "old age book, cook book", "red ring box, tool box",
)  # fmt: skip
OWN = (  # names whose first word is said of the thing
    "small red cup", "blue plastic cup", "big wooden bowl", "blue running shoe", "left running shoe", "red sports car",
    "red lunch box", "black desk lamp", "blue 500 ml bottle", "red steel ring", "left work glove", "large coffee mug",
)  # fmt: skip
ORDERS = (
    "put the {} in the basket", "put everything but the {} in the basket", "put all {more} in the basket",
    "don't touch the {}, put everything else in the basket", "put a {} in the basket", "where is the {}?",
    "is there a {}?", "how many {more} are there?",
)  # fmt: skip


def _orders(name):
    one = f"{name.split()[0]} {name.split()[-1]}"
    return [order.format(one, more=f"{one}{'es' if one[-1] in 'sx' else 's'}") for order in ORDERS]


@pytest.mark.parametrize("names", INNER)
@pytest.mark.parametrize("alone", [True, False])
def test_a_word_that_stands_before_another_noun_is_asked_about(names, alone):
    named, other = names.split(", ")
    scene = things(named, "pen", *(() if alone else (other,)))
    for order in _orders(named):
        found = interpret(order, scene)
        assert isinstance(found, RefusedIntent) and "a0" in found.candidates, (order, named, found)
    assert moved(f"put the {named} in the basket", scene) == "a0"


@pytest.mark.parametrize("named", OWN)
def test_a_word_that_stands_before_the_head_a_material_or_a_use_is_the_things_own(named):
    put, leave, _, protect, *_ = _orders(named)
    for order, wanted in ((put, "a0"), (leave, "a1"), (protect, "a1")):
        assert moved(order, things(named, "pen")) == wanted, order


@pytest.mark.parametrize(("colour", "wanted"), [("green", "a0"), ("red", "?"), ("", "?")])
def test_a_stated_colour_says_so_where_the_name_does_not(colour, wanted):
    cup = Thing("a0", "green tea cup", "", (0.3, -0.3, 0.02), size=(0.03,) * 3, shape="box", color=colour)
    assert moved("put the green cup in the basket", things(cup, "pen")) == wanted


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("box with wooden blocks", "is there a wooden box?"),
        ("tin of hot peppers", "where is the hot tin?"),
        ("tin of hot peppers", "how many hot tins are there?"),
        ("bag of plastic forks", "is there a plastic bag?"),
        ("brush for small parts", "is there a small brush?"),
        ("photo of a black dog", "is there a black photo?"),
        ("hot chocolate tin", "is there a hot tin?"),
        ("铁观音罐", "有铁罐吗？"),
        ("装木块的盒子", "有几个木盒子？"),
    ],
)
def test_no_answer_takes_it_for_one_of_the_thing(name, text):
    found = interpret(text, things(name, "pen"))
    assert isinstance(found, RefusedIntent) and found.candidates == ("a0",), found


@pytest.mark.parametrize(
    ("name", "phrase", "wanted"),
    [
        ("铁观音罐", "铁罐", "?"), ("纸巾盒", "纸盒", "?"), ("木瓜刀", "木刀", "?"), ("皮蛋盒", "皮盒", "?"),
        ("布丁勺", "布勺", "?"), ("棉花糖袋", "棉袋", "?"), ("铜锣烧袋", "铜袋", "?"), ("银耳罐", "银罐", "?"),
        ("装木块的盒子", "木盒子", "?"), ("放铁钉的盘子", "铁盘子", "?"), ("装玻璃球的盒子", "玻璃盒子", "?"),
        ("木勺", "木勺子", "a0"), ("木头勺子", "木勺", "a0"), ("红色木盒", "木盒子", "a0"), ("大布袋", "布袋", "a0"),
        ("不锈钢勺", "钢勺", "a0"), ("不锈钢勺", "不锈钢的勺子", "a0"), ("饼干铁盒", "铁盒", "a0"),
        ("装铁钉的木盒", "木盒", "a0"), ("香水瓶", "水瓶子", "?"),
    ],
)  # fmt: skip
def test_a_material_is_said_of_a_thing_where_it_is_a_word_before_the_head(name, phrase, wanted):
    assert moves((name, "铅笔"), phrase) == wanted


def test_a_material_is_told_from_a_half_of_a_word_by_another_name():
    assert moves(("旧台灯", "木台灯", "铅笔"), "旧灯") == "a0"
    assert moves(("木瓜刀", "西瓜刀", "铅笔"), "木刀") == "?"


def test_gloves_of_either_hand_are_gloves():
    gloves = ("左手手套", "右手手套", "铅笔")
    assert moves(gloves, "手套都") == moves(gloves, "两只手套") == "a0 a1"
    found = interpret("有几只手套？", things(*gloves))
    assert isinstance(found, QuestionIntent) and found.answer.startswith("2")


@pytest.mark.parametrize(
    ("named", "text", "wanted"),
    [
        (("10 mm socket", "13 mm socket", "pen"), "put the sockets in the basket, but not the 13 mm one", "a0"),
        (("10 mm socket", "13 mm socket", "pen"), "put the 13 mm one in the basket", "a1"),
        (("milk carton", "pen"), "the milk carton can go in the basket", "a0"),
    ],
)
def test_what_was_needlessly_refused(named, text, wanted):
    assert moved(text, things(*named)) == wanted
