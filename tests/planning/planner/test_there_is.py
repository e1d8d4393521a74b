"""What is to be there, what stays, and what is said in contrast: each as the plain order with the same meaning."""

from __future__ import annotations

from functools import lru_cache

import pytest

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.planning.planner import CommandIntent, Intent, interpret
from worldfs.planning.planner.goals import InGoal, OnGoal, subject

TABLE = Thing("table", "table", "furniture", (0.45, 0.0, 0.0), size=(0.9, 1.3, 0.75), shape="table")
CHINESE = {
    "table": "桌子", "basket": "篮子", "crate": "纸箱", "mug": "杯子", "plum": "李子", "key": "钥匙", "can": "罐子",
    "lamp": "台灯",
}  # fmt: skip
# id, name, colour, category, where
THINGS = (
    ("red", "mug", "red", "cup", "table"), ("blue", "mug", "blue", "cup", "table"),
    ("plum1", "plum", "", "fruit", "basket"), ("plum2", "plum", "", "fruit", "table"),
    ("key", "key", "", "", "table"), ("can", "can", "", "", "table"), ("lamp", "lamp", "", "", "table"),
)  # fmt: skip
AT = {id: where for id, _, _, _, where in THINGS}


@lru_cache(maxsize=2)
def scene(language: str) -> Scene:
    def said(word: str) -> str:
        return CHINESE[word] if language == "zh" else word

    places = {"basket": (0.4, -0.42), "crate": (0.4, 0.42)}
    furniture = (
        Thing("table", said("table"), "furniture", TABLE.position, size=TABLE.size, shape="table"),
        *(Thing(id, said(id), "container", (*xy, 0.045), size=(0.26, 0.3, 0.09), shape="basket")
          for id, xy in places.items()),
    )  # fmt: skip
    objects = []
    for n, (id, name, colour, category, where) in enumerate(THINGS):
        xy = places.get(where, (0.3 + 0.12 * (n % 3), -0.1 + 0.1 * (n // 3)))
        size = (0.04, 0.04, 0.06)
        kind = "水果" if language == "zh" and category == "fruit" else category
        objects.append(Thing(id, said(name), kind, (*xy, 0.03), size=size, shape="box", color=colour, mass=0.1))
    relations = [Relation(box, "on", "table") for box in places]
    relations += [Relation(id, "in" if where in places else "on", where) for id, where in AT.items()]
    return Scene((RobotState("r", (0.0, 0.0, 0.0), {}, "open", None),), tuple(objects), furniture, tuple(relations))


def moved(text: str) -> dict[str, str] | None:
    """Where each thing is brought that is elsewhere now; None where nothing is done."""
    language = "zh" if any("\u4e00" <= sign <= "\u9fff" for sign in text) else "en"
    intent: Intent = interpret(text, scene(language), robot_id="r")
    if not isinstance(intent, CommandIntent):
        return None
    assert all(isinstance(goal, InGoal | OnGoal) for goal in intent.goals), intent.goals
    ends = {subject(goal): goal.container if isinstance(goal, InGoal) else goal.support for goal in intent.goals}  # type: ignore[union-attr]
    return {id: end for id, end in ends.items() if AT[id] != end}


BOTH = {"red": "crate", "blue": "crate"}
REST = {"plum1": "crate", "plum2": "crate", "key": "crate", "can": "crate", "lamp": "crate"}
DONE: dict[str, dict[str, str]] = {
    # what is to be there
    "make sure there are two plums in the basket": {"plum2": "basket"},
    "make sure there is a plum in the basket": {},
    "make sure that there's at least one plum in the basket": {},
    "there must be two mugs in the crate": BOTH,
    "there should be two mugs in the crate": BOTH,
    "there has to be a key in the crate": {"key": "crate"},
    "there needs to be a key in the crate": {"key": "crate"},
    "there ought to be a key and a can in the crate": {"key": "crate", "can": "crate"},
    "I want there to be a key in the crate": {"key": "crate"},
    "there should be only the key in the crate": {"key": "crate"},
    "there should only be the key in the basket": {"key": "basket", "plum1": "table"},
    "make sure there is nothing but the key in the basket": {"key": "basket", "plum1": "table"},
    "the key and nothing else should be in the basket": {"key": "basket", "plum1": "table"},
    "the key should be put in the crate": {"key": "crate"},
    "make sure the mug that is red is in the crate": {"red": "crate"},
    "make sure the key is in the crate and the can is in the basket": {"key": "crate", "can": "basket"},
    "make sure a plum is in the basket and a key in the crate": {"key": "crate"},
    "make sure a key is in the crate and a plum in the basket": {"key": "crate"},
    "make sure you put the red mug in the crate": {"red": "crate"},
    "put the key in the basket, then make sure two mugs are in the crate": {"key": "basket", **BOTH},
    "put the key in the basket and make sure there is a plum in the basket": {"key": "basket"},
    "make sure the red mug is in the crate and leave the rest": {"red": "crate"},
    "确保篮子里有两个水果": {"plum2": "basket"},
    "确保篮子里有李子": {},
    "确保篮子里至少有一个水果": {},
    "篮子里应该有两个李子": {"plum2": "basket"},
    "纸箱里必须有一把钥匙": {"key": "crate"},
    "让纸箱里有红杯子": {"red": "crate"},
    "确保纸箱里有所有杯子": BOTH,
    "确保篮子里只有钥匙": {"key": "basket", "plum1": "table"},
    "把钥匙放进纸箱，然后确保篮子里有两个水果": {"key": "crate", "plum2": "basket"},
    "红杯子必须放在纸箱里": {"red": "crate"},
    "红杯子必须在纸箱里": {"red": "crate"},
    # in contrast
    "put the red mug not in the crate but in the basket": {"red": "basket"},
    "the red mug goes not in the crate but in the basket": {"red": "basket"},
    "put not the key but the can in the crate": {"can": "crate"},
    "instead of the key put the can in the crate": {"can": "crate"},
    "instead of the key, put the can in the crate": {"can": "crate"},
    "not the key, the can goes in the crate": {"can": "crate"},
    "put the key and nothing else in the crate": {"key": "crate"},
    "put the plum that is not in the basket in the crate": {"plum2": "crate"},
    "put all plums that are not on the table in the crate": {"plum1": "crate"},
    "put one more plum in the basket": {"plum2": "basket"},
    "put two more mugs in the basket": {"red": "basket", "blue": "basket"},
    "put the red mug in the crate, but first put the lamp in the basket": {"lamp": "basket", "red": "crate"},
    "take everything on the table but the mugs and put it in the crate":
        {"plum2": "crate", "key": "crate", "can": "crate", "lamp": "crate"},
    "take all the mugs and put them in the crate": BOTH,
    "把不在篮子里的李子放进纸箱": {"plum2": "crate"},
    # what stays
    "the mugs stay, everything else goes in the crate": REST,
    "the mugs stay where they are, put everything else in the crate": REST,
    "put both mugs in the crate, but the blue one stays": {"red": "crate"},
    "put the red mug in the crate. The blue one stays.": {"red": "crate"},
    "put the red mug in the crate; not the blue one": {"red": "crate"},
    "put the red mug in the crate. The blue one too, please.": BOTH,
    "put the red mug in the crate. The key as well.": {"red": "crate", "key": "crate"},
    "留着李子，把红杯子放进纸箱": {"red": "crate"},
    "把红杯子放进纸箱。蓝的也放。": BOTH,
}  # fmt: skip


@pytest.mark.parametrize("text", DONE)
def test_it_is_done_as_the_plain_order_with_the_same_meaning(text):
    assert moved(text) == DONE[text]


@pytest.mark.parametrize(
    "text",
    [
        "there is a plum in the basket", "there are two mugs in the crate", "there might be a mug in the crate",
        "there should be no plums in the basket", "make sure there is not a plum in the basket",
        "make sure there are two mugs", "there should be one more plum in the basket",
        "should there be a key in the crate",
        "make sure you don't put the key in the crate", "let there be light",
        "put the key in the crate, the can is in the basket", "put the key in the basket and the can is in the crate",
        "put not only the key but the can in the crate", "put not all mugs but the key in the crate",
        "put the mugs not in the crate", "put the mugs not in the basket but on the table in the crate",
        "put three more mugs in the basket", "instead of the key", "not the key",
        "put it in the crate, but first put the lamp in the basket",
        "put the key in the crate, but first put the lamp in it", "put the key in the crate, but not before the can",
        "the red mug stays", "the can does not stay, put the key in the crate",
        "put the red mug in the crate. The blue one.", "put the red mug in the crate. Not now.",
        "put the red mug in the crate. The can is heavy too.", "do not touch the key. The can too.",
        "bring me everything and put it in the crate",
        "确保篮子里没有李子", "篮子里应该没有李子", "篮子里不应该有李子", "篮子里有两个杯子",
        "纸箱里应该有两个杯子吗",
        "纸箱里应该有几个杯子", "如果纸箱里应该有两个杯子", "我觉得纸箱里应该有两个杯子", "红杯子必须不在纸箱里",
        "留着李子",
    ],
)  # fmt: skip
def test_nothing_moves_where_it_is_told_denied_or_unclear(text):
    assert moved(text) is None
