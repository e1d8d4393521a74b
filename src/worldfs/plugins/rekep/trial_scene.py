"""The table of a trial: things of our five kinds, or the workspace's own things at places drawn by the seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from worldfs.base.model import RobotState, Scene, Thing
from worldfs.robots import rotations
from worldfs.robots.mujoco.random_scene import random_scene
from worldfs.robots.mujoco.scene_layout import SceneLayout, covers, layout
from worldfs.robots.rotations import half_extents

OBJECTS: Final = 5  # one of each kind
REACH: Final = (0.36, 0.62)  # m from the base, as in a random scene
APART: Final = 0.17  # m between two things; less where the table is full
AHEAD: Final = 1.0  # rad to each side
BESIDE: Final = 0.03  # m between a thing and a container or other furniture


def trial_scene(names: Sequence[str], seed: int, robot_id: str, own: Scene) -> tuple[Scene, bool]:
    """The scene of a seed, and whether it is the workspace's own.

    Every second seed, where `own` has the things that the skill names; every seed, where the five kinds lack one.
    """
    kinds = random_scene(seed, OBJECTS)
    there = own.objects and _all_in(names, own)
    if there and (seed % 2 or not _all_in(names, kinds)):
        robot = replace(next(iter(own.robots), RobotState(robot_id)), robot_id=robot_id, holding=None)
        return _shuffled(layout(Scene((robot,), own.objects, own.furniture), robot_id), robot, seed), True
    return kinds, False


def _all_in(names: Sequence[str], scene: Scene) -> bool:
    return set(names) <= {thing.id for thing in (*scene.objects, *scene.furniture)}


def _shuffled(made: SceneLayout, robot: RobotState, seed: int) -> Scene:
    """The furniture where it is, and the things elsewhere on a table: the same for the same seed and scene. A thing for
    which there is no free place stays where it is."""
    rng = np.random.default_rng([seed, 7])
    objects: list[Thing] = []
    for thing in made.objects:
        objects.append(_elsewhere(thing, made, objects, rng))
    return Scene((robot,), tuple(objects), made.furniture)


def _elsewhere(thing: Thing, made: SceneLayout, placed: Sequence[Thing], rng: np.random.Generator) -> Thing:
    half = half_extents(thing.shape, thing.size, rotations.matrix(thing.orientation))
    wide, base = float(max(half)), made.arms[0].base
    for attempt in range(2_000):
        radius, angle = math.sqrt(rng.uniform(REACH[0] ** 2, REACH[1] ** 2)), base[5] + rng.uniform(-AHEAD, AHEAD)
        x, y = round(base[0] + radius * math.cos(angle), 4), round(base[1] + radius * math.sin(angle), 4)
        apart = APART * 0.999**attempt
        under = [piece for piece in made.furniture if piece.shape == "table" and covers(piece, x, y, -wide)]
        if (
            under
            and not any(math.dist((x, y), other.position[:2]) < apart for other in placed)
            and not any(covers(piece, x, y, wide + BESIDE) for piece in made.furniture if piece.shape != "table")
        ):
            top = max(table.position[2] for table in under)
            return replace(thing, position=(x, y, top + float(half[2]) + 0.0005))
    return thing
