"""What stands in the place of an agent's files may be anything: it is set aside and named, and the agent goes on."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from worldfs import AgentState
from worldfs.agents.agent_schedule import rank_agents
from worldfs.agents.overview import agent_summary
from worldfs.base.clock import parse_stamp
from worldfs.base.errors import BadInput
from worldfs.testing.manual_clock import ManualClock

FILES = ("tasks.json", "memory.md", "report.json", "session.json", "metrics.json", "journal.jsonl")


def aside(home: Path) -> list[Path]:
    return [path for path in (home / ".paos/aside").iterdir() if not path.name.endswith(".why")]


@pytest.mark.parametrize("kind", ["link", "fifo", "directory"])
@pytest.mark.parametrize("file", FILES)
def test_what_is_no_file_is_set_aside_and_the_session_runs(tmp_path: Path, file: str, kind: str) -> None:
    with AgentState.open("rio", tmp_path, create=True) as state:
        state.remember("patterns", "zero")
        state.add_task("one")
        state.start()
        state.finish("completed")
    place = tmp_path / "rio" / file
    place.unlink()
    if kind == "link":
        (tmp_path / "elsewhere").write_text("not ours")
        place.symlink_to(tmp_path / "elsewhere")
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.mkdir()
    with AgentState.open("rio", tmp_path) as state:
        state.start()
        codes = {(finding.code, finding.field) for finding in state.findings()}
        assert ("ODD_FILE", f"rio/{file}") in codes
        state.remember("patterns", "one more")
        state.finish("completed")
        assert [remark.text for remark in state.memory().remarks] == ["zero", "one more"]
        assert [task.description for task in state.tasks()] == ["one"]
        metrics = state.metrics()
        assert metrics is not None and metrics.lifetime["sessions_completed"] == 2
    assert place.is_file() and not place.is_symlink() and len(aside(tmp_path / "rio")) >= 1
    assert kind != "link" or (tmp_path / "elsewhere").read_text() == "not ours"


@pytest.mark.parametrize("kind", ["link", "fifo"])
@pytest.mark.parametrize("name", ["note.json", "00000000-0000-4000-8000-000000000001.json"])
def test_what_is_no_file_in_the_inbox_keeps_no_session_from_starting(tmp_path: Path, name: str, kind: str) -> None:
    clock = ManualClock()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("not ours")
    with AgentState.open("rio", tmp_path, create=True, clock=clock) as state:
        place = tmp_path / "rio/inbox" / name
        place.symlink_to(elsewhere) if kind == "link" else os.mkfifo(place)
        id = state.send("rio", subject="real").id
        for _ in range(2):
            state.start()
            state.finish("completed")
            clock.advance(3600)
        assert not os.path.lexists(place) and elsewhere.read_text() == "not ours"
        assert id not in {message.id for message in state.inbox.waiting()}


def test_a_text_with_a_key_twice_is_kept_as_it_was(tmp_path: Path) -> None:
    text = '{"agent": "rio", "tasks": [{"id": "t", "description": "a", "description": "b"}]}'
    with AgentState.open("rio", tmp_path, create=True) as state:
        (tmp_path / "rio/tasks.json").write_text(text)
        state.add_task("another")
        assert [finding.code for finding in state.findings()] == ["KEY_TWICE"]
    assert text in [path.read_text() for path in aside(tmp_path / "rio")]


def test_a_broken_file_before_the_first_write_is_set_aside_and_work_goes_on(tmp_path: Path) -> None:
    from worldfs.agents.init_agent import create_agent

    create_agent(tmp_path, "rio")
    (tmp_path / "rio/tasks.json").write_text('{"tasks": [')
    with AgentState.open("rio", tmp_path) as state:
        state.add_task("one")
        assert [task.description for task in state.tasks()] == ["one"]
        assert len(state.findings()) == 1
    assert [path.read_text() for path in aside(tmp_path / "rio")] == ['{"tasks": [']


def test_a_memory_that_nobody_can_read_is_refused_or_set_aside_whole(tmp_path: Path) -> None:
    with AgentState.open("rio", tmp_path, create=True) as state:
        state.remember("patterns", "zero")
        with (tmp_path / "rio/memory.md").open("wb") as file:
            file.truncate(190 << 20)  # holes: nothing of it is on the disk
        assert [remark.text for remark in state.memory().remarks] == ["zero"]
        state.remember("patterns", "one")
        assert [remark.text for remark in state.memory().remarks] == ["zero", "one"]
        assert ("TOO_LARGE", "at most 2 MiB") in [(found.code, found.expected) for found in state.findings()]
        with pytest.raises(BadInput, match="at most 2 MiB"):
            state.remember("patterns", "x" * (3 << 20))
    assert [path.stat().st_size for path in aside(tmp_path / "rio")] == [190 << 20]


def test_a_memory_too_long_from_the_first_is_refused_with_words(tmp_path: Path) -> None:
    (tmp_path / "rio").mkdir()
    with (tmp_path / "rio/memory.md").open("wb") as file:
        file.truncate(190 << 20)
    with AgentState.open("rio", tmp_path) as state, pytest.raises(BadInput, match="at most 2 MiB"):
        state.memory()


def test_the_journal_of_a_disk_that_takes_no_writes_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with AgentState.open("rio", tmp_path, create=True) as state:
        state.event("orient_complete")
    opened = os.open

    def read_only(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(30, "Read-only file system", path)
        return opened(path, flags, mode, dir_fd=dir_fd)

    with AgentState.open("rio", tmp_path) as state:
        monkeypatch.setattr(os, "open", read_only)
        assert [entry["event"] for _, entry in state.journal.lines()] == ["orient_complete"]
        assert [entry["event"] for entry in state.journal.tail(5)] == ["orient_complete"]
        assert state.tasks() == () and state.prompt() and state.inbox.waiting() == []


def test_the_figures_of_the_last_session_count_at_once_and_one_that_always_fails_stands_behind(tmp_path: Path) -> None:
    with AgentState.open("rio", tmp_path, create=True) as rio, AgentState.open("leo", tmp_path, create=True) as leo:
        leo.start()
        leo.finish("completed")
        for ended in range(1, 7):
            rio.start()
            rio.finish("error")
            assert (agent_summary(tmp_path, "rio").sessions, agent_summary(tmp_path, "rio").failed) == (ended, ended)
        leo.send("rio", subject="at once", priority="high")
    now = parse_stamp(json.loads((tmp_path / "rio/session.json").read_text())["ended_at"])
    assert now is not None
    order = rank_agents([agent_summary(tmp_path, "rio", now=now), agent_summary(tmp_path, "leo", now=now)], now=now)
    assert [choice.agent for choice in order] == ["leo", "rio"]


@pytest.mark.parametrize("budget", [200, 1000, 1200, 2000])
def test_the_whole_prompt_holds_its_budget_or_names_the_least(tmp_path: Path, budget: int) -> None:
    from worldfs.agents.text_cost import estimate_tokens

    with AgentState.open("rio", tmp_path, create=True) as state:
        for number in range(60):
            state.remember("patterns", f"fact {number} about the world of agents")
        if budget == 200:
            with pytest.raises(BadInput, match=r"at least \d{3}:"):
                state.prompt(budget=budget)
        else:
            assert estimate_tokens(state.prompt(budget=budget)) <= budget
