"""The selector: one end, one event; nothing that ended since the attach is missed, and nothing is told twice."""

import json
from typing import Any

import pytest

from worldfs.access.binding import USER, Binding
from worldfs.base.errors import BadInput
from worldfs.base.model import Cause, Outcome
from worldfs.testing.call_fixtures import ALICE, echo, open_calls, wait_for_call
from worldfs.testing.manual_clock import ManualClock
from worldfs.world.agent_jobs.agent_jobs import AgentJobs
from worldfs.world.agent_jobs.event_selector import EventSelector
from worldfs.world.agent_jobs.wait_selection import REFUSAL

CHAT = "/agents/self/chat/control/input"


def started() -> AgentJobs:
    calls = open_calls(None)
    calls.register("chat", echo, threads=1)
    calls.register("invoke", echo)
    return calls


def say(calls: AgentJobs, text: str = "hello", correlation: str = "", binding: Binding = ALICE) -> str:
    id = calls.submit(binding, "chat", "say", {"text": text}, correlation=correlation)
    wait_for_call(calls, id)
    return id


def waiting_for(selector: EventSelector, *paths: str, **more: object) -> None:
    selector.set(json.dumps({"paths": list(paths), **more}).encode())


def told(selector: EventSelector) -> Any:
    return json.loads(selector.render())


def job_of(selector: EventSelector) -> Any:
    return told(selector).get("job", {}).get("job_id")


def test_an_event_has_the_recorded_shape() -> None:
    calls = started()
    selector = EventSelector(calls, ALICE)
    waiting_for(selector, CHAT)
    id = say(calls, "hello", "corr-9")
    found = told(selector)
    assert found.pop("seq") == calls.visible_job(ALICE, id).ended
    assert found == {
        "configured": True,
        "waiting": False,
        "event_id": 1,
        "source_path": CHAT,
        "event_path": "/agents/self/jobs/job-1/status.json",
        "updated_at_ms": calls.visible_job(ALICE, id).updated_ms,
        "job": {
            "job_id": "job-1",
            "state": "done",
            "correlation_id": "corr-9",
            "status_path": "/agents/self/jobs/job-1/status.json",
            "result_path": "/agents/self/jobs/job-1/result.txt",
            "result": "hello",
            "error": None,
        },
    }
    calls.close()


def test_without_a_selection_next_says_so_and_never_waits() -> None:
    calls = started()
    selector = EventSelector(calls, ALICE)
    assert selector.payload() == b'{"paths":[],"timeout_ms":60000}'
    assert selector.next() is None
    assert selector.render() == b'{"configured":false,"waiting":false,"error":"wait_not_configured"}'
    calls.close()


@pytest.mark.parametrize(
    "payload",
    [
        '{"paths":[]}',
        '{"paths":["/nodes"]}',
        '{"timeout_ms":5}',
        '{"paths":["/agents/self/jobs/job-999/log.txt"]}',
        '{"paths":["/agents/self/chat/control/input"],"timeout_ms":-1}',
        '{"paths":["/agents/self/chat/control/input"],"timeout_ms":true}',
        '{"paths":["/agents/self/chat/control/input"],"timeout_ms":1.5}',
        '{"paths":["/agents/self/chat/control/input",7]}',
        '{"paths":"/agents/self/chat/control/input"}',
        '{"paths":["/agents/self/chat/control/input"],"since":"yesterday"}',
        '{"paths":["/agents/self/chat/control/input"],"since":-4}',
        '{"paths":["/agents/self/chat/control/input"],"kind":"moods"}',
        '{"paths":["/secret"],"kind":"changes"}',
        "[1]",
        "{",
        "[" * 100_000,
    ],
)
def test_a_refused_selection_says_the_recorded_words_and_the_old_one_stays(payload: str) -> None:
    calls = started()
    selector = EventSelector(calls, ALICE)
    waiting_for(selector, CHAT, timeout_ms=7)
    before = selector.payload()
    with pytest.raises(BadInput) as caught:
        selector.set(payload.encode())
    assert (caught.value.found, caught.value.code) == (REFUSAL, "invalid")
    assert (selector.payload(), selector.patience()) == (before, 0.007)
    calls.close()


def test_accepted_are_the_input_also_as_a_suffix_and_status_and_result_below_any_prefix() -> None:
    calls = started()
    selector = EventSelector(calls, ALICE)
    for path in (
        f"/mnt/world{CHAT}",
        "/mnt/agents/self/jobs/job-9/result.txt",
        "/agents/self/jobs/none-yet/status.json",
    ):
        waiting_for(selector, path)
        assert json.loads(selector.payload())["paths"] == [path]
    calls.close()


