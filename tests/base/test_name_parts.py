"""The head of a name says what a thing is; the words beside it never do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.model import Thing
from worldfs.base.name_parts import fits_label, is_called, name_parts
from worldfs.base.word_forms import fold, pieces, plurals


@pytest.mark.parametrize(
    ("name", "head", "beside"),
    [
        ("can opener", "opener", {"can"}),
        ("Left Shoe", "shoe", {"left"}),
        ("cup of tea", "cup", {"of", "tea"}),
        ("jar with lid", "jar", {"with", "lid"}),
        ("mug (blue)", "mug", {"blue"}),
        ("shoe, left", "shoe", {"left"}),
        ("shoe left", "shoe", {"left"}),
        ("Cube 09", "cube", set()),
        ("box B", "box", set()),
        ("T-shirt", "shirt", {"t"}),
        ("salt and pepper shaker", "shaker", {"salt", "and", "pepper"}),
        ("battery AA", "battery", {"aa"}),
        ("bottle 500 ml", "bottle", set()),
        ("mug two", "mug", set()),
        ("Part IV", "part", {"iv"}),
        ("book about cats", "book", {"cats"}),
        ("cup made of tin", "cup", {"tin"}),
        ("bag full of screws", "bag", {"screws"}),
        ("parcel marked heavy", "parcel", {"heavy"}),
        ("card per person", "card", {"person"}),
        ("jar w/ lid", "jar", {"lid"}),
        ("book called Dune", "book", {"dune"}),
        ("letter written by Anna", "letter", {"anna"}),
        ("miles per hour sign", "sign", {"miles"}),
        ("all-in-one tool", "tool", {"one"}),
        ("mother-in-law doll", "doll", {"law"}),
        ("not for sale tag", "tag", {"sale"}),
        ("old TV", "tv", {"old"}),
        ("TUNA CAN", "can", {"tuna"}),
    ],
)
def test_the_head_of_an_english_name(name, head, beside):
    parts = name_parts(name)
    assert parts.head == head and beside <= parts.beside and head not in parts.beside


@pytest.mark.parametrize("name", ["salt and pepper", "mug blue", "jack in the box", "x" * 300, "a " * 20, "", "!?"])
def test_where_the_head_is_in_doubt_there_is_none(name):
    assert name_parts(name).head == ""


@pytest.mark.parametrize(
    ("name", "tail"),
    [("手套XL", "手套"), ("牛奶500ml", "牛奶"), ("电池5号", "电池"), ("书上册", "书"), ("苹果一号", "苹果")],
)
def test_a_size_or_a_number_ends_no_chinese_name(name, tail):
    assert name_parts(name).tail == tail


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("cup red", "cup"),
        ("iPhone SE", "iphone"),
        ("key to the shed", "key"),
        ("盒子甲", "盒子"),
        ("mug dark blue", "mug"),
        ("box painted red", "box"),
        ("盒子深蓝", "盒子"),
    ],
)
def test_where_the_end_may_only_tell_which_the_head_before_it_is_kept(name, first):
    parts = name_parts(name)
    assert parts.first is not None and first in (parts.first.head, parts.first.tail) and first in parts.doubtful


def test_a_number_at_the_end_is_no_head():
    assert (
        name_parts("Cube 09").number == "9" and name_parts("方块3").number == "3" and name_parts("方块3").tail == "方块"
    )


@pytest.mark.parametrize(
    ("name", "words", "so"),
    [
        ("can opener", ("can",), False),
        ("can opener", ("opener",), True),
        ("kitchen sponge", ("sponge",), True),
        ("sponge holder", ("sponge",), False),
        ("sponges", ("sponge",), False),
        ("茶杯", ("杯子",), True),
        ("杯垫", ("杯子",), False),
        ("红球", ("球",), True),
        ("气球", ("球",), False),
        ("冰箱", ("箱子",), False),
        ("樱桃", ("桃",), False),
    ],
)
def test_a_thing_is_what_its_head_says(name, words, so):
    assert is_called(Thing("x", name), words) is so


def test_a_category_says_what_a_thing_is_unless_its_name_has_the_word_beside_the_head():
    assert is_called(Thing("x", "Gala", "apple"), ("apple",))
    assert not is_called(Thing("x", "can opener", "can"), ("can",))
    assert is_called(Thing("can_opener_1"), ("opener",)) and not is_called(Thing("can_opener_1"), ("can",))


@pytest.mark.parametrize(
    ("label", "so"),
    [
        ("the red mug", True),
        ("coffee mug", True),
        ("mug", True),
        ("coffee", False),
        ("red", False),
        ("blue mug", False),
    ],
)
def test_a_label_fits_by_its_head_and_by_what_is_said_of_the_thing(label, so):
    assert fits_label(label, Thing("x", "Coffee Mug", color="red")) is so


def test_a_label_does_not_say_of_a_thing_what_its_name_says_of_another_noun():
    box = Thing("x", "box with wooden blocks")
    assert not fits_label("wooden box", box) and fits_label("wooden blocks box", box) and fits_label("blocks box", box)
    assert fits_label("wooden box", Thing("x", "wooden box with wooden blocks"))


def test_one_spelling_of_each_word():
    assert fold("ＣＡＦÉ 紅蘋果") == "cafe 红苹果" and pieces("left-hand_Glove 007") == ("left", "hand", "glove", "7")
    assert plurals("glass") == {"glasses"} and plurals("key") == {"keys"} and "knives" in plurals("knife")
    assert plurals("berry") == {"berries"} and "feet" in plurals("foot") and plurals("苹果") == frozenset()


ONLY_WORDS = (
    "red one", "red", "big", "empty", "left", "new AA", "blue 10", "size M", "half-full", "sugar-free", "XL", "12号",
    "108号", "250毫升", "1米", "红色", "大", "新的", "《红楼梦》", "2", "A", "with", "of", "non-",
    "号", "不锈", "one",
)  # fmt: skip


@given(st.lists(st.sampled_from(ONLY_WORDS), min_size=1, max_size=4), st.sampled_from([" ", "", "-", ", "]))
def test_a_name_of_any_words_has_parts(words, between):
    name = between.join(words)
    found = name_parts(name)
    assert found.full == pieces(name)
    assert is_called(Thing("x", name), ("box",)) is False
