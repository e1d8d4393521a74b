"""Claude Code and Codex as published use the tree by MCP, set up by docs/mcp.md or `paos setup`, by a scripted API."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from worldfs.interfaces.cli.main import main
from worldfs.testing.model_api import ScriptedApi, ScriptedCall, serving

pytest.importorskip("mcp")
pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]
SAID = "Remembered."
NOTE = "the blue crate is fragile"
CODEX = """model_provider = "loop"
model = "gpt-5"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
remote_plugin = false
[model_providers.loop]
name = "loop"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LOOP_KEY"
"""


def block(language: str, word: str, home: Path) -> str:
    """The block of docs/mcp.md that holds a word, with this home."""
    page = (ROOT / "docs/mcp.md").read_text()
    found = re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)
    return next(one for one in found if word in one).replace("HOME", str(home))


def run(place: Path, programs: Path, api: ScriptedApi, *words: str) -> subprocess.CompletedProcess[str]:
    (place / "work").mkdir(exist_ok=True)
    env = {
        "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(place), "LANG": "C.UTF-8",
        "HTTPS_PROXY": api.url, "HTTP_PROXY": api.url, "NO_PROXY": "127.0.0.1,localhost", "LOOP_KEY": "none",
        "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "none", "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
    }  # fmt: skip
    return subprocess.run(
        words, env=env, cwd=place / "work", capture_output=True, text=True, timeout=400, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize("tool", ["claude-code", "codex"])
def test_a_real_client_looks_around_and_remembers_in_the_tree(tool: str, programs: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert main(["--home", str(home), "onboard"]) == 0
    (tmp_path / "work").mkdir()
    if tool == "claude-code":
        (tmp_path / "work/.mcp.json").write_text(block("json", '"stdio"', home))
        script = [ScriptedCall("mcp__paos__look", {}), ScriptedCall("mcp__paos__remember", {"text": NOTE}), SAID]
        words: tuple[str, ...] = (
            "claude",
            "-p",
            "remember the crate",
            "--allowedTools",
            "mcp__paos",
            "--output-format",
            "json",
        )
    else:
        (tmp_path / ".codex").mkdir()
        words = ("codex", "exec", "--skip-git-repo-check", "--json", "remember the crate")
        made = ScriptedCall("remember", {"text": NOTE}, "mcp__paos")
        script = [ScriptedCall("look", {}, "mcp__paos"), made, SAID]
    with serving(script) as api:
        if tool == "codex":
            config = CODEX.format(url=api.url) + block("toml", "mcp_servers.paos", home)
            (tmp_path / ".codex/config.toml").write_text(config)
        done = run(tmp_path, programs, api, *words)
        offered = json.dumps(api.requests[0][1])
        results: list[Any] = list(api.results)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "mcp__paos" in offered and "A world of files" in offered, "the first request went out without the server"
    assert '"role":"planner"' in re.sub(r"[\\ ]", "", str(results[0])), results
    assert SAID in done.stdout
    notes = (home / "agents/rio/.paos/notes.jsonl").read_text()
    assert NOTE in notes


@pytest.mark.parametrize("tool", ["claude-code", "codex"])
def test_what_setup_wrote_is_enough_for_a_real_client(tool: str, programs: Path, tmp_path: Path) -> None:
    home, work = tmp_path / "the home 家", tmp_path / "work"
    work.mkdir()
    assert main(["--home", str(home), "onboard"]) == 0
    if tool == "claude-code":
        script = [ScriptedCall("mcp__paos__look", {}), ScriptedCall("mcp__paos__remember", {"text": NOTE}), SAID]
        words: tuple[str, ...] = ("claude", "-p", "remember the crate", "--output-format", "json")
    else:
        script = [ScriptedCall("look", {}, "mcp__paos"), SAID]
        words = ("codex", "exec", "--skip-git-repo-check", "--json", "look around")
        (tmp_path / ".codex").mkdir()
    with serving(script) as api:
        if tool == "codex":
            (tmp_path / ".codex/config.toml").write_text(CODEX.format(url=api.url))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CODEX_HOME", str(tmp_path / ".codex"))
            assert main(["--home", str(home), "setup", tool, str(work), "--yes"]) == 0
        done = run(tmp_path, programs, api, *words)
        offered = json.dumps(api.requests[0][1], ensure_ascii=False)
        results: list[Any] = list(api.results)
    assert done.returncode == 0 and SAID in done.stdout, (done.stdout, done.stderr)
    assert '"role":"planner"' in re.sub(r"[\\ ]", "", str(results[0])), results
    if tool == "claude-code":
        assert json.loads(done.stdout)["permission_denials"] == [], "a reading tool was asked about"
        assert "You are the agent claude-code" in offered, "the state prompt of the hook is not in the request"
        assert "You are its agent `claude-code`" in offered, "the rules are not in the request"
        assert NOTE in (home / "agents/claude-code/.paos/notes.jsonl").read_text()
        session = json.loads((home / "agents/claude-code/session.json").read_text())
        assert session["status"] == "completed", session