def test_the_payload_reads_back_trimmed_and_a_blank_one_clears_it() -> None:
    calls = started()
    selector = EventSelector(calls, ALICE)
    selector.set(b'  {"paths": ["%s"], "timeout_ms": 500} \n' % CHAT.encode())
    assert selector.payload() == b'{"paths": ["%s"], "timeout_ms": 500}' % CHAT.encode()
    selector.set(b" \n")
    assert selector.render().startswith(b'{"configured":false')
    calls.close()


def test_a_wait_ends_when_the_call_does_and_only_its_own_topics_wake_it() -> None:
    calls = started()
    selector = EventSelector(calls, ALICE)
    waiting_for(selector, CHAT, timeout_ms=500)
    wait = selector.next()
    assert wait is not None
    assert (wait.topics, wait.timeout, wait.ready()) == (("/agents/alice/chat",), 0.5, False)
    say(calls)
    assert wait.ready()
    assert selector.next() is None
    assert job_of(selector) == "job-1"
    assert selector.next() is not None
    calls.close()


def test_a_timeout_says_how_long_was_waited_and_a_look_at_the_file_is_no_wait() -> None:
    clock = ManualClock()
    calls = open_calls(None, clock)
    selector = EventSelector(calls, ALICE)
    waiting_for(selector, CHAT, timeout_ms=500)
    wait = selector.next()
    assert wait is not None and not wait.ready()
    clock.advance(0.3)
    selector.next()  # a stat in the middle
    clock.advance(0.201)
    assert told(selector) == {"configured": True, "waiting": True, "timeout": True, "waited_ms": 501}
    assert told(selector)["waited_ms"] == 0
    calls.close()


def test_an_end_before_the_wait_was_configured_is_told_at_once() -> None:
    """Decision D43; the reference would wait for ever."""
    calls = started()
    selector = EventSelector(calls, ALICE)
    id = say(calls)
    waiting_for(selector, f"/agents/self/jobs/{id}/status.json")
    assert selector.next() is None
    assert job_of(selector) == id
    assert job_of(selector) is None
    calls.close()


def test_an_end_before_the_attach_is_history() -> None:
    calls = started()
    id = say(calls)
    selector = EventSelector(calls, ALICE)
    waiting_for(selector, CHAT, f"/agents/self/jobs/{id}/result.txt")
    assert job_of(selector) is None
    waiting_for(selector, CHAT, since="start")
    assert job_of(selector) == id
    calls.close()


def test_events_come_in_the_order_of_their_ends_and_none_twice_over_two_paths() -> None:
    calls = started()
    selector = EventSelector(calls, ALICE)
    first, second = say(calls, "one"), say(calls, "two")
    waiting_for(selector, f"/agents/self/jobs/{second}/result.txt", CHAT, f"/agents/self/jobs/{first}/status.json")
    one = told(selector)
    assert (one["job"]["job_id"], one["source_path"], one["event_id"]) == (first, CHAT, 1)
    two = told(selector)
    path = f"/agents/self/jobs/{second}/result.txt"
    assert (two["job"]["job_id"], two["source_path"], two["event_path"], two["event_id"]) == (second, path, path, 2)
    assert two["seq"] > one["seq"]
    assert job_of(selector) is None
    calls.close()


def test_ends_of_one_millisecond_are_all_told() -> None:
    calls = started()  # a clock that stands still
    selector = EventSelector(calls, ALICE)
    waiting_for(selector, CHAT)
    ids = [say(calls) for _ in range(20)]
    assert [job_of(selector) for _ in ids] == ids
    calls.close()


def test_a_new_selection_does_not_tell_again_what_was_given() -> None:
    calls = started()
    selector = EventSelector(calls, ALICE)
    waiting_for(selector, CHAT)
    first, second = say(calls), say(calls)
    assert job_of(selector) == first
    waiting_for(selector, CHAT)
    assert told(selector)["event_id"] == 1
    waiting_for(selector, f"/agents/self/jobs/{first}/status.json", f"/agents/self/jobs/{second}/status.json")
    assert job_of(selector) is None
    calls.close()


def test_since_now_is_the_reference_and_what_it_skipped_is_still_to_be_given() -> None:
    calls = started()
    selector = EventSelector(calls, ALICE)
    skipped = say(calls)
    waiting_for(selector, CHAT, since="now")
    assert job_of(selector) is None
    later = say(calls)
    assert job_of(selector) == later
    waiting_for(selector, CHAT)
    assert job_of(selector) == skipped
    assert job_of(selector) is None
    calls.close()


