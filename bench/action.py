"""Latency and throughput of actions that do nothing, durable, against what they ask of the disk, done bare.

The floor is the very same sequence of changes and waits (an order created, two lines appended, the sheet exchanged, and
what is put out of the way), written down from the kernel itself and done again without it in the same run.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

from ._stand import Stand, entry, make_workspace, percentile, scratch
from ._tape import Replay

FIGURES = (
    "action.p50_over_floor",
    "action.p99_over_floor",
    "action.rate_over_floor_1node",
    "action.rate_4node_over_1node",
)
ROUNDS = 300
WARM_UP = 20
TAPED = 20
BATCH = 1000


def run() -> dict[str, float]:
    with scratch() as place:
        figures = latency(place)
        floor_rate, one = rate(place / "one", 1)
        _, four = rate(place / "four", 4)
    figures["action.rate_over_floor_1node"] = one / floor_rate
    figures["action.rate_4node_over_1node"] = four / one
    figures["action.per_s_1node"] = one
    figures["action.per_s_4node"] = four
    return figures


def latency(place: Path) -> dict[str, float]:
    """One action at a time: renamed into place until ACTION.md shows its end. The floor is measured in between.

    Both figures are over the median of the floor: what an action takes, in units of what the disk takes. It is warm
    once old sheets are old enough to be given up: their directory is made then, and in no action that follows.
    """
    old_files = place / "latency" / ".paos" / "replaced"
    with Stand(make_workspace(place / "latency")) as stand:
        took: list[float] = []
        bare: list[float] = []
        for number in count():
            _once(stand, f"warm_{number}")
            if number >= WARM_UP and old_files.is_dir():
                break
        stand.tape()
        tapes = []
        for number in range(TAPED):
            _once(stand, f"taped_{number}")
            tapes.append(stand.tape())
        before = stand.commits()
        floor = Replay(place / "floor", tapes, ROUNDS // TAPED)
        for start in range(0, ROUNDS, TAPED):
            took += [_once(stand, f"act_{number}") for number in range(start, start + TAPED)]
            bare += floor.seconds()
        writes = (stand.commits() - before) / ROUNDS
    floor.close()
    ground = percentile(bare, 0.5)
    return {
        "action.p50_over_floor": percentile(took, 0.5) / ground,
        "action.p99_over_floor": percentile(took, 0.99) / ground,
        "action.p50_ms": percentile(took, 0.5) * 1000,
        "action.p99_ms": percentile(took, 0.99) * 1000,
        "action.floor_ms": ground * 1000,
        "action.floor_p99_ms": percentile(bare, 0.99) * 1000,
        "action.writes": writes,
    }


def _once(stand: Stand, id: str) -> float:
    began = stand.ask([entry(id)])
    return stand.wait_ended(1, id) - began


def rate(place: Path, nodes: int) -> tuple[float, float]:
    """(actions/s that the bare calls alone would allow, actions/s measured) for one sheet of many actions."""
    with Stand(make_workspace(place / "rate", nodes)) as stand:
        _once(stand, "warm")
        stand.tape()
        _batch(stand, "taped", nodes)
        tape = stand.tape()
        stand.commits()
        floor = Replay(place / "floor", [tape], 2)
        bare = floor.seconds()
        took = _batch(stand, "act", nodes)
        bare += floor.seconds()  # before and after: the speed of a shared disk changes
    floor.close()
    return BATCH / (sum(bare) / len(bare)), BATCH / took


def _batch(stand: Stand, name: str, nodes: int) -> float:
    began = stand.ask([entry(f"{name}_{number}", f"r{number % nodes}") for number in range(BATCH)])
    return stand.wait_ended(BATCH, f"{name}_{BATCH - 1}") - began
