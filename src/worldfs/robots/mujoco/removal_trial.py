"""The trial of a removal: what would fall or tilt if a thing were taken away, seen in a copy of the world."""

from __future__ import annotations

import copy

import mujoco
import numpy as np

from worldfs.robots import displacements

from . import support
from .action_evidence import object_poses
from .model_builder import TIMESTEP
from .rig import BodyRig
from .simulation import Simulation
from .vessel_model import GRAINS

NEAR = 0.01  # m between outlines: what is farther away rests on nothing of the thing
TRIAL = 0.6  # s in which what is held up by the thing alone falls or tilts
AWAY = 100.0  # m: the thing falls meanwhile, and meets nothing


def held_up(rig: BodyRig, id: str) -> list[str]:
    """The objects that would not stay where they are without the thing: what it carries, carries in part, or keeps from
    tilting, also by way of others. What only shifts within the box in which both lie is none."""
    found = support.riders(rig, id)
    if not any(_near(rig, id, other) for other in rig.objects if other != id):
        return found
    stays, goes = _later(rig), _later(rig, without=id)
    for line in displacements.displacements(object_poses(stays), object_poses(goes), {id, *found}):
        if not _in_one_box(rig, id, line["id"], goes):
            found.append(line["id"])
    return found


def _near(rig: BodyRig, id: str, other: str) -> bool:
    apart = np.abs(rig.position(other) - rig.position(id)) - rig.half(other) - rig.half(id)
    return float(np.max(apart)) < NEAR


def _later(rig: BodyRig, without: str = "") -> BodyRig:
    """The rig after the trial. Only objects and grains move in it; robots, drawers and lids stay as they are."""
    model = rig.simulation.model
    simulation = Simulation(model)
    data = simulation.data
    mujoco.mj_copyData(data, model, rig.simulation.data)
    data.time = 0.0
    if without:
        data.qpos[rig.qpos[without] + 2] += AWAY
    loose = np.array([owner in rig.body or owner == GRAINS for owner in rig.body_owner])
    dofs = np.nonzero(~loose[model.dof_bodyid])[0]
    fixed = np.ones(model.nq, dtype=bool)
    for at in model.jnt_qposadr[loose[model.jnt_bodyid]].tolist():
        fixed[at : at + 7] = False
    kept = data.qpos[fixed].copy()
    for _ in range(round(TRIAL / TIMESTEP)):
        data.qvel[dofs] = 0.0
        simulation.advance("", 1)
        data.qpos[fixed] = kept
    mujoco.mj_forward(model, data)
    then = copy.copy(rig)
    then.simulation = simulation
    return then


def _in_one_box(rig: BodyRig, id: str, other: str, then: BodyRig) -> bool:
    """Whether both lie in one basket, tray, drawer or chest, and the other does so after the trial, too."""
    return any(rig.encloses(box, other) and then.encloses(box, other) for box in support.boxes_round(rig, id))
