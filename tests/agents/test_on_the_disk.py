"""What an agent is told of is on the disk: a merge with somebody's rewrite, the beginning of a session."""

from __future__ import annotations

import json
from pathlib import Path

from worldfs.agents.state import AgentState
from worldfs.ground.disk import Disk
from worldfs.ground.model import Message


def test_a_merge_waits_for_the_disk_with_its_content_and_its_name(tmp_path: Path) -> None:
    done: list[tuple[str, str]] = []
    disk = Disk(lambda name, path: done.append((name, path)))
    with AgentState.open("rio", tmp_path, create=True, disk=disk) as state:
        first = state.add_task("one").id
        page = tmp_path / "rio/tasks.json"
        old = page.read_text()
        state.add_task("two")
        rewrite = json.loads(old)  # by a writer who has not read of the second
        rewrite["tasks"][0]["status"] = "completed"
        page.write_text(json.dumps(rewrite))
        done.clear()
        state.take_in(settle=True)
        assert [(task.id == first, task.status) for task in state.tasks()] == [(True, "completed"), (False, "pending")]
    at = max(index for index, (name, path) in enumerate(done) if name == "rename" and path == "tasks.json")
    draft = [path for name, path in done[:at] if name == "fsync"]
    assert draft, done
    assert "fsync_dir" in {name for name, path in done[at:] if path == ""}, done


def test_a_session_is_said_to_be_running_on_the_disk_before_it_begins(tmp_path: Path) -> None:
    done: list[tuple[str, str]] = []
    with AgentState.open("rio", tmp_path, create=True, disk=Disk(lambda *one: done.append(one))) as state:
        record = state.start(type="research")
        state.finish("completed", summary="ok")
    said = [(name, path) for name, path in done if path in (f".paos/jobs/{record.session_id}.jsonl", "journal.jsonl")]
    begun = said.index(("append", f".paos/jobs/{record.session_id}.jsonl"))
    assert said[begun + 1] == ("fsync", f".paos/jobs/{record.session_id}.jsonl"), said
    assert said[begun + 2] == ("append", "journal.jsonl"), said


def test_that_a_delivery_does_not_count_is_on_the_disk_when_it_is_said(tmp_path: Path) -> None:
    """`ack_all` of a session that could read none of what it had claimed."""
    done: list[tuple[str, str]] = []
    with AgentState.open("rio", tmp_path, create=True, disk=Disk(lambda *one: done.append(one))) as state:
        state.inbox.deposit(Message("l1", "theseus", "rio", "2026-03-31T22:00:00Z"))
        assert state.inbox.claim_all("session", token="s1")
        done.clear()
        assert state.inbox.ack_all("s1", only=()) == []
    assert done == [("append", ".paos/inbox.jsonl"), ("fsync", ".paos/inbox.jsonl")]
