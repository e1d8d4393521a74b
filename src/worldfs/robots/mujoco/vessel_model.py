"""Vessels: open cups and bowls with grains in them, as the file counts them; the grains are small balls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import mujoco
import numpy as np

from worldfs.base.model import Thing
from worldfs.robots import rotations

from . import object_kinds
from .array_types import Array, Native

GRAINS: Final = "grains"  # the field of the file that makes a cylinder a vessel; and what contacts call them
MOST: Final = 60  # grains in a world: each is a body
RADIUS, MASS = 0.006, 0.001  # m, kg: of a grain
WALL, FLOOR = 0.003, 0.004  # m
STAVES = 12
HEAP = 0.012  # m over the rim that grains of a heap may lie
LOOSE = 0.5  # of the space of a vessel that grains take up, poured


def count(thing: Thing) -> int | None:
    """How many grains a file says are in it; None: it is no vessel."""
    given = thing.extra.get(GRAINS)
    if thing.shape != "cylinder" or isinstance(given, bool) or not isinstance(given, int | float):
        return None
    return int(min(max(given, 0), MOST)) if math.isfinite(given) else None


def inner(thing: Thing) -> float:
    """The radius inside (m)."""
    return float(thing.size[0]) / 2 - WALL


def capacity(thing: Thing) -> int:
    """How many grains it takes, poured."""
    space = math.pi * inner(thing) ** 2 * (thing.size[2] - FLOOR)
    return int(LOOSE * space / (4 / 3 * math.pi * RADIUS**3))


def within(thing: Thing, position: Array, rotation: Array, grains: Array) -> Array:
    """Which of these grains (n × 3, m) are in a vessel that stands or lies so."""
    own = (grains - position) @ rotation
    high = float(thing.size[2]) / 2
    return np.asarray(
        (np.hypot(own[:, 0], own[:, 1]) <= inner(thing)) & (own[:, 2] >= -high) & (own[:, 2] <= high + HEAP)
    )


def add_shapes(body: Native, i: int, thing: Thing) -> None:
    """A floor and staves all round; and a hull that touches nothing, for plans: the inside is no way through."""
    radius, high = thing.size[0] / 2, thing.size[2] / 2
    paint = {
        "rgba": [*object_kinds.rgb(thing.color), 1],
        "material": "gloss",
        "friction": [1.0, 0.02, 0.003],
        "condim": 4,
    }
    body.add_geom(
        name=f"shape{i}", type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=[0, 0, -high + FLOOR / 2],
        size=[radius * 0.98, FLOOR / 2, 0], mass=thing.mass / 2, **paint,
    )  # fmt: skip
    body.add_geom(
        name=f"hull{i}", type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[radius, high, 0], mass=0, contype=0, conaffinity=0,
        group=4, rgba=[0, 0, 0, 0],
    )  # fmt: skip
    half = radius * math.tan(math.pi / STAVES)
    for k in range(STAVES):
        turn = 2 * math.pi * k / STAVES
        away = radius - WALL / 2
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, pos=[away * math.cos(turn), away * math.sin(turn), 0],
            quat=[math.cos(turn / 2), 0, 0, math.sin(turn / 2)], size=[WALL / 2, half, high],
            mass=thing.mass / 2 / STAVES, **paint,
        )  # fmt: skip


def add_grains(spec: Native, objects: Sequence[Thing]) -> None:
    """Every grain of every vessel, at rest in it, `MOST` at most in all."""
    places = (place for thing in objects for place in _places(thing))
    for n, place in zip(range(MOST), places, strict=False):
        body = spec.worldbody.add_body(name=f"grain{n}", pos=list(place))
        body.add_joint(name=f"grain{n}", type=mujoco.mjtJoint.mjJNT_FREE, damping=1e-5)
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[RADIUS, 0, 0], mass=MASS, rgba=[0.90, 0.76, 0.42, 1],
            friction=[0.4, 0.005, 0.001], condim=3, priority=1, solref=[0.005, 1.0],
        )  # fmt: skip


def _places(thing: Thing) -> Iterator[Array]:
    """Layer on layer, from the floor up."""
    left = count(thing) or 0
    step, room = 2.1 * RADIUS, inner(thing) - RADIUS - 0.001
    cells = [i * step for i in range(-9, 10)]
    layer = [(x, y) for x in cells for y in cells if math.hypot(x, y) <= room] if room > 0 else []
    rotation, z = rotations.matrix(thing.orientation), -thing.size[2] / 2 + FLOOR + RADIUS + 0.0005
    while left > 0 and layer:
        for x, y in layer[:left]:
            yield np.array(thing.position) + rotation @ np.array([x, y, z])
        left, z = left - len(layer), z + step
