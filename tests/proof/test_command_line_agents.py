"""Claude Code, Codex and Gemini CLI as published, as sessions of an agent, against a scripted model API on loopback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from worldfs import AgentState
from worldfs.testing.model_api import ScriptedApi as Server
from worldfs.testing.model_api import ScriptedCall as Call
from worldfs.testing.model_api import Step, serving

from .agent_clients import CODEX, GEMINI

pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests/fixtures/command_line_agents"
NOTE = "- Conditional AMMs are thin (2026-03-31)"
SAID = "Noted what was learned."
PAOS = "import sys; from worldfs.interfaces.cli.main import main; sys.exit(main(sys.argv[1:]))"
TOOLS = ("claude-code", "codex", "gemini")


class Stage(NamedTuple):
    """A home of its own: agents rio and theseus, a letter to rio, and programs that know loopback only."""

    tmp: Path
    programs: Path

    @property
    def rio(self) -> Path:
        return self.tmp / "agents/rio"

    def read(self, file: str) -> Any:
        return json.loads((self.rio / file).read_text())

    def record(self, name: str) -> None:
        """Keep what the tool said as a fixture of `make test`, where PAOS_RECORD asks for it."""
        if os.environ.get("PAOS_RECORD"):
            log = next(iter(sorted(self.rio.glob(".paos/sessions/*/output.log")))).read_text()
            lines = [line for line in log.splitlines() if line.startswith("{")]
            text = "\n".join(lines).replace(str(self.rio), "{STATE}").replace(str(self.tmp), "{HOME}")
            RECORDED.mkdir(exist_ok=True)
            (RECORDED / f"{name}.jsonl").write_text(
                re.sub(r'"(tools|slash_commands|capabilities|skills)":\[[^]]*\]', r'"\1":[]', text) + "\n"
            )

    def run(self, api: Server, *words: str) -> subprocess.CompletedProcess[str]:
        for path, text in (
            (".gemini/settings.json", json.dumps(GEMINI)),
            (".codex/config.toml", CODEX.format(url=api.url)),
        ):
            (self.tmp / path).parent.mkdir(exist_ok=True)
            (self.tmp / path).write_text(text)
        (self.tmp / "work").mkdir(exist_ok=True)
        env = {
            "PATH": f"{self.programs}:{os.environ['PATH']}", "HOME": str(self.tmp), "LANG": "C.UTF-8",
            "PAOS_AGENTS": str(self.tmp / "agents"), "HTTPS_PROXY": api.url, "HTTP_PROXY": api.url,
            "NO_PROXY": "127.0.0.1,localhost", "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
            "LOOP_KEY": "none", "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": api.url,
        }  # fmt: skip
        return subprocess.run(
            [sys.executable, "-c", PAOS, "agent", "run", "rio", "--type", "research", "--timeout", "300", *words],
            env=env, cwd=self.tmp / "work", capture_output=True, text=True, timeout=400, check=False,
        )  # fmt: skip


@pytest.fixture
def stage(tmp_path: Path, programs: Path) -> Iterator[Stage]:
    for name in ("rio", "theseus"):
        AgentState.open(name, tmp_path / "agents", create=True).close()
    with AgentState.open("theseus", tmp_path / "agents") as theseus:
        theseus.send("rio", subject="Check MetaDAO", body="Do agents trade there?", type="question")
    yield Stage(tmp_path, programs)


def outcome_path(rio: Path, request: str) -> str:
    """The file that the prompt names for facts about the session; its own path may hold spaces, or be escaped."""
    found = re.search(r"/sessions/([^/\s]+)/outcome\.json", request)
    assert found is not None, request[:2000]
    return str(rio / ".paos/sessions" / found[1] / "outcome.json")


def script(tool: str, rio: Path) -> list[Step]:
    """Reads memory.md, adds a note, sends a message, reports facts, ends: in the words of the tool's own tools."""
    memory, message, heading = str(rio / "memory.md"), str(rio / "outbox/answer.json"), "## Open Questions"
    sent = json.dumps({"to": "theseus", "subject": "Re: Check MetaDAO", "body": "They do.", "type": "flag"})
    facts = json.dumps({"sources_archived": 3, "handoff": "look at Drift"})
    facts_at = partial(outcome_path, rio)
    if tool == "claude-code":
        edit = {"file_path": memory, "old_string": heading, "new_string": f"{NOTE}\n\n{heading}"}
        return [
            Call("Read", {"file_path": memory}), Call("Edit", edit),
            Call("Write", {"file_path": message, "content": sent}),
            lambda request: Call("Write", {"file_path": facts_at(request), "content": facts}), SAID,
        ]  # fmt: skip
    if tool == "codex":
        return [
            Call("exec_command", {"cmd": f"cat '{memory}'"}),
            Call("exec_command", {"cmd": f"printf '%s\\n' '' '{NOTE}' >> '{memory}'"}),
            Call("exec_command", {"cmd": f"mkdir -p '{rio}/outbox' && printf '%s' '{sent}' > '{message}'"}),
            lambda request: Call("exec_command", {"cmd": f"printf '%s' '{facts}' > '{facts_at(request)}'"}), SAID,
        ]  # fmt: skip
    edit = {"file_path": memory, "old_string": heading, "new_string": f"{NOTE}\n\n{heading}", "instruction": "add"}
    return [
        Call("read_file", {"file_path": memory}), Call("replace", edit),
        Call("write_file", {"file_path": message, "content": sent}),
        lambda request: Call("write_file", {"file_path": facts_at(request), "content": facts}), SAID,
    ]  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS)
