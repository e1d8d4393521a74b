"""A line for each agent, from files that programs and minds wrote: whole, half, odd, or not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from worldfs.agents.metrics import LIFETIME, MetricsReducer
from worldfs.agents.overview import LOOK, AgentSummary, agent_summaries, agent_summary
from worldfs.base.clock import stamp
from worldfs.base.errors import NotFound
from worldfs.storage.root_lock import RootLock

NOW = datetime(2026, 3, 31, 22, 30, tzinfo=UTC)
SPEC = {
    "report.json": {
        "agent": "rio",
        "updated_at": "2026-03-31T22:00:00Z",
        "status": "idle",
        "summary": "Completed research session — 8 sources archived on Solana launchpad mechanics",
        "current_task": None,
        "last_session": {"id": "20260331-220000", "ended_at": "2026-03-31T22:00:00Z", "outcome": "completed"},
        "blocked_by": None,
        "next_priority": "Follow up on conditional AMM thread",
    },
    "tasks.json": {"agent": "rio", "tasks": [{"id": "task-001", "status": "pending", "priority": "high"}]},
    "session.json": {
        "agent": "rio",
        "session_id": "20260331-220000",
        "started_at": "2026-03-31T20:30:00Z",
        "ended_at": "2026-03-31T22:00:00Z",
        "type": "research",
        "status": "completed",
    },
    "metrics.json": {
        "agent": "rio",
        "lifetime": {"sessions_total": 47, "sessions_completed": 42, "sessions_timeout": 3, "sessions_error": 2},
    },
}


def place(root: Path, agent: str, files: dict[str, Any]) -> Path:
    home = root / agent
    for name, value in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        path.write_bytes(data)
    home.mkdir(parents=True, exist_ok=True)
    return home


def running(started_at: str = "2026-03-31T22:00:00Z") -> dict[str, Any]:
    return {**SPEC["session.json"], "status": "running", "started_at": started_at, "ended_at": None}


def test_the_specifications_files_make_a_line(tmp_path: Path) -> None:
    place(tmp_path, "rio", SPEC)
    assert agent_summaries(tmp_path, now=NOW) == [
        AgentSummary(
            "rio",
            status="idle",
            summary=str(SPEC["report.json"]["summary"]),
            next_priority="Follow up on conditional AMM thread",
            updated_at="2026-03-31T22:00:00Z",
            session_id="20260331-220000",
            session_type="research",
            last_outcome="completed",
            last_ended_at="2026-03-31T22:00:00Z",
            tasks_pending=1,
            tasks_high=1,
            sessions=47,
            failed=5,
            error_rate=0.11,
        )
    ]


def test_a_session_with_a_living_runner_runs_and_one_without_is_stale(tmp_path: Path) -> None:
    home = place(tmp_path, "rio", {**SPEC, "session.json": running()})
    with RootLock(home, "session"):
        seen = agent_summary(tmp_path, "rio", now=NOW)
        assert (seen.running, seen.stale, seen.since, seen.seconds) == (True, False, "2026-03-31T22:00:00Z", 1800)
        assert seen.runner is not None and seen.runner["pid"] == os.getpid()
        assert seen.last_outcome == "completed"  # of the session before, which the report still tells of
    seen = agent_summary(tmp_path, "rio", now=NOW)
    assert (seen.running, seen.stale, seen.seconds, seen.runner) == (False, True, None, None)


def test_a_session_is_never_on_for_less_than_nothing(tmp_path: Path) -> None:
    home = place(tmp_path, "rio", {"session.json": running(stamp(NOW + timedelta(hours=1)))})
    with RootLock(home, "session"):
        assert agent_summary(tmp_path, "rio", now=NOW).seconds == 0


def test_how_the_last_session_ended_is_told_by_its_own_file_first(tmp_path: Path) -> None:
    ended = {**SPEC["session.json"], "status": "timeout", "ended_at": "2026-03-31T22:10:00Z"}
    place(tmp_path, "rio", {**SPEC, "session.json": ended})
    place(tmp_path, "leo", {"report.json": SPEC["report.json"]})
    rio, leo = agent_summary(tmp_path, "rio", now=NOW), agent_summary(tmp_path, "leo", now=NOW)
    assert (rio.last_outcome, rio.last_ended_at) == ("timeout", "2026-03-31T22:10:00Z")
    assert (leo.last_outcome, leo.last_ended_at, leo.session_id) == (
        "completed",
        "2026-03-31T22:00:00Z",
        "20260331-220000",
    )


def test_recent_failures_count_before_those_of_a_lifetime(tmp_path: Path) -> None:
    fold = MetricsReducer({"lifetime": dict.fromkeys(LIFETIME, 100)})
    for seq in range(1, 5):
        outcome = "completed" if seq == 1 else "error"
        at = stamp(NOW - timedelta(days=seq))
        fold.apply(seq, {"ts": at, "event": "session_end", "session_id": f"s{seq}", "outcome": outcome})
    place(tmp_path, "rio", {**SPEC, ".paos/metrics.json": fold.dump()})
    now, later = agent_summary(tmp_path, "rio", now=NOW), agent_summary(tmp_path, "rio", now=NOW + timedelta(days=90))
    assert (now.sessions, now.failed, now.error_rate) == (4, 3, 0.75)
    assert (later.sessions, later.failed, later.error_rate) == (47, 5, 0.11)


def test_tasks_are_counted_in_the_words_that_minds_write(tmp_path: Path) -> None:
    tasks = [
        {"status": "todo", "priority": "urgent"},
        {"status": "进行中", "priority": "高"},
        {"status": "In Progress", "priority": "medium"},
        {"status": "已完成", "priority": "high"},
        {"status": "dropped", "priority": "high"},
        {"description": "no status at all"},
        {"status": "blocked on Leo"},
        "not a task",
    ]
    place(tmp_path, "rio", {"tasks.json": {"tasks": tasks}})
    place(tmp_path, "leo", {"tasks.json": tasks})
    for seen in agent_summaries(tmp_path, now=NOW):
        assert (seen.tasks_pending, seen.tasks_active, seen.tasks_high, seen.unreadable) == (2, 2, 2, ())


def test_letters_are_counted_and_the_first_of_them_looked_at(tmp_path: Path) -> None:
    letters: dict[str, Any] = {
        f"inbox/{n:03}.json": {"priority": "high" if n % 2 else "normal"} for n in range(LOOK + 9)
    }
    place(tmp_path, "rio", {**letters, "inbox/.draft.json": b"", "inbox/notes.txt": b"", "inbox/000.json": b"{"})
    seen = agent_summary(tmp_path, "rio", now=NOW)
    assert (seen.letters, seen.letters_high) == (LOOK + 9, LOOK // 2)
    assert seen.unreadable == ("inbox/000.json: not JSON (line 1, column 2)",)


def test_an_agent_of_empty_directory_is_a_line_too(tmp_path: Path) -> None:
    place(tmp_path, "rio", {})
    assert agent_summaries(tmp_path, now=NOW) == [AgentSummary("rio")]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("report.json", b'{"status": "idle", ', "report.json: not JSON (line 1, column 20)"),
        ("report.json", b"[]", "report.json: no object"),
        ("report.json", b"\xff\xfe\xff", "report.json: not UTF-8"),
        ("session.json", b"[" * 100_000, "session.json: no JSON that means anything"),
        ("tasks.json", b'"done"', "tasks.json: no list of tasks"),
        ("tasks.json", b" " * (17 << 20), f"tasks.json: {17 << 20} bytes"),
        ("metrics.json", b"", "metrics.json: not JSON (line 1, column 1)"),
        (".paos/metrics.json", b"\0\0", ".paos/metrics.json: not a metrics state file"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_the_others_count(
    tmp_path: Path, name: str, data: bytes, said: str
) -> None:
    place(tmp_path, "leo", SPEC)
    place(tmp_path, "rio", {**SPEC, "inbox/a.json": {}, name: data})
    leo, rio = agent_summaries(tmp_path, now=NOW)
    assert rio.unreadable == (said,)
    assert rio.letters == 1
    assert leo.unreadable == ()


def test_links_and_odd_files_are_named_and_never_followed(tmp_path: Path) -> None:
    home = place(tmp_path, "rio", {"session.json": SPEC["session.json"]})
    (tmp_path / "secret.json").write_text('{"summary": "not yours"}')
    (home / "report.json").symlink_to(tmp_path / "secret.json")
    os.mkfifo(home / "tasks.json")
    (home / "inbox").symlink_to(tmp_path)
    (home / "metrics.json").mkdir()
    seen = agent_summary(tmp_path, "rio", now=NOW)
    assert (seen.summary, seen.letters) == ("", 0)
    assert sorted(text.partition(":")[0] for text in seen.unreadable) == [
        "inbox",
        "metrics.json",
        "report.json",
        "tasks.json",
    ]


def test_values_of_the_wrong_kind_are_as_if_they_were_not_there(tmp_path: Path) -> None:
    odd = {"status": 5, "summary": ["x"], "last_session": "yesterday", "blocked_by": {}, "next_priority": 0}
    place(tmp_path, "rio", {"report.json": odd, "session.json": {"status": "running", "started_at": 3}})
    place(tmp_path, "sol", {"metrics.json": {"lifetime": [1]}, "tasks.json": {"tasks": {}}})
    rio, sol = agent_summaries(tmp_path, now=NOW)
    assert rio == AgentSummary("rio", stale=True)
    assert sol == AgentSummary("sol", unreadable=("tasks.json: no list of tasks",))


def test_only_directories_with_an_agents_name_are_agents(tmp_path: Path) -> None:
    for name in ("rio", "leo", ".hidden", "ri o", "_x", "a" * 65):
        (tmp_path / name).mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "rio")
    assert [seen.agent for seen in agent_summaries(tmp_path, now=NOW)] == ["leo", "rio"]
    assert agent_summaries(tmp_path / "nowhere", now=NOW) == []
    for name in ("nobody", "../rio", ""):
        with pytest.raises(NotFound):
            agent_summary(tmp_path, name, now=NOW)


def test_looking_writes_nothing(tmp_path: Path) -> None:
    home = place(tmp_path, "rio", {**SPEC, "inbox/a.json": {}})
    with RootLock(home, "session"):
        pass
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    agent_summaries(tmp_path, now=NOW)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_looking_loads_neither_a_store_nor_a_driver(tmp_path: Path) -> None:
    home = place(
        tmp_path, "rio", {**SPEC, "inbox/a.json": {"priority": "high"}, ".paos/metrics.json": MetricsReducer().dump()}
    )
    heavy = (
        "dataclasses",
        "ctypes",
        "hashlib",
        "worldfs.storage.disk_store",
        "worldfs.agents.agent_directory",
        "pathlib",
    )
    code = (
        "import sys; before = set(sys.modules); from worldfs.agents.overview import agent_summaries; "
        f"assert agent_summaries({str(tmp_path)!r})[0].runner; new = sys.modules.keys() - before; "
        f"print([m for m in {heavy!r} if m in new])"
    )
    path = os.pathsep.join(filter(None, sys.path))
    with RootLock(home, "session"):
        done = subprocess.run(
            [sys.executable, "-S", "-c", code], env={"PYTHONPATH": path}, capture_output=True, text=True, check=False
        )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
