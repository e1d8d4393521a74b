"""Array types of the driver: float64, metres, radians, seconds, world frame unless documented otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Image = npt.NDArray[np.uint8]
Native = Any  # a MuJoCo object: the bindings ship no types
