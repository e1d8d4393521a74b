""" "In the box" after a verb: where things go, or which of them are meant; the rest of a box; a box as the thing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.planning.planner import CommandIntent, RefusedIntent, interpret
from worldfs.planning.planner.goals import HoldingGoal, destinations, subject

TABLE = Thing("table_01", "table", "furniture", (0.45, 0.0, 0.0), size=(0.95, 1.3, 0.75), shape="table")


def scene_of(inside: dict[str, str], loose: str) -> Scene:
    """Containers with the things that are in them, and things on the table."""
    things, boxes, relations = [], [], []
    for n, (box, _) in enumerate(inside.items()):
        at = (0.4, 0.4 + 0.4 * n, 0.045)
        boxes.append(Thing(f"b{n}", box, "container", at, size=(0.3, 0.36, 0.09), shape="basket"))
        relations.append(Relation(f"b{n}", "on", "table_01"))
    at_box = [(name, "in", f"b{n}") for n, names in enumerate(inside.values()) for name in names.split()]
    for n, (name, how, where) in enumerate([*at_box, *((name, "on", "table_01") for name in loose.split())]):
        things.append(Thing(f"a{n}", name, "thing", (0.4, 0.06 * n, 0.02), (), (0.04,) * 3, "box", 0.1))
        relations.append(Relation(f"a{n}", how, where))
    robot = RobotState("franka_001", (0.0, 0.0, 0.0), {}, "open", None)
    return Scene((robot,), tuple(things), (TABLE, *boxes), tuple(relations))


def come_of(text: str, scene: Scene) -> str:
    """ "cup>box" for each thing that is to come into or onto something, "cup" for one that is held, "!" and the kind of
    a refusal, "" for nothing to do."""
    found = interpret(text, scene)
    if not isinstance(found, CommandIntent):
        return f"! {found.kind}" if isinstance(found, RefusedIntent) else "?"
    names = {thing.id: thing.name for thing in (*scene.objects, *scene.furniture)}
    ends = (
        names[subject(goal)]
        + ("" if isinstance(goal, HoldingGoal) else f">{names[min(destinations(goal))].replace(' ', '_')}")
        for goal in found.goals
        if subject(goal) in names
    )
    return " ".join(sorted(ends))


BOX = scene_of({"box": "apple banana", "trash can": ""}, "cup pen")
TRAY = scene_of({"tray": "fork napkin", "trash can": ""}, "cup pen")
TRAY_ZH = scene_of({"托盘": "叉子 餐巾", "垃圾桶": ""}, "杯子 笔")
KIT = scene_of({"kit box": "pipette tip glove slide"}, "pen")
KIT_ZH = scene_of({"杂物盒": "钥匙 硬币 纽扣"}, "笔")
LUNCH = scene_of({"lunch box": "napkin crust fork", "trash can": ""}, "cup phone")
LUNCH_ZH = scene_of({"饭盒": "餐巾 面包皮 叉子", "垃圾桶": ""}, "杯子 手机")
ALONE = scene_of({"lunch box": "napkin crust fork", "trash can": ""}, "")
CASE = scene_of({"suitcase": "shirt", "box": ""}, "cup")
CASE_ZH = scene_of({"行李箱": "衬衫", "盒子": ""}, "杯子")

BOTH_AWAY = "apple>trash_can banana>trash_can"
BOTH_OUT = "apple>table banana>table"
CONTENTS = (
    "everything in the box", "everything inside the box", "everything that is in the box", "the stuff in the box",
    "what is in the box", "the contents of the box", "the fruit in the box",
)  # fmt: skip


@pytest.mark.parametrize("what", CONTENTS)
@pytest.mark.parametrize("verb", ["throw away", "throw out", "discard", "dispose of"])
def test_what_is_thrown_away_of_a_box_is_what_lies_in_it(verb, what):
    assert come_of(f"{verb} {what}", BOX) == BOTH_AWAY


@pytest.mark.parametrize("what", CONTENTS)
@pytest.mark.parametrize("verb", ["remove", "clear", "clear out", "take out"])
def test_what_is_removed_from_a_box_comes_out_of_it(verb, what):
    assert come_of(f"{verb} {what}", BOX) == BOTH_OUT


@pytest.mark.parametrize("what", CONTENTS[:6])
@pytest.mark.parametrize(
    "verb", ["toss", "throw", "clean up", "tidy up", "collect", "take", "get", "bring me", "move", "bring", "transfer"]
)
def test_after_other_verbs_it_is_asked_and_nothing_goes_into_the_box(verb, what):
    assert come_of(f"{verb} {what}", BOX)[:1] == "!"


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("throw away everything in the box except the apple", "banana>trash_can"),
        ("throw everything in the box away", BOTH_AWAY),
        ("throw the apple in the box away", "apple>trash_can"),
        ("throw away what's in the box", BOTH_AWAY),
        ("throw away the banana lying in the box", "banana>trash_can"),
        ("throw away everything on the table", "cup>trash_can pen>trash_can"),
        ("throw away everything on the table except the cup", "pen>trash_can"),
        ("throw everything on the table in the trash can", "cup>trash_can pen>trash_can"),
        ("throw away everything except the apple in the box", "! ambiguous"),
        ("throw away the apple in the box and the cup", "! ambiguous"),
        ("throw away the apple and the banana in the box", BOTH_AWAY),
        ("take the apple or the banana in the box", "apple"),
        ("take the cup or the apple in the box", "! missing"),
        ("throw away all the pens and the apple in the box", "! ambiguous"),
        ("throw away the apple in the box", "apple>trash_can"),
        ("give me the apple in the box", "apple"),
        ("get the apple in the box", "apple"),
        ("fetch the apple in the box", "apple"),
        ("bring me the apple in the box", "apple"),
        ("bring the apple in the box to me", "apple"),
        ("take the apple in the box", "apple"),
        ("take out the apple in the box", "apple"),
        ("take everything in the box out", BOTH_OUT),
        ("remove the apple in the box", "apple>table"),
        ("remove the cup on the table", "cup>box"),
        ("take the cup next to the pen", "cup"),
        ("take the apple in the box and put it in the trash can", "apple>trash_can"),
        ("take the apple in the box to the table", "apple>table"),
        ("take the cup in the box", "! missing"),
        ("throw away the cup in the box", "! missing"),
        ("move the apple in the box", "! ambiguous"),
        ("toss the apple in the box", "! ambiguous"),
        ("I want the apple in the box", "! ambiguous"),
        ("put everything that is in the box", "! unknown"),
        ("put everything in the box away", "! ambiguous"),
        ("throw away the pen but don't take the apple in the box", "! negation"),
        # where they go
        ("put everything in the box", "apple>box banana>box cup>box pen>box"),
        ("put the cup away in the box", "cup>box"),
        ("stow the cup in the box", "cup>box"),
        ("drop the cup in the box", "cup>box"),
        ("put the apple in the box in the trash can", "apple>trash_can"),
        ("put the apple that is in the box in the trash can", "apple>trash_can"),
        ("move the things in the box to the trash can", BOTH_AWAY),
        ("clear the things in the box into the trash can", BOTH_AWAY),
        ("throw everything into the box", "apple>box banana>box cup>box pen>box"),
        ("throw the cup in the trash can", "cup>trash_can"),
        ("throw away the cup in the trash can", "cup>trash_can"),
        ("throw the cup in the box", "cup>box"),
        ("move the cup in the box", "cup>box"),
        ("take the cup to the box", "cup>box"),
        ("take everything out of the box on the table", BOTH_OUT),
        ("tidy up the things on the table", "cup>box pen>box"),
        ("collect everything on the table", "cup>box pen>box"),
    ],
)
def test_a_place_tells_where_or_which_by_the_verb(text, ends):
    assert come_of(text, BOX) == ends


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("remove everything on the tray", "fork>table napkin>table"),
        ("clear everything on the tray", "fork>table napkin>table"),
        ("take everything off the tray", "fork>table napkin>table"),
        ("take the fork on the tray", "fork"),
        ("throw away the fork on the tray", "fork>trash_can"),
        ("throw everything on the tray away", "fork>trash_can napkin>trash_can"),
        ("put everything on the tray in the trash can", "fork>trash_can napkin>trash_can"),
        ("tidy up the things on the tray", "! ambiguous"),
    ],
)
def test_on_a_tray_and_in_it_are_the_same(text, ends):
    assert come_of(text, TRAY) == ends


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("把托盘上的东西都扔掉", "叉子>垃圾桶 餐巾>垃圾桶"),
        ("扔掉托盘上的餐巾", "餐巾>垃圾桶"),
        ("拿起托盘上的叉子", "叉子"),
        ("把托盘上的东西都放进垃圾桶", "叉子>垃圾桶 餐巾>垃圾桶"),
        ("收拾托盘上的东西", "! ambiguous"),
        ("把桌上的东西都收起来", "杯子>托盘 笔>托盘"),
    ],
)
def test_on_a_tray_and_in_it_are_the_same_in_chinese(text, ends):
    assert come_of(text, TRAY_ZH) == ends


@pytest.mark.parametrize(
    "text",
    [
        "put everything not in the box in the trash can", "put the things not inside the box in the trash can",
        "put what is not in the box in the trash can", "put whatever is not in the box in the trash can",
        "put the fruit not on the table in the trash can", "put everything not near the cup in the box",
        "put the cup not next to the pen in the box", "put everything in the trash can not in the box",
        "clear everything not in the box into the trash can", "take the cup not in the box",
    ],
)  # fmt: skip
def test_where_things_are_not_is_never_passed_over(text):
    assert come_of(text, BOX).startswith("!")


def test_a_place_where_a_thing_does_not_go_is_still_said_after_one():
    assert come_of("put the cup in the trash can, not in the box", BOX) == "cup>trash_can"
    assert come_of("put everything on the table in the trash can, not in the box", BOX).startswith("cup>")


@pytest.mark.parametrize(
    "text",
    [
        "把托盘外的东西都放进垃圾桶", "把托盘之外的东西放进垃圾桶", "扔掉托盘外的叉子", "除了托盘外的叉子都放进垃圾桶",
        "把杯子和托盘外的笔放进垃圾桶",
    ],
)  # fmt: skip
def test_outside_a_place_is_asked_about_in_chinese(text):
    assert come_of(text, TRAY_ZH).startswith("!")


def test_on_a_box_is_not_in_it():
    assert come_of("take the apple on the box", BOX) == "! missing"


@pytest.mark.parametrize(
    "text",
    [
        "don't touch the pipette, take everything else out of the kit box",
        "leave the pipette and take everything else out of the kit box",
        "leave the pipette in the kit box and take everything else out",
        "leave the pipette in the kit box and take the rest out",
        "leave the pipette alone and take the others out of the kit box",
        "take everything out of the kit box except the pipette",
    ],
)
def test_everything_else_is_taken_out(text):
    assert come_of(text, KIT) == "glove>table slide>table tip>table"


@pytest.mark.parametrize(
    "text",
    [
        "别动钥匙，把杂物盒里的其他东西都拿出来", "钥匙留下，把杂物盒里其他的拿出来",
        "把钥匙留在杂物盒里，其他的都拿出来", "除了钥匙，把杂物盒里的其他东西都拿出来",
    ],
)  # fmt: skip
def test_everything_else_is_taken_out_in_chinese(text):
    assert come_of(text, KIT_ZH) == "硬币>table 纽扣>table"


@pytest.mark.parametrize(
    "text", ["take all the batteries out of the kit box", "take all the red things out of the kit box"]
)
def test_words_that_fit_nothing_are_asked_about(text):
    assert come_of(text, KIT)[:1] == "!"


@pytest.mark.parametrize(
    "text",
    [
        "leave the fork in the lunch box and throw the rest away",
        "leave the fork in the lunch box and throw away everything else",
        "leave the fork in the lunch box and put everything else in the trash can",
        "leave the fork in the lunch box and put the others in the trash can",
        "throw the rest away but leave the fork in the lunch box",
    ],
)
def test_the_rest_of_a_box_or_of_all_things_is_asked_unless_it_is_the_same(text):
    assert come_of(text, LUNCH) == "! ambiguous"
    assert come_of(text, ALONE) == "crust>trash_can napkin>trash_can"


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("把饭盒里的叉子留着，其他的扔掉", "! ambiguous"),
        ("把叉子留在饭盒里，其他的都放进垃圾桶", "! ambiguous"),
        ("把饭盒里的叉子留着，饭盒里其他的扔掉", "面包皮>垃圾桶 餐巾>垃圾桶"),
        ("叉子留着，其他的扔掉", "手机>垃圾桶 杯子>垃圾桶 面包皮>垃圾桶 餐巾>垃圾桶"),
    ],
)
def test_the_rest_of_a_box_in_chinese(text, ends):
    assert come_of(text, LUNCH_ZH) == ends


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("leave the fork and throw the rest away", "crust>trash_can cup>trash_can napkin>trash_can phone>trash_can"),
        ("leave everything in the lunch box and throw the rest away", "cup>trash_can phone>trash_can"),
        ("don't touch the fork, throw away everything else in the lunch box", "crust>trash_can napkin>trash_can"),
        ("throw away everything in the lunch box except the fork", "crust>trash_can napkin>trash_can"),
        (
            "leave the cup on the table and put everything else in the lunch box",
            "crust>lunch_box fork>lunch_box napkin>lunch_box phone>lunch_box",
        ),
    ],
)
def test_where_no_place_or_all_of_it_is_left_the_rest_is_clear(text, ends):
    assert come_of(text, LUNCH) == ends


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("put the suitcase away", "! impossible"),
        ("put away the suitcase", "! impossible"),
        ("remove the suitcase", "! impossible"),
        ("stow the suitcase", "! impossible"),
        ("put the table away", "! impossible"),
        ("clear away the suitcase", "! ambiguous"),
        ("tidy up the suitcase", "! ambiguous"),
        ("clean up the suitcase", "! ambiguous"),
        ("empty the suitcase", "shirt>table"),
        ("clear out the suitcase", "shirt>table"),
        ("clear the suitcase", "shirt>table"),
        ("empty the suitcase out", "shirt>table"),
        ("put everything away except what is in the suitcase", "cup>box"),
        ("put everything away except the things that are in the suitcase", "cup>box"),
    ],
)
def test_a_container_that_is_put_away_is_not_emptied(text, ends):
    assert come_of(text, CASE) == ends


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("把行李箱收起来", "! impossible"),
        ("收起行李箱", "! impossible"),
        ("把行李箱拿走", "! impossible"),
        ("整理行李箱", "! ambiguous"),
        ("收拾行李箱", "! ambiguous"),
        ("清空行李箱", "衬衫>table"),
        ("把行李箱清空", "衬衫>table"),
    ],
)
def test_a_container_that_is_put_away_is_not_emptied_in_chinese(text, ends):
    assert come_of(text, CASE_ZH) == ends


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("put the cup in the box and don't touch anything else", "cup>box"),
        ("put the cup in the box. Don't move anything else.", "cup>box"),
        ("put the cup in the box and don't touch anything", "! negation"),
        ("don't put it in the trash can, put it in the box", "! ambiguous"),
        ("don't put it in the trash can, put the cup in the box", "! negation"),
    ],
)
def test_nothing_else_is_touched(text, ends):
    assert come_of(text, BOX) == ends


@pytest.mark.parametrize(
    "text",
    [
        "don't put it in the trash can, put it in the box",
        "don't put it in the trash can but in the box",
        "别把它放进trash can，放进box",
    ],
)
def test_what_is_held_goes_to_the_other_place(text):
    held = next(thing.id for thing in BOX.objects if thing.name == "cup")
    relations = tuple(relation for relation in BOX.relations if relation.subject != held)
    scene = replace(BOX, robots=(replace(BOX.robots[0], holding=held),), relations=relations)
    assert come_of(text, scene) == "cup>box"
