"""A side that things have in their names does not choose among them: 前面的轮子, of a 前轮 that lies behind a 后轮."""

from __future__ import annotations

import itertools

import pytest

from worldfs.planning.planner import CommandIntent, QuestionIntent, interpret

from .test_names import moved, things

PAIRS_ZH = [
    (one + head, two + head, head)
    for one, two in ("前后", "左右", "上下", "里外", "内外", "顶底", ("前排", "后排"), ("上层", "下层"))
    for head in ("轮", "灯", "盖", "座椅", "挡板", "杯子")
]
SAID_ZH = [side + way + de for side, way, de in itertools.product("左右前后", ("面", "边", "方"), ("", "的"))]
MORE_ZH = [
    "上面的",
    "下面的",
    "里面的",
    "外面的",
    "顶上的",
    "中间的",
    "在前面的",
    "在后面的",
    "前面那个",
    "后边那个",
    "左侧的",
    "右手边的",
]
ORDERS_ZH = ("把{}放进篮子", "别碰{}，把其他的放进篮子", "把除了{}以外的都放进篮子", "{}在哪？")
PAIRS_EN = [
    ("left", "right"), ("front", "rear"), ("front", "back"), ("top", "bottom"), ("upper", "lower"), ("inner", "outer"),
    ("near", "far"), ("inside", "outside"), ("front", "middle"),
]  # fmt: skip
SIDES_EN = ["left", "right", "front", "back", "top", "bottom", "upper", "lower", "middle"]
SAID_EN = [f"the {side} wheel" for side in SIDES_EN] + [
    f"the wheel {where}"
    for where in ("on the left", "on the right", "in front", "at the front", "at the back", "on top", "at the bottom",
                  "in the middle", "on your left", "on the far left", "on the left-hand side")
]  # fmt: skip
ORDERS_EN = ("put {} in the basket", "put everything but {} in the basket", "where is {}?",
             "don't touch {}, put everything else in the basket")  # fmt: skip


def decides(text, scene):
    found = interpret(text, scene)
    return isinstance(found, CommandIntent) or (isinstance(found, QuestionIntent) and found.answered)


@pytest.mark.slice(4)
@pytest.mark.parametrize(("one", "two", "head"), PAIRS_ZH)
def test_no_chinese_side_chooses_among_things_that_are_named_by_one(one, two, head):
    scene = things(one, two, "苹果")
    done = [
        text for side in SAID_ZH + MORE_ZH for order in ORDERS_ZH if decides(text := order.format(side + head), scene)
    ]
    assert not done


@pytest.mark.parametrize(("one", "two"), PAIRS_EN)
def test_no_english_side_chooses_among_things_that_are_named_by_one(one, two):
    scene = things(f"{one} wheel", f"{two} wheel", "apple")
    said = [phrase for phrase in SAID_EN if phrase not in (f"the {one} wheel", f"the {two} wheel")]
    assert not [text for phrase in said for order in ORDERS_EN if decides(text := order.format(phrase), scene)]


@pytest.mark.parametrize("name", ["前轮", "后轮", "红色前灯", "自行车前轮"])
def test_one_such_thing_is_asked_about_too(name):
    assert moved("把前面的" + name[-1] + "子放进篮子", things(name, "苹果")) in "?-"
    assert moved(f"把{name}放进篮子", things(name, "苹果")) == "a0"


def test_other_things_are_still_chosen_by_where_they_lie():
    assert moved("把左边的杯子放进篮子", things("杯子", "杯子", "前轮")) == "a1"
    assert moved("把前面的外套放进篮子", things("外套", "外套", "前轮")) == "a0"
