"""A straight piece of a way on the floor, and how far a point is from it."""

from __future__ import annotations

import math
from collections.abc import Sequence


def distance(point: Sequence[float], start: Sequence[float], end: Sequence[float]) -> float:
    """Metres from a point to the straight piece from `start` to `end` (x y each)."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    long = dx * dx + dy * dy
    share = ((point[0] - start[0]) * dx + (point[1] - start[1]) * dy) / long if long else 0.0
    share = min(1.0, max(0.0, share))
    return math.dist(point[:2], (start[0] + dx * share, start[1] + dy * share))
