"""The services of a home put together: what the tree asks of a binding's acts, and what survives a restart."""

import json
from pathlib import Path

import pytest

from worldfs.access.binding import ADMIN, Binding
from worldfs.base.errors import NotFound
from worldfs.testing.call_fixtures import ALICE, StaticEndpoint, wait_until
from worldfs.testing.manual_clock import ManualClock
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import WriteContext
from worldfs.world.layout.agent_rows import MEMORY_OPS
from worldfs.world.services.agent_services import AgentServices, BindingActions

MEMORY = StaticEndpoint("memory", "memory", "", MEMORY_OPS, {"tool_family": "memory"})
ASK = WriteContext("user", correlation="c-1")


def opened(home: Path, clock: ManualClock | None = None) -> AgentServices:
    clock = clock or ManualClock()
    return AgentServices.open(home, world=None, agents=home / "agents", clock=clock, feed=ChangeFeed(), environ={})


def order(actions: BindingActions, file: str, payload: object) -> object:
    controls = actions.endpoint(MEMORY)
    written = controls.write(file, json.dumps(payload).encode(), ASK)
    assert written.until is not None
    wait_until(written.until.ready)
    return json.loads(controls.result())


def test_memory_jobs_and_places_survive_a_restart(tmp_path: Path) -> None:
    services = opened(tmp_path)
    actions = services.actions(ALICE)
    made = order(actions, "create.json", {"name": "n", "kind": "note", "content": "größe 苹果"})
    services.close()
    services = opened(tmp_path)
    actions = services.actions(ALICE)
    assert json.loads(actions.endpoint(MEMORY).result()) == made
    assert actions.endpoint(MEMORY).control("create.json").decode().endswith('\\u82f9\\u679c"}')
    found = order(actions, "search.json", {"query": "苹果"})
    assert isinstance(found, dict) and len(found["results"]) == 1
    assert actions.jobs.ids() == ["job-1", "job-2"]
    assert json.loads(actions.jobs.file("job-1", "result")) == made
    assert json.loads(actions.jobs.file("job-1", "status"))["correlation_id"] == "c-1"
    services.close()


def test_the_files_of_a_job_are_there_for_its_own_binding_only(tmp_path: Path) -> None:
    services = opened(tmp_path)
    actions = services.actions(ALICE)
    order(actions, "search.json", {"query": "x"})
    other = services.actions(Binding(ADMIN, "alice", "proj-2"))
    assert (actions.jobs.has("job-1"), other.jobs.has("job-1"), actions.jobs.has("job-2")) == (True, False, False)
    with pytest.raises(NotFound):
        other.jobs.file("job-1", "result")
    with pytest.raises(NotFound):
        actions.jobs.file("job-1", "secrets")
    assert actions.jobs.wait("job-1") is None
    services.close()


def test_a_read_of_an_open_job_waits_as_long_as_the_last_wait_json_says(tmp_path: Path) -> None:
    services = AgentServices.open(
        tmp_path, world=None, agents=tmp_path / "agents", clock=ManualClock(), feed=ChangeFeed(), environ={}, held=True
    )
    actions = services.actions(ALICE)
    job = actions.chat.send(b"hello", ASK).extra["job"]
    wait = actions.jobs.wait(job)
    assert wait is not None and wait.timeout == 60.0
    actions.chat.select(b'{"paths":["/agents/self/chat/control/input"],"timeout_ms":250}')
    wait = actions.jobs.wait(job)
    assert wait is not None and (wait.timeout, wait.ready()) == (0.25, False)
    actions.chat.select(b'{"paths":["/agents/self/chat/control/input"],"timeout_ms":0}')
    wait = actions.jobs.wait(job)
    assert wait is not None and wait.timeout == 60.0
    services.start()
    wait_until(wait.ready)
    services.close()


def test_in_memory_only_nothing_of_a_call_is_written(tmp_path: Path) -> None:
    services = AgentServices.open(
        tmp_path,
        world=None,
        agents=tmp_path / "agents",
        clock=ManualClock(),
        feed=ChangeFeed(),
        environ={},
        memory_only=True,
    )
    actions = services.actions(ALICE)
    job = actions.chat.send(b"hello", ASK).extra["job"]
    wait_until(lambda: actions.jobs.wait(job) is None)
    services.close()
    assert list(tmp_path.iterdir()) == []
