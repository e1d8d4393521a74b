"""Which way up an object is: its own axis that points up, and how far that leans; by shape, size and rotation alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

FLAT: Final = math.radians(10)  # a standing object is turned no farther from the vertical
SAME: Final = 0.002  # m: sides as long as each other may change places

Array = NDArray[Any]


def axis(shape: str, rotation: Array) -> int:
    """The object's own axis (0, 1, 2) that points up; −1 for a ball, which has none."""
    return -1 if shape == "sphere" else int(np.argmax(np.abs(rotation[2])))


def lean(shape: str, size: Sequence[float], rotation: Array, upright: int) -> float:
    """The angle (rad) of that axis to the vertical; sides of equal length are equivalent; 0 without such an axis."""
    if upright < 0:
        return 0.0
    up = np.abs(rotation[2])
    if shape == "cylinder":  # it stands on its end, or it lies and may have rolled
        end = min(1.0, float(up[2]))
        return math.acos(end) if upright == 2 else math.asin(end)
    alike = np.abs(np.array(size) - size[upright]) < SAME
    return math.acos(min(1.0, float(np.max(up[alike]))))
