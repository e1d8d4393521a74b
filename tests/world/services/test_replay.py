"""The recorded exchanges of memory, web_search, chat and events, at our own classes: every difference is a decision.

Normalised: times, and the length of waits. Acheron errors, stats and job listings are replayed where the wire is.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worldfs.access.binding import USER, Binding
from worldfs.base.errors import BadInput
from worldfs.testing.call_fixtures import StaticEndpoint, wait_until
from worldfs.testing.manual_clock import ManualClock
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import WriteContext
from worldfs.world.layout.agent_rows import MEMORY_OPS, SEARCH_OPS
from worldfs.world.services.agent_services import AgentServices, BindingActions

RECORDED = Path(__file__).parents[2] / "fixtures" / "acheron"
ALICE = Binding(USER, "alice", "proj-1")
BASE = "/agents/self/"
SPOTS = {
    place: StaticEndpoint(place, service, "", ops if place == service else {}, runtime)
    for service, ops, runtime in (
        ("memory", MEMORY_OPS, {"tool_family": "memory"}),
        ("web_search", SEARCH_OPS, {"tool": "web_search"}),
    )
    for place in (service, f"services/contracts/{service}")
}


def recorded() -> list[Any]:
    return [json.loads(line) for line in (RECORDED / "namespace.jsonl").read_text().splitlines()]


@pytest.fixture
def actions(tmp_path: Path) -> Iterator[BindingActions]:
    (tmp_path / "config.json").write_text('{"agents": {"brains": [{"agent": "*", "kind": "none"}]}}')
    services = AgentServices.open(
        tmp_path, world=None, agents=tmp_path / "agents", clock=ManualClock(), feed=ChangeFeed(), environ={}
    )
    yield services.actions(ALICE)
    services.close()


def plain(value: Any) -> Any:
    """Without times."""
    if isinstance(value, dict):
        return {key: 0 if key.endswith("_ms") or key == "timestamp" else plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def shape(told: str) -> Any:
    return plain(json.loads(told))


def test_every_recorded_order_to_memory_and_web_search_ends_as_recorded(actions: BindingActions) -> None:
    """D28: a refusal is told by a key more. D29: web_search is real. D30: no built-in notes, ours are counted anew."""
    decided: set[str] = set()
    for entry in recorded():
        asked = entry["req"]
        if not isinstance(asked, dict) or "write" not in asked or "status.json" not in entry["res"]:
            continue
        place, _, file = asked["write"].removeprefix(BASE).rpartition("/control/")
        spot, data = actions.endpoint(SPOTS[place]), asked["data"]
        payload = (data if isinstance(data, str) else json.dumps(data)).encode()
        told, want = _written(spot, file, payload), entry["res"]["write"]
        status, result = shape(spot.status().decode()), shape(spot.result().decode())
        wanted = shape(entry["res"]["status.json"]), shape(entry["res"]["result.json"])
        if status.pop("last_error", None):
            decided.add("D28")
        if want["ok"]:
            assert {key: told["payload"][key] for key in want["payload"]} == want["payload"], asked
            assert set(told["payload"]) - set(want["payload"]) == {"job"}  # D27
            decided.add("D27")
        else:
            assert told == {"ok": False, "error": want["error"]}, asked
        if "web_search" in place:
            decided.add("D29")
            assert wanted[1]["error"]["code"] == "tool_not_found"
            code, message = result["error"]["code"], result["error"]["message"]
            bad = place.startswith("services") and "123" in payload.decode()
            assert code == ("invalid_args" if bad else "not_configured")
            assert bad or ("webSearch.backend" in message and "searxng, brave, tavily, ddgs" in message)
            assert status == {**wanted[0], "error": message}
            continue
        if (result, status) != (wanted[1], wanted[0]):
            assert _without_builtin(wanted[1]) == _without_builtin(result), asked
            assert status == wanted[0]
            decided.add("D30")
    assert decided == {"D27", "D28", "D29", "D30"}
    assert json.loads(actions.endpoint(SPOTS["memory"]).control("create.json"))["name"] == "bad name"


def _written(spot: Any, file: str, payload: bytes) -> Any:
    try:
        written = spot.write(file, payload, WriteContext("user"))
    except BadInput as error:
        return {"ok": False, "error": {"code": error.code, "message": error.found}}
    wait_until(written.until.ready)
    return {"ok": True, "payload": {"n": written.n, **written.extra}}


def _without_builtin(result: Any) -> Any:
    """The reference has notes of its own, and counts them when it names one."""
    if "results" in result:
        own = [item for item in result["results"] if not item["kind"].startswith(("system.", "core."))]
        return {"results": [{**item, "mem_id": _unnumbered(item["mem_id"])} for item in own]}
    return {**result, "mem_id": _unnumbered(result["mem_id"])} if "mem_id" in result else result


def _unnumbered(mem_id: str) -> str:
    parts = mem_id.split(":")
    return ":".join([*parts[:2], "mem_N" if parts[2].startswith("mem_") else parts[2], *parts[3:]])


def test_every_recorded_letter_and_event_is_as_recorded(actions: BindingActions) -> None:
    """D39: the answer comes at once. D43: an event carries its number. The recorded brain had no key, ours is none."""
    rows = {row["req"]: row["res"] for row in recorded() if isinstance(row["req"], str)}
    actions.chat.select(b'{"paths": ["/agents/self/chat/control/input"], "timeout_ms": 500}')
    assert actions.chat.selector().decode() == rows["wait.json readback"]
    wait = actions.chat.wait()
    assert wait is not None and not wait.ready()
    assert shape(actions.chat.next().decode()) == shape(rows["next.json (nothing, 500ms)"][0])
    for label, text, correlation in (
        ("chat write", b"hello world", ""), ("chat write corr", b"second", "corr-9"),
        ("chat write id only", b"third", "id-only"), ("chat write blank", b" \n", ""),
    ):  # fmt: skip
        written = actions.chat.send(text, WriteContext("user", correlation=correlation))
        assert {"n": written.n, **written.extra} == rows[label]["payload"]
        if "job" in written.extra:
            wait_until(lambda job=written.extra["job"]: actions.jobs.wait(job) is None)
    assert actions.jobs.ids() == ["job-1", "job-2", "job-3"]
    error = json.loads(actions.jobs.file("job-1", "status"))["error"]

    def ours(told: str) -> Any:
        return shape(told.replace("missing provider API key", json.dumps(error)[1:-1]))

    assert shape(actions.jobs.file("job-1", "status").decode()) == ours(rows["/agents/self/jobs/job-1/status.json"][0])
    assert actions.jobs.file("job-1", "result").decode() == error
    assert shape(actions.jobs.file("job-1", "log").decode()) == ours(rows["/agents/self/jobs/job-1/log.txt"][0])
    for number in range(4):
        told = shape(actions.chat.next().decode())
        assert isinstance(told.pop("seq", 1), int)  # D43
        assert told == ours(rows[f"next.json #{number}"][0])


def test_every_recorded_wait_is_accepted_or_refused_as_recorded(actions: BindingActions) -> None:
    """D43: a wait for a job that ended since the attach is answered, where the reference waited in vain."""
    waits = [row for row in recorded() if isinstance(row["req"], dict) and "wait.json" in row["req"]]
    assert len(waits) == 8
    for row in waits:
        data, want = row["req"]["wait.json"].encode(), row["res"]
        try:
            actions.chat.select(data)
            told = {"ok": True, "payload": {"n": len(data)}}
        except BadInput as error:
            told = {"ok": False, "error": {"code": error.code, "message": error.found}}
        assert told == want
    assert shape(actions.chat.next().decode()) == {
        "configured": False,
        "waiting": False,
        "error": "wait_not_configured",
    }


def test_each_job_of_the_recorded_index_has_its_fields_here(actions: BindingActions) -> None:
    index = json.loads((RECORDED / "chat-job-index.json").read_text())
    actions.chat.send(b"hello", WriteContext("user"))
    wait_until(lambda: actions.jobs.wait("job-1") is None)
    job = next(job for job in index["jobs"] if job["job_id"] == "job-1")
    status = json.loads(actions.jobs.file("job-1", "status"))
    assert (status["state"], status["correlation_id"]) == (job["state"], job["correlation_id"])
    assert actions.jobs.file("job-1", "result").decode() == status["error"]
    error = json.loads(actions.jobs.file("job-1", "log"))
    assert list(error) == list(json.loads(job["log_text"]))
    assert error["code"] == json.loads(job["log_text"])["code"]
