"""Cold start of the commands that read agents, on a root with ten of them: a fresh process each time, spawn to end."""

from __future__ import annotations

import compileall
import subprocess
import sys
import time
from pathlib import Path

from ._stand import ROOT, environ, percentile, scratch

FIGURES = ("agent_cli.cold_ms",)
ROUNDS = 21
AGENTS = 10
READS = {
    "agents": ("agents", "--json"),
    "show": ("agent", "show", "agent-3"),
    "tasks": ("agent", "tasks", "agent-3"),
}


def run() -> dict[str, float]:
    """The slowest command's median, and each one's; beside them the bare interpreter's."""
    # As after any first start: Python keeps compiled modules beside the source, unless the environment forbids it.
    compileall.compile_dir(ROOT / "src", quiet=1)
    commands = {name: ("-m", "worldfs.interfaces.cli.main", *words) for name, words in READS.items()}
    commands["bare"] = ("-c", "pass")
    took: dict[str, list[float]] = {name: [] for name in commands}
    with scratch() as place:
        make_agents(place)
        for _ in range(ROUNDS + 1):
            for name, words in commands.items():
                took[name].append(_once(place, words))
    medians = {name: 1000 * percentile(values[1:], 0.5) for name, values in took.items()}
    slowest = max(medians[name] for name in READS)
    return {"agent_cli.cold_ms": slowest} | {f"agent_cli.{name}_ms": value for name, value in medians.items()}


def make_agents(root: Path) -> None:
    """Ten that have something to tell: tasks, a letter, and a session behind them."""
    from worldfs.agents.agent_state import AgentState

    for number in range(AGENTS):
        with AgentState.open(f"agent-{number}", root, create=True) as state:
            for task in range(5):
                state.add_task(f"Look at source {task} again", context="It was cut off in the middle")
            state.start(type="research", timeout_seconds=5400)
            state.finish("completed", summary="8 sources archived", sources_archived=8)
    with AgentState.open("agent-0", root) as state:
        for number in range(1, AGENTS):
            state.send(f"agent-{number}", subject="A new source", body="It speaks against yours")


def _once(root: Path, words: tuple[str, ...]) -> float:
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=environ() | {"PAOS_AGENTS": str(root)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - began
