"""Agent State against the raw floor: what an acknowledged change costs beyond the bare system calls that it needs.

append        one entry of the journal          floor: the same bytes, O_APPEND write + fdatasync
replace       one task changed in tasks.json    floor: the same bytes, write + fsync + rename + fsync of the directory
deposit       one letter into an inbox          floor: as many bytes, the same four calls
session end   commit, three letters, all files  floor: one such replacement

Ours and the floor in turn, in directories of one file system, the first now the one, now the other; medians.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ._stand import percentile, scratch
from .floor import replace_once

if TYPE_CHECKING:
    from worldfs.agents.state import AgentState
    from worldfs.ground.model import Message

FIGURES = (
    "state.append_over_floor",
    "state.replace_over_floor",
    "state.deposit_over_floor",
    "state.session_end_over_floor",
)
ROUNDS = 400
WARM_UP = 20
LETTERS = 3
TEXT = "Batch extraction of the newest sources is through; two of them need a second look at their figures. "

Step = Callable[[int], object]


def run() -> dict[str, float]:
    from worldfs.agents.state import AgentState

    figures: dict[str, float] = {}
    with scratch() as place:
        for name, work in (
            ("append", append),
            ("replace", replace),
            ("session_end", session_end),
            ("deposit", deposit),  # last: letters that a neighbour got a moment ago are read at a session's end
        ):
            with AgentState.open(name.replace("_", "-"), place / "agents", create=True) as state:
                figures |= {f"state.{name}_{what}": value for what, value in work(state, place / name).items()}
    return figures


def append(state: AgentState, place: Path) -> dict[str, float]:
    place.mkdir()
    state.event("noted", text=TEXT * 2)
    line = (state.room.path / "journal.jsonl").read_bytes().splitlines(keepends=True)[-1]
    fd = os.open(place / "floor.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def bare(_: int) -> None:
        os.write(fd, line)
        os.fdatasync(fd)

    try:
        return paired(lambda _: state.event("noted", text=TEXT * 2), bare)
    finally:
        os.close(fd)


def replace(state: AgentState, place: Path) -> dict[str, float]:
    ids = [state.add_task(TEXT, context=TEXT).id for _ in range(7)]
    data = (state.room.path / "tasks.json").read_bytes()
    with directory(place) as fd:
        return paired(
            lambda n: state.update_task(ids[n % len(ids)], context=f"{TEXT}{n:06d}"),
            lambda _: replace_once(fd, "tasks.json", data),
        ) | {"bytes": len(data)}


def deposit(state: AgentState, place: Path) -> dict[str, float]:
    state.inbox.deposit(_letter(state.name, -1))
    (there,) = (state.room.path / "inbox").glob("*.json")
    data = there.read_bytes()
    with directory(place) as fd:
        return paired(
            lambda n: state.inbox.deposit(_letter(state.name, n)),
            lambda n: replace_once(fd, f"{n:06d}.json", data),
        )


def session_end(state: AgentState, place: Path) -> dict[str, float]:
    data = b"x" * 400

    def begin(n: int) -> None:
        for number in range(LETTERS):
            state.inbox.deposit(_letter(state.name, n * LETTERS + number))
        state.start(type="research", timeout_seconds=5400)

    with directory(place) as fd:
        return paired(
            lambda _: state.finish("completed", summary=TEXT, handoff=TEXT, sources_archived=3, pr_number=7),
            lambda n: replace_once(fd, f"{n % 64}.json", data),
            begin,
        )


def paired(ours: Step, bare: Step, begin: Step = int) -> dict[str, float]:
    """Both are called with the number of the round; `begin`, before ours, is not timed."""
    took: list[float] = []
    floor: list[float] = []
    for n in range(WARM_UP + ROUNDS):
        begin(n)
        for step, times in ((ours, took), (bare, floor))[:: 1 if n % 2 else -1]:
            began = time.perf_counter()
            step(n)
            times.append(1e6 * (time.perf_counter() - began))
    del took[:WARM_UP], floor[:WARM_UP]
    half = percentile(took, 0.5)
    return {
        "over_floor": half / percentile(floor, 0.5),
        "us": half,
        "p99_us": percentile(took, 0.99),
        "floor_us": percentile(floor, 0.5),
    }


@contextmanager
def directory(place: Path) -> Iterator[int]:
    """Its descriptor."""
    place.mkdir()
    fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield fd
    finally:
        os.close(fd)


def _letter(to: str, n: int) -> Message:
    from worldfs.ground.model import Message

    return Message(f"bench-{n}", "bench", to, "2026-11-21T12:00:00Z", subject="A flag", body=TEXT)
