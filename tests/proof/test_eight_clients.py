"""Eight published command-line agents at once, as one agent of one home: nothing that was acknowledged is lost.

Each by MCP and by its own shell, beside the others: notes, tasks, lines of the journal, of memory.md and of a document
that all of them replace with `expect`.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from worldfs.agents.agent_state import AgentState
from worldfs.interfaces.cli.main import main
from worldfs.storage.revision import of
from worldfs.testing.model_api import ScriptedApi, ScriptedCall, Step, serving

from .agent_clients import CLIENTS, AgentClient, settle, start

pytest.importorskip("mcp")
pytestmark = pytest.mark.proof
ROUNDS = 4
AGENT = "crew"
DONE = "All is noted."
KINDS = ("note", "task", "journal", "memory", "document")


def script(client: AgentClient, name: str, home: Path) -> list[Step]:
    """`ROUNDS` times one of each kind. What a shell acknowledges it says by ACK."""
    paos = shlex.join([str(Path(sys.executable).with_name("paos")), "--home", str(home), "agent"])
    memory, document = home / f"agents/{AGENT}/memory.md", home / "workspace/TASK.md"

    def replaced(mark: str) -> Step:
        def step(request: str) -> ScriptedCall:
            """What the client would write after it has read: what is there now, and a line more."""
            there = document.read_bytes()
            given = {"path": "/projects/main/TASK.md", "text": f"{there.decode()}{mark}\n", "expect": of(there)}
            return client.call("write", given)

        return step

    steps: list[Step] = []
    for number in range(ROUNDS):
        marks = {kind: f"{kind}-{name}-{number}-end" for kind in KINDS}
        shell = {
            "task": f"{paos} tasks {AGENT} --add {marks['task']}",
            "journal": f"{paos} event {AGENT} noted what={marks['journal']}",
            "memory": f"printf -- '- %s\\n' {marks['memory']} >> {shlex.quote(str(memory))}",
        }
        steps.append(client.call("remember", {"text": marks["note"]}))
        steps += [client.shell(f"{command} && echo ACK") for command in shell.values()]
        steps.append(replaced(marks["document"]))
    return [*steps, DONE]


def acknowledged(name: str, results: list[str]) -> dict[str, list[str]]:
    """The marks of what was acknowledged, by kind."""
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for at, result in enumerate(results):
        kind, number = KINDS[at % len(KINDS)], at // len(KINDS)
        said = {"note": '"remembered": ?true', "document": '"revision":'}.get(kind, "ACK")
        if re.search(said, result.replace("\\", "")):
            found[kind].append(f"{kind}-{name}-{number}-end")
    return found


def test_nothing_that_was_acknowledged_to_one_of_eight_is_lost(programs: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert main(["--home", str(home), "onboard"]) == 0
    assert main(["--home", str(home), "agent", "init", AGENT]) == 0
    (home / "workspace/TASK.md").write_text("# Task\n")
    names = [(f"{tool}-{number}", tool) for number in range(2) for tool in CLIENTS]
    apis: dict[str, ScriptedApi] = {}
    running: dict[str, subprocess.Popen[str]] = {}
    with ExitStack() as stack:
        for name, tool in names:
            place, client = tmp_path / name, CLIENTS[tool]
            api = apis[name] = stack.enter_context(serving(script(client, name, home)))
            settle(place, api)
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("CODEX_HOME", str(place / ".codex"))
                words = ["--home", str(home), "--agent", AGENT, "setup", tool, str(place / "work"), "--yes"]
                assert main(words) == 0
        for name, tool in names:
            running[name] = start(tmp_path / name, programs, apis[name], *CLIENTS[tool].free, "note everything")
            stack.callback(running[name].kill)
        said = {name: process.communicate(timeout=900) for name, process in running.items()}
        results = {name: list(api.results) for name, api in apis.items()}
    for name, process in running.items():
        assert process.returncode == 0 and DONE in said[name][0], (name, said[name])
        assert len(results[name]) == ROUNDS * len(KINDS), (name, results[name])
    wanted: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name, _ in names:
        for kind, marks in acknowledged(name, results[name]).items():
            wanted[kind] += marks
    agent = home / f"agents/{AGENT}"
    with AgentState.open(AGENT, home / "agents") as state:
        state.recover()
        tasks = " ".join(task.description for task in state.tasks())
    texts = {
        "note": (agent / ".paos/notes.jsonl").read_text(),
        "task": tasks,
        "journal": "".join(path.read_text() for path in sorted(agent.glob("journal*.jsonl"))),
        "memory": (agent / "memory.md").read_text(),
        "document": (home / "workspace/TASK.md").read_text(),
    }
    lost = {kind: [mark for mark in marks if mark not in texts[kind]] for kind, marks in wanted.items()}
    assert not any(lost.values()), (lost, {name: found[-2:] for name, found in results.items()})
    for kind in ("note", "task", "journal", "memory"):
        assert len(wanted[kind]) == ROUNDS * len(names), (kind, json.dumps(results, ensure_ascii=False)[:4000])
    assert len(wanted["document"]) >= len(names), "hardly a document was written: nothing was tried"
    repeated = [mark for kind, marks in wanted.items() for mark in marks if texts[kind].count(mark) > 1]
    assert not repeated, repeated
    counted = ", ".join(f"{len(wanted[kind])} of {kind}" for kind in KINDS)
    print(f"8 at once: {sum(map(len, wanted.values()))} acknowledged, 0 lost ({counted})")
