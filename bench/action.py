"""Latency and throughput of actions that do nothing, durable, against the raw floor of the same run."""

from __future__ import annotations

from pathlib import Path

from ._stand import Stand, entry, make_workspace, percentile, scratch
from .floor import Floor

FIGURES = (
    "action.p50_over_floor",
    "action.p99_over_floor",
    "action.rate_over_floor_1node",
    "action.rate_4node_over_1node",
)
ROUNDS = 300
WARM_UP = 20
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
    """One action at a time: renamed into place until ACTION.md shows its end. The floor is measured in between."""
    floor = Floor(place / "floor")
    with Stand(make_workspace(place / "latency")) as stand:
        took: list[float] = []
        bare: list[float] = []
        for number in range(WARM_UP):
            _once(stand, f"warm_{number}")
        before = stand.commits()
        for number in range(ROUNDS):
            took.append(_once(stand, f"act_{number}"))
            bare.append(floor.seconds(1))
        writes = (stand.commits() - before) / ROUNDS
    floor.close()
    ground = writes * percentile(bare, 0.5)
    return {
        "action.p50_over_floor": percentile(took, 0.5) / ground,
        "action.p99_over_floor": percentile(took, 0.99) / ground,
        "action.p50_ms": percentile(took, 0.5) * 1000,
        "action.p99_ms": percentile(took, 0.99) * 1000,
        "action.floor_ms": ground * 1000,
        "action.writes": writes,
    }


def _once(stand: Stand, id: str) -> float:
    began = stand.ask([entry(id)])
    return stand.wait_ended(1, id) - began


def rate(place: Path, nodes: int) -> tuple[float, float]:
    """(actions/s that the bare writes alone would allow, actions/s measured) for one sheet of many actions."""
    floor = Floor(place / "floor")
    with Stand(make_workspace(place / "rate", nodes)) as stand:
        _once(stand, "warm")
        before = stand.commits()
        bare = floor.seconds(200) / 200
        began = stand.ask([entry(f"act_{number}", f"r{number % nodes}") for number in range(BATCH)])
        took = stand.wait_ended(BATCH, f"act_{BATCH - 1}") - began
        bare = (bare + floor.seconds(200) / 200) / 2  # before and after: the disk's mood changes
        writes = (stand.commits() - before) / BATCH
    floor.close()
    return 1 / (writes * bare), BATCH / took
