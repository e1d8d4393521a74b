"""The published command-line agents use the tree by MCP, set up by docs/mcp.md or `paos setup`, by a scripted API."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.command_run import run_command

from worldfs.access.tokens import TokenStore
from worldfs.interfaces.acheron.serve_realm import BackgroundServer, ListenOptions
from worldfs.testing import document_runner
from worldfs.testing.model_api import Answer, ScriptedCall, Step, serving
from worldfs.testing.waiting import PATIENCE_S
from worldfs.world.served_world import ServedWorld

from .agent_clients import CLIENTS, environment, run, settle

pytest.importorskip("mcp")
pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]
SAID = "Remembered."
NOTE = "the blue crate is fragile"
LETTER = "the door of the shed is open"
FOREIGN = {"opencode": ["registry.npmjs.org:443"]}  # it asks there for its plugins' types, and goes on without


def block(language: str, word: str, home: Path) -> str:
    """The block of docs/mcp.md that holds a word, with this home."""
    page = (ROOT / "docs/mcp.md").read_text()
    found = re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)
    return next(one for one in found if word in one).replace("HOME", str(home))


@pytest.mark.parametrize("tool", ["claude-code", "codex"])
def test_a_real_client_looks_around_and_remembers_in_the_tree(tool: str, programs: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert run_command("--home", str(home), "onboard").returncode == 0
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
        words = ("codex", "exec", "--skip-git-repo-check", "--json", "remember the crate")
        made = ScriptedCall("remember", {"text": NOTE}, "mcp__paos")
        script = [ScriptedCall("look", {}, "mcp__paos"), made, SAID]
    with serving(script) as api:
        settle(tmp_path, api)
        if tool == "codex":
            with (tmp_path / ".codex/config.toml").open("a") as config:
                config.write(block("toml", "mcp_servers.paos", home))
        done = run(tmp_path, programs, api, *words)
        offered = json.dumps(api.requests[0][1])
        results: list[Any] = list(api.results)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "mcp__paos" in offered and "A world of files" in offered, "the first request went out without the server"
    assert '"role":"planner"' in re.sub(r"[\\ ]", "", str(results[0])), results
    assert SAID in done.stdout
    notes = (home / "agents/rio/.paos/notes.jsonl").read_text()
    assert NOTE in notes


def set_up(tool: str, place: Path, home: Path, *words: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODEX_HOME", str(place / ".codex"))
        patch.setenv("XDG_STATE_HOME", str(place / ".local/state"))
        assert run_command(*words, "setup", tool, str(place / "work"), "--yes").returncode == 0
    if RECORDING:
        record_calls(place, home)


@pytest.mark.parametrize("tool", CLIENTS)
def test_what_setup_wrote_is_enough_for_a_real_client(tool: str, programs: Path, tmp_path: Path) -> None:
    """The tools in the first request; the state prompt; a message that arrives meanwhile; the session's end."""
    home, client = tmp_path / "the home 家", CLIENTS[tool]
    assert run_command("--home", str(home), "onboard").returncode == 0

    def letter_and_look(request: str) -> ScriptedCall:
        assert run_command("--home", str(home), "agent", "send", tool, LETTER).returncode == 0
        return client.call("look", {})

    script: list[Step] = [letter_and_look, client.call("remember", {"text": NOTE}), SAID]
    with serving(script) as api:
        settle(tmp_path, api)
        set_up(tool, tmp_path, home, "--home", str(home))
        done = run(tmp_path, programs, api, *client.words, "remember the crate")
        requests = [json.dumps(body, ensure_ascii=False) for _, body in api.requests]
        results: list[Any] = list(api.results)
        foreign = set(api.foreign)
    assert done.returncode == 0 and SAID in done.stdout, (done.stdout, done.stderr)
    assert '"role":"planner"' in re.sub(r"[\\ ]", "", str(results[0])), results
    assert "A world of files" in requests[0], "the first request went out without the server"
    assert f"You are the agent {tool}" in requests[0], "the state prompt of the hook is not in the request"
    assert LETTER not in requests[0] and LETTER in requests[1], "a message that arrived was not shown"
    assert NOTE in (home / f"agents/{tool}/.paos/notes.jsonl").read_text()
    agent = home / f"agents/{tool}"
    wait_until_ended(agent)
    assert json.loads((agent / "session.json").read_text())["status"] == "completed"
    assert list((agent / "inbox").iterdir()) == [], "a message that was shown is not read"
    assert foreign <= set(FOREIGN.get(tool, ())), f"hosts outside loopback were asked for: {foreign}"
    if tool == "claude-code":
        assert json.loads(done.stdout)["permission_denials"] == [], "a reading tool was asked about"
        assert "You are its agent `claude-code`" in requests[0], "the rules are not in the request"
    if RECORDING:
        keep_record(tool, tmp_path, home)


