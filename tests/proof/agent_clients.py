"""The published command-line agents against a scripted model API: how each is started, what its tools are called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from worldfs.base.model import Json
from worldfs.testing.model_api import ScriptedApi, ScriptedCall

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
GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}
_MODELS = {"tiny": {"name": "tiny", "tool_call": True}}


class AgentClient(NamedTuple):
    """`words`: without a terminal; `free`: and with every tool allowed. `shell`: a command by its own tool."""

    words: tuple[str, ...]
    free: tuple[str, ...]
    call: Callable[[str, Json], ScriptedCall]
    shell: Callable[[str], ScriptedCall]


_EXEC = ("codex", "exec", "--skip-git-repo-check", "--json")
# Codex skips hooks that its user has not trusted at a terminal; these are ours
_TRUSTED = "--dangerously-bypass-hook-trust"
CLIENTS: Mapping[str, AgentClient] = {
    "claude-code": AgentClient(
        ("claude", "--output-format", "json", "-p"),
        ("claude", "--output-format", "json", "--allowedTools", "mcp__paos,Bash", "-p"),
        lambda tool, given: ScriptedCall(f"mcp__paos__{tool}", given),
        lambda command: ScriptedCall("Bash", {"command": command, "description": "note"}),
    ),
    "codex": AgentClient(
        (*_EXEC, _TRUSTED),
        (*_EXEC, _TRUSTED, "--dangerously-bypass-approvals-and-sandbox"),
        lambda tool, given: ScriptedCall(tool, given, "mcp__paos"),
        lambda command: ScriptedCall("exec_command", {"cmd": command}),
    ),
    "gemini": AgentClient(
        ("gemini", "--output-format", "json", "-p"),
        ("gemini", "--output-format", "json", "--approval-mode", "yolo", "-p"),
        lambda tool, given: ScriptedCall(f"mcp_paos_{tool}", given),
        lambda command: ScriptedCall("run_shell_command", {"command": command, "description": "note"}),
    ),
    "opencode": AgentClient(
        ("opencode", "run", "--format", "json"),
        ("opencode", "run", "--format", "json"),
        lambda tool, given: ScriptedCall(f"paos_{tool}", given),
        lambda command: ScriptedCall("bash", {"command": command, "description": "note"}),
    ),
}


def settle(place: Path, api: ScriptedApi) -> None:
    """The user's own settings below a HOME: models of loopback, and nothing else of the network."""
    loop = {"baseURL": f"{api.url}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "loop", "options": loop, "models": _MODELS}
    models = {"provider": {"loop": provider}, "model": "loop/tiny", "small_model": "loop/tiny"}
    opencode = {**models, "autoupdate": False, "share": "disabled"}
    for name, text in (
        (".codex/config.toml", CODEX.format(url=api.url)),
        (".gemini/settings.json", json.dumps(GEMINI)),
        (".config/opencode/opencode.json", json.dumps(opencode)),
    ):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    (place / "work").mkdir(exist_ok=True)


def environment(place: Path, programs: Path, api: ScriptedApi) -> dict[str, str]:
    """Of a program whose HOME is `place`: models of loopback, and every other host by way of a proxy that refuses."""
    return {
        "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(place), "LANG": "C.UTF-8",
        "HTTPS_PROXY": api.url, "HTTP_PROXY": api.url, "NO_PROXY": "127.0.0.1,localhost", "LOOP_KEY": "none",
        "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "none", "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
        "MCP_CONNECTION_NONBLOCKING": "0", "MCP_CONNECT_TIMEOUT_MS": "120000",  # a busy machine starts servers slowly
        "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": api.url, "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1",
    }  # fmt: skip


def start(place: Path, programs: Path, api: ScriptedApi, *words: str) -> subprocess.Popen[str]:
    """In the directory `work` of its HOME."""
    env = environment(place, programs, api)
    return subprocess.Popen(
        words, env=env, cwd=place / "work", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def run(place: Path, programs: Path, api: ScriptedApi, *words: str) -> subprocess.CompletedProcess[str]:
    with start(place, programs, api, *words) as process:
        try:
            out, err = process.communicate(timeout=400)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)
