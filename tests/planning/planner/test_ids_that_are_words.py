"""An id that is a word names nothing by it: what an instruction does is the same whatever the ids are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.model import Scene, Thing
from worldfs.base.name_parts import STATES
from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, interpret, lexicon_en, lexicon_zh

from .conftest import basket, scene_of

NEUTRAL = "zz_7"
WORDS = sorted({
    *lexicon_en.COLOURS, *lexicon_en.PLAIN, *lexicon_en.USES, *STATES, *lexicon_en.nouns_en(),
    "hot", "shiny", "cups", "fruits",
})  # fmt: skip
WORDS_ZH = sorted(word for word in lexicon_en.nouns_zh() if not lexicon_zh.is_grammar(word))
FORMS = (
    "put the {} in the basket", "put all {} in the basket", "put the {} mug in the basket",
    "put the {} things in the basket", "put all {} things in the basket", "put everything {} in the basket",
    "put everything that is not {} in the basket", "put everything that is {} in the basket",
    "put all non-{} things in the basket", "put everything except the {} things in the basket",
    "put everything but the {} in the basket", "put a {} in the basket", "put the {} one in the basket",
    "don't touch the {} things, put the mugs in the basket", "put the mugs in the basket, but only the {} one",
    "how many {} things are there?", "is there a {}?", "is there a {} thing?", "what colour is the {}?",
    "which things are {}?", "is the sponge {}?", "are all {} things on the table?",
)  # fmt: skip
FORMS_ZH = (
    "把{}色的东西都放进篮子", "把{}的东西放进篮子", "把所有{}的东西放进篮子", "除了{}的东西，都放进篮子",
    "把不是{}的东西都放进篮子",
    "把{}水杯放进篮子", "有几个{}的东西？", "有{}的东西吗？",
)  # fmt: skip


def thing(id: str, name: str, color: str, n: int) -> Thing:
    return Thing(id, name, "", (0.4, -0.3 + 0.1 * n, 0.02), size=(0.04,) * 3, shape="box", color=color, mass=0.1)


def english(id: str) -> Scene:
    names = (("k_1", "mug", "red"), (id, "sponge", "green"), ("k_3", "mug", "blue"), ("k_4", "wooden spoon", ""))
    return scene_of(*(thing(*one, n) for n, one in enumerate(names)))


def chinese(id: str) -> Scene:
    names = (("k_1", "水杯", "red"), (id, "海绵", "green"), ("k_3", "水杯", "blue"), ("k_4", "木勺子", ""))
    table = Thing("t_1", "桌子", "furniture", (0.45, 0.0, 0.0), size=(0.9, 1.2, 0.05), shape="table")
    box = basket("b_1")
    box = Thing(box.id, "篮子", "container", box.position, size=box.size, shape="basket")
    return scene_of(*(thing(*one, n) for n, one in enumerate(names)), furniture=(table, box))


def outcome(text: str, scene: Scene, id: str) -> object:
    """What is moved, told or, for whatever reason, asked, with one sign for the id."""
    found = interpret(text, scene)
    if isinstance(found, CommandIntent):
        return sorted("*" if (one := getattr(goal, "object", "")) == id else one for goal in found.goals)
    if isinstance(found, QuestionIntent) and found.answered:
        return found.answer.replace(f" ({id})", "")
    return None


def same(text: str, id: str, scene: Scene, plain: Scene) -> None:
    found, expected = outcome(text, scene, id), outcome(text, plain, NEUTRAL)
    assert found in (expected, None), (text, id, found, expected)


@given(st.sampled_from(WORDS), st.sampled_from(FORMS))
def test_an_english_word_is_no_id(word: str, form: str) -> None:
    same(form.format(word), word, english(word), english(NEUTRAL))


@given(st.sampled_from(WORDS_ZH), st.sampled_from(FORMS_ZH))
def test_a_chinese_word_is_no_id(word: str, form: str) -> None:
    same(form.format(word), word, chinese(word), chinese(NEUTRAL))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("put everything that is not red in the basket", ["k_3", "k_5", "metal", "red"]),
        ("put everything except the red things in the basket", ["k_3", "k_5", "metal", "red"]),
        ("put all red things in the basket", ["k_1"]), ("put the red things in the basket", ["k_1"]),
        ("put all the fruit in the basket", []), ("put the metal things in the basket", None),
        ("put all metal things in the basket", None), ("put everything but the metal things in the basket", None),
        ("put everything that is not metal in the basket", None), ("put red in the basket", None),
        ("put everything except red in the basket", None), ("put red and the blue mug in the basket", None),
        ("put the red mug in the basket", ["k_1"]), ("move k_1 to the basket", ["k_1"]),
    ],
)  # fmt: skip
def test_a_colour_or_a_material_is_none_of_a_thing_with_that_id(text: str, ids: list[str] | None) -> None:
    names = (
        ("k_1", "mug", "red"), ("red", "sponge", "green"), ("k_3", "mug", "blue"), ("metal", "plate", "white"),
        ("k_5", "brass key", "yellow"),
    )  # fmt: skip
    found = interpret(text, scene_of(*(thing(*one, n) for n, one in enumerate(names))))
    if ids:
        assert isinstance(found, CommandIntent) and sorted(getattr(g, "object", "") for g in found.goals) == ids
    else:
        assert isinstance(found, RefusedIntent), found


@pytest.mark.parametrize(
    "text", ["put cup in the basket", "move cup to the basket", "put everything but cup in the basket"]
)
def test_an_id_alone_that_is_a_word_is_asked_about(text: str) -> None:
    for others in ((), (("k_1", "cup", "red"),)):
        named = (("cup", "plate", "white"), ("k_2", "key", ""), *others)
        found = interpret(text, scene_of(*(thing(*one, n) for n, one in enumerate(named))))
        assert isinstance(found, RefusedIntent) and "cup" in found.candidates


def test_an_id_that_is_no_other_word_names_its_thing_alone() -> None:
    things = (thing("gadget", "plate", "white", 0), thing("k_2", "key", "", 1))
    scene = scene_of(*things)
    assert outcome("put gadget in the basket", scene, "") == ["gadget"]
    assert outcome("put everything but gadget in the basket", scene, "") == ["k_2"]
    assert outcome("put everything that is not gadget in the basket", scene, "") is None
    assert outcome("put all gadget things in the basket", scene, "") is None
