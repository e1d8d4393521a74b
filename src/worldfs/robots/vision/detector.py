"""The detector: what a picture shows besides the known surroundings, matched to the things that have names.

1. What stands nearer than the expected surroundings (arm, furniture, floor at their known poses) belongs to a thing.
2. Those pixels are parted by colour and by steps of depth into patches.
3. Each patch is fitted with the solids that its colour allows.
4. Patches and names are assigned to each other at the least cost; what stays over is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from scipy.optimize import linear_sum_assignment

from .depth_image import Array, DepthImage, Mask
from .palette import Palette, Rgb, difference, features
from .shape_fit import ShapeFit, facing, fit, seen_through
from .solids import Solid

SPECK = 14  # pixels: less is no patch
UNKNOWN_PIXELS = 60
UNKNOWN_SIDE = 0.012  # m: less is an edge, and no thing
UNLIKE = 0.11  # of colours: more is another colour
BAD_FIT = 0.014  # m: no thing of this shape
AGAIN = 0.006  # m: a residual that asks for another look
STEP = 0.03  # m between neighbouring pixels: two things
TWINS_APART = 0.03  # m that swapping two twins must cost more than not swapping them
NOT_ASSIGNED = 4.0  # cost of leaving a name without a patch


@dataclass(frozen=True, slots=True)
class NamedThing:
    """A thing that is looked for: its solid and colour. `last`: where it was last seen or declared (m), if anywhere."""

    id: str
    shape: str
    size: tuple[float, ...]
    rgb: Rgb
    last: tuple[float, ...] = ()

    @property
    def twin_key(self) -> tuple[object, ...]:
        return self.shape, self.size, self.rgb


@dataclass(frozen=True, slots=True)
class Estimate:
    """Where a thing was found, how well, in which picture. `sigma` (m) of its position."""

    id: str
    solid: Solid
    residual: float
    sigma: float
    pixels: int
    camera: str
    time: float
    through: float = 0.0
    covariance: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m², along x, y, z

    @property
    def doubtful(self) -> bool:
        return self.residual > AGAIN or self.through > 0.25


@dataclass(frozen=True, slots=True)
class UnknownThing:
    """What matches no name: the box (m) that it fills as far as it was seen."""

    position: Array
    size: tuple[float, float, float]
    pixels: int


@dataclass(frozen=True, slots=True)
class Detections:
    """What one picture showed. `undecided`: groups of names that cannot be told apart here."""

    things: Mapping[str, Estimate] = field(default_factory=dict)
    unknown: tuple[UnknownThing, ...] = ()
    undecided: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class _Patch:
    v: npt.NDArray[np.intp]
    u: npt.NDArray[np.intp]
    points: Array
    rgb: Array


def detect_things(
    image: DepthImage,
    expected: DepthImage,
    named: Sequence[NamedThing],
    palette: Mapping[str, Rgb],
    *,
    sigma: float = 0.002,
    carried: Sequence[Solid] = (),
) -> Detections:
    """`expected`: what the camera would see without any thing. `sigma`: the depth's noise at 1 m, it grows with z².

    `carried`: what the gripper holds, where it must be: its pixels are explained.
    """
    near = nearer(image, expected, sigma)
    colours = Palette([thing.rgb for thing in named], palette)
    patches = _patches(image, near, colours, carried)
    found, undecided = _assigned(image, patches, named, sigma)
    solids = [*carried, *(one.solid for one in found.values())]
    return Detections(found, tuple(_unknown(image, near, solids, sigma)), undecided)


def nearer(image: DepthImage, expected: DepthImage, sigma: float) -> Mask:
    """Pixels of what stands before the surroundings; their outlines count as surroundings."""
    surroundings = ndimage.minimum_filter(expected.depth, 5)
    z = image.depth
    nearer_than: Mask = z < surroundings - 0.006 - 3.5 * sigma * z * z
    return image.measured & nearer_than


def noise_at(points: Array, image: DepthImage, sigma: float) -> float:
    away = float(np.median((image.position - points) @ image.rotation[:, 2]))
    return sigma * away * away


def _patches(image: DepthImage, near: Mask, colours: Palette, carried: Sequence[Solid]) -> list[_Patch]:
    rows, columns = np.nonzero(near)
    if not len(rows):
        return []
    top, left = int(rows.min()), int(columns.min())
    box = slice(top, int(rows.max()) + 1), slice(left, int(columns.max()) + 1)
    kinds = colours.classes(image.rgb[rows, columns])
    near, depth = near[box], image.depth[box]
    classes = np.full(near.shape, -1)
    classes[rows - top, columns - left] = kinds
    whole = near.copy()  # two things, one behind the other: the line between them belongs to neither
    whole[:, 1:] &= ~(near[:, :-1] & (depth[:, 1:] - depth[:, :-1] > STEP))
    whole[:, :-1] &= ~(near[:, 1:] & (depth[:, :-1] - depth[:, 1:] > STEP))
    whole[1:] &= ~(near[:-1] & (depth[1:] - depth[:-1] > STEP))
    whole[:-1] &= ~(near[1:] & (depth[:-1] - depth[1:] > STEP))
    found = []
    for number in np.unique(kinds):
        labels, _ = ndimage.label(whole & (classes == number), structure=np.ones((3, 3)))
        for part, where in enumerate(ndimage.find_objects(labels), 1):
            v, u = np.nonzero(labels[where] == part)
            if len(v) < SPECK:
                continue
            v, u = v + where[0].start + top, u + where[1].start + left
            points = image.points(v, u)
            if any(np.median(solid.distance(points)) < 0.02 for solid in carried):
                continue
            found.append(_Patch(v, u, points, np.median(image.rgb[v, u], axis=0) / 255.0))
    return found


def _assigned(
    image: DepthImage, patches: Sequence[_Patch], named: Sequence[NamedThing], sigma: float
) -> tuple[dict[str, Estimate], tuple[tuple[str, ...], ...]]:
    if not patches or not named:
        return {}, ()
    fits: dict[tuple[int, tuple[object, ...]], ShapeFit] = {}
    cost = np.full((len(named), len(patches) + len(named)), NOT_ASSIGNED)
    for column, patch in enumerate(patches):
        noise = noise_at(patch.points, image, sigma)
        for row, thing in enumerate(named):
            cost[row, column] = 1e3
            unlike = difference(patch.rgb, thing.rgb)
            if unlike > UNLIKE:
                continue
            key = (column, (thing.shape, thing.size))
            if key not in fits:
                fits[key] = fit(thing.shape, thing.size, patch.points, image, noise)
            cost[row, column] = _cost(image, fits[key], thing, unlike=unlike, noise=noise, pixels=len(patch.v))
    rows, columns = linear_sum_assignment(cost)
    chosen = {
        int(column): named[row]
        for row, column in zip(rows, columns, strict=True)
        if column < len(patches) and cost[row, column] < NOT_ASSIGNED
    }
    free = [patch.points for column, patch in enumerate(patches) if column not in chosen]
    found: dict[str, Estimate] = {}
    for column, thing in chosen.items():
        patch = patches[column]
        made = _refitted(image, patch, free, fits[column, (thing.shape, thing.size)], sigma)
        found[thing.id] = _estimate(image, thing, made, len(patch.v), sigma)
    return found, _undecided(named, found)


def _cost(image: DepthImage, made: ShapeFit, thing: NamedThing, *, unlike: float, noise: float, pixels: int) -> float:
    if made.residual > BAD_FIT + 1.5 * noise:
        return 1e3
    bare = 1 - _covered(image, made.solid, thing.rgb, noise)
    cost = made.score / 0.006 * 0.5 + unlike / UNLIKE + 12.0 / pixels + 2.0 * bare
    if thing.last:
        cost += min(float(np.linalg.norm(made.solid.position[:2] - thing.last[:2])), 1.0) * 0.8
    return cost


def _covered(image: DepthImage, solid: Solid, rgb: Rgb, noise: float) -> float:
    """The share of the surface that faces the camera at which the picture has this depth and this colour."""
    points = facing(solid, image)
    there, measured, own = image.seen_at(points)
    there &= np.abs(measured - own) < 0.012 + 4 * noise
    if not there.any():
        return 0.0
    v, u, _ = image.project(points[there])
    seen = features(image.rgb[np.rint(v).astype(int), np.rint(u).astype(int)] / 255.0)
    alike = np.linalg.norm(seen - features(np.array(rgb)), axis=1) < UNLIKE
    return float(np.count_nonzero(alike)) / len(points)


def _refitted(image: DepthImage, own: _Patch, free: Sequence[Array], made: ShapeFit, sigma: float) -> ShapeFit:
    """Once more with what lies on it and is no other's: a lid of another colour, a part beyond a finger before it."""
    more = [points for points in free if float(np.median(np.abs(made.solid.distance(points)))) < 0.014]
    if not more:
        return made
    points = np.vstack([own.points, *more])
    again = fit(made.solid.shape, made.solid.size, points, image, noise_at(points, image, sigma))
    return again if again.score <= made.score + 0.002 else made


