"""The world difference: how a built world is other than the robot was told, for trials that say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from worldfs.base.model import Scene

from .arm import Arm

DEPTH_NOISE = 0.002  # m at 1 m: of the simulated depth cameras, growing with the square of the distance


class CameraSensor(NamedTuple):
    """What the true cameras add to a picture. `depth_noise`: standard deviation at 1 m (m), growing with the square of
    the distance; `colour_noise`: of each channel, of 255; `seed`: of both."""

    depth_noise: float = DEPTH_NOISE
    colour_noise: float = 0.0
    seed: int = 0


class WorldDifference(NamedTuple):
    """`true_scene`: what is built, of what was told; `change`: of the built world, before anything looks at it."""

    true_scene: Callable[[Scene], Scene]
    change: Callable[[Arm, Scene], None]
    sensor: CameraSensor
