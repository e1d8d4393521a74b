"""The table map of an arm that goes by its cameras, its member of ENVIRONMENT.md's `map`: what of a table is free."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from worldfs.base.model import Json
from worldfs.robots import rotations
from worldfs.robots.vision.depth_image import DepthImage

from .action_evidence import rounded
from .array_types import Array
from .believed_rig import BelievedRig
from .floor_map import FREE, TAKEN

CELL: Final = 0.05  # m
REACH: Final = 1.0  # m from the base, along x and y
HIDDEN: Final = "?"
EVERY: Final = 4  # pixels between two that are looked at
LEVEL: Final = 0.012  # m between a measured point and the top that it belongs to, and what the depth's noise adds
ENOUGH: Final = 2  # points that show a cell
Box = tuple[Array, Array]  # its middle and half of its extents (m)


def table_map(rig: BelievedRig, image: DepthImage | None, sigma: float) -> Json:
    """An occupancy grid (000, `map`) of the tables within reach, in the form of `floor_map`: a cell is occupied where a
    thing or furniture is believed to be over any part of it, free where the last picture of the front camera shows the
    table top, and hidden where neither is so. Empty without a table. `sigma`: the depth's noise at 1 m (m)."""
    tables = [piece for piece in rig.furniture if piece.shape == "table"]
    middles = [np.array(piece.position) for piece in tables]
    halves = [np.array(piece.size) / 2 for piece in tables]
    if not tables:
        return {}
    base = np.array(rig.view.base)[:2]
    low = np.maximum(np.min([m[:2] - h[:2] for m, h in zip(middles, halves, strict=True)], axis=0), base - REACH)
    high = np.minimum(np.max([m[:2] + h[:2] for m, h in zip(middles, halves, strict=True)], axis=0), base + REACH)
    if np.any(high - low < CELL):
        return {}
    wide, deep = (max(1, round(side / CELL)) for side in (high - low).tolist())
    shown, taken = np.zeros((wide, deep), int), np.zeros((wide, deep), bool)
    if image is not None:
        v, u = (axis.ravel() for axis in np.mgrid[: image.depth.shape[0] : EVERY, : image.depth.shape[1] : EVERY])
        there = image.measured[v, u]
        points = image.points(v[there], u[there])
        room = LEVEL + 3 * sigma * image.depth[v[there], u[there]].astype(np.float64) ** 2
        on = np.zeros(len(points), bool)
        for middle, half in zip(middles, halves, strict=True):
            inside = np.all(np.abs(points[:, :2] - middle[:2]) < half[:2], axis=1)
            on |= inside & (np.abs(points[:, 2] - middle[2]) < room)
        cells = np.floor((points[on, :2] - low) / CELL).astype(int)
        cells = cells[np.all((cells >= 0) & (cells < (wide, deep)), axis=1)]
        np.add.at(shown, (cells[:, 0], cells[:, 1]), 1)
    for at, half in _boxes(rig):
        first = np.clip(np.floor((at[:2] - half[:2] - low) / CELL).astype(int), 0, (wide, deep))
        last = np.clip(np.ceil((at[:2] + half[:2] - low) / CELL).astype(int), 0, (wide, deep))
        taken[first[0] : last[0], first[1] : last[1]] = True
    rows = [
        "".join(TAKEN if full else FREE if seen >= ENOUGH else HIDDEN for full, seen in zip(*line, strict=True))
        for line in zip(taken.T[::-1], shown.T[::-1], strict=True)
    ]
    return {
        "frame": "world", "resolution": CELL, "origin": rounded(low, 3), "width": wide, "height": deep,
        "legend": {FREE: "free", TAKEN: "occupied", HIDDEN: "not seen"}, "rows": rows,
    }  # fmt: skip


def _boxes(rig: BelievedRig) -> Iterator[Box]:
    """What stands about: each thing that is in no hand, furniture that is no table, drawers as far as they are open."""
    held = rig.held()
    for id in rig.objects:
        if id != held:
            yield rig.position(id), rig.half(id)
    for thing in (*rig.unknown.values(), *rig.furniture):
        if thing.shape not in ("table", "region"):
            turn = rotations.matrix(thing.orientation)
            yield np.array(thing.position), rotations.half_extents("box", tuple(thing.size), turn)
    for id in rig.fixtures:
        for solid in rig.part_solids(id, rig.opening(id)):
            yield solid.position, rotations.half_extents(solid.shape, solid.size, solid.rotation)
