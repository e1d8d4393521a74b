"""The build: a layout written as a physics model, in primitive shapes, with lights and cameras.

Ids come from people and may hold anything; in the model every thing goes by its number, so no id is ever parsed. Real
meshes, should they come, belong here and in `panda`: as visuals over the same joints.
"""

from __future__ import annotations

import mujoco
import numpy as np

from worldfs.base.model import Thing
from worldfs.robots.displacements import STAND

from . import carrier_model, fixture_model, geometry, object_kinds, panda, vessel_model
from .array_types import Array, Native
from .quadruped import floor_camera, quadruped_model
from .scene_layout import BASKET_WALL, SLAB, SceneLayout, covers

TIMESTEP = 0.002  # s


def build(plan: SceneLayout) -> Native:
    spec = mujoco.MjSpec()
    spec.modelname = "tabletop"
    option = spec.option
    option.timestep = TIMESTEP
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 10
    option.disableflags |= (
        mujoco.mjtDisableBit.mjDSBL_AUTORESET
    )  # a diverged world is reported, never put back by magic
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    _look(spec, plan)
    if plan.arms:
        _front_camera(spec, plan)
    x, y, _ = plan.middle
    spec.worldbody.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=[x, y, plan.floor],
        size=[4, 4, 0.1],
        material="floor",
    )
    for place in plan.arms:
        panda.add(spec, place.base[:3], geometry.quat_of(geometry.from_rpy(*place.base[3:6])), place.prefix)
        _pedestal(spec, plan, place.base)
    for carrier in plan.carriers:
        carrier_model.add(spec, carrier.base, carrier.prefix)
    for quadruped in plan.quadrupeds:
        x, y, z = quadruped.base[:3]
        quadruped_model.add(spec, (x, y, z + quadruped_model.LENGTH), (1.0, 0.0, 0.0, 0.0), quadruped.prefix)
    if plan.quadrupeds:
        floor_camera.add(spec, plan)
    for i, thing in enumerate(plan.furniture):
        _furniture(spec, i, thing)
    for i, thing in enumerate(plan.objects):
        _object(spec, i, thing)
    vessel_model.add_grains(spec, plan.objects)
    return spec


def _look(spec: Native, plan: SceneLayout) -> None:
    spec.visual.quality.shadowsize = 0  # shadows and multisampling cost a CPU a second a frame
    spec.visual.quality.offsamples = 0
    spec.visual.quality.numslices, spec.visual.quality.numstacks = 24, 12
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 640, 480
    spec.visual.map.znear, spec.visual.map.zfar = 0.01, 12.0
    spec.stat.extent, spec.stat.center = 1.0, list(plan.middle)
    spec.visual.headlight.ambient = [0.32, 0.32, 0.34]
    spec.visual.headlight.diffuse = [0.24, 0.24, 0.24]
    spec.visual.headlight.specular = [0.05, 0.05, 0.05]
    texture, role = mujoco.mjtTexture, mujoco.mjtTextureRole.mjTEXROLE_RGB
    spec.add_texture(
        name="sky",
        type=texture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.86, 0.90, 0.94],
        rgb2=[0.62, 0.68, 0.75],
        width=64,
        height=64,
    )
    spec.add_texture(
        name="tiles",
        type=texture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.60, 0.62, 0.64],
        rgb2=[0.56, 0.58, 0.60],
        width=128,
        height=128,
    )
    tiles = spec.add_material(name="floor", texrepeat=[2, 2], texuniform=True, specular=0.1, shininess=0.1)
    tiles.textures[role] = "tiles"
    spec.add_material(name="wood", rgba=[0.80, 0.67, 0.50, 1], specular=0.15, shininess=0.2)
    spec.add_material(name="metal", rgba=[0.42, 0.44, 0.47, 1], specular=0.4, shininess=0.5)
    spec.add_material(name="gloss", rgba=[1, 1, 1, 1], specular=0.5, shininess=0.7)
    x, y, z = plan.middle
    for dx, dy, dz, strength in ((1.2, 1.4, 2.4, 0.42), (0.9, -1.6, 1.8, 0.20)):
        spec.worldbody.add_light(
            pos=[x + dx, y + dy, z + dz],
            dir=[0.45 - dx, -dy, -dz],
            diffuse=[strength, strength, strength * 0.97],
            specular=[0.25, 0.25, 0.25],
            castshadow=False,
            type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        )


def _front_camera(spec: Native, plan: SceneLayout) -> None:
    eye, target = front_view(plan)
    look = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(look, [0, 0, 1])
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(right, look), -look], axis=1)
    spec.worldbody.add_camera(name="front", pos=list(eye), fovy=50, quat=list(geometry.quat_of(axes)))


def front_view(plan: SceneLayout) -> tuple[Array, Array]:
    """The front camera's position and target: robot, objects and baskets all in the picture."""
    base, bases = np.array(plan.middle), [np.array(place.base[:3]) for place in plan.arms]
    turns = [geometry.from_rpy(*place.base[3:6]) for place in plan.arms]
    points = [at + turn @ np.array([0.40, 0.0, 0.12]) for at, turn in zip(bases, turns, strict=True)]
    points += [np.array(t.position) for t in (*plan.objects, *(f for f in plan.furniture if f.shape == "basket"))]
    points = [p for p in points if np.linalg.norm(p - base) < 1.6]
    points += [np.array(carrier.tray.position) for carrier in plan.carriers]
    low, high = np.min([*points, *bases], axis=0), np.max([*points, *bases], axis=0)
    target = 0.5 * (low + high)
    target[2] = max(base[2], float(low[2])) + 0.24
    span = max(float(np.linalg.norm(high[:2] - low[:2])), 0.75)
    aside = (0.86, 0.30, 0.50) if len(turns) == 1 else (0.15, -0.85, 0.55)  # of several arms none hides another
    direction = (turns[0] if turns else np.eye(3)) @ np.array(aside)
    return target + direction / np.linalg.norm(direction) * (0.72 + 0.88 * span), target


