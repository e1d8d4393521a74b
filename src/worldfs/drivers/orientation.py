"""Which way up a thing is: its own axis that stands, and how far that leans; by shape, size and rotation alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

FLAT: Final = math.radians(10)  # a thing that stands is turned no farther from the vertical
SAME: Final = 0.002  # m: sides as long as each other may change places

Array = NDArray[Any]


def axis(shape: str, rotation: Array) -> int:
    """The thing's own axis (0, 1, 2) that stands up; −1 for a ball, which has none."""
    return -1 if shape == "sphere" else int(np.argmax(np.abs(rotation[2])))


def lean(shape: str, size: Sequence[float], rotation: Array, upright: int) -> float:
    """How far (rad) that axis is from the vertical; sides as long as it count alike, and 0 where there is none."""
    if upright < 0:
        return 0.0
    up = np.abs(rotation[2])
    if shape == "cylinder":  # it stands on its end, or it lies and may have rolled
        end = min(1.0, float(up[2]))
        return math.acos(end) if upright == 2 else math.asin(end)
    alike = np.abs(np.array(size) - size[upright]) < SAME
    return math.acos(min(1.0, float(np.max(up[alike]))))
