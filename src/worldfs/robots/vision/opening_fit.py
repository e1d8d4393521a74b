"""The opening fit: how far a drawer or a lid is open, by the surfaces that its part would show there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .depth_image import Array, DepthImage
from .shape_fit import facing
from .solids import Solid

STEPS: Final = 32  # openings that are tried over the whole travel, and again between the neighbours of the best
ON: Final = 0.006  # m between a surface and the depth that was measured there
LEAST: Final = 40  # points of the part that must be seen
SEEN: Final = 0.75  # share of the points at which something is seen that must lie on the surface
APART: Final = 0.1  # of the travel: an opening so far from the best one must explain clearly less
CLEARLY: Final = 0.9

Part = Callable[[float], Sequence[Solid]]


@dataclass(frozen=True, slots=True)
class OpeningFit:
    """`value`: m or rad; `share`: of the part's visible points, those that lie where its surface would be."""

    value: float
    share: float
    points: int


def fit_opening(part: Part, travel: float, image: DepthImage, sigma: float) -> OpeningFit | None:
    """The opening (0…`travel`) that explains a picture; None where the picture does not decide it.

    `part`: the solids of the moving part in the world, so far open. `sigma`: the depth's noise at 1 m (m).
    """
    tried = np.linspace(0.0, travel, STEPS + 1)
    found = [_explained(part(float(value)), image, sigma) for value in tried]
    scores = np.array([on - 2 * through for on, through in found])
    best = int(np.argmax(scores))
    far = np.abs(tried - tried[best]) > APART * travel
    if scores[best] < LEAST or np.any(scores[far] > CLEARLY * scores[best]):
        return None
    step = travel / STEPS
    finer = np.clip(np.linspace(tried[best] - step, tried[best] + step, 17), 0.0, travel)
    found = [_explained(part(float(value)), image, sigma) for value in finer]
    scores = np.array([on - 2 * through for on, through in found])
    value = float(finer[scores >= 0.98 * scores.max()].mean())
    on, through = _explained(part(value), image, sigma)
    share = on / max(on + through, 1)
    return OpeningFit(value, share, on) if on >= LEAST and share >= SEEN else None


def _explained(solids: Sequence[Solid], image: DepthImage, sigma: float) -> tuple[int, int]:
    """How many points of the surfaces that face the camera lie where it measured something, and how many were seen
    through. What is hidden counts as neither."""
    points: Array = np.vstack([facing(solid, image) for solid in solids])
    there, measured, own = image.seen_at(points)
    close = ON + 3 * sigma * own**2
    on, through = there & (np.abs(measured - own) < close), there & (measured > own + close)
    return int(np.count_nonzero(on)), int(np.count_nonzero(through))
