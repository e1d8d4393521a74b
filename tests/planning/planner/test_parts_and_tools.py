"""What a sentence says of a number, a part, a tool or an exception is heeded or asked about, and never dropped."""

from __future__ import annotations

import pytest

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, interpret
from worldfs.planning.planner.goals import HoldingGoal, InGoal, OnGoal

TABLE = Thing("t9", "table", "furniture", (0.45, 0.0, 0.0), size=(0.95, 1.3, 0.75), shape="table")
PLACES = tuple(
    Thing(id, name, "container", (0.4, y, 0.045), size=(0.3, 0.36, 0.09), shape="basket")
    for id, name, y in (("basket", "篮子", -0.5), ("tray", "托盘", 0.5))
)


def scene(*named: str) -> Scene:
    """A table with things of these names, or "name/colour", `a0`, `a1` …, and a basket and a tray."""
    told = [(*one.split("/"), "")[:2] for one in named]
    objects = tuple(
        Thing(f"a{n}", name, "thing", (0.3, -0.3 + 0.1 * n, 0.015), size=(0.03,) * 3, shape="box", mass=0.1, color=hue)
        for n, (name, hue) in enumerate(told)
    )
    on = tuple(Relation(thing.id, "on", "t9") for thing in (*objects, *PLACES))
    robot = RobotState("r1", (0.0, 0.0, 0.0), {}, "open", None)
    return Scene((robot,), objects, (TABLE, *PLACES), on)


def moved(text: str, *named: str) -> str:
    """What is moved, in order; "" where that is asked about or refused."""
    intent = interpret(text, scene(*named))
    if isinstance(intent, RefusedIntent):
        return ""
    assert isinstance(intent, CommandIntent), intent
    assert all(isinstance(goal, (InGoal, OnGoal, HoldingGoal)) for goal in intent.goals)
    goals = intent.goals
    return " ".join(sorted(goal.object for goal in goals if isinstance(goal, (InGoal, OnGoal, HoldingGoal))))


FILES = ("3号文件", "13号文件", "30号文件")
KEYS = ("红色钥匙", "蓝色钥匙", "绿色钥匙")
ORDINALS = [
    (FILES, "把三号文件放进篮子", "a0"),
    (FILES, "把十三号文件放进篮子", "a1"),
    (FILES, "把三十号文件放进篮子", "a2"),
    (FILES, "除三号文件外都放进篮子", "a1 a2"),
    (FILES, "把三份文件放进篮子", "a0 a1 a2"),
    (("1号钥匙", "2号钥匙"), "把两号钥匙放进篮子", ""),
    (("1号钥匙", "2号钥匙"), "把两把钥匙放进篮子", "a0 a1"),
    (("一层门卡", "二层门卡"), "把两层门卡放进篮子", ""),
    (("一层门卡", "二层门卡"), "把二层门卡放进篮子", "a1"),
    (("1路公交卡", "2路公交卡"), "把两路公交卡放进篮子", ""),
    *((KEYS, f"把三{sign}钥匙放进篮子", "") for sign in "号层路楼栋岁寸码位级种室"),
    (KEYS, "把三把钥匙放进篮子", "a0 a1 a2"),
]


@pytest.mark.parametrize(("named", "text", "ids"), ORDINALS)
def test_a_number_that_tells_which_counts_nothing(named, text, ids):
    assert moved(text, *named) == ids


FOOD = ("梨", "苹果", "面包", "鱼")
WHOLE = ("肥皂", "大米", "药片", "电池", "方块", "葡萄", "牛奶")
PORTIONS = [
    *((FOOD, f"把{part}放进篮子", "") for part in (
        "一片梨", "一块梨", "一袋苹果", "一箱苹果", "一盘苹果", "一串苹果", "一堆苹果", "一盒苹果", "一碗鱼", "一段鱼",
        "一片面包", "那片面包", "这袋苹果", "两片梨", "一份苹果",
    )),
    (FOOD, "拿一片梨", ""),
    (FOOD, "除了一片梨都放进篮子", ""),
    (FOOD, "把一个梨放进篮子", "a0"),
    (FOOD, "把一条鱼放进篮子", "a3"),
    *((WHOLE, f"把{one}放进篮子", f"a{n}") for n, one in enumerate(
        ("一块肥皂", "一袋大米", "一片药片", "一节电池", "一块方块", "一串葡萄", "一瓶牛奶")
    )),
    (WHOLE, "把一杯牛奶放进篮子", ""),
    (("一袋糖", "梨"), "把一袋糖放进篮子", "a0"),
    (("bag of rice", "bread", "honey", "toy"), "put some rice in the 篮子", ""),
    (("bag of rice", "bread", "honey", "toy"), "put some of the bread in the 篮子", ""),
    (("bag of rice", "bread", "honey", "toy"), "put some honey in the 篮子", ""),
    (("bag of rice", "bread", "honey", "toy"), "put the bag of rice in the 篮子", "a0"),
]  # fmt: skip


@pytest.mark.parametrize(("named", "text", "ids"), PORTIONS)
def test_a_part_is_not_the_whole(named, text, ids):
    assert moved(text, *named) == ids


def test_a_question_about_parts_counts_no_wholes():
    for text in ("有两片梨吗？", "篮子里有一袋苹果吗？"):
        found = interpret(text, scene("梨", "梨", "苹果"))
        assert isinstance(found, RefusedIntent) or (isinstance(found, QuestionIntent) and not found.answered), text
    found = interpret("有两个梨吗？", scene("梨", "梨", "苹果"))
    assert isinstance(found, QuestionIntent) and found.answered
    found = interpret("is there some bread on the table?", scene("bread"))
    assert isinstance(found, QuestionIntent) and found.answered


