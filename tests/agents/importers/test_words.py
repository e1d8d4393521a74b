"""Foreign words as ours."""

import json

import pytest

from worldfs.formats.agent import memory
from worldfs.plugins.importers import value_conversion


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-03-05T19:30:15Z", "2026-03-05T19:30:15Z"),
        ("2026-02-07T15:35:15.573Z", "2026-02-07T15:35:15Z"),
        ("2026-03-05T21:30:15+02:00", "2026-03-05T19:30:15Z"),
        ("on 2026-03-05, in the evening", "2026-03-05T00:00:00Z"),
        ("2026年3月5日", "2026-03-05T00:00:00Z"),
        (1770480000000, "2026-02-07T16:00:00Z"),
        (1770480000, "2026-02-07T16:00:00Z"),
        ("1770480000000", "2026-02-07T16:00:00Z"),
        ("soon", ""),
        (True, ""),
        (None, ""),
        (float("nan"), ""),
        (1e300, ""),
        ("9999-99-99", ""),
    ],
)
def test_a_time_in_any_spelling(text, time):
    assert value_conversion.parse_time(text) == time


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Rio", ("rio",)),
        ("**Theseus** (AI alignment)", ("theseus",)),
        ("Rio, Clay & Leo", ("rio", "clay", "leo")),
        ("Rio 和 Clay", ("rio", "clay")),
        ("@team-lead", ("team-lead",)),
        ("—", ()),
        ("everyone", ()),
        ("whom it may concern!", ()),
        ("", ()),
    ],
)
def test_names_of_agents_in_words_of_people(text, names):
    assert value_conversion.parse_agents(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "# heading\n## another",
        "```\nnever closed",
        "a\n\n\nb\n- c\n  - d",
        "<!-- a comment that never ends",
        "\ud800 half a pair",
        "tabs\tand\x00nulls\x1b[0m",
        "~~~sh\nls\n~~~\nafter",
    ],
)
def test_a_note_never_breaks_the_memory_it_comes_into(text):
    before = memory.template("rio")
    after = memory.add(
        memory.add(before, "patterns", value_conversion.note_text(f"lead\n{text}")), "questions", "still here?"
    )
    found = memory.read(after)
    assert [item.section for item in found.remarks] == ["patterns", "questions"]
    assert found.remarks[1].text == "still here?" and found.sections == memory.read(before).sections


def test_what_json_cannot_hold_is_put_into_words():
    value = value_conversion.plain_json({"a": float("inf"), "b": ["\ud83d", {"c": float("nan")}], 3: None})
    assert json.loads(json.dumps(value, allow_nan=False).encode()) == {
        "a": "inf",
        "b": ["\ufffd", {"c": "nan"}],
        "3": None,
    }


def test_an_endless_value_ends():
    value: list = []
    for _ in range(200):
        value = [value]
    assert len(json.dumps(value_conversion.plain_json(value))) < 200


def test_the_same_words_have_the_same_identity_and_others_another():
    assert (
        value_conversion.identity("a", 1, None)
        == value_conversion.identity("a", 1, None)
        != value_conversion.identity("a", "1", None)
    )
    assert len({value_conversion.identity(*parts) for parts in (("ab", "c"), ("a", "bc"), ("abc",))}) == 3
