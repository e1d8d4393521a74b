"""Keypoints: points of things by name, that move with them: centre, top, bottom, ends, the opening of a basket."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Thing
from worldfs.robots.rotations import Array, Pose, matrix

MOST = 128
NEAR = 0.06  # m: a published position belongs to the object whose surface is no farther
WALL = 0.008  # m, of a basket


@dataclass(frozen=True, slots=True)
class Keypoint:
    """`local`: where it is in its thing's frame (m); of the world itself where `owner` is ""."""

    owner: str
    label: str
    local: tuple[float, float, float]

    @property
    def name(self) -> str:
        return f"{self.owner}.{self.label}" if self.owner else self.label


def pose_of(thing: Thing) -> Pose:
    return Pose(np.array([*thing.position[:3]], dtype=float), matrix(thing.orientation))


def upright(thing: Thing) -> tuple[int, float]:
    """The local axis that points up now, and its sign: an object's top depends on how it lies."""
    up = matrix(thing.orientation)[2]
    axis = 2 if thing.shape == "sphere" else int(np.argmax(np.abs(up)))
    return axis, 1.0 if up[axis] >= 0 else -1.0


def half_height(thing: Thing) -> float:
    """Half of an object's height as it lies, along the axis that points up (m)."""
    return float(thing.size[upright(thing)[0]]) / 2


def of_thing(thing: Thing) -> list[Keypoint]:
    """The points of one thing, the most used first; nothing for one that has no size."""
    if len(thing.size) != 3:
        return [Keypoint(thing.id, "centre", (0.0, 0.0, 0.0))] if thing.position else []
    half = np.array(thing.size, dtype=float) / 2
    if thing.shape in ("table", "region"):
        return _points(thing, {"top": (0, 0, 0)})
    if thing.shape == "basket" or thing.is_container:
        sides = {"rim_x+": (half[0], 0, half[2]), "rim_x-": (-half[0], 0, half[2]),
                 "rim_y+": (0, half[1], half[2]), "rim_y-": (0, -half[1], half[2])}  # fmt: skip
        return _points(thing, {"opening": (0, 0, half[2]), "floor": (0, 0, WALL - half[2]), **sides})
    axis, sign = upright(thing)
    up = np.zeros(3)
    up[axis] = sign * half[axis]
    if thing.shape == "sphere":
        up = matrix(thing.orientation).T @ np.array([0.0, 0.0, half[2]])
    found = {"centre": np.zeros(3), "top": up, "bottom": -up}
    if thing.shape != "sphere":
        for name, side in zip("abcd", _sides(axis), strict=False):
            found[f"side_{name}"] = side * half
    if thing.shape == "box":  # the ends of its long side are the points to grasp and to approach
        flat = [i for i in range(3) if i != axis]
        long = max(flat, key=lambda i: half[i])
        for name, way in (("end_a", 0.7), ("end_b", -0.7)):
            end = np.zeros(3)
            end[long] = way * half[long]
            found[name] = end
    return _points(thing, found)


def _sides(axis: int) -> list[Array]:
    flat = [i for i in range(3) if i != axis]
    return [np.eye(3)[i] * sign for i in flat for sign in (1, -1)]


def _points(thing: Thing, found: Mapping[str, Sequence[float] | Array]) -> list[Keypoint]:
    return [Keypoint(thing.id, label, (float(p[0]), float(p[1]), float(p[2]))) for label, p in found.items()]


def of_scene(things: Iterable[Thing]) -> list[Keypoint]:
    """The keypoints when a program names none of its own: the main ones of every object."""
    main = ("centre", "top", "bottom", "opening", "floor", "end_a", "end_b")
    return [point for thing in things for point in of_thing(thing) if point.label in main][:MOST]


def keypoint_named(word: str, things: Mapping[str, Thing], at: str) -> Keypoint:
    """`apple_01.top`, or `apple_01` for its centre (a basket's opening). Raises `BadInput` naming what there is."""
    owner, _, label = word.rpartition(".") if word.rpartition(".")[0] in things else (word, "", "")
    thing = things.get(owner)
    if thing is None:
        there = ", ".join(things) or "nothing"
        raise BadInput(
            coded("plugin.rekep_no_thing", name=word),
            path=at,
            expected=coded("plugin.rekep_point_of", names=there),
            fix=coded("plugin.rekep_name_thing"),
            code="UNKNOWN_OBJECT",
        )
    points = of_thing(thing)
    found = next((point for point in points if not label or point.label == label), None)
    if found is None:
        there = ", ".join(point.name for point in points)
        raise BadInput(
            coded("plugin.rekep_no_keypoint", name=word),
            path=at,
            expected=coded("common.either_of", names=there),
            fix=coded("common.name_one"),
        )
    return found


def attach_points(positions: Sequence[Sequence[float]], things: Mapping[str, Thing]) -> list[Keypoint]:
    """Published positions (m, world): each belongs to the thing it lies on or in, else to the world."""
    found = []
    for number, value in enumerate(positions):
        position = np.array(value, dtype=float)
        ranked = sorted((_distance(position, thing), thing.id) for thing in things.values() if thing.shape != "region")
        owner = ranked[0][1] if ranked and ranked[0][0] <= NEAR else ""
        local = pose_of(things[owner]).inverse(position) if owner else position
        found.append(Keypoint(owner, f"k{number}", (float(local[0]), float(local[1]), float(local[2]))))
    return found


def _distance(position: Array, thing: Thing) -> float:
    """From a point to a thing's box (m), 0 inside; furniture counts a little farther than what can be handled."""
    local = pose_of(thing).inverse(position)
    half = np.array(thing.size if len(thing.size) == 3 else (0.05,) * 3, dtype=float) / 2
    if thing.shape == "table":
        local = local + np.array([0.0, 0.0, half[2]])
    behind = 0.02 if thing.shape in ("table", "basket") else 0.0
    return float(np.linalg.norm(np.maximum(np.abs(local) - half, 0.0))) + behind


def positions(points: Sequence[Keypoint], poses: Mapping[str, Pose]) -> Array:
    """Their positions (K × 3, m); a point whose object is gone is NaN."""
    found = np.full((len(points), 3), np.nan)
    for number, point in enumerate(points):
        local = np.array(point.local)
        if not point.owner:
            found[number] = local
        elif point.owner in poses:
            found[number] = poses[point.owner].point(local)
    return found
