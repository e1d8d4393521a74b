"""An arm in a world as it would be: a copy in which things stand elsewhere, for plans beyond the next motion."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace

import mujoco

from .arm import Arm
from .arm_view import ArmView
from .array_types import Array
from .simulation import Simulation


def imagined(
    arm: Arm, positions: Mapping[str, Array], joints: Array | None = None, opening: float | None = None
) -> Arm:
    """The same arm where these things have other positions (3, m), turned as they are, or poses (7), and the arm other
    `joints` and another half `opening` (m) of its fingers. The real one stays as it is."""
    simulation = copy.copy(arm.simulation)
    simulation.data = mujoco.MjData(simulation.model)
    mujoco.mj_copyData(simulation.data, simulation.model, arm.simulation.data)
    for id, position in positions.items():
        at = arm.rig.qpos[id]
        simulation.data.qpos[at : at + len(position)] = position
    if joints is not None:
        simulation.data.qpos[arm.view.joint_qpos] = joints
    if opening is not None:
        simulation.data.qpos[arm.view.finger_qpos] = opening
    mujoco.mj_forward(simulation.model, simulation.data)
    rig = copy.copy(arm.rig)
    rig.simulation = simulation
    rig.arms = {id: _seen_in(view, simulation) for id, view in arm.rig.arms.items()}
    rig.others = {id: view for id, view in rig.arms.items() if id != rig.robot_id}
    rig.view = rig.arms[rig.robot_id]
    return replace(arm, rig=rig)


def _seen_in(view: ArmView, simulation: Simulation) -> ArmView:
    found = copy.copy(view)
    found.simulation = simulation
    return found