def test_since_a_number_replays_what_came_after_it() -> None:
    calls = started()
    selector = EventSelector(calls, ALICE)
    ids = [say(calls) for _ in range(3)]
    waiting_for(selector, CHAT)
    seqs = [told(selector)["seq"] for _ in ids]
    waiting_for(selector, CHAT, since=seqs[0])
    assert [job_of(selector) for _ in range(3)] == [ids[1], ids[2], None]
    calls.close()


def test_numbers_go_on_growing_over_a_restart(tmp_path: Any) -> None:
    clock = ManualClock()
    calls = open_calls(tmp_path, clock)
    calls.register("chat", echo)
    selector = EventSelector(calls, ALICE)
    first = say(calls)
    waiting_for(selector, CHAT)
    seq = told(selector)["seq"]
    calls.close()
    clock.advance(1)
    again = open_calls(tmp_path, clock)
    again.register("chat", echo)
    selector = EventSelector(again, ALICE)
    second = say(again)
    waiting_for(selector, CHAT, since=seq)
    assert job_of(selector) == second
    waiting_for(selector, CHAT, since="start")
    assert [job_of(selector), job_of(selector)] == [first, second]
    again.close()


def test_the_chat_source_ignores_invokes_and_other_projects() -> None:
    calls = started()
    selector = EventSelector(calls, ALICE)
    waiting_for(selector, CHAT)
    invoke = calls.submit(ALICE, "invoke", "memory_search", {"text": "x"})
    wait_for_call(calls, invoke)
    say(calls, binding=Binding(USER, "alice", "proj-2"))
    say(calls, binding=Binding(USER, "bob", "proj-1"))
    assert job_of(selector) is None
    waiting_for(selector, f"/agents/self/jobs/{invoke}/result.txt")
    assert job_of(selector) == invoke
    calls.close()


def test_a_failed_job_tells_its_error_as_the_result() -> None:
    calls = open_calls(None)
    calls.register("chat", lambda run: Outcome.failure(Cause.ERROR, "", "missing provider API key"))
    selector = EventSelector(calls, ALICE)
    waiting_for(selector, CHAT)
    say(calls)
    job = told(selector)["job"]
    assert (job["state"], job["result"], job["error"]) == ("failed",) + 2 * ("missing provider API key",)
    calls.close()


def test_changes_of_any_readable_path_are_told_with_number_path_kind_and_actor() -> None:
    calls = started()
    selector = EventSelector(calls, ALICE, lambda path: not path.startswith("/nodes/hidden"))
    waiting_for(selector, "/nodes", "/agents/self", kind="changes")
    wait = selector.next()
    assert wait is not None
    assert wait.topics == ("/nodes", "/agents/alice")
    calls.feed.publish("/nodes/hidden", kind="changed", actor="eve")
    calls.feed.publish("/projects/proj-1")
    assert not wait.ready()
    seq = calls.feed.publish("/nodes/edge/STATUS.json", kind="changed", actor="edge")
    assert wait.ready()
    found = told(selector)
    assert found["change"] == {
        "seq": calls.number_of(seq), "path": "/nodes/edge/STATUS.json", "kind": "changed", "actor": "edge",
    }  # fmt: skip
    assert "job" not in found
    id = say(calls)
    assert told(selector)["change"]["path"] == f"/agents/self/jobs/{id}"
    assert [told(selector)["change"]["kind"] for _ in range(2)] == ["running", "done"]
    assert told(selector)["waiting"] is True
    calls.close()


def test_a_publication_of_several_selected_paths_names_all_that_may_be_read() -> None:
    calls, watched = started(), []
    selector = EventSelector(
        calls, ALICE, lambda path: not path.startswith("/nodes/hidden"), watched=lambda: watched.append(1)
    )
    waiting_for(selector, "/meta", "/nodes", kind="changes", since="now")
    assert watched == [1], "the changes of stored files are looked for from now on"
    calls.feed.publish("/meta/status.json", "/nodes/edge/TASK.md", "/nodes/hidden/TASK.md", "/projects/x")
    assert told(selector)["change"]["paths"] == ["/meta/status.json", "/nodes/edge/TASK.md"]
    assert told(selector)["waiting"] is True
    calls.close()


def test_a_change_above_the_watched_path_is_a_change_of_it() -> None:
    calls = started()
    selector = EventSelector(calls, ALICE, lambda path: True)
    waiting_for(selector, "/nodes/edge/STATUS.json", kind="changes", since="now")
    calls.feed.publish("/nodes")
    assert told(selector)["change"]["path"] == "/nodes/edge/STATUS.json"
    calls.feed.publish()  # anything
    assert told(selector)["change"]["path"] == "/nodes/edge/STATUS.json"
    calls.feed.publish("/nodes/edgeways")
    assert told(selector)["waiting"] is True
    calls.close()
