"""Grasps of an object by its shape: where the pads' middle goes, the gripper's rotation, how far the fingers open."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from worldfs.base.model import Thing
from worldfs.robots.mujoco.panda import MAX_GRIP
from worldfs.robots.rotations import Array, Pose, hand_rotation, matrix

from .placement_space import extents

APPROACH = 0.12  # m
TILTS = {"": (0.0, 0.5, 1.0, 1.5), "above": (0.0, 0.3), "side": (1.5, 1.3, 1.1)}
DEPTH = 0.030  # m below the top
SHALLOW = 0.034  # m: deeper than this the palm would touch the top
GROUND = 0.012  # m that the pads' middle stays above the object's support
SIDE = 0.038  # m that a level gripper needs below it
RAISED = 0.012  # m nearer the top than from above, where a leaning palm would touch it
LOW = 0.040  # m: things no higher are taken at their middle


@dataclass(frozen=True, slots=True)
class GraspCandidate:
    """`width`: of the thing between the fingers (m); `cost`: how much worse than straight from above at the middle."""

    pose: Pose
    approach: Array
    width: float
    cost: float


def grasp_candidates(thing: Thing, base: Array, how: str = "") -> Iterator[GraspCandidate]:
    """Every candidate; none for an object that is too wide everywhere."""
    toward = math.atan2(thing.position[1] - base[1], thing.position[0] - base[0])
    sides = grip_widths(thing)
    for tilt, point in _points(thing, how):
        for width, yaw, along in sides:
            if width > MAX_GRIP:
                continue
            wide = 0.4 if width > sides[0][0] + 0.002 else 0.0
            yaws = (
                [toward + k * math.pi / 8 for k in range(-8, 8)]
                if yaw is None
                else [yaw + s * math.pi / 2 for s in (1, -1)]
            )
            # a long thing may be taken off its middle, where the middle is taken
            shifts = (0.0, 0.25, -0.25) if yaw is not None and along is not None else (0.0,)
            for shift in shifts:
                at = point + (0.0 if along is None else shift * along)
                for turn in yaws:
                    rotation = hand_rotation(turn, math.copysign(tilt, math.cos(turn - toward)))
                    lean = 1.2 * (1.5 - tilt) if how == "side" else 0.6 * tilt
                    cost = wide + lean + abs(shift) * 2
                    yield GraspCandidate(Pose(at, rotation), APPROACH * rotation[:, 2], width, cost)


def grip_widths(thing: Thing) -> list[tuple[float, float | None, Array | None]]:
    """(width m, yaw of the side or None for any, vector along the thing) that fingers close across; narrow first."""
    rotation, size = matrix(thing.orientation), thing.size
    if thing.shape == "sphere":
        return [(size[0], None, None)]
    up = int(np.argmax(np.abs(rotation[2])))
    if thing.shape == "cylinder" and up == 2:
        return [(size[0], None, None)]
    found: list[tuple[float, float | None, Array | None]] = []
    flat = [i for i in range(3) if i != up]
    for i in flat:
        other = flat[1 - flat.index(i)]
        if thing.shape == "cylinder" and i == 2:
            continue
        yaw = math.atan2(float(rotation[1, i]), float(rotation[0, i]))
        along = rotation[:, other] * size[other] / 2
        found.append((size[i], yaw, along if size[other] > 0.08 else None))
    return sorted(found, key=lambda item: item[0])


def narrowest(thing: Thing) -> float:
    return min(width for width, _, _ in grip_widths(thing))


def _points(thing: Thing, how: str) -> Iterator[tuple[float, Array]]:
    """Tilts, and where the pads' middle goes; from the side also near the top, where a tilted gripper has space."""
    for tilt in TILTS.get(how, TILTS[""]):
        yield tilt, _point(thing, tilt)
    if how == "side":
        for tilt in (1.1, 0.9, 0.7):
            yield tilt, _point(thing, 0.0) + np.array([0.0, 0.0, RAISED])


def _point(thing: Thing, tilt: float) -> Array:
    half = float(extents(thing)[2])
    if thing.shape == "cylinder":
        axis = matrix(thing.orientation)[2, 2]
        half = thing.size[2] / 2 * abs(axis) + thing.size[0] / 2 * math.sqrt(max(0.0, 1 - axis * axis))
    centre = float(thing.position[2])
    top, bottom = centre + half, centre - half
    if tilt > 0.7:
        height = min(max(centre, bottom + SIDE), top - GROUND)
    elif thing.shape == "sphere" or 2 * half <= LOW:
        height = max(centre, top - SHALLOW)
    else:
        height = max(top - DEPTH, bottom + GROUND)
    return np.array([thing.position[0], thing.position[1], height])