def _estimate(image: DepthImage, thing: NamedThing, made: ShapeFit, pixels: int, sigma: float) -> Estimate:
    away = float(np.linalg.norm(image.position - made.solid.position))
    floor = 0.0004 + 0.25 * sigma * away * away  # what calibration and the model of the shape leave
    variance = tuple(float(s**2 + floor**2) for s in made.sigma[:3])
    spread = float(np.sqrt(sum(variance)))
    return Estimate(
        thing.id, made.solid, made.residual, spread, pixels, image.camera, image.time, made.through,
        (variance[0], variance[1], variance[2]),
    )  # fmt: skip


def _undecided(named: Sequence[NamedThing], found: Mapping[str, Estimate]) -> tuple[tuple[str, ...], ...]:
    """Twins whose places could as well be swapped: the last known places do not tell which is which."""
    groups: dict[tuple[object, ...], list[NamedThing]] = {}
    for thing in named:
        groups.setdefault(thing.twin_key, []).append(thing)
    odd: list[tuple[str, ...]] = []
    for group in groups.values():
        for i, one in enumerate(group):
            for other in group[i + 1 :]:
                if (one.id in found or other.id in found) and not _told_apart(one, other, found):
                    odd.append((one.id, other.id))
    return tuple(odd)


def _told_apart(one: NamedThing, other: NamedThing, found: Mapping[str, Estimate]) -> bool:
    if not one.last or not other.last:
        return False

    def away(thing: NamedThing, place: str) -> float:
        return float(np.linalg.norm(found[place].solid.position[:2] - thing.last[:2])) if place in found else 0.0

    return away(one, other.id) + away(other, one.id) - away(one, one.id) - away(other, other.id) > TWINS_APART


