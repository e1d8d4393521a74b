"""What a command reports about itself is checked field by field, and believed only where it admits a failure."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from worldfs.supervisor.outcome_report import MOST, check

EVERYTHING = {
    "summary": "八个来源 archived",
    "handoff": "conditional AMM failures need extraction",
    "next_priority": "Follow up",
    "branch": "rio/research-2026-03-31",
    "sources_archived": 8,
    "pr_number": 247,
    "tokens_used": 12345,
    "cost_usd": 0.5,
    "claims_proposed": 3,
    "disconfirmation_attempts": 1,
    "disconfirmation_hits": 0,
}


def said(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_everything_that_makes_sense_is_taken() -> None:
    assert check(said(EVERYTHING)) == (EVERYTHING, (), False, ())


def test_the_other_name_of_the_handoff() -> None:
    assert check(said({"handoff_notes": "x"})).figures == {"handoff": "x"}


def test_nothing_is_said_by_null() -> None:
    assert check(said(dict.fromkeys(EVERYTHING))) == ({}, (), False, ())


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("sources_archived", "8", "a whole number, 0 or more"),
        ("sources_archived", True, "a whole number, 0 or more"),
        ("sources_archived", -1, "a whole number, 0 or more"),
        ("sources_archived", 8.5, "a whole number, 0 or more"),
        ("sources_archived", 10**30, "a whole number, 0 or more"),
        ("sources_archived", "0\n0", "a whole number, 0 or more"),
        ("pr_number", [247], "a whole number, 0 or more"),
        ("cost_usd", "cheap", "a number, 0 or more"),
        ("summary", {"text": "x"}, "text"),
        ("errors", [1], "a list of texts"),
        ("outcome", "success", "one of completed, timeout, error"),
        ("a/b~c", 1, "one of"),
    ],
)
def test_a_field_that_makes_no_sense_is_named_and_the_others_are_taken(field: str, value: Any, expected: str) -> None:
    found = check(said({field: value, "branch": "x"}))
    assert found.figures == {"branch": "x"} and not found.failed and found.errors == ()
    (wrong,) = found.wrong
    pointer = field.replace("~", "~0").replace("/", "~1")
    assert wrong.startswith(f"outcome.json#/{pointer}: ") and expected in wrong


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"cost_usd": NaN}', b"1" * 5000, b'{"cost_usd": 1e999999}x']
)
def test_what_is_no_json_is_named_and_nothing_of_it_taken(data: bytes) -> None:
    found = check(data)
    assert found.figures == {} and not found.failed and len(found.wrong) == 1


def test_a_list_is_no_report() -> None:
    assert check(b"[1]").wrong == ("outcome.json: [1]; expected an object",)


def test_an_endless_amount_is_no_amount() -> None:
    assert check(b'{"cost_usd": 1e999}').wrong


def test_a_fence_and_a_byte_order_mark_around_it_do_no_harm() -> None:
    assert check(b'```json\n{"branch": "x"}\n```\n').figures == {"branch": "x"}
    assert check(b'\xef\xbb\xbf{"branch": "x"}').figures == {"branch": "x"}


def test_half_a_character_does_not_stop_the_rest() -> None:
    (text,) = check(b'{"summary": "a\\ud800b"}').figures.values()
    text.encode()
    assert text[0] + text[-1] == "ab"


def report(stage: Any, value: Any, code: int = 0) -> Any:
    text = value if isinstance(value, str) else json.dumps(value)
    return stage.run("/bin/sh", "-c", f'cat > "$PAOS_OUTCOME"; exit {code}', stdin=text.encode())


def test_the_figures_of_a_command_go_into_the_end_of_its_session(stage: Any) -> None:
    ended = report(stage, EVERYTHING)
    assert ended.outcome == "completed" and ended.errors == ()
    assert {key: stage.book.finished[key] for key in EVERYTHING} == EVERYTHING
    assert stage.facts(ended)["reported"] == EVERYTHING


def test_nobody_succeeds_by_saying_so(stage: Any) -> None:
    ended = report(stage, {"outcome": "completed", "sources_archived": 8}, code=3)
    assert (ended.outcome, ended.cause) == ("error", "exit")
    assert stage.book.finished["sources_archived"] == 8


def test_a_command_that_says_it_failed_is_believed(stage: Any) -> None:
    ended = report(stage, {"outcome": "error", "errors": ["rate limit"]})
    assert (ended.outcome, ended.cause, ended.exit_code) == ("error", "reported", 0)
    assert ended.errors == ("rate limit",)


def test_wrong_fields_are_named_in_the_errors_and_change_no_outcome(stage: Any) -> None:
    ended = report(stage, {"sources_archived": "0\n0"})
    assert ended.outcome == "completed"
    assert ended.errors == ('outcome.json#/sources_archived: "0\\n0"; expected a whole number, 0 or more',)


@pytest.mark.parametrize("words", ["mkfifo", "mkdir", "ln -s /etc/passwd", "ln -s /dev/zero"])
def test_what_is_no_file_is_not_read(words: str, stage: Any) -> None:
    ended = stage.run("/bin/sh", "-c", f'{words} "$PAOS_OUTCOME"')
    assert ended.outcome == "completed" and len(ended.errors) == 1
    assert ended.errors[0].startswith("outcome.json: ")


def test_a_report_as_long_as_an_archive_is_not_read(stage: Any) -> None:
    ended = stage.run("/bin/sh", "-c", f"head -c {MOST + 1} /dev/zero > $PAOS_OUTCOME")
    assert ended.errors == (f"outcome.json: {MOST + 1} bytes; expected at most {MOST}",)


def test_the_command_is_told_who_it_is_and_where_its_state_lies(stage: Any) -> None:
    names = ("PAOS_AGENT", "PAOS_AGENTS", "PAOS_SESSION", "PAOS_STATE_DIR", "PAOS_OUTCOME")
    ended = stage.run("/bin/sh", "-c", f"printenv {' '.join(names)}")
    home = str(stage.book.agent_dir.path)
    folder = f"{home}/.paos/sessions/{ended.session.session_id}"
    assert stage.log(ended).decode().splitlines() == [
        "rio", os.path.dirname(home), ended.session.session_id, home, f"{folder}/outcome.json",
    ]  # fmt: skip
