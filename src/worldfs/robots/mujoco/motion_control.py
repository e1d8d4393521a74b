"""The motion controller: turns joint paths into servo commands of an arm, and steps the physics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from . import panda
from .array_types import Array
from .model_builder import TIMESTEP
from .motion_loop import MotionLoop, quintic
from .rig import Rig

SPEED = 0.5 * np.array(panda.SPEED)  # rad/s: half the data sheet
ACCELERATION = 0.3 * np.array(panda.ACCELERATION)  # rad/s²
LINE_SPEED = 0.16  # m/s
CLOSE = -0.01  # m a finger: beyond shut, so that thin things are held as hard as thick ones


class MotionController(MotionLoop):
    """Drives one rig; the fingers keep their goal when it stops."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig.view, panda.LAG)
        self.rig, self.view = rig, rig.view
        self.pace = 1.0  # < 1: slower, for things once lost

    def begin(self, stop: Callable[[], str]) -> None:
        super().begin(stop)
        self.pace = 1.0

    def grip(self, width: float) -> None:
        """Sets the fingers' goal: metres a finger, `CLOSE` to hold."""
        self.moved = True
        self.view.grip(width)

    def follow(self, path: Sequence[Array], *, settle: float = 0.12) -> None:
        """Along straight joint segments, each a quintic at the pace of its slowest joint."""
        for start, end in pairwise(path):
            change = np.abs(end - start)
            seconds = max(
                float(np.max(1.875 * change / SPEED)), float(np.sqrt(np.max(5.77 * change / ACCELERATION))), 0.05
            )
            self.play(*quintic(start, end, seconds / self.pace))
        self.wait(settle)

    def line(self, path: Sequence[Array], length: float, *, speed: float = LINE_SPEED, settle: float = 0.06) -> None:
        """Along close waypoints of a straight TCP line of `length` m, eased in and out over the whole of it."""
        seconds = max(0.2, 1.5 * length / speed / self.pace)
        n = max(2, round(seconds / TIMESTEP))
        s = np.arange(1, n + 1) / n
        where = (3 * s**2 - 2 * s**3) * (len(path) - 1)
        knots = np.arange(len(path))
        points = np.array(path)
        joints = np.stack([np.interp(where, knots, points[:, j]) for j in range(panda.ARM)], axis=1)
        self.play(joints, np.gradient(joints, TIMESTEP, axis=0))
        self.wait(settle)

    def quiet(self, id: str, *, at_most: float = 1.2, below: float = 0.015) -> None:
        """Waits until a thing is nearly still, `at_most` seconds."""
        for _ in range(max(1, round(at_most / 0.1))):
            self.wait(0.1)
            if self.rig.speed(id) < below:
                return