def _unknown(image: DepthImage, near: Mask, solids: Sequence[Solid], sigma: float) -> list[UnknownThing]:
    """Boxes about what no solid explains."""
    rows, columns = np.nonzero(near)
    if not len(rows):
        return []
    points = image.points(rows, columns)
    left = np.ones(len(rows), dtype=bool)
    noise = sigma * image.depth[rows, columns] ** 2
    for solid in solids:
        close = np.nonzero(np.linalg.norm(points - solid.position, axis=1) < solid.reach + 0.05)[0]
        left[close] &= np.abs(solid.distance(points[close])) > 0.015 + 3 * noise[close]
    rows, columns = rows[left], columns[left]
    if len(rows) < UNKNOWN_PIXELS:
        return []
    top, side = int(rows.min()), int(columns.min())
    over = np.zeros((int(rows.max()) - top + 1, int(columns.max()) - side + 1), dtype=bool)
    over[rows - top, columns - side] = True
    over = ndimage.binary_opening(over, structure=np.ones((3, 3)))
    labels, _ = ndimage.label(over, structure=np.ones((3, 3)))
    found = []
    for part, where in enumerate(ndimage.find_objects(labels), 1):
        v, u = np.nonzero(labels[where] == part)
        if len(v) < UNKNOWN_PIXELS:
            continue
        here = image.points(v + where[0].start + top, u + where[1].start + side)
        low, high = np.percentile(here, 2, axis=0), np.percentile(here, 98, axis=0)
        if float(np.sort(high - low)[1]) < UNKNOWN_SIDE:
            continue
        size = np.maximum(high - low, 0.01)
        found.append(UnknownThing((low + high) / 2, (float(size[0]), float(size[1]), float(size[2])), len(v)))
    return found


def empty_place(image: DepthImage, solid: Solid, sigma: float) -> bool:
    """Whether the picture shows that a thing is not at a place: most of it would have to be seen through."""
    away = float(np.linalg.norm(image.position - solid.position))
    return seen_through(solid, image, sigma * away * away) > 0.6
