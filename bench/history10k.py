"""Latency with ten thousand finished jobs and a thousand lessons, against a workspace without a past."""

from __future__ import annotations

from ._history import add_history
from ._stand import Stand, entry, make_workspace, percentile, scratch

FIGURES = ("history10k.latency_ratio",)
ROUNDS = 200
WARM_UP = 20


def run() -> dict[str, float]:
    """Both kernels live at the same time and are asked in turn, so that the disk's mood meets both alike."""
    with scratch() as place:
        young = make_workspace(place / "young")
        old = make_workspace(place / "old")
        add_history(old)
        took: dict[str, list[float]] = {"young": [], "old": []}
        with Stand(young) as first, Stand(old) as second:
            for number in range(WARM_UP + ROUNDS):
                for name, stand in (("young", first), ("old", second)):
                    began = stand.ask([entry(f"act_{number}")])
                    took[name].append(stand.wait_ended(1, f"act_{number}") - began)
    medians = {name: percentile(values[WARM_UP:], 0.5) for name, values in took.items()}
    return {
        "history10k.latency_ratio": medians["old"] / medians["young"],
        "history10k.p50_ms": medians["old"] * 1000,
    }
