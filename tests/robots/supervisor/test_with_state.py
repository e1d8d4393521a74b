"""A run as a session of a real agent: its files, its journal, its letters, its lock."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worldfs.agents.agent_state import AgentState
from worldfs.base.errors import Busy, NotFound
from worldfs.supervisor import CommandRequest, SessionResult, run
from worldfs.testing.waiting import until

SRC = str(Path(__file__).resolve().parents[3] / "src")
CHILD = "import os, sys; from worldfs.agents.agent_state import AgentState; state = AgentState.open('rio'); "
RUNNER = """
import sys
from worldfs.agents.agent_state import AgentState
from worldfs.supervisor import CommandRequest, run
with AgentState.open("rio", sys.argv[1]) as state:
    run(state, CommandRequest(tuple(sys.argv[2:]), timeout_s=60), out=-1, err=-1, alone=True)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    AgentState.open("rio", tmp_path / "agents", create=True).close()
    return tmp_path / "agents"


@pytest.fixture
def rio(root: Path) -> Iterator[AgentState]:
    with AgentState.open("rio", root) as state:
        yield state


def work(state: AgentState, *argv: str, **words: Any) -> SessionResult:
    about = words.pop("about", None)
    env = {**os.environ, "PYTHONPATH": SRC}
    return run(state, CommandRequest(argv, **{"env": env, "grace_s": 0.3, **words}), about=about, out=-1, err=-1)


def journal(state: AgentState) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (state.agent_dir.path / "journal.jsonl").read_text().splitlines()]


def test_the_files_say_what_the_runner_measured(rio: AgentState) -> None:
    line = """test "$(python3 -c 'import json; print(json.load(open("session.json"))["status"])')" = running || exit 9
printf '{"sources_archived": 8, "handoff": "needs extraction", "pr_number": 247}' > "$PAOS_OUTCOME" """
    ended = work(rio, "/bin/sh", "-c", line, type="research", timeout_s=5400, cwd=str(rio.agent_dir.path),
                 about={"domain": "internet-finance", "model": "sonnet"})  # fmt: skip
    session, report, metrics = rio.session(), rio.report(), rio.metrics()
    assert session is not None and report is not None and metrics is not None and report.last_session is not None
    assert ended.outcome == session.status == report.last_session.outcome == "completed", ended
    assert (session.type, session.timeout_seconds, session.domain) == ("research", 5400, "internet-finance")
    assert (session.sources_archived, session.handoff_notes, report.last_session.pr_number) == (
        8,
        "needs extraction",
        247,
    )
    assert (metrics.lifetime["sessions_completed"], metrics.lifetime["sources_archived"]) == (1, 8)
    assert [entry["event"] for entry in journal(rio)] == ["session_start", "command_end", "session_end"]
    assert ended.session == session


@pytest.mark.parametrize(
    ("line", "outcome", "error"),
    [
        ("exit 3", "error", "exit code 3"),
        ("kill -SEGV $$", "error", "killed by SIGSEGV"),
        ("sleep 600", "timeout", "timeout: not done after 0.3 s"),
    ],
)
def test_a_session_that_fails_is_counted_and_named(line: str, outcome: str, error: str, rio: AgentState) -> None:
    work(rio, "/bin/sh", "-c", line, timeout_s=0.3 if outcome == "timeout" else 600)
    session, report, metrics = rio.session(), rio.report(), rio.metrics()
    assert session is not None and report is not None and metrics is not None and report.last_session is not None
    assert (session.status, session.errors) == (outcome, (error,))
    assert (report.status, report.last_session.outcome) == ("error", outcome)
    assert (metrics.lifetime["sessions_total"], metrics.lifetime[f"sessions_{outcome}"]) == (1, 1)


def test_letters_stay_after_a_failure_and_go_after_a_success(rio: AgentState, root: Path) -> None:
    (root / "theseus").mkdir()
    with AgentState.open("theseus", root) as theseus:
        theseus.send("rio", subject="Check MetaDAO")
    inbox = rio.agent_dir.path / "inbox"
    assert work(rio, "/bin/sh", "-c", 'ls "$PAOS_STATE_DIR"/inbox/*.json && exit 3').exit_code == 3
    assert len(list(inbox.iterdir())) == 1
    assert work(rio, "true").outcome == "completed"
    assert len(list(inbox.iterdir())) == 1, "a session that never read it has consumed it"
    work(rio, "/bin/sh", "-c", 'cat "$PAOS_STATE_DIR"/inbox/*.json')
    assert list(inbox.iterdir()) == []


