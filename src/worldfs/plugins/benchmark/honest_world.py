"""The honest world of a trial: what of physics and cameras is otherwise than the robot was told, drawn from a seed."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Json, Scene
from worldfs.robots.mujoco.arm import Arm
from worldfs.robots.mujoco.world_difference import WorldDifference

from .camera_world import CameraWorld
from .physics_world import PhysicsWorld

Span = tuple[float, float]
PHYSICS: Final[dict[str, Span]] = {
    "friction": (0.3, 1.0), "mass": (0.5, 2.0), "size": (0.95, 1.05), "delay": (0.0, 0.05),
}  # fmt: skip
CAMERAS: Final[dict[str, Span]] = {
    "light": (0.5, 1.5), "light_angle": (-60.0, 60.0), "warmth": (-0.2, 0.2), "depth_noise": (1.0, 4.0),
    "colour_noise": (0.0, 10.0), "camera_shift": (0.0, 4.0), "camera_tilt": (0.0, 0.4),
}  # fmt: skip
RANGES: Final = PHYSICS | CAMERAS
MOST: Final[dict[str, Span]] = {  # what can be simulated, and is still a world
    "friction": (0.05, 3.0), "mass": (0.1, 10.0), "size": (0.8, 1.2), "delay": (0.0, 0.5), "light": (0.0, 5.0),
    "light_angle": (-180.0, 180.0), "warmth": (-0.9, 0.9), "depth_noise": (0.0, 50.0), "colour_noise": (0.0, 120.0),
    "camera_shift": (0.0, 100.0), "camera_tilt": (0.0, 30.0),
}  # fmt: skip


class HonestWorld(NamedTuple):
    """`seed`: of the noise and of the directions in which the cameras are off."""

    physics: PhysicsWorld = PhysicsWorld()
    cameras: CameraWorld = CameraWorld()
    seed: int = 0

    def as_json(self) -> Json:
        return {
            name: round(value, 4) for part in (self.physics, self.cameras) for name, value in part._asdict().items()
        }

    def difference(self) -> WorldDifference:
        """What a body is opened with, so that it stands in this world."""
        return WorldDifference(self.physics.true_scene, self._change, self.cameras.sensor(self.seed))

    def _change(self, arm: Arm, told: Scene) -> None:
        self.cameras.apply(arm, self.seed)
        self.physics.apply(arm, told)


def world_of(levels: Mapping[str, float], seed: int = 0) -> HonestWorld:
    """The world with these factors at these levels, and nothing else changed."""
    physics = PhysicsWorld(**{name: level for name, level in levels.items() if name in PHYSICS})
    cameras = CameraWorld(**{name: level for name, level in levels.items() if name in CAMERAS})
    return HonestWorld(physics, cameras, seed)


def drawn(seed: int, ranges: Mapping[str, Span] = RANGES) -> HonestWorld:
    """Each factor evenly from its range, whichever others are drawn; the same for the same seed."""
    return world_of({name: _level(name, span, seed) for name, span in ranges.items()}, seed)


def _level(name: str, span: Span, seed: int) -> float:
    rng = np.random.default_rng([seed, 31, zlib.crc32(name.encode())])
    return float(rng.uniform(*span))


def parse_ranges(texts: Sequence[str], *, every: bool, cameras: bool) -> dict[str, Span]:
    """`FACTOR`, `FACTOR=LEVEL` or `FACTOR=LOW..HIGH` of each text. `every`: all factors at their usual ranges, which
    the texts change; `cameras`: with those of the cameras. Raises `BadInput` for another text."""
    known = PHYSICS | CAMERAS if cameras else PHYSICS
    found: dict[str, Span] = dict(known) if every else {}
    for text in (part.strip() for given in texts for part in given.split(",")):
        name, equals, span = text.partition("=")
        if name not in RANGES:
            raise _bad(text, coded("plugin.world_factor", names=[*RANGES]))
        if name not in known:
            raise _bad(text, coded("plugin.world_cameras"))
        found[name] = _span(text, name, span) if equals else RANGES[name]
    return found


def _span(text: str, name: str, given: str) -> Span:
    low, dots, high = given.partition("..")
    try:
        span = float(low), float(high if dots else low)
    except ValueError:
        span = math.nan, math.nan
    least, most = MOST[name]
    if not least <= span[0] <= span[1] <= most:
        raise _bad(text, coded("plugin.world_range", name=name, low=least, high=most))
    return span


def _bad(text: str, expected: str) -> BadInput:
    return BadInput(text or coded("common.none"), path="--world", expected=expected, code="USAGE")
