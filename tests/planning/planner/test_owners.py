"""Whose "my keys" are the scene does not tell: they are asked about where a name states an owner."""

from __future__ import annotations

import pytest

from worldfs.base.model import Scene
from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, interpret
from worldfs.planning.planner.plan_sentences import nothing_to_do
from worldfs.planning.planner.suggestions import suggestions

from .conftest import named_scene

NAMES = {
    "en": ("red|Anna's pen", "black|pen", "key", "Bob's key", "mug"),
    "zh": ("red|小明的笔", "black|笔", "钥匙", "小明的钥匙", "水壶"),
}
SCENES = {
    "en": named_scene(NAMES["en"], ("basket", "crate")),
    "zh": named_scene(NAMES["zh"], ("篮子", "纸箱")),
}
OTHER_OWNERS = (
    "key of Bob",
    "key for Bob",
    "key Bob",
    "James' key",
    "guest's key",
    "his key",
    "Bob的钥匙",
    "妈妈的钥匙",
)


def moved(text: str, scene: Scene) -> list[str] | None:
    """Ids, sorted; None where it is asked."""
    found = interpret(text, scene)
    if isinstance(found, CommandIntent):
        return sorted(getattr(goal, "object", "") for goal in found.goals)
    assert isinstance(found, RefusedIntent), found
    return None


@pytest.mark.parametrize("mine", ["my", "your", "our"])
@pytest.mark.parametrize(
    "form",
    [
        "put {} keys in the crate", "put all {} keys in the crate", "put all of {} pens in the crate",
        "put one of {} keys in the crate", "put both {} keys in the crate", "put {} two keys in the crate",
        "put everything except {} pen in the crate", "put everything but {} keys in the crate",
        "put all keys except {} key in the crate", "put the keys that are not {} key in the crate",
        "don't touch {} pen, put the mug in the crate", "leave {} pen, put all pens in the crate",
        "put {} mug and {} keys in the crate", "put {} pens and keys in the crate", "put {} heaviest key in the crate",
        "put {} red pen in the crate", "only {} keys should be in the crate", "make sure {} keys are in the crate",
        "put {} things in the crate", "put all {} things in the crate", "put {} stuff in the crate",
        "put everything except {} things in the crate", "are {} things in the crate?", "where is {} pen?",
        "is {} key on the table?", "are all {} keys on the table?", "how many of {} keys are on the table?",
        "what colour is {} pen?",
    ],
)  # fmt: skip
def test_what_my_means_is_asked_where_a_name_states_an_owner(form: str, mine: str) -> None:
    found = interpret(form.replace("{}", mine), SCENES["en"])
    assert isinstance(found, RefusedIntent) and found.kind in ("ambiguous", "unknown"), found


@pytest.mark.parametrize(
    "text",
    [
        "把我的钥匙放进纸箱", "把我的钥匙都放进纸箱", "把我的所有钥匙放进纸箱", "把我的两把钥匙放进纸箱",
        "除了我的笔，都放进纸箱",
        "别碰我的笔，把其他的都放进纸箱", "别碰我的笔，把笔都放进纸箱", "把我的笔和水壶放进纸箱",
        "确保我的钥匙在纸箱里",
        "把我的东西放进纸箱", "把我的东西都放进纸箱", "我的笔在哪里？", "我的钥匙都在桌上吗？",
    ],
)  # fmt: skip
def test_it_is_asked_in_chinese(text: str) -> None:
    found = interpret(text, SCENES["zh"])
    assert isinstance(found, RefusedIntent) and found.kind == "ambiguous", found


@pytest.mark.parametrize("question", ["how many keys do I have?", "do I have a key?", "what do I have?"])
def test_what_the_speaker_has_is_not_told(question: str) -> None:
    found = interpret(question, SCENES["en"])
    assert isinstance(found, RefusedIntent) or (isinstance(found, QuestionIntent) and not found.answered)


@pytest.mark.parametrize("owned", OTHER_OWNERS)
def test_every_way_to_state_an_owner_counts(owned: str) -> None:
    assert moved("put my keys in the basket", named_scene(("key", owned), ("basket",))) is None


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("put my key in the crate", ["a2"]), ("put my mug in the crate", ["a4"]),
        ("put the mug in my crate", ["a4"]), ("put everything except my mug in the crate", ["a0", "a1", "a2", "a3"]),
        ("put Anna's pen in the crate", ["a0"]), ("put my mug and Bob's key in the crate", ["a3", "a4"]),
    ],
)  # fmt: skip
def test_my_is_an_article_where_it_leaves_no_doubt(text: str, ids: list[str]) -> None:
    assert moved(text, SCENES["en"]) == ids


@pytest.mark.parametrize(
    "name", ["red pen", "pen of red plastic", "pen with a cap", "红色的钥匙", "用过的钥匙", "有标签的钥匙"]
)
def test_a_description_is_no_owner(name: str) -> None:
    scene = named_scene((name, "blue pen", "钥匙"), ("basket",))
    noun = "钥匙" if name.endswith("钥匙") else "pens"
    assert moved(f"put my {noun} in the basket" if noun == "pens" else f"把我的{noun}都放进basket", scene) is not None


def test_an_owner_is_written_as_in_the_name_and_has_no_article() -> None:
    found = interpret("what is on the table?", SCENES["en"])
    assert isinstance(found, QuestionIntent) and "Anna's pen" in found.answer and "the Anna" not in found.answer
    told = interpret("where is Bob's key?", SCENES["en"])
    assert isinstance(told, QuestionIntent) and told.answer.startswith("Bob's key is on the table")
    assert "pick up Anna's pen" in suggestions(SCENES["en"], "en")


def test_the_end_names_what_was_left_alone() -> None:
    scene = named_scene(("red pen", "pen"), ("crate",))
    found = interpret("leave the pens, put all pens in the crate", scene)
    assert isinstance(found, CommandIntent) and not found.goals
    said = nothing_to_do(found.goals, scene, "en", found.protected)
    assert "apart from what is left alone: red pen (a0), pen (a1)" in said
