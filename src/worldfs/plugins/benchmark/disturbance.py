"""What happens midway in the family `recover`: the object is moved before it is reached, or taken from the gripper."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import mujoco
import numpy as np

if TYPE_CHECKING:
    from worldfs.robots.mujoco.arm import Arm

NEAR = 0.18  # m: the gripper is so near when the object is moved
RISEN = 0.05  # m: it has risen so far when it is taken away
SHIFT = (0.07, 0.12)  # m


class Disturbance:
    """Once in a trial, chosen by the seed. `poll` is called as time passes; `happened` names what was done."""

    def __init__(self, arm: Arm, thing: str, seed: int) -> None:
        self._arm, self._thing = arm, thing
        self._rng = np.random.default_rng([seed, 11])
        self._moment: Callable[[], bool] = self._reached if self._rng.integers(2) else self._lifted
        self._start = float(arm.rig.position(thing)[2])
        self.happened = ""

    def poll(self) -> None:
        if self.happened or not self._moment():
            return
        spot = self._spot()
        if spot is None:
            self.happened = "nothing: no free place beside it"
            return
        rig, thing = self._arm.rig, self._thing
        at, speed = rig.qpos[thing], rig.dof[thing]
        rig.simulation.data.qpos[at : at + 3] = (*spot, self._start)
        rig.simulation.data.qvel[speed : speed + 6] = 0
        mujoco.mj_forward(rig.simulation.model, rig.simulation.data)
        self.happened = "moved" if self._moment == self._reached else "taken out of the gripper"

    def watch(self, observation: object, action: object, result: object) -> None:
        self.poll()

    def _reached(self) -> bool:
        rig = self._arm.rig
        return rig.held() is None and float(np.linalg.norm(rig.view.tcp_pose()[0] - rig.position(self._thing))) < NEAR

    def _lifted(self) -> bool:
        rig = self._arm.rig
        return rig.held() == self._thing and float(rig.position(self._thing)[2]) > self._start + RISEN

    def _spot(self) -> tuple[float, float] | None:
        """A free place on the table, beside where it is now and within reach."""
        rig = self._arm.rig
        x, y, _ = (float(part) for part in rig.position(self._thing))
        others = [rig.position(id)[:2] for id in rig.objects if id != self._thing]
        for _ in range(400):
            far, angle = self._rng.uniform(*SHIFT), self._rng.uniform(-math.pi, math.pi)
            spot = (x + far * math.cos(angle), y + far * math.sin(angle))
            if (
                0.36 < math.hypot(*spot) < 0.62
                and spot[1] > -0.08
                and spot[0] > 0.2
                and all(math.hypot(spot[0] - ox, spot[1] - oy) > 0.13 for ox, oy in others)
            ):
                return spot
        return None
