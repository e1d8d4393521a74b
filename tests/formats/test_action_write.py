"""The kernel's word goes into the sheet in the dialect found, and no other byte moves."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.base.model import Cause, Finding, Job, JobState, JobStatus, Order, Outcome
from worldfs.formats import action, action_write, block
from worldfs.formats.action_write import write

DOCUMENTS = Path(__file__).parent.parent / "fixtures" / "documents"
END = "2026-11-21T00:00:09Z"


def document(name):
    return (DOCUMENTS / name).read_bytes()


def spec():
    return document("page_action_zh.json")


def job(id, state=JobState.RUNNING, outcome=None, **order):
    ended = END if state.terminal else ""
    return Job(
        Order(id, order.pop("node", ""), order.pop("op", "x"), **order),
        JobStatus(state, completed_at=ended, outcome=outcome),
    )


def succeeded(id, message="", **evidence):
    return job(id, JobState.SUCCEEDED, Outcome.success(message, **evidence))


def failed(id, cause=Cause.ERROR, code="RUNTIME_ERROR", message="it broke", **more):
    return job(id, JobState.FAILED, Outcome.failure(cause, code, message, **more))


def jobs(*some):
    return {job.id: job for job in some}


WRAPS = {
    "bare": lambda data: data,
    "fenced": lambda data: b"# ACTION\n\nprose `queue`\n\n```json\n" + data + b"```\n\nmore\n",
    "no last newline": lambda data: b"# A\n```json\n" + data + b"```",
    "crlf": lambda data: (b"# \xe5\x8a\xa8\xe4\xbd\x9c\n~~~JSON\n" + data + b"~~~\n").replace(b"\n", b"\r\n"),
    "mark": lambda data: "\ufeff".encode() + data,
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("name", ["page_action_en.json", "page_action_zh.json"])
def test_a_status_is_the_only_difference(name, wrap):
    data = WRAPS[wrap](document(name))
    assert write(data, {}) is data
    assert write(data, jobs(job("act_002", JobState.PENDING), job("unknown"))) is data
    head, _, tail = data.rpartition(b'"status": "pending"')
    assert write(data, jobs(job("act_002"))) == head + b'"status": "running"' + tail


def test_success_is_written_with_its_evidence():
    after = write(
        spec(), jobs(succeeded("act_002", "抓住了", distance=0.00123456789, poses=((1, 2), 3.0), bad=float("nan")))
    )
    head = spec().decode().rpartition('"status": "pending"')[0]
    entry = json.loads(after)["queue"][1]
    assert entry["result"] == {
        "message": "抓住了", "evidence": {"distance": 0.001235, "poses": [[1, 2], 3.0], "bad": None},
    }  # fmt: skip
    assert (entry["status"], entry["completed_at"]) == ("completed", END)
    assert after.decode().startswith(head + '"status": "completed"')
    assert "抓住了" in after.decode()
    assert (
        write(
            after, jobs(succeeded("act_002", "抓住了", distance=0.00123456789, poses=((1, 2), 3.0), bad=float("nan")))
        )
        is after
    )
    big = write(spec(), jobs(succeeded("act_002", "m", huge=list(range(5000)))))
    assert json.loads(big)["queue"][1]["result"] == {"message": "m"}


def test_failure_is_written_with_cause_and_the_end_of_its_trace():  # W5
    trace = "first line\n" + "é" * 5000 + "ValueError: last line"
    after = write(spec(), jobs(failed("act_002", traceback=trace)))
    entry = json.loads(after)["queue"][1]
    assert (entry["status"], entry["completed_at"]) == ("failed", END)
    error = entry["error"]
    assert (error["cause"], error["code"], error["message"]) == ("error", "RUNTIME_ERROR", "it broke")
    assert error["traceback"].endswith("ValueError: last line")
    assert len(error["traceback"].encode()) <= 4096
    again = write(after, jobs(job("act_002", JobState.PENDING)))
    assert again == spec()


def test_the_job_s_word_stands_against_a_stale_rewrite():
    after = write(spec(), jobs(job("act_001")))
    entry = json.loads(after)["queue"][0]
    assert entry["status"] == "running"
    assert "completed_at" not in entry


def test_entries_are_dropped_and_added_with_their_lines():
    new = job("act_003", JobState.PENDING, node="franka_001", op="place", params={"target_position": (0.5, 0.0, 0.1)},
              created_at="2025-04-01T12:00:09Z")  # fmt: skip
    after = write(spec(), {}, drop=("act_001",), add=(new,)).decode()
    start = spec().decode().index('    {\n      "action_id": "act_002"')
    kept = spec().decode()[start:].removesuffix("\n  ]\n}\n")
    assert after == (
        '{\n  "queue": [\n' + kept + ',\n    {\n      "action_id": "act_003",\n      "action_type": "place",\n'
        '      "params": {\n        "target_position": [0.5, 0.0, 0.1]\n      },\n      "status": "pending",\n'
        '      "robot_id": "franka_001",\n      "created_at": "2025-04-01T12:00:09Z"\n    }\n  ]\n}\n'
    )
    order = action.read(after.encode()).entries[1].order
    assert action.entry_digest(order) == action.entry_digest(new.order)


@pytest.mark.parametrize(
    ("data", "begins"),
    [
        (b"", b"# ACTION\n\n```json\n{\n"),
        (b"{}\n", b"{\n"),
        (b"# My robot\r\nprose", b"# My robot\r\nprose\r\n\r\n```json\r\n"),
    ],
)
def test_an_empty_sheet_stays_empty_until_something_is_added(data, begins):
    assert write(data, jobs(job("a")), drop=("b",)) is data
    after = write(data, {}, add=(job("a", op="move_to", node="r"), succeeded("b", "ok")))
    assert after.startswith(begins)
    read = action.read(after)
    assert [(entry.id, entry.word, entry.state) for entry in read.entries] == [
        ("a", "running", "between"), ("b", "completed", "terminal"),
    ]  # fmt: skip
    assert read.findings == ()


@pytest.mark.parametrize(
    "data",
    [b'{"queue": null}', b"queue:\n", b"# x\nqueue: []  # none yet\n", b"```yaml\nqueue: null\n```\n", b'{"queue":[]}'],
)
def test_an_empty_list_of_any_spelling_takes_entries(data):
    after = write(data, {}, add=(job("a", op="move_to", params={"x": [1, 2]}),))
    (entry,) = action.read(after).entries
    assert (entry.order.params, entry.word) == ({"x": [1, 2]}, "running")
    assert write(after, jobs(job("a"))) is after
    assert action.read(write(after, {}, drop=("a",))).entries == ()


def test_the_template_is_an_empty_sheet():
    assert action.read(action_write.TEMPLATE) == action.ParsedSheet("page")
    after = write(action_write.TEMPLATE, {}, add=(job("a", params={"x": 1}),)).decode()
    assert after.startswith('# ACTION\n\n```json\n{\n  "queue": [\n    {\n      "action_id": "a",\n')
    assert after.endswith("    }\n  ]\n}\n```\n")


def test_q1_is_written_in_its_own_form():
    data = document("q1_action.md")
    nameless = action.read(data).entries[2].id
    after = write(
        data,
        jobs(failed("0123456789ab", Cause.CANCELLED, "CANCELLED", "stopped"), succeeded(nameless, "moved")),
        add=(job("ffff00001111", node="go2_edu_001", op="pick_up", params={"target": "cup"}),),
    ).decode()
    text = data.decode()
    text = text.replace(
        '"status": "pending", "reasoning": "second step"}',
        '"status": "cancelled", "reasoning": "second step", '
        '"error": {"cause": "cancelled", "code": "CANCELLED", "message": "stopped"}, "result": "stopped"}',
    )
    text = text.replace(
        '{"x": 1.50, "y": 0, "z": 0}}',
        '{"x": 1.50, "y": 0, "z": 0}, "status": "completed", "result": "moved"},\n    {"id": "ffff00001111", '
        '"action_type": "pick_up", "parameters": {"robot_id": "go2_edu_001", "target": "cup"}, "status": "running"}',
    )
    assert after == text
    again = action.read(after.encode())
    assert again.entries[2].id == nameless
    assert again.findings == ()


def test_a_bare_action_is_written_in_place_and_becomes_a_list_only_when_it_must():
    data = document("q1_bare_action.md")
    id = action.read(data).entries[0].id
    done = write(data, jobs(succeeded(id, "got it")))
    assert done == data.replace(b'"pending"', b'"completed",\n  "result": "got it"')
    grown = write(data, {}, add=(job("b", op="place"),))
    assert b'{"actions": [{\n  "action_type": "pick_up",\n  "parameters": {"target": "red_apple"},\n' in grown
    assert [entry.id for entry in action.read(grown).entries] == [id, "b"]
    assert action.read(write(data, {}, drop=(id,))).entries == ()


def test_yaml_keeps_its_comments():
    data = document("page_action.yaml")
    after = write(data, jobs(failed("act_002", message="out of reach")))
    assert after.startswith(data.replace(b"status: pending", b"status: failed"))
    assert action.read(after).findings == ()
    assert block.find(after.decode(), ("queue",)).value["queue"][1]["error"]["message"] == "out of reach"


def test_what_could_not_be_read_stays_as_it_is_or_is_marked():  # W8, W9
    text = (
        '{"v": 1.0, "queue": [7, {"action_id": "a", "priority": "urgent", "我": [1.50]}, {"action_id": "b", "k": {}}]}'
    )
    assert write(text.encode(), jobs(job("c")), drop=("d",)) == text.encode()
    finding = Finding("SCHEMA_VALIDATION", "ACTION.md /queue/1/priority", "high", "urgent", "say high", "a")
    after = write(text.encode(), jobs(job("b")), marks={0: finding, 1: finding}).decode()
    assert after.startswith(
        '{"v": 1.0, "queue": [7, {"action_id": "a", "priority": "urgent", "我": [1.50], "status": "failed"'
    )
    entry = json.loads(after)["queue"][1]
    assert entry["error"]["code"] == "SCHEMA_VALIDATION"
    assert entry["error"]["fix"] == "say high"
    assert after.endswith('{"action_id": "b", "k": {}, "status": "running"}]}')
    assert write(after.encode(), jobs(job("b")), marks={0: finding, 1: finding}).decode() == after


def test_a_marked_entry_does_not_show_the_job_of_the_id_that_it_reused():
    data = b'{"queue": [{"action_id": "a", "params": {"x": 2}}]}'
    finding = Finding("ID_REUSED", "ACTION.md /queue/0", "x 1", "x 2", "use a new id", "a")
    entry = json.loads(write(data, jobs(succeeded("a", "done")), marks={0: finding}))["queue"][0]
    assert (entry["status"], entry["error"]["code"]) == ("failed", "ID_REUSED")


def test_of_two_entries_with_one_id_the_first_shows_the_job():
    after = write(b'{"queue": [{"action_id": "a"}, {"action_id": "a"}]}', jobs(job("a")))
    assert after == b'{"queue": [{"action_id": "a", "status": "running"}, {"action_id": "a"}]}'


def test_an_unreadable_sheet_is_never_replaced():  # W8
    for data in (spec()[:-9], b'{"queue": 3}', b"\xff"):
        with pytest.raises(BadInput):
            write(data, jobs(job("act_001")), add=(job("b"),))


def test_limits_of_an_order_survive_the_sheet():
    order = Order("a", "r", "x", priority="high", timeout_s=12.5, queue_timeout_s=7.0, attempts=3, backoff="linear",
                  depends_on=("b",), extra={"why": "x"}, sheet="ACTION.md")  # fmt: skip
    for data in (b"", b'{"actions": []}'):
        read = action.read(write(data, {}, add=(Job(order, JobStatus()),))).entries[0].order
        assert replace(read, params={}) == order
        assert action.entry_digest(read) == action.entry_digest(order)


def test_a_thousand_entries_are_written():
    entries = [
        {"action_id": f"a{i}", "action_type": "x", "params": {"p": [i, 0.5]}, "status": "pending"} for i in range(1000)
    ]
    data = json.dumps({"queue": entries}, indent=2).encode()
    after = write(data, jobs(job("a5"), succeeded("a999", "ok")), drop={"a0", "a500"}, add=(job("new"),))
    assert len(action.read(after).entries) == 999


states = st.sampled_from(["pending", "Running", "completed", "failed", "cancelled", "nonsense", None, 3])
extras = st.dictionaries(
    st.sampled_from(["note", "result", "error", "completed_at"]), st.sampled_from([1.0, "x", {}, None])
)
entries = st.builds(
    lambda id, status, extra: extra | {"action_id": id, "action_type": "m", "status": status},
    st.sampled_from("abcde"),
    states,
    extras,
)


@given(
    st.lists(entries, max_size=5),
    st.dictionaries(st.sampled_from("abcde"), st.sampled_from(list(JobState))),
    st.sets(st.sampled_from("abcde"), max_size=2),
    st.lists(st.sampled_from("xyz"), unique=True),
    st.sampled_from([None, 2]),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_any_sheet_takes_the_kernel_s_word_once(sheet, known, drop, add, indent):
    def outcome(state):
        return Outcome.success("ok") if state is JobState.SUCCEEDED else Outcome.failure(Cause.LOST, "LOST", "lost")

    board = {id: job(id, state, outcome(state) if state.terminal else None) for id, state in known.items()}
    data = json.dumps({"queue": sheet, "z": 1.0}, indent=indent).encode()
    after = write(data, board, drop=drop, add=[job(id) for id in add])
    assert write(after, board, drop=drop) == after
    value = json.loads(after)
    assert value["z"] == 1.0
    assert [e["action_id"] for e in value["queue"]] == [
        e["action_id"] for e in sheet if e["action_id"] not in drop
    ] + add
    words = {
        JobState.PENDING: ("pending", None),
        JobState.RUNNING: ("running",),
        JobState.SUCCEEDED: ("completed",),
        JobState.FAILED: ("failed",),
    }
    for id, state in known.items():
        shown = [entry for entry in value["queue"] if entry["action_id"] == id]
        if shown:
            word = shown[0].get("status")
            assert (word.lower() if isinstance(word, str) else word) in words[state]
