"""Statistics of a dataset's columns, as LeRobot keeps them: of each episode, and folded into those of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from worldfs.robots.targets.target_adapter import Array

Stats = dict[str, Array]  # min max mean std count q01 q10 q50 q90 q99

QUANTILES: Final = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
SAMPLES = 32  # pictures of an episode that its statistics use


def column_stats(values: Array) -> Stats:
    """Of a column (frames, n) or (frames,): each statistic is (n,) or (1,), `count` is (1,)."""
    table = values.astype(np.float64).reshape(len(values), -1)
    return _all(table, len(table))


def image_stats(frames: Array) -> Stats:
    """Of (frames, H, W, 3) uint8: per channel, 0…1, each statistic (3, 1, 1)."""
    chosen = frames[np.unique(np.linspace(0, len(frames) - 1, min(SAMPLES, len(frames))).round().astype(int))]
    table = chosen[:, ::4, ::4].reshape(-1, 3).astype(np.float64) / 255
    found = _all(table, len(chosen))
    return {name: value if name == "count" else value.reshape(3, 1, 1) for name, value in found.items()}


def _all(table: Array, count: int) -> Stats:
    return {
        "min": table.min(0), "max": table.max(0), "mean": table.mean(0), "std": table.std(0),
        "count": np.array([count]), **{name: np.quantile(table, part, axis=0) for name, part in QUANTILES.items()},
    }  # fmt: skip


def merge_stats(one: Mapping[str, Stats], other: Mapping[str, Stats]) -> dict[str, Stats]:
    """Of both together; of quantiles the mean by count, as LeRobot folds them. An empty side changes nothing."""
    if not one or not other:
        return dict(one or other)
    return {name: _fold(one[name], other[name]) for name in one}


def _fold(a: Stats, b: Stats) -> Stats:
    n, m = int(a["count"][0]), int(b["count"][0])
    part, rest = n / (n + m), m / (n + m)
    mean = a["mean"] * part + b["mean"] * rest
    spread = (a["std"] ** 2 + (a["mean"] - mean) ** 2) * part + (b["std"] ** 2 + (b["mean"] - mean) ** 2) * rest
    return {
        "min": np.minimum(a["min"], b["min"]), "max": np.maximum(a["max"], b["max"]), "mean": mean,
        "std": np.sqrt(spread), "count": np.array([n + m]), **{q: a[q] * part + b[q] * rest for q in QUANTILES},
    }  # fmt: skip


def stats_to_json(stats: Mapping[str, Stats]) -> dict[str, dict[str, object]]:
    """For JSON."""
    return {name: {key: value.tolist() for key, value in kept.items()} for name, kept in stats.items()}


def stats_from_json(stats: Mapping[str, Mapping[str, object]]) -> dict[str, Stats]:
    """The reverse of `stats_to_json`."""
    return {name: {key: np.array(value) for key, value in kept.items()} for name, kept in stats.items()}
