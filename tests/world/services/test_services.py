"""The services of a home put together: what the tree asks of a binding's acts, and what survives a restart."""

import json
from pathlib import Path

import pytest

from worldfs.ground.errors import NotFound
from worldfs.testing.call_fixtures import ALICE, StaticEndpoint, wait_until
from worldfs.testing.manual_clock import ManualClock
from worldfs.tree.binding import ADMIN, USER, Binding
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.virtual_file import WriteContext
from worldfs.world.layout.agent_rows import MEMORY_OPS
from worldfs.world.services.agent_services import AgentServices, BindingActions, admins_only

MEMORY = StaticEndpoint("memory", "memory", "", MEMORY_OPS, {"tool_family": "memory"})
ASK = WriteContext("user", correlation="c-1")


def opened(home: Path, clock: ManualClock | None = None) -> AgentServices:
    clock = clock or ManualClock()
    return AgentServices.open(home, world=None, agents=home / "agents", clock=clock, feed=ChangeFeed(), environ={})


def order(acts: BindingActions, file: str, payload: object) -> object:
    controls = acts.at(MEMORY)
    written = controls.write(file, json.dumps(payload).encode(), ASK)
    assert written.until is not None
    wait_until(written.until.ready)
    return json.loads(controls.result())


def test_memory_jobs_and_places_survive_a_restart(tmp_path: Path) -> None:
    services = opened(tmp_path)
    acts = services.acts(ALICE)
    made = order(acts, "create.json", {"name": "n", "kind": "note", "content": "größe 苹果"})
    services.close()
    services = opened(tmp_path)
    acts = services.acts(ALICE)
    assert json.loads(acts.at(MEMORY).result()) == made
    assert acts.at(MEMORY).control("create.json").decode().endswith('\\u82f9\\u679c"}')
    found = order(acts, "search.json", {"query": "苹果"})
    assert isinstance(found, dict) and len(found["results"]) == 1
    assert acts.jobs.ids() == ["job-1", "job-2"]
    assert json.loads(acts.jobs.file("job-1", "result")) == made
    assert json.loads(acts.jobs.file("job-1", "status"))["correlation_id"] == "c-1"
    services.close()


def test_the_files_of_a_job_are_there_for_its_own_binding_only(tmp_path: Path) -> None:
    services = opened(tmp_path)
    acts = services.acts(ALICE)
    order(acts, "search.json", {"query": "x"})
    other = services.acts(Binding(ADMIN, "alice", "proj-2"))
    assert (acts.jobs.has("job-1"), other.jobs.has("job-1"), acts.jobs.has("job-2")) == (True, False, False)
    with pytest.raises(NotFound):
        other.jobs.file("job-1", "result")
    with pytest.raises(NotFound):
        acts.jobs.file("job-1", "secrets")
    assert acts.jobs.wait("job-1") is None
    services.close()


def test_a_read_of_an_open_job_waits_as_long_as_the_last_wait_json_says(tmp_path: Path) -> None:
    services = AgentServices.open(
        tmp_path, world=None, agents=tmp_path / "agents", clock=ManualClock(), feed=ChangeFeed(), environ={}, held=True
    )
    acts = services.acts(ALICE)
    job = acts.talk.say(b"hello", ASK).extra["job"]
    wait = acts.jobs.wait(job)
    assert wait is not None and wait.timeout == 60.0
    acts.talk.select(b'{"paths":["/agents/self/chat/control/input"],"timeout_ms":250}')
    wait = acts.jobs.wait(job)
    assert wait is not None and (wait.timeout, wait.ready()) == (0.25, False)
    acts.talk.select(b'{"paths":["/agents/self/chat/control/input"],"timeout_ms":0}')
    wait = acts.jobs.wait(job)
    assert wait is not None and wait.timeout == 60.0
    services.begin()
    wait_until(wait.ready)
    services.close()


def test_who_has_not_been_told_more_commands_no_node() -> None:
    assert admins_only(Binding(ADMIN, "mother", "system"), "arm")
    assert not admins_only(Binding(USER, "alice", "main"), "arm")


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
    acts = services.acts(ALICE)
    job = acts.talk.say(b"hello", ASK).extra["job"]
    wait_until(lambda: acts.jobs.wait(job) is None)
    services.close()
    assert list(tmp_path.iterdir()) == []
