"""A Chinese noun in an English sentence means what it means in a Chinese one: every thing that is called so."""

from __future__ import annotations

import pytest

from worldfs.planning.planner import QuestionIntent, interpret

from .conftest import named_scene

THINGS = "M3螺母", "M4螺母", "A4纸", "A3纸", "USB线", "抓夹"


@pytest.mark.parametrize(
    ("text", "end"),
    {
        "put the 螺母 in the bin": "! ambiguous",
        "pick up the 螺母": "! ambiguous",
        "put all 螺母 in the bin": "M3螺母>bin M4螺母>bin",
        "put both 螺母 in the bin": "M3螺母>bin M4螺母>bin",
        "put a 螺母 in the bin": "M3螺母>bin",
        "put the M4螺母 in the bin": "M4螺母>bin",
        "put the 纸 in the bin": "! ambiguous",
        "put the 线 in the bin": "USB线>bin",
        "put the 抓夹 in the bin": "抓夹>bin",
        "put the 纸 and the 线 in the bin": "! ambiguous",
        "把螺母放进bin": "! ambiguous",
        "把所有螺母放进bin": "M3螺母>bin M4螺母>bin",
    }.items(),
)
def test_a_chinese_noun_in_an_english_sentence(told, text, end):
    assert told(text, THINGS, ("bin",)) == end


@pytest.mark.parametrize(("text", "start"), {"how many 螺母 are there?": "2: ", "有几个螺母？": "2：", "how many 线 are there?": "1: "}.items())  # noqa: E501  # fmt: skip
def test_a_chinese_noun_in_an_english_question(text, start):
    found = interpret(text, named_scene(THINGS, ("bin",)))
    assert isinstance(found, QuestionIntent) and found.answer.startswith(start), found
