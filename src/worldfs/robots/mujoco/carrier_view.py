"""The carrier's view: one carrier of a simulation by the prefix of its names, its place and its tray."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np

from worldfs.base.model import Thing

from . import carrier_model, geometry
from .array_types import Array
from .scene_layout import CarrierPlacement
from .simulation import Simulation


class CarrierView:
    """Where this carrier's values are in the model, and nothing but the model's own names says so."""

    def __init__(self, simulation: Simulation, placement: CarrierPlacement) -> None:
        self.simulation, self.prefix, self.tray = simulation, placement.prefix, placement.tray
        model, prefix = simulation.model, placement.prefix
        joints = [model.joint(prefix + name) for name in carrier_model.JOINTS]
        self.qpos = slice(int(joints[0].qposadr[0]), int(joints[1].qposadr[0]) + 1)
        self.dof = slice(int(joints[0].dofadr[0]), int(joints[1].dofadr[0]) + 1)
        drives = [model.actuator(prefix + name).id for name in carrier_model.DRIVES]
        self.servos = slice(drives[0], drives[1] + 1)
        self.base_body: int = model.body(prefix + carrier_model.BASE).id
        self.tray_body: int = model.body(prefix + carrier_model.TRAY_BODY).id
        self.start = np.array(placement.base[:3])

    def position(self) -> Array:
        """x y z (m) of the base's middle on the floor."""
        at = self.start.copy()
        at[:2] += self.simulation.data.qpos[self.qpos]
        return at

    def joints(self) -> Array:
        """How far its slides are from the start (2, m)."""
        return np.array(self.simulation.data.qpos[self.qpos])

    def speeds(self) -> Array:
        """Their speeds (2, m/s)."""
        return np.array(self.simulation.data.qvel[self.dof])

    def tray_now(self) -> Thing:
        at = self.position() + geometry.up(carrier_model.TRAY_FOOT + carrier_model.TRAY[2] / 2)
        return replace(self.tray, position=tuple(float(v) for v in at))

    def box(self, above: float = 0.0) -> Array:
        """The upright box round it, up to `above` m over the tray (6: lowest corner, highest corner, m)."""
        half = np.array([carrier_model.LENGTH / 2, carrier_model.WIDTH / 2])
        at = self.position()
        top = at[2] + carrier_model.TRAY_FOOT + carrier_model.TRAY[2] + above
        return np.array([*(at[:2] - half), at[2], *(at[:2] + half), top])

    def hold(self) -> None:
        """Sets the drives' goal to the present place."""
        data = self.simulation.data
        data.ctrl[self.servos] = data.qpos[self.qpos]

    def working(self, *, order: bool = False) -> AbstractContextManager[None]:
        """Meanwhile the world takes only the steps that this carrier asks for. `order`: see `Simulation.begin`."""
        return self.simulation.working(self.prefix, order=order)

    def advance(self, steps: int, commands: Array | None = None) -> None:
        """The world goes on; `commands` (steps × 2): the drives' goals in m from the start; None: they hold."""
        self.simulation.advance(self.prefix, steps, self.servos, commands)