def test_a_message_that_no_session_reads_waits_for_ever(rio: AgentState, root: Path) -> None:
    AgentState.open("theseus", root, create=True).close()
    with AgentState.open("theseus", root) as theseus:
        theseus.send("rio", subject="Check MetaDAO")
    for _ in range(7):  # more than the deliveries after which a letter is dead
        assert work(rio, "true").outcome == "completed"
    assert [(letter.state, letter.attempts) for letter in rio.inbox.waiting()] == [("waiting", 0)]


def test_the_command_may_write_through_the_same_state(rio: AgentState) -> None:
    ended = work(rio, sys.executable, "-c", CHILD + "state.event('sources_archived', count=5); state.add_task('look')")
    assert ended.outcome == "completed", ended
    assert [task.description for task in rio.tasks()] == ["look"]
    assert {"event": "sources_archived", "count": 5}.items() <= journal(rio)[1].items()


def test_a_command_that_ends_its_session_itself_is_not_contradicted(rio: AgentState) -> None:
    ended = work(rio, sys.executable, "-c", CHILD + "state.finish('completed', summary='done')")
    session = rio.session()
    assert ended.exit_code == 0 and session is not None and session.status == "completed"
    assert [entry["event"] for entry in journal(rio)].count("session_end") == 1


def test_a_second_run_names_the_first(rio: AgentState) -> None:
    second = "import sys; from worldfs.agents.agent_state import AgentState\n" + RUNNER.replace("import sys\n", "")
    ended = work(
        rio, sys.executable, "-c", second, str(rio.agent_dir.path.parent), "touch", str(rio.agent_dir.path / "begun")
    )
    assert ended.exit_code == 1 and "Busy" in ended.errors[0] and f"process {os.getpid()}" in ended.errors[0]
    assert not (rio.agent_dir.path / "begun").exists()
    assert work(rio, "true").outcome == "completed"  # and the first let go at its end


def test_a_killed_runner_is_noticed_at_the_next_wake(rio: AgentState, root: Path, stage: Any) -> None:
    line = 'echo half done; setsid sleep 600 & echo > "$READY"; sleep 601'
    ready = root / "ready"
    env = {**os.environ, "PYTHONPATH": SRC, "READY": str(ready), "TEST_MARK": stage.mark}
    with subprocess.Popen([sys.executable, "-c", RUNNER, str(root), "/bin/sh", "-c", line], env=env) as runner:
        while not ready.exists():
            assert runner.poll() is None
        running = rio.session()
        assert running is not None and running.status == "running"
        with pytest.raises(Busy, match=f"process {runner.pid}"):
            work(rio, "true")
        until(lambda: any(log.read_bytes() for log in root.rglob("output.log")))  # output is written in pauses
        runner.send_signal(signal.SIGKILL)
    ended = work(rio, "true")
    assert [left.session for left in ended.found] == [running.session_id]
    assert Path(ended.found[0].log).read_bytes() == b"half done\n"
    metrics = rio.metrics()
    assert metrics is not None
    assert (metrics.lifetime["sessions_error"], metrics.lifetime["sessions_completed"]) == (1, 1)
    lost = next(entry for entry in journal(rio) if entry["event"] == "session_end")
    assert (lost["session_id"], lost["cause"]) == (running.session_id, "lost")


def test_no_secret_reaches_the_disk(rio: AgentState) -> None:
    secrets = [f"ghp_{'a1B2' * 9}", f"sk-ant-api03-{'x9Y8' * 8}", f"tok{'7Zq' * 6}"]
    line = (
        'echo "$0"; echo "{\\"summary\\": \\"with $0\\"}" > "$PAOS_OUTCOME"; echo "$KEY" >&2; setsid sleep 600 & exit 3'
    )
    argv = ("/bin/sh", "-c", line, secrets[0], "--token", secrets[2])
    ended = work(rio, *argv, env={**os.environ, "KEY": secrets[1]})
    assert ended.exit_code == 3
    for path in rio.agent_dir.path.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not [secret for secret in secrets if secret.encode() in data], path


def test_a_command_that_removes_the_agent_s_directory_is_told_so_and_by_the_agent_s_name(root: Path) -> None:
    with pytest.raises(NotFound) as refused, AgentState.open("rio", root) as rio:
        work(rio, "/bin/sh", "-c", 'rm -rf "$PAOS_STATE_DIR"')
    assert "directory of agent rio was removed" in refused.value.found and refused.value.path == str(root / "rio")
    assert "exit.json" not in str(refused.value) and "paos agent init rio" in refused.value.fix
