"""Stands: what would fall as the file has it gets a pedestal, where that meets nothing else. A trial in physics says
what would fall, so that a thing which several others carry, or which leans, needs none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import mujoco
import numpy as np

from worldfs.base.model import Thing
from worldfs.robots import rotations
from worldfs.robots.displacements import SHIFTED, STAND, TURNED

from . import fixture_model, geometry
from .model_builder import TIMESTEP, build
from .scene_layout import CLEAR_BASE, SceneLayout, covers
from .simulation import Simulation

TRIAL = 0.5  # s in which a thing that nothing carries is seen to fall
MARGINS = (0.025, 0.0)  # m that a stand is wider than the thing on each side; the narrow one where the wide one is none
GRAZE = 0.001  # m that two things may be in each other and count as touching


def stood(plan: SceneLayout) -> SceneLayout:
    """The same with a stand under each thing in the air. What has no room for one is left to fall."""
    added: list[str] = []
    for id in plan.loose:
        thing = next(one for one in plan.objects if one.id == id)
        if _rests(plan, thing):
            continue
        stand = next((one for one in _stands(plan, thing) if _is_clear(plan, one)), None)
        if stand is not None:
            plan = replace(plan, furniture=(*plan.furniture, stand))
            added.append(stand.id)
    return replace(plan, added=frozenset(added))


def _rests(plan: SceneLayout, thing: Thing) -> bool:
    """Whether it stays where it is while nothing else moves."""
    trial = _trial(plan, free=thing.id)
    joint = next(i for i, one in enumerate(plan.objects) if one.id == thing.id)
    at = int(trial.model.joint(f"free{joint}").qposadr[0])
    start = trial.data.qpos[at : at + 7].copy()
    trial.advance("", round(TRIAL / TIMESTEP))
    end = trial.data.qpos[at : at + 7]
    if float(np.linalg.norm(end[:3] - start[:3])) > SHIFTED:
        return False
    return (
        thing.shape == "sphere" or geometry.angle(rotations.matrix(start[3:]).T @ rotations.matrix(end[3:])) <= TURNED
    )


def _stands(plan: SceneLayout, thing: Thing) -> Iterator[Thing]:
    """Pedestals from the floor, or from the table or box below, up to the thing."""
    half = rotations.half_extents(thing.shape, thing.size, rotations.matrix(thing.orientation))
    x, y, z = thing.position
    top = z - float(half[2]) - 0.0005
    name = f"stand_{thing.id}"
    while name in {one.id for one in (*plan.objects, *plan.furniture)}:
        name += "_"
    for margin in MARGINS:
        side = round(2 * (float(max(half[:2])) + margin), 4)
        under = [plan.floor]
        for piece in plan.furniture:
            if piece.shape in ("table", "box") and covers(piece, x, y, side / 2):
                under.append(piece.position[2] + (piece.size[2] / 2 if piece.shape == "box" else 0.0))
        height = round(top - max((one for one in under if one <= top), default=plan.floor), 4)
        yield Thing(
            name, f"stand of {thing.name or thing.id}", STAND, (x, y, round(top, 4)),
            size=(side, side, max(height, GRAZE)), shape="table", color="gray",
        )  # fmt: skip


def _is_clear(plan: SceneLayout, stand: Thing) -> bool:
    """Whether it is in no other thing, and in no arm's base."""
    reach = stand.size[0] / 2 + CLEAR_BASE
    x, y, _ = stand.position
    if any(max(abs(place.base[0] - x), abs(place.base[1] - y)) < reach for place in plan.arms):
        return False
    trial = _trial(replace(plan, furniture=(*plan.furniture, stand)))
    model, data = trial.model, trial.data
    body = model.body(f"furniture{len(plan.furniture)}").id
    (own,) = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] == body]
    return not any(
        mujoco.mj_geomDistance(model, data, own, geom, GRAZE, None) < -GRAZE
        for geom in range(model.ngeom)
        if geom != own and model.geom_contype[geom] and model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_PLANE
    )


def _trial(plan: SceneLayout, free: str = "") -> Simulation:
    """The things without arms and grains; `free`: the one that may move."""
    things = replace(plan, arms=(), objects=tuple(replace(one, extra={}) for one in plan.objects))
    spec = build(things)
    for i, one in enumerate(things.objects):
        if one.id != free:
            spec.delete(spec.joint(f"free{i}"))
    trial = Simulation(spec.compile())
    fixture_model.put_openings(things.furniture, trial.model, trial.data)
    mujoco.mj_forward(trial.model, trial.data)
    return trial