def _pedestal(spec: Native, plan: SceneLayout, base: tuple[float, ...]) -> None:
    """The pedestal of a base, where there is no table top."""
    x, y, z = base[:3]
    on_table = any(
        t.shape == "table" and abs(t.position[2] - z) < 0.03 and covers(t, x, y, 0.05) for t in plan.furniture
    )
    box = mujoco.mjtGeom.mjGEOM_BOX
    visual = {"contype": 0, "conaffinity": 0}
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        pos=[x - 0.03, y, z + 0.006],
        size=[0.12, 0.006, 0],
        material="metal",
        **visual,
    )
    if not on_table and z - plan.floor > 0.02:
        half = (z - plan.floor) / 2
        spec.worldbody.add_geom(
            type=box, pos=[x - 0.03, y, plan.floor + half], size=[0.12, 0.12, half], material="metal"
        )


def _furniture(spec: Native, i: int, thing: Thing) -> None:
    # straight into the world's frame: furniture is what stays where it is
    body = spec.worldbody.add_body(name=f"furniture{i}", pos=list(thing.position), quat=list(thing.orientation))
    box = mujoco.mjtGeom.mjGEOM_BOX
    sx, sy, sz = (v / 2 for v in thing.size)
    paint = {"rgba": [*object_kinds.rgb(thing.color), 1]} if thing.color else {}
    if thing.shape == "table" and thing.category == STAND:
        body.add_geom(
            type=box, pos=[0, 0, -sz], size=[sx, sy, sz], friction=[1, 0.02, 0.003], rgba=[0.70, 0.71, 0.73, 1]
        )
    elif thing.shape == "table":
        slab = min(SLAB, 2 * sz) / 2
        body.add_geom(
            type=box, pos=[0, 0, -slab], size=[sx, sy, slab], friction=[1, 0.02, 0.003], material="wood", **paint
        )
        if 2 * sz > 2 * slab + 0.02:
            leg = sz - slab
            inset = min(0.05, sx / 2, sy / 2)
            for side in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                body.add_geom(
                    type=mujoco.mjtGeom.mjGEOM_CYLINDER,
                    pos=[side[0] * (sx - inset), side[1] * (sy - inset), -2 * slab - leg],
                    size=[0.022, leg, 0],
                    material="metal",
                )
    elif thing.shape == "basket":
        colour = [*object_kinds.rgb(thing.color or "#b98a54"), 1]
        wall = BASKET_WALL / 2
        rim = [0.8 * c for c in colour[:3]] + [1]
        surface = {"friction": [0.8, 0.02, 0.003], "type": box}
        body.add_geom(pos=[0, 0, -sz + wall], size=[sx, sy, wall], rgba=rim, **surface)
        for axis, sign in ((0, 1), (0, -1), (1, 1), (1, -1)):
            at, size = [0.0, 0.0, 0.0], [sx, sy, sz]
            at[axis] = sign * ((sx, sy)[axis] - wall)
            size[axis] = wall
            body.add_geom(pos=at, size=size, rgba=colour, **surface)
            at[2], size[2], size[axis] = sz - 0.004, 0.0045, wall + 0.0015
            size[1 - axis] += 0.0015
            body.add_geom(pos=at, size=size, rgba=rim, contype=0, conaffinity=0, type=box)
    elif thing.shape in fixture_model.FIXTURES:
        fixture_model.add(spec, i, thing, body)
    elif thing.shape == "region":
        body.add_geom(
            type=box,
            size=[sx, sy, max(sz, 0.0005)],
            contype=0,
            conaffinity=0,
            rgba=[*object_kinds.rgb(thing.color), 0.5],
        )
    else:
        body.add_geom(type=box, size=[sx, sy, sz], rgba=[*object_kinds.rgb(thing.color or "gray"), 1])


def _object(spec: Native, i: int, thing: Thing) -> None:
    body = spec.worldbody.add_body(name=f"object{i}", pos=list(thing.position), quat=list(thing.orientation))
    body.add_freejoint(name=f"free{i}")
    if vessel_model.count(thing) is not None:
        vessel_model.add_shapes(body, i, thing)
        return
    shape = {
        "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
        "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
        "box": mujoco.mjtGeom.mjGEOM_BOX,
    }[thing.shape]
    half = [v / 2 for v in thing.size]
    size = {"sphere": [half[0], 0, 0], "cylinder": [half[0], half[2], 0], "box": half}[thing.shape]
    body.add_geom(
        name=f"shape{i}",
        type=shape,
        size=size,
        mass=thing.mass,
        friction=[1.0, 0.02, 0.003],
        condim=6,
        material="gloss",
        rgba=[*object_kinds.rgb(thing.color), 1],
    )
    visual = {"contype": 0, "conaffinity": 0, "mass": 0, "type": mujoco.mjtGeom.mjGEOM_CYLINDER}
    if thing.category == "fruit" and thing.shape == "sphere":
        body.add_geom(pos=[0, 0, half[0] + 0.004], size=[0.0025, 0.008, 0], rgba=[0.30, 0.20, 0.10, 1], **visual)
    elif thing.category == "can" and thing.shape == "cylinder":
        for side in (1, -1):
            body.add_geom(
                pos=[0, 0, side * (half[2] - 0.003)],
                size=[half[0] + 0.0004, 0.0034, 0],
                rgba=[0.75, 0.77, 0.8, 1],
                **visual,
            )
