"""News: the difference of two looks at the status, told once and in order."""

from __future__ import annotations

from typing import Any

from worldfs.interfaces.cli.command_output import columns
from worldfs.interfaces.cli.status_command import status_lines
from worldfs.interfaces.cli.status_diff import diff_status, event_line, job_line

JOB: dict[str, Any] = {
    "id": "act_1",
    "node": "arm",
    "op": "pick_up",
    "params": {"object_id": "apple"},
    "state": "running",
}
ENDED = {
    **JOB,
    "state": "failed",
    "cause": "rejected",
    "message": "out of reach\nmore",
    "completed_at": "2026-11-21T10:02:03Z",
}


def test_a_job_that_starts_and_ends_is_told_twice() -> None:
    idle: dict[str, Any] = {"kernel": {"pid": 1}, "recent": []}
    assert [e["state"] for e in diff_status(idle, {**idle, "recent": [JOB]})] == ["running"]
    assert [e["state"] for e in diff_status({**idle, "recent": [JOB]}, {**idle, "recent": [ENDED]})] == ["failed"]
    assert diff_status({**idle, "recent": [ENDED]}, {**idle, "recent": [ENDED]}) == []


def test_a_job_that_started_and_ended_between_two_looks_is_still_told() -> None:
    assert [e["state"] for e in diff_status({"recent": []}, {"recent": [ENDED]})] == ["failed"]


def test_the_first_look_tells_what_goes_on_and_not_what_is_over() -> None:
    assert [e["state"] for e in diff_status({}, {"recent": [ENDED, {**JOB, "id": "act_2"}]})] == ["running"]


def test_a_second_attempt_is_news() -> None:
    first, second = {**JOB, "attempt": 1}, {**JOB, "attempt": 2}
    assert len(diff_status({"recent": [first]}, {"recent": [second]})) == 1


def test_nodes_alerts_and_the_kernel_are_told_when_they_change() -> None:
    before = {"kernel": None, "nodes": [{"id": "arm", "state": "ready", "held": None}], "alerts": ["a"]}
    after = {"kernel": {"pid": 7}, "nodes": [{"id": "arm", "state": "ready", "held": "apple"}], "alerts": ["a", "b"]}
    told = diff_status(before, after)
    assert [event["event"] for event in told] == ["kernel", "node", "alert"]
    assert event_line(told[0])[0] == "kernel started"
    assert event_line(told[1])[0] == "arm: ready, holding apple"
    assert event_line(told[2])[0] == "alert: b"


def test_a_job_line_says_when_what_how_and_why_in_one_line() -> None:
    assert job_line(ENDED) == "10:02:03  act_1  arm pick_up object_id=apple  failed (rejected): out of reach"


def test_the_status_of_a_world_without_a_kernel_says_how_to_start_one() -> None:
    said = "\n".join(
        line for line, _ in status_lines({"workspace": "/w", "kernel": None, "nodes": [], "jobs": {"pending": 2}})
    )
    assert "not running (start it with: paos up)" in said
    assert "2 pending" in said
    assert "running 0" not in said


def test_wide_signs_take_two_columns() -> None:
    assert columns([("苹果", "x"), ("abcd", "y"), ("a", "z")]) == ["苹果  x", "abcd  y", "a     z"]
