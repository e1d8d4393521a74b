"""Fixtures: furniture with a part that moves on a joint (a drawer, a chest's lid), and where its knob is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import mujoco
import numpy as np

from worldfs.base import drawers
from worldfs.base.model import Thing
from worldfs.robots import rotations

from . import object_kinds
from .array_types import Array, Native

DRAWER, CHEST = drawers.DRAWER, drawers.CHEST
FIXTURES: Final = (DRAWER, CHEST)
OPEN, CLOSED, AJAR = "open", "closed", "ajar"  # the words of its status
WALL, GAP, RIM, DRAWN = drawers.WALL, drawers.GAP, drawers.RIM, drawers.DRAWN
LID = 1.75  # rad that a lid opens at most: past the vertical, so that it stays
KNOB = 0.012  # m, radius
STEM = {DRAWER: 0.05, CHEST: 0.035}  # m from the front to the knob's middle: a hand that points down has room there
SHUT = {DRAWER: 0.01, CHEST: 0.06}  # m or rad: no farther open, it is closed
WIDE: Final = 0.8  # of its travel: from there on it is open


def travel(thing: Thing) -> float:
    """How far its part goes, in m or rad."""
    return DRAWN * thing.size[0] if thing.shape == DRAWER else LID


def state(thing: Thing, opening: float) -> str:
    """The word for so far open (m or rad)."""
    if opening <= SHUT[thing.shape]:
        return CLOSED
    return OPEN if opening >= WIDE * travel(thing) else AJAR


def opening(thing: Thing) -> float:
    """How far open a file says that it is: by its number (m or rad), else by its word, else shut."""
    given = thing.extra.get("opening")
    if isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given):
        return min(max(float(given), 0.0), travel(thing))
    return {OPEN: 1.0, AJAR: 0.5}.get(thing.status, 0.0) * travel(thing)


def knob(thing: Thing, opening: float) -> Array:
    """The middle of its knob in the world (3, m), so far open."""
    depth, _, height = thing.size
    if thing.shape == DRAWER:
        own = np.array([-depth / 2 - WALL - STEM[DRAWER] - opening, 0.0, 0.0])
    else:
        c, s = math.cos(opening), math.sin(opening)
        x, z = -depth - STEM[CHEST], WALL / 2
        own = np.array([depth / 2 + c * x + s * z, 0.0, height / 2 - WALL - s * x + c * z])
    return np.asarray(np.array(thing.position) + rotations.matrix(thing.orientation) @ own)


def interior(thing: Thing, opening: float) -> tuple[Array, Array]:
    """Lowest and highest corner of what holds things, in the fixture's own frame (m), so far open."""
    low, high = drawers.interior(thing, opening)
    return np.array(low), np.array(high)


def mouth(thing: Thing, opening: float) -> tuple[Array, Array]:
    """What of its interior is free above, by two corners in its own frame (m): of a drawer what is drawn out."""
    low, high = interior(thing, opening)
    if thing.shape == DRAWER:
        high[0] = min(high[0], -thing.size[0] / 2)
    return low, high


def put_openings(furniture: Sequence[Thing], model: Native, data: Native) -> None:
    """Each drawer and lid as far open as its file says."""
    for i, piece in enumerate(furniture):
        if piece.shape in FIXTURES:
            data.qpos[int(model.joint(f"opening{i}").qposadr[0])] = opening(piece)


def add(spec: Native, i: int, thing: Thing, body: Native) -> None:
    """Its shapes and its joint, into the body that stands there for it."""
    color = [*object_kinds.rgb(thing.color or "#b08d5e"), 1]
    part = body.add_body(name=f"part{i}", pos=[0, 0, 0])
    (_drawer if thing.shape == DRAWER else _chest)(body, part, i, thing, color)
    spec.add_exclude(bodyname1=f"furniture{i}", bodyname2=f"part{i}")


def _box(body: Native, at: tuple[float, ...], half: tuple[float, ...], color: list[float], mass: float = 0.0) -> None:
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, pos=list(at), size=list(half), rgba=color, mass=mass,
        friction=[0.8, 0.02, 0.003],
    )  # fmt: skip


def _open_box(body: Native, low: Array, high: Array, color: list[float], mass: float = 0.0) -> None:
    """A bottom and four walls between two corners (m)."""
    middle, half, w = (low + high) / 2, (high - low) / 2, WALL / 2
    _box(body, (middle[0], middle[1], low[2] + w), (half[0], half[1], w), color, mass / 5)
    for side in (1, -1):
        _box(body, (middle[0] + side * (half[0] - w), middle[1], middle[2]), (w, half[1], half[2]), color, mass / 5)
        _box(body, (middle[0], middle[1] + side * (half[1] - w), middle[2]), (half[0], w, half[2]), color, mass / 5)


def _knob(part: Native, i: int, base: tuple[float, ...], stem: float) -> None:
    """A stem along -x with a ball at its end. The ball turns in its socket: it gives way to a hand that does not."""
    metal = {"material": "metal", "mass": 0.01}
    part.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[*base, base[0] - stem, *base[1:]], size=[0.005, 0, 0], **metal
    )
    part.add_geom(
        name=f"knob{i}", type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=[base[0] - stem, *base[1:]], size=[KNOB, 0, 0],
        friction=[1.0, 0.001, 0.001], condim=4, priority=1, solref=[0.004, 1.0], **metal,
    )  # fmt: skip


def _drawer(body: Native, part: Native, i: int, thing: Thing, color: list[float]) -> None:
    x, y, z = (v / 2 for v in thing.size)
    w = WALL / 2
    for side in (1, -1):
        _box(body, (0, 0, side * (z - w)), (x, y, w), color)
        _box(body, (0, side * (y - w), 0), (x, w, z), color)
    _box(body, (x - w, 0, 0), (w, y, z), color)
    part.add_joint(
        name=f"opening{i}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[-1, 0, 0], range=[0, travel(thing)], limited=True,
        damping=3.0, frictionloss=1.0,
    )  # fmt: skip
    light = [min(1.0, 1.15 * c) for c in color[:3]] + [1]
    room = WALL + GAP
    _open_box(
        part, np.array([-x, -y + room, -z + room]), np.array([x - room, y - room, z - room - RIM]), light, mass=0.3
    )
    _box(part, (-x - w, 0, 0), (w, y - 0.001, z - 0.001), light, 0.1)
    _knob(part, i, (-x - WALL, 0, 0), STEM[DRAWER])


def _chest(body: Native, part: Native, i: int, thing: Thing, color: list[float]) -> None:
    x, y, z = (v / 2 for v in thing.size)
    _open_box(body, np.array([-x, -y, -z]), np.array([x, y, z - WALL - 0.001]), color)
    part.pos = [x, 0, z - WALL]
    part.add_joint(
        name=f"opening{i}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0], range=[0, LID], limited=True,
        damping=0.05, frictionloss=0.02,
    )  # fmt: skip
    light = [min(1.0, 1.15 * c) for c in color[:3]] + [1]
    _box(part, (-x, 0, WALL / 2), (x, y, WALL / 2), light, 0.2)
    _knob(part, i, (-2 * x, 0, WALL / 2), STEM[CHEST])
