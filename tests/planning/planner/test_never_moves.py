"""Laws of the language: whatever denies, asks or supposes never becomes a command."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worldfs.base.model import Scene
from worldfs.planning.planner import CommandIntent, QuestionIntent, interpret


def _table(name: str) -> list[str]:
    """The sentences of the neighbouring test tables (test modules cannot import each other under importlib)."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.COMMANDS)


def _page(name: str, chinese: bool) -> list[str]:
    """What is done on the table of conftest, by the lists of test_held_out."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    rows = [line[4:].split(" => ") for line in text.splitlines() if line.startswith("T | ")]
    done = [said for said, facts in rows if facts[0] not in "!?-"]
    done = [said for said in done if not said.startswith("有空")]  # 如果有空的话 is only polite
    return [said for said in done if bool(re.search(r"[\u4e00-\u9fff]", said)) is chinese]


ENGLISH = [*_table("test_english"), *_page("learned.txt", False), *_page("held_out.txt", False)]
CHINESE = [*_table("test_chinese"), *_page("learned.txt", True), *_page("held_out.txt", True)]
NO_EN = (
    "don't",
    "do not",
    "never",
    "please don't",
    "not",
    "no",
    "stop",
    "avoid",
    "you must not",
    "nobody should",
    "without",
)
NO_ZH = ("不", "别", "不要", "请不要", "勿", "禁止", "没", "不能", "不准", "千万别", "无需", "停止")
IF_EN = ("if", "when", "unless", "should i", "he said", "why", "maybe", "did you", "suppose you")
IF_ZH = ("如果", "要是", "为什么", "他说", "应该", "是否", "等我说了再")
quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _done(said: str, text: str, scene: Scene) -> bool:
    """Is the negated sentence an order? After a comma another order may follow, and is done without what is negated:
    "don't put the apple in the basket, put the rest next to it"."""
    found, plain = interpret(said, scene), interpret(text, scene)
    if not isinstance(found, CommandIntent) or not isinstance(plain, CommandIntent):
        return isinstance(found, CommandIntent)
    return not re.search("[,，.;。；]", text) or plain.goals[0] in found.goals


@quick
@given(st.sampled_from(NO_EN + IF_EN), st.sampled_from(ENGLISH), st.sampled_from(["", " ", "... ", ", ", " please "]))
def test_an_english_order_under_a_negation_is_no_command(scene, prefix, text, between):
    said = f"{prefix} {between if between != '... ' else ''}{text}"
    assert not _done(said, text, scene), said


@quick
@given(st.sampled_from(NO_ZH + IF_ZH), st.sampled_from(CHINESE))
def test_a_chinese_order_under_a_negation_is_no_command(scene, prefix, text):
    assert not _done(prefix + text, text, scene), prefix + text


@quick
@given(
    st.sampled_from(ENGLISH),
    st.sampled_from([", not", " - no!", " is what you must never do", "? no", " not", ", never mind"]),
)
def test_a_negation_behind_it_counts_as_well(scene, text, suffix):
    assert not isinstance(interpret(text.rstrip(".!") + suffix, scene), CommandIntent)


@quick
@given(st.sampled_from(ENGLISH), st.data())
def test_an_unknown_word_anywhere_stops_the_whole(scene, text, data):
    parts = text.split()
    at = data.draw(st.integers(0, len(parts)))
    said = " ".join([*parts[:at], "flurbish", *parts[at:]])
    assert not isinstance(interpret(said, scene), CommandIntent), said


@quick
@given(st.text(max_size=80))
def test_no_text_at_all_breaks_the_reader(scene, text):
    interpret(text, scene)


WORDS = sorted({w for t in ENGLISH for w in t.lower().split()} | set(NO_EN))
SIGNS = sorted({c for t in CHINESE for c in t} | set("".join(NO_ZH)))


@quick
@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_shuffled_english_never_breaks_it_and_never_hides_a_negation(scene, parts):
    intent = interpret(" ".join(parts), scene)
    if isinstance(intent, CommandIntent) and intent.goals:
        assert parts[0] not in ("don't", "do", "never", "not", "no", "stop", "avoid", "without", "nobody")


@quick
@given(st.lists(st.sampled_from(SIGNS), max_size=12).map("".join))
def test_shuffled_chinese_never_breaks_it_and_never_hides_a_negation(scene, text):
    intent = interpret(text, scene)
    if isinstance(intent, CommandIntent) and intent.goals:
        assert text.lstrip("，。“”、 ")[:1] not in "别勿禁没", text


def test_the_reading_does_not_depend_on_the_time_of_day(scene):
    assert not [text for text in ENGLISH + CHINESE if interpret(text, scene) != interpret(text, scene)]


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        ("how do I stop you?", True),
        ("How can I stop the robot?", True),
        ("怎么停下来？", True),
        ("why aren't you stopping?", False),
        ("are you going to stop?", False),
        ("why are you still moving?", False),
        ("为什么还在动", False),
    ],
)
def test_a_question_about_stopping_says_how_and_that_nothing_was_stopped(scene, text, answered):
    found = interpret(text, scene)
    assert isinstance(found, QuestionIntent) and found.answered is answered
    assert "paos stop" in found.answer and ("Nothing was stopped" in found.answer or "没有停止" in found.answer)
