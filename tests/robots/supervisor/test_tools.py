"""Command-line agents by name, with what the real ones said (tests/proof/test_command_line_agents.py records it)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldfs import AgentState
from worldfs.base.errors import BadInput
from worldfs.interfaces.cli.main import main
from worldfs.supervisor.tools import TOOLS, preset_command, reporting_command

RECORDED = Path(__file__).parents[2] / "fixtures/command_line_agents"
PROGRAM = {"claude-code": "claude", "codex": "codex", "gemini": "gemini"}
BARE = {
    "claude-code": ("claude", "-p"), "codex": ("codex", "exec", "-"), "gemini": ("gemini", "-p", "go on"),
}  # fmt: skip
REPLAY = """#!/bin/sh
printf '%s\\n' "$@" > "$HOME/words"
cat > "$HOME/prompt"
{change}
sed "s#{{STATE}}#$PAOS_STATE_DIR#g" '{recorded}'
"""
CHANGE = """printf '\\n- new\\n' >> "$PAOS_STATE_DIR/memory.md" """

Run = Callable[..., int]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PAOS_SESSION", "PAOS_AGENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PAOS_AGENTS", str(tmp_path / "agents"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for name in ("rio", "theseus"):
        AgentState.open(name, tmp_path / "agents", create=True).close()
    with AgentState.open("theseus", tmp_path / "agents") as theseus:
        theseus.send("rio", subject="Check MetaDAO", body="Do agents trade there?")
    return tmp_path / "agents"


def put(root: Path, tool: str, how: str, change: str = "") -> None:
    """A program of the tool's name that repeats what the real one said."""
    recorded = RECORDED / f"{tool}-{how}.jsonl"
    path = root.parent / PROGRAM[tool]
    path.write_text(
        REPLAY.replace("{change}", change).replace("{recorded}", str(recorded)).replace("{{", "{").replace("}}", "}")
    )
    path.chmod(0o755)


def said(root: Path, file: str) -> Any:
    return json.loads((root / "rio" / file).read_text())


