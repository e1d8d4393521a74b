"""Other stores at work beside ours: what ~300 bytes cost to be acknowledged, and what eight processes lose.

Each does what its makers offer for it, in a process of its own and timed inside it: LangGraph's SqliteSaver puts a
checkpoint, the OpenAI Agents SDK's SQLiteSession adds an item, the MCP memory server creates an entity; ours appends to
the journal. All are asked in turn, one operation each, so that the disk's mood meets all alike. The memory server
syncs nothing to the disk: its figure is of an operation that a power cut undoes. A peer that cannot be installed or
started here is not run, and says why.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from ._peers import PROGRAMS, Absent, Program, node, python, started
from ._stand import percentile, scratch

FIGURES = (
    "peer.langgraph.put_us",
    "peer.langgraph.lost_of_320",
    "peer.openai.add_us",
    "peer.openai.lost_of_320",
    "peer.mcp.create_us",
    "peer.mcp.lost_of_320",
    "state.lost_of_320",
)
ROUNDS = 300
WARM_UP = 20
PROCESSES = 8
EACH = 40

PEERS: dict[str, tuple[str, Callable[[Path], list[str]]]] = {  # name: (its operation, the command over a directory)
    "langgraph": ("put", lambda place: [str(python()), str(PROGRAMS / "langgraph_put.py"), str(place)]),
    "openai": ("add", lambda place: [str(python()), str(PROGRAMS / "openai_add.py"), str(place)]),
    "mcp": ("create", lambda place: [sys.executable, str(PROGRAMS / "mcp_create.py"), str(place), str(node())]),
}


def run() -> dict[str, float]:
    figures: dict[str, float] = {}
    with scratch() as root:
        ready: dict[str, Callable[[Path], list[str]]] = {}
        for name, (_, command) in PEERS.items():
            try:
                with Program(command(_new(root / f"try-{name}"))):
                    ready[name] = command
            except Absent as error:
                print(f"peer.{name}: not run: {error}", flush=True)
        figures |= latency(root, ready)
        for name, command in ready.items():
            lost, refused = losses(command(_new(root / f"crowd-{name}")))
            figures |= {f"peer.{name}.lost_of_320": lost, f"peer.{name}.refused_of_320": refused}
        # The worse of lines added and of a document that all eight rewrite.
        ours = [losses(_ours(_new(root / f"crowd-{what}"), what)) for what in ("event", "task")]
        figures["state.lost_of_320"] = max(lost + refused for lost, refused in ours)
    return figures


def latency(root: Path, ready: dict[str, Callable[[Path], list[str]]]) -> dict[str, float]:
    commands = {"ours": _ours(_new(root / "ours"), "event")}
    commands |= {name: command(_new(root / name)) for name, command in ready.items()}
    took: dict[str, list[float]] = {name: [] for name in commands}
    with ExitStack() as stack:
        programs = {name: started(command, 1, stack)[0] for name, command in commands.items()}
        for program in programs.values():
            program.put(WARM_UP)
        for _ in range(ROUNDS):
            for name, program in programs.items():
                took[name] += program.put(1).took
    figures = {}
    ours = percentile(took.pop("ours"), 0.5)
    for name, values in took.items():
        figures[f"peer.{name}.{PEERS[name][0]}_us"] = percentile(values, 0.5)
        figures[f"peer.{name}.over_ours"] = percentile(values, 0.5) / ours
    return figures | {"state.append_beside_peers_us": ours}


def losses(command: Sequence[str]) -> tuple[int, int]:
    """(acknowledged operations that nobody finds afterwards, operations refused) of eight processes at once."""
    with Program(command) as first:
        before = first.count()
    with ExitStack() as stack:
        crowd = started(command, PROCESSES, stack)
        for program in crowd:
            program.tell(EACH)
        answers = [program.answer() for program in crowd]
    with Program(command) as last:
        found = last.count() - before
    return sum(len(answer.took) for answer in answers) - found, sum(answer.refused for answer in answers)


def _ours(place: Path, what: str) -> list[str]:
    return [sys.executable, str(PROGRAMS / "ours.py"), str(place), what]


def _new(place: Path) -> Path:
    place.mkdir()
    return place
