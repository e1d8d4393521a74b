"""The motion loop: commands played into a body step by step, and a safe stop when the run says so."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from worldfs.base.driver import Standstill
from worldfs.base.messages import coded

from .array_types import Array
from .model_builder import TIMESTEP
from .simulation import Simulation

STILL = 0.01  # rad/s or m/s
CHECK_EVERY = 10  # steps between two checks of the stop flag: 20 ms of simulated time


class MotionStopped(Exception):  # not an error: cancelled, or out of time
    """The run is to stop: `why` is "cancelled" or "timeout". The body already holds still."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class DrivenView(Protocol):
    """A body whose servos are told where to be."""

    def joints(self) -> Array: ...

    def speeds(self) -> Array: ...

    def hold(self) -> None: ...

    def advance(self, steps: int, commands: Array | None = None) -> None: ...


def quintic(start: Array, end: Array, seconds: float) -> tuple[Array, Array]:
    """Where to be at each step of a rest-to-rest motion, and how fast (steps × joints each)."""
    n = max(2, round(seconds / TIMESTEP))
    s = np.arange(1, n + 1) / n
    shape = 10 * s**3 - 15 * s**4 + 6 * s**5
    rate = (30 * s**2 - 60 * s**3 + 30 * s**4) / (n * TIMESTEP)
    return start + np.outer(shape, end - start), np.outer(rate, end - start)


def measured(simulation: Simulation, speed: float, still: float) -> Standstill:
    """Of a body that is at no order of its own. `speed`: rad/s or m/s, as it is now. A world at rest is not stepped."""
    if simulation.resting or speed < still:
        return Standstill(True)
    return Standstill(False, coded("stop.moves_at", speed=speed, unit="m/s, rad/s"))


class MotionLoop:
    """Drives one body. `steps` counts physics steps since the last `begin`; `watch` is called as it goes.

    `lag` (s): how far its servos are behind a goal that moves.
    """

    def __init__(self, body: DrivenView, lag: float) -> None:
        self._body, self._lag = body, lag
        self.steps = 0
        self.moved = False  # since the last `begin`, by a command
        self.stop: Callable[[], str] = lambda: ""
        self.watch: Callable[[], None] | None = None
        self.watch_every = 0  # steps
        self.check_every = CHECK_EVERY

    def drive(self, body: DrivenView) -> None:
        """From now on commands go to this body: the same one, with something between."""
        self._body = body

    def begin(self, stop: Callable[[], str]) -> None:
        self.steps, self.moved, self.stop = 0, False, stop

    def wait(self, seconds: float) -> None:
        """Lets the world go on while the servos hold."""
        self._advance(round(seconds / TIMESTEP))

    def hold(self) -> None:
        """Stops where it is: the servos' goal becomes the present pose."""
        for _ in range(25):  # with its goal always where it is, the servos only brake
            self._body.hold()
            self._body.advance(10)
            self.steps += 10
            if self.still:
                return

    @property
    def speed(self) -> float:
        """rad/s or m/s of the fastest joint, as it is now."""
        return round(float(np.max(np.abs(self._body.speeds()))), 4)

    @property
    def still(self) -> bool:
        return self.speed < STILL

    def play(self, joints: Array, rates: Array) -> None:
        """One command a step; the servos' lag is fed forward, so that the body follows the path exactly."""
        self.moved = True
        commands = joints + self._lag * rates
        commands[-1] = joints[-1]
        self._advance(len(commands), commands)

    def _advance(self, steps: int, commands: Array | None = None) -> None:
        """In chunks between which the stop flag is checked: after a motion's first step, then every `check_every`."""
        done = 0
        while done < steps:
            every = self.check_every
            to_check = every if commands is None else (1 - done) % every or every
            chunk = min(to_check, steps - done)
            if self.watch is not None:
                chunk = min(chunk, self.watch_every - self.steps % self.watch_every)
            self._body.advance(chunk, None if commands is None else commands[done : done + chunk])
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
        if not math.isfinite(float(self._body.joints()[0])):
            raise FloatingPointError("the simulation diverged")
