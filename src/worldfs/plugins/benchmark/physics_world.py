"""Honest worlds: friction, masses, sizes and actuation delay other than ENVIRONMENT.md and the planner's model say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from worldfs.base.model import Scene, Thing
from worldfs.robots.mujoco import panda
from worldfs.robots.mujoco.arm import Arm
from worldfs.robots.mujoco.arm_view import ArmView
from worldfs.robots.mujoco.model_builder import TIMESTEP

Array = NDArray[Any]
SETTLE: Final = 0.3  # s in which the changed world comes to rest


class PhysicsWorld(NamedTuple):
    """`friction`: sliding, of things, supports and pads; `mass` and `size`: factors on the things' own, unknown to the
    robot; `delay` (s): of the arm's servos."""

    friction: float = 1.0
    mass: float = 1.0
    size: float = 1.0
    delay: float = 0.0

    def true_scene(self, told: Scene) -> Scene:
        """The scene that is built: the things as large as they are."""
        return replace(told, objects=tuple(self._true(thing) for thing in told.objects))

    def _true(self, thing: Thing) -> Thing:
        size = tuple(self.size * side for side in thing.size)
        return replace(thing, size=size, position=(*thing.position[:2], self.size * thing.position[2]))

    def apply(self, arm: Arm, told: Scene) -> None:
        """Changes the world that the arm stands in. The arm goes by the sizes and masses that the file tells; its
        collision checks see the true shapes, as a camera would."""
        for thing in told.objects:
            arm.rig.tell(replace(arm.rig.things[thing.id], size=thing.size, mass=thing.mass))
        model, data, rig = arm.simulation.model, arm.simulation.data, arm.rig
        if self.friction != 1.0:
            fixed = {body for body, owner in enumerate(rig.body_owner) if owner in rig.things}
            touched = [g for g in range(model.ngeom) if int(rig.geom_body[g]) in fixed or _pad(model, g)]
            model.geom_friction[touched, 0] = self.friction
        for id in rig.objects:
            body = rig.body[id]
            model.body_mass[body] *= self.mass
            model.body_inertia[body] *= self.mass
        if self.mass != 1.0:
            mujoco.mj_setConst(model, mujoco.MjData(model))
        mujoco.mj_forward(model, data)
        if late := round(self.delay / TIMESTEP):
            arm.mover.drive(DelayedView(arm.view, late))
        arm.mover.begin(lambda: "")
        arm.mover.wait(SETTLE)


def _pad(model: Any, geom: int) -> bool:
    return str(model.geom(geom).name).split("/")[-1].startswith("pad_")


class DelayedView:
    """An arm whose servos hear each command so many steps late."""

    def __init__(self, view: ArmView, steps: int) -> None:
        self._view, self._steps = view, steps
        self._late = self._now()

    def _now(self) -> Array:
        return np.repeat(np.array(self._view.simulation.data.ctrl[self._view.servos])[None], self._steps, axis=0)

    def joints(self) -> Array:
        return self._view.joints()

    def speeds(self) -> Array:
        return self._view.speeds()

    def hold(self) -> None:
        self._view.hold()
        self._late = self._now()

    def advance(self, steps: int, commands: Array | None = None) -> None:
        last = self._late[-1] if len(self._late) else self._now()[-1]
        rows = np.repeat(last[None], steps, axis=0) if commands is None else commands.reshape(-1, panda.ARM)
        line = np.vstack([self._late, rows])
        self._late = line[steps:]
        self._view.advance(steps, line[:steps])
