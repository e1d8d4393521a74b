"""Chinese sentences: the same care, other words."""

from __future__ import annotations

import pytest
from tests.planning.planner.test_english import ALL, BOX, CLEAR, no

from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, interpret
from worldfs.planning.planner.goals import (
    AtGoal,
    BesideGoal,
    GripperGoal,
    HoldingGoal,
    HomeGoal,
    InGoal,
    OnGoal,
    SeenGoal,
)

COMMANDS = {
    "收拾桌子": CLEAR,
    "请收拾一下桌子。": CLEAR,
    "收拾一下": CLEAR,
    "把桌子收拾干净": CLEAR,
    "清理桌面": CLEAR,
    "整理餐桌": CLEAR,
    "你能收拾桌子吗？": CLEAR,
    "能不能帮我整理一下桌子": CLEAR,
    "收拾桌子好吗？": CLEAR,
    "“收拾桌子”": CLEAR,
    "收拾桌子，除了苹果": no("apple_01"),
    "收拾桌子，苹果除外": no("apple_01"),
    "除了苹果以外，收拾桌子": no("apple_01"),
    "收拾桌子，但不要碰罐子": no("can_01"),
    "收拾桌子但是别动苹果": no("apple_01"),
    "收拾桌子。不要碰罐子。": no("can_01"),
    "把苹果放进篮子里": (InGoal("apple_01", BOX),),
    "把红苹果放到篮子里": (InGoal("apple_01", BOX),),
    "请将苹果放入篮子": (InGoal("apple_01", BOX),),
    "放苹果到篮子里": (InGoal("apple_01", BOX),),
    "把 apple_01 放进 basket_01": (InGoal("apple_01", BOX),),
    "把水果放进篮子": (InGoal("apple_01", BOX),),
    "把桌子上的苹果放进篮子里": (InGoal("apple_01", BOX),),
    "把所有红色的东西放到篮子里": (InGoal("apple_01", BOX), InGoal("cube_02", BOX)),
    "把所有东西放进篮子": tuple(InGoal(id, BOX) for id in ALL),
    "把桌上所有的东西放到篮子里": tuple(InGoal(id, BOX) for id in ALL),
    "除了苹果，把所有东西放进篮子": tuple(InGoal(id, BOX) for id in ALL[1:]),
    "把除了苹果以外的所有东西放进篮子里": tuple(InGoal(id, BOX) for id in ALL[1:]),
    "把两个方块放进篮子里": (InGoal("cube_01", BOX), InGoal("cube_02", BOX)),
    "把方块都放进篮子": (InGoal("cube_01", BOX), InGoal("cube_02", BOX)),
    "把红色和蓝色的方块放进篮子里": (InGoal("cube_02", BOX), InGoal("cube_01", BOX)),
    "把苹果和罐子放进篮子里": (InGoal("apple_01", BOX), InGoal("can_01", BOX)),
    "把一个方块放进篮子里": (InGoal("cube_01", BOX),),
    "把罐子放在蓝色方块上": (OnGoal("can_01", "cube_01"),),
    "把苹果放在罐子旁边": (BesideGoal("apple_01", "can_01"),),
    "拿起苹果": (HoldingGoal("apple_01"),),
    "把苹果拿起来": (HoldingGoal("apple_01"),),
    "抓取红苹果": (HoldingGoal("apple_01"),),
    "拿起苹果，然后放进篮子里": (InGoal("apple_01", BOX),),
    "拿起苹果，再把它放进篮子里": (InGoal("apple_01", BOX),),
    "我们把苹果放进篮子吧": (InGoal("apple_01", BOX),),
    "把红色方块叠在蓝色方块上": (OnGoal("cube_02", "cube_01"),),
    "把方块叠起来": (OnGoal("cube_02", "cube_01"),),
    "叠方块": (OnGoal("cube_02", "cube_01"),),
    "看看苹果": (SeenGoal("apple_01"),),
    "找到罐子，然后回家": (SeenGoal("can_01"), HomeGoal()),
    "去罐子上方": (AtGoal((0.6, 0.0, 0.26), "can_01"),),
    "移动到 (0.4, 0.1, 0.4)": (AtGoal((0.4, 0.1, 0.4)),),
    "回家": (HomeGoal(),),
    "打开夹爪": (GripperGoal("open"),),
}

