"""SESSIONS.md: read into orders and written back, in the page's dialect and upstream's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.model import Cause, Job, JobState, JobStatus, Outcome
from worldfs.formats import action_write
from worldfs.formats.runtime import sessions
from worldfs.formats.runtime.sessions_write import PAGE

EXAMPLE = (Path(__file__).parents[2] / "fixtures" / "runtime" / "SESSIONS.md").read_bytes()
AT = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:03.500Z")


def sheet(*entries, **more):
    return json.dumps({**more, "sessions": list(entries)}).encode()


def ended(order, outcome):
    state = JobState.SUCCEEDED if outcome.ok else JobState.FAILED
    return Job(order, JobStatus(state, 2, *AT, outcome=outcome))


def written(data, *jobs, **more):
    return action_write.write(data, {job.id: job for job in jobs}, page=PAGE, **more)


def entry_of(data, index=0):
    found, _ = sessions.locate(data.decode())
    return sessions.entries_of(found.value)[index]


def test_the_specifications_example():
    (only,) = sessions.read(EXAMPLE).entries
    order = only.order
    assert (order.id, order.node, order.op, order.priority) == (
        "sess_pick_apple_001", "sim_franka_tabletop", "rekep_pick", "high",
    )  # fmt: skip
    assert (order.total_timeout_s, order.timeout_s, order.step_timeout_s) == (120, 120, 60)
    assert (order.attempts, order.backoff) == (3, "exponential")
    assert order.params == {"object_id": "apple_01", "gripper": "parallel_jaw"}
    assert order.extra["routing"] == {"target_adapter": "SimTargetAdapter", "skill_runtime": "ReKepPolicyRuntime"}


def test_a_result_is_the_only_difference():
    order = sessions.read(EXAMPLE).entries[0].order
    after = written(EXAMPLE, ended(order, Outcome.success("picked", num_steps=9, lifted_m=0.2)))
    entry = entry_of(after)
    assert entry["status"] == "succeeded" and entry["started_at"] == AT[1] and entry["completed_at"] == AT[2]
    assert entry["result"] == {
        "success": True, "attempts": 2, "duration_s": 2.5, "num_steps": 9, "message": "picked",
        "evidence": {"lifted_m": 0.2},
    }  # fmt: skip
    kept = [line for line in EXAMPLE.splitlines() if b"status" not in line]
    assert [line for line in after.splitlines() if line in kept] == kept
    assert written(after, ended(order, Outcome.success("picked", num_steps=9, lifted_m=0.2))) == after


@pytest.mark.parametrize(
    ("cause", "old", "page"),
    [
        (Cause.TIMEOUT, "timed_out", "failed"), (Cause.REJECTED, "rejected", "failed"),
        (Cause.CANCELLED, "cancelled", "failed"), (Cause.ERROR, "failed", "failed"), (Cause.LOST, "failed", "failed"),
    ],
)  # fmt: skip
def test_each_dialect_has_its_words_for_a_failure(cause, old, page):
    r1 = sheet({"session_id": "a", "target_ref": "target://t", "skill_ref": "skill://s"}, version="runtime_sessions_v1")
    order = sessions.read(r1).entries[0].order
    assert (order.node, order.op) == ("t", "s")
    entry = entry_of(written(r1, ended(order, Outcome.failure(cause, "CODE", "why"))))
    assert entry["status"] == entry["result"]["status"] == old and entry["result"]["error_code"] == "CODE"
    assert entry["target_ref"] == "target://t"
    plain = sheet({"session_id": "a", "target_ref": "t", "skill_ref": "s"})
    entry = entry_of(written(plain, ended(order, Outcome.failure(cause, "CODE", "why"))))
    assert entry["status"] == page and entry["error"]["cause"] == cause and entry["error"]["code"] == "CODE"


def test_what_is_added_reads_back_as_the_same_order():
    order = sessions.read(EXAMPLE).entries[0].order
    for data in (b"", "# 会话\n".encode(), sheet({"session_id": "x", "target_ref": "t", "skillruntime_ref": "s"})):
        (back,) = (
            e.order for e in sessions.read(written(data, add=[Job(order, JobStatus())])).entries if e.id == order.id
        )
        assert back == order


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"priority": "urgent"}, "/priority"), ({"target_ref": ""}, "/target_ref"), ({"skill_ref": 3}, "/skill_ref"),
        ({"timeouts": {"session": -1}}, "/timeouts/session"), ({"retry": {"max_attempts": 0}}, "/retry/max_attempts"),
        ({"retry": {"backoff": "soon"}}, "/retry/backoff"), ({"execution": "go"}, "/execution"),
        ({"execution": {"params": []}}, "/execution/params"), ({"session_id": "../x"}, "/session_id"),
        ({"execution": {"action_chunk_mode": "none"}}, "/execution/action_chunk_mode"),
        ({"status": "perhaps"}, "/status"), ({"routing": 1}, "/routing"), ({"depends_on": [1]}, "/depends_on/0"),
    ],
)  # fmt: skip
def test_a_bad_session_is_refused_alone_by_name(change, where):
    good = {"session_id": "a", "target_ref": "t", "skill_ref": "s"}
    found = sessions.read(sheet({**good, "session_id": "b", **change}, good))
    assert [entry.id for entry in found.entries if entry.order] == ["a"]
    assert f"/sessions/0{where}" in found.findings[0].field


def test_an_entry_without_an_id_is_called_after_its_skill_and_stays_so():
    data = sheet({"target_ref": "t", "skill_ref": "pick"})
    id = sessions.read(data).entries[0].id
    assert id.startswith("sess_pick_") and sessions.read(data).entries[0].id == id


def test_upstreams_limits_and_retries():
    entry = {"session_id": "a", "target_ref": "t", "skill_ref": "s", "retry": {"max_retries": 2}, "timeouts": {
        "queue_timeout_s": 30, "preflight_timeout_s": 20, "execute_timeout_s": 300, "policy_timeout_s": 5}}  # fmt: skip
    order = sessions.read(sheet(entry, version="runtime_sessions_v1")).entries[0].order
    assert order.attempts == 3
    assert (order.queue_timeout_s, order.preflight_timeout_s, order.timeout_s, order.step_timeout_s) == (30, 20, 300, 5)


_MEMBERS = ["session_id", "target_ref", "skill_ref", "timeouts", "retry", "execution", "routing", "status", "priority"]
_words = st.text(min_size=1, max_size=8)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | _words,
    lambda inner: st.lists(inner) | st.dictionaries(_words, inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*_MEMBERS, "depends_on", "x"]), _json))
def test_no_entry_however_odd_breaks_the_reader_or_loses_its_neighbour(entry):
    good = {"session_id": "neighbour", "target_ref": "t", "skill_ref": "s"}
    found = sessions.read(sheet(entry, good))
    assert len(found.entries) == 2
    assert found.entries[1].order is not None or found.entries[0].id == "neighbour"