def wait_until_ended(agent: Path) -> None:
    """Gemini CLI does not wait for its last hook."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and json.loads((agent / "session.json").read_text())["status"] == "running":
        time.sleep(0.05)


@pytest.mark.parametrize("tool", CLIENTS)
def test_a_real_client_that_was_set_up_for_a_served_world_uses_it(tool: str, programs: Path, tmp_path: Path) -> None:
    home, client = tmp_path / "served", CLIENTS[tool]
    assert run_command("--home", str(home), "onboard").returncode == 0
    with (
        ServedWorld.open(home) as realm,
        BackgroundServer(realm, ListenOptions(port=0), {}) as server,
        serving([client.call("look", {}), client.call("remember", {"text": NOTE}), SAID]) as api,
    ):
        (tmp_path / "token").write_text(TokenStore.open(home).add("rio")[1])
        settle(tmp_path, api)
        url = f"ws://{server.started.host}:{server.started.port}"
        set_up(tool, tmp_path, home, "--connect", url, "--token-file", str(tmp_path / "token"))
        done = run(tmp_path, programs, api, *client.words, "remember the crate")
        results: list[Any] = list(api.results)
    assert done.returncode == 0 and SAID in done.stdout, (done.stdout, done.stderr)
    assert '"agent":"rio"' in re.sub(r"[\\ ]", "", str(results[0])), results
    assert NOTE in (home / "agents/rio/.paos/notes.jsonl").read_text()


# -- the tour "Give Claude Code or Codex a memory and a robot" -------------------------------------------------------

# How a client starts without a terminal once its person has allowed it to order a motion, what `paos setup` does not.
ALLOWED = {
    "claude-code": ("claude", "--output-format", "json", "--allowedTools", "mcp__paos__do", "-p"),
    "codex": (*CLIENTS["codex"].words, "-c", 'mcp_servers.paos.default_tools_approval_mode="approve"'),
}
SECOND = "What do you know of the basket?"
RECALLED = "The basket is for fruit."


def tour(tool: str, told: str) -> str:
    """The tour's page with the published program in place of the one that stands in for it there, in two runs."""
    page = (ROOT / "docs/mcp.md").read_text()
    text = page[page.index("## Give Claude Code or Codex") : page.index("## Claude Code\n")]
    runs = "".join(f"(cd project && {shlex.join([*ALLOWED[tool], said])})\n" for said in (told, SECOND))
    without = "<!-- not run: needs Claude Code and a model's API -->\n"
    stand_in = text[text.index("cat > client.py") : text.index("paos --home . cat LESSONS.md")]
    for old, new in (
        (without, ""), (stand_in, ""), ("cd project && claude\n", runs), ("setup claude-code", f"setup {tool}"),
    ):  # fmt: skip
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("tool", ALLOWED)
def test_the_tour_of_a_memory_and_a_robot_is_true_of_the_real_client(tool: str, programs: Path, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    call, page = CLIENTS[tool].call, (ROOT / "docs/mcp.md").read_text()
    told = " ".join(re.findall(r"tell it: \"(.*?)\"", page, re.S)[0].split())
    memory, order = "the basket is for fruit", "put the apple in the basket"
    assert memory in told and "put the apple" in told
    results: dict[str, list[str]] = {}

    def turn(request: str) -> Answer:
        """What a model would do: it remembers, orders, waits for the end, and recalls in the second run."""
        second = SECOND in request
        results[SECOND if second else told] = said = [re.sub(r"\\+", "", one) for one in api.results]
        if second:
            return RECALLED if said else call("recall", {"query": "basket"})
        if len(said) < 2:
            return (call("remember", {"text": memory}), call("do", {"instruction": order}))[len(said)]
        if re.search(r'"happened": ?true', said[-1]):
            return SAID
        job = re.search(r'"job": ?"([^"]+)"', said[1])
        return call("wait", {"job": job[1], "seconds": 25}) if job else f"no job began: {said[1]}"

    (tmp_path / "tour.md").write_text(tour(tool, told))
    place, home = document_runner.checkout(ROOT, tmp_path / "worldfs"), tmp_path / "home"
    with serving([turn]) as api:
        settle(home, api)
        around = {**environment(home, programs, api), "MUJOCO_GL": "off"}
        begun, ran, _ = document_runner.run(tmp_path / "tour.md", place, home, environ=around)
        first = json.dumps(api.requests[0][1], ensure_ascii=False)
    assert f"{tool} is set up as the agent {tool}" in begun
    assert "A world of files" in first and f"You are the agent {tool}" in first, "a request without server or state"
    assert SAID in ran and RECALLED in ran, ran
    assert re.search(r'"state": ?"done"', results[told][-1]), results[told]
    assert memory in results[SECOND][0], results[SECOND]
    scene = (place / "demo/mcp-tour/workspace/ENVIRONMENT.md").read_text()
    assert re.search(r'"apple_01".*?"in_basket', scene, re.S), "the apple is not in the basket"
    assert api.foreign == [], f"hosts outside loopback were asked for: {api.foreign}"


# -- the recorded slice of `make test` -------------------------------------------------------------------------------

RECORDING = bool(os.environ.get("PAOS_RECORD"))
RECORDED = ROOT / "tests/fixtures/command_line_agents"
_SHIM = """#!{python}
import subprocess, sys, threading
kind = next((one for one in ("mcp", "hook") if one in sys.argv), "")
child = subprocess.Popen(["{paos}", *sys.argv[1:]], stdin=subprocess.PIPE)
with open("{log}." + kind, "ab", buffering=0) as log:
    for line in iter(sys.stdin.buffer.readline, b""):
        log.write(line.rstrip(b"\\n") + b"\\n")
        child.stdin.write(line)
        child.stdin.flush()
child.stdin.close()
sys.exit(child.wait())
"""


def record_calls(place: Path, home: Path) -> None:
    """Let the settings call `paos` by a program that keeps what each client says to it."""
    paos = Path(sys.executable).with_name("paos")
    shim = place / "recorded-paos"
    shim.write_text(_SHIM.format(python=sys.executable, paos=paos, log=place / "said"))
    shim.chmod(0o755)
    for path in [*place.glob("work/**/*"), place / ".codex/config.toml"]:
        if path.is_file():
            path.write_text(path.read_text().replace(str(paos), str(shim)))


def keep_record(tool: str, place: Path, home: Path) -> None:
    lines = []
    for kind in ("mcp", "hook"):
        for line in Path(f"{place}/said.{kind}").read_text().splitlines():
            text = line.replace(str(home), "{HOME}").replace(str(place), "{PLACE}")
            text = re.sub(r'projects/-[^/"]+', "projects/-work", text)
            lines.append(json.dumps({kind: json.loads(text)}, ensure_ascii=False))
    (RECORDED / f"{tool}-set-up.jsonl").write_text("\n".join(lines) + "\n")
