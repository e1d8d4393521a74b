"""What an agent's model is given: the context from a memory of 10,000 lines, and a client's start hook, cold."""

from __future__ import annotations

import compileall
import json
import subprocess
import sys
import time
from pathlib import Path

from ._stand import ROOT, environ, percentile, scratch
from .agent_cli import AGENTS, make_agents

FIGURES = ("context.build_ms", "agent_hook.ms")
LINES = 10_000
ROUNDS = 11
START = json.dumps({"hook_event_name": "SessionStart", "source": "startup", "session_id": "bench"}).encode()


def run() -> dict[str, float]:
    compileall.compile_dir(ROOT / "src", quiet=1)  # as after any first start
    with scratch() as place:
        make_agents(place)
        hooks = [_start_hook(place, f"agent-{number}") for number in range(AGENTS)][1:]
        built = _contexts(place)
    return {"context.build_ms": 1000 * percentile(built, 0.5), "agent_hook.ms": 1000 * percentile(hooks, 0.5)}


def _start_hook(root: Path, agent: str) -> float:
    """A client of its own begins a session of the agent and is given the state prompt; spawn to end of the hook."""
    with subprocess.Popen(["sleep", "600"]) as client:
        words = ["-m", "worldfs.interfaces.cli.main", "agent", "hook", agent, "--for", str(client.pid)]
        around = {**environ(), "PAOS_AGENTS": str(root)}
        around.pop("PAOS_SESSION", None)
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *words], input=START, env=around, cwd=ROOT, stdout=subprocess.PIPE, check=True
        )
        took = time.perf_counter() - began
        assert agent.encode() in done.stdout, done
        client.kill()  # the session's keeper ends it
    return took


def _contexts(root: Path) -> list[float]:
    """Of an agent whose memory.md was written by a program, line by line."""
    from worldfs.agents.agent_state import AgentState

    lines = "".join(f"- Source {n}: the fee of market {n % 97} was {n % 13}.{n % 7} %\n" for n in range(LINES))
    took = []
    with AgentState.open("agent-3", root) as state:
        state.edit_memory(lambda old: old + f"\n## Sources\n\n{lines}".encode())
        for _ in range(ROUNDS + 1):
            began = time.perf_counter()
            pack = state.context()
            took.append(time.perf_counter() - began)
        assert pack.text
    return took[1:]
