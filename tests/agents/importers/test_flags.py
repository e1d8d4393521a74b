"""Flags of the collective: both forms, in two languages; their text is the letter's body."""

import pytest


@pytest.fixture
def letters(read, legacy):
    (found,) = read("flags", legacy / "home")
    return found, {(item.value.sender, item.to): item.value for item in found.messages}


def test_every_flag_becomes_a_letter_to_each_agent_that_it_names(letters):
    _, by_ends = letters
    assert {ends: (letter.priority, letter.subject) for ends, letter in by_ends.items()} == {
        ("theseus", "rio"): (
            "high",
            "Agents trade on Drift. The transfer of a table between two of them was what unblocked the work.",
        ),
        ("leo", "rio"): ("high", "Conditional AMMs and resource allocation"),
        ("leo", "astra"): ("high", "Conditional AMMs and resource allocation"),
        ("clay", "leo"): ("normal", "Trust is scarcer than community."),
        ("vida", "rio"): ("normal", "长寿基金的治理"),
    }
    assert {letter.type for letter in by_ends.values()} == {"flag"}
    assert len({letter.id for letter in by_ends.values()}) == 5


def test_the_text_of_a_flag_is_the_body_and_its_date_the_letters(letters, legacy):
    _, by_ends = letters
    path = ".pentagon/workspace/collective/flag-theseus-orchestration.md"
    letter = by_ends["theseus", "rio"]
    assert letter.body == (legacy / "home" / path).read_text().strip()
    assert letter.created_at == "2026-03-29T00:00:00Z" and letter.source_ref == path
    assert letter.extra["recommended_action"] == "enrich"
    assert by_ends["vida", "rio"].created_at == "2026-03-30T00:00:00Z"


def test_what_names_no_sender_or_a_recipient_that_is_none_is_named_with_its_bytes(letters, read, build):
    found, _ = letters
    (left,) = found.skipped
    assert left.location.endswith("flag-nobody.md") and left.found == "no sender" and b"whom it may" in left.data
    place = build({".pentagon/workspace/collective/flag-leo-x.md": "**To**: the good people!\n", "n": ""})
    (found,) = read("flags", place)
    assert not found.messages and "the good people" in found.skipped[0].found


def test_a_flag_without_a_recipient_is_for_whoever_brings_it_over(read, build):
    text = "**Date**: 2026-03-01\n**What I found**: rain\n**Priority**: blocking\n"
    (found,) = read(
        "flags", build({"collective/flag-leo-weather.md": text}) / "collective" / "flag-leo-weather.md"
    ) or [None]
    assert found is None  # named alone it must say that it is a flag
    place = build({".pentagon/workspace/collective/flag-leo-weather.md": text, "flag-x": ""}, "two")
    (found,) = read("flags", place)
    (item,) = found.messages
    assert item.to is None and item.value.sender == "leo" and item.value.priority == "high"


def test_a_flag_that_changes_is_another_letter_of_the_same_flag(read, build):
    path = ".pentagon/workspace/collective/flag-leo-x.md"
    (one,) = read("flags", build({path: "**From**: leo\n**To**: rio\n**Priority**: routine\n"}))
    (two,) = read("flags", build({path: "**From**: leo\n**To**: rio\n**Priority**: blocking\n"}, "later"))
    assert one.messages[0].key == two.messages[0].key and one.messages[0].value.id != two.messages[0].value.id


def test_a_priority_of_ones_own_is_kept_as_a_word(read, build):
    path = ".pentagon/workspace/collective/flag-leo-x.md"
    (found,) = read("flags", build({path: "**From**: leo\n**To**: rio\n**Priority**: whenever\n"}))
    letter = found.messages[0].value
    assert letter.priority == "normal" and letter.extra["priority_word"] == "whenever"
