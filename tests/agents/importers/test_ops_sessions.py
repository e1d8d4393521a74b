"""ops/sessions/*.json: three fields a session."""

import pytest


def test_each_file_becomes_the_end_of_a_session_with_its_own_time(read, legacy):
    (found,) = read("ops-sessions", legacy / "collective")
    assert [(item.value["ts"], item.value["outcome"]) for item in found.taken] == [
        ("2026-03-05T19:30:15Z", "completed"),
        ("2026-03-05T20:14:57Z", "completed"),
        ("2026-03-05T23:13:59Z", "timeout"),
        ("2026-03-06T00:18:20Z", "error"),
        ("2026-03-06T11:47:57Z", "completed"),
    ]
    assert found.taken[0].value["session_id"] == "4ee6c75b-1263-4859-acb5-4babbe8079d8"
    assert {item.value["event"] for item in found.taken} == {"session_end"} and not found.skipped


@pytest.mark.parametrize(
    ("content", "pointer", "word"),
    [
        ('{"id": "a", "ended": "2026-03-05T19:30:15Z", "sta', "", "invalid JSON"),
        ({"id": "a", "ended": "2026-03-05T19:30:15Z", "status": "running"}, "#/status", "running"),
        ({"id": "a", "ended": "yesterday", "status": "completed"}, "#/ended", "no time"),
        ({"id": "a", "status": "completed"}, "#/ended", "no time"),
        ([], "", "a JSON list"),
        (b"\x00" * 60, "", "zero bytes"),
        (b'{"id": "\xe9"}', "", "0xe9"),
    ],
)
def test_a_file_that_does_not_say_how_a_session_ended_is_named_and_the_others_count(
    read, build, content, pointer, word
):
    good = {"id": "g", "ended": "2026-03-05T10:00:00Z", "status": "completed"}
    (found,) = read("ops-sessions", build({"ops/sessions/1.json": content, "ops/sessions/2.json": good}))
    assert [item.value["session_id"] for item in found.taken] == ["g"]
    (left,) = found.skipped
    assert left.location == f"ops/sessions/1.json{pointer}" and word in left.found and left.expected


def test_richer_files_of_later_scripts_keep_what_they_say(read, build):
    value = {
        "session_id": "s1", "agent": "Rio", "started_at": "2026-03-05T09:00:00Z", "ended_at": "2026-03-05 10:00:00",
        "outcome": "timed_out", "sources_archived": 4, "branch": "rio/x", "huge": "x" * 9000, "event": "forged",
    }  # fmt: skip
    (found,) = read("ops-sessions", build({"ops/sessions/1.json": value}))
    (item,) = found.taken
    assert item.to == "rio"
    assert item.value == {
        "ts": "2026-03-05T10:00:00Z", "event": "session_end", "session_id": "s1", "outcome": "timeout",
        "started_at": "2026-03-05T09:00:00Z", "status": "timed_out", "sources_archived": 4, "branch": "rio/x",
        "event_there": "forged",
    }  # fmt: skip
    assert [left.location for left in found.skipped] == ["ops/sessions/1.json#/huge"]
