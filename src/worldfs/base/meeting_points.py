"""Where two arms hand a thing over: points between their bases at which each has room behind its hand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from .model import Vec

HEIGHTS: Final = (0.40, 0.50, 0.30, 0.25, 0.20)  # m over the bases, the best first; the last under an upper bound
ASIDE: Final = (0.35, -0.35, 0.28, -0.28, 0.42, -0.42)  # m off the line between the bases
POINTS: Final = "points"  # the parameter that lists those that an order allows


def meeting_points(
    giver: Sequence[float], receiver: Sequence[float], heights: Sequence[float] = HEIGHTS
) -> Iterator[Vec]:
    """The points (x y z, m in the world frame) between two bases (x y z, m), in the order in which they are tried."""
    x, y, z = ((a + b) / 2 for a, b in zip(giver[:3], receiver[:3], strict=True))
    yaw = math.atan2(receiver[1] - giver[1], receiver[0] - giver[0])
    for height in heights:
        for aside in ASIDE:
            yield (x - math.sin(yaw) * aside, y + math.cos(yaw) * aside, z + height)
