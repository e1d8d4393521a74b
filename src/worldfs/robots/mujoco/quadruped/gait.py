"""The gait: a trot by phase with foot placement, and standing; a velocity in, joint goals and torques out.

Scripted, without any learned policy; the trunk is moved by the contacts of its feet alone. Called once every `TICK`.
Figures found by trial on this model unless said otherwise. m, rad, N, s; velocities in the trunk's frame, level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from . import leg
from .quadruped_model import FOOT, HIPS, MASS, SIDES

TICK: Final = 0.01  # s
HEIGHT: Final = 0.29  # m, of the hips above the floor
PERIOD: Final = 0.4  # s
DUTY: Final = 0.6  # share of the period that a foot is on the floor
CLEARANCE: Final = 0.06  # m, of a swinging foot
PHASES: Final = (0.5, 0.0, 0.0, 0.5)  # FL FR RL RR: diagonal pairs
GRAVITY: Final = 9.81
SLEW: Final = 0.02  # of the wanted velocity, a tick
FILTER: Final = 0.04  # of the measured one, a tick
TRIM: Final = 0.45  # m/s, rad/s: the most that the gait is commanded beyond what is wanted
LEVELLING: Final = 0.04  # m
PLACING: Final = 0.15  # s: how much farther out a foot lands for each m/s that the trunk is too fast
SPREAD: Final = 0.02  # m: how much wider than its hips it stands, without which it falls when it turns in place
TILT: Final = 0.3  # of the trunk's tilt that the feet level out; at 0.6 it rolls more and more
STILL: Final = 0.02  # m/s, rad/s: what is wanted less than this is standing
FALLEN: Final = 0.6  # the trunk's own axis times the world's up, from here on down
Velocity = tuple[float, float, float]  # forward, left, turning left


@dataclass(frozen=True, slots=True)
class Motion:
    """What the trunk does now: its velocity, and how it is tilted (rad)."""

    velocity: Velocity
    roll: float
    pitch: float


@dataclass(slots=True)
class Gait:
    """The state of one quadruped's walk."""

    wanted: Velocity = (0.0, 0.0, 0.0)  # slewed
    phase: float = 0.0
    walking: bool = False
    _mean: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    _trim: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])

    def goals(self, command: Velocity, now: Motion) -> tuple[list[float], list[float], list[bool]]:
        """Joint goals and feed-forward torques (12 each) for the next tick, and which feet are to carry."""
        vx, vy, turn = (w + max(-SLEW, min(SLEW, c - w)) for w, c in zip(self.wanted, command, strict=True))
        self.wanted = (vx, vy, turn)
        moving = any(abs(v) > STILL for v in self.wanted) or any(abs(v) > STILL for v in command)
        if moving and not self.walking:
            self.walking, self.phase = True, 0.0
        for i in range(3):
            self._mean[i] += FILTER * (now.velocity[i] - self._mean[i])
            if moving:
                self._trim[i] += 0.015 * (self.wanted[i] - self._mean[i])
                self._trim[i] = max(-TRIM, min(TRIM, self._trim[i]))
            else:
                self._trim[i] *= 0.98
        if self.walking:
            before, self.phase = self.phase, (self.phase + TICK / PERIOD) % 1.0
            if not moving and (self.phase < before or before < 0.5 <= self.phase):
                self.walking = False  # at the change of pairs all four feet are down
        feet = [self._foot(i, now) for i in range(4)]
        down = [on for _, on in feet]
        load = MASS * GRAVITY / sum(down)
        # the floor's push, in the tilted frame of the trunk
        up = (-math.sin(now.pitch), math.sin(now.roll) * math.cos(now.pitch), math.cos(now.roll) * math.cos(now.pitch))
        goals: list[float] = []
        forward: list[float] = []
        for i, (foot, on) in enumerate(feet):
            joints = leg.angles(foot, SIDES[i])
            goals += joints
            forward += leg.torques(joints, SIDES[i], (load * up[0], load * up[1], load * up[2])) if on else (0.0,) * 3
        return goals, forward, down

    def _foot(self, i: int, now: Motion) -> tuple[leg.Point, bool]:
        """Where a foot should be in its hip's frame, and whether it is to carry."""
        hx, hy = HIPS[i][0], HIPS[i][1] + SIDES[i] * leg.HIP
        level = max(-LEVELLING, min(LEVELLING, TILT * (hx * math.sin(now.pitch) - hy * math.sin(now.roll))))
        z = FOOT - HEIGHT + level
        home = SIDES[i] * (leg.HIP + SPREAD)
        if not self.walking:
            return (0.0, home, z), True
        vx, vy, turn = (w + t for w, t in zip(self.wanted, self._trim, strict=True))
        vx, vy = vx - turn * hy, vy + turn * hx
        stance = PERIOD * DUTY
        phase = (self.phase + PHASES[i]) % 1.0
        if phase < DUTY:
            back = stance * (0.5 - phase / DUTY)
            return (vx * back, home + vy * back, z), True
        w = (phase - DUTY) / (1 - DUTY)
        ease = 3 * w * w - 2 * w * w * w
        # a foot lands farther out where the trunk is faster than it should be
        off_x = PLACING * (now.velocity[0] - self.wanted[0])
        off_y = PLACING * (now.velocity[1] - self.wanted[1])
        x0, y0 = -vx * stance / 2, -vy * stance / 2
        x1, y1 = vx * stance / 2 + off_x, vy * stance / 2 + off_y
        lift = CLEARANCE * math.sin(math.pi * w)
        return (x0 + (x1 - x0) * ease, home + y0 + (y1 - y0) * ease, z + lift), False


STANDING: Final = [
    angle for side in SIDES for angle in leg.angles((0.0, side * (leg.HIP + SPREAD), FOOT - HEIGHT), side)
]  # joint angles (12)
