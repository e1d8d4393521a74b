"""A place: an order in any known spelling becomes a call; status, result and controls are those of the newest one."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worldfs.access.binding import USER, Binding
from worldfs.base.errors import BadInput
from worldfs.base.model import Cause, Finding, Json
from worldfs.testing.call_fixtures import ALICE, StaticEndpoint, open_calls, wait_for_call, wait_until
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.agent_jobs.agent_job_table import KEEP_S
from worldfs.world.agent_jobs.agent_jobs import AgentJobs
from worldfs.world.services.endpoint_orders import IDLE_RESULT, IDLE_STATUS, BoundEndpoint, EndpointOrders
from worldfs.world.services.service_tool import ToolError
from worldfs.world.services.tool_order import REFUSAL

MEMORY = StaticEndpoint(
    "memory", "memory", "", {"create": "memory_create", "search": "memory_search"}, {"tool_family": "memory"}
)
WEB = StaticEndpoint("web_search", "web_search", "", {"search": "web_search"}, {"tool": "web_search"})
ARM = StaticEndpoint("/nodes/arm_1/body", "body", "arm_1", {"move_to": "move_to"}, {"type": "driver"})
DRILL = StaticEndpoint("/nodes/n/tool/main", "tool-main", "n", {}, {})


class Mirror:
    """Answers with what it was asked; waits for `go` when there is one."""

    def __init__(self) -> None:
        self.go: threading.Event | None = None

    def invoke(self, tool: str, args: Json, run: AgentJobContext) -> Json:
        if self.go is not None:
            self.go.wait(PATIENCE_S)
        if args.get("fail"):
            raise ToolError("invalid_args", f"{tool} requires 'x'")
        if args.get("refuse"):
            finding = Finding("CRITIC_REFUSED", "f", "e", "found", "fix")
            raise ToolError("critic", "too far", cause=Cause.REJECTED, findings=(finding,), evidence={"m": 1.2})
        return {"tool": tool, "args": args, "node": run.params["node"]}


class Bench:
    def __init__(self, home: Path | None = None, clock: ManualClock | None = None) -> None:
        self.mirror = Mirror()
        self.calls: AgentJobs = open_calls(home, clock)
        self.orders = EndpointOrders(self.calls, {"memory": self.mirror, "web_search": self.mirror}, self.mirror)

    def at(self, spot: StaticEndpoint, binding: Binding = ALICE) -> BoundEndpoint:
        return self.orders.endpoint(binding, spot)

    def ask(self, spot: StaticEndpoint, file: str, payload: object) -> Any:
        """The result of an accepted order, after its end."""
        place = self.at(spot)
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        wait_for_call(self.calls, place.write(file, data).extra["job"])
        return json.loads(place.result())


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.calls.close()


@pytest.mark.parametrize(
    ("spot", "file", "payload", "tool", "args"),
    [
        (MEMORY, "invoke.json", {"tool": "memory_search", "args": {"query": "a"}}, "memory_search", {"query": "a"}),
        (MEMORY, "invoke.json", {"tool_name": "memory_search", "arguments": {"q": 1}}, "memory_search", {"q": 1}),
        (MEMORY, "invoke.json", {"op": "memory_x", "arguments": {"a": 1}, "args": {"b": 2}}, "memory_x", {"a": 1}),
        (MEMORY, "invoke.json", {"tool": "", "tool_name": 5, "op": "memory_load"}, "memory_load", {}),
        (MEMORY, "create.json", {"kind": "note", "content": 1}, "memory_create", {"kind": "note", "content": 1}),
        (MEMORY, "create.json", {"tool": "memory_create", "kind": "note"}, "memory_create", {}),
        (MEMORY, "create.json", {"args": {"kind": "note"}}, "memory_create", {"kind": "note"}),
        (WEB, "invoke.json", {"query": "zig"}, "web_search", {"query": "zig"}),
        (WEB, "invoke.json", {"tool": "web_search", "arguments": None, "args": {"q": 1}}, "web_search", {"q": 1}),
        (ARM, "invoke.json", {"target": [1, 2]}, "move_to", {"target": [1, 2]}),
        (ARM, "invoke.json", {"op": "pick_up", "args": {"o": "a"}}, "pick_up", {"o": "a"}),
        (DRILL, "invoke.json", {"op": "drill"}, "drill", {}),
    ],
)  # fmt: skip
def test_an_order_is_understood_in_every_spelling(
    bench: Bench, spot: StaticEndpoint, file: str, payload: Json, tool: str, args: Json
) -> None:
    assert bench.ask(spot, file, payload) == {"tool": tool, "args": args, "node": spot.node}


@pytest.mark.parametrize(
    ("spot", "file", "data"),
    [
        (MEMORY, "invoke.json", b'{"op":"search","arguments":{}}'),
        (MEMORY, "invoke.json", b'{"query":"auto"}'),
        (MEMORY, "invoke.json", b'{"tool_name":"web_search"}'),
        (MEMORY, "create.json", b'{"tool_name":"memory_search"}'),
        (MEMORY, "create.json", b"[1]"),
        (MEMORY, "create.json", b""),
        (MEMORY, "create.json", b'{"args":[1]}'),
        (MEMORY, "create.json", b'{"kind":"n"'),
        (MEMORY, "create.json", b"\xff{}"),
        (MEMORY, "create.json", b"[" * 200_000),
        (WEB, "search.json", b'{"tool":"memory_search"}'),
        (DRILL, "invoke.json", b"{}"),
    ],
)
def test_a_refused_payload_changes_nothing_but_says_so(
    bench: Bench, spot: StaticEndpoint, file: str, data: bytes
) -> None:
    place = bench.at(spot)
    with pytest.raises(BadInput) as caught:
        place.write(file, data)
    assert (caught.value.found, caught.value.code) == (REFUSAL, "invalid")
    assert (bench.calls.ids(ALICE), place.control(file), place.result()) == ([], b"", IDLE_RESULT)
    status = json.loads(place.status())
    assert status.pop("last_error")["message"] == REFUSAL
    assert status == json.loads(IDLE_STATUS)


@pytest.mark.parametrize("data", [b'{"kind":"n","content":NaN}', b'{"kind":"n","content":[1e999]}'])
def test_a_number_that_is_none_is_refused_and_named(bench: Bench, data: bytes) -> None:
    place = bench.at(MEMORY)
    with pytest.raises(BadInput, match=r"number that is none, or too large: (NaN|1e999)"):
        place.write("create.json", data)
    assert (bench.calls.ids(ALICE), place.control("create.json"), place.result()) == ([], b"", IDLE_RESULT)


def test_the_next_accepted_order_takes_the_refusal_away(bench: Bench) -> None:
    place = bench.at(WEB)
    with pytest.raises(BadInput):
        place.write("search.json", b"[]")
    bench.ask(WEB, "search.json", {"query": "a"})
    assert "last_error" not in json.loads(place.status())


def test_beside_its_arguments_an_order_says_how_it_is_carried_out(bench: Bench) -> None:
    said = {
        "priority": "high",
        "timeouts": {"execute": 5, "queue": 9},
        "retry": {"max_attempts": 3, "backoff": "linear"},
    }
    bench.ask(MEMORY, "search.json", {"query": "a"})
    terms = {**said, "depends_on": ["job-1"]}
    result = bench.ask(MEMORY, "search.json", {"arguments": {"query": "b"}, **terms})
    order = bench.calls.job("job-2").order
    assert (result["args"], order.priority, order.timeout_s, order.queue_timeout_s) == (
        {"query": "b"},
        "high",
        5.0,
        9.0,
    )
    assert (order.attempts, order.backoff, order.depends_on) == (3, "linear", ("job-1",))
    assert json.loads(bench.at(MEMORY).control("search.json")) == {"arguments": {"query": "b"}, **terms}


@pytest.mark.parametrize("payload", [{"priority": 7, "query": "a"}, {"op": "x", "priority": 7, "retry": "never"}])
def test_without_arguments_every_member_is_the_tools(bench: Bench, payload: Json) -> None:
    assert "error" not in bench.ask(DRILL if "op" in payload else WEB, "invoke.json", payload)
    assert bench.calls.job("job-1").order.priority == "normal"


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"priority": "urgent"}, "priority is 'urgent'; it must be high, normal, medium, low"),
        ({"timeouts": {"queue": -1}}, "timeouts/queue is '-1'; it must be seconds, more than 0"),
        ({"retry": {"max_attempts": 0}}, "retry/max_attempts is '0'; it must be a whole number up to 1000"),
        ({"depends_on": [1]}, "depends_on/0 is '1'; it must be the id of an action"),
        ({"depends_on": ["job-9"]}, "depends_on names no job of yours: 'job-9'"),
    ],
)
def test_wrong_terms_are_refused_by_name_and_submit_nothing(bench: Bench, terms: Json, said: str) -> None:
    place = bench.at(WEB)
    with pytest.raises(BadInput) as caught:
        place.write("invoke.json", json.dumps({"arguments": {"query": "a"}, **terms}).encode())
    assert (caught.value.found, caught.value.code) == (said, "invalid")
    assert json.loads(place.status())["last_error"]["message"] == said
    assert bench.calls.ids(ALICE) == []


def test_an_untouched_place_is_idle(bench: Bench) -> None:
    place = bench.at(MEMORY)
    assert (place.control("create.json"), place.status(), place.result()) == (b"", IDLE_STATUS, IDLE_RESULT)


def test_a_write_is_answered_with_its_job_and_waits_for_its_end_at_most_five_seconds(bench: Bench) -> None:
    bench.mirror.go = threading.Event()
    place = bench.at(MEMORY)
    data = b'  {"query": "a"}\n'
    written = place.write("search.json", data)
    assert (written.n, written.extra) == (len(data), {"job": "job-1"})
    wait = written.until
    assert wait is not None
    assert (wait.topics, wait.timeout, wait.ready()) == (("/agents/alice/jobs/job-1",), 5.0, False)
    assert json.loads(place.status())["state"] == "running"
    assert place.result() == IDLE_RESULT
    assert place.control("search.json") == b'{"query": "a"}'  # trimmed
    bench.mirror.go.set()
    wait_until(wait.ready)
    assert json.loads(place.status())["state"] == "done"
    assert bench.calls.ids(ALICE) == ["job-1"]


def test_a_failed_tool_stands_in_status_and_result(bench: Bench) -> None:
    assert bench.ask(MEMORY, "create.json", {"fail": True}) == {
        "error": {"code": "invalid_args", "message": "memory_create requires 'x'"}
    }
    at = int(bench.calls.clock.now().timestamp() * 1000)
    assert json.loads(bench.at(MEMORY).status()) == {
        "state": "failed", "tool": "memory_create", "updated_at_ms": at, "error": "memory_create requires 'x'",
    }  # fmt: skip


def test_what_was_rejected_says_so_with_findings_and_evidence(bench: Bench) -> None:
    error = bench.ask(ARM, "move_to.json", {"refuse": True})["error"]
    assert (error["code"], error["message"]) == ("rejected", "rejected: too far")
    assert error["findings"] == [
        {"code": "CRITIC_REFUSED", "field": "f", "expected": "e", "found": "found", "fix": "fix"}
    ]
    assert error["evidence"] == {"m": 1.2}


def test_each_place_agent_and_project_has_its_own(bench: Bench) -> None:
    bench.ask(MEMORY, "search.json", {"query": "a"})
    contract = MEMORY._replace(place="services/contracts/memory")
    for other in (bench.at(contract), bench.at(MEMORY, Binding(USER, "bob", "proj-1")),
                  bench.at(MEMORY, Binding(USER, "alice", "proj-2"))):  # fmt: skip
        assert (other.status(), other.result(), other.control("search.json")) == (IDLE_STATUS, IDLE_RESULT, b"")


def test_all_of_it_is_there_after_a_restart_and_after_a_day(tmp_path: Path) -> None:
    clock = ManualClock()
    bench = Bench(tmp_path, clock)
    bench.ask(MEMORY, "create.json", {"kind": "note", "content": "größe"})
    bench.ask(MEMORY, "search.json", {"query": "a"})
    place = bench.at(MEMORY)
    before = place.status(), place.result(), place.control("create.json"), place.control("search.json")
    assert json.loads(before[2])["content"] == "größe"
    bench.calls.close()
    again = Bench(tmp_path, clock)
    place = again.at(MEMORY)
    assert (place.status(), place.result(), place.control("create.json"), place.control("search.json")) == before
    clock.advance(KEEP_S + 1)
    assert again.calls.ids(ALICE) == []
    assert (place.status(), place.result(), place.control("create.json"), place.control("search.json")) == before
    again.calls.close()


def test_one_agents_memory_is_asked_in_order_and_the_web_does_not_wait_for_it(bench: Bench) -> None:
    bench.mirror.go = gate = threading.Event()
    first = [bench.at(MEMORY).write("search.json", b'{"query":"%d"}' % n).extra["job"] for n in range(4)]
    wait_until(lambda: bench.calls.visible_job(ALICE, first[0]).word == "running")
    assert [bench.calls.visible_job(ALICE, id).word for id in first[1:]] == ["queued"] * 3
    web = bench.at(WEB).write("search.json", b'{"query":"a"}').extra["job"]
    wait_until(lambda: bench.calls.visible_job(ALICE, web).word == "running")
    gate.set()
    for id in [*first, web]:
        wait_for_call(bench.calls, id)
    ends = [bench.calls.visible_job(ALICE, id).ended for id in first]
    assert ends == sorted(ends)


def test_a_change_of_a_place_is_published_there(bench: Bench) -> None:
    bench.ask(MEMORY, "search.json", {"query": "a"})
    bench.ask(ARM, "move_to.json", {})
    topics = {topic for item in bench.calls.feed.since(0) for topic in item.topics}
    assert {"/agents/alice/memory", "/nodes/arm_1/body"} <= topics
