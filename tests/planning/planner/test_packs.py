"""A pair of scissors, a packet of chips: one thing that is called scissors or chips, where no pack has a name here."""

from __future__ import annotations

import pytest

from worldfs.planning.planner import QuestionIntent, interpret

from .conftest import named_scene
from .test_names import moved, things

THINGS = "scissors", "chips", "grapes", "beans", "left glove", "right glove"


@pytest.mark.parametrize(
    ("text", "things", "end"),
    [
        ("put a pair of scissors in the basket", THINGS, "scissors>basket"),
        ("put a packet of chips in the basket", THINGS, "chips>basket"),
        ("put the bunch of grapes in the basket", THINGS, "grapes>basket"),
        ("pick up the bag of beans", THINGS, "beans"),
        ("put a carton of milk in the basket", ("milk", "cup"), "milk>basket"),
        ("put the bag of beans in the basket", ("bag of beans", "beans"), "bag of beans>basket"),
        ("put the bag of beans in the basket", ("bean bag", "beans"), "!"),  # which of the two?
        ("put the bag of beans in the basket", ("bag", "beans"), "!"),
        ("put the bag of beans in the basket", ("袋子", "beans"), "!"),
        ("put the bag of beans in the basket", ("can of beans",), "!"),
        ("put the bag of beans in the basket", ("bean",), "!"),
        ("put the packet of chips in the basket", ("chips", "potato chips"), "chips>basket"),
        ("put two bags of beans in the basket", THINGS, "!"),
        ("put the bottle of water in the basket", ("water jug",), "!"),
        ("put a glass of water in the basket", ("water",), "!"),
        ("put the pair of gloves in the basket", THINGS, "!"),
        ("put all the keys in the basket", ("car keys", "house keys"), "car keys>basket house keys>basket"),
        ("put the keys in the basket", ("car keys", "house keys"), "! ambiguous"),
        ("把蓝色的笔放进basket", ("blue|红笔", "杯子"), "! ambiguous"),
        ("把蓝色的笔放进basket", ("blue|红笔", "blue|笔"), "! ambiguous"),
    ],
)
def test_one_thing_is_meant_by_its_pack(told, text, things, end):
    found = told(text, things, ("basket",))
    assert found == end or (end == "!" and found[0] == "!"), found


@pytest.mark.parametrize(
    ("text", "things", "start"),
    [
        ("where is the pair of scissors?", THINGS, "the scissors is on the table"),
        ("where is the packet of chips?", THINGS, "the chips is on the table"),
        ("is there a bunch of grapes?", THINGS, "yes, the grapes is on the table"),
        ("is the bag of beans in the basket?", THINGS, "no, the beans is on the table"),
        ("is there a pair of gloves?", THINGS, ""),
        ("where is the bottle of water?", ("water jug",), ""),
        ("where is the bag of beans?", ("bag", "beans"), ""),
    ],
)
def test_a_question_about_a_pack(text, things, start):
    found = interpret(text, named_scene(things, ("basket",)))
    if start:
        assert isinstance(found, QuestionIntent) and found.answer.startswith(start), found
    else:
        assert not (isinstance(found, QuestionIntent) and found.answered), found


def test_the_stated_category_may_be_another_pack(make):
    from dataclasses import replace

    scene = named_scene(("beans",), ("basket",))
    canned = replace(scene, objects=(replace(scene.objects[0], category="can"),))
    assert not hasattr(interpret("put the bag of beans in the basket", canned), "goals")


FILLED = [(stuff, pack) for stuff in ("milk", "water", "juice", "tea", "sugar") for pack in ("carton", "bottle", "box")]


@pytest.mark.parametrize(("stuff", "pack"), FILLED)
def test_a_pack_that_is_named_after_a_substance_does_not_affirm_it(stuff, pack):
    scene = things(f"{stuff} {pack}", "hammer")
    for text in (f"is there any {stuff}?", f"is there {stuff}?", f"do you see any {stuff}?"):
        found = interpret(text, scene)
        assert isinstance(found, QuestionIntent) and found.answer.startswith("the scene does not tell"), (text, found)
    assert moved(f"put the {stuff} in the basket", scene) == "a0"
    found = interpret(f"is there a {stuff} {pack}?", scene)
    assert isinstance(found, QuestionIntent) and found.answer.startswith("yes")


@pytest.mark.parametrize(("stuff", "pack"), FILLED)
def test_what_is_left_out_may_be_every_pack_of_the_substance(stuff, pack):
    for other in (f"oat {stuff}", f"oat {stuff} {pack}"):
        scene = things(f"{stuff} {pack}", other, "pen")
        assert moved(f"put everything except the {stuff} in the basket", scene) == "?"
        assert moved(f"don't touch the {stuff}, put everything else in the basket", scene) == "?"
        assert moved(f"put everything except the {stuff} {pack} in the basket", scene) == "a1 a2"
    assert moved(f"put everything except the {stuff} in the basket", things(stuff, f"{stuff} {pack}")) == "a1"