REFUSED = {
    "别收拾桌子": "negation",
    "不要收拾桌子": "negation",
    "请不要清理桌子": "negation",
    "禁止收拾桌子": "negation",
    "不能收拾桌子": "negation",
    "千万别收拾桌子": "negation",
    "不要忘记别收拾桌子": "negation",
    "别忘了罐子": "negation",
    "没收拾桌子": "negation",
    "不用收拾桌子": "negation",
    "停止收拾桌子": "negation",
    "收拾桌子，不": "negation",
    "别碰苹果": "negation",
    "收拾桌子，但不要碰罐子，然后回家": "negation",
    "先别回家": "negation",
    "能不收拾桌子吗": "negation",
    "如果桌子脏了就收拾桌子": "conditional",
    "等一会收拾桌子": "conditional",
    "他收拾了桌子": "report",
    "我们把苹果放进了篮子吧": "report",
    "桌子收拾了": "report",
    "把苹果扔掉": "ambiguous",
    "放进": "unknown",
    "除了苹果，回家": "unknown",
    "按颜色拿起苹果": "unknown",
    "收拾椅子": "unknown",
    "把红色的放进篮子": "unknown",
    "把香蕉放进篮子": "missing",
    "把所有香蕉放进篮子": "missing",
    "把方块放进篮子": "ambiguous",
    "放下": "missing",
    "拿起苹果和罐子": "impossible",
    "把罐子放在苹果上": "impossible",
}

QUESTIONS = {
    "桌子上有什么？": "红色苹果",
    "苹果在哪里": "0.50 0.10",
    "桌子干净吗": "不",
    "收拾桌子吗": "",
    "为什么不收拾桌子": "",
    "要不要收拾桌子": "",
    "有几个方块": "2",
    "你能看到苹果吗": "",
    "你会做什么": "收拾桌子",
    "桌子收拾好了吗？": "",
}


@pytest.mark.parametrize(("text", "goals"), COMMANDS.items())
def test_an_order_becomes_these_goals(scene, text, goals):
    intent = interpret(text, scene)
    assert isinstance(intent, CommandIntent), intent
    assert intent.goals == goals and intent.language == "zh"


@pytest.mark.parametrize(("text", "kind"), REFUSED.items())
def test_what_is_no_plain_order_is_refused_with_its_reason(scene, text, kind):
    intent = interpret(text, scene, suggest=True)
    if text == "能不收拾桌子吗":  # a question by its mark, a negation by its words: it moves nothing either way
        assert isinstance(intent, (QuestionIntent, RefusedIntent))
        return
    assert isinstance(intent, RefusedIntent) and intent.kind == kind, intent
    assert intent.can and any("\u4e00" <= c <= "\u9fff" for c in intent.reason)


@pytest.mark.parametrize(("text", "part"), QUESTIONS.items())
def test_a_question_is_answered_and_moves_nothing(scene, text, part):
    intent = interpret(text, scene)
    assert isinstance(intent, QuestionIntent) and part in intent.answer and intent.answer, intent


def test_names_of_a_chinese_page_are_understood(make):
    scene = make["scene"](
        make["ball"]("a1", 0.5, 0.1, color="", name="红苹果"), make["ball"]("a2", 0.4, 0.0, "green", "青苹果")
    )
    assert interpret("把红苹果放进篮子里", scene).goals == (InGoal("a1", BOX),)
    assert interpret("put the red apple in the basket", scene).goals == (InGoal("a1", BOX),)
    assert isinstance(interpret("把苹果放进篮子里", scene), RefusedIntent)


def test_a_name_that_holds_a_negation_does_not_hide_it(make):
    scene = make["scene"](make["ball"]("a1", 0.5, 0.1, name="别收拾"))
    assert isinstance(interpret("别收拾桌子", scene), RefusedIntent)
