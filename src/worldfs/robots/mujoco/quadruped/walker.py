"""The walker: carries a velocity to the legs of one quadruped, tick by tick, and stops it safely on request."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from worldfs.robots.mujoco.model_builder import TIMESTEP
from worldfs.robots.mujoco.motion_loop import MotionStopped

from . import leg
from .gait import FALLEN, HEIGHT, STANDING, TICK, Gait, Motion, Velocity
from .quadruped_model import HIPS, SIDES, STIFFNESS
from .quadruped_view import QuadrupedView, TrunkPose

STEPS: Final = round(TICK / TIMESTEP)
STAND_UP: Final = 0.5  # s that the world comes to rest in when it is built
STOP: Final = 3.0  # s: the most that it may need to come to a stand
UPRIGHT: Final = 0.95  # the trunk's own axis times the world's up
AT_REST: Final = 0.03  # m/s, rad/s
# W: its computers and sensors; J: its battery. Ours, for a Go2 that walks for about two hours
IDLE, CAPACITY = 60.0, 230.0 * 3600


class QuadrupedFallen(Exception):  # not an error of the program: the body lies
    """The trunk is tilted too far to go on."""


class Walker:
    """Drives one quadruped. `stop` is asked before each tick: "" to go on, else why not."""

    def __init__(self, view: QuadrupedView, charge: float = 1.0) -> None:
        self.view = view
        self.ticks = 0
        self.charge = charge  # share of the battery
        self.stop: Callable[[], str] = lambda: ""
        self.watch: Callable[[], None] | None = None
        self.watch_every = 1  # ticks
        self._gait = Gait()
        self.stepped = (0.0, 0.0)  # m, in the world: how far the legs have walked by their joints' angles alone
        self.began = (0.0, 0.0)  # m: where it stood then
        self._feet: list[tuple[float, float]] = []

    def begin(self, stop: Callable[[], str]) -> None:
        self.ticks, self.stop, self.stepped = 0, stop, (0.0, 0.0)
        pose = self.view.pose()
        self.began = (pose.x, pose.y)

    def put(self, base: Sequence[float]) -> None:
        """Puts it on its feet there (x y z of the floor, roll pitch yaw), before the world has begun."""
        self.view.put((*base[:2], base[2] + HEIGHT, *base[3:6]), STANDING)
        self.view.hold(STANDING)

    def settle(self) -> None:
        """Lets the world come to rest with it."""
        for _ in range(round(STAND_UP / TICK)):
            self._tick((0.0, 0.0, 0.0))
        self.charge = min(1.0, self.charge + STAND_UP * IDLE / CAPACITY)

    def walk(self, command: Velocity) -> TrunkPose:
        """One tick at that velocity; where it is then. Raises `MotionStopped`, on its feet, and `QuadrupedFallen`."""
        why = self.stop()
        if why:
            self.stand()
            raise MotionStopped(why)
        return self._tick(command)

    def stand(self) -> bool:
        """Comes to a stand and holds it; whether it is at rest. It cannot be stopped: it is the stop."""
        for _ in range(round(STOP / TICK)):
            self._tick((0.0, 0.0, 0.0))
            if not self._gait.walking and self.at_rest:
                return True
        return False

    def wait(self, seconds: float) -> None:
        """Stands meanwhile. Raises what `walk` raises."""
        for _ in range(max(1, round(seconds / TICK))):
            self.walk((0.0, 0.0, 0.0))

    @property
    def at_rest(self) -> bool:
        return all(abs(v) < AT_REST for v in self.view.velocity(self.view.pose()))

    @property
    def speed(self) -> float:
        """m/s over the floor."""
        return math.hypot(*self.view.velocity(self.view.pose())[:2])

    def _tick(self, command: Velocity) -> TrunkPose:
        pose = self.view.pose()
        if not math.isfinite(pose.x):
            raise FloatingPointError("the simulation diverged")
        if pose.up < FALLEN:
            raise QuadrupedFallen
        motion = Motion(self.view.velocity(pose), pose.roll, pose.pitch)
        goals, torques, down = self._gait.goals(command, motion)
        self.view.advance(STEPS, np.array(goals) + np.array(torques) / STIFFNESS)
        self.ticks += 1
        self.charge = max(0.0, self.charge - (IDLE + self.view.power()) * TICK / CAPACITY)
        now = self.view.pose()
        self._count_steps(pose.yaw, now.yaw, down)
        if self.watch is not None and self.ticks % self.watch_every == 0:
            self.watch()
        return now

    def _count_steps(self, before: float, yaw: float, down: Sequence[bool]) -> None:
        """Odometry: the trunk goes the way that the feet on the floor go back under it."""
        joints, feet = self.view.joints(), []
        for i, (hx, hy) in enumerate(HIPS):
            x, y, _ = leg.foot((joints[3 * i], joints[3 * i + 1], joints[3 * i + 2]), SIDES[i])
            feet.append((hx + x, hy + y))
        carried = [i for i in range(4) if down[i]] if self._feet else []
        for i in carried:
            was, now = _turned(self._feet[i], before), _turned(feet[i], yaw)
            x, y = self.stepped
            self.stepped = (x + (was[0] - now[0]) / len(carried), y + (was[1] - now[1]) / len(carried))
        self._feet = feet


def _turned(point: tuple[float, float], yaw: float) -> tuple[float, float]:
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return cosine * point[0] - sine * point[1], sine * point[0] + cosine * point[1]