TOOLS = [
    (("钳子", "瓶子"), "用钳子把瓶子放进篮子"),
    (("钳子", "瓶子"), "用钳子拿瓶子"),
    (("钳子", "瓶子"), "用托盘把瓶子送到篮子"),
    (("左手写字板", "钳子"), "用左手把钳子放进篮子"),
    (("左手写字板", "钳子"), "用左手把写字板放进篮子"),
    (("胶水瓶子", "钳子"), "用胶水把瓶子放到托盘上"),
    (("慢炖锅", "小心地滑牌"), "小心地把锅放进篮子"),
    (("slow cooker", "left hand board", "pliers"), "put the board in the 篮子 with the left hand"),
    (("slow cooker", "left hand board", "pliers"), "use the pliers to put the board in the 篮子"),
    (("slow cooker", "left hand board", "pliers"), "put the board in the 篮子 slow"),
]


@pytest.mark.parametrize(("named", "text"), TOOLS)
def test_a_tool_or_a_manner_is_never_dropped(named, text):
    assert moved(text, *named) == ""


TOYS = ("cube/red", "cube/blue", "ball/red", "ball/blue")
SIGNS = ("方块/red", "方块/blue", "球/red", "球/blue")
SIZED = ("small cube", "big cube", "small ball", "big ball")
SHARED = [
    (TOYS, "put the red cubes and balls in the 篮子", ""),
    (TOYS, "put all red cubes and balls in the 篮子", ""),
    (TOYS, "put everything except the red cubes and balls in the 篮子", ""),
    (TOYS, "put all the red cubes and the balls in the 篮子", "a0 a2 a3"),
    (TOYS, "put the red cubes and the blue balls in the 篮子", "a0 a3"),
    (TOYS, "put the balls and red cubes in the 篮子", "a0 a2 a3"),
    (TOYS[:3], "put all red cubes and balls in the 篮子", "a0 a2"),
    (("cube/red", "cube/blue", "ball/red", "ball/red"), "put all red cubes and balls in the 篮子", "a0 a2 a3"),
    (SIZED, "put the small cubes and balls in the 篮子", ""),
    (SIGNS, "把红色的方块和球都放进篮子", ""),
    (SIGNS, "除了红色的方块和球，都放进篮子", ""),
    (SIGNS, "把所有红色的方块和所有的球放进篮子", "a0 a2 a3"),
    (("方块/red", "球/blue", "盘子/red"), "把红色的方块和球都放进篮子", "a0 a1"),
    (("tea mug", "tea mug", "plate", "plate"), "put the tea mugs and plates in the 篮子", "a0 a1 a2 a3"),
]


@pytest.mark.parametrize(("named", "text", "ids"), SHARED)
def test_a_word_before_two_kinds_is_asked_about_where_it_matters(named, text, ids):
    assert moved(text, *named) == ids


MUGS = ("mug/red", "mug/blue", "notebook/blue", "mug/green")
LEFT_OUT = [
    (MUGS, "put all mugs except the blue one, and the notebook, in the 篮子", ""),
    (MUGS, "put all mugs except the blue one and the notebook in the 篮子", ""),
    (MUGS, "all mugs except the blue one, and the notebook, go in the 篮子", ""),
    (MUGS, "put all mugs and the notebook in the 篮子 except the blue things", ""),
    (MUGS, "put the notebook and all mugs except the blue one in the 篮子", "a0 a2 a3"),
    (MUGS, "put everything except the blue mug and the notebook in the 篮子", "a0 a3"),
]


@pytest.mark.parametrize(("named", "text", "ids"), LEFT_OUT)
def test_no_item_of_a_list_is_left_out_in_silence(named, text, ids):
    assert moved(text, *named) == ids


BOTH = ("马克杯/green", "盘子/blue", "马克杯/red", "小毛巾", "大毛巾")
ELLIPTIC = [
    ("把绿色的马克杯放进篮子，红色的也放进去", "a0 a2"),
    ("把绿色的马克杯放进篮子，红色的也是", "a0 a2"),
    ("把绿色的马克杯放进篮子，红色的放到托盘上", "a0 a2"),
    ("把绿色的马克杯放进篮子，红色的不要动", "a0"),
    ("把绿色的马克杯放进篮子，蓝色的放到托盘上", ""),  # of mugs none is blue
    ("put the green 马克杯 in the 篮子 and the blue one on the 托盘", ""),
    ("把绿色的马克杯放进篮子，蓝色的都放到托盘上", ""),
    ("把绿色以外的马克杯放进篮子", "a2"),
    ("把小毛巾放进篮子，大的也放进去", "a3 a4"),
    ("把小毛巾放进篮子，大的放到托盘上", "a3 a4"),
    ("把桌上除了马克杯的东西都放进篮子", "a1 a3 a4"),
    ("把桌上红色的马克杯放进篮子", "a2"),
    ("把桌上红色的东西都放进篮子", "a2"),
    ("把大毛巾放进篮子，盘子不放", "a4"),
    ("把大毛巾放进篮子，盘子就不用了", "a4"),
    ("把大毛巾放进篮子，不用", ""),
    ("盘子不用了", ""),
    ("put all 马克杯 and all cubes in the 篮子", ""),  # no cube is here
    ("把盒子里的马克杯和盘子都放进篮子", ""),
]


@pytest.mark.parametrize(("text", "ids"), ELLIPTIC)
def test_what_is_left_out_of_a_phrase_is_what_was_named(text, ids):
    assert moved(text, *BOTH) == ids
