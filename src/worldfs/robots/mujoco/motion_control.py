"""The motion controller: turns joint paths into servo commands, steps the physics, and stops safely on request."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from . import panda
from .array_types import Array
from .model_builder import TIMESTEP
from .rig import Rig

SPEED = 0.5 * np.array(panda.SPEED)  # rad/s: half the data sheet
ACCELERATION = 0.3 * np.array(panda.ACCELERATION)  # rad/s²
LINE_SPEED = 0.16  # m/s
STILL = 0.01  # rad/s
CHECK_EVERY = 10  # steps between two checks of the stop flag: 20 ms of simulated time
CLOSE = -0.01  # m a finger: beyond shut, so that thin things are held as hard as thick ones


class MotionStopped(Exception):  # not an error: cancelled, or out of time
    """The run is to stop: `why` is "cancelled" or "timeout". The arm already holds still."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class MotionController:
    """Drives one rig. `steps` counts physics steps since the last `begin`; `watch` is called as it goes."""

    def __init__(self, rig: Rig) -> None:
        self.rig, self.view = rig, rig.view
        self.steps = 0
        self.stop: Callable[[], str] = lambda: ""
        self.watch: Callable[[], None] | None = None
        self.watch_every = 0  # steps
        self.pace = 1.0  # < 1: slower, for things once lost

    def begin(self, stop: Callable[[], str]) -> None:
        self.steps, self.stop, self.pace = 0, stop, 1.0

    # --- commands ---

    def grip(self, width: float) -> None:
        """Sets the fingers' goal: metres a finger, `CLOSE` to hold."""
        self.view.grip(width)

    def wait(self, seconds: float) -> None:
        """Lets the world go on while the servos hold."""
        self._advance(round(seconds / TIMESTEP))

    def follow(self, path: Sequence[Array], *, settle: float = 0.12) -> None:
        """Along straight joint segments, each a quintic at the pace of its slowest joint."""
        for start, end in pairwise(path):
            change = np.abs(end - start)
            seconds = max(
                float(np.max(1.875 * change / SPEED)), float(np.sqrt(np.max(5.77 * change / ACCELERATION))), 0.05
            )
            n = max(2, round(seconds / self.pace / TIMESTEP))
            s = np.arange(1, n + 1) / n
            shape = 10 * s**3 - 15 * s**4 + 6 * s**5
            rate = (30 * s**2 - 60 * s**3 + 30 * s**4) / (n * TIMESTEP)
            self._play(start + np.outer(shape, end - start), np.outer(rate, end - start))
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
        self._play(joints, np.gradient(joints, TIMESTEP, axis=0))
        self.wait(settle)

    def hold(self) -> None:
        """Stops where it is: the servos' goal becomes the present pose, the fingers keep theirs."""
        for _ in range(25):  # with its goal always where it is, the servos only brake
            self.view.hold()
            self.view.advance(10)
            self.steps += 10
            if self.still:
                return

    @property
    def speed(self) -> float:
        """rad/s of the fastest joint, as it is now."""
        return round(float(np.max(np.abs(self.view.speeds()))), 4)

    @property
    def still(self) -> bool:
        return self.speed < STILL

    # --- the loop ---

    def _play(self, joints: Array, rates: Array) -> None:
        """One command a step; the servos' lag is fed forward, so that the arm follows the path exactly."""
        commands = joints + panda.LAG * rates
        commands[-1] = joints[-1]
        self._advance(len(commands), commands)

    def _advance(self, steps: int, commands: Array | None = None) -> None:
        """In chunks between which the stop flag is checked: after a motion's first step, then every `CHECK_EVERY`."""
        done = 0
        while done < steps:
            to_check = CHECK_EVERY if commands is None else (1 - done) % CHECK_EVERY or CHECK_EVERY
            chunk = min(to_check, steps - done)
            if self.watch is not None:
                chunk = min(chunk, self.watch_every - self.steps % self.watch_every)
            self.view.advance(chunk, None if commands is None else commands[done : done + chunk])
            self.steps += chunk
            done += chunk
            if commands is None or chunk == to_check:
                self._check_stop()
            if self.watch is not None and self.steps % self.watch_every == 0:
                self.watch()

    def _check_stop(self) -> None:
        why = self.stop()
        if why:
            self.hold()
            raise MotionStopped(why)
        if not math.isfinite(float(self.view.joints()[0])):
            raise FloatingPointError("the simulation diverged")

    def quiet(self, id: str, *, at_most: float = 1.2, below: float = 0.015) -> None:
        """Waits until a thing is nearly still, `at_most` seconds."""
        for _ in range(max(1, round(at_most / 0.1))):
            self.wait(0.1)
            if self.rig.speed(id) < below:
                return
