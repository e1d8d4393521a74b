"""`paos agent …` as a user meets it: clear refusals with exit code 2, Chinese text, sessions of shell scripts."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldfs import AgentState
from worldfs.base import agent_names
from worldfs.base.agent_names import list_agents

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0

Paos = Callable[..., tuple[int, str, str]]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PAOS_SESSION", "PAOS_AGENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PAOS_AGENTS", str(tmp_path / "agents"))
    for name in ("rio", "leo"):
        AgentState.open(name, tmp_path / "agents", create=True).close()
    return tmp_path / "agents"


@pytest.fixture
def paos(root: Path, command_and_children: Paos) -> Paos:
    return command_and_children


def test_tasks_that_cannot_be_read_are_not_said_to_be_none(root: Path, paos: Paos) -> None:
    (root / "rio/tasks.json").write_text('{"tasks": [{')
    out = paos("agent", "tasks", "rio")[1]
    assert "tasks.json: not JSON" in out and "nothing to do" not in out
    assert json.loads(paos("--json", "agent", "tasks", "rio")[1])["unreadable"]
    out = paos("agent", "tasks", "leo")[1]
    assert "nothing to do" in out and "tasks.json" not in out


def test_tasks_that_were_known_are_shown_beside_what_cannot_be_read_now(root: Path, paos: Paos) -> None:
    paos("agent", "tasks", "rio", "--add", "look again")
    out = paos("agent", "tasks", "rio")[1]
    assert "look again" in out and "tasks.json" not in out
    (root / "rio/tasks.json").write_text('{"tasks": [{')
    out = paos("agent", "tasks", "rio")[1]
    assert "look again" in out and "tasks.json: not JSON" in out


def test_who_adds_to_a_file_that_is_set_aside_is_told_where_it_is(root: Path, paos: Paos) -> None:
    (root / "rio/memory.md").write_text("- a fact\n" * 300_000)
    code, out, said = paos("agent", "memory", "rio", "--add", "one more")
    assert code == 0 and "remembered" in out and "TOO_LARGE" in said and ".paos/aside/" in said
    (root / "rio/tasks.json").write_text('{"tasks": [{')
    assert ".paos/aside/" in paos("agent", "tasks", "rio", "--add", "look again")[2]
    assert paos("agent", "memory", "rio", "--add", "and another")[2] == ""


def test_the_way_back_of_a_removed_agent_can_be_pasted(root: Path, paos: Paos, tmp_path: Path) -> None:
    place = tmp_path / "more agents"
    assert paos("agent", "init", "rio", "--agents", str(place))[0] == 0
    said = paos("agent", "rm", "rio", "--agents", str(place))[1]
    back = shlex.split(said.partition("restore with: ")[2])
    assert back[0] == "paos" and paos(*back[1:])[0] == 0
    assert list_agents(str(place)) == ["rio"] and sorted(list_agents(str(root))) == ["leo", "rio"]


def test_many_agents_are_made_with_one_look_at_those_that_are_there(root: Path, paos: Paos, monkeypatch: Any) -> None:
    looks = []
    monkeypatch.setattr(agent_names, "list_agents", lambda place: looks.append(place) or list_agents(place))
    assert paos("agent", "init", *(f"new{number}" for number in range(8)))[0] == 0
    assert looks == [root] and len(list_agents(root)) == 10


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("agent show nobody", "one of: leo, rio"),
        ("agent shwo rio", "did you mean show?"),
        ("agent init ok RIO", "differs from 'rio' in capitals only"),
        ("agent init ok .hidden", "is not a valid agent name"),
        ("agent init con.json", "is not a valid agent name"),
        ("agent init Ｒｉｏ", "is not a valid agent name"),
        ("agent rm nobody", "one of: leo, rio"),
        ("agent rm rio nobody", "one of: leo, rio"),
        ("agent restore rio", "no removed agent 'rio'"),
        ("agent init a..b", "is not a valid agent name"),
        ("agent init all", "is not a valid agent name"),
        ("agent init ../x", "is not a valid agent name"),
        ("agent tasks rio --close nope", "no task 'nope'"),
        ("agent tasks rio --add x --type nope", "research, extract"),
        ("agent tasks rio --add x --close y", "at most one of them"),
        ("agent memory rio --pin", "--add TEXT as well"),
        ("agent memory rio --undo 99", "99 steps back"),
        ("agent inbox rio --ack nope", "no claim has the token 'nope'"),
        ("agent inbox rio --return nope", "no claim has the token 'nope'"),
        ("agent send nobody hello", "no agent 'nobody'"),
        ("agent send rio hello --expires tomorrow", "expected a time"),
        ("agent send all hello --type question", "a message to `all` is a cascade"),
        ("agent event rio seen ts=1", "are reserved"),
        ("agent event rio seen nothing", "key=value"),
        ("agent outcome rio a=1", "no session runs"),
        ("agent outcome rio", "no facts"),
        ("agent end rio", "no running session"),
        ("agent end rio well", "completed, timeout or error"),
        ("agent end rio outcome=completed", "are reserved"),
        ("agent start rio --for 999999999999", "no process 999999999999"),
        ("agent import rio /nowhere", "/nowhere"),
        ("agent run rio --prompt stdin --template /nowhere -- true", "/nowhere"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_word_on_what_could_be(paos: Paos, line: str, said: str) -> None:
    code, out, err = paos(*line.split())
    assert (code, out) == (2, "") and said in err and "Traceback" not in err
    code, out, err = paos("--json", *line.split())
    assert code == 2 and err == "" and {"code", "found", "fix"} <= json.loads(out)["error"].keys()


def test_one_bad_name_among_several_makes_none(paos: Paos, root: Path) -> None:
    assert paos("agent", "init", "new", "-bad")[0] == 2 and paos("agent", "init", "new", "New")[0] == 2
    assert not (root / "new").exists()


def test_tasks_and_memory_in_chinese_come_back_as_they_were(paos: Paos) -> None:
    assert paos("agent", "tasks", "rio", "--add", "查看条件 AMM", "--priority", "high")[:2] == (0, "task-001 added\n")
    assert "查看条件 AMM" in paos("agent", "tasks", "rio")[1]
    assert paos("agent", "tasks", "rio", "--add", " ")[0] == 2
    assert paos("agent", "tasks", "rio", "--close", "task-001", "--outcome", "好")[0] == 0
    (task,) = json.loads(paos("agent", "tasks", "rio", "--all", "--json")[1])["tasks"]
    assert (task["status"], task["outcome"]) == ("completed", "好")
    assert paos("agent", "memory", "rio", "--add", "代币没有机制", "--section", "dead_ends")[0] == 0
    assert "代币没有机制" in paos("agent", "search", "rio", "代币")[1]
    assert paos("agent", "memory", "rio", "--undo", "1")[0] == 0
    assert "代币" not in paos("agent", "memory", "rio")[1]


def test_a_message_that_says_stop_is_told_that_it_stops_no_robot(paos: Paos) -> None:
    for words in (("STOP the robot now",), ("urgent", "停！停！")):
        assert "stops no robot" in "".join(map(str, paos("agent", "send", "rio", *words)))
    assert "stops no robot" not in "".join(map(str, paos("agent", "send", "rio", "the bus stop", "is near")))


def test_a_letter_is_claimed_returned_and_acknowledged(paos: Paos) -> None:
    assert paos("agent", "send", "rio", "题目", "正文", "--from", "leo")[0] == 0
    first = json.loads(paos("agent", "inbox", "rio", "--claim", "60", "--json")[1])
    assert first["letter"]["subject"] == "题目"
    assert paos("agent", "inbox", "rio", "--wait", "0")[0] == 1
    assert paos("agent", "inbox", "rio", "--return", first["token"])[0] == 0
    again = json.loads(paos("agent", "inbox", "rio", "--claim", "60", "--json")[1])
    assert paos("agent", "inbox", "rio", "--ack", again["token"])[:2] == (0, "acknowledged\n")
    assert paos("agent", "inbox", "rio")[1] == "no message\n"


def test_the_seven_files_are_exported(paos: Paos, tmp_path: Path) -> None:
    assert paos("agent", "export", "rio", str(tmp_path / "out"))[0] == 0
    assert (tmp_path / "out/memory.md").read_bytes() == (tmp_path / "agents/rio/memory.md").read_bytes()


# -- sessions of shell scripts ---------------------------------------------------------------------------------------


@pytest.fixture
def script(root: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs shell text with the library sourced and a command `paos` of this tree."""
    command = tmp_path / "bin/paos"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m worldfs.interfaces.cli.main "$@"\n')
    command.chmod(0o755)
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PATH": f"{command.parent}:{os.environ['PATH']}"}

    def run(shell: str, text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [shell, "-c", f". '{ROOT}/ops/agent-state/state.sh'\n{text}"],
            env=environ, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip

    return run


def keepers(root: Path) -> list[str]:
    """Processes that hold a session below this root."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            command = (place / "cmdline").read_bytes().split(b"\0")
            environ = (place / "environ").read_bytes()
        except OSError:
            continue
        if b"start" in command and os.fsencode(root) in environ:
            found.append(place.name)
    return found


def session(root: Path) -> Any:
    return json.loads((root / "rio/session.json").read_text())


@pytest.mark.slice(2, 1)
@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_a_script_has_a_session_in_steps_and_leaves_no_process_behind(
    root: Path, script: Callable[..., subprocess.CompletedProcess[str]], shell: str
) -> None:
    done = script(
        shell,
        "state_start rio --type research || exit 9\n"
        "state_start rio; echo second $?\n"
        "state_outcome rio sources_archived=8 errors=one\n"
        "state_end rio completed --summary '8 来源' && state_start rio && state_end rio timeout; echo $?",
    )
    assert done.stdout == "second 2\n0\n"
    assert "already in use by process" in done.stderr and f"{shell} -c" in done.stderr
    assert keepers(root) == []
    with AgentState.open("rio", root) as state:
        ends = [entry for _, entry in state.journal.lines() if entry["event"] == "session_end"]
    assert [end["outcome"] for end in ends] == ["completed", "timeout"]
    assert (ends[0]["sources_archived"], ends[0]["errors"], ends[0]["summary"]) == (8, ["one"], "8 来源")
    assert "sources_archived" not in ends[1]


def test_a_script_that_is_killed_is_noticed_at_once(
    root: Path, script: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    with AgentState.open("rio", root) as state, state.agent_dir.store.watch("session.json") as watch:
        done = script("bash", "state_start rio && state_outcome rio sources_archived=3 && kill -9 $$")
        assert done.returncode == -9
        while session(root)["status"] == "running":
            assert watch.read(PATIENCE_S), "nobody noticed"
    assert session(root)["status"] == "error" and "lost" in session(root)["errors"][0]
    done = script("bash", "state_start rio && state_end rio")
    assert done.returncode == 0 and session(root)["sources_archived"] in (None, 0)


def test_who_runs_a_command_is_not_ended_from_outside(paos: Paos, root: Path) -> None:
    with AgentState.open("rio", root) as state:
        state.start(type="research", argv=("claude", "-p"))
        code, _, err = paos("agent", "end", "rio")
        assert code == 2 and "it ends with its command" in err
        state.finish("completed")