@pytest.mark.parametrize("tool", TOOLS)
def test_what_a_tool_reports_of_itself_stands_in_the_files(
    tool: str, root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(root, tool, "granted", CHANGE)
    assert main(["agent", "run", "rio", "--with", tool, "--model", "m-1", "--", "--extra"]) == 0, capfd.readouterr()
    assert capfd.readouterr().out == "Noted what was learned.\n"
    session, report, metrics = said(root, "session.json"), said(root, "report.json"), said(root, "metrics.json")
    assert session["tokens_used"] > 5000 and metrics["lifetime"]["tokens_used"] == session["tokens_used"]
    assert report["summary"] == session["answer"] == "Noted what was learned." and session["model"] == "m-1"
    if tool == "claude-code":
        assert session["cost_usd"] == metrics["lifetime"]["cost_usd"] == report["last_session"]["cost_usd"] > 0
    words = (root.parent / "words").read_text().split("\n")
    assert str(root / "rio") in words and {"--extra", "m-1"} <= set(words)
    prompt = (root.parent / "prompt").read_text()
    assert (
        "Do agents trade there?" in prompt
        and f"{root}/rio/.paos/sessions/{session['session_id']}/outcome.json" in prompt
    )
    assert list((root / "rio/inbox").iterdir()) == [], "what stood in its prompt was read"


def test_with_json_the_answer_stands_in_the_one_value(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(root, "claude-code", "granted", CHANGE)
    assert main(["--json", "agent", "run", "rio", "--with", "claude-code"]) == 0
    value = json.loads(capfd.readouterr().out)
    assert value["outcome"] == "completed" and value["session"]["extra"]["answer"] == "Noted what was learned."


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_that_was_refused_its_state_has_not_completed(
    tool: str, root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(root, tool, "refused")
    assert main(["agent", "run", "rio", "--prompt", "stdin", "--", *BARE[tool]]) == 1
    assert "--with claude-code" in capfd.readouterr().err
    session = said(root, "session.json")
    assert session["status"] == said(root, "report.json")["status"] == "error"
    events = [json.loads(line) for line in (root / "rio/journal.jsonl").read_text().splitlines()]
    assert next(one for one in events if one["event"] == "command_end")["cause"] == "unreached"
    assert len(list((root / "rio/inbox").iterdir())) == 1


def test_a_tool_that_shows_nothing_is_judged_by_what_it_changed(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    line = ["agent", "run", "rio", "--prompt", "stdin", "--", "claude", "-p", "--output-format", "text"]
    program = root.parent / "claude"
    program.write_text("#!/bin/sh\ncat > /dev/null\necho done\n")
    program.chmod(0o755)
    assert main(line) == 1 and capfd.readouterr().out == "done\n"
    program.write_text(f"#!/bin/sh\ncat > /dev/null\n{CHANGE}\necho done\n")
    assert main(line) == 0 and capfd.readouterr().out == "done\n"
    assert list((root / "rio/inbox").iterdir()) == []


def test_a_prompt_that_was_not_taken_was_not_read(root: Path) -> None:
    assert main(["agent", "run", "rio", "--prompt", "stdin", "--", "true"]) == 0
    assert len(list((root / "rio/inbox").iterdir())) == 1
    assert main(["agent", "run", "rio", "--prompt", "stdin", "--", "sh", "-c", "read line"]) == 0
    assert len(list((root / "rio/inbox").iterdir())) == 1, "it took the first line only"
    assert main(["agent", "run", "rio", "--prompt", "stdin", "--", "sh", "-c", "cat /dev/stdin >/dev/null"]) == 0
    assert list((root / "rio/inbox").iterdir()) == []


def test_a_letter_that_the_prompt_left_out_was_not_read(root: Path) -> None:
    with AgentState.open("theseus", root) as theseus:
        theseus.send("rio", subject="A long one", body="x" * 40_000)
    assert main(["agent", "run", "rio", "--prompt", "stdin", "--", "sh", "-c", "cat >/dev/null"]) == 0
    left = [json.loads(path.read_text())["subject"] for path in (root / "rio/inbox").iterdir()]
    assert left == ["A long one"]


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_a_report_may_come_in_any_pieces(size: int) -> None:
    data = (RECORDED / "claude-code-granted.jsonl").read_bytes()
    partial = b'{"type":"stream_event","event":{"type":"content_block_delta"}}\n'
    reader = TOOLS["claude-code"].reader("{STATE}")
    given = partial + data.rstrip(b"\n")
    kept = b"".join(reader.feed(given[at : at + size]) for at in range(0, len(given), size)) + reader.end()
    assert kept == data.rstrip(b"\n") and reader.answer == "Noted what was learned." and reader.tokens is not None


def test_a_tool_that_only_reports_parts_of_a_message_is_not_silent(tmp_path: Path) -> None:
    from worldfs.base.durable import Root
    from worldfs.supervisor.output_log import OutputLog
    from worldfs.supervisor.output_streams import OutputStreams

    now = [0.0]
    log = OutputLog(Root(tmp_path), "session", lambda text: text, now=lambda: now[0])
    flow = OutputStreams(log, -1, -1, TOOLS["claude-code"].reader("/state").feed)
    now[0] = 100.0
    os.write(flow.ends[0], b'{"type":"stream_event","event":{"type":"content_block_delta"}}\n')
    flow.start()
    flow.drain()
    assert flow.silent_s(100.0) == 0.0 and log.received_bytes == 0
    log.close()


def test_a_report_of_another_shape_stops_nothing() -> None:
    reader = TOOLS["claude-code"].reader("/state")
    for line in (b'{"type":"assistant","message":null}', b'{"type":"result","usage":7}', b"[1]", b"{", b"\xff\xfe"):
        assert reader.feed(line + b"\n") == line + b"\n"
    reader.end()


def test_one_document_at_the_end_is_a_report_too() -> None:
    reader = TOOLS["gemini"].reader("/state")
    stats = {"models": {"g": {"tokens": {"total": 7}}}}
    reader.feed(json.dumps({"session_id": "x", "response": "Well.", "stats": stats}, indent=2).encode())
    reader.end()
    assert (reader.answer, reader.tokens, reader.model) == ("Well.", 7, "g")


def test_a_right_that_was_refused_once_and_then_worked_was_within_reach() -> None:
    reader = TOOLS["claude-code"].reader("/state")
    reader.note_access("", "cat /state/memory.md", "permission denied")
    reader.note_access("read", "/state/memory.md", None)
    assert "refused" not in reader.out_of_reach(wrote=True)
    reader.note_access("write", "/state/memory.md", "permission denied")
    assert "refused" in reader.out_of_reach(wrote=False) and reader.out_of_reach(wrote=True) == ""
    reader.note_access("read", "/elsewhere", "permission denied")  # not its state
    assert reader.out_of_reach(wrote=True) == ""


@pytest.mark.parametrize("line", [("env", "A=1", "claude", "-p"), ("npx", "@openai/codex@latest", "exec"), ("gemini",)])
def test_a_known_tool_is_told_to_report_wherever_it_stands(line: tuple[str, ...]) -> None:
    found = reporting_command(line, "/state")
    assert found is not None and found.added and len(found.argv) > len(line)


@pytest.mark.parametrize(
    "line", [("claude", "mcp", "list"), ("codex", "login"), ("gemini", "mcp"), ("sh", "-c", "claude -p")]
)
def test_what_is_no_headless_run_is_left_as_it_is(line: tuple[str, ...]) -> None:
    assert reporting_command(line, "/state") is None


def test_a_limit_of_silence_is_refused_for_a_tool_told_to_be_silent() -> None:
    with pytest.raises(BadInput, match="output format"):
        reporting_command(("claude", "-p", "--output-format", "json"), "/state", silence=True)
    assert reporting_command(("claude", "-p"), "/state", silence=True) is not None


def test_the_form_of_the_report_is_not_the_callers_to_say() -> None:
    with pytest.raises(BadInput, match="this one is set"):
        preset_command("claude-code", "/state", ("--output-format=text",), None)


def test_without_a_command_and_without_a_tool_nothing_runs(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "run", "rio"]) == 2 and "--with TOOL" in capfd.readouterr().err
