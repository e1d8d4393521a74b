"""A name that begins with an article or a number is no answer to "a …": with an A string, "a string" is any string."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worldfs.base.model import Relation, Scene
from worldfs.planning.planner import QuestionIntent, interpret

from .conftest import named_scene


def _with_two_inside(things: tuple[str, ...], box: str) -> Scene:
    """All but the first of three things in the box."""
    scene = named_scene(things, (box, "basket"))
    kept = (r for r in scene.relations if r.subject not in ("a1", "a2"))
    return replace(scene, relations=(*kept, Relation("a1", "in", "b0"), Relation("a2", "in", "b0")))


STRINGS = _with_two_inside(("A string", "E string", "G string"), "flight case")
FOLDERS = _with_two_inside(("A folder", "B folder", "C folder"), "in-tray")
CUPS = _with_two_inside(("一只杯子", "蓝杯子", "红杯子"), "盒子")


@pytest.mark.parametrize(
    ("text", "scene", "answer"),
    [
        ("is there a string in the flight case?", STRINGS, "yes, the e string is in the flight case"),
        ("do we have a string in the flight case?", STRINGS, "yes, the e string is in the flight case"),
        ("IS THERE A STRING IN THE FLIGHT CASE?", STRINGS, "yes, the e string is in the flight case"),
        ("is the a string in the flight case?", STRINGS, "no, the a string is on the table"),
        ("is A string in the flight case?", STRINGS, "no, the a string is on the table"),
        ('is "a string" in the flight case?', STRINGS, "no, the a string is on the table"),
        ("is there a folder in the in-tray?", FOLDERS, "yes, the b folder is in the in-tray"),
        ("盒子里有一只杯子吗？", CUPS, "是的，蓝杯子在盒子里"),
        ("这一只杯子在盒子里吗？", CUPS, "不，一只杯子在桌子上"),
    ],
)
def test_a_thing_of_a_kind_is_any_of_them_unless_the_name_itself_is_said(text, scene, answer):
    found = interpret(text, scene)
    assert isinstance(found, QuestionIntent) and found.answer.startswith(answer), found


@pytest.mark.parametrize(
    ("text", "things", "end"),
    [
        ("put the A string in the basket", ("A string", "E string"), "A string>basket"),
        ("put A string in the basket", ("A string", "E string"), "A string>basket"),
        ("put everything except a string in the basket", ("A string", "E string"), "! ambiguous"),
        ("put a string in the basket", ("A string", "plum"), "A string>basket"),
        ("put the a4 paper in the basket", ("A4 paper", "A3 paper"), "A4 paper>basket"),
        ("把一次性手套放进basket", ("一次性手套", "橡胶手套"), "一次性手套>basket"),
        ("把四件套放进basket", ("床品四件套", "桌布"), "床品四件套>basket"),
    ],
)
def test_what_is_moved_by_a_name_that_begins_so(told, text, things, end):
    assert told(text, things, ("basket",)) == end


SIZED = ("品茗杯（大）", "品茗杯（小）", "壶")


@pytest.mark.parametrize(
    ("text", "things", "end"),
    [
        ("把大的品茗杯放进篮子", SIZED, "品茗杯（大）>篮子"),
        ("把小品茗杯放进篮子", SIZED, "品茗杯（小）>篮子"),
        ("除了小的品茗杯都放进篮子", SIZED, "品茗杯（大）>篮子 壶>篮子"),
        ("把品茗杯放进篮子，小的除外", SIZED, "品茗杯（大）>篮子"),
        ("把品茗杯（大）放进篮子", SIZED, "品茗杯（大）>篮子"),
        ("把品茗杯(小)放进篮子", SIZED, "品茗杯（小）>篮子"),
        ("把大的杯子放进篮子", ("杯子（大号）", "杯子（小号）"), "杯子（大号）>篮子"),
        ("把大的杯子放进篮子", ("杯子（大学）", "杯子（中学）"), "! ambiguous"),
    ],
)
def test_a_size_in_brackets_after_a_chinese_name_chooses(told, text, things, end):
    assert told(text, things, ("篮子",)) == end
