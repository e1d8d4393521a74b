"""What the published command-line agents said to the tree after `paos setup`, recorded, is answered as it was.

`PAOS_RECORD=1 make proof ARGS=tests/proof/test_mcp_clients.py` records it anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from worldfs.agents.agent_state import AgentState
from worldfs.interfaces.cli.command_table import PROGRAMS
from worldfs.interfaces.cli.main import main
from worldfs.testing.waiting import PATIENCE_S

RECORDED = Path(__file__).resolve().parents[2] / "fixtures/command_line_agents"
LETTER = "the door of the shed is open"
PAOS = (sys.executable, "-m", "worldfs.interfaces.cli.main")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    assert main(["--home", str(tmp_path / "home"), "onboard"]) == 0
    return tmp_path / "home"


def said(tool: str, kind: str, home: Path) -> list[dict[str, Any]]:
    text = (RECORDED / f"{tool}-set-up.jsonl").read_text()
    lines = text.replace("{HOME}", str(home)).replace("{PLACE}", str(home.parent)).splitlines()
    return [found[kind] for line in lines if kind in (found := json.loads(line))]


@pytest.mark.slice(4)
@pytest.mark.parametrize("tool", PROGRAMS)
def test_every_request_of_a_real_client_is_answered(tool: str, home: Path) -> None:
    frames = said(tool, "mcp", home)
    if frames[0]["method"] == "server/discover":  # of two eras it asks for both, and takes the answer that it likes
        frames = [frame for frame in frames if frame.get("method") != "initialize"]
    called = [frame["params"]["name"] for frame in frames if frame["method"] == "tools/call"]
    assert called == ["look", "remember"]
    command = [*PAOS, "--home", str(home), "--as", "planner", "--agent", tool, "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for frame in frames:
            server.stdin.write(json.dumps(frame).encode() + b"\n")
            server.stdin.flush()
            while "id" in frame and frame["method"] != "subscriptions/listen":  # which lasts
                answer = json.loads(server.stdout.readline())
                if answer.get("id") == frame["id"]:
                    assert "error" not in answer, (frame, answer)
                    assert not answer["result"].get("isError"), (frame, answer)
                    break
        server.stdin.close()
        assert server.wait(PATIENCE_S) == 0
    assert "the blue crate is fragile" in (home / f"agents/{tool}/.paos/notes.jsonl").read_text()


@pytest.mark.slice(6)
@pytest.mark.parametrize("tool", PROGRAMS)
def test_every_event_of_a_real_client_is_taken(tool: str, home: Path) -> None:
    events = said(tool, "hook", home)
    names = [event["hook_event_name"] for event in events]
    assert names[0] == "SessionStart"
    assert names[-1] == "SessionEnd"
    context = []
    for event in events:
        if event["hook_event_name"] in ("PostToolUse", "AfterTool") and len(context) == 1:
            assert main(["--home", str(home), "agent", "send", tool, LETTER]) == 0
        environ = {key: value for key, value in os.environ.items() if not key.startswith("PAOS_")}
        done = subprocess.run(
            [*PAOS, "--home", str(home), "agent", "hook", tool, "--for", str(os.getpid())],
            input=json.dumps(event), env=environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        if done.stdout:
            told = json.loads(done.stdout)["hookSpecificOutput"]
            assert told["hookEventName"] == event["hook_event_name"]
            context.append(told["additionalContext"])
    first, second = context  # at the start, and when the message had come: once, and nothing else
    assert f"You are the agent {tool}" in first
    assert LETTER in second
    with AgentState.open(tool, home / "agents") as state:
        ended = state.session()
    assert ended is not None
    assert ended.status == "completed"
    assert list((home / f"agents/{tool}/inbox").iterdir()) == []