def test_a_real_tool_reads_its_state_changes_it_and_is_measured(tool: str, stage: Stage) -> None:
    with serving(script(tool, stage.rio)) as api:
        done = stage.run(api, "--with", tool)
    assert done.returncode == 0, (done.stdout, done.stderr, api.results)
    stage.record(f"{tool}-granted")
    assert done.stdout == SAID + "\n"
    assert "Do agents trade there?" in json.dumps(api.requests[0][1]), "the letter is not in the prompt"
    assert NOTE in (stage.rio / "memory.md").read_text()
    session, report, metrics = (stage.read(f"{name}.json") for name in ("session", "report", "metrics"))
    assert (session["status"], session["sources_archived"], session["handoff_notes"]) == (
        "completed",
        3,
        "look at Drift",
    )
    assert session["tokens_used"] >= 5 * 1050 and session["answer"] == SAID and report["summary"] == SAID
    assert report["last_session"]["tokens_used"] == session["tokens_used"]
    assert metrics["lifetime"]["tokens_used"] == session["tokens_used"]
    if tool == "claude-code":
        assert session["cost_usd"] > 0 and metrics["lifetime"]["cost_usd"] > 0 and session["model"]
    assert list((stage.rio / "inbox").iterdir()) == []
    assert metrics["lifetime"]["cross_agent_flags_sent"] == 1
    arrived = [json.loads(path.read_text()) for path in (stage.tmp / "agents/theseus/inbox").iterdir()]
    assert [(letter["from"], letter["body"]) for letter in arrived] == [("rio", "They do.")]
    assert api.foreign == [], f"hosts outside loopback were asked for: {api.foreign}"


BARE: dict[str, tuple[str, ...]] = {
    "claude-code": ("claude", "-p"),
    "codex": ("codex", "exec", "--skip-git-repo-check", "-"),
    "gemini": ("gemini", "--skip-trust"),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_real_tool_that_cannot_reach_its_state_completes_nothing(tool: str, stage: Stage) -> None:
    before = (stage.rio / "memory.md").read_bytes()
    with serving(script(tool, stage.rio)) as api:
        done = stage.run(api, "--prompt", "stdin", "--", *BARE[tool])
    assert len(api.results) >= 4, "the script did not run to its end"
    stage.record(f"{tool}-refused")
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "--with claude-code" in done.stderr
    session = stage.read("session.json")
    assert session["status"] == "error" and "state" in session["errors"][-1]
    assert (stage.rio / "memory.md").read_bytes() == before
    assert len(list((stage.rio / "inbox").iterdir())) == 1, "a letter was consumed"


def test_a_tool_that_was_told_to_print_nothing_is_judged_by_the_files(stage: Stage) -> None:
    with serving(script("claude-code", stage.rio)) as api:
        done = stage.run(api, "--prompt", "stdin", "--", "claude", "-p", "--output-format", "text")
        assert (done.returncode, done.stdout) == (1, SAID + "\n"), done.stderr
        given = ("--output-format", "text", "--permission-mode", "acceptEdits", "--add-dir", str(stage.rio))
        done = stage.run(api, "--prompt", "stdin", "--", "claude", "-p", *given)
    assert (done.returncode, done.stdout) == (0, SAID + "\n"), done.stderr
    assert list((stage.rio / "inbox").iterdir()) == []


@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_granted_is_the_state_directory_and_no_other(tool: str, stage: Stage) -> None:
    theirs = stage.tmp / "agents/theseus"
    before = (theirs / "memory.md").read_bytes()
    with serving([*script(tool, theirs)[:2], SAID]) as api:
        done = stage.run(api, "--with", tool)
    assert len(api.results) == 2 and done.returncode in (0, 1), done.stderr
    assert (theirs / "memory.md").read_bytes() == before
